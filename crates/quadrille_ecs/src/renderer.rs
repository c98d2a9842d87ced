//! [`Renderer`]: the device, state that outlives frames, and measurements.

pub(crate) mod advice;
pub(crate) mod choices;
pub(crate) mod culled;
pub(crate) mod frame_start;
pub(crate) mod report;
pub(crate) mod sharing;
pub(crate) mod threads;
pub(crate) mod trace;

use std::sync::Arc;

use bevy_ecs::prelude::*;
use quadrille_sync::dot;
use quadrille_sync::frame::Frame;
use quadrille_sync::plan::Plan;
use quadrille_sync::planner::Planner;
use quadrille_sync::states::{Progress, Snapshot, States, TimelinePoint};
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::record::DeviceTimes;
use quadrille_vulkan::resources::Handle;
use quadrille_vulkan::submit::{Frames, TransientMemory};

use crate::error::RenderError;
use crate::record::host::HostPasses;
use crate::renderer::choices::Choices;
use crate::renderer::culled::CulledPasses;
use crate::renderer::frame_start::Spare;
use crate::renderer::report::{Measurements, PhaseObserver};
use crate::renderer::sharing::SharingChanges;
use crate::renderer::trace::Trace;
use crate::window::WindowTarget;

/// Plans and submits frames. Its plan and report can be read after a frame. The resource is removed from the world
/// while passes record.
#[derive(Resource)]
pub struct Renderer {
    // Fields are dropped in this order: windows before the frames that present them.
    pub(crate) windows: Vec<WindowTarget>,
    pub(crate) frames: Frames,
    pub(crate) planner: Planner,
    pub(crate) states: States,
    pub(crate) progress: Progress,
    pub(crate) host: HostPasses,
    /// Idle time of recent frames, which sets the start of the next one: see [`FrameStart`](crate::FrameStart).
    pub(crate) spare: Spare,
    /// Chooses queues of passes and sharing modes of resources, where these are automatic.
    pub(crate) choices: Choices,
    /// Applies the chosen sharing modes.
    pub(crate) sharing: SharingChanges,
    pub(crate) last: Option<KeptFrame>,
    pub(crate) measured: Measurements,
    pub(crate) culled: CulledPasses,
    pub(crate) gpu: Gpu,
    /// The last frames for trace viewers; `None` unless tracing is on.
    pub(crate) trace: Option<Trace>,
    /// Device times of the last complete frame.
    pub(crate) device_times: Option<DeviceTimes>,
    /// Receives each phase of each frame.
    pub(crate) observer: Option<PhaseObserver>,
    /// Whether a copy of each frame's declarations is kept for [`Renderer::plan_text`].
    pub(crate) keep_frames: bool,
}

/// The last frame, kept for texts and diagrams.
pub(crate) struct KeptFrame {
    pub(crate) frame: Frame,
    /// The states that it was planned from.
    pub(crate) start: Snapshot,
    pub(crate) plan: Arc<Plan>,
}

/// State that outlives a device: settings, counts and traces.
pub(crate) struct Outliving {
    measured: Measurements,
    keep_frames: bool,
    is_measured: bool,
    trace: Option<Trace>,
    observer: Option<PhaseObserver>,
}

impl Renderer {
    pub(crate) fn new(gpu: Gpu) -> Result<Self, RenderError> {
        let frames = gpu.frames()?;
        Ok(Self {
            windows: Vec::new(),
            planner: Planner::default(),
            states: frames.states(),
            frames,
            progress: Progress::default(),
            host: HostPasses::default(),
            spare: Spare::default(),
            choices: Choices::new(&gpu),
            sharing: SharingChanges::default(),
            last: None,
            measured: Measurements::default(),
            culled: CulledPasses::default(),
            gpu,
            trace: None,
            device_times: None,
            observer: None,
            keep_frames: false,
        })
    }

    /// Destroys the renderer, windows first. Returns the device and the state that outlives it.
    pub(crate) fn close(self) -> (Gpu, Outliving) {
        let outliving = Outliving {
            is_measured: self.frames.is_measured(),
            measured: self.measured,
            keep_frames: self.keep_frames,
            trace: self.trace,
            observer: self.observer,
        };
        drop(self.windows);
        drop(self.frames);
        (self.gpu, outliving)
    }

    /// Restores the state of a renderer whose device was lost.
    pub(crate) fn resume(&mut self, outliving: Outliving) {
        self.measured = outliving.measured;
        self.keep_frames = outliving.keep_frames;
        self.observer = outliving.observer;
        self.trace = outliving.trace;
        if let Some(trace) = &mut self.trace {
            trace.begin_device();
        }
        self.measure(outliving.is_measured);
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Sets whether each frame's declarations are kept, for [`Renderer::plan_text`], [`Renderer::plan_dot`] and
    /// [`Renderer::case_text`]. Off by default, since it costs a copy of each frame.
    pub fn keep_frames(&mut self, keep: bool) {
        self.keep_frames = keep;
    }

    /// Starts or stops measuring device times of passes.
    pub fn measure(&mut self, wanted: bool) {
        self.frames.measure(wanted);
        if !wanted {
            self.device_times = None;
        }
    }

    /// The number of submitted frames, including those on lost devices. A failed frame
    /// does not count, so a pass that has to run once should run again while this number is unchanged.
    pub fn submitted_frames(&self) -> u64 {
        self.measured.frames()
    }

    /// Returns the device times of the last complete frame. `None` unless frames are
    /// measured: [`Renderer::measure`].
    pub fn device_times(&self) -> Option<&DeviceTimes> {
        self.device_times.as_ref()
    }

    /// Keeps the times of the last frames, on the CPU and on the device, for
    /// [`Renderer::trace_json`].
    pub fn trace(&mut self) {
        self.measure(true);
        self.trace.get_or_insert_with(Trace::new);
    }

    /// The last frames in the format of Chrome's and Perfetto's trace viewers
    /// (<https://ui.perfetto.dev>): the CPU's phases, and queues, submissions, passes and waits on
    /// one time axis. `None` unless [`Renderer::trace`] was called.
    pub fn trace_json(&self) -> Option<String> {
        let trace = self.trace.as_ref()?;
        Some(trace.to_json(self.gpu.topology()).to_string())
    }

    /// Sets the observer of frame phases, for profilers and traces. Replaces an earlier one.
    pub fn observe_phases(&mut self, observer: PhaseObserver) {
        self.observer = Some(observer);
    }

    /// The plan of the last frame as text, if there was one and it was kept.
    pub fn plan_text(&self) -> Option<String> {
        let KeptFrame { frame, plan, .. } = self.last.as_ref()?;
        Some(plan.display(frame, self.frames.topology()).to_string())
    }

    /// The last frame as the text of a case, if there was one and it was kept: the declarations of its passes, the
    /// states before it, and its plan. `cargo xtask plan` plans it again, and `cargo xtask check` judges its plan by
    /// the oracle.
    pub fn case_text(&self) -> Option<String> {
        let KeptFrame { frame, start, plan } = self.last.as_ref()?;
        let topology = self.frames.topology();
        let (start, plan) = (start.display(frame), plan.display(frame, topology));
        Some(format!(
            "topology {topology}\n\n=== frame\n{frame}\n=== states\n{start}\n=== plan\n{plan}\n"
        ))
    }

    /// The plan of the last frame as a Graphviz diagram of queues, submissions, waits and passes,
    /// if there was one and it was kept.
    pub fn plan_dot(&self) -> Option<String> {
        let KeptFrame { frame, plan, .. } = self.last.as_ref()?;
        Some(dot(frame, self.frames.topology(), plan))
    }

    /// Returns counts and measurements so far, as JSON. Times are in microseconds.
    ///
    /// `transient_bytes` is the memory of transient resources. `transient_bytes_unshared` is the memory that
    /// those of the last frame would take without aliasing, which is off with the validation layer
    /// ([`Settings::aliasing`](quadrille_vulkan::instance::Settings::aliasing)).
    ///
    /// `culled` has the passes that were culled in the last frame because no pass reads their results, with each
    /// resource that they write and its culled readers (see [`AlwaysRun`](crate::AlwaysRun)).
    ///
    /// `open_sharing` has the decision so far for each resource of
    /// [`Sharing::Auto`](quadrille_vulkan::resources::Sharing::Auto) whose ownership is, or was, transferred between families:
    /// `open`, `tried`, `exclusive` or `concurrent`.
    ///
    /// `moved` has the passes of [`QueuePreference::Auto`](crate::QueuePreference::Auto) that were moved to another
    /// queue to shorten frames: the queue, the time of the pass, the estimated saving, and whether a measurement
    /// still has to confirm the saving (`tried`).
    ///
    /// If frames are measured ([`Renderer::measure`]), `gpu_us` has the time of each pass of the last frame on the
    /// device. If frames are kept as well ([`Renderer::keep_frames`]), there are two more entries:
    ///
    /// - `advice` has the most that moving a pass to another queue could save; set its
    ///   [`QueuePreference`](crate::QueuePreference) to move it.
    /// - `sharing` has the estimated cost of the frame with each resource that changes its family set to
    ///   [`Sharing::Concurrent`](quadrille_vulkan::resources::Sharing::Concurrent). See
    ///   [`advise_sharing`](quadrille_sync::advise::advise_sharing) for the limits of that estimate.
    pub fn report(&self) -> serde_json::Map<String, serde_json::Value> {
        let mut report = self.measured.to_json(&self.gpu);
        let TransientMemory {
            bytes,
            unshared_bytes,
        } = self.frames.transient_memory();
        report.insert("transient_bytes".into(), bytes.into());
        report.insert("transient_bytes_unshared".into(), unshared_bytes.into());
        report.insert("culled".into(), self.culled.to_json().into());
        report.insert("open_sharing".into(), self.choices.sharing_to_json().into());
        report.insert("moved".into(), self.choices.moves_to_json().into());
        let late_us = self.spare.late().as_micros() as u64;
        report.insert("begins_late_us".into(), late_us.into());
        if let Some(times) = &self.device_times {
            report.insert("gpu_us".into(), advice::device_us(times).into());
            if let Some(KeptFrame { frame, plan, .. }) = &self.last {
                let advice = advice::advice(frame, self.gpu.topology(), plan, times);
                report.insert("advice".into(), advice.into());
                let sharing = advice::sharing(frame, self.gpu.topology(), &self.states, times);
                report.insert("sharing".into(), sharing.into());
            }
        }
        report
    }

    /// Notes that a frame was submitted, with the copies of sharing changes in it. Requests new sharing modes for
    /// the next frame.
    pub(crate) fn settle_sharing(&mut self, frame: &Frame, handles: &[Handle], is_new: bool) {
        self.sharing.submitted();
        if self.frames.can_change_sharing() {
            let changes = self.choices.changed_sharing((frame, handles), is_new);
            for (handle, mode) in changes {
                self.sharing.want(handle, mode);
            }
        }
    }

    /// The last submitted value of each queue's timeline.
    pub(crate) fn signalled(&self) -> Vec<TimelinePoint> {
        let point = |queue| TimelinePoint {
            queue,
            value: self.states.base(queue),
        };
        self.gpu.topology().indices().map(point).collect()
    }
}
