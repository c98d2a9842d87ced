//! LUTs that some methods of tone mapping need.

use bevy_ecs::prelude::*;
use quadrille::prelude::{GpuDevice, GpuImage, ImageDesc, Uploads};
use quadrille::vulkan::{Error, Format};

use super::component::Tonemapping;
use crate::passes::display::TonemappingLutImages;
use crate::scene::lists::ViewMap;
use crate::tables::brdf_luts::texels;

/// Files of LUTs, with their methods: see `assets/LICENSES.md` for the sources.
const TABLES: [(Tonemapping, &[u8]); 3] = [
    (
        Tonemapping::TonyMcMapface,
        include_bytes!("../../../assets/tonemapping/tony_mc_mapface.ktx2"),
    ),
    (
        Tonemapping::AgX,
        include_bytes!("../../../assets/tonemapping/agx.ktx2"),
    ),
    (
        Tonemapping::BlenderFilmic,
        include_bytes!("../../../assets/tonemapping/blender_filmic.ktx2"),
    ),
];

/// Indices of the loaded LUTs of [`TABLES`] in [`TonemappingLutImages`].
#[derive(Default)]
pub(super) struct LutIndices([Option<u32>; TABLES.len()]);

/// Returns the LUTs at the start: the placeholder.
pub(super) fn placeholder(
    gpu: &GpuDevice,
    uploads: &mut Uploads,
) -> Result<TonemappingLutImages, Error> {
    let desc = ImageDesc::sampled(
        "3d placeholder tonemapping lut",
        [1, 1, 2],
        Format::R8G8B8A8_UNORM,
    );
    let none = gpu.create_image(&desc)?;
    uploads.write_image(&none, &[0; 8]);
    Ok(TonemappingLutImages {
        luts: vec![none],
        by_view: ViewMap::default(),
    })
}

impl LutIndices {
    /// Returns the index of a method's LUT, which is loaded if it is not yet; 0 if the method has none.
    pub(super) fn index(
        &mut self,
        method: Tonemapping,
        luts: &mut TonemappingLutImages,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
    ) -> Result<u32, BevyError> {
        let Some(table) = TABLES.iter().position(|(of, _)| *of == method) else {
            return Ok(0);
        };
        if let Some(index) = self.0[table] {
            return Ok(index);
        }
        let (_, bytes) = TABLES[table];
        let image = load(method, bytes, gpu, uploads)?;
        let index = luts.luts.len() as u32;
        luts.luts.push(image);
        self.0[table] = Some(index);
        Ok(index)
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
