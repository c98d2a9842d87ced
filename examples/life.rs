//! Conway's Game of Life: simulated on a compute queue, drawn on the graphics queue.
//!
//! `simulate` records one pass per generation between two buffers that change roles, on async
//! compute where the device has it; `draw` shows the buffer in which the frame ends. Nothing here
//! says how the queues wait for each other, or which family owns the cells when.
//!
//! With `--worker` a thread of its own simulates, and submits without waiting for the drawing.

use bevy_app::{App, AppExit};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use examples::args;
use examples::constants::{Count, Draw, Step};
use examples::game::{Game, LifeArgs, Population, Shown, ask};
use examples::hand::Hand;
use examples::worker::{self, take};
use quadrille::ecs::stage;
use quadrille::prelude::*;
use quadrille::vulkan::resources::Sharing;

/// The two buffers of cells: the generation before the frame, and the other one.
#[derive(Resource, Deref)]
struct Front(GpuBuffer);
#[derive(Resource, Deref)]
struct Back(GpuBuffer);

#[derive(Resource)]
struct Pipelines {
    step: ComputePipeline,
    paint: ComputePipeline,
    count: ComputePipeline,
    draw: GraphicsPipeline,
}

/// Whether the families own the cells together.
#[derive(Resource)]
struct CellSharing(Sharing);

const WINDOW: [u32; 2] = [1280, 720];

fn main() -> AppExit {
    let args: LifeArgs = args::parse();
    let game = Game::new(&args).unwrap_or_else(|error| args::exit_with(error));
    let hand = Hand::new(args.size, WINDOW.map(|side| side as f32), args.speed());
    let sharing = if args.concurrent {
        Sharing::Concurrent
    } else {
        Sharing::Auto
    };
    let mut app = App::new();
    app.insert_resource(game.run(&args.common))
        .insert_resource(game)
        .insert_resource(CellSharing(sharing))
        .add_plugins((args.common.plugins("Life", WINDOW), args.common, hand))
        .add_systems(
            Render,
            (
                ask.in_set(RenderSystems::Declare),
                clear_count.run_if(Game::is_counting),
                count.after(clear_count).run_if(Game::is_counting),
                draw,
            ),
        );
    if args.worker {
        app.add_systems(RenderStartup, (begin, setup, start_worker).chain())
            .add_systems(Render, take.before(ask).in_set(RenderSystems::Declare));
    } else {
        app.add_systems(RenderStartup, (begin, setup, setup_cells).chain())
            .add_systems(
                Render,
                (
                    advance.before(ask).in_set(RenderSystems::Declare),
                    paint
                        .run_if(Hand::has_painted)
                        .on_queue(QueuePreference::Async),
                    simulate
                        .after(paint)
                        .before(count)
                        .before(draw)
                        .on_queue(QueuePreference::Async),
                ),
            );
    }
    app.run()
}

/// The generations are gone with a device that is lost: the game begins again, and catches up.
fn begin(mut game: ResMut<Game>) {
    game.begin();
}

fn setup(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    commands.insert_resource(Population(
        gpu.create_buffer(&BufferDesc::storage("population", 4))?,
    ));
    let compute = |name, source| -> Result<_, BevyError> {
        let shader = GpuShader::wgsl(name, source)?;
        Ok(gpu.compute_pipeline(&ComputePipelineDesc::of(name, &shader))?)
    };
    let shader = GpuShader::wgsl("draw.wgsl", include_str!("../shaders/life/draw.wgsl"))?;
    commands.insert_resource(Pipelines {
        step: compute("step.wgsl", include_str!("../shaders/life/step.wgsl"))?,
        paint: compute("paint.wgsl", include_str!("../shaders/life/paint.wgsl"))?,
        count: compute("count.wgsl", include_str!("../shaders/life/count.wgsl"))?,
        draw: gpu.graphics_pipeline(&GraphicsPipelineDesc::of("draw.wgsl", &shader))?,
    });
    Ok(())
}

/// The buffers of cells, when the main loop simulates.
fn setup_cells(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    game: Res<Game>,
    sharing: Res<CellSharing>,
    mut uploads: ResMut<Uploads>,
) -> Result {
    let bytes = bytemuck::cast_slice::<u32, u8>(game.start.words());
    let cells = |name| BufferDesc::storage(name, bytes.len() as u64).with_sharing(sharing.0);
    let front = gpu.create_buffer(&cells("cells a"))?;
    let back = gpu.create_buffer(&cells("cells b"))?;
    uploads.write_buffer(&front, 0, bytes);
    commands.insert_resource(Shown(front.clone()));
    commands.insert_resource(Front(front));
    commands.insert_resource(Back(back));
    Ok(())
}

/// The worker, when it simulates.
fn start_worker(
    mut commands: Commands,
    mut renderer: ResMut<Renderer>,
    game: Res<Game>,
    hand: Res<Hand>,
    pipelines: Res<Pipelines>,
) -> Result {
    let simulation = [pipelines.step.clone(), pipelines.paint.clone()];
    worker::start(&mut commands, &mut renderer, &game, hand.speed, simulation)
}

/// Decides how many generations this frame computes, and in which buffer they end.
fn advance(
    mut game: ResMut<Game>,
    hand: Res<Hand>,
    mut front: ResMut<Front>,
    mut back: ResMut<Back>,
    mut shown: ResMut<Shown>,
) {
    if game.steps % 2 == 1 {
        std::mem::swap(&mut front.0, &mut back.0);
    }
    game.advance(hand.speed, hand.paused);
    shown.0 = if game.steps % 2 == 1 {
        back.0.clone()
    } else {
        front.0.clone()
    };
}

fn paint(
    mut recorder: Recorder,
    cells: StorageReadWrite<Front>,
    mut hand: ResMut<Hand>,
    pipelines: Res<Pipelines>,
) {
    let mut compute = recorder.compute(&pipelines.paint);
    compute.bind("current", &cells);
    for stroke in hand.strokes.drain(..) {
        // Strokes only set or only clear bits, atomically: their order among equals is no matter.
        compute.push(&stroke).dispatch(stroke.workgroups());
    }
}

fn simulate(
    mut recorder: Recorder,
    front: StorageReadWrite<Front>,
    back: StorageReadWrite<Back>,
    game: Res<Game>,
    pipelines: Res<Pipelines>,
) {
    let step = Step::new(game.start.size(), game.rule);
    let cells = [front.any(), back.any()];
    for generation in 0..game.steps as usize {
        let (from, to) = (&cells[generation % 2], &cells[(generation + 1) % 2]);
        let mut pass = recorder.pass("step", &[from.reads(), to.writes()]);
        let mut compute = pass.compute(&pipelines.step);
        compute
            .bind("current", from)
            .bind("next", to)
            .push(&step)
            .dispatch(step.workgroups());
    }
}

fn clear_count(mut recorder: Recorder, population: TransferWrite<Population>) {
    recorder.transfer().fill_buffer(&population, 0, 4, 0);
}

fn count(
    mut recorder: Recorder,
    cells: StorageRead<Shown>,
    population: StorageReadWrite<Population>,
    game: Res<Game>,
    pipelines: Res<Pipelines>,
) {
    let count = Count::new(game.start.size());
    let mut compute = recorder.compute(&pipelines.count);
    compute
        .bind("current", &cells)
        .bind("population", &population)
        .push(&count)
        .dispatch(count.workgroups());
}

fn draw(
    mut recorder: Recorder,
    cells: StorageRead<Shown, stage::Fragment>,
    window: ColorTarget<PrimaryWindowImage>,
    game: Res<Game>,
    hand: Res<Hand>,
    pipelines: Res<Pipelines>,
) {
    let [width, height, _] = window.extent();
    let draw = Draw::new(
        game.start.size(),
        [width as f32, height as f32],
        &hand.view,
        true,
    );
    let mut rendering = recorder.render(window.discard());
    rendering
        .pipeline(&pipelines.draw)
        .bind("current", &cells)
        .push(&draw)
        .draw(0..3, 0..1);
}
