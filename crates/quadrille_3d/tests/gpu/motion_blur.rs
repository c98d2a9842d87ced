//! Motion blur against the length of the motion while the shutter is open.

use bevy_app::Update;
use bevy_ecs::prelude::*;
use quadrille_3d::MotionBlur;
use quadrille_3d::prelude::*;

use crate::camera_effects::pixel_camera;
use crate::common::Rig;
use crate::prepass::spawn;
use crate::temporal_effects::gray;

const SIDE: u32 = 64;

/// Moves entities by this many pixels to the right, and back in the next update.
#[derive(Component)]
struct Swinging(f32);

fn swing(mut swinging: Query<(&mut Transform, &mut Swinging)>) {
    for (mut place, mut by) in &mut swinging {
        place.translation.x += by.0;
        by.0 = -by.0;
    }
}

/// A wall that is dark on the left and bright on the right, under a camera that swings.
fn edge(by: f32, effects: impl Bundle) -> Rig {
    let mut rig = Rig::new(SIDE, SIDE);
    rig.app.add_systems(Update, swing);
    rig.start();
    let world = rig.app.world_mut();
    for (x, value) in [(-100.0, 0.25), (100.0, 0.75)] {
        let place = Transform::from_xyz(x, 0.0, 0.0);
        spawn(world, Rectangle::new(200.0, 200.0), gray(value), place);
    }
    let camera = world.spawn((pixel_camera(SIDE), Swinging(by))).id();
    world.entity_mut(camera).insert(effects);
    rig
}

/// Mean over all rows of the first channel of each column.
fn columns(rig: &mut Rig) -> Vec<f32> {
    let rows = rig.exact_rows();
    let mean = |x: usize| rows.iter().map(|row| row[x][0]).sum::<f32>() / SIDE as f32;
    (0..SIDE as usize).map(mean).collect()
}

/// Width in pixels of the box filter whose variance the edge has.
fn width(columns: &[f32]) -> f32 {
    let steps: Vec<_> = columns.windows(2).map(|two| two[1] - two[0]).collect();
    let sum: f32 = steps.iter().sum();
    let moment = |power: i32| {
        let all = steps.iter().enumerate();
        let all = all.map(|(at, step)| step / sum * (at as f32).powi(power));
        all.sum::<f32>()
    };
    let variance = moment(2) - moment(1).powi(2);
    (12.0 * variance.max(0.0)).sqrt()
}

#[test]
#[ignore = "needs a device"]
fn blur_is_as_long_as_motion_while_shutter_is_open() {
    for msaa in [Msaa::Off, Msaa::Sample4] {
        for (shutter_angle, by) in [
            (0.5, 8.0),
            (1.0, 8.0),
            (0.5, 20.0),
            (1.0, 20.0),
            (0.25, 16.0),
        ] {
            let blur = MotionBlur {
                shutter_angle,
                samples: 16,
            };
            let mut rig = edge(by, (blur, msaa));
            let columns = columns(&mut rig);
            let (found, expected) = (width(&columns), shutter_angle * by);
            println!(
                "{msaa:?}, shutter {shutter_angle}, {by} pixels: {found}, expected {expected}"
            );
            assert!(
                (found - expected).abs() < 0.1 * expected + 0.2,
                "{found}, not {expected}: {columns:?}"
            );
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn what_rests_is_sharp() {
    let sharp = edge(0.0, ()).exact_rows();
    let blur = MotionBlur {
        shutter_angle: 1.0,
        samples: 8,
    };
    assert!(edge(0.0, blur.clone()).exact_rows() == sharp);
    // Neither are disabled effects drawn.
    for disabled in [
        MotionBlur { samples: 0, ..blur },
        MotionBlur {
            shutter_angle: 0.0,
            ..blur
        },
        MotionBlur {
            shutter_angle: f32::NAN,
            ..blur
        },
    ] {
        let mut rig = edge(8.0, disabled);
        assert!(width(&columns(&mut rig)) < 0.1);
    }
}

#[test]
#[ignore = "needs a device"]
fn resting_foreground_stays_sharp_before_moving_background() {
    let blur = MotionBlur {
        shutter_angle: 1.0,
        samples: 16,
    };
    let rows = [true, false].map(|has_blur| {
        let mut rig = Rig::new(SIDE, SIDE);
        rig.app.add_systems(Update, swing);
        rig.start();
        let world = rig.app.world_mut();
        let wall = spawn(
            world,
            Rectangle::new(200.0, 200.0),
            gray(0.25),
            Transform::default(),
        );
        world.entity_mut(wall).insert(Swinging(12.0));
        // Nearer by half of the distance of the eye.
        let place = Transform::from_xyz(0.0, 0.0, 2.5);
        spawn(world, Rectangle::new(20.0, 20.0), gray(0.75), place);
        let camera = world.spawn(pixel_camera(SIDE)).id();
        if has_blur {
            world.entity_mut(camera).insert(blur.clone());
        }
        rig.exact_rows()
    });
    let [blurred, sharp] = &rows;
    for (blurred, sharp) in blurred.iter().flatten().zip(sharp.iter().flatten()) {
        // Pixels of the wall within a pixel of the square may have a part of it.
        let limit = if sharp[0] > 0.5 { 1e-3 } else { 0.06 };
        assert!(
            (blurred[0] - sharp[0]).abs() < limit,
            "{}, not {}",
            blurred[0],
            sharp[0]
        );
    }
}
