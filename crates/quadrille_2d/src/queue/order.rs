//! Draw order and batches of each camera's items, retained while their inputs are unchanged.

use bevy_asset::AssetId;
use bevy_ecs::prelude::*;
use bevy_mesh::Mesh;
use quadrille_content::meshes::MeshAllocation;
use quadrille_content::warnings::{entity_name, first_non_finite};

use crate::instances::mesh_instance::AlphaMode;
use crate::queue::{Lists, Scene};
use crate::scene::items::Items;
use crate::scene::phase::{Batch, BatchKind, Phase2d, Textures2d, View2d, add_batch};
use crate::scene::phase_item::PhaseItem2d;
use crate::tilemaps::chunk::Chunk;

/// Retained draw orders of all cameras.
#[derive(Default)]
pub(crate) struct DrawOrders {
    orders: Vec<DrawOrder>,
    sorted: Vec<PhaseItem2d>,
    rebuilds: usize,
}

/// Inputs of a draw order besides the visible items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OrderInputs {
    order_changes: u64,
    mesh_changes: u64,
    /// Index in [`Textures2d`] of the camera's own target, which cannot be sampled in the same pass.
    excluded_image: Option<u32>,
}

/// Draw order of a camera's items.
struct DrawOrder {
    camera: Entity,
    used_in: u64,
    inputs: OrderInputs,
    /// Visible items in the order of collection, as of the last rebuild.
    visible: Vec<u32>,
    /// Rows in draw order.
    rows: Vec<u32>,
    /// Batches, with ranges of `rows`.
    batches: Vec<Batch>,
    /// Whether any item is a tilemap chunk, whose instances are not retained.
    has_chunks: bool,
}

impl DrawOrders {
    /// Adds the batches of a camera's visible items to the phase.
    pub(crate) fn add(
        &mut self,
        scene: &Scene<'_, '_>,
        lists: &mut Lists<'_>,
        view: &View2d,
        visible: &[u32],
    ) {
        let items = &lists.items;
        let inputs = OrderInputs {
            order_changes: items.order_changes(),
            mesh_changes: scene.meshes.changes(),
            excluded_image: excluded_image(scene, &lists.textures, view),
        };
        let index = self.index(view.camera);
        let order = &mut self.orders[index];
        order.used_in = items.frame();
        if order.has_chunks || order.inputs != inputs || order.visible != visible {
            order.inputs = inputs;
            order.visible.clear();
            order.visible.extend_from_slice(visible);
            let sort = |&item: &u32| items.get(item).key;
            self.sorted.clear();
            let keys = (0..).zip(visible.iter().map(sort));
            self.sorted
                .extend(keys.map(|(index, key)| PhaseItem2d { key, index }));
            self.sorted.sort_unstable();
            order.rebuild(scene, lists, view, &self.sorted);
            self.rebuilds += 1;
        }
        order.add_to(&mut lists.phase);
    }

    /// Returns the index of a camera's order.
    fn index(&mut self, camera: Entity) -> usize {
        let known = self.orders.iter().position(|order| order.camera == camera);
        known.unwrap_or_else(|| {
            self.orders.push(DrawOrder {
                camera,
                used_in: 0,
                inputs: OrderInputs::default(),
                visible: Vec::new(),
                rows: Vec::new(),
                batches: Vec::new(),
                has_chunks: false,
            });
            self.orders.len() - 1
        })
    }

    /// Drops the orders of cameras that were not drawn in this frame. Returns the number of orders that were rebuilt.
    pub(crate) fn end_frame(&mut self, frame: u64) -> usize {
        self.orders.retain(|order| order.used_in == frame);
        std::mem::take(&mut self.rebuilds)
    }
}

fn excluded_image(scene: &Scene<'_, '_>, textures: &Textures2d, view: &View2d) -> Option<u32> {
    let target = scene.targets.get(view.target as usize)?;
    let index = textures.0.iter().position(|image| image == target)?;
    Some(index as u32)
}

/// Allocation of a mesh with the first word of its attributes of programs.
type DrawnMesh = (MeshAllocation, Option<u32>);

impl DrawOrder {
    fn rebuild(
        &mut self,
        scene: &Scene<'_, '_>,
        lists: &mut Lists<'_>,
        view: &View2d,
        sorted: &[PhaseItem2d],
    ) {
        self.rows.clear();
        self.batches.clear();
        self.has_chunks = false;
        let quad = scene.meshes.quad();
        let mut last: Option<(AssetId<Mesh>, Option<DrawnMesh>)> = None;
        let mut allocation = |mesh: Option<AssetId<Mesh>>| {
            let Some(id) = mesh else {
                return Some((quad, None));
            };
            let found = match last {
                Some((last, found)) if last == id => found,
                _ => {
                    let found = scene.meshes.allocation(id);
                    found.map(|found| (found, scene.meshes.attribute_base(id)))
                }
            };
            last = Some((id, found));
            found
        };
        for sorted in sorted {
            let index = self.visible[sorted.index as usize];
            if lists.items.is_chunk(index) {
                self.has_chunks = true;
                let entity = lists.items.get(index).entity;
                let batch = chunk_batch(scene, lists, view, entity);
                batch
                    .into_iter()
                    .for_each(|batch| add_batch(&mut self.batches, batch));
                continue;
            }
            self.add_item(&lists.items, index, &mut allocation);
        }
    }

    /// Adds the rows and batches of an item.
    fn add_item(
        &mut self,
        items: &Items,
        index: u32,
        allocation: &mut impl FnMut(Option<AssetId<Mesh>>) -> Option<DrawnMesh>,
    ) {
        let item = items.get(index);
        let mut row = item.rows.start;
        for part in &item.parts {
            let rows = row..row + part.rows;
            row = rows.end;
            let texture = items.images.texture(part.image);
            let texture =
                texture.filter(|texture| Some(texture.image) != self.inputs.excluded_image);
            if let (Some(texture), Some((mesh, base))) = (texture, allocation(part.mesh)) {
                let first = self.rows.len() as u32;
                self.rows.extend(rows);
                let batch = Batch {
                    mesh,
                    texture: Some(texture),
                    kind: BatchKind::World,
                    bind_group: part.bind_group,
                    attribute_base: part.bind_group.and(base),
                    instances: first..self.rows.len() as u32,
                };
                add_batch(&mut self.batches, batch);
            }
        }
    }

    /// Appends the order to that of the frame.
    fn add_to(&self, phase: &mut Phase2d) {
        let first = phase.order.len() as u32;
        phase.order.extend_from_slice(&self.rows);
        phase.batches.extend(self.batches.iter().map(|batch| {
            let mut batch = batch.clone();
            if batch.kind == BatchKind::World {
                batch.instances = first + batch.instances.start..first + batch.instances.end;
            }
            batch
        }));
    }
}

/// Adds the instance of a tilemap chunk, and returns its batch.
fn chunk_batch(
    scene: &Scene<'_, '_>,
    lists: &mut Lists<'_>,
    view: &View2d,
    entity: Entity,
) -> Option<Batch> {
    let (chunk, transform) = scene.chunks.get(entity).ok()?;
    let tiles = scene.tilemaps.first_tile(entity)?;
    let Lists {
        phase, textures, ..
    } = lists;
    let texture = phase.tileset(chunk.tileset.id(), &scene.images, textures)?;
    // Compared by image: the tileset may have joined the textures just now.
    if textures.0.get(texture.image as usize) == scene.targets.get(view.target as usize) {
        return None;
    }
    let first = phase.chunks.len() as u32;
    let alpha = AlphaMode::from(chunk.alpha_mode);
    let world = transform.affine();
    let instance = Chunk::new(&chunk, world, alpha, tiles);
    if !instance.is_finite() {
        let what = || {
            first_non_finite(&[
                ("transform", &world.to_cols_array()),
                ("alpha_mode", &[alpha.to_shader()]),
            ])
        };
        let who = format_args!("the tilemap chunk {}", entity_name(entity));
        scene.warnings.warn(who, what);
        return None;
    }
    phase.chunks.push(instance);
    Some(Batch {
        mesh: scene.meshes.quad(),
        texture: Some(texture),
        kind: BatchKind::Tiles,
        bind_group: None,
        attribute_base: None,
        instances: first..first + 1,
    })
}
