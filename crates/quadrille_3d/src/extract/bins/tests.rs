use std::collections::{BTreeMap, BTreeSet};

use quadrille_content::meshes::MeshAllocation;

use super::*;
use crate::scene::keys::{BlendMode, CullMode, MaterialFeatures, MaterialShader};

fn key(number: u32) -> BinKey {
    BinKey {
        pipeline: PipelineKey {
            primitive: PrimitiveKind::Triangles,
            cull: [CullMode::None, CullMode::Back][number as usize % 2],
            blend_mode: [BlendMode::Opaque, BlendMode::Blend][number as usize / 2 % 2],
            shader: MaterialShader::Standard,
            features: MaterialFeatures::Base,
            is_transmissive: false,
            renderer: crate::scene::keys::RendererMethod::Auto,
        },
        mesh: MeshAllocation {
            primitive: PrimitiveKind::Triangles,
            first_index: number,
            index_count: 3,
            base_vertex: 0,
        },
    }
}

/// Returns the instances that the device would draw, by bin; checks that no rows overlap.
fn drawn(bins: &mut Bins, batch_sets: &mut Vec<BatchSet>) -> BTreeMap<u32, BTreeSet<u32>> {
    bins.build_batch_sets(batch_sets);
    let mut drawn = BTreeMap::<u32, BTreeSet<u32>>::new();
    let mut used = BTreeSet::new();
    for batch_set in batch_sets.iter() {
        for position in batch_set.batches.clone() {
            let batch = bins.order[position as usize];
            let row = bins.batch_rows.rows()[batch as usize];
            assert!((1..=MAX_BATCH_INSTANCES).contains(&row.count), "{row:?}");
            assert_eq!(key(row.first_index).pipeline, batch_set.pipeline);
            for at in row.first_batch_instance..row.first_batch_instance + row.count {
                assert!(used.insert(at), "two chunks use the place {at}");
                let instance = bins.batch_instances.rows()[at as usize];
                assert!(drawn.entry(row.first_index).or_default().insert(instance));
            }
        }
    }
    drawn
}

#[test]
fn bins_match_model() {
    let mut bins = Bins::default();
    let mut batch_sets = Vec::new();
    let mut model = BTreeMap::<u32, u32>::new();
    // Deterministic pseudorandom numbers.
    let mut state = 1_u32;
    let mut next = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    for step in 0..20_000 {
        // Bins grow, shrink, then become empty.
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
                drawn(&mut bins, &mut batch_sets),
                expected,
                "after {step} steps"
            );
        }
    }
    for instance in 0..1_500 {
        bins.put(instance, None);
    }
    assert_eq!(drawn(&mut bins, &mut batch_sets), BTreeMap::new());
    assert!(
        bins.batch_instances.rows().len() < 8_192,
        "room is used again"
    );
}
