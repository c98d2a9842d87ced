//! Pipeline that composites an image over a camera's target.

use quadrille::prelude::{GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc};
use quadrille::vulkan::{Blend, ShaderError};

/// Creates a pipeline that puts binding 0, an image, over the target without scaling. The push constant is the image's
/// offset in the target in pixels; draw three vertices.
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
