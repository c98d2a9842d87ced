//! Shared buffer of the tiles of all chunks: switching chunks needs no rebind.

use bevy_derive::Deref;
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_math::UVec2;
use quadrille::prelude::{BufferDesc, GpuBuffer, GpuDevice, Uploads};
use quadrille::vulkan::Error;

use crate::components::tilemap::{TileData, TilemapChunk, TilemapChunkTileData};
use crate::tilemaps::chunk::PackedTileData;
use quadrille_content::{RateLimitedWarnings, entity_name};

/// Storage buffer with the tiles of all chunks.
#[derive(Resource, Deref)]
pub struct Tiles2d(GpuBuffer);

/// Range of a chunk's tiles in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TileRange {
    first: usize,
    count: usize,
}

/// CPU copy of the tile buffer.
#[derive(Resource, Default)]
pub(crate) struct Tilemaps {
    ranges: EntityHashMap<TileRange>,
    tiles: Vec<PackedTileData>,
    /// Number of tiles of removed chunks.
    unused: usize,
    /// Ranges that are not uploaded yet.
    changed: Vec<TileRange>,
}

impl Tilemaps {
    /// Returns the index of a chunk's first tile; `None` if its tile data is missing or of the wrong length.
    pub(crate) fn first_tile(&self, chunk: Entity) -> Option<u32> {
        self.ranges.get(&chunk).map(|range| range.first as u32)
    }

    /// Marks all tiles for re-upload (new buffer or lost device).
    pub(crate) fn mark_all_dirty(&mut self) {
        self.changed.clear();
        self.changed.push(TileRange {
            first: 0,
            count: self.tiles.len(),
        });
    }

    /// Inserts the tiles of a chunk, in its previous range if the count is unchanged.
    fn insert(&mut self, chunk: Entity, data: &[Option<TileData>]) {
        let known = self.ranges.get(&chunk).copied();
        let range = match known.filter(|range| range.count == data.len()) {
            Some(range) => range,
            None => {
                self.remove(chunk);
                let first = self.tiles.len();
                self.tiles
                    .resize(first + data.len(), PackedTileData::default());
                TileRange {
                    first,
                    count: data.len(),
                }
            }
        };
        self.ranges.insert(chunk, range);
        let tiles = &mut self.tiles[range.first..][..range.count];
        for (tile, data) in tiles.iter_mut().zip(data) {
            *tile = PackedTileData::from(*data);
        }
        self.changed.push(range);
    }

    fn remove(&mut self, chunk: Entity) {
        if let Some(range) = self.ranges.remove(&chunk) {
            self.unused += range.count;
        }
    }

    /// Compacts the buffer if more than half of the tiles (and over 4096) belong to removed chunks.
    fn compact(&mut self) {
        if self.unused <= 1 << 12 || self.unused * 2 <= self.tiles.len() {
            return;
        }
        let mut ranges: Vec<&mut TileRange> = self.ranges.values_mut().collect();
        ranges.sort_unstable_by_key(|range| range.first);
        let mut end = 0;
        for range in ranges {
            self.tiles
                .copy_within(range.first..range.first + range.count, end);
            range.first = end;
            end += range.count;
        }
        self.tiles.truncate(end);
        self.unused = 0;
        self.mark_all_dirty();
    }

    /// Uploads changed ranges, growing the buffer if necessary.
    fn upload(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        buffer: &mut GpuBuffer,
    ) -> Result<(), Error> {
        let bytes = size_of_val(self.tiles.as_slice()) as u64;
        if buffer.bytes() < bytes {
            *buffer = tile_buffer(gpu, bytes)?;
            self.mark_all_dirty();
        }
        for range in self.changed.drain(..) {
            let tiles = &self.tiles[range.first..][..range.count];
            if !tiles.is_empty() {
                let offset = range.first * size_of::<PackedTileData>();
                uploads.write_buffer(buffer, offset as u64, bytemuck::cast_slice(tiles));
            }
        }
        Ok(())
    }
}

/// Creates the initial buffer.
pub(crate) fn buffer(gpu: &GpuDevice) -> Result<Tiles2d, Error> {
    tile_buffer(gpu, 0).map(Tiles2d)
}

/// Creates a buffer of at least `bytes`.
fn tile_buffer(gpu: &GpuDevice, bytes: u64) -> Result<GpuBuffer, Error> {
    let bytes = bytes.next_power_of_two().max(1 << 16);
    gpu.create_buffer(&BufferDesc::storage("2d tiles", bytes))
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
    tilemaps.compact();
    tilemaps.upload(&gpu, &mut uploads, &mut buffer.0)?;
    Ok(())
}

#[cfg(test)]
mod tests;
