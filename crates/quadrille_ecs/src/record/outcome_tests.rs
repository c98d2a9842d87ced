use super::Outcome;

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
