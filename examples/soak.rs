//! A program that never comes to rest: by a seed, windows change their sizes, open and close,
//! buffers come and go, and shaders are edited and loaded again, some of them broken. What it holds must stay
//! as much as it was: `cargo xtask soak` looks at the report.

use std::fs;
use std::path::PathBuf;

use bevy_app::{App, AppExit, Startup, Update};
use bevy_derive::{Deref, DerefMut};
use bevy_ecs::prelude::*;
use bevy_window::{PresentMode, PrimaryWindow, Window, WindowResolution};
use clap::Parser;
use examples::constants::Picture;
use examples::folder;
use examples::random::Random;
use examples::run::Run;
use examples::{CommonArgs, args};
use quadrille::ecs::{AccessList, ColorAttachment, ShaderReloaded, SwapchainState, access_kind};
use quadrille::prelude::*;

/// Changes windows, resources and shaders at random, for as long as it is told.
#[derive(Parser)]
#[command(after_help = args::EXAMPLES)]
struct Args {
    /// Draws what happens, and when
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    common: CommonArgs,
}

/// Marks the window that is closed and opened.
#[derive(Component)]
struct Board;

#[derive(Resource)]
struct Pictures(GraphicsPipeline);

#[derive(Resource)]
struct Count(ComputePipeline);

/// Buffers that passes write in each frame.
#[derive(Resource, Default, Deref, DerefMut)]
struct Crowd(Vec<GpuBuffer>);

#[derive(Resource, Deref, DerefMut)]
struct Dice(Random);

/// How often each of them happened.
#[derive(Resource, Default)]
struct Events {
    resizes: u64,
    windows: u64,
    buffers: u64,
    reloads: u64,
    changed: u64,
    refused: u64,
}

/// The file of a shader that is edited.
#[derive(Resource, Deref)]
struct Edited(PathBuf);

/// Samples of memory and objects, taken a hundred times in a run.
#[derive(Default)]
struct Samples {
    frame: u64,
    resident_kib: Vec<u64>,
    entities: Vec<u64>,
    /// Ids of buffers come back with their buffers, so the highest tells how many there were.
    highest_buffer: Vec<u64>,
    most_retired: u64,
    most_semaphores: u64,
    /// More semaphores of a swapchain than its images, the frames in flight and 2.
    semaphores_beyond: u64,
}

const PICTURES: &str = include_str!("../shaders/windows/pictures.wgsl");
const COUNT: &str = include_str!("../shaders/soak/count.wgsl");
/// Side of a window, in pixels.
const LONGEST_SIDE: u64 = 160;
const MOST_BUFFERS: usize = 16;
const SAMPLES: u64 = 100;

fn main() -> AppExit {
    let args: Args = args::parse();
    let folder = folder::unpredictable("soak");
    let exit = run(args, Edited(folder.join("pictures.wgsl")));
    let _ = fs::remove_dir_all(folder);
    exit
}

fn run(args: Args, edited: Edited) -> AppExit {
    let plugins = args.common.plugins_with(Window {
        title: "Soak".to_owned(),
        resolution: WindowResolution::new(128, 96),
        present_mode: PresentMode::Immediate,
        ..Window::default()
    });
    App::new()
        .add_plugins((plugins, args.common))
        .add_window_image::<Board>()
        .init_resource::<Crowd>()
        .init_resource::<Events>()
        .insert_resource(Dice(Random::new(args.seed)))
        .insert_resource(edited)
        .add_observer(note_reloaded)
        .add_systems(Startup, make_folder)
        .add_systems(RenderStartup, setup)
        .add_systems(Update, (change, tell).chain())
        .add_systems(Render, (spiral, board, count))
        .run()
}

/// Fails where something waits by that name: a link would lead the writes that follow elsewhere.
fn make_folder(edited: Res<Edited>) -> Result {
    if let Some(folder) = edited.parent() {
        fs::create_dir(folder)?;
    }
    Ok(())
}

fn setup(mut commands: Commands, gpu: Res<GpuDevice>, edited: Res<Edited>) -> Result {
    fs::write(&**edited, PICTURES)?;
    let shader = GpuShader::load(&**edited)?;
    let desc = GraphicsPipelineDesc::of("pictures", &shader);
    commands.insert_resource(Pictures(gpu.graphics_pipeline(&desc)?));
    let shader = GpuShader::wgsl("count.wgsl", COUNT)?;
    let desc = ComputePipelineDesc::of("count", &shader);
    commands.insert_resource(Count(gpu.compute_pipeline(&desc)?));
    commands.insert_resource(Crowd::default());
    Ok(())
}

/// Something happens in one of four frames, so that plans are reused as well.
fn change(world: &mut World) -> Result {
    let mut dice = world.resource_mut::<Dice>();
    if !dice.bits().is_multiple_of(4) {
        return Ok(());
    }
    match dice.bits() % 16 {
        0..6 => resize(world),
        6..8 => open_or_close(world),
        8..13 => spawn_or_despawn(world)?,
        _ => reload(world)?,
    }
    Ok(())
}

fn size(dice: &mut Dice) -> [u32; 2] {
    [(); 2].map(|()| 1 + (dice.bits() % LONGEST_SIDE) as u32)
}

/// Gives one of the windows another size.
fn resize(world: &mut World) {
    let mut dice = world.resource_mut::<Dice>();
    let (choice, [width, height]) = (dice.bits() as usize, size(&mut dice));
    let mut windows = world.query::<&mut Window>();
    let count = windows.iter(world).count();
    if let Some(mut window) = windows.iter_mut(world).nth(choice % count.max(1)) {
        window.resolution.set(width as f32, height as f32);
        world.resource_mut::<Events>().resizes += 1;
    }
}

/// Closes the second window, or opens it.
fn open_or_close(world: &mut World) {
    let mut boards = world.query_filtered::<Entity, With<Board>>();
    if let Ok(board) = boards.single(world) {
        world.despawn(board);
    } else {
        let [width, height] = size(&mut world.resource_mut::<Dice>());
        let window = Window {
            title: "Board".to_owned(),
            resolution: WindowResolution::new(width, height),
            present_mode: PresentMode::Immediate,
            ..Window::default()
        };
        world.spawn((window, Board));
    }
    world.resource_mut::<Events>().windows += 1;
}

/// Drops a buffer or makes one, of any size.
fn spawn_or_despawn(world: &mut World) -> Result {
    let [choice, length] = [(); 2].map(|()| world.resource_mut::<Dice>().bits() as usize);
    let count = world.resource::<Crowd>().len();
    if count == MOST_BUFFERS || (count > 0 && choice.is_multiple_of(2)) {
        world.resource_mut::<Crowd>().swap_remove(choice % count);
    } else {
        let words = 64 + length % 4096;
        let desc = BufferDesc::storage("crowd", 4 * words as u64);
        let buffer = world.resource::<GpuDevice>().create_buffer(&desc)?;
        let mut uploads = world.resource_mut::<Uploads>();
        uploads.write_buffer(&buffer, 0, &vec![0; 4 * words]);
        world.resource_mut::<Crowd>().push(buffer);
    }
    world.resource_mut::<Events>().buffers += 1;
    Ok(())
}

/// Edits the shader's file and has it loaded again. One edit in eight stops somewhere in the middle
/// of the source: the pipeline stays as it was.
fn reload(world: &mut World) -> Result {
    let [edit, end] = [(); 2].map(|()| world.resource_mut::<Dice>().bits());
    let source = match edit % 8 {
        0 => PICTURES[..end as usize % PICTURES.len()].to_owned(),
        speed => PICTURES.replace("picture.time * 0.3", &format!("picture.time * 0.{speed}")),
    };
    let edited = world.resource::<Edited>();
    fs::write(&**edited, source)?;
    let gpu = world.resource::<GpuDevice>();
    for file in gpu.shader_files() {
        gpu.reload_shader(&file);
    }
    world.resource_mut::<Events>().reloads += 1;
    Ok(())
}

fn note_reloaded(reloaded: On<ShaderReloaded>, mut events: ResMut<Events>) {
    match reloaded.result {
        Ok(()) => events.changed += 1,
        Err(_) => events.refused += 1,
    }
}

fn spiral(
    mut recorder: Recorder,
    window: ColorTarget<PrimaryWindowImage>,
    pictures: Res<Pictures>,
) {
    draw(&mut recorder, &window, &pictures, 0);
}

fn board(
    mut recorder: Recorder,
    window: ColorTarget<WindowImageOf<Board>>,
    pictures: Res<Pictures>,
) {
    draw(&mut recorder, &window, &pictures, 1);
}

fn draw(recorder: &mut Recorder, window: &impl ColorAttachment, pictures: &Pictures, number: u32) {
    let [width, height] = window.size();
    let picture = Picture {
        aspect: width as f32 / height as f32,
        time: 1.0,
        number,
    };
    let mut rendering = recorder.render(window.discard());
    rendering
        .pipeline(&pictures.0)
        .push(&picture)
        .draw(0..3, 0..1);
}

/// Adds 1 to some words of each buffer.
fn count(
    mut recorder: Recorder,
    crowd: AccessList<Crowd, access_kind::StorageReadWrite>,
    pipeline: Res<Count>,
) {
    for buffer in crowd.iter() {
        recorder
            .compute(&pipeline.0)
            .bind("words", &buffer)
            .dispatch([1, 1, 1]);
    }
}

/// Looks at what there is, and writes it into the report.
fn tell(
    mut samples: Local<Samples>,
    mut run: ResMut<Run>,
    (crowd, gpu): (Res<Crowd>, Res<GpuDevice>),
    events: Res<Events>,
    entities: Query<()>,
    swapchains: Query<&SwapchainState>,
    primary: Query<(), With<PrimaryWindow>>,
) {
    samples.frame += 1;
    for state in &swapchains {
        samples.most_retired = samples.most_retired.max(state.retired as u64);
        samples.most_semaphores = samples.most_semaphores.max(state.semaphores as u64);
        let most = state.image_count + gpu.frames_in_flight() as usize + 2;
        let beyond = state.semaphores.saturating_sub(most) as u64;
        samples.semaphores_beyond = samples.semaphores_beyond.max(beyond);
    }
    let every = (run.frame_limit().unwrap_or(SAMPLES) / SAMPLES).max(1);
    if !samples.frame.is_multiple_of(every) || primary.is_empty() {
        return;
    }
    samples.resident_kib.extend(resident_kib());
    samples.entities.push(entities.iter().count() as u64);
    let highest = crowd.iter().map(|buffer| u64::from(buffer.id().0)).max();
    samples.highest_buffer.push(highest.unwrap_or(0));
    let report = serde_json::json!({
        "resident_kib": samples.resident_kib,
        "entities": samples.entities,
        "highest_buffer": samples.highest_buffer,
        "most_retired": samples.most_retired,
        "most_semaphores": samples.most_semaphores,
        "semaphores_beyond": samples.semaphores_beyond,
        "resizes": events.resizes,
        "windows": events.windows,
        "buffers": events.buffers,
        "reloads": events.reloads,
        "changed": events.changed,
        "refused": events.refused,
    });
    if let serde_json::Value::Object(report) = report {
        run.report.extend(report);
    }
    bevy_log::info!(
        "soak: frame {}, {} KiB resident",
        samples.frame,
        samples.resident_kib.last().copied().unwrap_or(0)
    );
}

/// Memory of this process that is in RAM, where the system tells.
fn resident_kib() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}
