//! Source of a game's input: its player, a script, or chance.

use std::path::PathBuf;

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::*;
use bevy_input::ButtonInput;
use bevy_input::keyboard::KeyCode;
use bevy_input::mouse::MouseButton;

use crate::args::{self, CommonArgs};
use crate::fuzz::Fuzz;
use crate::gamepads::{GamepadInput, GamepadsPlugin};
use crate::script::{InputScript, Pointer, Script};

/// Keyboard, mouse buttons, pointer and gamepads.
pub type Devices<'w> = (
    Res<'w, ButtonInput<KeyCode>>,
    Res<'w, ButtonInput<MouseButton>>,
    Res<'w, Pointer>,
    Res<'w, GamepadInput>,
);

/// Arguments of every game.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct InputArgs {
    /// Play input from a file: lines such as `10 press left`, `45 tap space`, `60 pointer 0.5 0.9`
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// Play random keys, mouse and gamepads of a seed, as a test that nothing ends the game
    #[arg(long, value_name = "SEED", conflicts_with = "script")]
    pub fuzz: Option<u64>,
}

impl InputArgs {
    /// Reads the script, if there is one. A mistake in it ends the program with exit code 2 and one line.
    pub fn load(&self, common: &CommonArgs) -> GameInput {
        let script = self.script.as_deref().map(Script::load).transpose();
        let script = script.unwrap_or_else(|error| args::exit_with(error));
        let source = match (self.fuzz, script) {
            (Some(seed), _) => Source::Fuzz(seed),
            (None, Some(script)) => Source::Script(script),
            (None, None) => Source::Player,
        };
        GameInput {
            is_headless: common.is_headless(),
            source,
        }
    }
}

/// Plugin for a game's input: [`Pointer`](crate::script::Pointer) and [`GamepadInput`](crate::gamepads::GamepadInput).
#[derive(Clone, Debug)]
pub struct GameInput {
    is_headless: bool,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    Player,
    Script(Script),
    Fuzz(u64),
}

impl GameInput {
    /// Whether each frame is one step of the game, so that runs are the same each time. They read and write no file of
    /// the player, and play no sound.
    pub fn is_repeatable(&self) -> bool {
        self.is_headless || !matches!(self.source, Source::Player)
    }
}

impl Plugin for GameInput {
    fn build(&self, app: &mut App) {
        app.add_plugins(GamepadsPlugin {
            has_devices: !self.is_repeatable(),
        });
        match &self.source {
            Source::Player => app.add_plugins(InputScript(None)),
            Source::Script(script) => app.add_plugins(InputScript(Some(script.clone()))),
            Source::Fuzz(seed) => app.add_plugins(Fuzz(*seed)),
        };
    }
}
