#![expect(
    clippy::single_range_in_vec_init,
    reason = "lists of intervals are what is meant"
)]

use super::*;

const CUBE: ResourceKind = ResourceKind::Image {
    aspects: Aspects::COLOR,
    mip_levels: 3,
    array_layers: 6,
};
const DEPTH: ResourceKind = ResourceKind::Image {
    aspects: Aspects::DEPTH.union(Aspects::STENCIL),
    mip_levels: 2,
    array_layers: 2,
};
const BUFFER: ResourceKind = ResourceKind::Buffer { bytes: 100 };

fn part(aspects: Aspects, mips: Range<u32>, layers: Range<u32>) -> SubresourceRange {
    SubresourceRange {
        aspects,
        base_mip: mips.start,
        mip_count: mips.end - mips.start,
        base_layer: layers.start,
        layer_count: layers.end - layers.start,
    }
}

fn intervals_of(kind: &ResourceKind, range: SubRange) -> Vec<Range<u64>> {
    let mut list = Vec::new();
    intervals(kind, &range, |interval| list.push(interval));
    list
}

fn boxes_of(kind: &ResourceKind, parts: &[Range<u64>]) -> Vec<SubresourceRange> {
    let mut list = Vec::new();
    for interval in parts {
        boxes(kind, interval.clone(), &mut list);
    }
    list
}

#[test]
fn a_range_that_covers_the_resource_is_everything() {
    let all_bytes = SubRange::Bytes {
        offset: 0,
        size: 100,
    };
    let all = SubRange::Subresources(part(Aspects::COLOR, 0..3, 0..6));
    assert_eq!(intervals_of(&BUFFER, SubRange::Whole), [EVERYTHING]);
    assert_eq!(intervals_of(&BUFFER, all_bytes), [EVERYTHING]);
    assert_eq!(intervals_of(&CUBE, SubRange::Whole), [EVERYTHING]);
    assert_eq!(intervals_of(&CUBE, all), [EVERYTHING]);
}

#[test]
fn bytes_are_one_interval() {
    assert_eq!(
        intervals_of(
            &BUFFER,
            SubRange::Bytes {
                offset: 16,
                size: 4
            }
        ),
        [16..20]
    );
}

#[test]
fn what_reaches_the_end_reaches_the_end_of_the_line() {
    let range = SubRange::Bytes {
        offset: 16,
        size: 84,
    };
    assert_eq!(intervals_of(&BUFFER, range), [16..u64::MAX]);
}

#[test]
fn one_mip_of_some_layers_is_an_interval_for_each_layer() {
    let range = SubRange::Subresources(part(Aspects::COLOR, 1..2, 2..4));
    assert_eq!(intervals_of(&CUBE, range), [7..8, 10..11]);
}

#[test]
fn all_mips_of_neighbouring_layers_are_one_interval() {
    let range = SubRange::Subresources(part(Aspects::COLOR, 0..3, 2..4));
    assert_eq!(intervals_of(&CUBE, range), [6..12]);
}

#[test]
fn one_aspect_is_one_interval() {
    let range = SubRange::Subresources(part(Aspects::STENCIL, 0..2, 0..2));
    assert_eq!(intervals_of(&DEPTH, range), [4..u64::MAX]);
    let range = SubRange::Subresources(part(Aspects::DEPTH, 0..2, 0..2));
    assert_eq!(intervals_of(&DEPTH, range), [0..4]);
}

#[test]
fn everything_is_one_box_with_all_aspects() {
    let all = part(Aspects::DEPTH | Aspects::STENCIL, 0..2, 0..2);
    assert_eq!(boxes_of(&DEPTH, &[EVERYTHING]), [all]);
}

#[test]
fn one_mip_of_all_layers_and_aspects_is_one_box() {
    let range = part(Aspects::DEPTH | Aspects::STENCIL, 1..2, 0..2);
    let parts = intervals_of(&DEPTH, SubRange::Subresources(range));
    assert_eq!(boxes_of(&DEPTH, &parts), [range]);
}

#[test]
fn a_ragged_interval_is_a_head_a_body_and_a_tail() {
    let expected = [
        part(Aspects::COLOR, 2..3, 0..1),
        part(Aspects::COLOR, 0..3, 1..3),
        part(Aspects::COLOR, 0..1, 3..4),
    ];
    assert_eq!(boxes_of(&CUBE, &[2..10]), expected);
}

#[test]
fn buffers_have_no_boxes() {
    assert_eq!(boxes_of(&BUFFER, &[EVERYTHING]), []);
}

#[test]
fn ranges_must_fit() {
    let fits = |range: SubRange, kind: &ResourceKind| range.fits(kind);
    assert!(fits(SubRange::Whole, &BUFFER));
    assert!(fits(
        SubRange::Bytes {
            offset: 96,
            size: 4
        },
        &BUFFER
    ));
    assert!(!fits(
        SubRange::Bytes {
            offset: 97,
            size: 4
        },
        &BUFFER
    ));
    assert!(!fits(SubRange::Bytes { offset: 0, size: 0 }, &BUFFER));
    assert!(!fits(
        SubRange::Bytes {
            offset: u64::MAX,
            size: 2
        },
        &BUFFER
    ));
    assert!(!fits(SubRange::Bytes { offset: 0, size: 1 }, &CUBE));
    assert!(fits(
        SubRange::Subresources(part(Aspects::COLOR, 2..3, 5..6)),
        &CUBE
    ));
    assert!(!fits(
        SubRange::Subresources(part(Aspects::COLOR, 2..4, 5..6)),
        &CUBE
    ));
    assert!(!fits(
        SubRange::Subresources(part(Aspects::COLOR, 0..1, 5..7)),
        &CUBE
    ));
    assert!(!fits(
        SubRange::Subresources(part(Aspects::DEPTH, 0..1, 0..1)),
        &CUBE
    ));
    assert!(!fits(
        SubRange::Subresources(part(Aspects::empty(), 0..1, 0..1)),
        &CUBE
    ));
    assert!(!fits(
        SubRange::Subresources(part(Aspects::COLOR, 1..1, 0..1)),
        &CUBE
    ));
    assert!(!fits(
        SubRange::Subresources(part(Aspects::COLOR, 0..1, 0..1)),
        &BUFFER
    ));
}

#[test]
fn overlap_needs_all_dimensions() {
    let range = |aspects, mips, layers| SubRange::Subresources(part(aspects, mips, layers));
    let base = range(Aspects::COLOR, 0..2, 0..2);
    assert!(base.overlaps(&SubRange::Whole));
    assert!(base.overlaps(&range(Aspects::COLOR, 1..3, 1..3)));
    assert!(!base.overlaps(&range(Aspects::COLOR, 2..3, 1..3)));
    assert!(!base.overlaps(&range(Aspects::COLOR, 1..3, 2..3)));
    assert!(!base.overlaps(&range(Aspects::DEPTH, 0..2, 0..2)));
    let bytes = |offset, size| SubRange::Bytes { offset, size };
    assert!(bytes(0, 4).overlaps(&bytes(3, 4)));
    assert!(!bytes(0, 4).overlaps(&bytes(4, 4)));
    assert!(bytes(0, u64::MAX).overlaps(&bytes(u64::MAX - 1, 4)));
}

/// Every box of a small image: to intervals and back gives the same box.
#[test]
fn boxes_survive_the_way_to_intervals_and_back() {
    for base_mip in 0..2 {
        for mips in base_mip + 1..=2 {
            for base_layer in 0..2 {
                for layers in base_layer + 1..=2 {
                    for aspects in [
                        Aspects::DEPTH,
                        Aspects::STENCIL,
                        Aspects::DEPTH | Aspects::STENCIL,
                    ] {
                        let range = part(aspects, base_mip..mips, base_layer..layers);
                        let parts = intervals_of(&DEPTH, SubRange::Subresources(range));
                        assert_eq!(boxes_of(&DEPTH, &parts), [range]);
                    }
                }
            }
        }
    }
}
