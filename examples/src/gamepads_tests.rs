use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_input::InputPlugin;
use bevy_input::gamepad::{
    GamepadAxis, GamepadButton, GamepadConnection, GamepadConnectionEvent,
    RawGamepadAxisChangedEvent, RawGamepadButtonChangedEvent, RawGamepadEvent,
};
use bevy_math::Vec2;

use super::{DEAD_ZONE, GamepadInput, GamepadsPlugin, dead_zone};

/// An app with a connected gamepad, which is driven by messages.
struct Machine {
    app: App,
    pad: Entity,
}

impl Machine {
    fn new() -> Self {
        let mut app = App::new();
        app.add_plugins((InputPlugin, GamepadsPlugin::default()));
        let pad = app.world_mut().spawn_empty().id();
        let mut machine = Self { app, pad };
        machine.connect(true);
        machine.input();
        machine
    }

    fn connect(&mut self, is_connected: bool) {
        let connection = match is_connected {
            true => GamepadConnection::Connected {
                name: "test".to_owned(),
                vendor_id: None,
                product_id: None,
            },
            false => GamepadConnection::Disconnected,
        };
        let event = GamepadConnectionEvent::new(self.pad, connection);
        self.app.world_mut().write_message(event);
    }

    fn axis(&mut self, axis: GamepadAxis, value: f32) {
        let event = RawGamepadAxisChangedEvent::new(self.pad, axis, value);
        self.app
            .world_mut()
            .write_message(RawGamepadEvent::Axis(event));
    }

    fn button(&mut self, button: GamepadButton, value: f32) {
        let event = RawGamepadButtonChangedEvent::new(self.pad, button, value);
        self.app
            .world_mut()
            .write_message(RawGamepadEvent::Button(event));
    }

    /// Runs a frame.
    fn input(&mut self) -> GamepadInput {
        self.app.update();
        *self.app.world().resource::<GamepadInput>()
    }
}

#[test]
fn dead_zone_is_radial_and_reaches_one() {
    assert_eq!(dead_zone(Vec2::new(0.1, -0.1)), Vec2::ZERO);
    assert_eq!(dead_zone(Vec2::new(1.0, 0.0)), Vec2::X);
    assert_eq!(dead_zone(Vec2::new(0.0, -3.0)), Vec2::NEG_Y);
    assert_eq!(dead_zone(Vec2::new(f32::NAN, 1.0)), Vec2::ZERO);
    let half = dead_zone(Vec2::new(0.55, 0.0));
    assert!((half.x - 0.5).abs() < 1e-5, "{half}");
    // The direction is kept: a slight deflection is not pulled to an axis.
    let slight = dead_zone(Vec2::new(0.5, 0.1));
    assert!((slight.y / slight.x - 0.2).abs() < 1e-5, "{slight}");
    assert!(dead_zone(Vec2::splat(DEAD_ZONE)).length() > 0.0);
}

#[test]
fn sticks_and_pad_steer() {
    let mut machine = Machine::new();
    machine.axis(GamepadAxis::LeftStickX, 0.1);
    assert_eq!(machine.input().direction, Vec2::ZERO);
    machine.axis(GamepadAxis::LeftStickX, -1.0);
    machine.axis(GamepadAxis::RightStickY, 1.0);
    let input = machine.input();
    assert_eq!((input.direction, input.look), (Vec2::NEG_X, Vec2::Y));
    // Stick and directional pad together are no faster.
    machine.button(GamepadButton::DPadLeft, 1.0);
    assert_eq!(machine.input().direction, Vec2::NEG_X);
    machine.axis(GamepadAxis::LeftStickX, 0.0);
    machine.button(GamepadButton::DPadLeft, 0.0);
    machine.button(GamepadButton::RightTrigger2, 0.5);
    let input = machine.input();
    assert_eq!((input.direction, input.triggers), (Vec2::ZERO, [0.0, 0.5]));
}

#[test]
fn button_is_just_pressed_for_one_frame() {
    let mut machine = Machine::new();
    machine.button(GamepadButton::Start, 1.0);
    let input = machine.input();
    assert!(input.pressed(GamepadButton::Start) && input.just_pressed(GamepadButton::Start));
    let input = machine.input();
    assert!(input.pressed(GamepadButton::Start) && !input.just_pressed(GamepadButton::Start));
    machine.button(GamepadButton::Start, 0.0);
    assert_eq!(machine.input(), GamepadInput::default());
}

#[test]
fn pad_that_is_unplugged_lets_go() {
    let mut machine = Machine::new();
    machine.axis(GamepadAxis::LeftStickY, 1.0);
    machine.button(GamepadButton::South, 1.0);
    assert_eq!(machine.input().direction, Vec2::Y);
    machine.connect(false);
    machine.input();
    assert_eq!(machine.input(), GamepadInput::default());
    machine.connect(true);
    assert_eq!(machine.input(), GamepadInput::default());
}
