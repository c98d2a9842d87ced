use bevy_math::Vec3;

use super::{City, PITCH, STREET};

#[test]
fn same_seed_same_city() {
    assert_eq!(City::new(3, 8), City::new(3, 8));
    assert_ne!(City::new(3, 8).solids, City::new(4, 8).solids);
}

#[test]
fn streets_are_free() {
    let city = City::new(7, 12);
    for solid in &city.solids {
        for (low, high) in [(solid.min.x, solid.max.x), (solid.min.z, solid.max.z)] {
            let line = (low / PITCH).floor() * PITCH;
            assert!(low - line >= STREET / 2.0, "{solid:?}");
            assert!(line + PITCH - high >= STREET / 2.0, "{solid:?}");
        }
    }
}

#[test]
fn sites_are_outside_of_solids() {
    let city = City::new(1, 16);
    assert!(city.sites.len() > 20, "{}", city.sites.len());
    for &site in &city.sites {
        let (pushed, _) = city.push_out(site, 1.5);
        assert_eq!(pushed, site);
    }
}

#[test]
fn push_out_leaves_the_nearest_face() {
    let city = City::new(1, 8);
    let solid = city.solids[0];
    let inside = Vec3::new(solid.max.x - 0.1, 3.0, solid.center().z);
    let (pushed, normal) = city.push_out(inside, 1.0);
    assert!((pushed.x - solid.max.x - 1.0).abs() < 1e-3, "{pushed}");
    assert!(normal.x > 0.9, "{normal}");
    let (floor, normal) = city.push_out(Vec3::new(0.0, -5.0, 0.0), 1.0);
    assert_eq!((floor, normal), (Vec3::new(0.0, 1.0, 0.0), Vec3::Y));
}

#[test]
fn free_part_ends_before_walls() {
    let city = City::new(1, 8);
    let solid = city.solids[0];
    let outside = Vec3::new(solid.min.x - 8.0, 4.0, solid.center().z);
    let part = city.free_part(outside, outside + Vec3::X * 16.0);
    assert!(part > 0.2 && part < 0.6, "{part}");
    assert_eq!(city.free_part(Vec3::ZERO, Vec3::Y * 20.0), 1.0);
}
