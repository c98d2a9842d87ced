//! Instances and batches of UI nodes, retained until any node changes.

use std::ops::Range;

use bevy_ecs::entity::{EntityHashMap, EntityHashSet};
use bevy_ecs::prelude::*;
use bevy_math::{Rect, Vec2};
use bevy_text::TextColor;
use bytemuck::cast_slice;
use quadrille_content::buffers::{RangeTable, RawBufferVec};
use quadrille_content::cameras::Msaa;

use crate::instances::mesh_instance::Instance;
use crate::instances::node::NodeInstance;
use crate::scene::drawn_images::DrawnImages;
use crate::scene::node_layers::NodeLayers;
use crate::scene::phase::{Batch, BatchKind, Phase2d, View2d};

/// Rows that are compared, and uploaded, together.
const ROWS_PER_UPDATE: usize = 64;

/// Instances and batches of all nodes.
#[derive(Default)]
pub(crate) struct NodePhase {
    views: Vec<NodeView>,
    /// Batches, with ranges of `quads` and `nodes`.
    batches: Vec<Batch>,
    /// Instances of plain quads, without rounded corners and antialiased edges.
    quads: Vec<Instance>,
    /// Range of `quads` in the instance table, with spare rows at its end.
    quad_rows: Range<u32>,
    /// Boxes and gradients.
    pub(crate) nodes: RawBufferVec<NodeInstance>,
    /// Batches of the view that is being built.
    layers: NodeLayers,
    /// First quad and first node of that view.
    view_start: [usize; 2],
    /// Batches of its quads, and of its nodes.
    batch_of: [Vec<u32>; 2],
    /// Scratch memory of [`sort_by_batch`].
    sorted: (Vec<u32>, Vec<Instance>, Vec<NodeInstance>),
    /// Images that the nodes sample.
    pub(crate) images: DrawnImages,
    /// Nodes in drawing order, as of the last rebuild.
    stack: Vec<Entity>,
    /// Nodes, and cameras of `ViewportNode`s. With the spans of texts they are the entities whose changes build nodes.
    sources: EntityHashSet,
    /// Spans of drawn texts with their colors: one that is written again with the same value builds nothing.
    span_colors: EntityHashMap<Option<TextColor>>,
    /// Whether a node cannot be drawn. All nodes are then rebuilt in each frame, to repeat its rate-limited warning.
    pub(crate) has_invalid: bool,
}

/// Nodes that are drawn over the view of a camera.
struct NodeView {
    camera: Entity,
    viewport: [u32; 4],
    batches: Range<u32>,
}

impl NodePhase {
    /// Whether views and nodes are the same as in the last rebuild, and all nodes could be drawn.
    pub(crate) fn is_current(&self, views: &[View2d], stack: &[Entity]) -> bool {
        let of_node = |view: &NodeView| (view.camera, view.viewport);
        let of_view = |view: &View2d| (view.camera, view.viewport);
        !self.has_invalid
            && self.stack == stack
            && self.views.iter().map(of_node).eq(views.iter().map(of_view))
    }

    /// Begins a rebuild.
    pub(crate) fn begin(&mut self, stack: &[Entity]) {
        self.views.clear();
        self.batches.clear();
        self.quads.clear();
        self.nodes.clear();
        self.images = DrawnImages::default();
        self.stack.clear();
        self.stack.extend_from_slice(stack);
        self.sources.clear();
        self.sources.extend(stack);
        self.span_colors.clear();
        self.has_invalid = false;
    }

    /// Adds entities besides nodes that the instances follow from.
    pub(crate) fn add_sources(&mut self, entities: impl IntoIterator<Item = Entity>) {
        self.sources.extend(entities);
    }

    /// Adds a span of a text with its color.
    pub(crate) fn add_span(&mut self, span: Entity, color: Option<TextColor>) {
        self.span_colors.insert(span, color);
    }

    /// Whether a span that was drawn at the last rebuild had another color then.
    pub(crate) fn is_recolored(&self, span: Entity, color: TextColor) -> bool {
        let drawn = self.span_colors.get(&span);
        drawn.is_some_and(|drawn| *drawn != Some(color))
    }

    /// Whether the instances followed from an entity at the last rebuild.
    pub(crate) fn has_source(&self, entity: Entity) -> bool {
        self.sources.contains(&entity) || self.span_colors.contains_key(&entity)
    }

    /// Begins a view of so many pixels.
    pub(crate) fn begin_view(&mut self, size: Vec2) {
        self.layers.begin(size);
        self.view_start = [self.quads.len(), self.nodes.len()];
        self.batch_of.iter_mut().for_each(Vec::clear);
    }

    /// Ends the view over that of a camera: brings its instances into the order of their batches.
    pub(crate) fn end_view(&mut self, camera: Entity, viewport: [u32; 4]) {
        let first = self.batches.len() as u32;
        let [quads, nodes] = self.view_start;
        let [of_quads, of_nodes] = &self.batch_of;
        let (order, sorted_quads, sorted_nodes) = &mut self.sorted;
        sort_by_batch(
            &mut self.quads[quads..],
            of_quads,
            (&mut *order, sorted_quads),
        );
        sort_by_batch(&mut self.nodes[nodes..], of_nodes, (order, sorted_nodes));
        let [mut quads, mut nodes] = self.view_start.map(|it| it as u32);
        self.batches
            .extend(self.layers.batches().iter().map(|batch| {
                let start = match batch.kind {
                    BatchKind::World => &mut quads,
                    _ => &mut nodes,
                };
                let instances = *start..*start + batch.instances.end;
                *start = instances.end;
                Batch {
                    instances,
                    ..batch.clone()
                }
            }));
        self.views.push(NodeView {
            camera,
            viewport,
            batches: first..self.batches.len() as u32,
        });
    }

    /// Ends a rebuild: writes changed quads to the instance table.
    pub(crate) fn end(&mut self, rows: &mut RangeTable<Instance>) {
        if self.quad_rows.len() < self.quads.len() {
            rows.remove(std::mem::take(&mut self.quad_rows));
            self.quad_rows = rows.add((self.quads.len() as u32).next_power_of_two());
        }
        let mut first = self.quad_rows.start;
        for quads in self.quads.chunks(ROWS_PER_UPDATE) {
            let range = first..first + quads.len() as u32;
            first = range.end;
            let written = &rows.rows()[range.start as usize..range.end as usize];
            if cast_slice::<_, u8>(written) != cast_slice::<_, u8>(quads) {
                rows.change(&range).copy_from_slice(quads);
            }
        }
    }

    /// Begins or ends a group of quads, most of which lie within these bounds: they are placed as one.
    pub(crate) fn set_group(&mut self, bounds: Option<Rect>) {
        self.layers.set_group(bounds);
    }

    /// Adds a quad that covers `bounds`, in pixels with y up from the view's top left corner.
    pub(crate) fn push_quad(&mut self, quad: Instance, batch: Batch, bounds: Rect) {
        self.quads.push(quad);
        self.batch_of[0].push(self.layers.add(batch, bounds));
    }

    /// Adds a box that covers `bounds`, likewise.
    pub(crate) fn push_node(&mut self, node: NodeInstance, batch: Batch, bounds: Rect) {
        self.nodes.push(node);
        self.batch_of[1].push(self.layers.add(batch, bounds));
    }

    /// Inserts the views of nodes after those of their cameras. `to_clip` returns the transform from pixels of a
    /// viewport to clip space.
    pub(crate) fn add_to(&self, phase: &mut Phase2d, to_clip: fn([u32; 4]) -> bevy_math::Mat4) {
        let first = phase.order.len() as u32;
        let quads = self.quads.len() as u32;
        let rows = self.quad_rows.start;
        phase.order.extend(rows..rows + quads);
        let mut at = 0;
        for own in &self.views {
            let Some(view) = phase.views.get(at).cloned() else {
                return;
            };
            at += 1;
            if own.batches.is_empty() {
                continue;
            }
            let start = phase.batches.len() as u32;
            let batches = &self.batches[own.batches.start as usize..own.batches.end as usize];
            phase.batches.extend(batches.iter().map(|batch| {
                let mut batch = batch.clone();
                if batch.kind == BatchKind::World {
                    batch.instances = first + batch.instances.start..first + batch.instances.end;
                }
                batch
            }));
            let over = View2d {
                clip_from_world: to_clip(view.viewport),
                clear: None,
                batches: start..phase.batches.len() as u32,
                // As in bevy, nodes are drawn after the resolve.
                msaa: Msaa::Off,
                ..view
            };
            phase.views.insert(at, over);
            at += 1;
        }
    }
}

/// Brings instances into the order of their batches; those of one batch keep theirs.
fn sort_by_batch<T: Copy>(
    instances: &mut [T],
    batch_of: &[u32],
    (order, sorted): (&mut Vec<u32>, &mut Vec<T>),
) {
    if batch_of.is_sorted() {
        return;
    }
    order.clear();
    order.extend(0..batch_of.len() as u32);
    // With the position, instances of a batch keep their order without a stable sort, which allocates.
    order.sort_unstable_by_key(|at| (batch_of[*at as usize], *at));
    sorted.clear();
    sorted.extend(order.iter().map(|at| instances[*at as usize]));
    instances.copy_from_slice(sorted);
}
