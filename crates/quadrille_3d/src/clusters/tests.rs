use bytemuck::Zeroable;

use super::*;

#[test]
fn neighbours_on_the_curve_are_close() {
    let cells = |at: [f32; 3]| place_on_curve(at);
    // The eight cells of a cube of four units follow each other.
    let corner = cells([4.0, 8.0, -12.0]);
    assert_eq!(cells([6.1, 8.0, -12.0]), corner + 1);
    assert_eq!(cells([4.0, 10.5, -12.0]), corner + 2);
    assert_eq!(cells([4.0, 8.0, -9.5]), corner + 4);
    assert_eq!(cells([5.9, 9.9, -10.1]), corner);
    // What is too far away for a cell has the last one.
    assert_eq!(cells([1e30; 3]), cells([1e20; 3]));
    assert_eq!(cells([f32::NAN; 3]), cells([f32::NAN; 3]));
}

#[test]
fn bits_of_views_do_not_overlap() {
    let mut first = 0;
    let mut rows = [0, 1, 32, 33, 100_000].map(|lights| ViewRow {
        light_count: lights + 2,
        directional_count: 2,
        ..ViewRow::zeroed()
    });
    for row in &mut rows {
        place(row, &mut first);
    }
    let words = rows.map(|row| [row.mask_words, row.mask_blocks]);
    assert_eq!(words, [[0, 0], [1, 1], [1, 1], [2, 1], [3125, 98]]);
    let firsts = rows.map(|row| row.first_mask / SLABS);
    assert_eq!(firsts, [0, 0, 2, 4, 7]);
    assert_eq!(first / SLABS, 7 + 3125 + 98);
}
