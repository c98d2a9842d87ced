//! Instances and batches of UI nodes, retained until any node changes.

use std::ops::Range;

use bevy_ecs::entity::EntityHashSet;
use bevy_ecs::prelude::*;
use bytemuck::cast_slice;
use quadrille_content::buffers::{RangeTable, RawBufferVec};
use quadrille_content::cameras::Msaa;

use crate::instances::mesh_instance::Instance;
use crate::instances::node::NodeInstance;
use crate::scene::drawn_images::DrawnImages;
use crate::scene::phase::{Batch, BatchKind, Phase2d, View2d, add_batch};

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
    /// Images that the nodes sample.
    pub(crate) images: DrawnImages,
    /// Nodes in drawing order, as of the last rebuild.
    stack: Vec<Entity>,
    /// Nodes, spans of their texts, and cameras of `ViewportNode`s: changes of other entities build nothing.
    sources: EntityHashSet,
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
        self.has_invalid = false;
    }

    /// Adds entities besides nodes that the instances follow from.
    pub(crate) fn add_sources(&mut self, entities: impl IntoIterator<Item = Entity>) {
        self.sources.extend(entities);
    }

    /// Whether the instances followed from an entity at the last rebuild.
    pub(crate) fn has_source(&self, entity: Entity) -> bool {
        self.sources.contains(&entity)
    }

    /// First batch of the next view.
    pub(crate) fn next_batch(&self) -> u32 {
        self.batches.len() as u32
    }

    /// Ends the view over that of a camera, whose batches begin at `first`.
    pub(crate) fn end_view(&mut self, camera: Entity, viewport: [u32; 4], first: u32) {
        self.views.push(NodeView {
            camera,
            viewport,
            batches: first..self.next_batch(),
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

    /// Adds a quad to the view whose batches begin at `view_start`.
    pub(crate) fn push_quad(&mut self, quad: Instance, batch: Batch, view_start: u32) {
        self.quads.push(quad);
        let end = self.quads.len() as u32;
        self.push_batch(batch, end, view_start);
    }

    /// Adds a box to the view whose batches begin at `view_start`.
    pub(crate) fn push_node(&mut self, node: NodeInstance, batch: Batch, view_start: u32) {
        self.nodes.push(node);
        let end = self.nodes.len() as u32;
        self.push_batch(batch, end, view_start);
    }

    /// Adds a batch with the last instance of a list with this length; joins the previous batch of the view if
    /// possible.
    fn push_batch(&mut self, batch: Batch, length: u32, view_start: u32) {
        let batch = Batch {
            instances: length - 1..length,
            ..batch
        };
        if self.batches.len() > view_start as usize {
            add_batch(&mut self.batches, batch);
        } else {
            self.batches.push(batch);
        }
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
