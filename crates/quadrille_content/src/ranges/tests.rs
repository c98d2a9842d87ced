use super::*;

#[test]
fn ranges_that_are_given_back_are_taken_again() {
    let mut ranges = Ranges::default();
    let [a, b, c, d] = [3, 5, 2, 4].map(|count| ranges.take(count));
    assert_eq!([&a, &b, &c, &d], [&(0..3), &(3..8), &(8..10), &(10..14)]);
    ranges.give(b);
    assert_eq!(ranges.take(4), 3..7, "the part of a free range");
    assert_eq!(ranges.take(2), 14..16, "the rest is too short");
    ranges.give(c);
    assert_eq!(ranges.take(3), 7..10, "neighbours join");
    assert_eq!(ranges.end(), 16);
}

#[test]
fn smallest_free_range_that_fits_is_taken() {
    let mut ranges = Ranges::default();
    let taken = [4, 1, 2, 1, 2, 1].map(|count| ranges.take(count));
    for at in [0, 2, 4] {
        ranges.give(taken[at].clone());
    }
    assert_eq!([ranges.take(2), ranges.take(2)], [5..7, 8..10]);
    assert_eq!(ranges.take(0), 0..0);
    assert_eq!((ranges.take(4), ranges.longest_free()), (0..4, 0));
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
    assert_eq!((ranges.end(), ranges.by_length.len()), (0, 0));
}

#[test]
fn ranges_do_not_overlap_whatever_comes_and_goes() {
    let mut state = 7u32;
    let mut below = |count: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % count
    };
    let mut ranges = Ranges::default();
    let mut taken: Vec<Range<u32>> = Vec::new();
    for _ in 0..3000 {
        if taken.is_empty() || below(5) < 3 {
            taken.push(ranges.take(1 + below(40)));
        } else {
            let at = below(taken.len() as u32) as usize;
            ranges.give(taken.swap_remove(at));
        }
        let used: u32 = taken.iter().map(|range| range.end - range.start).sum();
        let free: u32 = ranges.free.iter().map(|(start, end)| end - start).sum();
        assert_eq!(used + free, ranges.end());
    }
    taken.sort_by_key(|range| range.start);
    assert!(taken.windows(2).all(|pair| pair[0].end <= pair[1].start));
}
