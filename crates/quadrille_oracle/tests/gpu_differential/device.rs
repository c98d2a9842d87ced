//! The device that streams run on.

use std::time::Duration;

use quadrille_oracle::Judge;
use quadrille_sync::frame::Frame;
use quadrille_sync::plan::Plan;
use quadrille_sync::states::States;
use quadrille_sync::topology::Topology;
use quadrille_vulkan::commands::CommandList;
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::instance::{Settings, validation_messages};
use quadrille_vulkan::pipeline::{ComputePipeline, ComputePipelineDesc};
use quadrille_vulkan::record::{FrameInput, Serial};
use quadrille_vulkan::resources::{BufferDesc, Handle, ImageDesc};
use quadrille_vulkan::shader::GpuShader;
use quadrille_vulkan::submit::Frames;
use quadrille_vulkan::vk;

const TIMEOUT: Duration = Duration::from_secs(20);

/// Every buffer's size in bytes: that of an image, so that copies fit.
pub(crate) const BYTES: u64 = 256;
/// Every image's width and height in texels of four bytes.
const SIDE: u32 = 8;

const ADD: &str = "
@group(0) @binding(0) var<storage, read> now: array<u32>;
@group(0) @binding(1) var<storage, read_write> next: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { next[id.x] = now[id.x] + 1; }
";

/// A device under the validation layer, and what outlives streams.
pub(crate) struct Device {
    gpu: Gpu,
    frames: Frames,
    /// States of all streams: the timelines of the queues go on from one to the next.
    pub(crate) states: States,
    pub(crate) add: ComputePipeline,
}

impl Device {
    pub(crate) fn new() -> Self {
        let settings = Settings {
            pipeline_cache: None,
            ..Settings::headless("differential test")
        };
        let gpu = Gpu::new(&settings, None).unwrap_or_else(|error| panic!("{error}"));
        let active = gpu.info().validation.is_some();
        assert!(active, "the validation layer is not active");
        let shader = GpuShader::wgsl("add", ADD).unwrap();
        let desc = ComputePipelineDesc::of("add", &shader).entry("main");
        Self {
            frames: gpu.frames().unwrap(),
            states: States::default(),
            add: gpu.compute_pipeline(&desc).unwrap(),
            gpu,
        }
    }

    pub(crate) fn topology(&self) -> &Topology {
        self.gpu.topology()
    }

    pub(crate) fn judge(&self) -> Judge {
        Judge::new(self.topology())
    }

    pub(crate) fn buffer(&self, name: &str) -> Handle {
        let desc = BufferDesc::storage(name, BYTES);
        self.gpu.create_buffer(&desc).unwrap().into()
    }

    pub(crate) fn image(&self, name: &str) -> Handle {
        let format = vk::Format::R8G8B8A8_UNORM;
        let desc = ImageDesc::sampled(name, [SIDE, SIDE], format);
        self.gpu.create_image(&desc).unwrap().into()
    }

    /// Executes one plan of a frame, and goes on as if it had been another one, which signals as
    /// much: the right one.
    pub(crate) fn execute(
        &mut self,
        frame: &Frame,
        (plan, right): (&Plan, &Plan),
        lists: &[CommandList],
        handles: &[Handle],
    ) {
        self.frames.begin(TIMEOUT).unwrap();
        let lists: Vec<_> = lists.iter().map(Some).collect();
        let input = FrameInput {
            frame,
            plan,
            lists: &lists,
            handles,
            timelines: &[],
        };
        let recorded = self.frames.record(input, &Serial, 1).unwrap();
        self.frames
            .submit(input, recorded, &self.states, &mut [])
            .unwrap();
        self.states.commit(frame, self.gpu.topology(), right);
    }

    /// Waits for everything; how many messages the layer has sent by then.
    pub(crate) fn finish(&mut self) -> u64 {
        self.frames.drain(TIMEOUT).unwrap();
        validation_messages()
    }

    /// Destroys what was dropped.
    pub(crate) fn retire(&mut self) {
        let progress = self.frames.progress().unwrap();
        self.frames.retire(&mut self.states, &progress);
    }
}
