use super::*;

#[test]
fn ranges_that_are_given_back_are_taken_again() {
    let mut ranges = Ranges::default();
    let [a, b, c, d] = [3, 5, 2, 4].map(|count| ranges.take(count));
    assert_eq!([&a, &b, &c, &d], [&(0..3), &(3..8), &(8..10), &(10..14)]);
    ranges.give(b);
    assert_eq!(ranges.take(4), 3..7, "the first that fits");
    assert_eq!(ranges.take(2), 14..16, "the one that is left is too short");
    ranges.give(c);
    assert_eq!(ranges.take(3), 7..10, "neighbours join");
    assert_eq!(ranges.end(), 16);
}

#[test]
fn the_end_moves_back_over_all_that_is_free() {
    let mut ranges = Ranges::default();
    let [a, b, c] = [1, 2, 3].map(|count| ranges.take(count));
    ranges.give(a);
    ranges.give(c);
    assert_eq!(ranges.end(), 3);
    ranges.give(b);
    assert_eq!((ranges.end(), ranges.free.len()), (0, 0));
    ranges.give(5..5);
    assert_eq!((ranges.end(), ranges.free.len()), (0, 0));
}

#[test]
fn rows_are_where_their_range_is() {
    let mut table = RangeTable::<u32>::default();
    let (first, second) = (table.add(2), table.add(3));
    table.change(&first).fill(1);
    table.change(&second).fill(2);
    assert_eq!(table.rows, [1, 1, 2, 2, 2]);
    table.remove(first);
    let again = table.add(1);
    assert_eq!(again, 0..1);
    assert_eq!(table.rows, [0, 1, 2, 2, 2], "new rows are zero");
}
