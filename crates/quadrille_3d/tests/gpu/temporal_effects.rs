//! Scenes and ends of histories for tests of temporal effects.

use bevy_app::Update;
use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use quadrille_3d::CameraCut;
use quadrille_3d::prelude::*;

use crate::camera_effects::pixel_camera;
use crate::common::Rig;
use crate::fxaa::SIDE;
use crate::prepass::spawn;

/// An unlit material of this linear value.
pub(crate) fn gray(value: f32) -> StandardMaterial {
    StandardMaterial {
        unlit: true,
        ..StandardMaterial::from(Color::linear_rgb(value, value, value))
    }
}

/// Whether each update cuts or resets.
#[derive(Resource, Clone, Copy, PartialEq)]
pub(crate) enum Ends {
    None,
    Cut,
    Reset,
}

/// Adds [`Ends`] and the system that follows it. `reset` is the effect's own way.
pub(crate) fn add_ends<E: Component<Mutability = Mutable>>(rig: &mut Rig, reset: fn(&mut E)) {
    let end =
        move |ends: Res<Ends>, mut cuts: Query<&mut CameraCut>, mut effects: Query<&mut E>| {
            match *ends {
                Ends::None => {}
                Ends::Cut => cuts.iter_mut().for_each(|mut cut| cut.cut()),
                Ends::Reset => effects.iter_mut().for_each(|mut it| reset(&mut it)),
            }
        };
    rig.app.insert_resource(Ends::None).add_systems(Update, end);
}

/// Moves entities by pixels per update, and back when they are outside.
#[derive(Component)]
struct Passing(f32);

fn pass_by(mut passing: Query<(&mut Transform, &Passing)>) {
    for (mut place, by) in &mut passing {
        place.translation.x += by.0;
        if place.translation.x > 8.0 {
            place.translation.x -= 16.0;
        }
    }
}

/// Stripes of a wall, and a bright square of this alpha mode that passes, if it has a speed.
pub(crate) fn stripes(speed: Option<f32>, alpha_mode: AlphaMode, effect: impl Bundle) -> Rig {
    let mut rig = Rig::new(SIDE, SIDE);
    rig.app.add_systems(Update, pass_by);
    rig.start();
    let world = rig.app.world_mut();
    for at in 0..16_u8 {
        let x = -16.0 + 2.0 * f32::from(at) + 1.0;
        let value = if at % 2 == 0 { 0.05 } else { 0.2 };
        let place = Transform::from_xyz(x, 0.0, 0.0);
        spawn(world, Rectangle::new(2.0, 40.0), gray(value), place);
    }
    if let Some(speed) = speed {
        let material = StandardMaterial {
            alpha_mode,
            ..gray(0.9)
        };
        let place = Transform::from_xyz(0.0, 0.0, 1.0);
        let square = spawn(world, Rectangle::new(6.0, 6.0), material, place);
        world.entity_mut(square).insert(Passing(speed));
    }
    world.spawn((pixel_camera(SIDE), effect));
    rig
}
