use bytemuck::Zeroable;

use super::*;

#[test]
fn morton_codes_of_neighbors_are_close() {
    let codes = |at: [f32; 3]| morton_code(at);
    // The eight cells of a cube of four units follow each other.
    let corner = codes([4.0, 8.0, -12.0]);
    assert_eq!(codes([6.1, 8.0, -12.0]), corner + 1);
    assert_eq!(codes([4.0, 10.5, -12.0]), corner + 2);
    assert_eq!(codes([4.0, 8.0, -9.5]), corner + 4);
    assert_eq!(codes([5.9, 9.9, -10.1]), corner);
    // Points beyond the last cell have the code of that.
    assert_eq!(codes([1e30; 3]), codes([1e20; 3]));
    assert_eq!(codes([f32::NAN; 3]), codes([f32::NAN; 3]));
}

#[test]
fn light_masks_of_views_do_not_overlap() {
    let mut first = 0;
    let mut rows = [0, 1, 32, 33, 100_000].map(|lights| ViewRow {
        light_count: lights + 2,
        directional_count: 2,
        ..ViewRow::zeroed()
    });
    for row in &mut rows {
        assign_masks(row, &mut first);
    }
    let words = rows.map(|row| [row.mask_words, row.mask_blocks]);
    assert_eq!(words, [[0, 0], [1, 1], [1, 1], [2, 1], [3125, 98]]);
    let firsts = rows.map(|row| row.first_mask / TOTAL_SLICES);
    assert_eq!(firsts, [0, 0, 2, 4, 7]);
    assert_eq!(first / TOTAL_SLICES, 7 + 3125 + 98);
}
