//! Light clusters, which [`cluster_3d`](crate::cluster_3d) fills: the lights that may reach each part of a view.
//!
//! The lights of a view are bits, in the order in which they are summed up. The view is cut into slabs
//! along x and y of the picture and along depth, and each slab has the bits of the lights that touch it.
//! What is lit by a light lies in three of its slabs, so the bits that three slabs have in common name all
//! lights that count for a place. Words of 32 bits are enough for any number of lights: there is no list
//! that could be full.

use bevy_ecs::prelude::*;
use quadrille::prelude::GpuDevice;

use crate::scene::buffers::LightMasks3d;
use crate::scene::lists::ViewRows;
use crate::scene::rows::{LightRow, ViewRow};
use crate::tables::table::grow;

/// Slabs along all three axes.
pub(crate) const TOTAL_SLICES: u32 = 3 * 64;

/// Puts lights in order.
#[derive(Default)]
pub(crate) struct LightSorter(Vec<(u64, LightRow)>);

impl LightSorter {
    /// Puts the lights of a view in an order in which neighbours are close to each other: directional
    /// ones first, the others along a curve through space. Returns how many are directional.
    pub(crate) fn sort(&mut self, rows: &mut [LightRow]) -> u32 {
        let Self(keyed) = self;
        keyed.clear();
        keyed.extend(rows.iter().map(|row| match row.is_directional() {
            true => (0, *row),
            false => (1 + morton_code(row.position_or_direction), *row),
        }));
        // A stable sort: lights with equal keys keep their order.
        keyed.sort_by_key(|(key, _)| *key);
        for (row, (_, sorted)) in rows.iter_mut().zip(keyed.iter()) {
            *row = *sorted;
        }
        keyed.iter().take_while(|(key, _)| *key == 0).count() as u32
    }
}

/// The place of a point on Morton's curve through cells of 2 units of length.
fn morton_code(point: [f32; 3]) -> u64 {
    let spread = |axis: f32| {
        let mut bits = ((axis / 2.0).floor().clamp(-1e6, 1e6) + 1_048_576.0) as u64;
        for (shift, mask) in [
            (32, 0x001f_0000_0000_ffff),
            (16, 0x001f_0000_ff00_00ff),
            (8, 0x100f_00f0_0f00_f00f),
            (4, 0x10c3_0c30_c30c_30c3),
            (2, 0x1249_2492_4924_9249),
        ] {
            bits = (bits | bits << shift) & mask;
        }
        bits
    };
    let [x, y, z] = point.map(spread);
    x | y << 1 | z << 2
}

/// Gives the rows of views their parts of the bits, and makes room for them.
pub(crate) fn prepare_clusters(
    mut views: ResMut<ViewRows>,
    mut masks: ResMut<LightMasks3d>,
    gpu: Res<GpuDevice>,
) -> Result {
    let mut first = 0;
    for row in &mut views.rows.current {
        assign_masks(row, &mut first);
    }
    let bytes = u64::from(first) * size_of::<u32>() as u64;
    grow(&gpu, &mut masks.0, bytes)?;
    Ok(())
}

/// Gives a view its part of the bits.
fn assign_masks(row: &mut ViewRow, first: &mut u32) {
    row.first_mask = *first;
    row.mask_words = (row.light_count - row.directional_count).div_ceil(32);
    row.mask_blocks = row.mask_words.div_ceil(32);
    *first += TOTAL_SLICES * (row.mask_words + row.mask_blocks);
}

#[cfg(test)]
mod tests;
