use bevy_app::App;
use bevy_ecs::prelude::*;
use quadrille::ecs::{AccessList, ColorAttachment as _, access_kind};
use quadrille::prelude::*;
use quadrille_3d::{Pass3dSystems, Scene3d};
use quadrille_3d::content::views::CameraTargets;
use quadrille_3d::content::ContentSystems;
use quadrille_3d::resources::ViewColors;

#[derive(Resource)]
struct TwoTones(GraphicsPipeline);

/// Ink where it is dark, paper where it is bright.
const SHADER: &str = "
    @group(0) @binding(0) var scene: texture_2d<f32>;
    var<immediate> corner: vec2f;

    @vertex fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
        return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
    }

    @fragment fn fragment_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
        let seen = textureLoad(scene, vec2i(position.xy - corner), 0);
        let light = dot(seen.rgb, vec3f(0.2126, 0.7152, 0.0722));
        let paper = smoothstep(0.05, 0.3, light / (1.0 + light)) + 1.0 - seen.a;
        return vec4f(mix(vec3f(0.02, 0.02, 0.08), vec3f(0.9, 0.85, 0.7), min(paper, 1.0)), 1.0);
    }";

fn make(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let shader = GpuShader::wgsl("two_tones.wgsl", SHADER)?;
    let desc = GraphicsPipelineDesc::of("two tones", &shader);
    commands.insert_resource(TwoTones(gpu.graphics_pipeline(&desc)?));
    Ok(())
}

fn two_tones(
    mut recorder: Recorder,
    colors: ViewColors,
    targets: AccessList<CameraTargets, access_kind::ColorTarget>,
    (scene, pipeline): (Res<Scene3d>, Res<TwoTones>),
) {
    // Other cameras map tones where they draw.
    for view in scene.views().iter().filter(|view| view.is_scene_referred()) {
        let images = (colors.of(view), targets.get(view.target()));
        let (Some(color), Some(target)) = images else { continue };
        // Cameras whose pictures meet take turns by their steps.
        let uses = [color.as_declared(), target.as_declared()];
        let mut pass = recorder.pass_in_step(view.step(), "two tones", &uses);
        let area = view.viewport();
        pass.render(view.clear().map_or(target.keep(), |color| target.clear(color)))
            .viewport(area.map(|pixels| pixels as f32))
            .scissor(area)
            .pipeline(&pipeline.0)
            .bind("scene", &color)
            .push(&[area[0] as f32, area[1] as f32])
            .draw(0..3, 0..1);
    }
}

pub fn add(app: &mut App) {
    app.configure_sets(Render, Pass3dSystems::Tonemap.run_if(|| false))
        .add_systems(RenderStartup, make)
        .add_systems(Render, two_tones.after(Pass3dSystems::Composite).in_set(ContentSystems::Draw3d));
}
