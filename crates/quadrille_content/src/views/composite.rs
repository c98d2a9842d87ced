//! Pipeline that composites an image over a camera's target.

use quadrille::prelude::{Blend, GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc};
use quadrille::vulkan::ShaderError;

/// Creates a pipeline that blends binding 0, an image with premultiplied alpha, over the target without scaling. The
/// push constant is the image's offset in the target in pixels; draw three vertices.
pub fn composite_pipeline(
    gpu: &GpuDevice,
    name: &'static str,
) -> Result<GraphicsPipeline, ShaderError> {
    let source = include_str!("../../shaders/composite.wgsl");
    let shader = GpuShader::wgsl("quadrille_content/composite.wgsl", source)?;
    gpu.graphics_pipeline(&GraphicsPipelineDesc {
        blend: Blend::Premultiplied,
        ..GraphicsPipelineDesc::of(name, &shader)
    })
}
