//! Breakout with bevy's own components: sprites, text, a camera; drawn by Quadrille.
//!
//! The rules are in `src/breakout.rs`. Here they get a picture: an entity for everything on the
//! field (`field.rs`), texts (`hud.rs`), what only pleases the eye (`juice.rs`), and sounds (`sounds.rs`).

mod field;
mod hud;
mod juice;
mod sounds;

use bevy_app::{App, AppExit, Update};
use bevy_ecs::prelude::*;
use bevy_input::gamepad::GamepadButton;
use bevy_input::keyboard::KeyCode;
use bevy_input::mouse::MouseButton;
use bevy_time::{Real, Time};
use clap::Parser;
use examples::breakout::{Breakout, FIELD, Phase, STEP, Wish};
use examples::input::{Devices, InputArgs};
use examples::run::Run;
use examples::scores::Scores;
use examples::{CommonArgs, args};
use quadrille_2d::prelude::*;

/// Keep the ball in the air, catch capsules and clear five walls.
///
/// Arrow keys, A and D or the mouse move the paddle; space or a click serves; P or escape pauses;
/// R begins again; M mutes. Gamepads: stick or directional pad, south, start, select.
#[derive(Parser, Clone)]
#[command(after_help = EXAMPLES)]
struct Args {
    /// Decides how balls are served and what bricks drop
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Let the program play
    #[arg(long, conflicts_with = "script")]
    autoplay: bool,
    /// Begin at the title, as games in a window do
    #[arg(long)]
    title: bool,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Examples:
  breakout --seed 7                                            play
  breakout --autoplay                                          watch
  breakout --headless --autoplay --frames 900 --screenshot breakout.png
  breakout --headless --script assets/scripts/breakout.txt --frames 600 --report report.json";

const WINDOW: [u32; 2] = [960, 540];

/// The game that is played.
#[derive(Resource)]
struct Game {
    rules: Breakout,
    autoplay: bool,
    /// Real time that is not yet a step; without a window each frame is one.
    left_over: Option<f32>,
}

fn main() -> AppExit {
    let args: Args = args::parse();
    let input = args.input.load(&args.common);
    let plugins = args.common.plugins("Breakout", WINDOW);
    let every_frame = input.is_repeatable();
    let is_played = !every_frame && !args.autoplay;
    let rules = match is_played || args.title {
        true => Breakout::at_title(args.seed),
        false => Breakout::new(args.seed),
    };
    App::new()
        .insert_resource(Game {
            rules,
            autoplay: args.autoplay,
            left_over: (!every_frame).then_some(0.0),
        })
        .insert_resource(match is_played {
            true => Scores::of_player("breakout"),
            false => Scores::unsaved(),
        })
        .insert_resource(ClearColor(Color::srgb(0.03, 0.03, 0.07)))
        .add_plugins((plugins, Quadrille2dPlugin::default()))
        .add_plugins((args.common, input))
        .add_plugins((field::FieldPlugin, juice::JuicePlugin, hud::HudPlugin))
        .add_plugins(sounds::SoundsPlugin {
            is_audible: !every_frame,
        })
        .add_systems(Update, (play, note_end).chain().in_set(Play))
        .run()
}

/// The systems that advance the game, before those that show it.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Play;

/// Returns the player's input; `moved` says whether the pointer did.
fn wish((keys, buttons, pointer, pad): &Devices, moved: bool, phase: Phase) -> Wish {
    let pressed = |codes: [KeyCode; 2]| f32::from(u8::from(keys.any_pressed(codes)));
    let direction = pressed([KeyCode::ArrowRight, KeyCode::KeyD])
        - pressed([KeyCode::ArrowLeft, KeyCode::KeyA])
        + pad.direction.x;
    let start = pad.just_pressed(GamepadButton::Start);
    let south = pad.just_pressed(GamepadButton::South);
    let has_ended = matches!(phase, Phase::Over | Phase::Won);
    // The pointer leads as long as it moves; keys take over when it rests.
    let paddle_to = pointer.0.filter(|_| moved && direction == 0.0);
    Wish {
        direction,
        paddle_to: paddle_to.map(|[x, _]| (x - 0.5) * FIELD.x),
        serve: keys.any_just_pressed([KeyCode::Space, KeyCode::Enter])
            || buttons.just_pressed(MouseButton::Left)
            || south
            || (start && phase == Phase::Title),
        pause: keys.any_just_pressed([KeyCode::KeyP, KeyCode::Escape]) || start,
        restart: keys.just_pressed(KeyCode::KeyR)
            || pad.just_pressed(GamepadButton::Select)
            || (has_ended && (start || south)),
    }
}

fn play(
    devices: Devices,
    time: Res<Time<Real>>,
    mut game: ResMut<Game>,
    mut run: ResMut<Run>,
    (mut last_pointer, mut step): (Local<Option<[f32; 2]>>, Local<u64>),
) {
    if run.is_over() {
        return;
    }
    let pointer = devices.2.0;
    let moved = *last_pointer != pointer;
    *last_pointer = pointer;
    let mut wish = wish(&devices, moved, game.rules.phase);
    let autoplay = game.autoplay;
    let Game {
        rules, left_over, ..
    } = &mut *game;
    let steps = left_over.as_mut().map_or(1, |left_over| {
        // After a long stall the game does not try to catch up.
        *left_over = (*left_over + time.delta_secs()).min(4.0 * STEP);
        let steps = (*left_over / STEP).floor();
        *left_over -= steps * STEP;
        steps as u32
    });
    for _ in 0..steps {
        if autoplay {
            wish = Wish {
                pause: wish.pause,
                restart: wish.restart,
                ..rules.never_miss(*step)
            };
        }
        rules.step(wish);
        *step += 1;
        // A key that was pressed counts once.
        (wish.serve, wish.pause, wish.restart) = (false, false, false);
    }
    let rules = &game.rules;
    run.report.insert("score".to_owned(), rules.score.into());
    run.report.insert("lives".to_owned(), rules.lives.into());
    let bricks = rules.bricks.iter().filter(|&&hits| hits > 0).count();
    run.report.insert("bricks".to_owned(), bricks.into());
}

/// Adds the score of each game that ends.
fn note_end(game: Res<Game>, mut scores: ResMut<Scores>, mut had_ended: Local<bool>) {
    let has_ended = game.rules.has_ended();
    if has_ended && !*had_ended {
        scores.add(game.rules.score);
    }
    *had_ended = has_ended;
}
