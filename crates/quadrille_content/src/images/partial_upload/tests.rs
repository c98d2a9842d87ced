use quadrille::prelude::ImageDesc;
use quadrille::vulkan::Format;

use super::{BudgetLeft, Slices, next_first_mip, step_desc};

/// First mip level of each streaming step.
fn steps(side: [u32; 2], levels: u32) -> Vec<u32> {
    let desc = ImageDesc::sampled("bricks", side, Format::R8G8B8A8_SRGB).with_mips(levels);
    let mut steps = vec![next_first_mip(&desc, None)];
    while let Some(&shown @ 1..) = steps.last() {
        steps.push(next_first_mip(&desc, Some(shown)));
    }
    steps
}

#[test]
fn small_mip_levels_upload_first() {
    assert_eq!(steps([128, 128], 8), [0]);
    assert_eq!(steps([129, 1], 8), [1, 0]);
    assert_eq!(steps([4096, 512], 13), [5, 3, 1, 0]);
    assert_eq!(steps([1024, 1024], 11), [3, 1, 0]);
    // Images with two levels and with one.
    assert_eq!(steps([4096, 4096], 2), [1, 0]);
    assert_eq!(steps([4096, 4096], 1), [0]);
}

#[test]
fn upload_step_is_a_separate_image() {
    let desc = ImageDesc::sampled("bricks", [4096, 100], Format::R8G8B8A8_SRGB).with_mips(13);
    let step = step_desc(&desc, 5);
    assert_eq!((step.extent, step.mip_levels), ([128, 3, 1], 8));
    assert_eq!(step_desc(&desc, 0), desc);
}

#[test]
fn mip_levels_split_into_block_rows_and_slices() {
    let rows = Slices::new([100, 70, 1], 1, 4 * 100 * 70);
    assert_eq!((rows.count, rows.length, rows.bytes), (5, 16, 6400));
    assert_eq!(rows.texels([100, 70, 1], 3..5), ([0, 48, 0], [100, 22, 1]));
    // 25 x 18 blocks of 4 x 4 texels and 16 bytes.
    let blocks = Slices::new([100, 70, 1], 4, 16 * 25 * 18);
    assert_eq!((blocks.count, blocks.length, blocks.bytes), (2, 64, 6400));
    assert_eq!(blocks.texels([100, 70, 1], 1..2), ([0, 64, 0], [100, 6, 1]));
    let deep = Slices::new([8, 8, 4], 1, 4 * 8 * 8 * 4);
    assert_eq!((deep.count, deep.length, deep.bytes), (4, 1, 256));
    assert_eq!(deep.texels([8, 8, 4], 1..3), ([0, 0, 1], [8, 8, 2]));
}

#[test]
fn upload_is_bounded_by_the_budget() {
    // Four slices of 6400 bytes, and one of 2400.
    let slices = Slices::new([100, 70, 1], 1, 28_000);
    let end = |start, left, is_first| slices.end(start, 28_000, BudgetLeft { left, is_first });
    assert_eq!(end(0, 28_000, false), 5);
    assert_eq!(end(1, 13_000, false), 3);
    assert_eq!([end(2, 6399, false), end(2, 6399, true)], [2, 3]);
    assert_eq!([end(4, 2400, false), end(4, 2399, false)], [5, 4]);
    assert_eq!(slices.bytes_of(3..5, &(1000..29_000)), 20_200..29_000);
}
