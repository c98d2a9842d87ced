use bevy_math::Vec3;

use super::lamps_near;
use crate::city::City;

#[test]
fn nearest_lamps_come_first() {
    let city = City::new(1, 8);
    let near = lamps_near(Vec3::new(10.0, 5.0, 10.0), city.side() / 2.0, 8);
    assert_eq!(near.len(), 8);
    let distance = |lamp: &Vec3| lamp.distance(Vec3::new(10.0, 5.0, 10.0));
    assert!(near.is_sorted_by(|a, b| distance(a) <= distance(b)));
    assert!(distance(&near[0]) < 16.0);
}

#[test]
fn lamps_stand_outside_of_buildings() {
    let city = City::new(1, 8);
    for lamp in lamps_near(Vec3::ZERO, city.side() / 2.0, 80) {
        assert_eq!(city.push_out(lamp, 0.8).0, lamp);
    }
}

#[test]
fn far_outside_there_are_none() {
    assert!(lamps_near(Vec3::X * 9000.0, 256.0, 4).is_empty());
}
