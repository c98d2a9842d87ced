//! Source of a game's input: its player, a script, or chance.

use std::path::PathBuf;

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::*;
use bevy_input::ButtonInput;
use bevy_input::keyboard::KeyCode;
use bevy_input::mouse::MouseButton;
use bevy_math::IVec2;

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

/// Input of a menu in the frame before: a stick steps when it leaves its middle, and the pointer chooses when it moves.
#[derive(Clone, Copy, Debug, Default)]
pub struct MenuInput {
    pointer: Pointer,
    stick: IVec2,
}

impl MenuInput {
    /// Returns the step of the stick since the frame before, right and down, and whether the pointer has moved.
    pub fn update(&mut self, pointer: Pointer, pad: &GamepadInput) -> (IVec2, bool) {
        let side = |value: f32| i32::from(value > 0.5) - i32::from(value < -0.5);
        let stick = IVec2::new(side(pad.direction.x), -side(pad.direction.y));
        let before = std::mem::replace(self, Self { pointer, stick });
        let step = IVec2::select(stick.cmpne(before.stick), stick, IVec2::ZERO);
        (step, pointer != before.pointer)
    }
}

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

/// Plugin for a game's input: [`Pointer`] and [`GamepadInput`].
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

#[cfg(test)]
#[path = "input_tests.rs"]
mod tests;
