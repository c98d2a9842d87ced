//! Streams: worker threads that record, plan and submit independently of the main loop.

use std::time::{Duration, Instant};

use quadrille_sync::access::Access;
use quadrille_sync::frame::{Frame, PassDecl, PassIndex, PassKind, QueueRequest, Use};
use quadrille_sync::planner::Planner;
use quadrille_sync::range::SubRange;
use quadrille_sync::resource::ResourceIndex;
use quadrille_sync::states::States;
use quadrille_vulkan::FrameError;
use quadrille_vulkan::commands::CommandList;
use quadrille_vulkan::device::{Gpu, StreamDesc};
use quadrille_vulkan::record::{FrameInput, Serial};
use quadrille_vulkan::resources::{BufferDesc, GpuBuffer, Handle};
use quadrille_vulkan::submit::{Closed, Consumer, Frames, Producer, RingEntry};

use crate::collect::part_access;
use crate::declare::access::PassUse;
use crate::error::RenderError;
use crate::record::recorder::PassRecorder;
use crate::record::recording::{PassRecording, SubRecording};
use crate::renderer::Renderer;

/// Polling interval of waits for the device, after which they check whether the stream should stop.
const GLANCE: Duration = Duration::from_millis(20);

/// Timeout of a wait for the device when the stream is stopping.
const LAST_TIMEOUT: Duration = Duration::from_secs(1);

/// Error of a stream's frame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The renderer is ending, or the ring's consumer is gone: the usual reason for a stream's thread to end.
    #[error("the stream is to come to its end")]
    Closed,
    /// An error of the frame.
    #[error(transparent)]
    Render(#[from] RenderError),
}

impl From<Closed> for StreamError {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

impl From<FrameError> for StreamError {
    fn from(error: FrameError) -> Self {
        Self::Render(error.into())
    }
}

/// A stream: independent frames of a thread that does not wait for the main loop.
///
/// See [`Renderer::run_stream`].
pub struct Stream {
    frames: Frames,
    states: States,
    planner: Planner,
    gpu: Gpu,
    recording: PassRecording,
    frame: Frame,
    handles: Vec<Handle>,
}

/// A frame of a [`Stream`] during recording. Its passes run in the order of the calls.
pub struct StreamFrame<'a> {
    recording: &'a mut PassRecording,
    gpu: &'a Gpu,
    /// Staging buffers of uploads.
    staging: Vec<Handle>,
    failed: Option<RenderError>,
}

impl StreamFrame<'_> {
    /// Begins a pass with these accesses: see [`AnyAccess::of`](crate::AnyAccess::of).
    pub fn pass(&mut self, name: &str, uses: &[PassUse]) -> PassRecorder<'_> {
        PassRecorder::new(self.recording.sub(name, uses, None))
    }

    /// Writes bytes to a buffer, before all later passes.
    pub fn write_buffer(&mut self, to: &GpuBuffer, offset: u64, bytes: &[u8]) {
        let staged = self
            .gpu
            .create_buffer(&BufferDesc::upload("upload", bytes.len() as u64));
        let staged = staged.and_then(|staged| staged.write(0, bytes).map(|()| staged));
        match staged {
            Ok(staged) => {
                let name = format!("write {}", to.name());
                let access = crate::AnyAccess::of(to, crate::AccessKind::TransferWrite);
                let recording = self.recording.sub(&name, &[access.as_declared()], None);
                recording.needs |= quadrille_sync::topology::Capabilities::TRANSFER;
                let length = bytes.len() as u64;
                recording.list.copy_buffer(&staged, 0, to, offset, length);
                self.staging.push(staged.into());
            }
            Err(error) => self.failed = Some(FrameError::Resource(error).into()),
        }
    }
}

impl Stream {
    fn new(gpu: &Gpu, frames: Frames) -> Self {
        Self {
            states: frames.states(),
            frames,
            planner: Planner::default(),
            gpu: gpu.clone(),
            recording: PassRecording::default(),
            frame: Frame::default(),
            handles: Vec::new(),
        }
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Whether the renderer is ending, so that the thread should return.
    pub fn is_stopping(&self) -> bool {
        self.frames.is_stopping()
    }

    /// Records and submits a frame. Waits first if the maximum number of frames in flight is reached.
    ///
    /// # Errors
    /// [`StreamError::Closed`] if the stream should stop; else an error of the frame, which
    /// was not submitted.
    pub fn frame(&mut self, record: impl FnOnce(&mut StreamFrame<'_>)) -> Result<(), StreamError> {
        self.begin()?;
        self.run(None, record)
    }

    /// Records a frame that writes the next entry of a ring, submits it and publishes the entry.
    /// Returns the entry's number. Only the device waits for reads of earlier entries, not the CPU.
    ///
    /// # Errors
    /// As for [`Stream::frame`]; the entry is not published then.
    pub fn turn(
        &mut self,
        producer: &mut Producer,
        record: impl FnOnce(&mut StreamFrame<'_>, &RingEntry),
    ) -> Result<u64, StreamError> {
        self.begin()?;
        let turn = producer.reserve(&mut self.states)?;
        let publish = producer.publish_access();
        let last = publish.map(|access| (turn.slot.clone(), access));
        self.run(last, |frame| record(frame, &turn))?;
        producer.publish(&mut self.states);
        Ok(turn.number)
    }

    /// Reads a ring in this stream's frames, instead of in the main loop's.
    pub fn attach(&mut self, consumer: &Consumer) {
        self.frames.attach(consumer);
    }

    /// Begins a frame, and waits for the device without a timeout.
    fn begin(&mut self) -> Result<(), StreamError> {
        let mut stopping = None;
        loop {
            if self.is_stopping() {
                let since = stopping.get_or_insert_with(Instant::now);
                if since.elapsed() > LAST_TIMEOUT {
                    return Err(StreamError::Closed);
                }
            }
            match self.frames.begin(GLANCE) {
                Ok(_) if self.is_stopping() => return Err(StreamError::Closed),
                Ok(_) => return Ok(()),
                // The device may depend on a later submission of the main loop, so this is not an error.
                Err(FrameError::Timeout { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Records, plans and submits the frame that has begun.
    fn run(
        &mut self,
        last: Option<(Handle, Access)>,
        record: impl FnOnce(&mut StreamFrame<'_>),
    ) -> Result<(), StreamError> {
        self.recording.begin();
        let mut recorded = StreamFrame {
            recording: &mut self.recording,
            gpu: &self.gpu,
            staging: Vec::new(),
            failed: None,
        };
        record(&mut recorded);
        let StreamFrame {
            staging, failed, ..
        } = recorded;
        if let Some(error) = failed {
            return Err(error.into());
        }
        self.collect(last)?;
        self.handles.extend(staging);
        self.submit()?;
        self.handles.clear();
        Ok(())
    }

    /// Collects the frame from the recording.
    fn collect(&mut self, last: Option<(Handle, Access)>) -> Result<(), RenderError> {
        if let Some(error) = self.recording.errors().next() {
            return Err(RenderError::Record {
                pass: "of a stream".to_owned(),
                error: error.clone(),
            });
        }
        self.frame.clear();
        self.handles.clear();
        for recorded in self.recording.passes() {
            let Some(part) = recorded.part() else {
                continue;
            };
            let uses_start = self.frame.uses.len() as u32;
            for used in &part.uses {
                let resource = index(&mut self.frame, &mut self.handles, &used.handle);
                let (access, _) = part_access(used, recorded);
                self.frame.uses.push(Use {
                    resource,
                    range: used.range,
                    access,
                    discard: false,
                });
            }
            let queue = QueueRequest {
                required: recorded.needs,
                ..QueueRequest::default()
            };
            push_pass(&mut self.frame, part.name.clone(), queue, uses_start);
        }
        if let Some((handle, access)) = last {
            let uses_start = self.frame.uses.len() as u32;
            let resource = index(&mut self.frame, &mut self.handles, &handle);
            self.frame.uses.push(Use {
                resource,
                range: SubRange::Whole,
                access,
                discard: false,
            });
            push_pass(
                &mut self.frame,
                "publish".into(),
                QueueRequest::default(),
                uses_start,
            );
        }
        Ok(())
    }

    fn submit(&mut self) -> Result<(), RenderError> {
        self.frames.exchange(&mut self.states);
        let planned = self
            .planner
            .plan(&self.frame, self.frames.topology(), &self.states)?;
        let mut lists: Vec<Option<&CommandList>> = Vec::with_capacity(self.frame.passes.len());
        let parts = self.recording.passes().iter();
        let parts = parts.filter(|recorded| recorded.part().is_some());
        lists.extend(parts.map(|recorded: &SubRecording| Some(&recorded.list)));
        lists.resize(self.frame.passes.len(), None);
        let input = FrameInput {
            frame: &self.frame,
            plan: &planned.plan,
            lists: &lists,
            handles: &self.handles,
            timelines: &[],
        };
        let recorded = self.frames.record(input, &Serial, 1)?;
        self.frames.submit(input, recorded, &self.states, &mut [])?;
        self.states
            .commit(&self.frame, self.frames.topology(), &planned.plan);
        Ok(())
    }
}

/// Adds a pass with the uses from index `uses_start` on, ordered after the previous pass.
fn push_pass(frame: &mut Frame, name: std::sync::Arc<str>, queue: QueueRequest, uses_start: u32) {
    let after_start = frame.after.len() as u32;
    let before = frame.passes.len().checked_sub(1);
    frame
        .after
        .extend(before.map(|before| PassIndex(before as u32)));
    frame.passes.push(PassDecl {
        name,
        kind: PassKind::Device,
        queue,
        side_effect: false,
        prologue: false,
        cost_us: 0,
        uses: uses_start..frame.uses.len() as u32,
        after: after_start..frame.after.len() as u32,
    });
}

/// Returns the index of a resource in the frame, adding it if necessary. A linear search, as streams use few resources.
fn index(frame: &mut Frame, handles: &mut Vec<Handle>, handle: &Handle) -> ResourceIndex {
    let known = handles.iter().position(|known| known.id() == handle.id());
    let at = known.unwrap_or_else(|| {
        handle.declare_in(frame);
        handles.push(handle.clone());
        handles.len() - 1
    });
    ResourceIndex(at as u32)
}

impl Renderer {
    /// Creates a ring of slots that a stream writes and the main loop reads. Take entries from the [`Consumer`] in
    /// `RenderSystems::Declare`; passes may read an entry's slot until the next entry is taken.
    ///
    /// # Errors
    /// See [`Gpu::ring`].
    pub fn ring(
        &mut self,
        name: &str,
        slots: impl IntoIterator<Item = impl Into<Handle>>,
    ) -> Result<(Producer, Consumer), RenderError> {
        let slots = slots.into_iter().map(Into::into).collect();
        let (producer, consumer) = self.gpu.ring(name, slots).map_err(FrameError::Resource)?;
        self.frames.attach(&consumer);
        Ok((producer, consumer))
    }

    /// Spawns a thread with a stream that submits independently of the main loop: neither waits for the other on the
    /// CPU. When the renderer ends, frames of the stream fail with [`StreamError::Closed`], and the renderer waits for
    /// the thread for two seconds at most.
    ///
    /// Call it before the first frame, so that the stream gets exclusive use of a queue if one is free.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_ecs::*;
    /// # use quadrille_vulkan::device::StreamDesc;
    /// # use quadrille_vulkan::pipeline::ComputePipeline;
    /// # use quadrille_vulkan::resources::{BufferDesc, Sharing};
    /// # use quadrille_vulkan::submit::Consumer;
    /// #[derive(Resource)]
    /// struct Ages(Consumer);
    ///
    /// fn start(mut commands: Commands, mut renderer: ResMut<Renderer>, step: ComputePipeline) -> Result {
    ///     let ages = ["even", "odd"].map(|name| BufferDesc::storage(name, 4096));
    ///     let ages = ages.map(|age| age.with_sharing(Sharing::Concurrent));
    ///     let [even, odd] = [renderer.gpu().create_buffer(&ages[0])?, renderer.gpu().create_buffer(&ages[1])?];
    ///     let (mut producer, consumer) = renderer.ring("ages", [even, odd])?;
    ///     commands.insert_resource(Ages(consumer));
    ///     renderer.run_stream(&StreamDesc::compute("ageing"), move |mut stream| {
    ///         loop {
    ///             stream.turn(&mut producer, |frame, turn| {
    ///                 let age = AnyAccess::of(&turn.slot, AccessKind::StorageWrite);
    ///                 let mut pass = frame.pass("age", &[age.as_declared()]);
    ///                 pass.compute(&step).bind("age", &age).dispatch([16, 1, 1]);
    ///             })?;
    ///         }
    ///     })?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// No queue has the capabilities, or the thread could not be spawned.
    pub fn run_stream(
        &self,
        desc: &StreamDesc,
        body: impl FnOnce(Stream) -> Result<(), StreamError> + Send + 'static,
    ) -> Result<(), RenderError> {
        let frames = self.gpu.stream(desc).map_err(FrameError::Resource)?;
        let stream = Stream::new(&self.gpu, frames);
        let name = desc.name.clone();
        let thread = std::thread::Builder::new().name(name.clone());
        let run = move || match body(stream) {
            Ok(()) | Err(StreamError::Closed) => {}
            Err(StreamError::Render(error)) => {
                tracing::error!("the stream `{name}` ends: {error}");
            }
        };
        let thread = thread.spawn(run).map_err(|error| {
            RenderError::Frame(FrameError::Mismatch {
                problem: format!("no thread can be started for {}: {error}", desc.name),
            })
        })?;
        self.gpu.keep_thread(thread);
        Ok(())
    }
}
