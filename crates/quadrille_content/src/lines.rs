//! Gizmo lines for 2D and 3D: instances of line segments and of joints between them.

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

/// Instance buffer of gizmo lines ([`Line`]).
#[derive(Resource, Deref)]
pub struct GizmoLines(GpuBuffer);

/// Gizmo lines of this frame; empty without bevy's `GizmoPlugin`.
#[derive(Resource, Default)]
pub struct GizmoLineBatches {
    lines: RawBufferVec<Line>,
    batches: Vec<GizmoLineBatch>,
}

/// Lines with the same render layers and draw settings.
#[derive(Clone, Debug)]
pub struct GizmoLineBatch {
    layers: RenderLayers,
    /// Range in [`GizmoLines`].
    pub lines: Range<u32>,
    /// From -1 (in front of everything) to 1 (behind everything); 3D only.
    pub depth_bias: f32,
    /// Whether widths scale with perspective, from their size at distance 1; 3D only.
    pub perspective: bool,
}

impl GizmoLineBatches {
    /// Returns the batches that are visible to a camera with these layers.
    pub fn visible_in(&self, layers: &RenderLayers) -> impl Iterator<Item = &GizmoLineBatch> {
        let batches = self.batches.iter().filter(|set| !set.lines.is_empty());
        batches.filter(move |set| set.layers.intersects(layers))
    }
}

/// Creates the line buffer, and marks all lines for re-upload.
pub(crate) fn init_gizmo_lines(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    mut batches: ResMut<GizmoLineBatches>,
) -> Result {
    batches.lines.mark_all_dirty();
    commands.insert_resource(GizmoLines(instance_buffer(&gpu, "lines of gizmos", 0)?));
    Ok(())
}

/// Publishes the shader module `quadrille_content::lines`.
pub(crate) fn publish_module() -> Result<(), BevyError> {
    let source = include_str!("../../../shaders/quadrille_content/lines.wgsl");
    ShaderModule::new("quadrille_content::lines", source).publish()?;
    Ok(())
}

/// Instance of a line segment, or of one wedge of a joint (`lines.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Line {
    /// World space: both ends of a line, or the points before, at and after a joint.
    pub(crate) positions: [[f32; 3]; 3],
    /// Linear colors at both ends.
    pub(crate) colors: [[f32; 4]; 2],
    /// Width in pixels.
    pub(crate) width: f32,
    /// Dashes: length, period and offset, in line widths. Round joints: index and number of wedges.
    pub(crate) pattern: [f32; 3],
    /// Discriminant of [`LineKind`].
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
    /// Whether all values are finite.
    #[cfg(feature = "gizmos")]
    fn is_finite(&self) -> bool {
        is_finite(self.positions.as_flattened())
            && is_finite(self.colors.as_flattened())
            && is_finite(&self.pattern)
            && self.width.is_finite()
    }

    /// Vertex layout: locations 3 to 10.
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
