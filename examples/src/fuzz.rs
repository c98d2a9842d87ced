//! Random input by seed, to find out that nothing which a player does ends a game: keys, mouse, and two gamepads that
//! come and go. It enters where real input does, as messages.

use bevy_app::{App, Plugin, PreUpdate, Startup};
use bevy_ecs::prelude::*;
use bevy_input::gamepad::{
    GamepadAxis, GamepadButton, GamepadConnection, GamepadConnectionEvent,
    RawGamepadAxisChangedEvent, RawGamepadButtonChangedEvent, RawGamepadEvent,
};
use bevy_input::keyboard::{Key, KeyCode, KeyboardInput};
use bevy_input::mouse::{MouseButton, MouseButtonInput};
use bevy_input::{ButtonState, InputSystems};

use crate::random::Random;
use crate::script::{Pointer, Script};

/// Keys that no script has.
const MORE_KEYS: [KeyCode; 8] = [
    KeyCode::ShiftLeft,
    KeyCode::ControlLeft,
    KeyCode::Tab,
    KeyCode::Backspace,
    KeyCode::Delete,
    KeyCode::Digit1,
    KeyCode::F1,
    KeyCode::IntlBackslash,
];
const MOUSE: [MouseButton; 4] = [
    MouseButton::Left,
    MouseButton::Right,
    MouseButton::Middle,
    MouseButton::Other(7),
];
const AXES: [GamepadAxis; 5] = [
    GamepadAxis::LeftStickX,
    GamepadAxis::LeftStickY,
    GamepadAxis::RightStickX,
    GamepadAxis::RightStickY,
    GamepadAxis::Other(3),
];
const PAD_BUTTONS: [GamepadButton; 12] = [
    GamepadButton::South,
    GamepadButton::East,
    GamepadButton::North,
    GamepadButton::West,
    GamepadButton::Start,
    GamepadButton::Select,
    GamepadButton::LeftTrigger2,
    GamepadButton::RightTrigger2,
    GamepadButton::DPadUp,
    GamepadButton::DPadDown,
    GamepadButton::DPadLeft,
    GamepadButton::Other(5),
];

/// Plays random input of a seed in place of a player.
#[derive(Clone, Copy, Debug)]
pub struct Fuzz(pub u64);

/// Sequence of input, and its gamepads.
#[derive(Resource)]
struct Hands {
    random: Random,
    pads: [Entity; 2],
}

impl Plugin for Fuzz {
    fn build(&self, app: &mut App) {
        let seed = self.0;
        let begin = move |mut commands: Commands| {
            let pads = [(); 2].map(|()| commands.spawn_empty().id());
            let random = Random::new(seed);
            commands.insert_resource(Hands { random, pads });
        };
        app.init_resource::<Pointer>()
            .add_systems(Startup, begin)
            .add_systems(
                PreUpdate,
                (press_keys, move_mouse, shake_gamepads)
                    .chain()
                    .before(InputSystems),
            );
    }
}

fn one_of<T: Copy>(random: &mut Random, all: &[T]) -> T {
    all[random.bits() as usize % all.len()]
}

/// Returns whether something happens that does so in one of `n` cases.
fn happens(random: &mut Random, n: u64) -> bool {
    random.bits().is_multiple_of(n)
}

fn state(random: &mut Random) -> ButtonState {
    match happens(random, 2) {
        true => ButtonState::Pressed,
        false => ButtonState::Released,
    }
}

fn press_keys(mut hands: ResMut<Hands>, mut keys: MessageWriter<KeyboardInput>) {
    let random = &mut hands.random;
    for _ in 0..random.bits() % 4 {
        let at = random.bits() as usize % (Script::KEYS.len() + MORE_KEYS.len());
        let key_code = match at.checked_sub(Script::KEYS.len()) {
            Some(at) => MORE_KEYS[at],
            None => Script::KEYS[at].1,
        };
        // Games that begin again all the time show little of themselves.
        if key_code == KeyCode::KeyR && !happens(random, 40) {
            continue;
        }
        keys.write(KeyboardInput {
            key_code,
            logical_key: Key::Space,
            state: state(random),
            text: None,
            repeat: happens(random, 8),
            window: Entity::PLACEHOLDER,
        });
    }
}

fn move_mouse(
    mut hands: ResMut<Hands>,
    mut pointer: ResMut<Pointer>,
    mut buttons: MessageWriter<MouseButtonInput>,
) {
    let random = &mut hands.random;
    if happens(random, 3) {
        // The pointer leaves the window at times.
        let at = [random.within(-0.2, 1.2), random.within(-0.2, 1.2)];
        pointer.0 = Some(at).filter(|_| !happens(random, 12));
    }
    if happens(random, 5) {
        buttons.write(MouseButtonInput {
            button: one_of(random, &MOUSE),
            state: state(random),
            window: Entity::PLACEHOLDER,
        });
    }
}

/// Values of drivers are finite; bevy_input ends a program whose axis is not a number.
fn shake_gamepads(
    mut hands: ResMut<Hands>,
    mut events: MessageWriter<RawGamepadEvent>,
    mut connections: MessageWriter<GamepadConnectionEvent>,
) {
    let Hands { random, pads } = &mut *hands;
    for &mut pad in pads {
        if happens(random, 120) {
            let connection = match happens(random, 3) {
                true => GamepadConnection::Disconnected,
                false => GamepadConnection::Connected {
                    name: "fuzz".to_owned(),
                    vendor_id: None,
                    product_id: None,
                },
            };
            connections.write(GamepadConnectionEvent::new(pad, connection));
        }
        for _ in 0..random.bits() % 3 {
            let (axis, value) = (one_of(random, &AXES), random.within(-1.5, 1.5));
            let event = RawGamepadAxisChangedEvent::new(pad, axis, value);
            events.write(RawGamepadEvent::Axis(event));
        }
        for _ in 0..random.bits() % 2 {
            let (button, value) = (one_of(random, &PAD_BUTTONS), random.within(-0.5, 1.5));
            if button == GamepadButton::Select && !happens(random, 40) {
                continue;
            }
            let event = RawGamepadButtonChangedEvent::new(pad, button, value);
            events.write(RawGamepadEvent::Button(event));
        }
    }
}

#[cfg(test)]
#[path = "fuzz_tests.rs"]
mod tests;
