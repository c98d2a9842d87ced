//! View of shaders of materials.

use bytemuck::{Pod, Zeroable};
use quadrille::rows::ShaderRow;

/// View of shaders of materials: `bevy_sprite_render::mesh2d::view_bindings::View`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_2d/bevy/mesh2d_view_bindings.wgsl", "View")]
pub(crate) struct MaterialViewRow {
    pub(crate) clip_from_world: [f32; 16],
    pub(crate) unjittered_clip_from_world: [f32; 16],
    pub(crate) world_from_clip: [f32; 16],
    pub(crate) world_from_view: [f32; 16],
    pub(crate) view_from_world: [f32; 16],
    pub(crate) clip_from_view: [f32; 16],
    pub(crate) view_from_clip: [f32; 16],
    pub(crate) world_position: [f32; 3],
    pub(crate) exposure: f32,
    /// Left, top, width and height in pixels of the target.
    pub(crate) viewport: [f32; 4],
    pub(crate) main_pass_viewport: [f32; 4],
    /// Half spaces of the frustum, whose normals point inwards.
    pub(crate) frustum: [[f32; 4]; 6],
    pub(crate) lod_view_world_position: [f32; 3],
    pub(crate) mip_bias: f32,
    /// Number of submitted frames, modulo 2^32.
    pub(crate) frame_count: u32,
    pub(crate) unused: u32,
    pub(crate) unused_pair: [u32; 2],
    /// Padding to a multiple of 256 bytes, the largest `minUniformBufferOffsetAlignment`.
    pub(crate) padding: [[u32; 4]; 9],
}

const _: () = assert!(size_of::<MaterialViewRow>().is_multiple_of(256));
