use super::{EXTENT, diagonal_areas, line_areas, table};

/// Crossing edges in the table.
const NONE: u32 = 0;
const ABOVE: u32 = 1;
const BELOW: u32 = 2;
const BOTH: u32 = 3;

fn expect(found: [f64; 2], expected: [f64; 2]) {
    let is_near = found
        .iter()
        .zip(expected)
        .all(|(a, b)| (a - b).abs() < 1e-12);
    assert!(is_near, "{found:?}, not {expected:?}");
}

/// Sum over all pixels of an edge of a length.
fn sum(crossings: [u32; 2], length: u32) -> [f64; 2] {
    let all = (0..length).map(|before| line_areas(crossings, [before, length - 1 - before]));
    all.fold([0.0; 2], |sum, it| [sum[0] + it[0], sum[1] + it[1]])
}

#[test]
fn edges_of_steps_are_lines_through_their_middle() {
    // A step down of ten pixels: triangles of height 0.5 and length 5 on both sides.
    expect(sum([ABOVE, BELOW], 10), [1.25, 1.25]);
    expect(line_areas([ABOVE, BELOW], [0, 9]), [0.0, 0.45]);
    expect(line_areas([BELOW, ABOVE], [9, 0]), [0.0, 0.45]);
    // The middle pixel of an odd length has a part of both.
    expect(line_areas([ABOVE, BELOW], [1, 1]), [1.0 / 24.0; 2]);
    // One crossing: half of the line.
    expect(sum([ABOVE, NONE], 10), [0.0, 1.25]);
    expect(sum([NONE, BELOW], 9), [1.125, 0.0]);
}

#[test]
fn ends_without_crossings_and_junctions_are_not_blended() {
    for crossings in [[NONE, NONE], [BOTH, NONE], [NONE, BOTH], [BOTH, BOTH]] {
        expect(sum(crossings, 7), [0.0; 2]);
    }
    expect(sum([BOTH, BELOW], 10), sum([ABOVE, BELOW], 10));
    expect(sum([ABOVE, BOTH], 10), sum([ABOVE, BELOW], 10));
}

#[test]
fn bumps_are_two_triangles_and_larger_if_short() {
    expect(sum([ABOVE, ABOVE], 40), [0.0, 10.0]);
    let [below, above] = sum([BELOW, BELOW], 4);
    assert!(below > 1.1 && above == 0.0, "{below}");
}

#[test]
fn diagonals_cover_triangles_of_both_pixels() {
    // The line from corner to corner.
    let through_corners = diagonal_areas([1, 2], [3, 4]);
    expect(through_corners, [0.5, 0.0]);
    let one_above = diagonal_areas([2, 1], [3, 4]);
    expect(one_above, [0.0, 0.5]);
    // The null pattern is the mean of both.
    expect(diagonal_areas([0, 0], [2, 2]), [0.25, 0.25]);
    for crossings in (0..4).flat_map(|first| (0..4).map(move |second| [first, second])) {
        for distances in [[0, 3], [4, 0], [8, 8]] {
            let areas = diagonal_areas(crossings, distances);
            let are_parts = areas.iter().all(|it| (0.0..=1.0).contains(it));
            assert!(are_parts, "{areas:?} of {crossings:?}, {distances:?}");
        }
    }
}

#[test]
fn table_has_areas_by_crossings_and_distances() {
    let texels = table();
    assert_eq!(texels.len(), (EXTENT[0] * EXTENT[1] * 2) as usize);
    let side = crate::constants::SMAA_AREA_SIDE;
    let at = (2 * side * EXTENT[0] + side + 9 * EXTENT[0]) as usize * 2;
    // Above at the start, below at the end, nine pixels after this one.
    assert_eq!(texels[at..at + 2], [0, 115]);
}
