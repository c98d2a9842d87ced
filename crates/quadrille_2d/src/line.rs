//! What is drawn of gizmos: an instance of a line, or of a joint between two.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bytemuck::{Pod, Zeroable};
use quadrille::prelude::GpuBuffer;
use quadrille::vulkan::{Format, VertexLayout};

#[cfg(feature = "gizmos")]
use quadrille_content::is_finite;

/// The lines of the gizmos of this frame.
#[derive(Resource, Deref)]
pub struct Lines2d(pub(crate) GpuBuffer);

/// One line, or one part of a joint, as the shader reads it (`line.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct Line {
    /// In the world: both ends of a line, or the places before, at and after a joint.
    pub(crate) places: [[f32; 3]; 3],
    /// Linear, at both ends.
    pub(crate) colors: [[f32; 4]; 2],
    /// In pixels.
    pub(crate) width: f32,
    /// Of dashes: how long they are, how far their begins are apart, where the first begins, all
    /// in widths. Of a part of a round joint: which one, of how many.
    pub(crate) pattern: [f32; 3],
    /// [`Kind`] as a number.
    pub(crate) kind: u32,
}

/// What an instance of [`Line`] is.
#[cfg_attr(
    not(feature = "gizmos"),
    expect(dead_code, reason = "only gizmos make lines")
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Kind {
    Solid,
    Dashed,
    Miter,
    Bevel,
    Round,
}

impl Line {
    /// Whether it can be drawn.
    #[cfg(feature = "gizmos")]
    pub(crate) fn is_finite(&self) -> bool {
        is_finite(self.places.as_flattened())
            && is_finite(self.colors.as_flattened())
            && is_finite(&self.pattern)
            && self.width.is_finite()
    }

    /// How vertex shaders read lines: locations 3 to 10.
    pub(crate) fn layout() -> VertexLayout {
        let formats = [
            Format::R32G32B32_SFLOAT,
            Format::R32G32B32_SFLOAT,
            Format::R32G32B32_SFLOAT,
            Format::R32G32B32A32_SFLOAT,
            Format::R32G32B32A32_SFLOAT,
            Format::R32_SFLOAT,
            Format::R32G32B32_SFLOAT,
            Format::R32_UINT,
        ];
        VertexLayout::packed(3, &formats).per_instance()
    }
}

#[cfg(test)]
mod tests;
