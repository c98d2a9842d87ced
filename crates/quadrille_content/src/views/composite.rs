//! The pipeline that puts a picture over a camera's target.

use quadrille::prelude::{Blend, GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc};
use quadrille::vulkan::ShaderError;

/// A pipeline that draws binding 0, an image multiplied with its alpha, over what is there, texel by texel.
/// Its constant is where the image begins in the target, in pixels; it draws three vertices.
pub fn composite_pipeline(
    gpu: &GpuDevice,
    name: &'static str,
) -> Result<GraphicsPipeline, ShaderError> {
    let source = include_str!("../../../../shaders/quadrille_content/composite.wgsl");
    let shader = GpuShader::wgsl("quadrille_content/composite.wgsl", source)?;
    gpu.graphics_pipeline(&GraphicsPipelineDesc {
        blend: Blend::Premultiplied,
        ..GraphicsPipelineDesc::of(name, &shader)
    })
}
