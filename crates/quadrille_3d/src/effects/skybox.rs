//! Skybox behind the scene: bevy's `Skybox`.

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::bindings::PassBindings;
use quadrille::ecs::{
    AccessList, DepthAttachment as _, PassUse, RenderStartup, Table, access_kind,
};
use quadrille::prelude::{
    GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc, Recorder, Render,
};
use quadrille::vulkan::pipeline::DepthState;
use quadrille::vulkan::vk;

use crate::environment::maps::Cubes3d;
use crate::environment::sky::Skies;
use crate::passes::display::DisplayTransform3d;
use crate::passes::draw::{DrawParams3d, SceneTargets3d};
use crate::prepare::targets::{SceneDepths, prepare_targets};
use crate::scene::formats::PipelineTarget;
use crate::scene::frame::{InitialColor, Scene3d, ScenePass, View3d};
use crate::schedule::{Pass3dSystems, Prepare3dSystems};

/// Adds the skybox.
pub(crate) struct SkyboxPlugin;

impl Plugin for SkyboxPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(RenderStartup, init_skybox).add_systems(
            Render,
            (
                prepare_skybox_pipelines
                    .in_set(Prepare3dSystems::Prepare)
                    .after(prepare_targets),
                skybox_3d.in_set(Pass3dSystems::Skybox),
            ),
        );
    }
}

fn init_skybox(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    commands.insert_resource(SkyboxPipeline3d::new(&gpu)?);
    Ok(())
}

/// Pipelines of [`skybox_3d`]: with scene-referred output, and with tone mapping in the shader.
#[derive(Resource)]
pub struct SkyboxPipeline3d([GraphicsPipeline; 2]);

impl SkyboxPipeline3d {
    fn new(gpu: &GpuDevice) -> Result<Self, BevyError> {
        let source = include_str!("../../shaders/skybox.wgsl");
        let shader = GpuShader::wgsl("quadrille_3d/skybox.wgsl", source)?;
        let pipeline = |maps_tones: bool| {
            gpu.graphics_pipeline(&GraphicsPipelineDesc {
                depth: Some(DepthState {
                    compare: vk::CompareOp::GREATER_OR_EQUAL,
                    write: false,
                }),
                constants: vec![("MAPS_TONES".to_owned(), maps_tones.into())],
                ..GraphicsPipelineDesc::of("3d sky", &shader)
            })
        };
        Ok(Self([pipeline(false)?, pipeline(true)?]))
    }

    /// Returns the pipeline for a target.
    fn get(&self, target: &PipelineTarget) -> &GraphicsPipeline {
        &self.0[usize::from(target.maps_tones)]
    }
}

/// Starts compiling for the targets of views before the first skybox is drawn to them.
pub(crate) fn prepare_skybox_pipelines(
    scene: Res<Scene3d>,
    pipelines: Res<SkyboxPipeline3d>,
    mut prepared: Local<Vec<PipelineTarget>>,
) {
    if pipelines.is_added() {
        prepared.clear();
    }
    for target in scene.views.iter().map(View3d::pipeline_target) {
        if !prepared.contains(&target) {
            pipelines.get(&target).prepare(&target.formats);
            prepared.push(target);
        }
    }
}

/// Skyboxes of the views, and the pipeline of [`skybox_3d`].
#[derive(SystemParam, PassBindings)]
pub struct SkyboxParams3d<'w> {
    #[bind]
    cubes: Table<'w, Cubes3d>,
    pipeline: Res<'w, SkyboxPipeline3d>,
    skies: Res<'w, Skies>,
    display_transform: DisplayTransform3d<'w>,
}

/// Draws skyboxes behind the scene: one pass in the plan per view with a `Skybox`.
pub fn skybox_3d(
    mut recorder: Recorder,
    targets: SceneTargets3d,
    depths: AccessList<SceneDepths, access_kind::DepthRead>,
    draw_params: DrawParams3d,
    skybox: SkyboxParams3d,
    mut uses: Local<Vec<PassUse>>,
) {
    for view in &draw_params.scene.views {
        let at = view.images as usize;
        let (Some(push), Some(images), Some(depth)) = (
            skybox.skies.0.get(view.queued.row),
            targets.of(view, ScenePass::Skybox),
            depths.get(at),
        ) else {
            continue;
        };
        uses.clear();
        images.add_color_uses(&mut uses);
        uses.push(depth.as_declared());
        skybox.display_transform.add_uses(view, &mut uses);
        let mut pass = recorder.pass_in_step(view.queued.step, "skybox_3d", &uses);
        let mut rendering = pass.render((
            images.color(InitialColor::Keep),
            depth.layer(0).keep_depth(),
        ));
        rendering
            .pipeline(skybox.pipeline.get(&view.pipeline_target()))
            .bind_all(&skybox);
        skybox
            .display_transform
            .bind(&mut rendering, &draw_params.pipelines, view);
        rendering
            .push_bytes(bytemuck::bytes_of(push))
            .draw(0..3, 0..1);
    }
}
