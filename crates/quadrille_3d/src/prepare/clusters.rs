//! Light masks of clustered shading, filled by [`cluster_3d`](crate::systems::cluster_3d).
//!
//! Each light of a view is a bit, in summation order. The view is divided into slices along screen x, screen y and
//! depth, and each slice has a mask of the lights that intersect it. A fragment lies in one slice per axis: the AND of
//! the three masks has all lights that may reach it. Masks have any number of 32-bit words, so there is no light list
//! that could overflow.

use bevy_ecs::prelude::*;
use quadrille::prelude::GpuDevice;
use quadrille_content::buffers::grow_buffer;

use crate::constants::TOTAL_SLICES;
use crate::scene::buffers::LightMasks3d;
use crate::scene::lists::ViewRows;
use crate::scene::rows::{LightRow, ViewRow};

/// Sorts lights for coherent masks.
#[derive(Default)]
pub(crate) struct LightSorter(Vec<(u64, LightRow)>);

impl LightSorter {
    /// Sorts the lights of a view so that neighbours are close in space: directional lights first, others in Morton
    /// order. Returns the number of directional lights.
    pub(crate) fn sort(&mut self, rows: &mut [LightRow]) -> u32 {
        let Self(keyed) = self;
        keyed.clear();
        keyed.extend(rows.iter().map(|row| match row.is_directional() {
            true => (0, *row),
            false => (1 + morton_code(row.position_or_direction), *row),
        }));
        // Stable: lights with equal keys keep their order.
        keyed.sort_by_key(|(key, _)| *key);
        for (row, (_, sorted)) in rows.iter_mut().zip(keyed.iter()) {
            *row = *sorted;
        }
        keyed.iter().take_while(|(key, _)| *key == 0).count() as u32
    }
}

/// Morton code of a point, in cells of 2 world units.
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

/// Assigns mask ranges to the rows of views, and resizes the mask buffer.
pub(crate) fn prepare_clusters(
    mut views: ResMut<ViewRows>,
    mut masks: ResMut<LightMasks3d>,
    gpu: Res<GpuDevice>,
) -> Result {
    let mut first = 0;
    for row in views.rows.iter_mut() {
        assign_masks(row, &mut first);
    }
    let bytes = u64::from(first) * size_of::<u32>() as u64;
    grow_buffer(&gpu, &mut masks.0, bytes)?;
    Ok(())
}

/// Assigns the mask range of a view.
fn assign_masks(row: &mut ViewRow, first: &mut u32) {
    row.first_mask = *first;
    row.mask_words = (row.light_count - row.directional_count).div_ceil(32);
    row.mask_blocks = row.mask_words.div_ceil(32);
    *first += TOTAL_SLICES * (row.mask_words + row.mask_blocks);
}

#[cfg(test)]
mod tests;
