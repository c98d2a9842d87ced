//! Shared buffer of the tiles of all chunks: switching chunks needs no rebind.

use std::ops::Range;

use bevy_derive::Deref;
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_math::UVec2;
use quadrille::prelude::{BufferDesc, GpuBuffer, GpuDevice, Uploads};
use quadrille::vulkan::Error;

use crate::components::tilemap::{TileData, TilemapChunk, TilemapChunkTileData};
use crate::tilemaps::chunk::PackedTileData;
use quadrille_content::buffers::RangeTable;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

/// Storage buffer with the tiles of all chunks.
#[derive(Resource, Deref)]
pub struct Tiles2d(GpuBuffer);

/// Ranges of chunks in the tile buffer.
#[derive(Resource, Default)]
pub(crate) struct Tilemaps {
    ranges: EntityHashMap<Range<u32>>,
    tiles: RangeTable<PackedTileData>,
}

impl Tilemaps {
    /// Returns the index of a chunk's first tile; `None` if its tile data is missing or of the wrong length.
    pub(crate) fn first_tile(&self, chunk: Entity) -> Option<u32> {
        self.ranges.get(&chunk).map(|range| range.start)
    }

    /// Marks all tiles for re-upload (after a lost device).
    pub(crate) fn mark_all_dirty(&mut self) {
        self.tiles.mark_all_dirty();
    }

    /// Inserts the tiles of a chunk, in its previous range if the count is unchanged.
    fn insert(&mut self, chunk: Entity, data: &[Option<TileData>]) {
        let known = self.ranges.get(&chunk);
        let range = match known.filter(|range| range.len() == data.len()) {
            Some(range) => range.clone(),
            None => {
                self.remove(chunk);
                let range = self.tiles.add(data.len() as u32);
                self.ranges.insert(chunk, range.clone());
                range
            }
        };
        for (tile, data) in self.tiles.change(&range).iter_mut().zip(data) {
            *tile = PackedTileData::from(*data);
        }
    }

    fn remove(&mut self, chunk: Entity) {
        if let Some(range) = self.ranges.remove(&chunk) {
            self.tiles.remove(range);
        }
    }
}

/// Creates the initial buffer.
pub(crate) fn buffer(gpu: &GpuDevice) -> Result<Tiles2d, Error> {
    gpu.create_buffer(&BufferDesc::storage("2d tiles", 1 << 16))
        .map(Tiles2d)
}

/// Filter for chunks whose tiles may have changed.
type ChangedChunks = Or<(Changed<TilemapChunk>, Changed<TilemapChunkTileData>)>;

/// Chunks that lost a required component.
#[derive(SystemParam)]
pub(crate) struct Removed<'w, 's> {
    chunks: RemovedComponents<'w, 's, TilemapChunk>,
    tiles: RemovedComponents<'w, 's, TilemapChunkTileData>,
}

/// Updates the tiles of changed and removed chunks, and uploads them.
pub(crate) fn prepare_tiles(
    chunks: Query<(Entity, &TilemapChunk, &TilemapChunkTileData), ChangedChunks>,
    mut removed: Removed,
    mut tilemaps: ResMut<Tilemaps>,
    mut uploads: ResMut<Uploads>,
    gpu: Res<GpuDevice>,
    mut buffer: ResMut<Tiles2d>,
    warnings: Res<RateLimitedWarnings>,
) -> Result {
    for chunk in removed.chunks.read().chain(removed.tiles.read()) {
        tilemaps.remove(chunk);
    }
    for (entity, chunk, data) in &chunks {
        if data.is_empty() && chunk.tiles() == 0 {
            tilemaps.remove(entity);
        } else if data.len() == chunk.tiles() {
            tilemaps.insert(entity, data);
        } else {
            let (count, UVec2 { x, y }) = (chunk.tiles(), chunk.chunk_size);
            let what = || {
                format!(
                    "its size {x} x {y} requires {count} tiles, but it has {}",
                    data.len()
                )
            };
            warnings.warn(
                format_args!("the tilemap chunk {}", entity_name(entity)),
                what,
            );
            tilemaps.remove(entity);
        }
    }
    let tiles = &mut tilemaps.tiles;
    Ok(tiles.upload(&gpu, &mut uploads, &mut buffer.0)?)
}

#[cfg(test)]
mod tests;
