//! Retained instances of sprites, texts and meshes: their rows stay in the instance buffer, and are rebuilt only if a
//! component or asset that they depend on has changed.
//!
//! An item is validated, by the change ticks of its components, in each frame in which its entity is visible to a
//! camera. So despawned, disabled and hidden entities need no events: an item that was not visible for [`RETENTION`]
//! frames is freed.

use std::ops::Range;

use bevy_asset::AssetId;
use bevy_ecs::change_detection::Tick;
use bevy_ecs::prelude::*;
use bevy_image::Image as ImageAsset;
use bevy_math::Rect;
use bevy_mesh::Mesh;
use bytemuck::cast_slice;
use quadrille_content::affine::AffineRows;
use quadrille_content::buffers::RangeTable;
use smallvec::SmallVec;

use crate::instances::mesh_instance::Instance;
use crate::scene::drawn_images::DrawnImages;

/// Kind of an item. An entity has at most one item of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemKind {
    Sprite,
    Text,
    Mesh,
    /// Mesh with a material that has a shader of its own.
    MaterialMesh,
    /// Tilemap chunk: an item without rows.
    Chunk,
}

const KINDS: usize = 5;

/// Fingerprint (64 bits) of the change ticks that an item was built from, and of the presence of components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// Odd number near 2^64 divided by the golden ratio (D. Knuth, "The Art of Computer Programming", 6.4).
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

    /// Adds the last change of a component; `None` if the entity lacks it.
    pub(crate) fn add(self, tick: Option<Tick>) -> Self {
        let number = tick.map_or(0, |tick| 1 << 32 | u64::from(tick.get()));
        self.add_number(number)
    }

    /// Adds a number.
    pub(crate) fn add_number(self, number: u64) -> Self {
        Self((self.0.rotate_left(23) ^ number).wrapping_mul(Self::FACTOR))
    }
}

/// Relation of an item's row transform to the entity's transform, so that moving an entity needs no rebuild.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RowTransform {
    /// The item has several rows, or none, and is rebuilt when the entity moves.
    Rebuilt,
    /// The row is a quad over this rectangle.
    Quad(Rect),
    /// The row has the entity's own transform.
    Own,
}

/// Consecutive rows of an item with one mesh and image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Mesh asset; `None` is the unit quad.
    pub(crate) mesh: Option<AssetId<Mesh>>,
    /// Index in [`DrawnImages`].
    pub(crate) image: u32,
    /// Index of the material's bind group.
    pub(crate) bind_group: Option<u32>,
    /// Number of rows; 0 if the image cannot be drawn yet.
    pub(crate) rows: u32,
}

/// Retained item.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) entity: Entity,
    kind: ItemKind,
    /// Fingerprint without the transform if that is applied by `row_transform`.
    pub(crate) stamp: Stamp,
    /// Last change of the transform.
    pub(crate) transform_tick: u32,
    /// Frame in which it was built.
    built_in: u64,
    /// Last frame in which it was visible to a camera.
    used_in: u64,
    /// Sort key.
    pub(crate) key: u64,
    /// Added to z in the sort key.
    pub(crate) depth_bias: f32,
    /// Rows in the instance table.
    pub(crate) rows: Range<u32>,
    pub(crate) parts: SmallVec<[Part; 1]>,
    pub(crate) row_transform: RowTransform,
    /// Assets it depends on besides its images.
    depends_on: AssetKinds,
    /// Whether it cannot be drawn. It is then rebuilt each frame, to repeat its rate-limited warning.
    is_invalid: bool,
}

/// Kinds of assets that an item depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AssetKinds {
    /// [`ColorMaterial`](crate::ColorMaterial).
    pub(crate) materials: bool,
    /// Materials with a shader of their own.
    pub(crate) custom_materials: bool,
    pub(crate) atlas_layouts: bool,
}

/// Item as built by a task.
#[derive(Debug)]
pub(crate) struct BuiltItem {
    pub(crate) entity: Entity,
    pub(crate) kind: ItemKind,
    pub(crate) stamp: Stamp,
    pub(crate) transform_tick: u32,
    pub(crate) key: u64,
    pub(crate) depth_bias: f32,
    /// Range in the rows of the task.
    pub(crate) rows: Range<u32>,
    /// Range in the parts of the task.
    pub(crate) parts: Range<u32>,
    pub(crate) row_transform: RowTransform,
    pub(crate) depends_on: AssetKinds,
    pub(crate) is_invalid: bool,
}

/// Part as built by a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BuiltPart {
    pub(crate) mesh: Option<AssetId<Mesh>>,
    pub(crate) image: AssetId<ImageAsset>,
    pub(crate) bind_group: Option<u32>,
    pub(crate) rows: u32,
}

/// Item whose entity has only moved.
#[derive(Debug)]
pub(crate) struct MovedItem {
    pub(crate) index: u32,
    pub(crate) transform_tick: u32,
    pub(crate) key: u64,
    pub(crate) world_from_local: AffineRows,
}

/// Frames after which an unused item is freed, and frames between two searches for unused items.
const RETENTION: u64 = 64;

/// No item in [`Items::by_entity`].
const NONE: u32 = u32::MAX;

/// All retained items.
#[derive(Resource, Default)]
pub(crate) struct Items {
    frame: u64,
    items: Vec<Item>,
    free: Vec<u32>,
    /// Indices of items by kind and entity index.
    by_entity: [Vec<u32>; KINDS],
    pub(crate) images: DrawnImages,
    /// Changes whenever the draw order or a batch of any item may have changed.
    order_changes: u64,
    materials_changed_in: u64,
    custom_materials_changed_in: u64,
    layouts_changed_in: u64,
    /// Numbers of items built and moved in this frame.
    work: [usize; 2],
}

impl Items {
    /// Begins a frame, in which assets of these kinds have changed.
    pub(crate) fn begin_frame(&mut self, changed: AssetKinds, rows: &mut RangeTable<Instance>) {
        self.frame += 1;
        self.work = [0; 2];
        if changed.materials {
            self.materials_changed_in = self.frame;
        }
        if changed.custom_materials {
            self.custom_materials_changed_in = self.frame;
        }
        if changed.atlas_layouts {
            self.layouts_changed_in = self.frame;
        }
        if self.frame.is_multiple_of(RETENTION) {
            self.free_unused(rows);
        }
    }

    /// Number of this frame.
    pub(crate) fn frame(&self) -> u64 {
        self.frame
    }

    /// Numbers of items that were built, and moved, in this frame.
    pub(crate) fn work(&self) -> [usize; 2] {
        self.work
    }

    /// Returns a counter that changes whenever the draw order or a batch of any item may have changed.
    pub(crate) fn order_changes(&self) -> u64 {
        self.order_changes
    }

    /// Marks the draw order and batches of all items as changed.
    pub(crate) fn change_order(&mut self) {
        self.order_changes += 1;
    }

    /// Returns an item by index.
    pub(crate) fn get(&self, index: u32) -> &Item {
        &self.items[index as usize]
    }

    /// Whether an item is a tilemap chunk.
    pub(crate) fn is_chunk(&self, index: u32) -> bool {
        self.get(index).kind == ItemKind::Chunk
    }

    /// Returns the index of an entity's item.
    pub(crate) fn find(&self, kind: ItemKind, entity: Entity) -> Option<u32> {
        let index = self.index(kind, entity)?;
        (self.get(index).entity == entity).then_some(index)
    }

    /// Returns the index of the item for this entity index, whose generation may be that of a despawned entity.
    fn index(&self, kind: ItemKind, entity: Entity) -> Option<u32> {
        let index = self.by_entity[kind as usize].get(entity.index_u32() as usize);
        index.copied().filter(|index| *index != NONE)
    }

    /// Whether all dependencies of an item, except the transform, are unchanged. `stamp` is the current fingerprint.
    pub(crate) fn is_current(&self, item: &Item, stamp: Stamp) -> bool {
        let is_unchanged = |part: &Part| self.images.is_unchanged_since(part.image, item.built_in);
        let depends_on = item.depends_on;
        let is_outdated = item.is_invalid
            || depends_on.materials && self.materials_changed_in > item.built_in
            || depends_on.custom_materials && self.custom_materials_changed_in > item.built_in
            || depends_on.atlas_layouts && self.layouts_changed_in > item.built_in;
        item.stamp == stamp && !is_outdated && item.parts.iter().all(is_unchanged)
    }

    /// Marks an item as used in this frame.
    pub(crate) fn mark_used(&mut self, index: u32) {
        self.items[index as usize].used_in = self.frame;
    }

    /// Moves an item.
    pub(crate) fn apply_move(&mut self, moved: &MovedItem, rows: &mut RangeTable<Instance>) {
        let item = &mut self.items[moved.index as usize];
        item.used_in = self.frame;
        item.transform_tick = moved.transform_tick;
        if item.key != moved.key {
            item.key = moved.key;
            self.order_changes += 1;
        }
        for row in rows.change(&item.rows) {
            row.world_from_local = moved.world_from_local;
        }
        self.work[1] += 1;
    }

    /// Adds or replaces an item, and returns its index.
    pub(crate) fn apply(
        &mut self,
        built: &BuiltItem,
        (built_rows, built_parts): (&[Instance], &[BuiltPart]),
        rows: &mut RangeTable<Instance>,
    ) -> u32 {
        let index = self
            .index(built.kind, built.entity)
            .unwrap_or_else(|| self.add(built));
        let images = &mut self.images;
        let parts = built_parts.iter().map(|part| Part {
            mesh: part.mesh,
            image: images.intern(part.image),
            bind_group: part.bind_group,
            rows: part.rows,
        });
        let parts: SmallVec<[Part; 1]> = parts.collect();
        let item = &mut self.items[index as usize];
        let mut is_reordered =
            (item.entity, item.key) != (built.entity, built.key) || item.parts != parts;
        if item.rows.len() != built_rows.len() {
            rows.remove(std::mem::take(&mut item.rows));
            item.rows = rows.add(built_rows.len() as u32);
            is_reordered = true;
        }
        let range = item.rows.start as usize..item.rows.end as usize;
        if cast_slice::<_, u8>(&rows.rows()[range]) != cast_slice::<_, u8>(built_rows) {
            rows.change(&item.rows).copy_from_slice(built_rows);
        }
        item.entity = built.entity;
        item.stamp = built.stamp;
        item.transform_tick = built.transform_tick;
        item.built_in = self.frame;
        item.used_in = self.frame;
        item.key = built.key;
        item.depth_bias = built.depth_bias;
        item.parts = parts;
        item.row_transform = built.row_transform;
        item.depends_on = built.depends_on;
        item.is_invalid = built.is_invalid;
        self.order_changes += u64::from(is_reordered);
        self.work[0] += 1;
        index
    }

    /// Adds an empty item.
    fn add(&mut self, built: &BuiltItem) -> u32 {
        let item = Item {
            entity: built.entity,
            kind: built.kind,
            stamp: Stamp::default(),
            transform_tick: 0,
            built_in: 0,
            used_in: self.frame,
            key: 0,
            depth_bias: 0.0,
            rows: 0..0,
            parts: SmallVec::new(),
            row_transform: RowTransform::Rebuilt,
            depends_on: AssetKinds::default(),
            is_invalid: false,
        };
        let index = self.free.pop().unwrap_or(self.items.len() as u32);
        match self.items.get_mut(index as usize) {
            Some(free) => *free = item,
            None => self.items.push(item),
        }
        let by_entity = &mut self.by_entity[built.kind as usize];
        let at = built.entity.index_u32() as usize;
        if by_entity.len() <= at {
            by_entity.resize(at + 1, NONE);
        }
        by_entity[at] = index;
        self.order_changes += 1;
        index
    }

    /// Frees the items that were not visible for [`RETENTION`] frames, and the images without items.
    fn free_unused(&mut self, rows: &mut RangeTable<Instance>) {
        let mut has_items = vec![false; self.images.len()];
        for (index, item) in self.items.iter_mut().enumerate() {
            let at = item.entity.index_u32() as usize;
            let indices = &mut self.by_entity[item.kind as usize];
            if indices[at] != index as u32 {
                // Free already.
                continue;
            }
            if item.used_in + RETENTION < self.frame {
                indices[at] = NONE;
                rows.remove(std::mem::take(&mut item.rows));
                item.parts.clear();
                self.free.push(index as u32);
                continue;
            }
            for part in &item.parts {
                has_items[part.image as usize] = true;
            }
        }
        self.images.retain(&has_items);
    }
}

#[cfg(test)]
mod tests;
