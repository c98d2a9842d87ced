use bevy_math::Vec3;

use super::{CEILING, Chase, Controls, Flight, RADIUS, TOP_SPEED};
use crate::city::City;

fn fly(flight: &mut Flight, controls: Controls, city: &City, steps: u32) -> f32 {
    (0..steps)
        .map(|_| flight.step(controls, city))
        .fold(0.0, f32::max)
}

#[test]
fn throttle_approaches_top_speed_along_heading() {
    let city = City::new(1, 8);
    let mut flight = Flight::at(Vec3::new(0.0, 170.0, 100.0), 0.0);
    let controls = Controls {
        throttle: 1.0,
        ..Controls::default()
    };
    assert_eq!(fly(&mut flight, controls, &city, 240), 0.0);
    assert!(flight.velocity.z < -0.98 * TOP_SPEED, "{}", flight.velocity);
    assert!(flight.velocity.x.abs() < 1e-3);
}

#[test]
fn walls_stop_the_courier() {
    let city = City::new(1, 8);
    let solid = city.solids[0];
    let start = Vec3::new(solid.min.x - 6.0, 4.0, solid.center().z);
    // Heading along +x.
    let mut flight = Flight::at(start, -std::f32::consts::FRAC_PI_2);
    let controls = Controls {
        throttle: 1.0,
        ..Controls::default()
    };
    let impact = fly(&mut flight, controls, &city, 120);
    assert!(impact > 3.0, "{impact}");
    assert!(flight.position.x <= solid.min.x - RADIUS + 1e-3);
}

#[test]
fn ceiling_and_edge_hold() {
    let city = City::new(1, 8);
    let mut flight = Flight::at(Vec3::new(0.0, 100.0, 0.0), 0.0);
    let controls = Controls {
        throttle: 1.0,
        lift: 1.0,
        ..Controls::default()
    };
    fly(&mut flight, controls, &city, 1200);
    assert_eq!(flight.position.y, CEILING);
    assert!(flight.position.z >= -city.side() / 2.0 - 20.0);
}

#[test]
fn camera_stays_behind_and_out_of_walls() {
    let city = City::new(1, 8);
    let flight = Flight::at(Vec3::new(0.0, 20.0, 0.0), 0.0);
    let chase = Chase::behind(&flight);
    assert!(chase.eye.z > 5.0 && chase.eye.y > 20.0, "{chase:?}");
    let solid = city.solids[0];
    // A wall right behind.
    let near = Vec3::new(solid.max.x + RADIUS, 4.0, solid.center().z);
    let flight = Flight::at(near, -std::f32::consts::FRAC_PI_2);
    let mut chase = Chase::behind(&flight);
    (0..120).for_each(|_| chase.step(&flight, &city));
    assert!(chase.eye.x > solid.max.x, "{chase:?}");
}
