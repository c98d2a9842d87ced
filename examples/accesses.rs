//! Accesses of passes, as entities that ordinary systems read and change.
//!
//! `waves` computes heights, `sky` draws a sky, and `show` draws both. Every pass is an entity, and so is
//! every access. `list` writes them down, as any tool could. At frame 10 `change` moves `waves` to another
//! queue, if there is one, and declares that `sky` reads the heights too. No order is declared: the next
//! plan has `sky` wait for `waves`. Both plans are printed; what is drawn stays the same.

#![expect(clippy::print_stdout, reason = "what it shows is text")]

use bevy_app::{App, AppExit, Update};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use clap::Parser;
use examples::{CommonArgs, args};
use quadrille::ecs::{
    AccessKind, AccessOf, AccessTo, Accesses, DeclaredAccess, Pass, resource_entity,
};
use quadrille::prelude::*;
use quadrille::vulkan::{Format, shader_constants};

/// Lists passes and what they touch, changes that, and shows how the plan changes.
#[derive(Parser)]
#[command(after_help = args::EXAMPLES)]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Resource, Deref)]
struct Waves(GpuBuffer);

#[derive(Resource, Deref)]
struct Sky(GpuImage);

#[derive(Resource)]
struct Pipelines {
    waves: ComputePipeline,
    sky: GraphicsPipeline,
    show: GraphicsPipeline,
}

/// Frames since the start.
#[derive(Resource, Default)]
struct Clock(u32);

/// The frame in which declarations change.
const CHANGE: u32 = 10;

shader_constants! {
    /// The constants that `accesses.wgsl` imports.
    fn constants() -> "accesses::constants";

    /// Heights of the sea.
    const HEIGHTS: u32 = 256;
}

fn main() -> AppExit {
    let args: Args = args::parse();
    App::new()
        .add_plugins((args.common.plugins("Accesses", [960, 540]), args.common))
        .init_resource::<Clock>()
        .add_systems(RenderStartup, setup)
        .add_systems(Update, (tick, tell).chain())
        .add_systems(Render, (waves.on_queue(QueuePreference::Main), sky, show))
        .add_systems(
            Render,
            (list, change)
                .chain()
                .run_if(is_due)
                .in_set(RenderSystems::Declare),
        )
        .run()
}

fn tick(mut clock: ResMut<Clock>) {
    clock.0 += 1;
}

fn is_due(clock: Res<Clock>) -> bool {
    clock.0 == CHANGE
}

/// An ordinary system: passes, and what they touch, are entities with relationships.
fn list(
    passes: Query<(&Name, &QueuePreference, &Accesses), With<Pass>>,
    accesses: Query<(&DeclaredAccess, &AccessTo)>,
    names: Query<&Name>,
) {
    println!("the passes:");
    for (pass, queue, touched) in &passes {
        println!("  {pass}, queue: {queue:?}");
        for (access, AccessTo(resource)) in accesses.iter_many(touched.iter()).flatten() {
            let resource = names.get(*resource).map_or("?", Name::as_str);
            println!("    {}: {resource}", access.kind.name());
        }
    }
}

/// Moves `waves` to another queue, and has `sky` read the heights.
fn change(world: &mut World) {
    let mut passes = world.query_filtered::<(Entity, &Name), With<Pass>>();
    let passes: Vec<_> = passes.iter(world).collect();
    let pass = |wanted: &str| {
        let mut passes = passes.iter();
        let found = passes.find(|(_, name)| name.as_str().ends_with(wanted));
        found.map(|(entity, _)| *entity)
    };
    let (Some(waves), Some(sky)) = (pass("waves"), pass("sky")) else {
        return;
    };
    let heights = resource_entity::<Waves>(world);
    world.entity_mut(waves).insert(QueuePreference::Async);
    let read = DeclaredAccess::new(AccessKind::StorageRead);
    world.spawn((AccessOf(sky), AccessTo(heights), read));
}

/// Prints the plan before the change and the one after it.
fn tell(clock: Res<Clock>, mut renderer: ResMut<Renderer>) {
    renderer.keep_frames(true);
    let plan = || renderer.plan_text().unwrap_or_default();
    match clock.0 {
        CHANGE => println!("the plan before:\n{}", plan()),
        // The first frame after a change still brings over what the old plan left.
        it if it == CHANGE + 3 => println!("the plan after:\n{}", plan()),
        _ => {}
    }
}

fn setup(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let waves = gpu.create_buffer(&BufferDesc::storage("waves", u64::from(HEIGHTS) * 4))?;
    let sky = ImageDesc::color_target("sky", [320, 180], Format::R8G8B8A8_UNORM);
    commands.insert_resource(Waves(waves));
    commands.insert_resource(Sky(gpu.create_image(&sky)?));
    constants().publish()?;
    let source = include_str!("../shaders/accesses/accesses.wgsl");
    let shader = GpuShader::wgsl("accesses.wgsl", source)?;
    let graphics = |name| {
        let (vertex, fragment) = ((&shader, "vertex_main"), (&shader, name));
        gpu.graphics_pipeline(&GraphicsPipelineDesc::new(name, vertex, fragment))
    };
    let waves = ComputePipelineDesc::of("waves", &shader).entry("waves");
    commands.insert_resource(Pipelines {
        waves: gpu.compute_pipeline(&waves)?,
        sky: graphics("sky")?,
        show: graphics("show")?,
    });
    Ok(())
}

fn waves(
    mut recorder: Recorder,
    waves: StorageWrite<Waves>,
    pipelines: Res<Pipelines>,
    clock: Res<Clock>,
) {
    recorder
        .compute(&pipelines.waves)
        .bind("heights", &waves)
        .push(&(clock.0 as f32 / 60.0))
        .dispatch_invocations([HEIGHTS, 1, 1]);
}

fn sky(mut recorder: Recorder, sky: ColorTarget<Sky>, pipelines: Res<Pipelines>) {
    let mut rendering = recorder.render(sky.discard());
    rendering.pipeline(&pipelines.sky).draw(0..3, 0..1);
}

fn show(
    mut recorder: Recorder,
    waves: StorageRead<Waves>,
    sky: Sampled<Sky>,
    window: ColorTarget<PrimaryWindowImage>,
    pipelines: Res<Pipelines>,
) {
    let mut rendering = recorder.render(window.discard());
    rendering
        .pipeline(&pipelines.show)
        .bind("sea", &waves)
        .bind("backdrop", &sky)
        .draw(0..3, 0..1);
}
