//! Contact shadows: their length, and lights and cameras without them.

use bevy_ecs::prelude::*;
use quadrille_3d::ContactShadows;
use quadrille_3d::prelude::*;

use crate::common::{EXACT, Rig, log};
use crate::prepass::spawn;

const SIDE: u32 = 128;

const EYE: Vec3 = Vec3::new(0.1, 0.6, 0.8);
const CENTER: Vec3 = Vec3::new(0.1, 0.0, 0.0);

/// Half the height of the view in tangents of the angle.
const SLOPE: f32 = 0.3;

/// Height of the box, whose right side is at x = 0.05.
const HEIGHT: f32 = 0.1;

/// A floor with a long box, lit from the left at 45 degrees.
fn rig(effects: impl Bundle, is_enabled: bool, msaa: Msaa) -> Rig {
    let mut rig = Rig::new(SIDE, SIDE);
    rig.start();
    let world = rig.app.world_mut();
    world.insert_resource(GlobalAmbientLight {
        brightness: 0.0,
        ..GlobalAmbientLight::default()
    });
    let material = StandardMaterial {
        perceptual_roughness: 1.0,
        ..StandardMaterial::from(Color::WHITE)
    };
    let floor = Plane3d::default().mesh().size(4.0, 4.0);
    spawn(world, floor, material.clone(), Transform::IDENTITY);
    let middle = Transform::from_xyz(0.0, HEIGHT / 2.0, 0.0);
    spawn(world, Cuboid::new(0.1, HEIGHT, 1.0), material, middle);
    world.spawn((
        DirectionalLight {
            contact_shadows_enabled: is_enabled,
            ..DirectionalLight::default()
        },
        Transform::from_xyz(-1.0, 1.0, 0.0).looking_at(Vec3::ZERO, Vec3::Z),
    ));
    world.spawn((
        Camera3d::default(),
        Projection::from(PerspectiveProjection {
            fov: 2.0 * SLOPE.atan(),
            ..PerspectiveProjection::default()
        }),
        (Tonemapping::None, DebandDither::Disabled, msaa),
        RenderTarget::TextureView(EXACT),
        Transform::from_translation(EYE).looking_at(CENTER, Vec3::Y),
        effects,
    ));
    rig
}

/// Pixel of a point of the floor.
fn pixel(x: f32, z: f32) -> [usize; 2] {
    let view = Transform::from_translation(EYE).looking_at(CENTER, Vec3::Y);
    let at = Vec3::new(x, 0.0, z) - EYE;
    let depth = at.dot(*view.forward()) * SLOPE;
    let half = SIDE as f32 / 2.0;
    let (right, up) = (at.dot(*view.right()) / depth, at.dot(*view.up()) / depth);
    [(1.0 + right) * half, (1.0 - up) * half].map(|it| it as usize)
}

/// Whether points of the floor to the right of the box are in shadow, beside a picture without it.
fn shadowed(rows: &[Vec<[f32; 4]>], plain: &[Vec<[f32; 4]>], x: f32) -> bool {
    let [column, row] = pixel(x, 0.0);
    let (lit, found) = (plain[row][column][1], rows[row][column][1]);
    assert!(lit > 0.0, "the floor is lit");
    found < 0.5 * lit
}

#[test]
#[ignore = "needs a device"]
fn shadows_are_as_long_as_objects_are_high_and_as_rays_reach() {
    let plain = rig((), true, Msaa::Off).exact_rows();
    let contact = |length| {
        let effect = ContactShadows {
            linear_steps: 64,
            length,
            ..ContactShadows::default()
        };
        rig(effect, true, Msaa::Off).exact_rows()
    };
    // At 45 degrees the shadow is as long as the box is high.
    let long = contact(0.3);
    for (x, expected) in [
        (0.07, true),
        (0.1, true),
        (0.135, true),
        (0.165, false),
        (0.25, false),
    ] {
        assert_eq!(shadowed(&long, &plain, x), expected, "{x}");
    }
    // Rays of 5 cm reach the box from 3.5 cm.
    let short = contact(0.05);
    for (x, expected) in [(0.065, true), (0.1, false), (0.135, false)] {
        assert_eq!(shadowed(&short, &plain, x), expected, "{x} with short rays");
    }
    // The floor far from the box does not hide itself.
    for (row, plain) in long.iter().zip(&plain) {
        assert!(row[96..] == plain[96..], "the floor hides itself");
    }
}

#[test]
#[ignore = "needs a device"]
fn only_lights_and_cameras_with_contact_shadows_have_any() {
    let plain = rig(DepthPrepass, false, Msaa::Off).exact_rows();
    let effect = ContactShadows::default();
    assert!(rig(effect, false, Msaa::Off).exact_rows() == plain);
    assert!(rig(DepthPrepass, true, Msaa::Off).exact_rows() == plain);
    log::collect();
    let found = rig(effect, true, Msaa::Sample4).exact_rows();
    let lines = log::take();
    let about = lines.iter().filter(|it| it.contains("contact shadows"));
    assert_eq!(about.count(), 1, "{lines:?}");
    assert!(found == rig(DepthPrepass, true, Msaa::Sample4).exact_rows());
}
