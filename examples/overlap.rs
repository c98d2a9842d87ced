//! Passes that need nothing of each other, and not a word about queues or sharing.
//!
//! `paint` draws a palette. `dragon` and `rabbit`, two compute passes, and `sky`, a graphics pass, all
//! sample it, and `show` draws what they made. On a device with several queues some of them move
//! beside the others once it is measured that frames get shorter: `--report` says which, and
//! `--trace` shows when each ran.

use bevy_app::{App, AppExit, Update};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use clap::Parser;
use examples::{CommonArgs, args};
use quadrille::prelude::*;
use quadrille::vulkan::{Format, shader_constants};

/// Draws two fractals and a sky by passes that can run at the same time.
#[derive(Parser)]
#[command(after_help = args::EXAMPLES)]
struct Args {
    /// Steps that each texel of a panel takes: how heavy the passes are
    #[arg(long, default_value_t = 100)]
    steps: u32,
    /// The same of the sky: 1 leaves two heavy compute passes beside each other [default: as many]
    #[arg(long)]
    sky_steps: Option<u32>,
    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Resource, Deref)]
struct Palette(GpuImage);

#[derive(Resource, Deref)]
struct Sky(GpuImage);

#[derive(Resource, Deref)]
struct Dragon(GpuBuffer);

#[derive(Resource, Deref)]
struct Rabbit(GpuBuffer);

#[derive(Resource)]
struct Pipelines {
    paint: GraphicsPipeline,
    sky: GraphicsPipeline,
    show: GraphicsPipeline,
    dragon: ComputePipeline,
    rabbit: ComputePipeline,
    sampler: Sampler,
}

/// Constants of all shaders.
#[derive(Resource, ShaderType)]
struct Constants {
    /// Seconds of the animation.
    time: f32,
    /// Steps that each texel of a panel takes.
    steps: u32,
}

/// Steps that each texel of the sky takes.
#[derive(Resource)]
struct SkySteps(u32);

shader_constants! {
    /// The constants that `overlap.wgsl` imports.
    fn constants() -> "overlap::constants";

    /// Texels in a row of the buffers that are drawn as panels.
    const WIDTH: u32 = 640;
    /// Rows of texels.
    const HEIGHT: u32 = 360;
}

fn main() -> AppExit {
    let args: Args = args::parse();
    App::new()
        .insert_resource(SkySteps(args.sky_steps.unwrap_or(args.steps)))
        .add_plugins((args.common.plugins("Overlap", [1280, 720]), args.common))
        .insert_resource(Constants {
            time: 0.0,
            steps: args.steps,
        })
        .add_systems(RenderStartup, setup)
        .add_systems(Update, |mut constants: ResMut<Constants>| {
            constants.time += 1.0 / 60.0;
        })
        .add_systems(Render, (paint, dragon, rabbit, sky, show))
        .run()
}

fn setup(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let format = Format::R8G8B8A8_UNORM;
    let image = |name, width, height| {
        gpu.create_image(&ImageDesc::color_target(name, [width, height], format))
    };
    commands.insert_resource(Palette(image("palette", 256, 1)?));
    commands.insert_resource(Sky(image("sky", 320, 180)?));
    let bytes = u64::from(WIDTH * HEIGHT) * 16;
    let panel = |name| gpu.create_buffer(&BufferDesc::storage(name, bytes));
    commands.insert_resource(Dragon(panel("dragon")?));
    commands.insert_resource(Rabbit(panel("rabbit")?));
    constants().publish()?;
    let source = include_str!("../shaders/overlap/overlap.wgsl");
    let shader = GpuShader::wgsl("overlap.wgsl", source)?;
    let graphics = |name| {
        let (vertex, fragment) = ((&shader, "vertex_main"), (&shader, name));
        gpu.graphics_pipeline(&GraphicsPipelineDesc::new(name, vertex, fragment))
    };
    let compute = |name| gpu.compute_pipeline(&ComputePipelineDesc::of(name, &shader).entry(name));
    commands.insert_resource(Pipelines {
        paint: graphics("paint")?,
        sky: graphics("sky")?,
        show: graphics("show")?,
        dragon: compute("dragon")?,
        rabbit: compute("rabbit")?,
        sampler: gpu.create_sampler(&SamplerDesc::linear())?,
    });
    Ok(())
}

fn paint(
    mut recorder: Recorder,
    palette: ColorTarget<Palette>,
    pipelines: Res<Pipelines>,
    constants: Res<Constants>,
) {
    let mut rendering = recorder.render(palette.discard());
    rendering
        .pipeline(&pipelines.paint)
        .push(&*constants)
        .draw(0..3, 0..1);
}

fn dragon(
    mut recorder: Recorder,
    palette: Sampled<Palette>,
    panel: StorageWrite<Dragon>,
    pipelines: Res<Pipelines>,
    constants: Res<Constants>,
) {
    recorder
        .compute(&pipelines.dragon)
        .bind("palette", &palette)
        .sampler("palette_sampler", &pipelines.sampler)
        .bind("panel", &panel)
        .push(&*constants)
        .dispatch_invocations([WIDTH, HEIGHT, 1]);
}

fn rabbit(
    mut recorder: Recorder,
    palette: Sampled<Palette>,
    panel: StorageWrite<Rabbit>,
    pipelines: Res<Pipelines>,
    constants: Res<Constants>,
) {
    recorder
        .compute(&pipelines.rabbit)
        .bind("palette", &palette)
        .sampler("palette_sampler", &pipelines.sampler)
        .bind("panel", &panel)
        .push(&*constants)
        .dispatch_invocations([WIDTH, HEIGHT, 1]);
}

fn sky(
    mut recorder: Recorder,
    palette: Sampled<Palette>,
    sky: ColorTarget<Sky>,
    pipelines: Res<Pipelines>,
    constants: Res<Constants>,
    steps: Res<SkySteps>,
) {
    let constants = Constants {
        time: constants.time,
        steps: steps.0,
    };
    let mut rendering = recorder.render(sky.discard());
    rendering
        .pipeline(&pipelines.sky)
        .bind("palette", &palette)
        .sampler("palette_sampler", &pipelines.sampler)
        .push(&constants)
        .draw(0..3, 0..1);
}

fn show(
    mut recorder: Recorder,
    window: ColorTarget<PrimaryWindowImage>,
    sky: Sampled<Sky>,
    dragon: StorageRead<Dragon>,
    rabbit: StorageRead<Rabbit>,
    pipelines: Res<Pipelines>,
) {
    let mut rendering = recorder.render(window.discard());
    rendering
        .pipeline(&pipelines.show)
        .sampler("palette_sampler", &pipelines.sampler)
        .bind("backdrop", &sky)
        .bind("left", &dragon)
        .bind("right", &rabbit)
        .draw(0..3, 0..1);
}
