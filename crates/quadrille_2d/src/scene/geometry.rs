//! Vertex, index and instance buffers of the pass.

use quadrille::ecs::{PassUse, Rendering};
use quadrille::prelude::{IndexRead, StorageRead, Uniform, VertexRead};
use quadrille::vulkan::commands::IndexType;

use crate::instances::node::Nodes2d;
use crate::meshes::{Indices2d, MeshAttributes2d, Vertices2d};
use crate::scene::materials::{MaterialGlobals2d, MaterialRows2d, MaterialViews2d};
use crate::scene::phase::{Batch, BatchKind, InstanceOrder2d, Instances2d};
use crate::tilemaps::chunk::Chunks2d;
use crate::tilemaps::tiles::Tiles2d;
use quadrille_content::lines::GizmoLines;

/// Vertex, index, instance and tile buffers of [`draw_2d`](crate::systems::draw_2d).
#[derive(bevy_ecs::system::SystemParam)]
pub struct Geometry2d<'w> {
    vertices: VertexRead<'w, Vertices2d>,
    indices: IndexRead<'w, Indices2d>,
    instances: StorageRead<'w, Instances2d>,
    order: VertexRead<'w, InstanceOrder2d>,
    nodes: VertexRead<'w, Nodes2d>,
    lines: VertexRead<'w, GizmoLines>,
    chunks: VertexRead<'w, Chunks2d>,
    tiles: StorageRead<'w, Tiles2d>,
    pub(crate) mesh_attributes: StorageRead<'w, MeshAttributes2d>,
    pub(crate) material_rows: StorageRead<'w, MaterialRows2d>,
    pub(crate) material_globals: Uniform<'w, MaterialGlobals2d>,
    pub(crate) material_views: Uniform<'w, MaterialViews2d>,
}

impl Geometry2d<'_> {
    /// Adds the buffers that batches read. Others are omitted, since they may never have been written.
    /// `reads_globals` is [`Materials2d::reads_globals`](crate::scene::materials::Materials2d::reads_globals).
    pub(crate) fn add_uses(&self, batches: &[Batch], reads_globals: bool, uses: &mut Vec<PassUse>) {
        if batches.is_empty() {
            return;
        }
        uses.extend([
            self.vertices.any().as_declared(),
            self.indices.any().as_declared(),
        ]);
        let has = |kinds: &[BatchKind]| batches.iter().any(|batch| kinds.contains(&batch.kind));
        if has(&[BatchKind::World, BatchKind::Clip, BatchKind::Replace]) {
            uses.push(self.instances.any().as_declared());
            uses.push(self.order.any().as_declared());
        }
        if has(&[BatchKind::Nodes, BatchKind::Gradients]) {
            uses.push(self.nodes.any().as_declared());
        }
        if batches.iter().any(|batch| batch.bind_group.is_some()) {
            uses.push(self.material_rows.any().as_declared());
            if batches.iter().any(|batch| batch.attribute_base.is_some()) {
                uses.push(self.mesh_attributes.any().as_declared());
            }
            if reads_globals {
                uses.push(self.material_globals.any().as_declared());
                uses.push(self.material_views.any().as_declared());
            }
        }
        if has(&[BatchKind::Lines]) {
            uses.push(self.lines.any().as_declared());
        }
        if has(&[BatchKind::Tiles]) {
            uses.push(self.chunks.any().as_declared());
            uses.push(self.tiles.any().as_declared());
        }
    }

    /// Binds the buffers of a batch kind. The pipeline must be bound.
    pub(crate) fn bind(&self, kind: BatchKind, rendering: &mut Rendering<'_>) {
        rendering
            .vertices(0, &self.vertices, 0)
            .indices(&self.indices, 0, IndexType::U32);
        match kind {
            BatchKind::World | BatchKind::Clip | BatchKind::Replace => rendering
                .vertices(1, &self.order, 0)
                .bind(2, &self.instances),
            BatchKind::Nodes | BatchKind::Gradients => rendering.vertices(1, &self.nodes, 0),
            BatchKind::Lines => rendering.vertices(1, &self.lines, 0),
            BatchKind::Tiles => rendering
                .vertices(1, &self.chunks, 0)
                .bind("tiles", &self.tiles),
        };
    }
}
