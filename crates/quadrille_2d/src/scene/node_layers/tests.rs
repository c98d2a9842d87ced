use super::*;
use crate::scene::phase::Texture;
use quadrille_content::meshes::PrimitiveKind;

const SIZE: Vec2 = Vec2::new(400.0, 300.0);

fn batch(kind: BatchKind, image: u32) -> Batch {
    Batch {
        mesh: MeshAllocation {
            primitive: PrimitiveKind::Triangles,
            first_index: 0,
            index_count: 6,
            base_vertex: 0,
        },
        texture: Some(Texture {
            image,
            sampler: 0,
            is_placeholder: false,
            is_array: false,
        }),
        kind,
        bind_group: None,
        attribute_base: None,
        instances: 0..0,
    }
}

/// A rectangle by its left top corner, y down, and its size.
fn rect(x: f32, y: f32, width: f32, height: f32) -> Rect {
    Rect::new(x, -y - height, x + width, -y)
}

fn layers() -> NodeLayers {
    let mut layers = NodeLayers::default();
    layers.begin(SIZE);
    layers
}

#[test]
fn buttons_with_texts_are_two_batches() {
    let mut layers = layers();
    for row in 0..20 {
        for column in 0..20 {
            let (x, y) = (20.0 * column as f32, 15.0 * row as f32);
            assert_eq!(
                layers.add(batch(BatchKind::Nodes, 0), rect(x, y, 20.0, 15.0)),
                0
            );
            assert_eq!(
                layers.add(batch(BatchKind::World, 1), rect(x + 4.0, y + 4.0, 9.0, 9.0)),
                1
            );
        }
    }
    assert_eq!(layers.batches().len(), 2);
    assert_eq!(layers.batches()[1].instances, 0..400);
}

#[test]
fn what_overlaps_stays_in_front() {
    let mut layers = layers();
    let (back, text) = (batch(BatchKind::Nodes, 0), batch(BatchKind::World, 1));
    assert_eq!(layers.add(back.clone(), rect(0.0, 0.0, 50.0, 50.0)), 0);
    assert_eq!(layers.add(text.clone(), rect(10.0, 10.0, 20.0, 20.0)), 1);
    // Over the text.
    assert_eq!(layers.add(back.clone(), rect(29.0, 29.0, 50.0, 50.0)), 2);
    // Beside it.
    assert_eq!(layers.add(back, rect(100.0, 100.0, 50.0, 50.0)), 0);
    assert_eq!(layers.add(text, rect(100.0, 0.0, 20.0, 20.0)), 1);
}

/// Texts that reach over the next button make a chain in each row, and rows share the batches of the chain.
#[test]
fn rows_share_batches_of_their_chains() {
    let mut layers = layers();
    for row in 0..20 {
        for column in 0..10 {
            let (x, y) = (30.0 * column as f32, 15.0 * row as f32);
            let back = layers.add(batch(BatchKind::Nodes, 0), rect(x, y, 30.0, 15.0));
            layers.set_group(Some(rect(x + 2.0, y + 2.0, 40.0, 9.0)));
            let first = layers.add(batch(BatchKind::World, 1), rect(x + 3.0, y + 3.0, 6.0, 7.0));
            let last = layers.add(
                batch(BatchKind::World, 1),
                rect(x + 34.0, y + 3.0, 6.0, 7.0),
            );
            layers.set_group(None);
            assert_eq!(
                [back, first, last],
                [2 * column, 2 * column + 1, 2 * column + 1]
            );
        }
    }
    assert_eq!(layers.batches().len(), 20);
}

/// A line over the glyphs of its text has the state of a line below them.
#[test]
fn states_alternate_within_a_group() {
    let mut layers = layers();
    layers.set_group(Some(rect(0.0, 0.0, 60.0, 20.0)));
    let (line, glyph) = (batch(BatchKind::World, 0), batch(BatchKind::World, 1));
    let below = layers.add(line.clone(), rect(0.0, 0.0, 60.0, 20.0));
    let glyphs = [0.0, 10.0].map(|x| layers.add(glyph.clone(), rect(x, 2.0, 8.0, 12.0)));
    let over = layers.add(line.clone(), rect(0.0, 8.0, 60.0, 2.0));
    // Reaches out of the group, over the line.
    let outside = layers.add(glyph.clone(), rect(50.0, 2.0, 20.0, 12.0));
    let next = layers.add(line, rect(52.0, 8.0, 5.0, 2.0));
    assert_eq!((below, glyphs, over, outside, next), (0, [1; 2], 2, 3, 4));
}

#[test]
fn other_states_are_other_batches() {
    let mut layers = layers();
    let bound = |group| Batch {
        bind_group: group,
        ..batch(BatchKind::Nodes, 0)
    };
    let states = [
        batch(BatchKind::Nodes, 0),
        batch(BatchKind::Gradients, 0),
        batch(BatchKind::Nodes, 1),
        bound(Some(0)),
        bound(Some(1)),
    ];
    for round in 0..2 {
        for (index, state) in states.iter().enumerate() {
            let bounds = rect(50.0 * index as f32, 50.0 * round as f32, 50.0, 50.0);
            assert_eq!(layers.add(state.clone(), bounds), index as u32);
        }
    }
}

#[test]
fn bounds_that_are_not_finite_overlap_everything() {
    let mut layers = layers();
    let (back, text) = (batch(BatchKind::Nodes, 0), batch(BatchKind::World, 1));
    let endless = Rect::new(f32::NAN, 0.0, f32::INFINITY, 1.0);
    layers.add(back.clone(), rect(0.0, 0.0, 5.0, 5.0));
    layers.add(text.clone(), endless);
    assert_eq!(layers.add(back.clone(), rect(300.0, 200.0, 5.0, 5.0)), 2);
    assert_eq!(layers.add(text, endless), 3);
}

/// Random quads, some of them larger than many cells or outside the view: of two that overlap, the earlier one is never in a
/// later batch.
#[test]
fn order_of_overlapping_quads_is_kept() {
    let mut random = fastrand::Rng::with_seed(7);
    for (count, most) in [(300, 30.0), (2000, 12.0), (400, 900.0)] {
        let mut layers = layers();
        let mut drawn: Vec<(Rect, u32)> = Vec::new();
        for _ in 0..count {
            let mut number = |low: f32, high: f32| low + (high - low) * random.f32();
            let (x, y) = (number(-50.0, 450.0), number(-50.0, 350.0));
            let bounds = rect(x, y, number(0.0, most), number(0.0, most));
            let kind = [BatchKind::Nodes, BatchKind::World][random.usize(0..2)];
            let index = layers.add(batch(kind, random.u32(0..3)), bounds);
            for (earlier, at) in &drawn {
                assert!(
                    *at <= index || !overlaps(*earlier, bounds),
                    "{earlier:?} is drawn after {bounds:?}"
                );
            }
            drawn.push((bounds, index));
        }
        let total: u32 = layers.batches().iter().map(|it| it.instances.end).sum();
        assert_eq!(total, count);
    }
}
