use super::{BLOCK, Outcome, Outcomes};

#[test]
fn each_slot_has_its_own() {
    let mut outcomes = Outcomes::default();
    let cells: Vec<_> = (0..3 * BLOCK + 1).map(|_| outcomes.add()).collect();
    let mut outcome = Outcome::NONE;
    for cell in &cells {
        outcome = outcome.after();
        cell.set(outcome);
    }
    let mut expected = Outcome::NONE;
    for slot in 0..cells.len() as u32 {
        expected = expected.after();
        assert_eq!(outcomes.of(slot), expected, "slot {slot}");
    }
    assert_eq!(outcomes.of(10_000), Outcome::NONE, "no such slot");
    outcomes.begin();
    assert!((0..cells.len() as u32).all(|slot| outcomes.of(slot) == Outcome::NONE));
}

#[test]
fn outcomes_of_shapes_are_never_the_special_ones() {
    let special = [Outcome::NONE, Outcome::LOOK];
    for before in [0, 1, 2, u32::MAX - 1, u32::MAX] {
        assert!(
            !special.contains(&Outcome(before).after()),
            "after {before}"
        );
    }
}
