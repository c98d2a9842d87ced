//! Skybox behind the scene: bevy's `Skybox`.

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::ecs::{
    AccessList, ColorAttachment as _, DepthAttachment as _, RenderStartup, access_kind,
};
use quadrille::prelude::{
    DepthState, GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc, Recorder, Render,
    Table,
};
use quadrille::vulkan::vk;
use quadrille_content::Msaa;

use crate::environment::maps::Cubes3d;
use crate::environment::sky::Skies;
use crate::passes::draw::DrawParams3d;
use crate::prepare::targets::{SceneDepths, SceneMsaaColors};
use crate::scene::formats::scene_formats;
use crate::schedule::Pass3dSystems;

/// Adds the skybox.
pub(crate) struct SkyboxPlugin;

impl Plugin for SkyboxPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(RenderStartup, init_skybox)
            .add_systems(Render, skybox_3d.in_set(Pass3dSystems::Skybox));
    }
}

fn init_skybox(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    commands.insert_resource(SkyboxPipeline3d::new(&gpu)?);
    Ok(())
}

/// Pipeline of [`skybox_3d`].
#[derive(Resource)]
pub struct SkyboxPipeline3d(GraphicsPipeline);

impl SkyboxPipeline3d {
    fn new(gpu: &GpuDevice) -> Result<Self, BevyError> {
        let source = include_str!("../../shaders/skybox.wgsl");
        let shader = GpuShader::wgsl("quadrille_3d/skybox.wgsl", source)?;
        let pipeline = gpu.graphics_pipeline(&GraphicsPipelineDesc {
            depth: Some(DepthState {
                compare: vk::CompareOp::GREATER_OR_EQUAL,
                write: false,
            }),
            ..GraphicsPipelineDesc::of("3d sky", &shader)
        })?;
        // Compiled in advance for the default sample count.
        pipeline.prepare(&scene_formats(Msaa::default().samples()));
        Ok(Self(pipeline))
    }
}

/// Skyboxes of the views, and the pipeline of [`skybox_3d`].
#[derive(SystemParam)]
pub struct SkyboxParams3d<'w> {
    pipeline: Res<'w, SkyboxPipeline3d>,
    skies: Res<'w, Skies>,
}

/// Draws skyboxes behind the scene: one pass in the plan per view with a `Skybox`.
pub fn skybox_3d(
    mut recorder: Recorder,
    samples: AccessList<SceneMsaaColors, access_kind::ColorTarget>,
    depths: AccessList<SceneDepths, access_kind::DepthRead>,
    cubes: Table<Cubes3d>,
    draw_params: DrawParams3d,
    skybox: SkyboxParams3d,
) {
    for view in &draw_params.scene.views {
        let at = view.images as usize;
        let (Some(push), Some(color), Some(depth)) = (
            skybox.skies.0.get(view.queued.row),
            samples.get(at),
            depths.get(at),
        ) else {
            continue;
        };
        let mut pass = recorder.pass_in_step(
            view.queued.step,
            "skybox_3d",
            &[color.as_declared(), depth.as_declared()],
        );
        pass.render((color.keep(), depth.layer(0).keep_depth()))
            .pipeline(&skybox.pipeline.0)
            .table(1, &cubes)
            .push_bytes(bytemuck::bytes_of(push))
            .draw(0..3, 0..1);
    }
}
