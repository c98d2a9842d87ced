//! A program on the `bevy` crate: its `DefaultPlugins`, and Quadrille where bevy_render would be.
//!
//! `cargo run --ignore-rust-version -- frame.png` saves the first frame and ends.

use bevy::prelude::*;
use quadrille::ecs::save_to_disk;
use quadrille::prelude::*;

#[derive(Resource)]
struct Triangle(GraphicsPipeline);

fn main() -> AppExit {
    let mut app = App::new();
    app.add_plugins((DefaultPlugins, QuadrillePlugin::default()))
        .add_systems(RenderStartup, setup)
        .add_systems(Render, draw);
    if let Some(path) = std::env::args().nth(1) {
        app.add_systems(PostStartup, move |mut commands: Commands| {
            let mut picture = commands.spawn(Readback::primary_window());
            picture.observe(save_to_disk(path.clone())).observe(end);
        });
    }
    app.run()
}

fn setup(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let shader = GpuShader::wgsl("triangle.wgsl", SHADER)?;
    let desc = GraphicsPipelineDesc::of("triangle", &shader);
    commands.insert_resource(Triangle(gpu.graphics_pipeline(&desc)?));
    Ok(())
}

/// A pass: bevy's time turns what it draws.
fn draw(
    mut recorder: Recorder,
    window: ColorTarget<PrimaryWindowImage>,
    triangle: Res<Triangle>,
    time: Res<Time>,
) {
    let turn = Rot2::radians(time.elapsed_secs());
    let mut rendering = recorder.render(window.clear([0.02, 0.02, 0.03, 1.0]));
    rendering
        .pipeline(&triangle.0)
        .push(&[turn.cos, turn.sin])
        .draw(0..3, 0..1);
}

fn end(_: On<ReadbackComplete>, mut exit: MessageWriter<AppExit>) {
    exit.write(AppExit::Success);
}

const SHADER: &str = "
    var<immediate> turn: vec2f;

    @vertex
    fn vertex_main(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
        let corner = array(vec2f(-0.7, -0.5), vec2f(0.7, -0.5), vec2f(0.0, 0.8))[index];
        let turned = corner * turn.x + vec2f(-corner.y, corner.x) * turn.y;
        return vec4f(turned, 0.0, 1.0);
    }

    @fragment
    fn fragment_main() -> @location(0) vec4f {
        return vec4f(1.0, 0.6, 0.2, 1.0);
    }";
