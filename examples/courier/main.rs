//! Courier: a game on `quadrille_3d`. A city at night, a hover car, parcels against the clock.
//!
//! `README.md` of this folder walks through the files. The rules (`city`, `flight`, `delivery`, `game`) know no
//! renderer; the other files give them a picture, with bevy's components alone.

mod bench;
mod buildings;
mod city;
mod delivery;
mod effects;
mod flight;
mod game;
mod hud;
mod lamps;
mod marker;
mod menu;
mod options;
mod player;
mod process;
mod quality;
mod ride;
mod scores;
mod settings;
mod sky;
mod sounds;
mod streaks;
mod streets;
mod traffic;
mod weather;
mod windows;

use std::path::PathBuf;
use std::time::Duration;

use bevy_app::{App, AppExit};
use bevy_light::DirectionalLightShadowMap;
use bevy_time::TimeUpdateStrategy;
use clap::Parser;
use examples::input::InputArgs;
use examples::player_file::player_file;
use examples::scores::Scores;
use examples::{CommonArgs, Size, args};
use quadrille::prelude::GpuDevice;
use quadrille_2d::Quadrille2dPlugin;
use quadrille_3d::Quadrille3dPlugin;

use crate::game::{Game, Input};
use crate::quality::Quality;
use crate::settings::{DefaultSettings, Settings, SettingsFile};

/// Fly parcels through a city at night.
///
/// W and S: speed and brakes; A and D: turn; space or up: climb; shift or down: sink; P: pause; R: begin again; M: mute.
/// Gamepads: left stick or triggers for speed and brakes, left stick turns, right stick, south and east climb and sink,
/// start pauses, select begins again.
#[derive(Parser, Clone)]
#[command(after_help = EXAMPLES)]
struct Args {
    /// Decides how the city is built, and where parcels are
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Blocks along a side of the city, an even number
    #[arg(long, value_name = "N", default_value_t = 28, value_parser = clap::value_parser!(u32).range(4..=64))]
    blocks: u32,
    /// How much a frame may cost [default: medium, low without a window]
    #[arg(long, value_enum, value_name = "LEVEL")]
    quality: Option<Quality>,
    /// Size of the window or picture
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "960x540")]
    size: Size,
    /// Let the program fly
    #[arg(long, conflicts_with = "script")]
    autoplay: bool,
    /// Steps that the program flies before the first picture
    #[arg(long, value_name = "N", default_value_t = 0, requires = "autoplay", value_parser = clap::value_parser!(u32).range(..=100_000))]
    skip: u32,
    /// Steps of 1/60 s between two pictures, without a window
    #[arg(long, value_name = "N", default_value_t = 1, requires = "autoplay", value_parser = clap::value_parser!(u32).range(1..=60))]
    steps: u32,
    /// Measure a fixed ride along the streets: 300 frames, or those of --frames, after 60 others
    #[arg(long, conflicts_with_all = ["autoplay", "script", "fuzz"])]
    bench: bool,
    /// Write the numbers of --bench
    #[arg(long, value_name = "FILE.json", requires = "bench")]
    bench_json: Option<PathBuf>,
    /// File of high scores [default: courier.txt in the user's folder of data; none headless or with a script]
    #[arg(long, value_name = "FILE")]
    scores: Option<PathBuf>,
    /// File of settings [default: courier_settings.txt in the user's folder of data; none headless or with a script]
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Examples:
  courier --seed 7                                     play
  courier --quality low                                without a GPU
  courier --autoplay                                   watch
  courier --headless --bench --quality high            measure
  courier --headless --autoplay --skip 400 --frames 5 --screenshot courier.png
  courier --headless --script assets/scripts/courier.txt --frames 600 --report report.json";

/// Reads the command line; a measurement is longer by its warm-up.
fn parse() -> Args {
    let mut args: Args = args::parse();
    if !args.blocks.is_multiple_of(2) {
        args::exit_with("the number of blocks is odd; give an even one, such as --blocks 28");
    }
    if args.bench {
        let frames = args.common.frames.unwrap_or(bench::MEASURED);
        // The last measured frame ends where a further one begins.
        args.common.frames = Some(frames.saturating_add(bench::WARM_UP + 1));
    }
    args
}

/// Adds the settings of a file, or those of the quality and the device.
fn insert_settings(app: &mut App, quality: Quality, path: Option<PathBuf>) {
    let gpu = app.world().get_resource::<GpuDevice>();
    let is_software = gpu.is_some_and(|gpu| gpu.info().software);
    let defaults = Settings::of_quality(quality, is_software);
    let settings = path
        .as_deref()
        .map_or(defaults, |path| Settings::load(path, defaults));
    let saved = settings;
    app.insert_resource(DefaultSettings(defaults))
        .insert_resource(settings)
        .insert_resource(SettingsFile { path, saved });
}

fn main() -> AppExit {
    let args = parse();
    let input = args.input.load(&args.common);
    let quality = args.quality.unwrap_or(match args.common.is_headless() {
        true => Quality::Low,
        false => Quality::Medium,
    });
    let mut game = Game::new(args.seed, args.blocks, args.autoplay);
    (0..args.skip).for_each(|_| game.step(Input::default()));
    if args.bench {
        game.begin_ride(args.seed);
    }
    let window = [args.size.width(), args.size.height()];
    // Such runs are the same each time, so they touch no file of the user.
    let every_frame = input.is_repeatable() || args.bench;
    let scores = match args.scores {
        _ if every_frame => Scores::unsaved(),
        Some(path) => Scores::of_file("courier", path),
        None => Scores::of_player("courier"),
    };
    let path = args.settings;
    let path = path.or_else(|| (!every_frame).then(|| player_file("courier_settings"))?);
    let mut app = App::new();
    if args.bench {
        app.add_plugins(bench::BenchPlugin {
            json: args.bench_json,
            frames: args.common.frames.unwrap_or(bench::MEASURED),
            ride: ride::name(args.seed, args.blocks, window, quality),
        });
    }
    app.insert_resource(game)
        .insert_resource(player::Pace::new(every_frame.then_some(args.steps)))
        .insert_resource(quality)
        .insert_resource(DirectionalLightShadowMap { size: 1024 })
        .add_plugins(args.common.plugins("Courier", window))
        .add_plugins((Quadrille2dPlugin::default(), Quadrille3dPlugin::default()))
        .add_plugins((args.common, input));
    insert_settings(&mut app, quality, path);
    app.add_plugins((
        player::PlayerPlugin,
        buildings::BuildingsPlugin,
        windows::WindowsPlugin,
        streets::StreetsPlugin,
        lamps::LampsPlugin,
        traffic::TrafficPlugin,
        sky::SkyPlugin,
        weather::WeatherPlugin,
        marker::MarkerPlugin,
        hud::HudPlugin,
        scores::ScoresPlugin(scores),
    ))
    .add_plugins((
        effects::EffectsPlugin,
        menu::MenuPlugin,
        options::OptionsPlugin,
        sounds::SoundsPlugin {
            seed: args.seed,
            is_audible: !every_frame,
        },
    ));
    if every_frame {
        // Frames count instead of time, so that pictures are the same each time.
        let step = Duration::from_secs_f32(flight::STEP) * args.steps;
        app.insert_resource(TimeUpdateStrategy::ManualDuration(step));
    }
    app.run()
}
