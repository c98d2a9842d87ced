//! Motion blur of cameras, before tone mapping.

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use quadrille::ecs::{AccessList, Uniform, access_kind};
use quadrille::prelude::{
    ComputePipeline, ComputePipelineDesc, GpuDevice, Recorder, Render, RenderStartup, ShaderType,
};
use quadrille::vulkan::shader::ShaderOptions;

use crate::camera_effect::{
    CameraEffect, CameraEffectPlugin, EffectFrame, EffectViews, ViewTransforms3d,
};
use crate::components::prepass::{DepthPrepass, MotionVectorPrepass};
use crate::effects::bloom::bloom_3d;
use crate::effects::taa::taa_3d;
use crate::pipelines::Pipelines3d;
use crate::prepare::targets::{PrepassMotionVectors3d, SceneDepths};
use crate::prepare::view_colors::PostProcess;

/// Adds motion blur.
pub(crate) struct MotionBlurPlugin;

impl Plugin for MotionBlurPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(CameraEffectPlugin::<MotionBlur>::default())
            .register_type::<MotionBlur>()
            .add_systems(RenderStartup, init_motion_blur)
            .add_systems(
                Render,
                motion_blur_3d
                    .in_set(MotionBlur::STAGE)
                    .before(taa_3d)
                    .before(bloom_3d),
            );
    }
}

/// Motion blur of a 3D camera, with the fields and defaults of bevy's component: the mean of the picture along the motion of
/// each pixel.
///
/// Pixels around something that moves are not blurred, as in bevy, nor are blended surfaces, which move with what is behind
/// them.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[require(DepthPrepass, MotionVectorPrepass)]
pub struct MotionBlur {
    /// Part of the time between two frames in which the shutter is open: 0.5 are 180 degrees of a film camera. Blur is as
    /// long as this part of the motion since the previous frame. 0 and less is none.
    pub shutter_angle: f32,
    /// Samples along the motion in each direction, beside the one in the middle; above 64 as 64. 0 is no blur.
    pub samples: u32,
}

impl Default for MotionBlur {
    fn default() -> Self {
        Self {
            shutter_angle: 0.5,
            samples: 1,
        }
    }
}

/// Most samples in each direction.
const MAX_SAMPLES: u32 = 64;

/// Uniform of the shader.
#[derive(ShaderType)]
pub struct ShutterUniform {
    angle: f32,
    samples: u32,
}

impl CameraEffect for MotionBlur {
    type Uniform = ShutterUniform;

    fn is_enabled(&self, _is_hdr: bool) -> bool {
        self.samples > 0 && self.shutter_angle > 0.0
    }

    fn invalid_setting(&self) -> Option<String> {
        let angle = self.shutter_angle;
        (!angle.is_finite())
            .then(|| format!("its `shutter_angle` is {angle}. Set a finite number."))
    }

    fn uniform(&self, _: &EffectFrame) -> ShutterUniform {
        ShutterUniform {
            angle: self.shutter_angle,
            samples: self.samples.min(MAX_SAMPLES),
        }
    }
}

/// Pipelines of [`motion_blur_3d`]: with one sample per pixel, and with several.
#[derive(Resource)]
pub struct MotionBlurPipelines([ComputePipeline; 2]);

fn init_motion_blur(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let source = include_str!("../../shaders/motion_blur.wgsl");
    let pipeline = |name, options: ShaderOptions| {
        let shader = options.wgsl("quadrille_3d/motion_blur.wgsl", source)?;
        let desc = ComputePipelineDesc::of(name, &shader);
        Ok::<_, BevyError>(gpu.compute_pipeline(&desc)?)
    };
    let several = ShaderOptions::new().def("MULTISAMPLED");
    commands.insert_resource(MotionBlurPipelines([
        pipeline("motion blur", ShaderOptions::new())?,
        pipeline("motion blur multisampled", several)?,
    ]));
    Ok(())
}

/// Blurs along motion vectors: one pass of the plan for each view with [`MotionBlur`].
pub fn motion_blur_3d(
    mut recorder: Recorder,
    (effects, transforms): (EffectViews<MotionBlur>, Uniform<ViewTransforms3d>),
    depths: AccessList<SceneDepths, access_kind::Sampled>,
    motion_vectors: AccessList<PrepassMotionVectors3d, access_kind::Sampled>,
    mut post_process: PostProcess,
    (pipelines, shared): (Res<MotionBlurPipelines>, Res<Pipelines3d>),
) {
    for view in effects.iter() {
        let motion = view.prepass_motion_vectors();
        let (Some(depth), Some(motion)) = (
            depths.get(view.images()),
            motion.and_then(|at| motion_vectors.get(at)),
        ) else {
            continue;
        };
        let Some(color) = post_process.write(&view) else {
            continue;
        };
        let uses = [
            color.source,
            color.storage,
            motion,
            depth,
            effects.uniforms().any(),
            transforms.any(),
        ];
        let uses = uses.map(|used| used.as_declared());
        let [width, height] = view.output_size();
        recorder
            .pass_in_step(view.step(), "motion_blur_3d", &uses)
            .compute(&pipelines.0[usize::from(view.samples() > 1)])
            .bind("new_picture", &color.storage)
            .bind("picture", &color.source)
            .sampler("picture_sampler", &shared.clamped_sampler)
            .bind("motion_vectors", &motion)
            .bind("depths", &depth)
            .bind_bytes("shutter", effects.uniforms(), view.uniform_bytes())
            .bind_bytes("view", &transforms, view.transforms_bytes())
            .dispatch_invocations([width, height, 1]);
    }
}
