//! Parallel recording of a plan and command lists into command buffers.

pub(crate) mod call_cache;
pub(crate) mod calls;
pub(crate) mod chunks;
pub(crate) mod encode;
pub(crate) mod pools;
pub(crate) mod timing;

pub use timing::{DeviceTimes, PassTime, SubmissionTime};

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk;
use quadrille_sync::flags::{Layout, Stages};
use quadrille_sync::frame::{Frame, PassDecl, PassIndex, Use};
use quadrille_sync::plan::{BarrierBatch, ImageBarrier, Plan, Step};
use quadrille_sync::topology::Capabilities;

use crate::commands::CommandList;
use crate::convert;
use crate::device::Device;
use crate::error::{CommandError, FrameError};
use crate::lock;
use crate::pipeline::LOCAL_READ;
use crate::record::call_cache::{Age, CachedChunk, CachedPass, CallCache};
use crate::record::chunks::Chunk;
use crate::record::encode::{Encoder, Failure, Target};
use crate::record::timing::{Queries, Timing};
use crate::resources::handle::{FrameResources, Handle};
use crate::resources::timeline_semaphore::TimelineSemaphore;
use crate::resources::usage;

/// Input of recording and submission: declarations, plan, command lists and resources of a frame.
#[derive(Clone, Copy, Debug)]
pub struct FrameInput<'a> {
    /// The declarations of the passes.
    pub frame: &'a Frame,
    /// The solver's plan.
    pub plan: &'a Plan,
    /// The commands of the passes, by [`PassIndex`]; `None` for passes without any.
    pub lists: &'a [Option<&'a CommandList>],
    /// The declared resources, by [`ResourceIndex`](quadrille_sync::resource::ResourceIndex), followed by others
    /// that lists may use without synchronization, such as staging buffers.
    pub handles: &'a [Handle],
    /// The semaphores of the frame's [timelines](Frame::timelines), in their order.
    pub timelines: &'a [TimelineSemaphore],
}

/// Executor of parallel tasks, such as a thread pool.
pub trait Parallel: Sync {
    /// Calls `task` once with each index below `count`, on any threads, and returns when all calls have returned.
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync));
}

/// Executor that runs all tasks in order on the calling thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Serial;

impl Parallel for Serial {
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(task);
    }
}

/// The command buffers of a frame, ready to be submitted by the [`Frames`](crate::submit::Frames) that
/// recorded them.
#[derive(Debug)]
pub struct Recorded {
    /// Per submission of the plan, its command buffers in order.
    pub(crate) buffers: Vec<Vec<vk::CommandBuffer>>,
    /// The frame's slot, which the command buffers belong to.
    pub(crate) slot: usize,
    /// Number of passes whose cached calls were replayed.
    repeated: u32,
}

impl Recorded {
    /// The number of command buffers.
    pub fn command_buffers(&self) -> usize {
        self.buffers.iter().map(Vec::len).sum()
    }

    /// Returns the number of passes whose commands and resources were unchanged, so that their cached calls were
    /// replayed without encoding.
    pub fn repeated_passes(&self) -> u32 {
        self.repeated
    }
}

/// Recording of a frame into command buffers, one for each chunk.
pub(crate) struct Job<'a> {
    pub device: &'a Device,
    pub input: FrameInput<'a>,
    pub chunks: &'a [Chunk],
    pub targets: &'a [Target],
    /// Timestamps, if the frame is measured.
    pub timing: Option<&'a Timing>,
    pub slot: usize,
}

/// Encodes the lists of a frame into command buffers, in parallel by task. The input must be checked.
///
/// # Errors
/// Returns the first invalid command in the order of the plan, a pipeline that does not compile, or a
/// resource of another device.
pub(crate) fn record(
    job: &Job<'_>,
    call_cache: &mut CallCache,
    parallel: &dyn Parallel,
) -> Result<Recorded, FrameError> {
    let (device, input, slot) = (job.device, job.input, job.slot);
    (call_cache.begin(device, &input, job.chunks, job.targets))
        .map_err(|foreign| made_elsewhere(foreign.name()))?;
    let call_cache = &*call_cache;
    let resources = FrameResources {
        ids: &call_cache.ids,
        handles: input.handles,
        names: &device.ids,
    };
    let failure: Mutex<Option<(usize, FrameError)>> = Mutex::new(None);
    let repeated = AtomicU32::new(0);
    let record = |at: usize| {
        let chunk = &job.chunks[at];
        let (submission, step) = (chunk.submission, chunk.steps.start);
        let queries = |timing: &Timing| timing.queries(slot, input.plan, submission, step);
        let task = Task {
            device,
            input,
            resources,
            chunk,
            target: job.targets[at],
            age: call_cache.age,
            queries: job.timing.and_then(queries),
        };
        match task.record(&mut lock(call_cache.chunk(at))) {
            Ok(passes) => {
                repeated.fetch_add(passes, Ordering::Relaxed);
            }
            Err(error) => note_failure(&mut lock(&failure), at, error),
        }
    };
    parallel.run(chunks::task_count(job.chunks), &|task| {
        chunks::of_task(job.chunks, task).for_each(&record);
    });
    if let Some((_, error)) = lock(&failure).take() {
        return Err(error);
    }
    Ok(Recorded {
        buffers: by_submission(input.plan, job.chunks, job.targets),
        slot,
        repeated: repeated.into_inner(),
    })
}

/// The command buffers of each submission.
fn by_submission(plan: &Plan, chunks: &[Chunk], targets: &[Target]) -> Vec<Vec<vk::CommandBuffer>> {
    let mut buffers = vec![Vec::new(); plan.submissions.len()];
    for (chunk, target) in chunks.iter().zip(targets) {
        buffers[chunk.submission].push(target.buffer);
    }
    buffers
}

/// Estimates the cost of recording a step: its number of commands, and a constant for a pass.
pub(crate) fn step_cost(input: &FrameInput<'_>, step: &Step) -> u64 {
    match step {
        Step::Barriers(_) => 1,
        Step::Pass(pass) => 2 + list(input, *pass).map_or(0, |list| list.len() as u64),
    }
}

fn list<'a>(input: &FrameInput<'a>, pass: PassIndex) -> Option<&'a CommandList> {
    input.lists.get(pass.0 as usize).copied().flatten()
}

/// Checks that the parts of a frame are consistent, so that indices need no further checks.
pub(crate) fn check(input: &FrameInput<'_>) -> Result<(), FrameError> {
    let wrong = |problem: String| Err(FrameError::Mismatch { problem });
    if input.handles.len() < input.frame.resources.len() {
        let (handles, resources) = (input.handles.len(), input.frame.resources.len());
        return wrong(format!(
            "there are {handles} handles for {resources} resources"
        ));
    }
    if input.lists.len() != input.frame.passes.len() {
        let (lists, passes) = (input.lists.len(), input.frame.passes.len());
        return wrong(format!("there are {lists} lists for {passes} passes"));
    }
    for (resource, handle) in input.frame.resources.iter().zip(input.handles) {
        let is_image = matches!(handle, Handle::Image(_));
        if resource.id != handle.id() || resource.is_image() != is_image {
            let (name, given) = (&resource.name, handle.name());
            return wrong(format!("the handle of {name} is that of {given}"));
        }
    }
    Ok(())
}

/// Checks that all passes and resources of the plan exist, and that images support the layouts in its barriers.
pub(crate) fn check_steps(device: &Device, input: &FrameInput<'_>) -> Result<(), FrameError> {
    check_features(device, input.frame)?;
    let submissions = input.plan.submissions.iter();
    for step in submissions.flat_map(|submission| &submission.steps) {
        if !step_fits(input, step) {
            return Err(FrameError::Mismatch {
                problem: "the plan names a pass or resource that the frame does not have"
                    .to_owned(),
            });
        }
        let images = match step {
            Step::Barriers(batch) => &batch.images[..],
            Step::Pass(_) => &[],
        };
        for barrier in images {
            let Handle::Image(image) = &input.handles[barrier.resource.0 as usize] else {
                continue;
            };
            if let Some(usage) = usage::lacks(image, barrier.new_layout) {
                return Err(FrameError::Usage {
                    pass: pass_that_wants(input.frame, barrier),
                    name: image.name().to_owned(),
                    usage,
                });
            }
        }
    }
    Ok(())
}

/// Checks that no pass declares an access that needs a missing feature: conditional rendering (a pipeline stage) or
/// local reads of attachments (an image layout). Barriers with either would be invalid.
fn check_features(device: &Device, frame: &Frame) -> Result<(), FrameError> {
    let lacks_conditions = device.extensions.conditional_rendering.is_none();
    let lacks_local_read = !device.optional.local_read;
    if !lacks_conditions && !lacks_local_read {
        return Ok(());
    }
    let lacking = |used: &Use| {
        let stages = used.access.stages();
        if lacks_conditions && stages.intersects(Stages::CONDITIONAL_RENDERING) {
            let feature = "conditionalRendering of VK_EXT_conditional_rendering";
            return Some(("a declared condition", feature));
        }
        let is_local = used.access.layout() == Layout::RenderingLocalRead;
        (lacks_local_read && is_local).then_some(("a declared local read", LOCAL_READ))
    };
    let uses = |pass: &PassDecl| &frame.uses[pass.uses.start as usize..pass.uses.end as usize];
    let mut passes = frame.passes.iter();
    let found = passes.find_map(|pass| Some((pass, uses(pass).iter().find_map(lacking)?)));
    match found {
        None => Ok(()),
        Some((pass, (command, feature))) => Err(FrameError::Command {
            pass: pass.name.to_string(),
            command,
            error: CommandError::Lacks {
                feature,
                device: device.info.name.clone(),
            },
        }),
    }
}

/// Returns the name of the first pass that declares the access after a barrier.
fn pass_that_wants(frame: &Frame, barrier: &ImageBarrier) -> String {
    let wants = |used: &Use| {
        used.resource == barrier.resource && used.access.layout() == barrier.new_layout
    };
    let uses = |pass: &PassDecl| &frame.uses[pass.uses.start as usize..pass.uses.end as usize];
    let mut passes = frame.passes.iter();
    let pass = passes.find(|pass| uses(pass).iter().any(wants));
    pass.map_or_else(String::new, |pass| pass.name.to_string())
}

fn step_fits(input: &FrameInput<'_>, step: &Step) -> bool {
    let handle = |index: u32| input.handles.get(index as usize);
    match step {
        Step::Pass(pass) => (pass.0 as usize) < input.lists.len(),
        Step::Barriers(batch) => {
            let mut buffers = batch
                .buffers
                .iter()
                .map(|barrier| handle(barrier.resource.0));
            let mut images = batch
                .images
                .iter()
                .map(|barrier| handle(barrier.resource.0));
            buffers.all(|handle| matches!(handle, Some(Handle::Buffer(_))))
                && images.all(|handle| matches!(handle, Some(Handle::Image(_))))
        }
    }
}

fn made_elsewhere(name: &str) -> FrameError {
    FrameError::OtherDevice {
        name: name.to_owned(),
    }
}

/// Keeps the first failure in the order of the plan, regardless of the order of threads.
fn note_failure(failure: &mut Option<(usize, FrameError)>, at: usize, error: FrameError) {
    if failure.as_ref().is_none_or(|(known, _)| at < *known) {
        *failure = Some((at, error));
    }
}

/// A chunk that is recorded by one thread.
struct Task<'a> {
    device: &'a Device,
    input: FrameInput<'a>,
    resources: FrameResources<'a>,
    chunk: &'a Chunk,
    target: Target,
    age: Age,
    queries: Option<Queries>,
}

impl Task<'_> {
    /// Records the chunk, with its cache. Returns the number of replayed passes.
    fn record(mut self, kept: &mut CachedChunk) -> Result<u32, FrameError> {
        let (device, buffer) = (self.device, self.target.buffer);
        let flags = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
        let info = vk::CommandBufferBeginInfo::default().flags(flags);
        // SAFETY: the buffer was reset with its pool, and only this task uses it.
        unsafe { device.raw.begin_command_buffer(buffer, &info) }
            .map_err(FrameError::vulkan(device, "vkBeginCommandBuffer"))?;
        if let Some(queries) = self
            .queries
            .as_mut()
            .filter(|_| self.chunk.steps.start == 0)
        {
            queries.write(device, buffer);
        }
        let steps = &self.input.plan.submissions[self.chunk.submission].steps;
        let steps = &steps[self.chunk.steps.clone()];
        let CachedChunk { passes, calls, .. } = kept;
        let mut encoder = Encoder::new(device, self.target, self.resources, calls);
        let mut barriers = Barriers::default();
        let mut repeated = 0;
        for (at, step) in steps.iter().enumerate() {
            if let Some(Step::Pass(pass)) = steps.get(at + AHEAD)
                && let Some(list) = list(&self.input, *pass)
            {
                list.fetch();
            }
            let pass = match step {
                Step::Pass(pass) => *pass,
                Step::Barriers(batch) => {
                    barriers.emit(device, self.input.handles, batch, buffer);
                    continue;
                }
            };
            let kept = passes.of(pass);
            let is_repeated = encode_pass(&mut encoder, &self.input, pass, kept, self.age)?;
            repeated += u32::from(is_repeated);
            if let Some(queries) = &mut self.queries {
                queries.write(device, buffer);
            }
        }
        // SAFETY: the buffer is being recorded, and no rendering is open: encoding a list checks that.
        unsafe { device.raw.end_command_buffer(buffer) }
            .map_err(FrameError::vulkan(device, "vkEndCommandBuffer"))?;
        Ok(repeated)
    }
}

/// Number of steps by which lists are prefetched ahead of recording, since their order in memory is not that of the
/// plan.
const AHEAD: usize = 4;

/// Records a pass: replays its cached calls if it is unchanged, else encodes it. Returns whether it was replayed.
fn encode_pass<'a>(
    encoder: &mut Encoder<'a>,
    input: &FrameInput<'a>,
    pass: PassIndex,
    kept: &mut CachedPass,
    age: Age,
) -> Result<bool, FrameError> {
    let Some(list) = list(input, pass) else {
        return Ok(false);
    };
    let name = || &*input.frame.pass(pass).name;
    let repeated = list.repeated();
    if let Some(span) = kept.certain(age, repeated) {
        encoder.repeat(name, span);
        return Ok(true);
    }
    let (name, uses) = (name(), input.frame.uses_of(pass));
    let recheck = kept.recheck(age, uses);
    if let Some(span) = kept.span_of(repeated)
        && encoder.still_holds(uses, span, recheck)
    {
        encoder.repeat(|| name, span);
        kept.checked(age, uses, recheck);
        return Ok(true);
    }
    if let Some(foreign) = list.foreign(encoder.device()) {
        return Err(made_elsewhere(foreign));
    }
    let encoded = match repeated {
        Some(writing) => encoder
            .encode_and_cache(name, uses, list)
            .map(|span| kept.keep(age, uses, writing, span)),
        None => encoder.encode(name, uses, list),
    };
    encoded.map_err(|(command, failure)| {
        let pass = name.to_string();
        match failure {
            Failure::Command(error) => FrameError::Command {
                pass,
                command,
                error,
            },
            Failure::Pipeline(error) => FrameError::Pipeline { pass, error },
            Failure::Resource(error) => FrameError::Resource(error),
        }
    })?;
    Ok(false)
}

/// Arrays of a barrier call. Each call reuses the memory of the previous one.
#[derive(Default)]
struct Barriers {
    memory: Vec<vk::MemoryBarrier2<'static>>,
    buffers: Vec<vk::BufferMemoryBarrier2<'static>>,
    images: Vec<vk::ImageMemoryBarrier2<'static>>,
}

impl Barriers {
    /// Records one `vkCmdPipelineBarrier2`.
    fn emit(
        &mut self,
        device: &Device,
        handles: &[Handle],
        batch: &BarrierBatch,
        buffer: vk::CommandBuffer,
    ) {
        if batch.is_empty() {
            return;
        }
        self.memory.clear();
        self.buffers.clear();
        self.images.clear();
        self.memory
            .extend(batch.memory.iter().map(convert::memory_barrier));
        for barrier in &batch.buffers {
            if let Handle::Buffer(resource) = &handles[barrier.resource.0 as usize] {
                self.buffers
                    .push(convert::buffer_barrier(barrier, resource.raw()));
            }
        }
        for barrier in &batch.images {
            if let Handle::Image(resource) = &handles[barrier.resource.0 as usize] {
                self.images
                    .push(convert::image_barrier(barrier, resource.raw()));
            }
        }
        let transfers = batch
            .buffers
            .iter()
            .any(|barrier| barrier.transfer.is_some())
            || batch
                .images
                .iter()
                .any(|barrier| barrier.transfer.is_some());
        let info = vk::DependencyInfo::default()
            .dependency_flags(dependency_flags(device, transfers))
            .memory_barriers(&self.memory)
            .buffer_memory_barriers(&self.buffers)
            .image_memory_barriers(&self.images);
        // SAFETY: the buffer is being recorded outside rendering; the resources are the frame's
        // and alive; the solver guarantees valid scopes, layouts and owners.
        unsafe { device.raw.cmd_pipeline_barrier2(buffer, &info) };
    }
}

/// Returns the flag that makes the stage masks of ownership transfers effective, if the device has maintenance8.
fn dependency_flags(device: &Device, transfers: bool) -> vk::DependencyFlags {
    if transfers && device.topology.maintenance8 {
        convert::USE_ALL_STAGES
    } else {
        vk::DependencyFlags::empty()
    }
}

/// Returns the name of a capability.
pub(crate) fn capability_word(capability: Capabilities) -> &'static str {
    match capability {
        Capabilities::GRAPHICS => "graphics",
        Capabilities::COMPUTE => "compute",
        _ => "transfer",
    }
}
