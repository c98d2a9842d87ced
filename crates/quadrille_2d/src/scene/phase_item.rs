//! Sort keys of visible entities.
//!
//! Sprites, meshes and text share one list, sorted back to front by z like bevy's transparent phase. At
//! equal z, opaque meshes come first, like bevy's opaque phase; then entities are ordered by index, which is
//! mostly spawn order and deterministic.

use bevy_ecs::prelude::*;

/// Sortable phase item, kept small because there may be 100,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PhaseItem2d {
    /// From the highest bits: z, whether it is transparent, entity index ([`sort_key`]).
    pub(crate) key: u64,
    /// Index in order of collection; orders several items of one entity.
    pub(crate) index: u32,
}

/// Returns the sort key of an item at world `z`. `is_transparent` is false only for opaque and alpha-mask meshes and
/// chunks.
pub(crate) fn sort_key(z: f32, is_transparent: bool, entity: Entity) -> u64 {
    // Entity indices never reach 2^31.
    let rank = u32::from(is_transparent) << 31 | entity.index_u32() & (u32::MAX >> 1);
    u64::from(float_sort_key(z)) << 32 | u64::from(rank)
}

/// Maps a float to an integer of the same order; NaNs sort last.
fn float_sort_key(value: f32) -> u32 {
    let bits = value.to_bits();
    if value.is_nan() {
        u32::MAX
    } else if bits >> 31 == 0 {
        bits | 1 << 31
    } else {
        !bits
    }
}

#[cfg(test)]
mod tests;
