//! Comparison of ranges with a simple model: one value per subresource or byte.

use super::*;
use crate::rounds::rounds;

/// A fixed sequence of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u32) -> u32 {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(end)) as u32
    }

    /// Returns a range below `count`: its begin and its length, which is at least 1.
    fn part(&mut self, count: u32) -> (u32, u32) {
        let base = self.below(count);
        (base, 1 + self.below(count - base))
    }
}

/// Images of all kinds except 3D (slices are tested in `tests`): color, depth and stencil, planes,
/// arrays, and a combination.
const KINDS: [(Aspects, u32, u32); 7] = [
    (Aspects::COLOR, 1, 1),
    (Aspects::COLOR, 5, 1),
    (Aspects::DEPTH.union(Aspects::STENCIL), 1, 1),
    (Aspects::DEPTH.union(Aspects::STENCIL), 3, 4),
    (
        Aspects::PLANE_0
            .union(Aspects::PLANE_1)
            .union(Aspects::PLANE_2),
        1,
        2,
    ),
    (Aspects::COLOR, 1, 7),
    (Aspects::COLOR.union(Aspects::METADATA), 32, 3),
];

/// Whether a range contains a subresource.
fn has(part: &SubresourceRange, aspect: Aspects, layer: u32, mip: u32) -> bool {
    part.aspects.contains(aspect)
        && (part.base_layer..part.base_layer + part.layer_count).contains(&layer)
        && (part.base_mip..part.base_mip + part.mip_count).contains(&mip)
}

/// Returns all subresources of an image, in the order of positions.
fn subresources(kind: &ResourceKind) -> Vec<(Aspects, u32, u32)> {
    let all = kind.subresources().unwrap();
    let mut cells = Vec::new();
    for aspect in all.aspects {
        for layer in 0..all.layer_count {
            cells.extend((0..all.mip_count).map(|mip| (aspect, layer, mip)));
        }
    }
    cells
}

#[test]
fn random_updates_of_images_agree_with_a_value_for_each_subresource() {
    let mut numbers = Numbers(7);
    for (aspects, mip_levels, array_layers) in KINDS {
        let kind = ResourceKind::Image {
            aspects,
            mip_levels,
            array_layers,
            slices: 1,
        };
        let cells = subresources(&kind);
        assert_eq!(cells.len() as u64, kind.length());
        for _ in 0..rounds(40) {
            let (mut map, mut model) = (RangeMap::new(0), vec![0; cells.len()]);
            for value in 1..12 {
                let whole = numbers.below(8) == 0;
                let part = random_part(&mut numbers, aspects, mip_levels, array_layers);
                let range = if whole {
                    SubRange::Whole
                } else {
                    SubRange::Subresources(part)
                };
                // Values repeat, so adjacent runs can become equal.
                let value = value % 4;
                intervals(&kind, &range, |interval| {
                    map.update(interval, |_, old| *old = value);
                });
                for (cell, old) in cells.iter().zip(&mut model) {
                    if whole || has(&part, cell.0, cell.1, cell.2) {
                        *old = value;
                    }
                }
                assert_same(&kind, &map, &cells, &model);
            }
        }
    }
}

fn random_part(
    numbers: &mut Numbers,
    aspects: Aspects,
    mip_levels: u32,
    array_layers: u32,
) -> SubresourceRange {
    let (base_mip, mip_count) = numbers.part(mip_levels);
    let (base_layer, layer_count) = numbers.part(array_layers);
    let mut chosen: Aspects = aspects.iter().filter(|_| numbers.below(2) == 0).collect();
    if chosen.is_empty() {
        chosen = aspects;
    }
    SubresourceRange {
        aspects: chosen,
        base_mip,
        mip_count,
        base_layer,
        layer_count,
    }
}

/// Asserts that the map equals the model, has as few runs as possible, and that the ranges of its
/// runs cover each subresource once.
fn assert_same(
    kind: &ResourceKind,
    map: &RangeMap<i32>,
    cells: &[(Aspects, u32, u32)],
    model: &[i32],
) {
    let changes = model.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert_eq!(map.len(), changes + 1, "equal neighbours are one run");
    let mut seen = vec![0; model.len()];
    for (interval, value) in map.iter() {
        let mut parts = Vec::new();
        boxes(kind, interval, &mut parts);
        for (at, cell) in cells.iter().enumerate() {
            let times = parts
                .iter()
                .filter(|part| has(part, cell.0, cell.1, cell.2))
                .count();
            seen[at] += times;
            assert!(times == 0 || model[at] == *value, "{cell:?} in {parts:?}");
        }
    }
    assert!(seen.iter().all(|times| *times == 1), "{seen:?}");
}

#[test]
fn random_updates_of_buffers_agree_with_a_value_for_each_byte() {
    let mut numbers = Numbers(11);
    let kind = ResourceKind::Buffer { bytes: 40 };
    for _ in 0..rounds(200) {
        let (mut map, mut model) = (RangeMap::new(0), [0; 40]);
        for value in 1..10 {
            let (offset, size) = numbers.part(40);
            let (offset, size) = (u64::from(offset), u64::from(size));
            let value = value % 3;
            intervals(&kind, &SubRange::Bytes { offset, size }, |interval| {
                map.update(interval, |_, old| *old = value);
            });
            model[offset as usize..(offset + size) as usize].fill(value);
            let expanded: Vec<i32> = (map.iter())
                .flat_map(|(run, value)| (run.start..run.end.min(40)).map(|_| *value))
                .collect();
            assert_eq!(expanded, model);
        }
    }
}

/// A use of a whole resource is one interval and one run, for every size and number of subresources.
#[test]
fn whole_use_costs_the_same_for_every_resource() {
    let largest = ResourceKind::Image {
        aspects: Aspects::DEPTH | Aspects::STENCIL,
        mip_levels: 32,
        array_layers: 1 << 16,
        slices: 1,
    };
    for kind in [
        ResourceKind::Buffer { bytes: 1 },
        ResourceKind::Buffer { bytes: 1 << 57 },
        largest,
    ] {
        let mut map = RangeMap::new('a');
        let mut visits = 0;
        for value in ['b', 'c', 'd'] {
            intervals(&kind, &SubRange::Whole, |interval| {
                map.update(interval, |_, old| {
                    visits += 1;
                    *old = value;
                });
            });
        }
        assert_eq!((visits, map.len()), (3, 1), "{kind:?}");
    }
}

#[test]
fn overlap_and_intersection_agree_with_the_model() {
    let mut numbers = Numbers(3);
    let aspects = Aspects::DEPTH | Aspects::STENCIL;
    let kind = ResourceKind::Image {
        aspects,
        mip_levels: 4,
        array_layers: 3,
        slices: 1,
    };
    for _ in 0..rounds(2_000) {
        let mut part = || random_part(&mut numbers, aspects, 4, 3);
        let (a, b) = (part(), part());
        let common: Vec<_> = (subresources(&kind).into_iter())
            .filter(|cell| has(&a, cell.0, cell.1, cell.2) && has(&b, cell.0, cell.1, cell.2))
            .collect();
        let (one, two) = (SubRange::Subresources(a), SubRange::Subresources(b));
        assert_eq!(one.overlaps(&two), !common.is_empty(), "{a:?} {b:?}");
        if let (false, SubRange::Subresources(both)) = (common.is_empty(), one.intersection(&two)) {
            let of_both = subresources(&kind).into_iter();
            let of_both = of_both.filter(|cell| has(&both, cell.0, cell.1, cell.2));
            assert_eq!(of_both.collect::<Vec<_>>(), common);
        }
    }
}
