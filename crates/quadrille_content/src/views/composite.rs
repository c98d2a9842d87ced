//! Pipeline that composites an image over a camera's target.

use quadrille::ecs::{AnyAccess, Rendering};
use quadrille::prelude::{GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc};
use quadrille::vulkan::ShaderError;
use quadrille::vulkan::pipeline::Blend;

/// Creates a pipeline for [`draw_composite`].
///
/// # Errors
/// Errors of the device.
pub fn composite_pipeline(
    gpu: &GpuDevice,
    name: &'static str,
    blend: Blend,
) -> Result<GraphicsPipeline, ShaderError> {
    let source = include_str!("../../shaders/composite.wgsl");
    let shader = GpuShader::wgsl("quadrille_content/composite.wgsl", source)?;
    gpu.graphics_pipeline(&GraphicsPipelineDesc {
        blend,
        ..GraphicsPipelineDesc::of(name, &shader)
    })
}

/// Draws an image over a target without scaling, within a viewport of left, top, width and height. The image's first
/// texel is at `origin` in the target, in pixels.
pub fn draw_composite(
    rendering: &mut Rendering<'_>,
    pipeline: &GraphicsPipeline,
    image: &AnyAccess<'_>,
    viewport: [u32; 4],
    origin: [u32; 2],
) {
    rendering
        .viewport(viewport.map(|length| length as f32))
        .scissor(viewport)
        .pipeline(pipeline)
        .bind("source", image)
        .push(&origin.map(|length| length as f32))
        .draw(0..3, 0..1);
}
