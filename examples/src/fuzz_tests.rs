use bevy_app::App;
use bevy_input::keyboard::KeyCode;
use bevy_input::mouse::MouseButton;
use bevy_input::{ButtonInput, InputPlugin};

use super::Fuzz;
use crate::gamepads::{GamepadInput, GamepadsPlugin};
use crate::script::Pointer;

/// Input of a frame, as the games get it.
type Seen = (Vec<KeyCode>, Vec<MouseButton>, Pointer, GamepadInput);

fn play(seed: u64, frames: usize) -> Vec<Seen> {
    let mut app = App::new();
    app.add_plugins((InputPlugin, GamepadsPlugin::default(), Fuzz(seed)));
    let frame = |_| {
        app.update();
        let world = app.world();
        let mut keys: Vec<KeyCode> = world
            .resource::<ButtonInput<KeyCode>>()
            .get_pressed()
            .copied()
            .collect();
        keys.sort();
        let mut buttons: Vec<MouseButton> = world
            .resource::<ButtonInput<MouseButton>>()
            .get_pressed()
            .copied()
            .collect();
        buttons.sort_by_key(|it| format!("{it:?}"));
        let pointer = *world.resource::<Pointer>();
        (keys, buttons, pointer, *world.resource::<GamepadInput>())
    };
    (0..frames).map(frame).collect()
}

#[test]
fn same_seed_plays_the_same() {
    let first = play(7, 300);
    assert_eq!(first, play(7, 300));
    assert_ne!(first, play(8, 300));
}

#[test]
fn every_kind_of_input_comes() {
    let seen = play(1, 1500);
    assert!(seen.iter().any(|it| it.0.len() > 3), "keys");
    assert!(seen.iter().any(|it| !it.1.is_empty()), "mouse buttons");
    assert!(seen.iter().any(|it| it.2.0.is_some()), "pointer");
    assert!(
        seen.iter().any(|it| it.3.direction.length() > 0.5),
        "left stick"
    );
    assert!(seen.iter().any(|it| it.3.triggers[0] > 0.5), "triggers");
}
