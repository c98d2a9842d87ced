//! Tone mapping: by the pass [`tonemap_3d`] for cameras with `Hdr`, or with an effect that needs scene-referred colors;
//! for other cameras in the shaders of meshes and skyboxes.

mod component;
mod grading;
mod luts;
mod pass;
pub(crate) mod row;

use bevy_app::{App, Plugin};
use bevy_camera::Camera3d;
use bevy_ecs::prelude::*;
use bytemuck::Zeroable as _;
use quadrille::prelude::{GpuDevice, ImageDesc, Render, RenderStartup, Uploads};
use quadrille::vulkan::shader::ShaderModule;
use quadrille::vulkan::{Format, ShaderError};
use quadrille_content::buffers::RawBufferVec;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

pub use component::Tonemapping;
pub use grading::{ColorGrading, ColorGradingGlobal, ColorGradingSection, DebandDither};
#[cfg(test)]
pub(crate) use pass::TonemapPush;
pub use pass::tonemap_3d;

use crate::passes::display::{Gradings3d, TonemappingLutImages, ViewExposures};
use crate::prepare::targets::prepare_targets;
use crate::scene::lists::{QueuedViews, ViewMap};
use crate::schedule::{Pass3dSystems, Prepare3dSystems};
use crate::tables::table::{UNIFORM_BYTES, ensure_not_empty, uniform_buffer};
use luts::LutIndices;
use pass::TonemapPipelines3d;
use row::GradingRow;

/// Adds tone mapping, and the components that it reads.
pub(crate) struct TonemappingPlugin;

impl Plugin for TonemappingPlugin {
    fn build(&self, app: &mut App) {
        if let Err(error) = publish_shader_modules() {
            tracing::error!("shader modules of tone mapping: {error}");
        }
        // As in bevy.
        app.register_required_components::<Camera3d, Tonemapping>()
            .register_required_components::<Camera3d, ColorGrading>()
            .register_required_components_with::<Camera3d, DebandDither>(|| DebandDither::Enabled)
            .register_type::<Tonemapping>()
            .register_type::<ColorGrading>()
            .register_type::<DebandDither>()
            .add_systems(RenderStartup, init_tonemapping)
            .add_systems(
                Render,
                (
                    // `prepare_targets` takes the queued views.
                    prepare_tonemapping
                        .in_set(Prepare3dSystems::Prepare)
                        .before(prepare_targets),
                    tonemap_3d.in_set(Pass3dSystems::Tonemap),
                ),
            );
    }
}

/// Publishes the shader modules, for passes whose shaders map tones and for effects.
pub(crate) fn publish_shader_modules() -> Result<(), ShaderError> {
    let modules = [
        (
            "quadrille_3d::display",
            include_str!("../../shaders/display.wgsl"),
        ),
        (
            "quadrille_3d::grading",
            include_str!("../../shaders/grading.wgsl"),
        ),
        (
            "quadrille_3d::tonemapping",
            include_str!("../../shaders/tonemapping.wgsl"),
        ),
    ];
    for (path, source) in modules {
        ShaderModule::new(path, source).publish()?;
    }
    Ok(())
}

/// Rows of views, and the LUTs that are loaded.
#[derive(Resource, Default)]
struct TonemappingRows {
    gradings: RawBufferVec<GradingRow>,
    lut_indices: LutIndices,
}

/// Creates the pipelines, the buffer of gradings, and placeholders of LUTs and exposures, at the start and after a lost device.
fn init_tonemapping(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    mut uploads: ResMut<Uploads>,
) -> Result {
    let gradings = uniform_buffer(&gpu, "3d gradings", 0)?;
    uploads.write_buffer(&gradings, 0, &[0; UNIFORM_BYTES as usize]);
    commands.insert_resource(Gradings3d(gradings));
    commands.insert_resource(luts::placeholder(&gpu, &mut uploads)?);
    let neutral = ImageDesc::sampled("3d neutral exposure", [1, 1], Format::R32_SFLOAT);
    let neutral = gpu.create_image(&neutral)?;
    uploads.write_image(&neutral, &[0; 4]);
    commands.insert_resource(ViewExposures {
        images: vec![neutral],
        by_view: ViewMap::default(),
    });
    commands.insert_resource(TonemapPipelines3d::new(&gpu)?);
    commands.insert_resource(TonemappingRows::default());
    Ok(())
}

/// Components of a camera. Without [`Tonemapping`] it is drawn with [`Tonemapping::None`].
type CameraComponents = (
    Option<&'static Tonemapping>,
    Option<&'static ColorGrading>,
    Option<&'static DebandDither>,
);

/// Writes the rows of this frame's cameras and loads their LUTs. A camera whose LUT cannot be loaded is drawn with
/// [`Tonemapping::None`].
fn prepare_tonemapping(
    views: Res<QueuedViews>,
    cameras: Query<CameraComponents>,
    mut rows: ResMut<TonemappingRows>,
    (mut buffer, mut luts): (ResMut<Gradings3d>, ResMut<TonemappingLutImages>),
    (gpu, mut uploads): (Res<GpuDevice>, ResMut<Uploads>),
    warnings: Res<RateLimitedWarnings>,
) -> Result {
    let TonemappingRows {
        gradings,
        lut_indices,
    } = &mut *rows;
    gradings.clear();
    luts.by_view.clear();
    for view in &views.0 {
        let (method, grading, dither) = cameras.get(view.camera).unwrap_or_default();
        let mut method = method.copied().unwrap_or(Tonemapping::None);
        let lut = lut_indices
            .index(method, &mut luts, &gpu, &mut uploads)
            .unwrap_or_else(|error| {
                warnings.warn_message(|| format!("{method:?} is not there: {error}"));
                method = Tonemapping::None;
                0
            });
        luts.by_view.insert(view.row, lut);
        let dither = dither.copied().unwrap_or_default();
        gradings.push(grading_row(
            &warnings,
            view.camera,
            (grading, method, dither),
        ));
    }
    ensure_not_empty(gradings);
    gradings.upload(&gpu, &mut uploads, &mut buffer.0)?;
    Ok(())
}

/// Row of a camera; neutral grading, with a warning, if a value is not finite.
fn grading_row(
    warnings: &RateLimitedWarnings,
    camera: Entity,
    (grading, method, dither): (Option<&ColorGrading>, Tonemapping, DebandDither),
) -> GradingRow {
    let camera = entity_name(camera);
    let plain = ColorGrading::default();
    let grading = grading.unwrap_or(&plain);
    if !method.is_enabled() && *grading != plain {
        warnings.warn_message(|| {
            format!(
                "the color grading of the camera {camera} has no effect: its tone mapping is \
                 Tonemapping::None, and Tonemapping::Linear changes nothing else"
            )
        });
    }
    GradingRow::new(grading, method, dither).unwrap_or_else(|| {
        warnings.warn_message(|| {
            format!("the color grading of the camera {camera} is ignored: it is {grading:?}")
        });
        GradingRow::new(&plain, method, dither).unwrap_or_else(GradingRow::zeroed)
    })
}
