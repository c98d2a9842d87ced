//! Three windows, each with a picture and a present mode of its own.
//!
//! Each may be resized, minimised and closed without the others noticing. Passes name a window in
//! the three ways there are: the primary one, one with a marker, and one by its entity. Their
//! titles tell what the swapchains are like.

use std::collections::BTreeMap;

use bevy_app::{App, AppExit, Startup, Update};
use bevy_ecs::prelude::*;
use bevy_ecs::system::{ParamBuilder, SystemParamBuilder};
use bevy_input::{ButtonInput, keyboard::KeyCode};
use bevy_window::{PresentMode, PrimaryWindow, Window, WindowPosition, WindowResolution};
use clap::Parser;
use examples::constants::Picture;
use examples::run::Run;
use examples::{CommonArgs, args};
use quadrille::ecs::{
    AccessKind, AnyAccess, ColorAttachment, SwapchainState, WindowOutcome, declared_window,
};
use quadrille::prelude::*;

/// Opens three windows with different present modes. N opens another, M changes the present mode
/// of the window in front, Escape closes it.
#[derive(Parser)]
#[command(after_help = args::EXAMPLES)]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
}

/// Marks the second window.
#[derive(Component)]
struct Board;

#[derive(Resource)]
struct Pictures(GraphicsPipeline);

/// Frames since the start; the pictures move by frames, so that runs can be compared.
#[derive(Resource, Default)]
struct Clock(u32);

/// How many windows were opened.
#[derive(Resource)]
struct Opened(u32);

const SIZE: [u32; 2] = [480, 360];
const MODES: [PresentMode; 3] = [
    PresentMode::Fifo,
    PresentMode::Mailbox,
    PresentMode::Immediate,
];

fn main() -> AppExit {
    let args: Args = args::parse();
    let plugins = args.common.plugins_with(window(0));
    App::new()
        .add_plugins((plugins, args.common))
        .add_window_image::<Board>()
        .init_resource::<Clock>()
        .insert_resource(Opened(2))
        .add_systems(Startup, (open, add_window).chain())
        .add_systems(RenderStartup, setup)
        .add_systems(Update, (control, tell, count_shown))
        .add_systems(Render, (spiral, board))
        .run()
}

fn open(mut commands: Commands) {
    commands.spawn((window(1), Board));
}

/// Creates the device resources; runs again if the device is lost.
fn setup(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let source = include_str!("../shaders/windows/pictures.wgsl");
    let shader = GpuShader::wgsl("pictures.wgsl", source)?;
    let desc = GraphicsPipelineDesc::of("pictures", &shader);
    commands.insert_resource(Pictures(gpu.graphics_pipeline(&desc)?));
    Ok(())
}

/// A window beside those before it.
fn window(number: u32) -> Window {
    let step = SIZE.map(|length| length as i32 + 20);
    let (column, row) = (number as i32 % 2, number as i32 / 2 % 2);
    Window {
        title: format!("Window {number}"),
        resolution: WindowResolution::new(SIZE[0], SIZE[1]),
        position: WindowPosition::At([20 + column * step[0], 20 + row * step[1]].into()),
        present_mode: MODES[number as usize % MODES.len()],
        ..Window::default()
    }
}

/// Opens a window, and adds a pass that draws to it by its entity.
fn add_window(world: &mut World) {
    let mut opened = world.resource_mut::<Opened>();
    let number = opened.0;
    opened.0 += 1;
    let entity = world.spawn(window(number)).id();
    let parameters = (
        ParamBuilder,
        declared_window(AccessKind::ColorTarget, entity),
        ParamBuilder,
        ParamBuilder,
    );
    let draw = move |mut recorder: Recorder,
                     window: AnyAccess,
                     pictures: Res<Pictures>,
                     clock: Res<Clock>| {
        draw(&mut recorder, &window, &pictures, &clock, number);
    };
    let draw = parameters.build_system(draw);
    world.schedule_scope(Render, |_, schedule| {
        schedule.add_systems(draw);
    });
}

fn spiral(
    mut recorder: Recorder,
    window: ColorTarget<PrimaryWindowImage>,
    pictures: Res<Pictures>,
    clock: Res<Clock>,
) {
    draw(&mut recorder, &window, &pictures, &clock, 0);
}

fn board(
    mut recorder: Recorder,
    window: ColorTarget<WindowImageOf<Board>>,
    pictures: Res<Pictures>,
    clock: Res<Clock>,
) {
    draw(&mut recorder, &window, &pictures, &clock, 1);
}

/// Draws a picture to a window.
fn draw(
    recorder: &mut Recorder,
    window: &impl ColorAttachment,
    pictures: &Pictures,
    clock: &Clock,
    number: u32,
) {
    let [width, height] = window.size();
    let picture = Picture {
        aspect: width as f32 / height as f32,
        time: clock.0 as f32 / 60.0,
        number,
    };
    let mut rendering = recorder.render(window.discard());
    rendering
        .pipeline(&pictures.0)
        .push(&picture)
        .draw(0..3, 0..1);
}

fn control(
    mut commands: Commands,
    keys: Res<ButtonInput<KeyCode>>,
    mut clock: ResMut<Clock>,
    mut windows: Query<(Entity, &mut Window)>,
) {
    clock.0 += 1;
    if keys.just_pressed(KeyCode::KeyN) {
        commands.queue(add_window);
    }
    for (entity, mut window) in windows.iter_mut().filter(|(_, window)| window.focused) {
        if keys.just_pressed(KeyCode::Escape) {
            commands.entity(entity).despawn();
        }
        if keys.just_pressed(KeyCode::KeyM) {
            let now = MODES.iter().position(|mode| *mode == window.present_mode);
            window.present_mode = MODES[now.map_or(0, |now| (now + 1) % MODES.len())];
        }
    }
}

/// A window whose swapchain is another now.
type ChangedWindow<'a> = (&'a mut Window, &'a SwapchainState, Has<PrimaryWindow>);

/// Counts, per window in the order in which they appeared, the frames since then and those of them
/// that it showed.
fn count_shown(
    windows: Query<(Entity, &SwapchainState)>,
    mut counted: Local<BTreeMap<Entity, [u64; 2]>>,
    mut run: ResMut<Run>,
) {
    for (entity, state) in &windows {
        let [frames, shown] = counted.entry(entity).or_default();
        *frames += 1;
        *shown += u64::from(matches!(
            state.last,
            WindowOutcome::Shown | WindowOutcome::Suboptimal
        ));
    }
    for (at, name) in ["window_frames", "window_shown"].into_iter().enumerate() {
        let numbers: Vec<u64> = counted.values().map(|counts| counts[at]).collect();
        run.report.insert(name.to_owned(), numbers.into());
    }
}

/// Puts what a swapchain is like into the title of its window, and the most of what there was
/// into the report.
fn tell(
    mut windows: Query<ChangedWindow, Changed<SwapchainState>>,
    mut run: ResMut<Run>,
    mut most: Local<[u64; 3]>,
) {
    for (mut window, state, is_primary) in &mut windows {
        let now = [state.retired as u64, state.semaphores as u64, state.made];
        for (most, now) in most.iter_mut().zip(now) {
            *most = now.max(*most);
        }
        let [width, height] = state.extent;
        let name = if is_primary { "primary, " } else { "" };
        let title = format!(
            "{name}{:?}, {width}x{height}, {} images",
            state.present_mode, state.image_count
        );
        if window.title != title {
            window.title = title;
        }
    }
    let names = ["most_retired", "most_semaphores", "most_swapchains_made"];
    for (name, most) in names.into_iter().zip(*most) {
        run.report.insert(name.to_owned(), most.into());
    }
}
