//! Instance data of chunks, and packed tiles.

use bevy_color::ColorToPacked as _;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_math::Affine3A;
use bytemuck::{Pod, Zeroable};
use quadrille::prelude::GpuBuffer;
use quadrille::rows::ShaderRow;
use quadrille::vulkan::pipeline::VertexLayout;

use crate::components::tilemap::{TileData, TilemapChunk};
use crate::instances::mesh_instance::AlphaMode;
use quadrille_content::affine::affine_rows;
use quadrille_content::warnings::is_finite;

/// Instance buffer of tilemap chunks.
#[derive(Resource, Deref)]
pub struct Chunks2d(pub(crate) GpuBuffer);

/// Per-instance vertex data of a chunk (`tile.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_2d/tile.wgsl", "Vertex")]
pub(crate) struct Chunk {
    /// Rows of the affine matrix from the unit quad to world space.
    pub(crate) world_from_local: [[f32; 4]; 3],
    /// Columns, rows, and index of the first tile in the tile buffer.
    pub(crate) tiles: [u32; 3],
    /// As in [`Instance`](crate::instances::mesh_instance::Instance).
    pub(crate) alpha_mode: f32,
}

impl Chunk {
    /// Creates the instance of a chunk whose tiles begin at index `first`.
    pub(crate) fn new(chunk: &TilemapChunk, world: Affine3A, alpha: AlphaMode, first: u32) -> Self {
        let world = world * Affine3A::from_scale(chunk.size().extend(1.0));
        Self {
            world_from_local: affine_rows(world),
            tiles: [chunk.chunk_size.x, chunk.chunk_size.y, first],
            alpha_mode: alpha.to_shader(),
        }
    }

    /// Whether all values are finite.
    pub(crate) fn is_finite(&self) -> bool {
        is_finite(self.world_from_local.as_flattened()) && self.alpha_mode.is_finite()
    }

    /// Vertex layout: locations 3 to 7.
    pub(crate) fn layout() -> VertexLayout {
        VertexLayout::of_row::<Self>(3).per_instance()
    }
}

/// One tile of the tile buffer (`tile.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_2d/tile.wgsl", "PackedTileData")]
pub(crate) struct PackedTileData {
    /// From the lowest bit: array layer (16), visible (1), orientation (3).
    index_and_flags: u32,
    /// sRGB color, 8 bits each: red in the lowest, then green, blue, alpha.
    color: u32,
}

impl From<Option<TileData>> for PackedTileData {
    fn from(tile: Option<TileData>) -> Self {
        let Some(tile) = tile else {
            return Self::default();
        };
        let flags = u32::from(tile.visible) | u32::from(tile.orientation as u8) << 1;
        Self {
            index_and_flags: u32::from(tile.tileset_index) | flags << 16,
            color: u32::from_le_bytes(tile.color.to_srgba().to_u8_array()),
        }
    }
}

#[cfg(test)]
mod tests;
