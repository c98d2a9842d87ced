//! Subpixel morphological antialiasing (Jimenez et al. 2012) of cameras, after tone mapping.

mod areas;
mod component;

use bevy_app::{App, Plugin};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::ecs::{AccessList, AnyAccess, ColorAttachment as _, access_kind};
use quadrille::prelude::{
    ComputePipeline, ComputePipelineDesc, GpuDevice, GpuImage, GpuShader, GraphicsPipeline,
    GraphicsPipelineDesc, ImageDesc, ImageUsage, Recorder, Render, RenderStartup, Sampled,
    ShaderType, Uploads,
};
use quadrille::vulkan::Format;

pub use component::{Smaa, SmaaPreset};

use crate::camera_effect::{
    CameraEffect, CameraEffectPlugin, EffectFrame, EffectImage, EffectImages, EffectView,
    EffectViews,
};
use crate::effects::fxaa::fxaa_3d;
use crate::effects::sharpening::sharpen_3d;
use crate::pipelines::Pipelines3d;
use crate::prepare::view_colors::PostProcess;
use crate::schedule::Pass3dSystems;

/// Adds SMAA.
pub(crate) struct SmaaPlugin;

impl Plugin for SmaaPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(CameraEffectPlugin::<Smaa>::default())
            .register_type::<Smaa>()
            .add_systems(RenderStartup, init_smaa)
            .add_systems(
                Render,
                smaa_3d
                    .in_set(Smaa::STAGE)
                    .after(fxaa_3d)
                    .before(sharpen_3d),
            );
    }
}

/// Uniform of the shader.
#[derive(ShaderType)]
pub struct SmaaUniform {
    threshold: f32,
    max_distance: i32,
    max_diagonal: i32,
    corner: f32,
}

/// Indices of the images of a view.
const EDGES: usize = 0;
const WEIGHTS: usize = 1;

impl CameraEffect for Smaa {
    type Uniform = SmaaUniform;

    const STAGE: Pass3dSystems = Pass3dSystems::AfterTonemapping;

    fn uniform(&self, _: &EffectFrame) -> SmaaUniform {
        let (threshold, steps, has_shapes) = match self.preset {
            SmaaPreset::Low => (0.15, 4, false),
            SmaaPreset::Medium => (0.1, 8, false),
            SmaaPreset::High => (0.1, 16, true),
            SmaaPreset::Ultra => (0.05, 32, true),
        };
        SmaaUniform {
            threshold,
            // A step is two pixels.
            max_distance: 2 * steps,
            max_diagonal: if has_shapes { 8 } else { 0 },
            corner: if has_shapes { 0.25 } else { 1.0 },
        }
    }

    fn images(&self, images: &mut Vec<EffectImage>) {
        let image = |name| EffectImage::new(name, Format::R8G8B8A8_UNORM);
        images.push(image("smaa edges").usage(ImageUsage::STORAGE));
        images.push(image("smaa weights").usage(ImageUsage::STORAGE));
    }
}

/// Table of areas beneath revectorized edges.
#[derive(Resource, Deref)]
pub struct SmaaAreas(GpuImage);

/// Pipelines of [`smaa_3d`].
#[derive(Resource)]
pub struct SmaaPipelines {
    edges: ComputePipeline,
    weights: ComputePipeline,
    blend: GraphicsPipeline,
}

/// Creates pipelines and the table, at the start and after a lost device.
fn init_smaa(mut commands: Commands, gpu: Res<GpuDevice>, mut uploads: ResMut<Uploads>) -> Result {
    let source = include_str!("../../shaders/smaa.wgsl");
    let shader = GpuShader::wgsl("quadrille_3d/smaa.wgsl", source)?;
    let compute =
        |name, entry| gpu.compute_pipeline(&ComputePipelineDesc::of(name, &shader).entry(entry));
    commands.insert_resource(SmaaPipelines {
        edges: compute("smaa edges", "edges_main")?,
        weights: compute("smaa weights", "weights_main")?,
        blend: gpu.graphics_pipeline(&GraphicsPipelineDesc::of("smaa blend", &shader))?,
    });
    let desc = ImageDesc::sampled("smaa areas", areas::EXTENT, Format::R8G8_UNORM);
    let image = gpu.create_image(&desc)?;
    uploads.write_image(&image, &areas::table());
    commands.insert_resource(SmaaAreas(image));
    Ok(())
}

/// Resources of [`smaa_3d`].
#[derive(SystemParam)]
pub struct SmaaParams3d<'w> {
    effects: EffectViews<'w, Smaa>,
    areas: Sampled<'w, SmaaAreas>,
    sampled: AccessList<'w, EffectImages<Smaa>, access_kind::Sampled>,
    written: AccessList<'w, EffectImages<Smaa>, access_kind::StorageWrite>,
    pipelines: Res<'w, SmaaPipelines>,
    shared: Res<'w, Pipelines3d>,
}

/// Smooths edges: three passes of the plan for each view with [`Smaa`].
pub fn smaa_3d(mut recorder: Recorder, params: SmaaParams3d, mut post_process: PostProcess) {
    for view in params.effects.iter() {
        params.record(&mut recorder, &view, &mut post_process);
    }
}

impl SmaaParams3d<'_> {
    fn record(
        &self,
        recorder: &mut Recorder,
        view: &EffectView,
        post_process: &mut PostProcess,
    ) -> Option<()> {
        let images = [view.image(EDGES)?, view.image(WEIGHTS)?];
        let [edges, weights] = images.map(|at| self.sampled.get(at));
        let [to_edges, to_weights] = images.map(|at| self.written.get(at));
        let color = post_process.write(view)?;
        self.find_edges(recorder, view, [color.source, to_edges?]);
        self.weigh(recorder, view, [edges?, to_weights?]);
        let weights = weights?;
        let uses = [color.source, weights, color.destination].map(|used| used.as_declared());
        let mut pass = recorder.pass_in_step(view.step(), "smaa_3d", &uses);
        pass.render(color.destination.discard())
            .pipeline(&self.pipelines.blend)
            .bind("picture", &color.source)
            .sampler("picture_sampler", &self.shared.clamped_sampler)
            .bind("weights", &weights)
            .draw(0..3, 0..1);
        Some(())
    }

    fn find_edges(
        &self,
        recorder: &mut Recorder,
        view: &EffectView,
        [picture, edges]: [AnyAccess<'_>; 2],
    ) {
        let uniforms = self.effects.uniforms();
        let uses = [picture, edges, uniforms.any()].map(|used| used.as_declared());
        let mut pass = recorder.pass_in_step(view.step(), "smaa edges", &uses);
        let [width, height] = view.output_size();
        pass.compute(&self.pipelines.edges)
            .bind("picture", &picture)
            .bind("new_edges", &edges)
            .bind_bytes("settings", uniforms, view.uniform_bytes())
            .dispatch_invocations([width, height, 1]);
    }

    fn weigh(
        &self,
        recorder: &mut Recorder,
        view: &EffectView,
        [edges, weights]: [AnyAccess<'_>; 2],
    ) {
        let uniforms = self.effects.uniforms();
        let uses = [edges, self.areas.any(), weights, uniforms.any()];
        let mut pass = recorder.pass_in_step(
            view.step(),
            "smaa weights",
            &uses.map(|used| used.as_declared()),
        );
        let [width, height] = view.output_size();
        pass.compute(&self.pipelines.weights)
            .bind("edges", &edges)
            .bind("areas", &self.areas)
            .bind("new_weights", &weights)
            .bind_bytes("settings", uniforms, view.uniform_bytes())
            .dispatch_invocations([width, height, 1]);
    }
}
