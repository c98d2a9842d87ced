//! Runs frames like a front end: declare, plan, record, submit, commit, retire.

use std::time::Duration;

use quadrille_sync::access::Access;
use quadrille_sync::frame::{Frame, PassIndex, Preference, QueueRequest, Use};
use quadrille_sync::planner::Planner;
use quadrille_sync::resource::ResourceIndex;
use quadrille_sync::solve::plan;
use quadrille_sync::states::States;
use quadrille_sync::topology::Capabilities;
use quadrille_vulkan::commands::CommandList;
use quadrille_vulkan::device::{Gpu, StreamDesc};
use quadrille_vulkan::instance::{Settings, validation_messages};
use quadrille_vulkan::present::Swapchain;
use quadrille_vulkan::record::{FrameInput, Parallel};
use quadrille_vulkan::resources::{
    BufferDesc, GpuBuffer, GpuImage, Handle, ImageRegion, TimelineSemaphore, texel_bytes,
};
use quadrille_vulkan::submit::{Frames, Submitted};
use quadrille_vulkan::{Error, FrameError};

/// Timeout that no test reaches.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

/// A device, its queues and the states of its resources.
pub(crate) struct Rig {
    pub(crate) gpu: Gpu,
    pub(crate) frames: Frames,
    pub(crate) states: States,
    /// Chunks that frames are recorded in.
    pub(crate) chunks: usize,
    /// Whether frames are waited for before the device's progress is queried.
    pub(crate) waits: bool,
    /// Number of validation messages before the test.
    messages: u64,
}

/// A frame that is being declared.
#[derive(Default)]
pub(crate) struct Declared {
    pub(crate) frame: Frame,
    pub(crate) handles: Vec<Handle>,
    pub(crate) lists: Vec<CommandList>,
    pub(crate) timelines: Vec<TimelineSemaphore>,
}

/// Cached parts of a frame.
pub(crate) struct Repeated {
    /// Whether its plan was cached.
    pub(crate) plan: bool,
    /// Number of passes that were replayed without encoding.
    pub(crate) passes: u32,
}

/// One thread per task.
pub(crate) struct Threads;

impl Parallel for Threads {
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for at in 0..count {
                scope.spawn(move || task(at));
            }
        });
    }
}

impl Declared {
    /// Returns the index of a resource; the same resource again gives the same index.
    pub(crate) fn resource(&mut self, handle: impl Into<Handle>) -> ResourceIndex {
        let handle = handle.into();
        if let Some(at) = self.handles.iter().position(|known| *known == handle) {
            return ResourceIndex(at as u32);
        }
        self.frame.add_resource(handle.declare());
        self.handles.push(handle);
        ResourceIndex(self.handles.len() as u32 - 1)
    }

    /// Adds a pass after the previous one.
    pub(crate) fn pass(
        &mut self,
        name: &str,
        queue: QueueRequest,
        uses: &[Use],
        write: impl FnOnce(&mut CommandList),
    ) -> PassIndex {
        let before: Vec<_> = self.frame.pass_indices().last().into_iter().collect();
        let mut list = CommandList::default();
        write(&mut list);
        self.lists.push(list);
        self.frame.add_pass(name, queue, uses, &before)
    }

    /// Adds a pass that copies a buffer to one that the CPU reads.
    pub(crate) fn read_back(&mut self, src: &GpuBuffer, dst: &GpuBuffer) {
        let uses = [
            Use::whole(self.resource(src.clone()), Access::CopyRead),
            discard(self.resource(dst.clone()), Access::CopyWrite),
        ];
        self.pass("read back", transfer(), &uses, |list| {
            list.copy_buffer(src, 0, dst, 0, src.bytes());
        });
    }

    /// Adds a pass that copies an image to a buffer that the CPU reads.
    pub(crate) fn read_image(&mut self, src: &GpuImage, dst: &GpuBuffer) {
        let uses = [
            Use::whole(self.resource(src.clone()), Access::CopyRead),
            discard(self.resource(dst.clone()), Access::CopyWrite),
        ];
        self.pass("read image", graphics(), &uses, |list| {
            list.copy_image_to_buffer(src, ImageRegion::whole(src), dst, 0);
        });
    }
}

/// A use that does not need the previous contents.
pub(crate) fn discard(resource: ResourceIndex, access: Access) -> Use {
    Use {
        discard: true,
        ..Use::whole(resource, access)
    }
}

pub(crate) fn graphics() -> QueueRequest {
    QueueRequest {
        required: Capabilities::GRAPHICS,
        ..Default::default()
    }
}

pub(crate) fn compute() -> QueueRequest {
    QueueRequest {
        required: Capabilities::COMPUTE,
        ..Default::default()
    }
}

pub(crate) fn async_compute() -> QueueRequest {
    QueueRequest {
        preference: Preference::Async,
        ..compute()
    }
}

pub(crate) fn transfer() -> QueueRequest {
    QueueRequest {
        required: Capabilities::TRANSFER,
        preference: Preference::Async,
        ..Default::default()
    }
}

impl Rig {
    /// The device that the environment selects. Fails without a device, so that these tests never pass without running.
    pub(crate) fn new() -> Self {
        Self::with(&settings())
    }

    pub(crate) fn with(settings: &Settings) -> Self {
        let gpu = Gpu::new(settings, None).unwrap_or_else(|error| panic!("{error}"));
        Self::on(gpu).unwrap()
    }

    /// The only rig of a device.
    pub(crate) fn on(gpu: Gpu) -> Result<Self, Error> {
        if std::env::var_os("QUADRILLE_VALIDATED").is_some() {
            let active = gpu.info().validation.is_some();
            assert!(active, "the validation layer is not active");
        }
        let frames = gpu.frames()?;
        Ok(Self::of(gpu, frames))
    }

    /// A rig in addition to that of the main loop.
    pub(crate) fn stream(gpu: &Gpu, desc: &StreamDesc) -> Self {
        Self::of(gpu.clone(), gpu.stream(desc).unwrap())
    }

    fn of(gpu: Gpu, frames: Frames) -> Self {
        let (states, messages) = (frames.states(), validation_messages());
        Self {
            gpu,
            frames,
            states,
            chunks: 1,
            waits: false,
            messages,
        }
    }

    /// Declares and runs a frame.
    pub(crate) fn frame(&mut self, declare: impl FnOnce(&mut Declared)) {
        self.try_frame(&mut [], declare)
            .unwrap_or_else(|error| panic!("{error}"));
    }

    /// Declares and runs a frame with windows.
    pub(crate) fn try_frame(
        &mut self,
        windows: &mut [&mut Swapchain],
        declare: impl FnOnce(&mut Declared),
    ) -> Result<Submitted, FrameError> {
        self.frames.begin(TIMEOUT)?;
        self.try_begun_frame(windows, declare)
    }

    /// Declares and runs a frame that was begun.
    pub(crate) fn begun_frame(&mut self, declare: impl FnOnce(&mut Declared)) {
        self.try_begun_frame(&mut [], declare)
            .unwrap_or_else(|error| panic!("{error}"));
    }

    fn try_begun_frame(
        &mut self,
        windows: &mut [&mut Swapchain],
        declare: impl FnOnce(&mut Declared),
    ) -> Result<Submitted, FrameError> {
        let mut declared = Declared::default();
        declare(&mut declared);
        let Declared {
            mut frame,
            handles,
            lists,
            timelines,
        } = declared;
        self.frames.exchange(&mut self.states);
        let Self { frames, states, .. } = self;
        frames.place_transients(&mut frame, &handles, states)?;
        let plan = plan(&frame, self.frames.topology(), &self.states)
            .unwrap_or_else(|errors| panic!("{errors}"));
        let lists: Vec<_> = lists.iter().map(Some).collect();
        let input = FrameInput {
            frame: &frame,
            plan: &plan,
            lists: &lists,
            handles: &handles,
            timelines: &timelines,
        };
        let recorded = self.frames.record(input, &Threads, self.chunks)?;
        let submitted = self.frames.submit(input, recorded, &self.states, windows)?;
        self.states.commit(&frame, self.frames.topology(), &plan);
        if self.waits {
            self.frames.drain(TIMEOUT)?;
        }
        let progress = self.frames.progress()?;
        self.frames.retire(&mut self.states, &progress);
        Ok(submitted)
    }

    /// Runs a frame that was begun, with a plan that may be cached.
    pub(crate) fn planned_frame(
        &mut self,
        planner: &mut Planner,
        frame: &Frame,
        (lists, handles): (&[CommandList], &[Handle]),
        windows: &mut [&mut Swapchain],
    ) -> Repeated {
        let planned = planner.plan(frame, self.frames.topology(), &self.states);
        let planned = planned.unwrap_or_else(|errors| panic!("{errors}"));
        let lists: Vec<_> = lists.iter().map(Some).collect();
        let input = FrameInput {
            frame,
            plan: &planned.plan,
            lists: &lists,
            handles,
            timelines: &[],
        };
        let recorded = self.frames.record(input, &Threads, self.chunks).unwrap();
        let passes = recorded.repeated_passes();
        let submitted = self.frames.submit(input, recorded, &self.states, windows);
        submitted.unwrap();
        self.states
            .commit(frame, self.frames.topology(), &planned.plan);
        let progress = self.frames.progress().unwrap();
        self.frames.retire(&mut self.states, &progress);
        Repeated {
            plan: planned.reused,
            passes,
        }
    }

    /// Waits until all frames are complete.
    pub(crate) fn finish(&mut self) {
        self.frames.drain(TIMEOUT).unwrap();
        let progress = self.frames.progress().unwrap();
        self.frames.retire(&mut self.states, &progress);
    }

    /// The words of a buffer that copies wrote, after all frames are complete.
    pub(crate) fn words(&mut self, readback: &GpuBuffer) -> Vec<u32> {
        self.finish();
        let mut bytes = vec![0; readback.bytes() as usize];
        readback.read(0, &mut bytes).unwrap();
        bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&word| u32::from_le_bytes(word))
            .collect()
    }

    /// A storage buffer.
    pub(crate) fn storage(&self, name: &str, bytes: u64) -> GpuBuffer {
        self.gpu
            .create_buffer(&BufferDesc::storage(name, bytes))
            .unwrap()
    }

    /// A buffer for reading a buffer back.
    pub(crate) fn readback(&self, bytes: u64) -> GpuBuffer {
        self.gpu
            .create_buffer(&BufferDesc::readback("readback", bytes))
            .unwrap()
    }

    /// A buffer for reading an image back.
    pub(crate) fn image_readback(&self, image: &GpuImage) -> GpuBuffer {
        let [width, height, _] = image.extent();
        let texel = texel_bytes(image.format()).unwrap();
        self.readback(u64::from(width) * u64::from(height) * u64::from(texel))
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        // Not if the test has already failed: one report is enough.
        if !std::thread::panicking() {
            let messages = validation_messages() - self.messages;
            assert_eq!(messages, 0, "the validation layer has reported errors");
        }
    }
}

/// Settings that leave no traces outside the test.
pub(crate) fn settings() -> Settings {
    Settings {
        pipeline_cache: None,
        debug_names: true,
        ..Settings::headless("gpu tests")
    }
}

/// Settings with windows.
pub(crate) fn window_settings() -> Settings {
    Settings {
        windows: true,
        ..settings()
    }
}
