use crate::{
    CommandList, ComputePipeline, Frames, Gpu, GpuBuffer, GpuImage, GpuShader, GraphicsPipeline,
    Recorded, Sampler, Surface, Swapchain,
};

/// Front ends store these types in resources and components, which several threads access.
#[test]
fn everything_can_be_sent_and_shared() {
    fn check<T: Send + Sync>() {}
    check::<(Gpu, Frames, Recorded, CommandList)>();
    check::<(GpuBuffer, GpuImage, Sampler, GpuShader)>();
    check::<(ComputePipeline, GraphicsPipeline)>();
    check::<(Surface, Swapchain)>();
}
