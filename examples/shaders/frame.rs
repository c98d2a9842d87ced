//! Shared parts of the programs: a pass that draws to each camera's images, and a cube.

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleConfigs;
use bevy_ecs::system::{ScheduleSystem, SystemParam};
use quadrille::ecs::{PassUse, Rendering};
use quadrille::prelude::*;
use quadrille::vulkan::pipeline::DepthState;
use quadrille::vulkan::shader::ShaderModule;
use quadrille_3d::resources::Views3d;
use quadrille_3d::systems::ViewTargets3d;
use quadrille_3d::{Pass3dSystems, Scene3d};

/// The corners of a cube of triangles.
const CUBE: &str = "
    struct Corner { place: vec3f, normal: vec3f, uv: vec2f }

    fn corner(index: u32) -> Corner {
        let i = index % 6u;
        let at = vec2f(select(-0.5, 0.5, i == 1u || i == 2u || i == 4u),
                       select(-0.5, 0.5, i == 2u || i == 4u || i == 5u));
        let face = index / 6u % 6u;
        let side = vec3f(at, f32(face & 1u) - 0.5);
        let way = vec3f(0.0, 0.0, side.z * 2.0);
        switch face / 2u {
            case 0u: { return Corner(side.zxy, way.zxy, at + 0.5); }
            case 1u: { return Corner(side.yzx, way.yzx, at + 0.5); }
            default: { return Corner(side, way, at + 0.5); }
        }
    }

    fn lit(normal: vec3f) -> f32 { return 0.6 + 0.4 * dot(normal, vec3f(0.36, 0.8, 0.48)); }";

/// Publishes the cube.
pub(crate) struct FramePlugin;

impl Plugin for FramePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(bevy_app::PreStartup, || -> Result {
            Ok(ShaderModule::new("shaders::cube", CUBE).publish()?)
        });
    }
}

/// The cameras, and the images that they draw to.
#[derive(SystemParam)]
pub(crate) struct Frame<'w, 's> {
    targets: ViewTargets3d<'w, 's>,
    views: StorageRead<'w, Views3d>,
    scene: Res<'w, Scene3d>,
}

impl Frame<'_, '_> {
    /// Draws to each camera's images what hides what is behind it.
    pub(crate) fn draw(
        &self,
        recorder: &mut Recorder,
        pipeline: &GraphicsPipeline,
        uses: &[PassUse],
        mut draw: impl FnMut(&mut Rendering<'_>),
    ) {
        for view in self.scene.views() {
            let Some((color, depth)) = self.targets.of(view) else {
                continue;
            };
            let views = self.views.any().as_declared();
            let mut all = vec![color.as_declared(), depth.as_declared(), views];
            all.extend_from_slice(uses);
            let mut pass = recorder.pass("own", &all);
            let mut rendering = pass.render((color.keep(), depth.layer(0).keep_depth()));
            rendering
                .pipeline(pipeline)
                .bind("views", &self.views)
                .push(&view.row());
            draw(&mut rendering);
        }
    }
}

/// A pipeline for [`Frame::draw`].
pub(crate) fn solid(gpu: &GpuDevice, name: &str, source: &str) -> Result<GraphicsPipeline> {
    let shader = GpuShader::wgsl(name, source)?;
    Ok(gpu.graphics_pipeline(&GraphicsPipelineDesc {
        depth: Some(DepthState::GREATER),
        ..GraphicsPipelineDesc::of(name, &shader)
    })?)
}

/// A pass after the meshes that hide others, and before the sky.
pub(crate) fn solid_pass<M>(
    pass: impl IntoScheduleConfigs<ScheduleSystem, M>,
) -> ScheduleConfigs<ScheduleSystem> {
    pass.after(Pass3dSystems::OpaqueLate)
        .before(Pass3dSystems::Skybox)
}
