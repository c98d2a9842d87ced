//! Pictures of 2D scenes on a device. `cargo test -p quadrille_2d --test gpu -- --ignored`;
//! without a device these tests fail.

mod common;

use bevy_ecs::prelude::*;
use bevy_math::Vec2;
use common::{Rig, temporary, write_png};
use quadrille_2d::prelude::*;

#[test]
#[ignore = "needs a device"]
fn a_coloured_sprite_covers_the_clear_colour() {
    let mut rig = Rig::scene(64, 48, |mut commands: Commands| {
        commands.insert_resource(ClearColor(Color::srgb_u8(10, 20, 30)));
        commands.spawn(Camera2d);
        commands.spawn((
            Sprite::from_color(Color::srgb_u8(200, 100, 50), Vec2::new(20.0, 10.0)),
            Transform::from_xyz(10.0, 5.0, 0.0),
        ));
        commands.spawn((Text2d::new("Text"), Transform::from_xyz(-10.0, 5.0, 0.0)));
    });
    rig.update(3);
    let picture = rig.picture();
    write_png(&temporary("sprite.png"), &picture);
    assert_eq!(picture.at(5, 45), [10, 20, 30, 255]);
    assert_eq!(picture.at(32, 14), [200, 100, 50, 255]);
    assert_eq!(picture.at(51, 23), [200, 100, 50, 255]);
    assert_eq!(picture.at(52, 23), [10, 20, 30, 255]);
}
