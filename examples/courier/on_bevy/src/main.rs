//! Courier's city on bevy's own renderer: the files of the game beside it, compiled for `bevy_pbr`, on the ride of
//! `courier --bench`. Draws to an image, since it measures; `cargo xtask courier-beside-bevy` runs both in turns.
//!
//! The names of Quadrille's crates stand for this crate, where bevy's types have the same names (`stand_ins.rs`). Only the
//! rain differs: its compute pass is a part of bevy's render graph (`weather.rs`).

#![allow(
    dead_code,
    reason = "the files of the game have more than the ride needs"
)]

// The game's files say where their types come from; here all come from bevy.
extern crate self as examples;
extern crate self as quadrille;
extern crate self as quadrille_2d;
extern crate self as quadrille_3d;

mod bench;
mod headless;
mod stand_ins;
mod weather;

#[path = "../../buildings.rs"]
mod buildings;
#[path = "../../city.rs"]
mod city;
#[path = "../../delivery.rs"]
mod delivery;
#[path = "../../effects.rs"]
mod effects;
#[path = "../../flight.rs"]
mod flight;
#[path = "../../game.rs"]
mod game;
#[path = "../../../src/gamepads.rs"]
pub mod gamepads;
#[path = "../../hud.rs"]
mod hud;
#[path = "../../lamps.rs"]
mod lamps;
#[path = "../../marker.rs"]
mod marker;
#[path = "../../player.rs"]
mod player;
#[path = "../../../src/player_file.rs"]
pub mod player_file;
#[path = "../../process.rs"]
mod process;
#[path = "../../quality.rs"]
mod quality;
#[path = "../../../src/random.rs"]
pub mod random;
#[path = "../../ride.rs"]
mod ride;
#[path = "../../settings.rs"]
mod settings;
#[path = "../../../src/size.rs"]
pub mod size;
#[path = "../../sky.rs"]
mod sky;
#[path = "../../streaks.rs"]
mod streaks;
#[path = "../../streets.rs"]
mod streets;
#[path = "../../traffic.rs"]
mod traffic;
#[path = "../../windows.rs"]
mod windows;

use std::path::PathBuf;
use std::time::Duration;

use bevy_app::{App, AppExit, PostStartup};
use bevy_asset::Assets;
use bevy_ecs::prelude::*;
use bevy_light::DirectionalLightShadowMap;
use bevy_time::TimeUpdateStrategy;
use clap::Parser;

pub use crate::stand_ins::*;

use crate::game::Game;
use crate::quality::Quality;
use crate::settings::{Settings, Switch};
use crate::size::Size;
use crate::streets::Ground;

/// Measure courier's ride on bevy's own renderer.
#[derive(Parser)]
struct Args {
    /// Decides how the city is built, and the way
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Blocks along a side of the city, an even number
    #[arg(long, value_name = "N", default_value_t = 28)]
    blocks: u32,
    /// How much a frame may cost
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = Quality::Low)]
    quality: Quality,
    /// Size of the image
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "960x540")]
    size: Size,
    /// Measured frames, after 60 others
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,
    /// Write the numbers
    #[arg(long, value_name = "FILE.json")]
    bench_json: Option<PathBuf>,
    /// Write the last frame
    #[arg(long, value_name = "FILE.png")]
    screenshot: Option<PathBuf>,
}

fn main() -> AppExit {
    let args = Args::parse();
    let mut game = Game::new(args.seed, args.blocks, false);
    game.begin_ride(args.seed);
    // The camera is at the beginning of the way while pipelines compile.
    game.step(game::Input::default());
    let size = [args.size.width(), args.size.height()];
    let mut app = App::new();
    app.insert_resource(game)
        .insert_resource(player::Pace::new(Some(0)))
        .insert_resource(args.quality)
        .insert_resource(Settings::of_quality(args.quality, false))
        .insert_resource(DirectionalLightShadowMap { size: 1024 })
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(
            flight::STEP,
        )))
        .add_plugins(headless::plugins(size))
        .init_resource::<options::Screen>()
        .init_resource::<run::Run>()
        .add_plugins((
            gamepads::GamepadsPlugin { has_devices: false },
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
            effects::EffectsPlugin,
        ))
        .add_plugins(bench::BenchPlugin {
            frames: args.frames,
            ride: ride::name(args.seed, args.blocks, size, args.quality),
            json: args.bench_json,
            screenshot: args.screenshot,
        })
        .add_systems(PostStartup, light_streets);
    app.run()
}

/// Lights the streets forward where nothing is deferred: bevy leaves deferred materials out under a camera without a deferred
/// prepass, Quadrille draws them forward.
fn light_streets(settings: Res<Settings>, mut grounds: ResMut<Assets<Ground>>) {
    if settings.has(Switch::Reflections) {
        return;
    }
    for (_, ground) in grounds.iter_mut() {
        ground.base.opaque_render_method = OpaqueRendererMethod::Forward;
    }
}
