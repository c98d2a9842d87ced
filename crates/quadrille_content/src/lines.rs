//! Gizmo lines for 2D and 3D: instances of line segments and of joints between them.

#[cfg(feature = "gizmos")]
mod gizmos;

use std::ops::Range;

use bevy_camera::visibility::RenderLayers;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bytemuck::{Pod, Zeroable};
use quadrille::prelude::{GpuBuffer, GpuDevice};
use quadrille::rows::ShaderRow;
use quadrille::vulkan::pipeline::VertexLayout;
use quadrille::vulkan::shader::ShaderModule;

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

/// Modules under bevy's paths and item names that need no resource.
const BEVY_MODULES: [(&str, &str); 3] = [
    (
        "bevy_core_pipeline::fullscreen_vertex_shader",
        include_str!("../shaders/bevy/fullscreen_vertex_shader.wgsl"),
    ),
    (
        "bevy_render::globals",
        include_str!("../shaders/bevy/globals.wgsl"),
    ),
    (
        "bevy_render::maths",
        include_str!("../shaders/bevy/maths.wgsl"),
    ),
];

/// Publishes the shader modules `quadrille_content::lines` and `quadrille_content::constants`, and some of bevy's
/// names, as [`ContentPlugin`](crate::ContentPlugin) does.
///
/// # Errors
/// If a module of such a path was published with another source.
pub fn publish_shader_modules() -> Result<(), BevyError> {
    let source = include_str!("../shaders/lines.wgsl");
    constants().publish()?;
    ShaderModule::new("quadrille_content::lines", source).publish()?;
    for (path, source) in BEVY_MODULES {
        ShaderModule::new(path, source).publish()?;
    }
    Ok(())
}

/// Instance of a line segment, or of one wedge of a joint (`lines.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_content/lines.wgsl", "Line")]
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

quadrille::vulkan::shader_constants! {
    /// The kinds of lines, for shaders.
    fn constants() -> "quadrille_content::constants";

    /// A line without gaps.
    const SOLID: u32 = LineKind::Solid as u32;
    /// A line with gaps.
    const DASHED: u32 = LineKind::Dashed as u32;
    /// The first kind of joints, whose outer sides meet.
    const MITER: u32 = LineKind::Miter as u32;
    /// A joint that is cut off.
    const BEVEL: u32 = LineKind::Bevel as u32;
    /// A part of a round joint.
    const ROUND: u32 = LineKind::Round as u32;
}

/// Kind of an instance of [`Line`].
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
        VertexLayout::of_row::<Self>(3).per_instance()
    }
}

#[cfg(test)]
mod tests;
