//! Tests of the choice.

use bevy_math::IVec2;

use super::Choice;

#[test]
fn moves_wrap_within_rows_and_columns() {
    let moved = |from, x, y, count| Choice(from).moved(IVec2::new(x, y), count).0;
    assert_eq!(moved(0, 1, 0, 6), 1);
    assert_eq!(moved(2, 1, 0, 6), 0);
    assert_eq!(moved(3, -1, 0, 6), 5);
    assert_eq!(moved(1, 0, 1, 6), 4);
    assert_eq!(moved(4, 0, 1, 6), 1);
}

#[test]
fn last_row_may_be_shorter() {
    let moved = |from, x, y, count| Choice(from).moved(IVec2::new(x, y), count).0;
    assert_eq!(moved(2, 0, 1, 5), 4);
    assert_eq!(moved(4, 1, 0, 5), 3);
    assert_eq!(moved(0, 0, -1, 4), 3);
    assert_eq!(moved(0, 0, 1, 1), 0);
}
