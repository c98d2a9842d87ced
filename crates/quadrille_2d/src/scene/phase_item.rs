//! The order in which what a camera sees is drawn.
//!
//! Sprites, meshes and text share one list, sorted by z as bevy sorts its transparent phase: what
//! has the greater z covers the rest. At the same z opaque meshes come first, as bevy's opaque
//! phase does; then the order is that of the entities' indices, which is mostly the order in
//! which they were spawned, and the same in every run.

use bevy_ecs::prelude::*;

/// Something to be drawn. It is as short as it can be, since there are many to sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PhaseItem2d {
    /// z, then whether it is transparent, then the entity's index.
    key: u64,
    /// Where it is in the list of what was found, in the order of which an entity with several
    /// things to draw shows them.
    pub(crate) index: u32,
}

impl PhaseItem2d {
    /// An item of an entity at a z of the world. Transparent are all but opaque meshes.
    pub(crate) fn new(z: f32, is_transparent: bool, entity: Entity, index: u32) -> Self {
        // There are never so many entities that the highest bit of an index is set.
        let rank = u32::from(is_transparent) << 31 | entity.index_u32() & (u32::MAX >> 1);
        Self {
            key: u64::from(float_sort_key(z)) << 32 | u64::from(rank),
            index,
        }
    }
}

/// Bits that sort as unsigned numbers like the float does; all NaNs come last.
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
