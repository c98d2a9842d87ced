//! Boxes of nodes as instances: round corners, borders, shadows, gradients.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bytemuck::{Pod, Zeroable};
use quadrille::prelude::GpuBuffer;
use quadrille::vulkan::{Format, VertexLayout};

/// The boxes of nodes of this frame.
#[derive(Resource, Deref)]
pub struct Nodes2d(pub(crate) GpuBuffer);

/// One box as the shaders read it (`boxes.wgsl`). Places are in the pixels of its node, y up, the node's centre
/// at the origin.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct NodeInstance {
    /// The columns of the 2x2 matrix from the node to the world.
    pub(crate) axes: [f32; 4],
    /// Where the node's centre is in the world, and half the size of the box.
    pub(crate) origin_and_half_size: [f32; 4],
    /// Three corners with their uv: left top, right top and left bottom of a rectangle, all of a
    /// triangle.
    pub(crate) corners_and_uvs: [[f32; 4]; 3],
    /// Left top, right top, right bottom, left bottom.
    pub(crate) radii_x: [f32; 4],
    pub(crate) radii_y: [f32; 4],
    /// Left, top, right, bottom.
    pub(crate) widths: [f32; 4],
    pub(crate) tint: [f32; 4],
    /// Flags: the sides of the border as bits in the same order, 0 for the whole box, and those of `boxes.wgsl` and
    /// `gradient.wgsl`. The standard deviation of a shadow's blur, 0 for none; of gradients the hint.
    pub(crate) flags_and_sigma: [f32; 2],
    /// Color at the end of a gradient's segment; zeros for other boxes.
    pub(crate) end_color: [f32; 4],
}

impl NodeInstance {
    /// Whether it can be drawn.
    #[cfg(feature = "ui")]
    pub(crate) fn is_finite(&self) -> bool {
        quadrille_content::is_finite(bytemuck::cast_slice(std::slice::from_ref(self)))
    }

    /// How vertex shaders read boxes: locations 3 to 13.
    pub(crate) fn layout() -> VertexLayout {
        let mut formats = [Format::R32G32B32A32_SFLOAT; 11];
        formats[9] = Format::R32G32_SFLOAT;
        VertexLayout::packed(3, &formats).per_instance()
    }
}

#[cfg(test)]
mod tests;
