//! The frame on Quadrille's engine, without bevy: declared, planned, recorded, submitted.

use std::sync::Arc;
use std::time::Duration;

use quadrille::sync::access::Access;
use quadrille::sync::frame::{Frame, PassIndex, QueueRequest, Use};
use quadrille::sync::planner::Planner;
use quadrille::sync::resource::ResourceIndex;
use quadrille::sync::states::States;
use quadrille::sync::topology::{Capabilities, OrderPolicy};
use quadrille::vulkan::Format;
use quadrille::vulkan::commands::CommandList;
use quadrille::vulkan::device::Gpu;
use quadrille::vulkan::instance::Settings;
use quadrille::vulkan::pipeline::{ComputePipeline, ComputePipelineDesc};
use quadrille::vulkan::record::{FrameInput, Serial};
use quadrille::vulkan::resources::{
    BufferDesc, GpuBuffer, GpuImage, Handle, ImageDesc, ImageRegion,
};
use quadrille::vulkan::shader::GpuShader;
use quadrille::vulkan::submit::Frames;
use quadrille_bench::{
    BUFFER_SHADER, Contents, FrameTimes, IMAGE_SHADER, PassWork, Stopwatch, Workload,
};

use super::{Contestant, Counts, Mode, Outcome};

/// How many workloads take turns where every frame needs a new plan: more than a planner remembers.
const TURNS: usize = 16;

/// Nothing here takes longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// The settings of a device that is measured.
pub(super) fn settings(mode: Mode) -> Settings {
    Settings {
        order: if mode.keeps_order() {
            OrderPolicy::Declared
        } else {
            OrderPolicy::Free
        },
        pipeline_cache: None,
        debug_names: false,
        // A frame waits for the one before.
        frames_in_flight: 1,
        table_entries: Some(1 << 17),
        ..Settings::headless("frame_bench")
    }
}

/// Resources of the passes.
pub(super) struct Resources {
    pub(super) buffers: Vec<GpuBuffer>,
    pub(super) images: Vec<GpuImage>,
    pub(super) buffer_pipeline: ComputePipeline,
    pub(super) image_pipeline: ComputePipeline,
}

impl Resources {
    /// Makes the resources of a workload, without contents.
    pub(super) fn new(gpu: &Gpu, workload: &Workload) -> Outcome<Self> {
        let buffer = |at: usize| {
            let name = format!("buffer {at}");
            gpu.create_buffer(&BufferDesc::storage(name, Workload::BUFFER_BYTES))
        };
        let image = |at: usize| {
            let (side, format) = (Workload::IMAGE_SIDE, Format::R32_UINT);
            gpu.create_image(&ImageDesc::storage(
                format!("image {at}"),
                [side, side],
                format,
            ))
        };
        let pipeline = |name, source| -> Outcome<ComputePipeline> {
            let shader = GpuShader::wgsl(name, source)?;
            let pipeline = gpu.compute_pipeline(&ComputePipelineDesc::of(name, &shader))?;
            pipeline.wait()?;
            Ok(pipeline)
        };
        Ok(Self {
            buffers: (0..workload.buffers)
                .map(buffer)
                .collect::<Result<_, _>>()?,
            images: (0..workload.images).map(image).collect::<Result<_, _>>()?,
            buffer_pipeline: pipeline("buffer.wgsl", BUFFER_SHADER)?,
            image_pipeline: pipeline("image.wgsl", IMAGE_SHADER)?,
        })
    }
}

/// Declarations of a frame.
struct Turn {
    workload: Workload,
    /// By pass, its explicit predecessors; turns share those that are the same.
    after: Vec<Arc<[PassIndex]>>,
}

/// The frame on the engine alone.
pub struct Engine {
    mode: Mode,
    /// Frames that alternate.
    turns: Vec<Turn>,
    resources: Resources,
    names: Vec<Arc<str>>,
    handles: Vec<Handle>,
    frame: Frame,
    lists: Vec<CommandList>,
    planner: Planner,
    states: States,
    counts: Counts,
    /// Frames so far.
    number: u64,
    frames: Frames,
    gpu: Gpu,
}

impl Engine {
    /// Opens a device and puts the start values in place.
    ///
    /// # Errors
    /// There is no device, or it has no memory.
    pub fn new(mode: Mode, workload: &Workload) -> Outcome<Self> {
        let gpu = Gpu::new(&settings(mode), None)?;
        let resources = Resources::new(&gpu, workload)?;
        let passes = workload.passes.len();
        let buffers = resources.buffers.iter().cloned().map(Handle::from);
        let images = resources.images.iter().cloned().map(Handle::from);
        let mut engine = Self {
            mode,
            turns: turns(mode, workload),
            names: (0..passes).map(|at| format!("pass {at}").into()).collect(),
            handles: buffers.chain(images).collect(),
            resources,
            frame: Frame::default(),
            lists: (0..passes).map(|_| CommandList::default()).collect(),
            planner: Planner::default(),
            states: States::default(),
            counts: Counts::default(),
            number: 0,
            frames: gpu.frames()?,
            gpu,
        };
        engine.fill()?;
        Ok(engine)
    }

    /// The device's name.
    pub fn device(&self) -> &str {
        &self.gpu.info().name
    }

    /// Declares all passes and writes down what they do.
    fn build(&mut self) {
        let Self {
            frame,
            resources,
            turns,
            ..
        } = self;
        let Turn { workload, after } = &turns[(self.number % turns.len() as u64) as usize];
        frame.clear();
        for handle in &self.handles {
            handle.declare_in(frame);
        }
        let buffer = |at: usize| ResourceIndex(at as u32);
        let image = |at: usize| ResourceIndex((workload.buffers + at) as u32);
        let queue = QueueRequest {
            required: Capabilities::COMPUTE,
            ..QueueRequest::default()
        };
        for (at, pass) in workload.passes.iter().enumerate() {
            let list = &mut self.lists[at];
            list.clear();
            let uses = match *pass {
                PassWork::Buffer {
                    writes,
                    reads: [a, b],
                } => {
                    list.bind_compute(&resources.buffer_pipeline);
                    list.bind_buffer(0, &resources.buffers[a], 0, 0);
                    list.bind_buffer(1, &resources.buffers[b], 0, 0);
                    list.bind_buffer(2, &resources.buffers[writes], 0, 0);
                    [
                        Use::whole(buffer(a), Access::StorageReadCompute),
                        Use::whole(buffer(b), Access::StorageReadCompute),
                        Use::whole(buffer(writes), Access::StorageWriteCompute),
                    ]
                }
                PassWork::Image {
                    buffer: read,
                    writes,
                    reads,
                } => {
                    list.bind_compute(&resources.image_pipeline);
                    list.bind_buffer(0, &resources.buffers[read], 0, 0);
                    list.bind_image_sampled(1, &resources.images[reads]);
                    list.bind_image_storage(2, &resources.images[writes]);
                    [
                        Use::whole(buffer(read), Access::StorageReadCompute),
                        Use::whole(image(reads), Access::SampledCompute),
                        Use::whole(image(writes), Access::StorageWriteCompute),
                    ]
                }
            };
            list.dispatch([1, 1, 1]);
            let name = frame.pass_name(&self.names[at]);
            frame.add_pass(name, queue, &uses, &after[at]);
        }
    }

    /// A frame of one pass that is not measured.
    fn once(
        &mut self,
        name: &str,
        access: Access,
        more: &[Handle],
        write: impl FnOnce(&Resources, &mut CommandList),
    ) -> Outcome<()> {
        self.frames.begin(PATIENCE)?;
        let mut frame = Frame::default();
        let mut list = CommandList::default();
        write(&self.resources, &mut list);
        let mut uses: Vec<Use> = Vec::new();
        for handle in &self.handles {
            uses.push(Use::whole(frame.add_resource(handle.declare()), access));
        }
        for handle in more {
            uses.push(Use::whole(
                frame.add_resource(handle.declare()),
                Access::TransferWrite,
            ));
        }
        let queue = QueueRequest {
            required: Capabilities::GRAPHICS,
            ..QueueRequest::default()
        };
        frame.add_pass(name, queue, &uses, &[]);
        let handles: Vec<Handle> = self.handles.iter().chain(more).cloned().collect();
        let lists = [Some(&list)];
        let topology = self.gpu.topology();
        let plan = quadrille::sync::solve::plan(&frame, topology, &self.states)?;
        let input = FrameInput {
            frame: &frame,
            plan: &plan,
            lists: &lists,
            handles: &handles,
            timelines: &[],
        };
        let recorded = self.frames.record(input, &Serial, 1)?;
        self.frames.submit(input, recorded, &self.states, &mut [])?;
        self.states.commit(&frame, topology, &plan);
        Ok(self.frames.drain(PATIENCE)?)
    }

    fn fill(&mut self) -> Outcome<()> {
        let start = self.turns[0].workload.start();
        self.once("fill", Access::TransferWrite, &[], |resources, list| {
            for (buffer, value) in resources.buffers.iter().zip(&start.buffers) {
                list.update_buffer(buffer, 0, &value.to_ne_bytes());
            }
            for (image, &value) in resources.images.iter().zip(&start.images) {
                list.clear_image(image, [value as f32; 4]);
            }
        })
    }
}

impl Contestant for Engine {
    fn name(&self) -> &'static str {
        self.mode.contestant()
    }

    fn frame(&mut self) -> Outcome<FrameTimes> {
        let whole = Stopwatch::start();
        self.frames.begin(PATIENCE)?;
        self.number += 1;
        let watch = Stopwatch::start();
        self.build();
        let built = watch.wall();
        let topology = self.gpu.topology();
        let plan = self.planner.plan(&self.frame, topology, &self.states)?.plan;
        let planned = watch.wall();
        let lists: Vec<_> = self.lists.iter().map(Some).collect();
        let input = FrameInput {
            frame: &self.frame,
            plan: &plan,
            lists: &lists,
            handles: &self.handles,
            timelines: &[],
        };
        let recorded = self.frames.record(input, &Serial, 1)?;
        let (pre_submit, pre_submit_cpu) = (watch.wall(), watch.thread());
        let command_buffers = recorded.command_buffers() as u32;
        self.frames.submit(input, recorded, &self.states, &mut [])?;
        self.states.commit(&self.frame, topology, &plan);
        let submitted = watch.wall();
        self.frames.drain(PATIENCE)?;
        let counts = plan.counts();
        self.counts = Counts {
            barrier_calls: counts.barrier_calls,
            barriers: counts.barriers,
            submissions: counts.submissions,
            command_buffers,
        };
        Ok(FrameTimes {
            build: built,
            compile: planned - built,
            record: pre_submit - planned,
            submit: submitted - pre_submit,
            wait: watch.wall() - submitted,
            pre_submit,
            pre_submit_cpu,
            frame: whole.wall(),
            frame_process_cpu: whole.process(),
        })
    }

    fn contents(&mut self) -> Outcome<Option<Contents>> {
        let workload = &self.turns[0].workload;
        let [buffers, images] = [workload.buffers, workload.images];
        let texels = u64::from(Workload::IMAGE_SIDE * Workload::IMAGE_SIDE);
        let bytes = 4 * (buffers as u64 + texels * images as u64);
        let to = self
            .gpu
            .create_buffer(&BufferDesc::readback("contents", bytes))?;
        let copy = |resources: &Resources, list: &mut CommandList| {
            let mut offset = 0;
            for buffer in &resources.buffers {
                list.copy_buffer(buffer, 0, &to, offset, 4);
                offset += 4;
            }
            for image in &resources.images {
                list.copy_image_to_buffer(image, ImageRegion::whole(image), &to, offset);
                offset += 4 * texels;
            }
        };
        self.once(
            "contents",
            Access::TransferRead,
            &[Handle::Buffer(to.clone())],
            copy,
        )?;
        let mut words = vec![0u32; bytes as usize / 4];
        to.read(0, bytemuck::cast_slice_mut(&mut words))?;
        let (buffers, images) = words.split_at(buffers);
        let first = |image: &[u32]| image[0];
        Ok(Some(Contents {
            buffers: buffers.to_vec(),
            images: images.chunks(texels as usize).map(first).collect(),
        }))
    }

    fn expected(&self, _: &Workload, frames: u64) -> Contents {
        let turns: Vec<Workload> = (self.turns.iter())
            .map(|turn| turn.workload.clone())
            .collect();
        Workload::simulate_in_turn(&turns, frames)
    }

    fn counts(&self) -> Option<Counts> {
        Some(self.counts)
    }
}

/// Returns the frames that alternate: one that repeats, or a different one each turn.
fn turns(mode: Mode, workload: &Workload) -> Vec<Turn> {
    let workloads = match mode {
        Mode::Replan => workload.turns(TURNS),
        _ => vec![workload.clone()],
    };
    let mut turns: Vec<Turn> = Vec::with_capacity(workloads.len());
    for workload in workloads {
        let mut after = predecessors(mode, &workload);
        if let Some(first) = turns.first() {
            for (after, same) in after.iter_mut().zip(&first.after) {
                if after == same {
                    *after = Arc::clone(same);
                }
            }
        }
        turns.push(Turn { workload, after });
    }
    turns
}

/// By pass, what it comes after: all before it, or whom it must not overtake.
fn predecessors(mode: Mode, workload: &Workload) -> Vec<Arc<[PassIndex]>> {
    if mode.keeps_order() {
        let before = |at: usize| at.checked_sub(1).map(|before| PassIndex(before as u32));
        let passes = 0..workload.passes.len();
        return passes.map(|at| before(at).into_iter().collect()).collect();
    }
    let index = |at: usize| PassIndex(at as u32);
    let all = workload.predecessors();
    let all = all
        .into_iter()
        .map(|before| before.into_iter().map(index).collect());
    all.collect()
}
