//! The pass [`tonemap_3d`], and its LUTs.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bytemuck::{Pod, Zeroable};
use quadrille::ecs::{AccessList, AnyAccess, ColorAttachment as _, access_kind};
use quadrille::prelude::{Format, GpuDevice, GpuImage, ImageDesc, Recorder, Uniform, Uploads};
use quadrille::vulkan::Error;
use quadrille_content::{CameraTargets, RateLimitedWarnings};

use crate::components::tonemapping::Tonemapping;
use crate::passes::draw::DrawParams3d;
use crate::pipelines::Pipelines3d;
use crate::prepare::view_colors::ViewColors;
use crate::scene::buffers::Gradings3d;
use crate::scene::frame::{Scene3d, View3d};
use crate::scene::lists::{ViewMap, ViewRows};
use crate::tables::brdf_luts::texels;
use crate::tables::table::uniform_row;

/// LUTs of this frame's tone mapping methods: 3D images from scene-referred to display-referred
/// color. The first one is a placeholder for methods without a LUT.
#[derive(Resource, Deref)]
pub struct TonemappingLutImages {
    #[deref]
    luts: Vec<GpuImage>,
    /// Indices of the loaded LUTs of [`TABLES`].
    lut_indices: [Option<u32>; TABLES.len()],
    /// LUT index by view.
    by_view: ViewMap<u32>,
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
                if let Some(row) = rows.gradings.current.get_mut(view.queued.row as usize) {
                    row.method = Tonemapping::None as u32;
                }
            }
        }
    }
}

/// Push constants of `tonemap.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct TonemapPush {
    background: [f32; 4],
    corner: [f32; 2],
    maps_background: u32,
    premultiplies: u32,
}

/// Applies color grading, tone mapping and dithering, and writes each view to its camera's target: one pass in the
/// plan per view.
pub fn tonemap_3d(
    mut recorder: Recorder,
    colors: ViewColors,
    (tables, luts): (
        AccessList<TonemappingLutImages, access_kind::Sampled>,
        Res<TonemappingLutImages>,
    ),
    targets: AccessList<CameraTargets, access_kind::ColorTarget>,
    gradings: Uniform<Gradings3d>,
    draw_params: DrawParams3d,
) {
    for view in &draw_params.scene.views {
        let (Some(color), Some(table), Some(target)) = (
            colors.of(view),
            luts.by_view
                .get(view.queued.row)
                .and_then(|lut_index| tables.get(*lut_index as usize)),
            targets.get(view.queued.target as usize),
        ) else {
            continue;
        };
        let to = TonemapImages {
            color,
            table,
            target,
        };
        tonemap_view(&mut recorder, view, &to, &gradings, &draw_params.pipelines);
    }
}

/// Images of one view.
struct TonemapImages<'w> {
    color: AnyAccess<'w>,
    table: AnyAccess<'w>,
    target: AnyAccess<'w>,
}

fn tonemap_view(
    recorder: &mut Recorder,
    view: &View3d,
    images: &TonemapImages,
    gradings: &Uniform<Gradings3d>,
    pipelines: &Pipelines3d,
) {
    let TonemapImages {
        color,
        table,
        target,
    } = images;
    let uses = [
        color.as_declared(),
        table.as_declared(),
        target.as_declared(),
        gradings.any().as_declared(),
    ];
    let mut pass = recorder.pass_in_step(view.queued.step, "tonemap_3d", &uses);
    let attachment = match view.queued.clear {
        Some(color) => target.clear(color),
        None => target.keep(),
    };
    let [left, top, width, height] = view.queued.viewport;
    let push = TonemapPush {
        background: view.queued.background.unwrap_or_default(),
        corner: [left as f32, top as f32],
        maps_background: u32::from(view.queued.is_hdr && view.queued.background.is_some()),
        premultiplies: u32::from(view.queued.background.is_some() && !view.queued.replaces),
    };
    let pipeline = match view.queued.background {
        Some(_) if view.queued.replaces => &pipelines.tonemap_first,
        _ => &pipelines.tonemap,
    };
    pass.render(attachment)
        .viewport([left as f32, top as f32, width as f32, height as f32])
        .scissor([left, top, width, height])
        .pipeline(pipeline)
        .bind(0, color)
        .bind_bytes(1, gradings, uniform_row(view.queued.row))
        .bind(2, table)
        .sampler(3, &pipelines.clamped_sampler)
        .push_bytes(bytemuck::bytes_of(&push))
        .draw(0..3, 0..1);
}
