//! Packed visibility ranges.

use bevy_camera::visibility::VisibilityRange;
use bevy_math::{Vec3, Vec4};
use half::f16;

use crate::scene::rows::InstanceRow;

/// Packs start and end margins as half floats (relative error below 1/2000). Zeros: visible at all distances.
pub(crate) fn pack_visibility_range(range: &VisibilityRange) -> [u32; 2] {
    let pack = |[low, high]: [f32; 2]| {
        let [low, high] = [low, high].map(|distance| u32::from(f16::from_f32(distance).to_bits()));
        low | high << 16
    };
    let [start, end] = [&range.start_margin, &range.end_margin];
    match [[start.start, start.end], [end.start, end.end]].map(pack) {
        // Never visible: an empty range.
        [0, 0] => [1, 0],
        row => row,
    }
}

/// Same test as `is_outside_visibility_range` of `visibility_range.wgsl`, for transparent instances, which the CPU
/// lists.
pub(crate) fn is_outside_visibility_range(instance: &InstanceRow, eye: [f32; 4]) -> bool {
    let [start, end] = instance.range;
    if eye[3] == 0.0 || (start, end) == (0, 0) {
        return false;
    }
    let position = Vec3::from(instance.world_from_local.map(|row| row[3]));
    let distance = (Vec4::from(eye).truncate() - position).length();
    let unpack = |bits: u32| f16::from_bits(bits as u16).to_f32();
    distance < unpack(start) || distance >= unpack(end >> 16)
}

#[cfg(test)]
mod tests;
