//! Time of a frame for shaders of materials.

use bytemuck::{Pod, Zeroable};

/// Time of a frame in a uniform buffer: `bevy_render::globals::Globals`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct GlobalsRow {
    /// Seconds since the start, wrapped after an hour.
    pub time: f32,
    /// Seconds since the previous frame.
    pub delta_time: f32,
    /// Number of frames since the start, modulo 2^32.
    pub frame_count: u32,
}
