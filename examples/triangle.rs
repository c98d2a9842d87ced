//! The smallest honest program: one pass that draws a triangle.

use bevy_app::{App, AppExit};
use bevy_ecs::prelude::*;
use clap::Parser;
use examples::{CommonArgs, args};
use quadrille::prelude::*;

/// Draws a triangle with one pass.
#[derive(Parser)]
#[command(after_help = args::EXAMPLES)]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Resource)]
struct Triangle(GraphicsPipeline);

fn main() -> AppExit {
    let args: Args = args::parse();
    App::new()
        .add_plugins((args.common.plugins("Triangle", [960, 540]), args.common))
        .add_systems(RenderStartup, setup)
        .add_systems(Render, draw)
        .run()
}

fn setup(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let source = include_str!("../shaders/triangle/triangle.wgsl");
    let shader = GpuShader::wgsl("triangle.wgsl", source)?;
    let desc = GraphicsPipelineDesc::of("triangle", &shader);
    commands.insert_resource(Triangle(gpu.graphics_pipeline(&desc)?));
    Ok(())
}

fn draw(mut recorder: Recorder, window: ColorTarget<PrimaryWindowImage>, pass: Res<Triangle>) {
    let mut rendering = recorder.render(window.clear([0.01, 0.012, 0.02, 1.0]));
    rendering.pipeline(&pass.0).draw(0..3, 0..1);
}
