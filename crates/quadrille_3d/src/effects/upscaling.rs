//! Temporal upscaling of cameras, before other effects.
//!
//! ```text
//! Transparent   copy_opaque_color_3d    color without blended surfaces, of views that see any
//! Upscale       temporal_upscaling_3d   color of the viewport's size, and histories for the next frame
//! ```

mod component;

use bevy_app::{App, Plugin};
use bevy_camera::{Camera, Camera3d};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_math::{UVec2, Vec2};
use quadrille::ecs::{AccessList, AnyAccess, Uniform, access_kind};
use quadrille::prelude::{
    ComputePipeline, ComputePipelineDesc, GpuDevice, GpuShader, ImageUsage, Recorder, Render,
    RenderStartup, ShaderType,
};
use quadrille_content::cameras::Msaa;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

pub use component::TemporalUpscaling;

use crate::camera_effect::{
    CameraEffect, CameraEffectPlugin, EffectFrame, EffectImage, EffectImages, EffectView,
    EffectViews, ViewTransforms3d,
};
use crate::effects::needs::warn_of_samples;
use crate::effects::oit::order_independent_3d;
use crate::effects::taa::TemporalAntiAliasing;
use crate::passes::transparent::transparent_3d;
use crate::pipelines::Pipelines3d;
use crate::prepare::targets::{PrepassMotionVectors3d, PreviousDepths3d, SceneColors, SceneDepths};
use crate::prepare::view_colors::PostProcess;
use crate::scene::formats::COLOR;
use crate::scene::frame::View3d;
use crate::schedule::{Pass3dSystems, Prepare3dSystems};

/// Adds temporal upscaling.
pub(crate) struct UpscalingPlugin;

impl Plugin for UpscalingPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(CameraEffectPlugin::<TemporalUpscaling>::default())
            .register_type::<TemporalUpscaling>()
            .add_systems(RenderStartup, init_upscaling)
            .add_systems(
                Render,
                (
                    warn_of_ignored_upscaling.in_set(Prepare3dSystems::Extract),
                    finish_reset
                        .in_set(Prepare3dSystems::Prepare)
                        .after(Prepare3dSystems::PrepareEffects),
                    copy_opaque_color_3d
                        .in_set(Pass3dSystems::Transparent)
                        .before(order_independent_3d)
                        .before(transparent_3d),
                    temporal_upscaling_3d.in_set(TemporalUpscaling::STAGE),
                ),
            );
    }
}

/// Uniform of the shader.
#[derive(ShaderType)]
pub struct UpscalingUniform {
    /// Width and height of the color after upscaling.
    output_size: Vec2,
    /// 1 if the history is valid, else 0.
    history_is_valid: u32,
    unused: u32,
}

/// Index in [`CameraEffect::images`]: color, and the weight of the samples in it.
const HISTORY: usize = 0;
/// Index of the luma of the last sample, its variance and change in time, and the age of the surface.
const MOMENTS: usize = 1;
/// Index of the color without blended surfaces.
const OPAQUE: usize = 2;

impl CameraEffect for TemporalUpscaling {
    type Uniform = UpscalingUniform;

    const STAGE: Pass3dSystems = Pass3dSystems::Upscale;
    const DEPTH_HISTORY: bool = true;

    fn invalid_setting(&self) -> Option<String> {
        let is_nan = self.render_scale.is_nan();
        is_nan.then(|| {
            let least = Self::MIN_SCALE;
            format!("its `render_scale` is NaN. Set a number from {least} to 1.")
        })
    }

    fn render_scale(&self) -> f32 {
        self.render_scale.clamp(Self::MIN_SCALE, 1.0)
    }

    fn uniform(&self, frame: &EffectFrame) -> UpscalingUniform {
        UpscalingUniform {
            output_size: UVec2::from(frame.size).as_vec2(),
            history_is_valid: u32::from(frame.history_is_valid && !self.reset),
            unused: 0,
        }
    }

    fn images(&self, images: &mut Vec<EffectImage>) {
        let history = |name| {
            EffectImage::new(name, COLOR)
                .usage(ImageUsage::STORAGE)
                .history()
        };
        images.extend([
            history("3d upscaled history"),
            history("3d upscaled moments"),
            EffectImage::new("3d opaque color", COLOR).before_upscaling(),
        ]);
    }
}

/// Cameras whose upscaling or number of samples changed.
type ChangedUpscaling = (
    With<Camera3d>,
    With<TemporalUpscaling>,
    Or<(
        Changed<Msaa>,
        Changed<TemporalUpscaling>,
        Added<TemporalAntiAliasing>,
    )>,
);

/// Components of a camera that may not be upscaled.
type Upscaled = (Entity, &'static Msaa, Has<TemporalAntiAliasing>);

/// Warns of cameras that are not upscaled, and of those with temporal antialiasing as well.
fn warn_of_ignored_upscaling(
    cameras: Query<Upscaled, ChangedUpscaling>,
    warnings: Res<RateLimitedWarnings>,
) {
    let consequence = |camera: &str, samples| {
        format!(
            "the camera {camera} has no temporal upscaling: its `Msaa` has {samples} samples per pixel"
        )
    };
    let samples = cameras.iter().map(|(camera, msaa, _)| (camera, msaa));
    warn_of_samples(samples, &warnings, ("TemporalUpscaling", consequence));
    for (camera, msaa, is_antialiased) in &cameras {
        if *msaa == Msaa::Off && is_antialiased {
            warnings.warn_message(|| {
                let camera = entity_name(camera);
                format!(
                    "the camera {camera} is not drawn with `TemporalAntiAliasing`, since temporal upscaling includes it. Remove \
                     `TemporalAntiAliasing` or `TemporalUpscaling`."
                )
            });
        }
    }
}

/// Ends the reset of cameras that were prepared.
fn finish_reset(mut cameras: Query<(&mut TemporalUpscaling, &Camera)>) {
    for (mut upscaling, camera) in &mut cameras {
        if upscaling.reset && camera.is_active {
            upscaling.bypass_change_detection().reset = false;
        }
    }
}

/// Pipeline of [`temporal_upscaling_3d`].
#[derive(Resource)]
pub struct UpscalingPipeline(ComputePipeline);

fn init_upscaling(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let source = include_str!("../../shaders/upscaling.wgsl");
    let shader = GpuShader::wgsl("quadrille_3d/upscaling.wgsl", source)?;
    let desc = ComputePipelineDesc::of("temporal upscaling", &shader);
    commands.insert_resource(UpscalingPipeline(gpu.compute_pipeline(&desc)?));
    Ok(())
}

/// Whether blended surfaces are drawn over the color of a view.
fn has_blended_surfaces(view: &View3d) -> bool {
    let queued = &view.queued;
    !queued.transparent.is_empty() || !queued.order_independent.is_empty()
}

/// Copies the color of views before blended surfaces are drawn: one copy for each view that is upscaled and sees any.
pub fn copy_opaque_color_3d(
    mut recorder: Recorder,
    effects: EffectViews<TemporalUpscaling>,
    colors: AccessList<SceneColors, access_kind::TransferRead>,
    copies: AccessList<EffectImages<TemporalUpscaling>, access_kind::TransferWrite>,
) {
    for view in effects.iter().filter(|view| view.is_upscaled()) {
        if !has_blended_surfaces(&view) {
            continue;
        }
        let to = view.image(OPAQUE).and_then(|at| copies.get(at));
        let (Some(from), Some(to)) = (colors.get(view.images()), to) else {
            continue;
        };
        let uses = [from.as_declared(), to.as_declared()];
        let mut pass = recorder.pass_in_step(view.step(), "opaque color", &uses);
        pass.transfer().copy_image(&from, &to);
    }
}

/// Images that upscaling reads and writes.
#[derive(SystemParam)]
pub struct UpscalingImages<'w> {
    sampled: AccessList<'w, EffectImages<TemporalUpscaling>, access_kind::Sampled>,
    written: AccessList<'w, EffectImages<TemporalUpscaling>, access_kind::StorageWrite>,
    depths: AccessList<'w, SceneDepths, access_kind::Sampled>,
    previous_depths: AccessList<'w, PreviousDepths3d, access_kind::Sampled>,
    motion_vectors: AccessList<'w, PrepassMotionVectors3d, access_kind::Sampled>,
}

/// Images that upscaling of a view reads by name.
type Inputs<'w> = [(&'static str, AnyAccess<'w>); 6];

impl<'w> UpscalingImages<'w> {
    /// Images that a view is upscaled from. `color`: its color.
    fn inputs(&self, view: &EffectView<'_>, color: AnyAccess<'w>) -> Option<Inputs<'w>> {
        let previous = |at| self.sampled.get(view.previous(at)?);
        let depth = self.depths.get(view.images())?;
        let motion = view.prepass_motion_vectors()?;
        // Not read without a valid history.
        let previous_depth = view
            .previous_depth()
            .and_then(|at| self.previous_depths.get(at));
        // Equal to the color where no surface is blended over it.
        let opaque = match has_blended_surfaces(view) {
            true => self.sampled.get(view.image(OPAQUE)?)?,
            false => color,
        };
        Some([
            ("history", previous(HISTORY)?),
            ("moments", previous(MOMENTS)?),
            ("motion_vectors", self.motion_vectors.get(motion)?),
            ("depths", depth),
            ("previous_depths", previous_depth.unwrap_or(depth)),
            ("opaque_picture", opaque),
        ])
    }

    /// The histories that upscaling of a view writes.
    fn outputs(&self, view: &EffectView<'_>) -> Option<[AnyAccess<'w>; 2]> {
        let written = |at| self.written.get(view.image(at)?);
        Some([written(HISTORY)?, written(MOMENTS)?])
    }
}

/// Reconstructs the color of the viewport's size: one pass of the plan for each view with [`TemporalUpscaling`] and one sample
/// per pixel.
pub fn temporal_upscaling_3d(
    mut recorder: Recorder,
    (effects, transforms): (EffectViews<TemporalUpscaling>, Uniform<ViewTransforms3d>),
    images: UpscalingImages,
    mut post_process: PostProcess,
    (pipeline, shared): (Res<UpscalingPipeline>, Res<Pipelines3d>),
) {
    for view in effects.iter().filter(|view| view.is_upscaled()) {
        let color = post_process.source(&view);
        let inputs = color.and_then(|color| images.inputs(&view, color));
        let (Some(inputs), Some([history, moments])) = (inputs, images.outputs(&view)) else {
            continue;
        };
        let Some(color) = post_process.upscale(&view) else {
            continue;
        };
        let mut uses = vec![
            color.source.as_declared(),
            color.storage.as_declared(),
            history.as_declared(),
            moments.as_declared(),
            effects.uniforms().any().as_declared(),
            transforms.any().as_declared(),
        ];
        uses.extend(inputs.iter().map(|(_, image)| image.as_declared()));
        let mut pass = recorder.pass_in_step(view.step(), "temporal_upscaling_3d", &uses);
        let mut compute = pass.compute(&pipeline.0);
        compute.bind("picture", &color.source);
        for (name, image) in &inputs {
            compute.bind(*name, image);
        }
        let [width, height] = view.output_size();
        compute
            .sampler("history_sampler", &shared.clamped_sampler)
            .bind_bytes("upscaling", effects.uniforms(), view.uniform_bytes())
            .bind_bytes("view", &transforms, view.transforms_bytes())
            .bind("new_picture", &color.storage)
            .bind("new_history", &history)
            .bind("new_moments", &moments)
            .dispatch_invocations([width, height, 1]);
    }
}
