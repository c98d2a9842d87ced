//! Effects of one full-screen pass, which maps the color of a view by its uniform.

use std::marker::PhantomData;

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::ecs::ColorAttachment as _;
use quadrille::prelude::{GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc, Recorder};

use crate::camera_effect::{CameraEffect, EffectViews};
use crate::pipelines::Pipelines3d;
use crate::prepare::view_colors::PostProcess;

/// Pipeline of an effect of one full-screen pass.
#[derive(Resource)]
pub struct FullScreenPipeline<E>(GraphicsPipeline, PhantomData<fn() -> E>);

impl<E: CameraEffect> FullScreenPipeline<E> {
    /// Creates the pipeline from the source of the shader, which reads `picture` and may use `picture_sampler`.
    pub(super) fn new(
        gpu: &GpuDevice,
        name: &'static str,
        (path, source): (&str, &str),
    ) -> Result<Self> {
        let shader = GpuShader::wgsl(path, source)?;
        let pipeline = gpu.graphics_pipeline(&GraphicsPipelineDesc::of(name, &shader))?;
        Ok(Self(pipeline, PhantomData))
    }
}

/// Resources of an effect of one full-screen pass.
#[derive(SystemParam)]
pub struct FullScreenEffect<'w, E: CameraEffect> {
    effects: EffectViews<'w, E>,
    post_process: PostProcess<'w>,
    pipeline: Res<'w, FullScreenPipeline<E>>,
    shared: Res<'w, Pipelines3d>,
}

impl<E: CameraEffect> FullScreenEffect<'_, E> {
    /// Records a pass of the plan for each view with the effect. `uniform`: name of the uniform in the shader.
    pub(super) fn draw(
        mut self,
        recorder: &mut Recorder,
        name: &'static str,
        uniform: &'static str,
    ) {
        let uniforms = self.effects.uniforms();
        for view in self.effects.iter() {
            let Some(color) = self.post_process.write(&view) else {
                continue;
            };
            let uses = [color.source, color.destination, uniforms.any()];
            let uses = uses.map(|used| used.as_declared());
            let mut pass = recorder.pass_in_step(view.step(), name, &uses);
            let mut rendering = pass.render(color.destination.discard());
            rendering
                .pipeline(&self.pipeline.0)
                .bind("picture", &color.source)
                .bind_bytes(uniform, uniforms, view.uniform_bytes());
            if rendering.uses("picture_sampler") {
                rendering.sampler("picture_sampler", &self.shared.clamped_sampler);
            }
            rendering.draw(0..3, 0..1);
        }
    }
}
