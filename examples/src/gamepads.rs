//! Gamepads of the games: all that are connected, as one.
//!
//! bevy_input keeps a `Gamepad` component for each. They get their state from `RawGamepadEvent` messages: with the
//! feature `gamepad` from `bevy_gilrs`, in tests and in [`fuzz`](crate::fuzz) from the program itself.

use bevy_app::{App, Plugin, PreUpdate};
use bevy_ecs::prelude::*;
use bevy_input::InputSystems;
use bevy_input::gamepad::{Gamepad, GamepadButton};
use bevy_math::Vec2;

/// Deflection of a stick below which it counts as released. Worn sticks rest up to a tenth off their middle.
pub const DEAD_ZONE: f32 = 0.15;
/// Deflection from which a stick counts as fully deflected.
const LIVE_ZONE: f32 = 0.95;
/// Buttons of games, in the order of their bits.
const BUTTONS: [GamepadButton; 10] = [
    GamepadButton::South,
    GamepadButton::East,
    GamepadButton::North,
    GamepadButton::West,
    GamepadButton::Start,
    GamepadButton::Select,
    GamepadButton::DPadUp,
    GamepadButton::DPadDown,
    GamepadButton::DPadLeft,
    GamepadButton::DPadRight,
];

/// Input of all gamepads in this frame.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq)]
pub struct GamepadInput {
    /// Left stick and directional pad, at most 1 long.
    pub direction: Vec2,
    /// Right stick, at most 1 long.
    pub look: Vec2,
    /// Left and right trigger, from 0 to 1.
    pub triggers: [f32; 2],
    held: u16,
    just: u16,
}

impl GamepadInput {
    /// Whether a button is held.
    pub fn pressed(&self, button: GamepadButton) -> bool {
        self.held & bit(button) != 0
    }

    /// Whether a button went down in this frame.
    pub fn just_pressed(&self, button: GamepadButton) -> bool {
        self.just & bit(button) != 0
    }

    /// Whether one of these buttons went down in this frame.
    pub fn any_just_pressed<const N: usize>(&self, buttons: [GamepadButton; N]) -> bool {
        buttons.into_iter().any(|it| self.just_pressed(it))
    }

    fn add(&mut self, pad: &Gamepad) {
        self.direction += dead_zone(pad.left_stick()) + finite(pad.dpad());
        self.look += dead_zone(pad.right_stick());
        let triggers = [GamepadButton::LeftTrigger2, GamepadButton::RightTrigger2];
        for (sum, button) in self.triggers.iter_mut().zip(triggers) {
            let value = pad.get(button).filter(|value| *value > 0.05);
            *sum = sum.max(value.unwrap_or(0.0).min(1.0));
        }
        for button in BUTTONS {
            self.held |= bit(button) * u16::from(pad.pressed(button));
            self.just |= bit(button) * u16::from(pad.just_pressed(button));
        }
    }
}

fn bit(button: GamepadButton) -> u16 {
    let index = BUTTONS.iter().position(|it| *it == button);
    index.map_or(0, |index| 1 << index)
}

fn finite(value: Vec2) -> Vec2 {
    match value.is_finite() {
        true => value,
        false => Vec2::ZERO,
    }
}

/// Radial dead zone: [`DEAD_ZONE`] and less is 0, and lengths beyond it grow linearly to 1. Dead zones of single axes, as
/// bevy's `AxisSettings` have, would pull slight deflections to the axes.
pub fn dead_zone(stick: Vec2) -> Vec2 {
    let stick = finite(stick);
    let length = ((stick.length() - DEAD_ZONE) / (LIVE_ZONE - DEAD_ZONE)).clamp(0.0, 1.0);
    stick.normalize_or_zero() * length
}

/// Collects [`GamepadInput`].
#[derive(Clone, Copy, Debug, Default)]
pub struct GamepadsPlugin {
    /// Whether gamepads of the machine count; they need the feature `gamepad`.
    pub has_devices: bool,
}

impl Plugin for GamepadsPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<GamepadInput>()
            .add_systems(PreUpdate, collect.after(InputSystems));
        #[cfg(feature = "gamepad")]
        if self.has_devices {
            app.add_plugins(bevy_gilrs::GilrsPlugin);
        }
    }
}

fn collect(pads: Query<&Gamepad>, mut input: ResMut<GamepadInput>) {
    let mut sum = GamepadInput::default();
    pads.iter().for_each(|pad| sum.add(pad));
    sum.direction = sum.direction.clamp_length_max(1.0);
    sum.look = sum.look.clamp_length_max(1.0);
    input.set_if_neq(sum);
}

#[cfg(test)]
#[path = "gamepads_tests.rs"]
mod tests;
