//! The renderer's own state: the device, what outlives frames, and what was measured.

use std::sync::Arc;
use std::time::Duration;

use bevy_ecs::prelude::*;
use quadrille_sync::{Frame, Plan, Planner, Progress, States, TimelinePoint, dot};
use quadrille_vulkan::{Frames, Gpu};

use crate::error::RenderError;
use crate::host::HostPasses;
use crate::report::{Measurements, PhaseObserver};
use crate::window::WindowTarget;

/// Plans and submits frames. Read its plan and its report after a frame; it is not there while
/// passes record.
#[derive(Resource)]
pub struct Renderer {
    // Fields are dropped in this order: windows before the frames that present them.
    pub(crate) windows: Vec<WindowTarget>,
    pub(crate) frames: Frames,
    pub(crate) planner: Planner,
    pub(crate) states: States,
    pub(crate) progress: Progress,
    pub(crate) host: HostPasses,
    pub(crate) last: Option<(Frame, Arc<Plan>)>,
    pub(crate) measured: Measurements,
    pub(crate) gpu: Gpu,
    /// Is told each phase of each frame.
    pub(crate) observer: Option<PhaseObserver>,
    /// Keep a copy of each frame's declarations for [`Renderer::plan_text`].
    pub(crate) keep_frames: bool,
}

/// How long a frame may wait for the device before that is an error.
pub(crate) const PACE_TIMEOUT: Duration = Duration::from_secs(10);

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
            last: None,
            measured: Measurements::default(),
            gpu,
            observer: None,
            keep_frames: false,
        })
    }

    /// Ends it, its windows first; the device and what outlives it are given back.
    pub(crate) fn close(self) -> (Gpu, Measurements, bool) {
        let Self {
            windows,
            frames,
            measured,
            gpu,
            keep_frames,
            ..
        } = self;
        drop(windows);
        drop(frames);
        (gpu, measured, keep_frames)
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Keeps each frame's declarations, for [`Renderer::plan_text`] and [`Renderer::plan_dot`].
    /// Off at first: it costs a copy of the frame.
    pub fn keep_frames(&mut self, keep: bool) {
        self.keep_frames = keep;
    }

    /// Tells `observer` the phases of the frames to come, in the place of an earlier one: for
    /// profilers and traces.
    pub fn observe_phases(&mut self, observer: PhaseObserver) {
        self.observer = Some(observer);
    }

    /// The plan of the last frame as text, if there was one and it was kept.
    pub fn plan_text(&self) -> Option<String> {
        let (frame, plan) = self.last.as_ref()?;
        Some(plan.display(frame, self.frames.topology()).to_string())
    }

    /// The plan of the last frame as a Graphviz diagram of queues, submissions, waits and passes,
    /// if there was one and it was kept.
    pub fn plan_dot(&self) -> Option<String> {
        let (frame, plan) = self.last.as_ref()?;
        Some(dot(frame, self.frames.topology(), plan))
    }

    /// What was counted and measured so far, as flat JSON.
    pub fn report(&self) -> serde_json::Map<String, serde_json::Value> {
        self.measured.to_json(&self.gpu)
    }

    /// The value that each queue signalled last.
    pub(crate) fn signalled(&self) -> Vec<TimelinePoint> {
        let point = |queue| TimelinePoint {
            queue,
            value: self.states.base(queue),
        };
        self.gpu.topology().indices().map(point).collect()
    }
}
