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
        .push(&[origin[0] as f32, origin[1] as f32, 1.0, 1.0])
        .draw(0..3, 0..1);
}

/// Draws an image of this size over a viewport of left, top, width and height, to which it is scaled bilinearly.
pub fn draw_scaled_composite(
    rendering: &mut Rendering<'_>,
    pipeline: &GraphicsPipeline,
    (image, size): (&AnyAccess<'_>, [u32; 2]),
    viewport: [u32; 4],
) {
    let [left, top, width, height] = viewport.map(|length| length as f32);
    let [columns, lines] = size.map(|length| length as f32);
    rendering
        .viewport([left, top, width, height])
        .scissor(viewport)
        .pipeline(pipeline)
        .bind("source", image)
        .push(&[left, top, columns / width, lines / height])
        .draw(0..3, 0..1);
}
