use super::cars;
use crate::city::{City, PITCH};

#[test]
fn cars_stay_on_streets_and_out_of_solids() {
    let city = City::new(2, 10);
    let cars = cars(2, 10);
    assert_eq!(cars.len(), 200);
    for time in [0.0, 12.5, 400.0] {
        for car in &cars {
            let (position, _) = car.pose(time, city.side());
            let (pushed, _) = city.push_out(position, 0.7);
            assert_eq!(pushed, position);
            assert!(position.abs().max_element() <= city.side() / 2.0 + 10.0);
        }
    }
}

#[test]
fn cars_move_by_their_velocity() {
    let side = 10.0 * PITCH;
    for car in cars(1, 10) {
        let moved = car.pose(1.01, side).0 - car.pose(1.0, side).0;
        // Except for a car that leaves one end of its street for the other.
        if moved.length() < 1.0 {
            assert!((moved - car.velocity() * 0.01).length() < 1e-2);
        }
    }
}
