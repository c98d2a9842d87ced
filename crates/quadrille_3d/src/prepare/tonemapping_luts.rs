//! LUTs that some methods of tone mapping need.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille::prelude::{GpuDevice, GpuImage, ImageDesc, Uploads};
use quadrille::vulkan::{Error, Format};
use quadrille_content::warnings::RateLimitedWarnings;

use crate::components::tonemapping::Tonemapping;
use crate::scene::frame::Scene3d;
use crate::scene::lists::{ViewMap, ViewRows};
use crate::tables::brdf_luts::texels;

/// LUTs of this frame's tone mapping methods: 3D images from scene-referred to display-referred
/// color. The first one is a placeholder for methods without a LUT.
#[derive(Resource, Deref)]
pub struct TonemappingLutImages {
    #[deref]
    luts: Vec<GpuImage>,
    /// Indices of the loaded LUTs of [`TABLES`].
    lut_indices: [Option<u32>; TABLES.len()],
    /// LUT index by view.
    pub(crate) by_view: ViewMap<u32>,
}

/// Files of LUTs, with their methods: see `assets/LICENSES.md` for the sources.
const TABLES: [(Tonemapping, &[u8]); 3] = [
    (
        Tonemapping::TonyMcMapface,
        include_bytes!("../../assets/tonemapping/tony_mc_mapface.ktx2"),
    ),
    (
        Tonemapping::AgX,
        include_bytes!("../../assets/tonemapping/agx.ktx2"),
    ),
    (
        Tonemapping::BlenderFilmic,
        include_bytes!("../../assets/tonemapping/blender_filmic.ktx2"),
    ),
];

impl TonemappingLutImages {
    pub(crate) fn new(gpu: &GpuDevice, uploads: &mut Uploads) -> Result<Self, Error> {
        let desc = ImageDesc::sampled(
            "3d placeholder tonemapping lut",
            [1, 1, 2],
            Format::R8G8B8A8_UNORM,
        );
        let none = gpu.create_image(&desc)?;
        uploads.write_image(&none, &[0; 8]);
        Ok(Self {
            luts: vec![none],
            lut_indices: [None; TABLES.len()],
            by_view: ViewMap::default(),
        })
    }

    /// Returns the index of a method's LUT; 0 if it has none.
    fn lut_index(
        &mut self,
        method: Tonemapping,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
    ) -> Result<u32, BevyError> {
        let Some(table) = TABLES.iter().position(|(of, _)| *of == method) else {
            return Ok(0);
        };
        if let Some(lut_index) = self.lut_indices[table] {
            return Ok(lut_index);
        }
        let (_, bytes) = TABLES[table];
        let image = load(method, bytes, gpu, uploads)?;
        let lut_index = self.luts.len() as u32;
        self.luts.push(image);
        self.lut_indices[table] = Some(lut_index);
        Ok(lut_index)
    }
}

/// Loads the LUT of a file, which is one of bevy's.
fn load(
    method: Tonemapping,
    bytes: &[u8],
    gpu: &GpuDevice,
    uploads: &mut Uploads,
) -> Result<GpuImage, BevyError> {
    let image = texels(bytes)?;
    let format = match method {
        Tonemapping::TonyMcMapface => Format::E5B9G9R9_UFLOAT_PACK32,
        _ => Format::R16G16B16A16_SFLOAT,
    };
    let size = image.texture_descriptor.size;
    let extent = [size.width, size.height, size.depth_or_array_layers];
    let name = format!("3d tonemapping lut {method:?}");
    let table = gpu.create_image(&ImageDesc::sampled(name, extent, format))?;
    uploads.write_image(&table, image.data.as_deref().unwrap_or_default());
    Ok(table)
}

/// Loads the LUTs of this frame's cameras. A camera whose LUT cannot be loaded is drawn with [`Tonemapping::None`].
pub(crate) fn prepare_tonemapping_luts(
    (scene, mut rows): (Res<Scene3d>, ResMut<ViewRows>),
    mut tables: ResMut<TonemappingLutImages>,
    gpu: Res<GpuDevice>,
    mut uploads: ResMut<Uploads>,
    warnings: Res<RateLimitedWarnings>,
) {
    tables.by_view.clear();
    for view in &scene.views {
        match tables.lut_index(view.queued.tonemapping, &gpu, &mut uploads) {
            Ok(lut_index) => tables.by_view.insert(view.queued.row, lut_index),
            Err(error) => {
                warnings.warn_message(|| {
                    format!("{:?} is not there: {error}", view.queued.tonemapping)
                });
                tables.by_view.insert(view.queued.row, 0);
                if let Some(row) = rows.gradings.get_mut(view.queued.row as usize) {
                    row.method = Tonemapping::None as u32;
                }
            }
        }
    }
}
