use super::*;
use crate::flags::Aspects;
use crate::range::intervals;

fn image(mip_levels: u32, array_layers: u32) -> ResourceKind {
    ResourceKind::Image {
        aspects: Aspects::DEPTH | Aspects::STENCIL,
        mip_levels,
        array_layers,
        slices: 1,
    }
}

fn part(mips: Range<u32>, layers: Range<u32>) -> SubRange {
    SubRange::Subresources(SubresourceRange {
        aspects: Aspects::DEPTH | Aspects::STENCIL,
        base_mip: mips.start,
        mip_count: mips.end - mips.start,
        base_layer: layers.start,
        layer_count: layers.end - layers.start,
    })
}

/// Gathers the intervals of some ranges, and returns them from last to first.
fn gathered(kind: &ResourceKind, ranges: &[SubRange]) -> Vec<SubRange> {
    let mut all = Vec::new();
    for range in ranges {
        intervals(kind, range, |interval| all.push(interval));
    }
    all.reverse();
    gather(kind, &mut all).to_vec()
}

#[test]
fn one_range_comes_back() {
    let kind = image(4, 3);
    for range in [
        part(1..2, 0..3),
        part(0..4, 1..2),
        part(2..4, 1..3),
        SubRange::Whole,
    ] {
        assert_eq!(gathered(&kind, &[range]), [range]);
    }
}

#[test]
fn neighbours_become_one() {
    let kind = image(4, 3);
    let mips = [part(0..1, 1..3), part(1..2, 1..3), part(2..3, 1..3)];
    assert_eq!(gathered(&kind, &mips), [part(0..3, 1..3)]);
    let layers = [part(1..3, 0..1), part(1..3, 1..2), part(1..3, 2..3)];
    assert_eq!(gathered(&kind, &layers), [part(1..3, 0..3)]);
    let corners = [
        part(0..1, 0..1),
        part(1..2, 0..1),
        part(0..1, 1..2),
        part(1..2, 1..2),
    ];
    assert_eq!(gathered(&kind, &corners), [part(0..2, 0..2)]);
}

#[test]
fn ranges_that_form_no_box_stay_apart() {
    let kind = image(4, 3);
    let apart = [part(0..1, 0..1), part(2..3, 0..1)];
    assert_eq!(gathered(&kind, &apart), apart);
    let corner = gathered(&kind, &[part(0..2, 0..1), part(0..1, 1..2)]);
    assert_eq!(corner.len(), 2, "an L is two boxes: {corner:?}");
}

#[test]
fn all_parts_are_the_whole() {
    let kind = image(2, 2);
    let halves = [part(0..1, 0..2), part(1..2, 0..2)];
    assert_eq!(gathered(&kind, &halves), [SubRange::Whole]);
    assert_eq!(gathered(&kind, &[part(0..2, 0..2)]), [SubRange::Whole]);
}

#[test]
fn bytes_join_where_they_touch() {
    let kind = ResourceKind::Buffer { bytes: 64 };
    let bytes = |offset, size| SubRange::Bytes { offset, size };
    let touching = [bytes(0, 8), bytes(8, 8), bytes(12, 8), bytes(32, 4)];
    assert_eq!(gathered(&kind, &touching), [bytes(0, 20), bytes(32, 4)]);
    assert_eq!(
        gathered(&kind, &[bytes(0, 32), bytes(32, 32)]),
        [SubRange::Whole]
    );
}
