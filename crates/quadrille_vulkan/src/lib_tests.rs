use crate::{
    CommandList, ComputePipeline, Frames, Gpu, GpuBuffer, GpuImage, GpuShader, GraphicsPipeline,
    Recorded, Sampler, Surface, Swapchain,
};

/// Front ends keep these in resources and components, which many threads see.
#[test]
fn everything_can_be_sent_and_shared() {
    fn check<T: Send + Sync>() {}
    check::<(Gpu, Frames, Recorded, CommandList)>();
    check::<(GpuBuffer, GpuImage, Sampler, GpuShader)>();
    check::<(ComputePipeline, GraphicsPipeline)>();
    check::<(Surface, Swapchain)>();
}
