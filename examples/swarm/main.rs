//! Survive three waves of a swarm of 50,000, and its boss: enemies live on the device alone.
//!
//! `count` and `advance` move them on a compute queue beside the graphics queue, between two
//! buffers that change roles; `draw_swarm` draws them with one instanced draw; `draw_2d`, the pass
//! of `quadrille_2d`, draws player, shots and text over them; `glow` and `develop` are bloom. The
//! score comes back through `tell_score`, a host pass. Nothing here says which pass waits for which.

mod device;
mod picture;
mod sounds;
mod text;

use bevy_app::{App, AppExit, Update};
use bevy_ecs::prelude::*;
use bevy_input::gamepad::GamepadButton;
use bevy_input::keyboard::KeyCode;
use bevy_input::mouse::MouseButton;
use bevy_math::Vec2;
use bevy_time::{Real, Time};
use clap::Parser;
use examples::input::{Devices, InputArgs};
use examples::run::Run;
use examples::scores::Scores;
use examples::swarm::{Counters, FIELD, Phase, STEP, Survival, Wish};
use examples::{CommonArgs, args};
use quadrille::prelude::*;
use quadrille_2d::prelude::*;
use quadrille_2d::systems::draw_2d;

use device::{
    advance, copy_score, count, develop, draw_swarm, empty_cells, exchange, glow, is_new, make,
    moves, populate, tell_score,
};

/// Survive a swarm that lives on the GPU: shoot three waves, then the boss.
///
/// WASD or arrow keys move, the mouse aims, space or a click begins, B turns bloom off and on, P or escape
/// pauses, R begins again. Gamepads: left stick moves, right stick aims, south begins, west is bloom, start pauses,
/// select begins again.
#[derive(Parser, Resource, Clone)]
#[command(after_help = EXAMPLES)]
struct Args {
    /// How many enemies there are
    #[arg(long, value_name = "N", default_value_t = 50_000,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    enemies: u32,
    /// Decides where they begin
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Begin at the title screen, as a game in a window does
    #[arg(long)]
    title: bool,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Examples:
  swarm                                                    play
  swarm --enemies 200000                                   more of them
  swarm --headless --script assets/scripts/swarm.txt --frames 240 --screenshot swarm.png
  QUADRILLE_QUEUES=1 swarm --headless --plan plan.txt      the same on one queue";

#[derive(Resource)]
struct Game {
    rules: Survival,
    enemies: u32,
    bloom: bool,
    /// Real time that is not yet a step; without a window each frame is one.
    left_over: Option<f32>,
    /// Whether this frame is a step.
    moves: bool,
    /// Whether the game restarts with this frame.
    is_new: bool,
    /// Frames drawn.
    frame: u64,
    /// The frame with which the game began: what was counted before is of another.
    began: u64,
    /// Counts of earlier frames, by frame.
    counted: std::collections::VecDeque<(u64, Counters)>,
}

impl Game {
    /// Begins with a swarm that has counted nothing.
    fn begin(&mut self) {
        let was_title = self.rules.phase == Phase::Title;
        self.rules = Survival::new(self.enemies);
        if was_title {
            self.rules.phase = Phase::Title;
        }
        self.began = self.frame;
    }

    /// Whether the start key begins a game.
    fn is_waiting(&self) -> bool {
        self.rules.phase == Phase::Title || self.rules.has_ended()
    }

    /// Takes what the device counted some frames ago.
    fn take_counts(&mut self) {
        let due = self.frame.saturating_sub(COUNTERS_LATE);
        while let Some((frame, counters)) = self.counted.pop_front_if(|(frame, _)| *frame <= due) {
            if frame >= self.began {
                self.rules.counted(counters);
            }
        }
    }
}

fn main() -> AppExit {
    let args: Args = args::parse();
    let input = args.input.load(&args.common);
    let plugins = args.common.plugins("Swarm", FIELD);
    let every_frame = input.is_repeatable();
    let scores = match every_frame {
        true => Scores::unsaved(),
        false => Scores::of_player("swarm"),
    };
    let mut rules = Survival::new(args.enemies);
    if args.title || !every_frame {
        rules.phase = Phase::Title;
    }
    App::new()
        .insert_resource(Game {
            rules,
            enemies: args.enemies,
            bloom: true,
            left_over: (!every_frame).then_some(0.0),
            moves: false,
            is_new: false,
            frame: 0,
            began: 0,
            counted: Default::default(),
        })
        .insert_resource(scores)
        .add_plugins((plugins, Quadrille2dPlugin::default()))
        .add_plugins((args.common.clone(), input))
        .add_plugins(sounds::SoundsPlugin {
            is_audible: !every_frame,
        })
        .insert_resource(args)
        .add_systems(RenderStartup, (make, populate).chain())
        .add_systems(bevy_app::Startup, picture::spawn)
        .add_systems(Update, (play, picture::systems()).chain())
        .add_systems(
            Render,
            (
                exchange.in_set(RenderSystems::Declare),
                populate.in_set(RenderSystems::Declare).run_if(is_new),
                empty_cells.run_if(moves),
                count
                    .after(empty_cells)
                    .run_if(moves)
                    .on_queue(QueuePreference::Async),
                advance
                    .after(count)
                    .run_if(moves)
                    .on_queue(QueuePreference::Async),
                (copy_score.on_queue(QueuePreference::Async), tell_score)
                    .chain()
                    .after(advance)
                    .run_if(moves),
                draw_swarm.after(advance).before(draw_2d),
                glow.after(draw_2d),
                develop.after(glow),
            ),
        )
        .run()
}

/// How many frames late counters are taken: what the device counted is there by then in any run,
/// so that a game is the same each time.
const COUNTERS_LATE: u64 = 5;

fn play(
    devices: Devices,
    time: Res<Time<Real>>,
    mut game: ResMut<Game>,
    (mut run, mut scores): (ResMut<Run>, ResMut<Scores>),
) {
    game.moves = false;
    game.is_new = false;
    if run.is_over() {
        return;
    }
    game.frame += 1;
    game.bloom ^=
        devices.0.just_pressed(KeyCode::KeyB) || devices.3.just_pressed(GamepadButton::West);
    game.take_counts();
    let wish = wish(&devices, game.rules.player);
    let begins = wish.start && game.is_waiting();
    let is_step = game.left_over.as_mut().is_none_or(|left_over| {
        // A frame is one step at most: a slow device has a slow game, not one that leaps.
        *left_over = (*left_over + time.delta_secs()).min(2.0 * STEP);
        let due = *left_over >= STEP || wish.pause || wish.restart || begins;
        *left_over -= if due { left_over.min(STEP) } else { 0.0 };
        due
    });
    if is_step {
        let had_ended = game.rules.has_ended();
        game.rules.step(wish);
        game.is_new = wish.restart || begins;
        game.moves = matches!(game.rules.phase, Phase::Play | Phase::Title) && !game.is_new;
        if game.rules.has_ended() && !had_ended {
            scores.add(game.rules.score());
        }
    }
    let rules = &game.rules;
    run.report.insert("wave".to_owned(), rules.wave.into());
    run.report.insert("lives".to_owned(), rules.lives.into());
    run.report.insert("score".to_owned(), rules.score().into());
    run.report
        .insert("health".to_owned(), rules.health().into());
}

/// Returns the player's input; the right stick of a gamepad aims from the ship.
fn wish((keys, buttons, pointer, pad): &Devices, ship: Vec2) -> Wish {
    let pressed = |codes: [KeyCode; 2]| f32::from(u8::from(keys.any_pressed(codes)));
    let keyed = Vec2::new(
        pressed([KeyCode::KeyD, KeyCode::ArrowRight])
            - pressed([KeyCode::KeyA, KeyCode::ArrowLeft]),
        pressed([KeyCode::KeyW, KeyCode::ArrowUp]) - pressed([KeyCode::KeyS, KeyCode::ArrowDown]),
    );
    let start = pad.just_pressed(GamepadButton::Start);
    let in_field =
        |[x, y]: [f32; 2]| Vec2::new((x - 0.5) * FIELD[0] as f32, (0.5 - y) * FIELD[1] as f32);
    let aim = match pad.look.length_squared() > 0.01 {
        true => Some(ship + pad.look.normalize_or_zero() * 200.0),
        false => pointer.0.map(in_field),
    };
    Wish {
        direction: keyed + pad.direction,
        aim,
        pause: keys.any_just_pressed([KeyCode::KeyP, KeyCode::Escape]) || start,
        restart: keys.just_pressed(KeyCode::KeyR) || pad.just_pressed(GamepadButton::Select),
        start: keys.any_just_pressed([KeyCode::Space, KeyCode::Enter])
            || buttons.just_pressed(MouseButton::Left)
            || pad.just_pressed(GamepadButton::South)
            || start,
    }
}
