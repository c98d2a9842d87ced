use bevy_math::Vec2;

use super::*;

#[test]
fn menu_stick_steps_when_it_leaves_its_middle() {
    let mut menu = MenuInput::default();
    let mut pad = GamepadInput::default();
    let mut step = |x: f32, y: f32| {
        pad.direction = Vec2::new(x, y);
        menu.update(Pointer::default(), &pad).0
    };
    assert_eq!(step(0.4, 0.0), IVec2::ZERO);
    assert_eq!(step(0.6, 0.0), IVec2::X);
    assert_eq!(step(0.9, 0.0), IVec2::ZERO, "it is held");
    assert_eq!(step(0.9, -0.7), IVec2::Y, "down");
    assert_eq!(step(0.0, 0.0), IVec2::ZERO);
    assert_eq!(step(-0.6, 0.7), IVec2::new(-1, -1));
}

#[test]
fn menu_pointer_moves_when_its_position_changes() {
    let mut menu = MenuInput::default();
    let mut has_moved = |at| menu.update(Pointer(at), &GamepadInput::default()).1;
    assert!(!has_moved(None));
    assert!(has_moved(Some([0.5, 0.25])));
    assert!(!has_moved(Some([0.5, 0.25])));
    assert!(has_moved(None), "it leaves the window");
}
