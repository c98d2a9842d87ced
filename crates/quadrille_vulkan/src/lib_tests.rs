use crate::{
    Buffer, CommandList, ComputePipeline, Frames, Gpu, GraphicsPipeline, Image, Recorded, Sampler,
    Shader, Surface, Swapchain,
};

/// Front ends keep these in resources and components, which many threads see.
#[test]
fn everything_can_be_sent_and_shared() {
    fn check<T: Send + Sync>() {}
    check::<(Gpu, Frames, Recorded, CommandList)>();
    check::<(Buffer, Image, Sampler, Shader)>();
    check::<(ComputePipeline, GraphicsPipeline)>();
    check::<(Surface, Swapchain)>();
}
