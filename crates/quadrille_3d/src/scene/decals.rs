//! Clustered decals of a frame, and the masks of the slices that they touch in each view.

use bevy_ecs::prelude::*;
use bevy_math::{Mat4, Vec3, Vec4};
use bytemuck::{Pod, Zeroable};
use quadrille::rows::ShaderRow;
use quadrille_content::buffers::RawBufferVec;

use crate::constants::{FIRST_SLICE_DEPTH, SLICES_PER_AXIS, SLICES_PER_OCTAVE, TOTAL_SLICES};
use crate::scene::rows::ViewRow;

/// Decal row of shaders.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/decals.wgsl", "Decal")]
pub(crate) struct DecalRow {
    /// Rows of the affine matrix from the world to the box, whose sides are 1.
    pub(crate) local_from_world: [[f32; 4]; 3],
    /// Packed texture indices: base color, normals, metal and roughness, emission.
    pub(crate) textures: [u32; 4],
    pub(crate) tag: u32,
    pub(crate) unused: [u32; 3],
}

/// Decals of the frame, and their masks by view.
#[derive(Resource, Default)]
pub(crate) struct DecalLists {
    pub(crate) rows: Vec<DecalRow>,
    /// Masks of all views: per view `TOTAL_SLICES` masks of one bit per decal.
    pub(crate) masks: Vec<u32>,
    /// Contents of the buffer: rows, then masks.
    pub(crate) table: RawBufferVec<[u32; 4]>,
    /// Boxes to the world, by row.
    pub(crate) world_from_local: Vec<Mat4>,
}

/// Part of a slice by which ranges are wider, for rounding.
const MARGIN: f32 = 0.01;

/// Size of a row in words.
const ROW_WORDS: usize = size_of::<DecalRow>() / 4;

impl DecalLists {
    /// Joins rows and masks in the table; at least one entry of zeros.
    pub(crate) fn fill_table(&mut self) {
        self.table.clear();
        let table: &mut Vec<[u32; 4]> = &mut self.table;
        table.extend_from_slice(bytemuck::cast_slice(&self.rows));
        let (whole, rest) = self.masks.as_chunks();
        table.extend_from_slice(whole);
        if !rest.is_empty() || table.is_empty() {
            let mut last = [0; 4];
            last[..rest.len()].copy_from_slice(rest);
            table.push(last);
        }
    }

    /// Adds the masks of a view, and sets their range in its row. Without decals there are none.
    pub(crate) fn add_view(&mut self, view: &mut ViewRow) {
        let words = self.rows.len().div_ceil(32) as u32;
        view.first_decal_mask = (self.rows.len() * ROW_WORDS + self.masks.len()) as u32;
        view.decal_words = words;
        let masks = &mut self.masks;
        let first = masks.len();
        masks.resize(first + (TOTAL_SLICES * words) as usize, 0);
        for (decal, world_from_local) in self.world_from_local.iter().enumerate() {
            let Some(slices) = touched_slices(view, world_from_local) else {
                continue;
            };
            for (axis, [low, high]) in (0..).zip(slices) {
                for slice in low..=high {
                    let mask = (axis * SLICES_PER_AXIS + slice) * words + decal as u32 / 32;
                    masks[first + mask as usize] |= 1 << (decal % 32);
                }
            }
        }
    }
}

/// First and last slice along each axis that a box of sides 1 touches; `None` if it is outside of the view.
fn touched_slices(view: &ViewRow, world_from_local: &Mat4) -> Option<[[u32; 2]; 3]> {
    let clip_from_world = Mat4::from_cols_array(&view.clip_from_world);
    let (forward, eye) = (Vec3::from(view.forward), Vec3::from(view.position));
    let mut low = Vec3::INFINITY;
    let mut high = Vec3::NEG_INFINITY;
    let mut is_behind = false;
    for corner in 0..8_u32 {
        let side = |bit: u32| (corner >> bit & 1) as f32 - 0.5;
        let position = world_from_local.transform_point3(Vec3::new(side(0), side(1), side(2)));
        let clip: Vec4 = clip_from_world * position.extend(1.0);
        let depth = forward.dot(position - eye);
        // Behind the view the projection is unknown.
        is_behind |= clip.w < 1e-6;
        let ndc = clip.truncate() / clip.w.max(1e-6);
        let at = Vec3::new(ndc.x, ndc.y, depth);
        low = low.min(at);
        high = high.max(at);
    }
    if high.z < 0.0 {
        return None;
    }
    let slices = SLICES_PER_AXIS as f32;
    let across = |ndc: f32| (ndc * 0.5 + 0.5) * slices;
    let deep =
        |depth: f32| (depth.max(FIRST_SLICE_DEPTH) / FIRST_SLICE_DEPTH).log2() * SLICES_PER_OCTAVE;
    let range = |low: f32, high: f32| {
        let last = slices - 1.0;
        let [low, high] = [low - MARGIN, high + MARGIN];
        (high >= 0.0 && low < slices)
            .then(|| [low, high].map(|it| it.floor().clamp(0.0, last) as u32))
    };
    let whole = [0, SLICES_PER_AXIS - 1];
    let [x, y] = match is_behind {
        true => [whole, whole],
        false => [
            range(across(low.x), across(high.x))?,
            range(across(low.y), across(high.y))?,
        ],
    };
    // Beyond the last slice all depths are in it.
    let z = range(deep(low.z).min(slices - 1.0), deep(high.z))?;
    Some([x, y, z])
}

#[cfg(test)]
mod tests;
