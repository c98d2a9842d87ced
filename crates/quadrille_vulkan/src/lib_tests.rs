use crate::commands::CommandList;
use crate::device::Gpu;
use crate::pipeline::{ComputePipeline, GraphicsPipeline};
use crate::present::{Surface, Swapchain};
use crate::record::Recorded;
use crate::resources::{GpuBuffer, GpuImage, Sampler};
use crate::shader::GpuShader;
use crate::submit::Frames;

/// Front ends store these types in resources and components, which several threads access.
#[test]
fn everything_can_be_sent_and_shared() {
    fn check<T: Send + Sync>() {}
    check::<(Gpu, Frames, Recorded, CommandList)>();
    check::<(GpuBuffer, GpuImage, Sampler, GpuShader)>();
    check::<(ComputePipeline, GraphicsPipeline)>();
    check::<(Surface, Swapchain)>();
}
