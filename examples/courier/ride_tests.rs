use super::Ride;
use crate::city::City;
use crate::flight::STEP;

#[test]
fn ride_stays_in_the_streets_and_never_leaps() {
    for blocks in [4, 6, 28] {
        let city = City::new(3, blocks);
        let ride = Ride::new(3, &city);
        let mut last = ride.pose(0.0);
        for step in 1..20_000 {
            let pose = ride.pose(step as f32 * STEP);
            for (now, before) in pose.iter().zip(last) {
                assert!(now.distance(before) < 0.6, "step {step}: {now} {before}");
            }
            assert!(
                pose[0].distance(pose[1]) > 4.0,
                "step {step}: it looks ahead"
            );
            let (free, _) = city.push_out(pose[0], 0.5);
            assert_eq!(free, pose[0], "step {step}: the eye is inside a building");
            last = pose;
        }
    }
}

#[test]
fn same_seed_rides_the_same() {
    let city = City::new(1, 8);
    assert_eq!(Ride::new(5, &city), Ride::new(5, &city));
    assert_ne!(Ride::new(5, &city), Ride::new(6, &city));
}
