use super::Demand;
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

#[test]
fn memory_for_uploads_follows_what_frames_upload() {
    let mut demand = Demand::default();
    let mut looks = Vec::new();
    for frame in 0..4 * Demand::FRAMES {
        let bytes = if frame == 10 { 1 << 30 } else { 1 << 10 };
        looks.extend(demand.count(bytes));
    }
    assert_eq!(looks, [1 << 30, 1 << 30, 1 << 10, 1 << 10]);
}
