//! Launcher of the games: tiles with moving pictures, one of which is chosen and played.
//!
//! The choice is in `choice.rs`, tiles are in `tiles.rs`, and `programs.rs` starts the programs.

mod choice;
mod programs;
mod tiles;

use bevy_app::{App, AppExit, Update};
use bevy_ecs::prelude::*;
use bevy_input::ButtonInput;
use bevy_input::gamepad::GamepadButton;
use bevy_input::keyboard::KeyCode;
use bevy_input::mouse::MouseButton;
use bevy_math::IVec2;
use bevy_time::{Real, Time};
use bevy_ui::{ComputedNode, UiGlobalTransform};
use clap::Parser;
use examples::input::{Devices, InputArgs, MenuInput};
use examples::run::Run;
use examples::{CommonArgs, args};
use quadrille_2d::prelude::{Camera, ClearColor, Color, Quadrille2dPlugin};

use crate::choice::Choice;
use crate::programs::{PROGRAMS, Running, follow};
use crate::tiles::{Tile, TilesPlugin};

/// Choose a game and play it.
///
/// Arrow keys, the mouse or a gamepad choose; enter, space, a click or south play; escape ends the launcher, which comes
/// back after each game.
#[derive(Parser, Clone)]
#[command(after_help = EXAMPLES)]
struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Examples:
  launcher                                             choose and play
  launcher --headless --screenshot launcher.png";

const WINDOW: [u32; 2] = [1280, 720];
/// Seconds of a frame in runs that are repeated.
const STEP: f32 = 1.0 / 60.0;

/// Seconds since the start, while no program runs.
#[derive(Resource, Default)]
struct Clock(f32);

fn main() -> AppExit {
    let args: Args = args::parse();
    let input = args.input.load(&args.common);
    let is_dry = input.is_repeatable();
    App::new()
        .init_resource::<Choice>()
        .init_resource::<Clock>()
        .insert_resource(Running::new(is_dry))
        .insert_resource(ClearColor(Color::srgb(0.02, 0.025, 0.05)))
        .add_plugins((
            args.common.plugins("Quadrille", WINDOW),
            Quadrille2dPlugin::default(),
        ))
        .add_plugins((args.common, input, TilesPlugin))
        .add_systems(Update, (follow, advance, operate).chain())
        .run()
}

fn advance(mut clock: ResMut<Clock>, running: Res<Running>, time: Res<Time<Real>>) {
    if !running.is_busy() {
        clock.0 += if running.is_dry() {
            STEP
        } else {
            time.delta_secs()
        };
    }
}

/// Returns the step of arrow keys.
fn arrow_step(keys: &ButtonInput<KeyCode>) -> IVec2 {
    let key = |code| i32::from(keys.just_pressed(code));
    IVec2::new(
        key(KeyCode::ArrowRight) - key(KeyCode::ArrowLeft),
        key(KeyCode::ArrowDown) - key(KeyCode::ArrowUp),
    )
}

/// Chooses and starts programs. While one runs the launcher takes no input.
fn operate(
    (keys, buttons, pointer, pad): Devices,
    camera: Single<&Camera>,
    nodes: Query<(&Tile, &ComputedNode, &UiGlobalTransform)>,
    (mut choice, mut running): (ResMut<Choice>, ResMut<Running>),
    mut run: ResMut<Run>,
    mut menu: Local<MenuInput>,
) {
    let (stick_step, has_moved) = menu.update(*pointer, &pad);
    if running.is_busy() {
        return;
    }
    let step = (arrow_step(&keys) + stick_step).clamp(IVec2::NEG_ONE, IVec2::ONE);
    let next = choice.moved(step, PROGRAMS.len());
    choice.set_if_neq(next);
    let size = camera.physical_target_size();
    let place = size.and_then(|size| pointer.in_pixels(size));
    let over = place.and_then(|place| {
        let mut hit = nodes.iter();
        hit.find(|(_, node, at)| node.contains_point(**at, place))
            .map(|(tile, ..)| tile.0)
    });
    let is_clicked = over.is_some() && buttons.just_pressed(MouseButton::Left);
    if let Some(over) = over
        && (has_moved || is_clicked)
    {
        choice.set_if_neq(Choice(over));
    }
    if keys.any_just_pressed([KeyCode::Enter, KeyCode::Space])
        || pad.any_just_pressed([GamepadButton::South, GamepadButton::Start])
        || is_clicked
    {
        running.start(PROGRAMS[choice.0].name);
    }
    if keys.just_pressed(KeyCode::Escape) || pad.just_pressed(GamepadButton::East) {
        run.finish();
    }
    run.report
        .insert("chosen".to_owned(), PROGRAMS[choice.0].name.into());
}
