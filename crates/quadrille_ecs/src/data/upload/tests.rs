use super::writes::left_of;
use std::ops::Range;

#[test]
fn what_is_left_of_a_range() {
    let left = |range, without: Range<u64>| {
        let parts = left_of(range, &without).map(|part| (part.start, part.end));
        parts.collect::<Vec<_>>()
    };
    assert_eq!(left(0..10, 0..10), []);
    assert_eq!(left(0..10, 3..5), [(0, 3), (5, 10)]);
    assert_eq!(left(2..6, 0..4), [(4, 6)]);
    assert_eq!(left(2..6, 4..9), [(2, 4)]);
    assert_eq!(left(2..6, 0..9), []);
}
