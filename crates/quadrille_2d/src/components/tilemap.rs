//! Tilemaps: bevy's `TilemapChunk` and its related types by name and field. bevy defines them in a crate that
//! needs `wgpu`.

mod orientation;

use bevy_asset::{Assets, Handle};
use bevy_color::Color;
use bevy_derive::{Deref, DerefMut};
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use bevy_image::Image;
use bevy_math::{UVec2, Vec2};
use bevy_mesh::{Mesh, Mesh2d};
use bevy_platform::collections::HashMap;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use bevy_shape::Rectangle;
use bevy_transform::components::Transform;

pub use orientation::TileOrientation;

use crate::components::material::AlphaMode2d;

/// A rectangular chunk of tiles, centred on its entity and drawn as one quad. [`TilemapChunkTileData`]
/// has its tiles.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_image::{ImageArrayLayout, ImageLoaderSettings};
/// use bevy_math::UVec2;
/// use quadrille_2d::prelude::*;
///
/// fn setup(mut commands: Commands, assets: Res<AssetServer>) {
///     // Four tiles, one below the other, become four layers.
///     let tileset = assets
///         .load_builder()
///         .with_settings(|settings: &mut ImageLoaderSettings| {
///             settings.array_layout = Some(ImageArrayLayout::RowCount { rows: 4 });
///         })
///         .load("tiles.png");
///     commands.spawn((
///         TilemapChunk {
///             chunk_size: UVec2::new(2, 1),
///             tile_display_size: UVec2::splat(16),
///             tileset,
///             ..TilemapChunk::default()
///         },
///         TilemapChunkTileData(vec![Some(TileData::from_tileset_index(3)), None]),
///     ));
/// }
/// ```
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(Component, Clone, Debug, Default)]
#[component(immutable, on_insert = insert_chunk_mesh)]
#[require(Transform, TilemapChunkTileData)]
pub struct TilemapChunk {
    /// Columns and rows.
    pub chunk_size: UVec2,
    /// Size of a tile in world units.
    pub tile_display_size: UVec2,
    /// Array image with one tile per layer.
    pub tileset: Handle<Image>,
    /// Alpha mode of the tiles. Texels with alpha 0 are discarded in any case.
    pub alpha_mode: AlphaMode2d,
}

impl TilemapChunk {
    /// Width and height in world units.
    pub(crate) fn size(&self) -> Vec2 {
        self.chunk_size.as_vec2() * self.tile_display_size.as_vec2()
    }

    /// Number of tiles.
    pub(crate) fn tiles(&self) -> usize {
        (self.chunk_size.x as usize).saturating_mul(self.chunk_size.y as usize)
    }

    /// Returns the centre of a tile relative to the centre of the chunk; tile positions count from the bottom left.
    pub fn calculate_tile_transform(&self, position: UVec2) -> Transform {
        let center = position.as_vec2() + 0.5 - self.chunk_size.as_vec2() / 2.0;
        let translation = center * self.tile_display_size.as_vec2();
        Transform::from_translation(translation.extend(0.0))
    }
}

/// Image, color and orientation of one tile.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub struct TileData {
    /// Array layer of the tileset.
    pub tileset_index: u16,
    /// Tint. As in bevy, its sRGB-encoded channels are multiplied with the image's linear ones.
    pub color: Color,
    /// Whether the tile is drawn.
    pub visible: bool,
    /// Rotation and mirroring of the tile's image.
    pub orientation: TileOrientation,
}

impl Default for TileData {
    fn default() -> Self {
        Self {
            tileset_index: 0,
            color: Color::WHITE,
            visible: true,
            orientation: TileOrientation::Default,
        }
    }
}

impl TileData {
    /// A visible white tile without rotation from a layer of the tileset.
    pub fn from_tileset_index(tileset_index: u16) -> Self {
        Self {
            tileset_index,
            ..Self::default()
        }
    }
}

/// Tiles of a chunk in row-major order from the bottom left. `None` is an empty tile.
#[derive(Component, Clone, Debug, Default, Deref, DerefMut, Reflect)]
#[reflect(Component, Clone, Debug, Default)]
pub struct TilemapChunkTileData(pub Vec<Option<TileData>>);

impl TilemapChunkTileData {
    /// Returns the tile at a position, counted from the bottom left of a map of `tilemap_size`.
    pub fn tile_data_from_tile_pos(
        &self,
        tilemap_size: UVec2,
        position: UVec2,
    ) -> Option<&TileData> {
        let before = (tilemap_size.x as usize).checked_mul(position.y as usize)?;
        self.0
            .get(before.checked_add(position.x as usize)?)?
            .as_ref()
    }

    /// Creates tile data from rows that are ordered from the top.
    pub fn from_y_down_tiles(chunk_size: UVec2, tiles: Vec<Option<TileData>>) -> Self {
        let row = (chunk_size.x as usize).max(1);
        Self(tiles.chunks(row).rev().flatten().copied().collect())
    }
}

/// Rectangle meshes by the bits of their size: bevy computes the `Aabb` for culling a chunk from its mesh.
#[derive(Resource, Default)]
pub(crate) struct ChunkMeshes(HashMap<[u32; 2], Handle<Mesh>>);

/// Inserts the rectangle mesh that bevy culls a chunk by.
fn insert_chunk_mesh(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    let Some(chunk) = world.get::<TilemapChunk>(entity) else {
        return;
    };
    let size = chunk.size();
    let key = size.to_array().map(f32::to_bits);
    let known = world.get_resource::<ChunkMeshes>();
    let known = known.and_then(|meshes| meshes.0.get(&key).cloned());
    let mesh = known.or_else(|| {
        let mesh = Mesh::from(Rectangle::from_size(size));
        let mesh = world.get_resource_mut::<Assets<Mesh>>()?.add(mesh);
        let mut meshes = world.get_resource_mut::<ChunkMeshes>()?;
        meshes.0.insert(key, mesh.clone());
        Some(mesh)
    });
    if let Some(mesh) = mesh {
        world.commands().entity(entity).insert(Mesh2d(mesh));
    }
}

#[cfg(test)]
mod tests;
