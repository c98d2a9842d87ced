use super::*;

#[test]
fn freed_ranges_are_reused() {
    let mut ranges = RangeAllocator::default();
    let [a, b, c, d] = [3, 5, 2, 4].map(|count| ranges.allocate(count));
    assert_eq!([&a, &b, &c, &d], [&(0..3), &(3..8), &(8..10), &(10..14)]);
    ranges.free(b);
    assert_eq!(ranges.allocate(4), 3..7, "the part of a free range");
    assert_eq!(ranges.allocate(2), 14..16, "the rest is too short");
    ranges.free(c);
    assert_eq!(ranges.allocate(3), 7..10, "neighbours join");
    assert_eq!(ranges.end(), 16);
}

#[test]
fn best_fit_range_is_allocated() {
    let mut ranges = RangeAllocator::default();
    let taken = [4, 1, 2, 1, 2, 1].map(|count| ranges.allocate(count));
    for at in [0, 2, 4] {
        ranges.free(taken[at].clone());
    }
    assert_eq!([ranges.allocate(2), ranges.allocate(2)], [5..7, 8..10]);
    assert_eq!(ranges.allocate(0), 0..0);
    assert_eq!((ranges.allocate(4), ranges.largest_free()), (0..4, 0));
}

#[test]
fn freeing_last_ranges_shrinks_end() {
    let mut ranges = RangeAllocator::default();
    let [a, b, c] = [1, 2, 3].map(|count| ranges.allocate(count));
    ranges.free(a);
    ranges.free(c);
    assert_eq!(ranges.end(), 3);
    ranges.free(b);
    assert_eq!((ranges.end(), ranges.free_ranges.len()), (0, 0));
    ranges.free(5..5);
    assert_eq!((ranges.end(), ranges.by_length.len()), (0, 0));
}

#[test]
fn random_ranges_never_overlap() {
    let mut state = 7u32;
    let mut below = |count: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % count
    };
    let mut ranges = RangeAllocator::default();
    let mut taken: Vec<Range<u32>> = Vec::new();
    for _ in 0..3000 {
        if taken.is_empty() || below(5) < 3 {
            taken.push(ranges.allocate(1 + below(40)));
        } else {
            let at = below(taken.len() as u32) as usize;
            ranges.free(taken.swap_remove(at));
        }
        let used: u32 = taken.iter().map(|range| range.end - range.start).sum();
        let free: u32 = ranges
            .free_ranges
            .iter()
            .map(|(start, end)| end - start)
            .sum();
        assert_eq!(used + free, ranges.end());
    }
    taken.sort_by_key(|range| range.start);
    assert!(taken.windows(2).all(|pair| pair[0].end <= pair[1].start));
}
