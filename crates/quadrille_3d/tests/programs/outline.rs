use bevy_app::App;
use bevy_ecs::prelude::*;
use quadrille::ecs::{AccessList, ColorAttachment as _, access_kind};
use quadrille::prelude::*;
use quadrille::vulkan::pipeline::Blend;
use quadrille_3d::{Pass3dSystems, Scene3d};
use quadrille_3d::resources::{SceneColors, SceneDepths};

#[derive(Resource)]
struct Outline(GraphicsPipeline);

/// A line where the depth around a pixel bends.
const SHADER: &str = "
    @group(0) @binding(0) var depths: texture_depth_2d;

    @vertex fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
        return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
    }

    fn depth(at: vec2i) -> f32 {
        return textureLoad(depths, clamp(at, vec2i(0), vec2i(textureDimensions(depths)) - 1), 0);
    }

    @fragment fn fragment_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
        let at = vec2i(position.xy);
        let around = vec4f(depth(at - vec2i(1, 0)), depth(at + vec2i(1, 0)),
                           depth(at - vec2i(0, 1)), depth(at + vec2i(0, 1)));
        let bend = abs(dot(around, vec4f(1.0)) - 4.0 * depth(at));
        return vec4f(0.0, 0.0, 0.0, smoothstep(0.02, 0.06, bend / max(depth(at), 1e-3)));
    }";

fn make(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let shader = GpuShader::wgsl("outline.wgsl", SHADER)?;
    let desc = GraphicsPipelineDesc::of("outline", &shader);
    let desc = GraphicsPipelineDesc { blend: Blend::Alpha, ..desc };
    commands.insert_resource(Outline(gpu.graphics_pipeline(&desc)?));
    Ok(())
}

fn outline(
    mut recorder: Recorder,
    depths: AccessList<SceneDepths, access_kind::Sampled>,
    colors: AccessList<SceneColors, access_kind::ColorTarget>,
    (scene, pipeline): (Res<Scene3d>, Res<Outline>),
) {
    for view in scene.views() {
        let at = view.images();
        let (Some(depth), Some(color)) = (depths.get(at), colors.get(at)) else { continue };
        let mut pass = recorder.pass("outline", &[depth.as_declared(), color.as_declared()]);
        pass.render(color.keep()).pipeline(&pipeline.0).bind("depths", &depth).draw(0..3, 0..1);
    }
}

pub fn add(app: &mut App) {
    let place = outline.after(Pass3dSystems::Transparent).before(Pass3dSystems::EarlyPostProcess);
    app.add_systems(RenderStartup, make).add_systems(Render, place);
}
