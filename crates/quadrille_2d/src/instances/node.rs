//! Instance data of node boxes: rounded corners, borders, shadows, gradients.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bytemuck::{Pod, Zeroable};
use quadrille::prelude::GpuBuffer;
use quadrille::rows::ShaderRow;
use quadrille::vulkan::pipeline::VertexLayout;

/// Instance buffer of node boxes.
#[derive(Resource, Deref)]
pub struct Nodes2d(pub(crate) GpuBuffer);

/// Per-instance vertex data of one box (`boxes.wgsl`). Positions are in physical pixels relative to the node's
/// centre, y up.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_2d/boxes.wgsl", "Vertex")]
pub(crate) struct NodeInstance {
    /// Columns of the 2x2 matrix from node to world space.
    pub(crate) axes: [f32; 4],
    /// World position of the node's centre, and half size of the box.
    pub(crate) origin_and_half_size: [f32; 4],
    /// Three corners with texture coordinates: top left, top right and bottom left of a rectangle, or all of a
    /// triangle.
    pub(crate) corners_and_uvs: [[f32; 4]; 3],
    /// Corner radii along x: top left, top right, bottom right, bottom left.
    pub(crate) radii_x: [f32; 4],
    pub(crate) radii_y: [f32; 4],
    /// Border widths: left, top, right, bottom.
    pub(crate) widths: [f32; 4],
    pub(crate) tint: [f32; 4],
    /// Flags of `boxes.wgsl` and `gradient.wgsl`: the lowest bits select border sides in the order of `widths`; no bit
    /// means the whole box. Then the standard deviation of a shadow's blur (0: no shadow), or the hint of a gradient.
    /// For nodes with a material of their own, the flags are the material's row index instead.
    pub(crate) flags_and_sigma: [f32; 2],
    /// Color at the end of a gradient segment; zero for other boxes.
    pub(crate) end_color: [f32; 4],
}

impl NodeInstance {
    /// Whether all values are finite.
    #[cfg(feature = "ui")]
    pub(crate) fn is_finite(&self) -> bool {
        quadrille_content::warnings::is_finite(bytemuck::cast_slice(std::slice::from_ref(self)))
    }

    /// Vertex layout: locations 3 to 13.
    pub(crate) fn layout() -> VertexLayout {
        VertexLayout::of_row::<Self>(3).per_instance()
    }
}

#[cfg(test)]
mod tests;
