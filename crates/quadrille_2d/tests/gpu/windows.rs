//! Cameras of several windows.

use crate::common::{Picture, Rig};
use bevy_ecs::prelude::*;
use bevy_math::Vec2;
use bevy_window::{Window, WindowRef};
use quadrille::prelude::{Readback, WindowImage};
use quadrille_2d::prelude::*;

/// A window in addition to the primary one.
#[derive(Component)]
struct Second;

const CLEAR: [Color; 2] = [Color::BLACK, Color::srgb(0.0, 0.0, 1.0)];

/// A square in each of two windows, at different positions.
fn setup(mut commands: Commands) {
    let mut window = Window::default();
    window.resolution.set_physical_resolution(40, 24);
    let window = commands.spawn((window, Second)).id();
    let camera = |clear| Camera {
        clear_color: ClearColorConfig::Custom(clear),
        ..Camera::default()
    };
    commands.spawn((Camera2d, camera(CLEAR[0])));
    let target = RenderTarget::Window(WindowRef::Entity(window));
    let layers = RenderLayers::layer(1);
    commands.spawn((Camera2d, camera(CLEAR[1]), target, layers.clone()));
    let square = || Sprite::from_color(Color::WHITE, Vec2::splat(8.0));
    commands.spawn((square(), Transform::from_xyz(-12.0, 0.0, 0.0)));
    commands.spawn((square(), Transform::from_xyz(12.0, 4.0, 0.0), layers));
}

fn second(rig: &mut Rig) -> Picture {
    let world = rig.app.world_mut();
    let mut windows = world.query_filtered::<&WindowImage, With<Second>>();
    let image = windows.single(world).expect("it has an image").clone();
    rig.read(Readback::image(&image))
}

#[test]
#[ignore = "needs a device"]
fn each_window_shows_its_camera() {
    const WHITE: [u8; 4] = [255; 4];
    let mut rig = Rig::scene(64, 32, setup);
    rig.update(2);
    let picture = rig.picture();
    assert_eq!((picture.width, picture.height), (64, 32));
    assert_eq!(picture.at(20, 16), WHITE);
    assert_eq!(picture.at(44, 12), [0, 0, 0, 255]);
    let picture = second(&mut rig);
    assert_eq!((picture.width, picture.height), (40, 24));
    assert_eq!(picture.at(32, 8), WHITE);
    assert_eq!(picture.at(8, 12), [0, 0, 255, 255]);
}

#[test]
#[ignore = "needs a device"]
fn closed_or_resized_window_affects_only_its_camera() {
    let mut rig = Rig::scene(64, 32, setup);
    rig.update(2);
    let world = rig.app.world_mut();
    let mut windows = world.query_filtered::<(Entity, &mut Window), With<Second>>();
    let (entity, mut window) = windows.single_mut(world).expect("one");
    window.resolution.set_physical_resolution(60, 24);
    rig.update(2);
    let picture = second(&mut rig);
    assert_eq!((picture.width, picture.height), (60, 24));
    assert_eq!(picture.at(42, 8), [255; 4]);
    rig.app.world_mut().despawn(entity);
    rig.update(2);
    assert_eq!(rig.picture().at(20, 16), [255; 4]);
}
