//! Depth image of one camera, shown in the corner of the window.

use bevy_app::{App, Startup};
use bevy_ecs::prelude::*;
use quadrille::ecs::{AccessList, access_kind};
use quadrille::prelude::*;
use quadrille_3d::content::ContentSystems;
use quadrille_3d::content::views::CameraTargets;
use quadrille_3d::prelude::*;
use quadrille_3d::resources::SceneDepths;
use quadrille_3d::{Pass3dSystems, Scene3d};

#[derive(Resource)]
struct ShowDepth(GraphicsPipeline);

const SHADER: &str = "
    @group(0) @binding(0) var depths: texture_depth_2d;
    struct Seen { @builtin(position) position: vec4f, @location(0) uv: vec2f }

    @vertex fn vertex_main(@builtin(vertex_index) i: u32) -> Seen {
        let at = vec2f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0);
        return Seen(vec4f(at, 0.0, 1.0), at * vec2f(0.5, -0.5) + 0.5);
    }

    @fragment fn fragment_main(seen: Seen) -> @location(0) vec4f {
        let size = vec2f(textureDimensions(depths));
        let depth = textureLoad(depths, vec2u(seen.uv * size), 0);
        return vec4f(vec3f(depth * 20.0), 1.0);
    }";

fn make(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let shader = GpuShader::wgsl("show depth", SHADER)?;
    let desc = GraphicsPipelineDesc::of("show depth", &shader);
    commands.insert_resource(ShowDepth(gpu.graphics_pipeline(&desc)?));
    Ok(())
}

fn show_depth(
    mut recorder: Recorder,
    depths: AccessList<SceneDepths, access_kind::Sampled>,
    targets: AccessList<CameraTargets, access_kind::ColorTarget>,
    (scene, pipeline): (Res<Scene3d>, Res<ShowDepth>),
) {
    for view in scene.views() {
        let images = (depths.get(view.images()), targets.get(view.target()));
        let (Some(depth), Some(target)) = images else {
            continue;
        };
        let [left, top, width, height] = view.viewport();
        let area = [left, top, width / 3, height / 3];
        let uses = [depth.as_declared(), target.as_declared()];
        let mut pass = recorder.pass_in_step(view.step(), "show depth", &uses);
        let mut rendering = pass.render(target.keep());
        rendering
            .viewport(area.map(|pixels| pixels as f32))
            .scissor(area);
        rendering
            .pipeline(&pipeline.0)
            .bind("depths", &depth)
            .draw(0..3, 0..1);
    }
}

fn setup(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let mesh = meshes.add(Cuboid::from_length(1.0));
    let white = materials.add(Color::WHITE);
    for at in 0..6u8 {
        let place = Transform::from_xyz(f32::from(at) - 2.5, 0.0, f32::from(at) * -1.5);
        commands.spawn((Mesh3d(mesh.clone()), MeshMaterial3d(white.clone()), place));
    }
    commands.spawn((PointLight::default(), Transform::from_xyz(0.0, 4.0, 3.0)));
    let eye = Transform::from_xyz(-1.0, 2.0, 4.0).looking_at(Vec3::new(0.0, 0.0, -2.0), Vec3::Y);
    commands.spawn((Camera3d::default(), Msaa::Off, eye));
}

pub(crate) fn add(app: &mut App) {
    let place = show_depth
        .after(Pass3dSystems::Composite)
        .in_set(ContentSystems::Draw3d);
    app.add_systems(Startup, setup)
        .add_systems(RenderStartup, make)
        .add_systems(Render, place);
}
