#![expect(
    clippy::single_range_in_vec_init,
    reason = "lists of intervals are what is meant"
)]

use super::*;
use crate::resource::Resource;

const CUBE: ResourceKind = ResourceKind::Image {
    aspects: Aspects::COLOR,
    mip_levels: 3,
    array_layers: 6,
    slices: 1,
};
const DEPTH: ResourceKind = ResourceKind::Image {
    aspects: Aspects::DEPTH.union(Aspects::STENCIL),
    mip_levels: 2,
    array_layers: 2,
    slices: 1,
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
fn range_to_the_end_is_unbounded() {
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

/// For every range of a small image: conversion to intervals and back gives the same range.
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

/// A 3D image of 5, 2 and 1 slices.
const VOLUME: ResourceKind = ResourceKind::Image {
    aspects: Aspects::COLOR,
    mip_levels: 3,
    array_layers: 1,
    slices: 5,
};

fn slices(mip: u32, slices: Range<u32>) -> SubRange {
    SubRange::Slices(Slices {
        aspects: Aspects::COLOR,
        mip,
        base: slices.start,
        count: slices.end - slices.start,
    })
}

#[test]
fn slices_are_neighbours_within_their_level() {
    assert_eq!(VOLUME.length(), 15);
    assert_eq!([0, 1, 2, 40].map(|mip| VOLUME.slices_of(mip)), [5, 2, 1, 1]);
    let level = SubRange::Subresources(part(Aspects::COLOR, 1..2, 0..1));
    assert_eq!(intervals_of(&VOLUME, level), [5..10]);
    assert_eq!(intervals_of(&VOLUME, slices(0, 1..3)), [1..3]);
    assert_eq!(intervals_of(&VOLUME, slices(1, 0..1)), [5..6]);
    // Every level has as many positions as the first one, and the last level has no end.
    assert_eq!(intervals_of(&VOLUME, slices(1, 1..2)), [6..10]);
    assert_eq!(intervals_of(&VOLUME, slices(1, 0..2)), [5..10]);
    assert_eq!(intervals_of(&VOLUME, slices(2, 0..1)), [10..EVERYTHING.end]);
}

#[test]
fn barriers_know_whole_levels_alone() {
    let first = part(Aspects::COLOR, 0..1, 0..1);
    let last_two = part(Aspects::COLOR, 1..3, 0..1);
    assert_eq!(boxes_of(&VOLUME, &[1..2]), [first]);
    assert_eq!(boxes_of(&VOLUME, &[6..EVERYTHING.end]), [last_two]);
    assert_eq!(whole_levels(&VOLUME, &(6..7)), 5..10);
    assert_eq!(whole_levels(&VOLUME, &(9..11)), 5..EVERYTHING.end);
    assert_eq!(level_at(&VOLUME, 99), 10..EVERYTHING.end);
    assert!(is_of_levels(&VOLUME, &(0..10)) && !is_of_levels(&VOLUME, &(0..9)));
    let mut parts = [3..5, 1..2, 7..8];
    let both = SubRange::Subresources(part(Aspects::COLOR, 0..2, 0..1));
    assert_eq!(gather(&VOLUME, &mut parts).as_slice(), [both]);
}

#[test]
fn slices_meet_slices_and_their_level() {
    let level = |mip: u32| SubRange::Subresources(part(Aspects::COLOR, mip..mip + 1, 0..1));
    assert!(slices(0, 0..2).overlaps(&slices(0, 1..3)));
    assert!(!slices(0, 0..2).overlaps(&slices(0, 2..3)));
    assert!(!slices(0, 0..1).overlaps(&slices(1, 0..1)));
    assert!(level(1).overlaps(&slices(1, 0..1)) && !slices(0, 0..1).overlaps(&level(1)));
    assert_eq!(
        slices(0, 0..2).intersection(&slices(0, 1..3)),
        slices(0, 1..2)
    );
    assert_eq!(level(1).intersection(&slices(1, 0..1)), slices(1, 0..1));
    assert_eq!(slices(1, 0..1).levels(), level(1));
    assert!(level(1).covers(&slices(1, 0..2), &VOLUME));
    assert!(SubRange::Whole.covers(&slices(1, 0..2), &VOLUME));
    assert!(!slices(1, 0..1).covers(&level(1), &VOLUME));
}

#[test]
fn slices_that_a_level_does_not_have_do_not_fit() {
    for (range, fits) in [
        (slices(0, 0..5), true),
        (slices(0, 4..6), false),
        (slices(1, 1..2), true),
        (slices(1, 2..3), false),
        (slices(3, 0..1), false),
        (slices(0, 2..2), false),
    ] {
        assert_eq!(range.fits(&VOLUME), fits, "{range:?}");
    }
    // An image that is not 3D has one slice; one with layers has no slices.
    let flat = Resource::PRESENTABLE;
    assert!(slices(0, 0..1).fits(&flat) && !slices(0, 1..2).fits(&flat));
    assert!(!slices(0, 0..1).fits(&CUBE) && !slices(0, 0..1).fits(&BUFFER));
}
