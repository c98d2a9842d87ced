use super::*;
use crate::rounds::rounds;

fn runs(map: &RangeMap<char>) -> Vec<(u64, char)> {
    map.iter()
        .map(|(range, value)| (range.start, *value))
        .collect()
}

fn set(map: &mut RangeMap<char>, range: Range<u64>, value: char) {
    map.update(range, |_, old| *old = value);
}

#[test]
fn a_new_map_is_one_run() {
    assert_eq!(runs(&RangeMap::new('a')), [(0, 'a')]);
}

#[test]
fn an_update_cuts_at_both_ends() {
    let mut map = RangeMap::new('a');
    set(&mut map, 10..20, 'b');
    assert_eq!(runs(&map), [(0, 'a'), (10, 'b'), (20, 'a')]);
}

#[test]
fn an_update_with_the_same_value_leaves_one_run() {
    let mut map = RangeMap::new('a');
    set(&mut map, 10..20, 'a');
    assert_eq!(runs(&map), [(0, 'a')]);
}

#[test]
fn equal_neighbours_are_joined_on_both_sides() {
    let mut map = RangeMap::new('a');
    set(&mut map, 10..20, 'b');
    set(&mut map, 30..40, 'b');
    set(&mut map, 20..30, 'b');
    assert_eq!(runs(&map), [(0, 'a'), (10, 'b'), (40, 'a')]);
}

#[test]
fn an_update_of_everything_after_cuts_gives_one_run() {
    let mut map = RangeMap::new('a');
    set(&mut map, 10..20, 'b');
    set(&mut map, EVERYTHING, 'c');
    assert_eq!(runs(&map), [(0, 'c')]);
}

#[test]
fn an_update_visits_the_runs_in_order_and_within_the_range() {
    let mut map = RangeMap::new('a');
    set(&mut map, 10..20, 'b');
    let mut seen = Vec::new();
    map.update(5..15, |range, value| seen.push((range, *value)));
    assert_eq!(seen, [(5..10, 'a'), (10..15, 'b')]);
    assert_eq!(runs(&map), [(0, 'a'), (10, 'b'), (20, 'a')]);
}

#[test]
fn an_empty_range_changes_nothing() {
    let mut map = RangeMap::new('a');
    set(&mut map, 7..7, 'b');
    assert_eq!(runs(&map), [(0, 'a')]);
}

#[test]
fn the_last_run_ends_at_the_end() {
    let mut map = RangeMap::new('a');
    set(&mut map, 10..u64::MAX, 'b');
    assert_eq!(map.iter().last(), Some((10..u64::MAX, &'b')));
}

#[test]
fn runs_that_are_mapped_to_equal_values_are_joined() {
    let mut map = RangeMap::new('a');
    set(&mut map, 3..5, 'A');
    set(&mut map, 9..12, 'b');
    let map = map.map(char::to_ascii_lowercase);
    assert_eq!(runs(&map), [(0, 'a'), (9, 'b'), (12, 'a')]);
    assert_eq!(runs(&map.map(|_| 'c')), [(0, 'c')]);
}

/// Comparison with an array of one value per position.
#[test]
fn random_updates_agree_with_an_array() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for _ in 0..rounds(200) {
        let mut map = RangeMap::new(0);
        let mut model = [0_u64; 24];
        for _ in 0..30 {
            let start = random(24);
            let end = start + random(25 - start);
            let value = random(3);
            map.update(start..end, |_, old| *old = value);
            model[start as usize..end as usize].fill(value);
            let expanded: Vec<u64> = map
                .iter()
                .flat_map(|(range, value)| (range.start..range.end.min(24)).map(move |_| *value))
                .collect();
            assert_eq!(expanded, model);
            let values: Vec<u64> = map.iter().map(|(_, value)| *value).collect();
            assert!(
                values.windows(2).all(|pair| pair[0] != pair[1]),
                "neighbours differ"
            );
        }
    }
}
