//! The tiles of all chunks in one buffer, so that drawing another chunk changes no state.

use bevy_derive::Deref;
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_math::UVec2;
use quadrille::prelude::{BufferDesc, GpuBuffer, GpuDevice, Uploads};
use quadrille::vulkan::Error;

use crate::chunk::Tile;
use crate::tilemap::{TileData, TilemapChunk, TilemapChunkTileData};
use quadrille_content::{Complaints, named};

/// The tiles of all chunks.
#[derive(Resource, Deref)]
pub struct Tiles2d(GpuBuffer);

/// Where the tiles of a chunk are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    first: usize,
    count: usize,
}

/// The tiles as the device has them, or will have them.
#[derive(Resource, Default)]
pub(crate) struct Tilemaps {
    places: EntityHashMap<Place>,
    tiles: Vec<Tile>,
    /// How many belong to chunks that are gone.
    garbage: usize,
    /// What the device does not have yet.
    changed: Vec<Place>,
}

impl Tilemaps {
    /// Where the tiles of a chunk begin; none if it has too few, too many or none.
    pub(crate) fn first_tile(&self, chunk: Entity) -> Option<u32> {
        self.places.get(&chunk).map(|place| place.first as u32)
    }

    /// Forgets what the device's buffer holds.
    pub(crate) fn begin_anew(&mut self) {
        self.changed.clear();
        self.changed.push(Place {
            first: 0,
            count: self.tiles.len(),
        });
    }

    /// Puts the tiles of a chunk in, where they were before if there are as many.
    fn put(&mut self, chunk: Entity, data: &[Option<TileData>]) {
        let known = self.places.get(&chunk).copied();
        let place = match known.filter(|place| place.count == data.len()) {
            Some(place) => place,
            None => {
                self.remove(chunk);
                let first = self.tiles.len();
                self.tiles.resize(first + data.len(), Tile::default());
                Place {
                    first,
                    count: data.len(),
                }
            }
        };
        self.places.insert(chunk, place);
        let tiles = &mut self.tiles[place.first..][..place.count];
        for (tile, data) in tiles.iter_mut().zip(data) {
            *tile = Tile::from(*data);
        }
        self.changed.push(place);
    }

    fn remove(&mut self, chunk: Entity) {
        if let Some(place) = self.places.remove(&chunk) {
            self.garbage += place.count;
        }
    }

    /// Closes the gaps if more than half of the tiles belong to chunks that are gone.
    fn tidy(&mut self) {
        if self.garbage <= 1 << 12 || self.garbage * 2 <= self.tiles.len() {
            return;
        }
        let mut places: Vec<&mut Place> = self.places.values_mut().collect();
        places.sort_unstable_by_key(|place| place.first);
        let mut end = 0;
        for place in places {
            self.tiles
                .copy_within(place.first..place.first + place.count, end);
            place.first = end;
            end += place.count;
        }
        self.tiles.truncate(end);
        self.garbage = 0;
        self.begin_anew();
    }

    /// Brings the device's buffer up to date.
    fn send(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        buffer: &mut GpuBuffer,
    ) -> Result<(), Error> {
        let bytes = size_of_val(self.tiles.as_slice()) as u64;
        if buffer.bytes() < bytes {
            *buffer = tile_buffer(gpu, bytes)?;
            self.begin_anew();
        }
        for place in self.changed.drain(..) {
            let tiles = &self.tiles[place.first..][..place.count];
            if !tiles.is_empty() {
                let offset = place.first * size_of::<Tile>();
                uploads.write_buffer(buffer, offset as u64, bytemuck::cast_slice(tiles));
            }
        }
        Ok(())
    }
}

/// The buffer before there are tiles.
pub(crate) fn buffer(gpu: &GpuDevice) -> Result<Tiles2d, Error> {
    tile_buffer(gpu, 0).map(Tiles2d)
}

/// A buffer for at least so many bytes of tiles.
fn tile_buffer(gpu: &GpuDevice, bytes: u64) -> Result<GpuBuffer, Error> {
    let bytes = bytes.next_power_of_two().max(1 << 16);
    gpu.create_buffer(&BufferDesc::storage("2d tiles", bytes))
}

/// Chunks whose tiles may be others than before.
type ChangedChunks = Or<(Changed<TilemapChunk>, Changed<TilemapChunkTileData>)>;

/// Chunks that lost a component without which nothing of them is drawn.
#[derive(SystemParam)]
pub(crate) struct Removed<'w, 's> {
    chunks: RemovedComponents<'w, 's, TilemapChunk>,
    tiles: RemovedComponents<'w, 's, TilemapChunkTileData>,
}

/// Follows the chunks.
pub(crate) fn prepare_tiles(
    chunks: Query<(Entity, &TilemapChunk, &TilemapChunkTileData), ChangedChunks>,
    mut removed: Removed,
    mut tilemaps: ResMut<Tilemaps>,
    mut uploads: ResMut<Uploads>,
    gpu: Res<GpuDevice>,
    mut buffer: ResMut<Tiles2d>,
    complaints: Res<Complaints>,
) -> Result {
    for chunk in removed.chunks.read().chain(removed.tiles.read()) {
        tilemaps.remove(chunk);
    }
    for (entity, chunk, data) in &chunks {
        if data.is_empty() && chunk.tiles() == 0 {
            tilemaps.remove(entity);
        } else if data.len() == chunk.tiles() {
            tilemaps.put(entity, data);
        } else {
            let (count, UVec2 { x, y }) = (chunk.tiles(), chunk.chunk_size);
            let what = || format!("{count} tiles are {x} x {y}, and it has {}", data.len());
            complaints.warn(format_args!("the tilemap chunk {}", named(entity)), what);
            tilemaps.remove(entity);
        }
    }
    tilemaps.tidy();
    tilemaps.send(&gpu, &mut uploads, &mut buffer.0)?;
    Ok(())
}

#[cfg(test)]
mod tests;
