//! Between which distances a mesh is seen, as shaders read it.

use bevy_camera::visibility::VisibilityRange;
use bevy_math::{Vec3, Vec4};
use half::f16;

use crate::scene::rows::InstanceRow;

/// The distances between which it appears, and those between which it disappears, as half floats: they
/// are off by 1 in 2000. Both 0 say that it is seen from everywhere.
pub(crate) fn pack_visibility_range(range: &VisibilityRange) -> [u32; 2] {
    let pack = |[low, high]: [f32; 2]| {
        let [low, high] = [low, high].map(|distance| u32::from(f16::from_f32(distance).to_bits()));
        low | high << 16
    };
    let [start, end] = [&range.start_margin, &range.end_margin];
    match [[start.start, start.end], [end.start, end.end]].map(pack) {
        // From nowhere: it ends before it begins.
        [0, 0] => [1, 0],
        row => row,
    }
}

/// Same test as the function of `visibility_range.wgsl` with this name, for instances that the CPU lists.
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
