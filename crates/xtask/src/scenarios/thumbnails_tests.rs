//! Tests of the sheets.

use super::{FRAME, shrunk};

#[test]
fn shrunk_picture_has_means() {
    let [width, height] = FRAME.map(|side| 2 * side);
    let pixels: Vec<[u8; 3]> = (0..width * height)
        .map(|at| {
            if at % 2 == 0 {
                [0, 10, 255]
            } else {
                [100, 20, 255]
            }
        })
        .collect();
    let small = shrunk([width, height], &pixels);
    assert_eq!(small.len(), FRAME[0] * FRAME[1]);
    assert!(small.iter().all(|color| *color == [50, 15, 255]));
}

#[test]
fn sizes_need_not_be_multiples() {
    let [width, height] = [FRAME[0] + 31, FRAME[1] * 3 - 5];
    let small = shrunk([width, height], &vec![[7, 8, 9]; width * height]);
    assert!(small.iter().all(|color| *color == [7, 8, 9]));
}
