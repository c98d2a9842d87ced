use bevy_math::Vec3;

use super::{Deliveries, LEVELS, Phase};

fn sites() -> Vec<Vec3> {
    (0..40)
        .map(|index| Vec3::new((index % 8) as f32 * 90.0, 3.0, (index / 8) as f32 * 90.0))
        .collect()
}

fn begun() -> Deliveries {
    let mut rules = Deliveries::new(1);
    rules.begin(Vec3::ZERO, &sites());
    rules
}

#[test]
fn time_runs_out() {
    let mut rules = begun();
    let mut steps = 0;
    while rules.phase == Phase::Play && steps < 100_000 {
        rules.step(Vec3::new(0.0, -900.0, 0.0), 0.0, &sites());
        steps += 1;
    }
    assert_eq!((rules.phase, rules.time), (Phase::Lost, 0.0));
    assert!(steps > 60 * 25);
}

#[test]
fn quick_parcels_raise_the_combo() {
    let mut rules = begun();
    for _ in 0..2 {
        rules.step(rules.target, 0.0, &sites());
    }
    assert_eq!((rules.delivered, rules.combo), (1, 2));
    assert!(rules.score > 100);
    rules.step(Vec3::new(0.0, -900.0, 0.0), 20.0, &sites());
    assert_eq!(
        (rules.combo, rules.message.as_str()),
        (1, "CRASH  combo lost")
    );
    while !rules.message.is_empty() {
        rules.step(Vec3::new(0.0, -900.0, 0.0), 0.0, &sites());
    }
    rules.step(Vec3::new(0.0, -900.0, 0.0), 20.0, &sites());
    assert_eq!(rules.message, "CRASH");
}

#[test]
fn all_levels_are_won() {
    let mut rules = begun();
    let mut steps = 0;
    while rules.phase == Phase::Play && steps < 1000 {
        rules.step(rules.target, 0.0, &sites());
        steps += 1;
    }
    assert_eq!(rules.phase, Phase::Won);
    assert_eq!(rules.level + 1, LEVELS);
    // A way to each parcel, and one to its receiver.
    assert_eq!(steps, 2 * (3 + 3 + 4 + 4 + 5));
}

#[test]
fn no_site_in_reach_still_has_a_target() {
    let mut rules = Deliveries::new(1);
    rules.begin(Vec3::ZERO, &[]);
    assert_eq!(rules.target, Vec3::new(0.0, 3.0, 60.0));
}

#[test]
fn pause_stops_the_clock() {
    let mut rules = begun();
    rules.phase = Phase::Paused;
    let before = rules.clone();
    rules.step(rules.target, 0.0, &sites());
    assert_eq!(rules, before);
}
