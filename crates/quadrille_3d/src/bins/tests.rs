use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::material_row::{CullMode, Detail, Mix};

fn key(number: u32) -> BinKey {
    BinKey {
        pipeline: PipelineKey {
            shape: Shape::Triangles,
            cull: [CullMode::None, CullMode::Back][number as usize % 2],
            mix: [Mix::Hide, Mix::Cover][number as usize / 2 % 2],
            detail: Detail::Plain,
        },
        mesh: MeshPlace {
            shape: Shape::Triangles,
            first_index: number,
            index_count: 3,
            base_vertex: 0,
        },
    }
}

/// What the device would draw, by bin; checks that nothing lies on anything else.
fn drawn(bins: &mut Bins, groups: &mut Vec<Group>) -> BTreeMap<u32, BTreeSet<u32>> {
    bins.list(groups);
    let mut drawn = BTreeMap::<u32, BTreeSet<u32>>::new();
    let mut taken = BTreeSet::new();
    for group in groups.iter() {
        for place in group.chunks.clone() {
            let chunk = bins.order.now[place as usize];
            let row = bins.chunk_rows.rows()[chunk as usize];
            assert!((1..=CHUNK).contains(&row.count), "{row:?}");
            assert_eq!(key(row.first_index).pipeline, group.pipeline);
            for at in row.first_member..row.first_member + row.count {
                assert!(taken.insert(at), "two chunks use the place {at}");
                let instance = bins.members.rows()[at as usize];
                assert!(drawn.entry(row.first_index).or_default().insert(instance));
            }
        }
    }
    drawn
}

#[test]
fn instances_are_where_they_were_put() {
    let mut bins = Bins::default();
    let mut groups = Vec::new();
    let mut model = BTreeMap::<u32, u32>::new();
    // Numbers in no order that is easy to see, the same in each run.
    let mut state = 1_u32;
    let mut next = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    for step in 0..20_000 {
        // Bins become large, then small, then vanish.
        let grows = step % 8_000 < 4_000;
        let instance = next(1_500);
        if next(10) < if grows { 9 } else { 1 } {
            // One bin gets most of them.
            let number = if next(3) == 0 { next(7) } else { 0 };
            bins.put(instance, Some(key(number)));
            model.insert(instance, number);
        } else {
            bins.put(instance, None);
            model.remove(&instance);
        }
        if step % 500 == 0 {
            let mut expected = BTreeMap::<u32, BTreeSet<u32>>::new();
            for (&instance, &number) in &model {
                expected.entry(number).or_default().insert(instance);
            }
            assert_eq!(
                drawn(&mut bins, &mut groups),
                expected,
                "after {step} steps"
            );
        }
    }
    for instance in 0..1_500 {
        bins.put(instance, None);
    }
    assert_eq!(drawn(&mut bins, &mut groups), BTreeMap::new());
    assert!(bins.members.rows().len() < 8_192, "room is used again");
}
