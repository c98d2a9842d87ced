use ash::vk::Format;

use super::{ImageRegion, is_aligned, mip_extent};

#[test]
fn mip_levels_halve_down_to_one() {
    assert_eq!(mip_extent([8, 5, 1], 0), [8, 5, 1]);
    assert_eq!(mip_extent([8, 5, 1], 1), [4, 2, 1]);
    assert_eq!(mip_extent([8, 5, 1], 3), [1, 1, 1]);
    assert_eq!(mip_extent([8, 5, 1], 99), [1, 1, 1]);
}

#[test]
fn granularity() {
    let level = [20, 16, 1];
    let check = |offset, extent, granularity| is_aligned(offset, extent, level, granularity);
    assert!(check([3, 5, 0], [1, 1, 1], [1, 1, 1]));
    assert!(check([8, 0, 0], [8, 8, 1], [8, 8, 8]));
    assert!(
        check([16, 8, 0], [4, 8, 1], [8, 8, 8]),
        "it ends with the level"
    );
    assert!(!check([8, 0, 0], [4, 8, 1], [8, 8, 8]));
    assert!(!check([4, 0, 0], [8, 8, 1], [8, 8, 8]));
    assert!(
        check([0, 0, 0], level, [0, 0, 0]),
        "whole levels are always copied"
    );
    assert!(!check([0, 0, 0], [8, 8, 1], [0, 0, 0]));
}

#[test]
fn bytes_of_texels_and_blocks() {
    let region = ImageRegion {
        mip: 0,
        base_layer: 0,
        layer_count: 2,
        offset: [0; 3],
        extent: [9, 5, 1],
    };
    assert_eq!(region.bytes(Format::R8G8B8A8_UNORM), Some(9 * 5 * 4 * 2));
    // Three blocks in a row, two rows.
    assert_eq!(region.bytes(Format::BC1_RGB_UNORM_BLOCK), Some(6 * 8 * 2));
    assert_eq!(region.bytes(Format::ASTC_10X5_UNORM_BLOCK), Some(16 * 2));
    assert_eq!(region.bytes(Format::G8B8G8R8_422_UNORM), None);
}

#[test]
fn parts_that_overlap_and_parts_that_contain_others() {
    let part = |offset, extent| ImageRegion {
        mip: 0,
        base_layer: 1,
        layer_count: 2,
        offset,
        extent,
    };
    let one = part([4, 4, 0], [4, 4, 1]);
    assert!(one.overlaps(&one) && one.contains(&one));
    let inside = part([5, 5, 0], [2, 2, 1]);
    assert!(one.overlaps(&inside) && inside.overlaps(&one));
    assert!(one.contains(&inside) && !inside.contains(&one));
    let beside = part([8, 4, 0], [4, 4, 1]);
    assert!(!one.overlaps(&beside) && !one.contains(&beside));
    let corner = part([7, 7, 0], [4, 4, 1]);
    assert!(one.overlaps(&corner) && !one.contains(&corner));
    let other_layer = ImageRegion {
        base_layer: 3,
        ..one
    };
    let other_level = ImageRegion { mip: 1, ..one };
    assert!(!one.overlaps(&other_layer) && !one.overlaps(&other_level));
    assert!(!one.contains(&other_level));
}
