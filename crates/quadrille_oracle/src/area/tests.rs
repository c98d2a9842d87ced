use quadrille_sync::flags::Aspects;
use quadrille_sync::range::{Slices, SubRange, SubresourceRange};
use quadrille_sync::resource::ResourceKind;

use super::{Area, AreaMap};

const IMAGE: ResourceKind = ResourceKind::Image {
    aspects: Aspects::DEPTH.union(Aspects::STENCIL),
    mip_levels: 4,
    array_layers: 3,
    slices: 1,
};

fn part(aspects: Aspects, mips: (u32, u32), layers: (u32, u32)) -> Area {
    let range = SubRange::Subresources(SubresourceRange {
        aspects,
        base_mip: mips.0,
        mip_count: mips.1,
        base_layer: layers.0,
        layer_count: layers.1,
    });
    Area::of(&IMAGE, &range)
}

/// The number of subresources of an area.
fn count(area: &Area) -> u64 {
    let (layers, line) = (&area.layers, &area.line);
    u64::from(area.aspects.count_ones()) * (layers.end - layers.start) * (line.end - line.start)
}

#[test]
fn areas_that_share_nothing_do_not_intersect() {
    let depth = part(Aspects::DEPTH, (0, 4), (0, 3));
    assert_eq!(
        depth.intersection(&part(Aspects::STENCIL, (0, 4), (0, 3))),
        None
    );
    let mips = part(Aspects::DEPTH, (1, 2), (0, 3));
    assert_eq!(depth.intersection(&mips), Some(mips.clone()));
    assert_eq!(
        mips.intersection(&part(Aspects::DEPTH, (3, 1), (0, 3))),
        None
    );
    assert!(depth.contains(&mips) && !mips.contains(&depth));
}

#[test]
fn cells_stay_disjoint_and_complete() {
    let whole = Area::whole(&IMAGE);
    let mut map = AreaMap::new(whole.clone(), 0);
    let parts = [
        part(Aspects::DEPTH, (1, 2), (1, 1)),
        part(Aspects::DEPTH | Aspects::STENCIL, (0, 2), (0, 2)),
        part(Aspects::STENCIL, (3, 1), (2, 1)),
    ];
    for (value, area) in parts.iter().enumerate() {
        let touched: u64 = map
            .parts_mut(area)
            .map(|(cell, old)| {
                *old = value + 1;
                count(cell)
            })
            .sum();
        assert_eq!(touched, count(area));
    }
    let all: Vec<&Area> = map.cells.iter().map(|(area, _)| area).collect();
    for (at, area) in all.iter().enumerate() {
        assert!(
            all[..at]
                .iter()
                .all(|other| other.intersection(area).is_none())
        );
    }
    assert_eq!(all.into_iter().map(count).sum::<u64>(), count(&whole));
    let of_first: u64 = map
        .cells
        .iter()
        .filter(|(_, value)| *value == 1)
        .map(|(area, _)| count(area))
        .sum();
    // One of its two subresources lies in the second part too.
    assert_eq!(of_first, 1);
}

#[test]
fn areas_are_put_into_words() {
    assert_eq!(Area::whole(&IMAGE).words(&IMAGE), "all");
    let words = part(Aspects::STENCIL, (1, 2), (0, 1)).words(&IMAGE);
    assert_eq!(words, "mip levels 1..3, array layers 0..1 of STENCIL");
    assert_eq!(
        Area::bytes(4, 8).words(&ResourceKind::Buffer { bytes: 64 }),
        "bytes 4..12"
    );
}

/// A 3D image with 5 slices in mip level 0 and 2 in level 1.
const VOLUME: ResourceKind = ResourceKind::Image {
    aspects: Aspects::COLOR,
    mip_levels: 2,
    array_layers: 1,
    slices: 5,
};

fn slices(mip: u32, base: u32, count: u32) -> Area {
    let range = SubRange::Slices(Slices {
        aspects: Aspects::COLOR,
        mip,
        base,
        count,
    });
    Area::of(&VOLUME, &range)
}

#[test]
fn all_slices_are_the_mip_level() {
    let level = |mip: u32| part(Aspects::COLOR, (mip, 1), (0, 1));
    assert_eq!(slices(0, 0, 5), level(0));
    assert_eq!(slices(1, 0, 2), level(1));
    assert_eq!(slices(1, 1, 1).levels(), level(1));
    let whole = Area::whole(&VOLUME);
    assert!(whole.contains(&slices(1, 1, 1)) && !slices(1, 1, 1).contains(&level(1)));
    assert_eq!(slices(0, 0, 2).intersection(&slices(0, 2, 3)), None);
    assert_eq!(slices(0, 0, 2).intersection(&slices(1, 0, 2)), None);
}

#[test]
fn slices_are_cut_out_of_their_level() {
    let mut map = AreaMap::new(Area::whole(&VOLUME), 'a');
    map.parts_mut(&slices(0, 1, 2))
        .for_each(|(_, it)| *it = 'b');
    map.parts_mut(&slices(1, 1, 1))
        .for_each(|(_, it)| *it = 'c');
    let mut cells: Vec<(String, char)> = (map.iter())
        .map(|(cell, it)| (format!("{cell:?}"), *it))
        .collect();
    cells.sort();
    let name = |mip, base, count| format!("{:?}", slices(mip, base, count));
    let mut expected = [
        (name(0, 0, 1), 'a'),
        (name(0, 1, 2), 'b'),
        (name(0, 3, 2), 'a'),
        (name(1, 0, 1), 'a'),
        (name(1, 1, 1), 'c'),
    ];
    expected.sort();
    assert_eq!(cells, expected);
}
