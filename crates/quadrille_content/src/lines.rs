//! The lines of gizmos, which 2D and 3D draw: an instance of a line, or of a joint between two.

#[cfg(feature = "gizmos")]
mod gizmos;

use std::ops::Range;

use bevy_camera::visibility::RenderLayers;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bytemuck::{Pod, Zeroable};
use quadrille::prelude::{GpuBuffer, GpuDevice};
use quadrille::vulkan::{Format, ShaderModule, VertexLayout};

use crate::buffers::buffer_vec::{RawBufferVec, instance_buffer};

#[cfg(feature = "gizmos")]
use crate::warnings::is_finite;
#[cfg(feature = "gizmos")]
pub(crate) use gizmos::add_gizmos;

/// The lines of the gizmos of this frame on the device: a [`Line`] each.
#[derive(Resource, Deref)]
pub struct GizmoLines(GpuBuffer);

/// The gizmos of this frame; none without bevy's `GizmoPlugin`.
#[derive(Resource, Default)]
pub struct GizmoLineBatches {
    lines: RawBufferVec<Line>,
    batches: Vec<GizmoLineBatch>,
}

/// Lines that the same cameras see, and that are drawn in the same way.
#[derive(Clone, Debug)]
pub struct GizmoLineBatch {
    layers: RenderLayers,
    /// Range in [`GizmoLines`].
    pub lines: Range<u32>,
    /// Between -1, before all else, and 1, as far as possible: only for 3D.
    pub depth_bias: f32,
    /// Widths are those at a distance of 1 of a camera with a perspective: only for 3D.
    pub perspective: bool,
}

impl GizmoLineBatches {
    /// Returns the batches that a camera of these layers draws.
    pub fn visible_in(&self, layers: &RenderLayers) -> impl Iterator<Item = &GizmoLineBatch> {
        let batches = self.batches.iter().filter(|set| !set.lines.is_empty());
        batches.filter(move |set| set.layers.intersects(layers))
    }
}

/// Makes the buffer of lines, and forgets what the one before had.
pub(crate) fn init_gizmo_lines(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    mut batches: ResMut<GizmoLineBatches>,
) -> Result {
    batches.lines.mark_all_dirty();
    commands.insert_resource(GizmoLines(instance_buffer(&gpu, "lines of gizmos", 0)?));
    Ok(())
}

/// Publishes what the shaders of 2D and 3D import.
pub(crate) fn publish_module() -> Result<(), BevyError> {
    let source = include_str!("../../../shaders/quadrille_content/lines.wgsl");
    ShaderModule::new("quadrille_content::lines", source).publish()?;
    Ok(())
}

/// One line, or one part of a joint, as the shader reads it (`lines.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Line {
    /// In the world: both ends of a line, or the places before, at and after a joint.
    pub(crate) positions: [[f32; 3]; 3],
    /// Linear, at both ends.
    pub(crate) colors: [[f32; 4]; 2],
    /// In pixels.
    pub(crate) width: f32,
    /// For dashes their length, the distance between their starts and the start of the first, all
    /// in widths. For a part of a round joint its index and the number of parts.
    pub(crate) pattern: [f32; 3],
    /// [`LineKind`] as a number.
    pub(crate) kind: u32,
}

/// Kind of an instance of [`Line`].
#[cfg_attr(
    not(feature = "gizmos"),
    expect(dead_code, reason = "only gizmos make lines")
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum LineKind {
    Solid,
    Dashed,
    Miter,
    Bevel,
    Round,
}

impl Line {
    /// Whether it can be drawn.
    #[cfg(feature = "gizmos")]
    fn is_finite(&self) -> bool {
        is_finite(self.positions.as_flattened())
            && is_finite(self.colors.as_flattened())
            && is_finite(&self.pattern)
            && self.width.is_finite()
    }

    /// How vertex shaders read lines: locations 3 to 10.
    pub fn layout() -> VertexLayout {
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
