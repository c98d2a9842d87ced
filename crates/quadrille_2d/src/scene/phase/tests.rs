use bevy_math::{Affine2, Affine3A};

use super::*;
use crate::instances::mesh_instance::AlphaMode;
use quadrille_content::meshes::PrimitiveKind;

const QUAD: MeshAllocation = MeshAllocation {
    primitive: PrimitiveKind::Triangles,
    first_index: 0,
    index_count: 6,
    base_vertex: 0,
};

fn batch(image: u32, instances: Range<u32>) -> Batch {
    let texture = Some(Texture {
        image,
        sampler: 0,
        is_placeholder: false,
        is_array: false,
    });
    Batch {
        mesh: QUAD,
        texture,
        kind: BatchKind::World,
        bind_group: None,
        attribute_base: None,
        instances,
    }
}

fn add(phase: &mut Phase2d, view_start: u32, image: u32) {
    let (world, uv) = (Affine3A::IDENTITY, Affine2::IDENTITY);
    let instance = Instance::mesh(world, uv, LinearRgba::WHITE, AlphaMode::Blend);
    let instances = phase.push_quad(instance);
    let batch = batch(image, instances);
    phase.add(batch, view_start);
}

#[test]
fn adjacent_compatible_batches_merge() {
    let mut phase = Phase2d::default();
    for image in [0, 0, 1, 0, 0, 0] {
        add(&mut phase, 0, image);
    }
    let ranges: Vec<_> = phase.batches.iter().map(|b| b.instances.clone()).collect();
    assert_eq!(ranges, [0..2, 2..3, 3..6]);
}

#[test]
fn views_do_not_share_batches() {
    let mut phase = Phase2d::default();
    add(&mut phase, 0, 0);
    add(&mut phase, 1, 0);
    assert_eq!(phase.draws(), 2);
}

#[test]
fn empty_batch_is_dropped() {
    let mut phase = Phase2d::default();
    phase.add(batch(0, 0..0), 0);
    assert_eq!(phase.draws(), 0);
}
