//! Temporal antialiasing of cameras, before tone mapping.

use bevy_app::{App, Plugin};
use bevy_camera::{Camera, Camera3d};
use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use quadrille::ecs::{AccessList, Uniform, access_kind};
use quadrille::prelude::{
    ComputePipeline, ComputePipelineDesc, GpuDevice, GpuShader, ImageUsage, Recorder, Render,
    RenderStartup,
};
use quadrille_content::cameras::Msaa;
use quadrille_content::warnings::RateLimitedWarnings;

use crate::camera_effect::{
    CameraEffect, CameraEffectPlugin, EffectFrame, EffectImage, EffectImages, EffectViews,
    ViewTransforms3d,
};
use crate::components::mip_bias::MipBias;
use crate::components::prepass::MotionVectorPrepass;
use crate::components::temporal_jitter::TemporalJitter;
use crate::effects::bloom::bloom_3d;
use crate::effects::needs::warn_of_samples;
use crate::pipelines::Pipelines3d;
use crate::prepare::targets::{PrepassMotionVectors3d, PreviousDepths3d, SceneDepths};
use crate::prepare::view_colors::PostProcess;
use crate::scene::formats::COLOR;
use crate::schedule::Prepare3dSystems;

/// Adds temporal antialiasing.
pub(crate) struct TaaPlugin;

impl Plugin for TaaPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(CameraEffectPlugin::<TemporalAntiAliasing>::default())
            .register_type::<TemporalAntiAliasing>()
            .add_systems(RenderStartup, init_taa)
            .add_systems(
                Render,
                (
                    warn_of_multisampling.in_set(Prepare3dSystems::Extract),
                    finish_reset
                        .in_set(Prepare3dSystems::Prepare)
                        .after(Prepare3dSystems::PrepareEffects),
                    taa_3d.in_set(TemporalAntiAliasing::STAGE).before(bloom_3d),
                ),
            );
    }
}

/// Temporal antialiasing (TAA) of a 3D camera, with the fields and defaults of bevy's component.
///
/// Each frame samples other positions within the pixels ([`TemporalJitter`]), and the frames are averaged along the motion
/// of surfaces ([`MotionVectorPrepass`]). The camera needs `Msaa::Off`. Blended surfaces have no motion of their own: they
/// move with what is behind them. Orthographic and perspective projections are antialiased alike; bevy's needs a perspective
/// one.
#[derive(Component, Clone, Debug, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[require(TemporalJitter, MipBias, MotionVectorPrepass)]
pub struct TemporalAntiAliasing {
    /// Ignores the frames before this one, for example after a camera cut; then it becomes false. A
    /// [`CameraCut`](crate::CameraCut) does the same for all effects.
    pub reset: bool,
}

impl Default for TemporalAntiAliasing {
    fn default() -> Self {
        Self { reset: true }
    }
}

impl CameraEffect for TemporalAntiAliasing {
    type Uniform = u32;

    const DEPTH_HISTORY: bool = true;

    /// Whether the history is valid.
    fn uniform(&self, frame: &EffectFrame) -> u32 {
        u32::from(frame.history_is_valid && !self.reset)
    }

    fn images(&self, images: &mut Vec<EffectImage>) {
        let history = EffectImage::new("3d antialiased history", COLOR);
        images.push(history.usage(ImageUsage::STORAGE).history());
    }
}

/// Cameras whose number of samples may not fit.
type ChangedSamples = (
    With<Camera3d>,
    With<TemporalAntiAliasing>,
    Or<(Changed<Msaa>, Added<TemporalAntiAliasing>)>,
);

/// Warns of cameras with several samples per pixel, as bevy does, but once.
fn warn_of_multisampling(
    cameras: Query<(Entity, &Msaa), ChangedSamples>,
    warnings: Res<RateLimitedWarnings>,
) {
    let consequence = |camera: &str, samples| {
        format!(
            "the camera {camera} has no temporal antialiasing: its `Msaa` has {samples} samples per pixel"
        )
    };
    warn_of_samples(cameras, &warnings, ("TemporalAntiAliasing", consequence));
}

/// Ends the reset of cameras that were prepared.
fn finish_reset(mut cameras: Query<(&mut TemporalAntiAliasing, &Camera)>) {
    for (mut effect, camera) in &mut cameras {
        if effect.reset && camera.is_active {
            effect.bypass_change_detection().reset = false;
        }
    }
}

/// Pipeline of [`taa_3d`].
#[derive(Resource)]
pub struct TaaPipeline(ComputePipeline);

fn init_taa(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let source = include_str!("../../shaders/taa.wgsl");
    let shader = GpuShader::wgsl("quadrille_3d/taa.wgsl", source)?;
    let desc = ComputePipelineDesc::of("taa", &shader);
    commands.insert_resource(TaaPipeline(gpu.compute_pipeline(&desc)?));
    Ok(())
}

/// The history, to sample and to write.
type Histories<'w> = (
    AccessList<'w, EffectImages<TemporalAntiAliasing>, access_kind::Sampled>,
    AccessList<'w, EffectImages<TemporalAntiAliasing>, access_kind::StorageWrite>,
);

/// Depths of this frame and of the previous one, and motion vectors.
type Surfaces<'w> = (
    AccessList<'w, SceneDepths, access_kind::Sampled>,
    AccessList<'w, PreviousDepths3d, access_kind::Sampled>,
    AccessList<'w, PrepassMotionVectors3d, access_kind::Sampled>,
);

/// Averages the colors of frames: one pass of the plan for each view with [`TemporalAntiAliasing`] and one sample per pixel.
pub fn taa_3d(
    mut recorder: Recorder,
    (effects, transforms): (EffectViews<TemporalAntiAliasing>, Uniform<ViewTransforms3d>),
    (depths, previous_depths, motion_vectors): Surfaces,
    (sampled, written): Histories,
    mut post_process: PostProcess,
    (pipeline, shared): (Res<TaaPipeline>, Res<Pipelines3d>),
) {
    let views = effects.iter().filter(|view| view.samples() == 1);
    // Upscaling includes antialiasing.
    for view in views.filter(|view| !view.is_upscaled()) {
        let motion = view.prepass_motion_vectors();
        let (Some(depth), Some(motion), Some(history)) = (
            depths.get(view.images()),
            motion.and_then(|at| motion_vectors.get(at)),
            view.previous(0).and_then(|at| sampled.get(at)),
        ) else {
            continue;
        };
        let (Some(to), Some(color)) = (
            view.image(0).and_then(|at| written.get(at)),
            post_process.write(&view),
        ) else {
            continue;
        };
        // Not read without a valid history.
        let previous_depth = view.previous_depth().and_then(|at| previous_depths.get(at));
        let previous_depth = previous_depth.unwrap_or(depth);
        let uses = [
            color.source,
            color.storage,
            to,
            history,
            motion,
            depth,
            previous_depth,
            effects.uniforms().any(),
            transforms.any(),
        ];
        let uses = uses.map(|used| used.as_declared());
        let mut pass = recorder.pass_in_step(view.step(), "taa_3d", &uses);
        let [width, height] = view.size();
        pass.compute(&pipeline.0)
            .bind("picture", &color.source)
            .bind("history", &history)
            .bind("motion_vectors", &motion)
            .bind("depths", &depth)
            .bind("previous_depths", &previous_depth)
            .sampler("history_sampler", &shared.clamped_sampler)
            .bind_bytes("history_is_valid", effects.uniforms(), view.uniform_bytes())
            .bind_bytes("view", &transforms, view.transforms_bytes())
            .bind("new_picture", &color.storage)
            .bind("new_history", &to)
            .dispatch_invocations([width, height, 1]);
    }
}
