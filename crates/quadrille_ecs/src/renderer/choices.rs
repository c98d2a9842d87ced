//! Choices by measured frame time: queues of passes with [`QueuePreference::Auto`], and sharing modes of
//! resources with [`Sharing::Auto`].
//!
//! [`QueueChoices`] and [`SharingTrials`] decide; this module schedules measurements and evaluations. Each
//! evaluation needs two successive measured frames, because the time of a frame counts from the end of the
//! previous one on the device. Measuring costs a timestamp per pass. An evaluation is spread over the
//! following frames, with at most one more plan in each. It is about queues first, and about sharing only
//! if no queue is undecided, so that one thing changes at a time. Decisions take effect with the next frame
//! that is collected.
//!
//! [`QueuePreference::Auto`]: crate::QueuePreference::Auto
//! [`Sharing::Auto`]: quadrille_vulkan::resources::Sharing::Auto

use std::time::Instant;

use quadrille_sync::advise::{
    QueueChoices, QueueObservation, SharingObservation, SharingStage, SharingTrials,
};
use quadrille_sync::frame::{Frame, PassIndex};
use quadrille_sync::resource::{Resource, ResourceIndex, Sharing as Mode};
use quadrille_sync::states::States;
use quadrille_sync::topology::Topology;
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::record::DeviceTimes;
use quadrille_vulkan::resources::Handle;
use quadrille_vulkan::submit::Frames;
use serde_json::{Map, Value, json};

use crate::renderer::advice;

/// Frames between evaluations while a decision is pending: about half a second at 60 Hz.
const SHORT_GAP: u32 = 32;

/// The most frames between evaluations. Large, since each evaluation of an unchanged frame costs extra plans.
const LONG_GAP: u32 = 1024;

/// The most frames to wait for a measurement: some devices have no timestamps, and frames may fail.
const MAX_WAITED_FRAMES: u32 = 8;

/// Chooses queues and sharing modes while frames are rendered.
pub(crate) struct Choices {
    /// Queues may be chosen: automatic queues are on, and there are several queues.
    has_queues: bool,
    /// Sharing modes may be chosen: automatic sharing is on.
    has_sharing: bool,
    queues: QueueChoices,
    sharing: SharingTrials,
    /// The queues have changed since the collector last asked.
    is_changed: bool,
    /// A sharing mode was decided, and no frame has been compared with it yet.
    is_decided: bool,
    /// Frames until the next measurement.
    frames_left: u32,
    /// Frames between the last evaluation and the next measurement.
    gap: u32,
    /// While frames are being measured for an evaluation: the number of frames since the request.
    due: Option<u32>,
    /// Number of the last measured frame, and its end on the device.
    last: Option<(u64, Instant)>,
    measured: Option<Measured>,
    observation: Option<Observation>,
}

/// A measured frame whose predecessor was measured as well.
struct Measured {
    times: DeviceTimes,
    took_us: u64,
}

/// An evaluation in progress.
enum Observation {
    Queues(Box<QueueObservation>, Option<u64>),
    Sharing(Box<SharingObservation>),
}

/// A submitted frame, with its passes of `QueuePreference::Auto` in order, and the handles of its resources.
#[derive(Clone, Copy)]
pub(crate) struct Submitted<'a> {
    pub(crate) frame: &'a Frame,
    pub(crate) open: &'a [PassIndex],
    pub(crate) handles: &'a [Handle],
}

impl Submitted<'_> {
    /// Whether the sharing mode of a resource is automatic.
    fn is_open(&self, resource: ResourceIndex) -> bool {
        self.handles[resource.0 as usize].has_open_sharing()
    }
}

impl Choices {
    /// A state without decisions.
    pub(crate) fn new(gpu: &Gpu) -> Self {
        Self {
            has_queues: gpu.has_auto_queues() && gpu.topology().queues.len() > 1,
            has_sharing: gpu.has_auto_sharing(),
            queues: QueueChoices::default(),
            sharing: SharingTrials::default(),
            is_changed: false,
            is_decided: false,
            frames_left: SHORT_GAP,
            gap: SHORT_GAP,
            due: None,
            last: None,
            measured: None,
            observation: None,
        }
    }

    /// Starts a measurement when the next one is due.
    pub(crate) fn measure(&mut self, frames: &mut Frames) {
        let is_on = self.has_queues || self.has_sharing;
        if !is_on || self.due.is_some() || self.observation.is_some() {
            return;
        }
        if self.frames_left > 0 {
            self.frames_left -= 1;
            return;
        }
        self.due = Some(0);
        frames.measure_next(2);
    }

    /// Notes the times of a measured frame.
    pub(crate) fn measured(&mut self, times: DeviceTimes) {
        let Some(end) = times.submissions.iter().map(|it| it.end).max() else {
            return;
        };
        if self.due.is_none() {
            return;
        }
        let last = self.last.replace((times.frame, end));
        let begin = times.submissions.iter().map(|it| it.begin).min();
        if let (Some((frame, before)), Some(begin)) = (last, begin)
            && frame + 1 == times.frame
        {
            let took = end.saturating_duration_since(begin.max(before));
            let took_us = took.as_micros() as u64;
            self.measured = Some(Measured { times, took_us });
        }
    }

    /// Begins the evaluation of a measured frame, or advances the current one by one plan.
    pub(crate) fn observe(
        &mut self,
        submitted: Submitted<'_>,
        (topology, states): (&Topology, &States),
    ) {
        match self.observation.take() {
            None => self.begin(submitted, (topology, states)),
            Some(Observation::Queues(mut observation, took_us)) => {
                match self.queues.step(&mut observation) {
                    None => self.observation = Some(Observation::Queues(observation, took_us)),
                    Some(is_changed) => {
                        self.is_changed |= is_changed;
                        if self.queues.are_under_way() || !self.has_sharing {
                            return self.end();
                        }
                        let is_open = |resource| submitted.is_open(resource);
                        let sharing = &mut self.sharing;
                        let observation =
                            sharing.observe(submitted.frame, topology, states, is_open, took_us);
                        self.observation = Some(Observation::Sharing(Box::new(observation)));
                    }
                }
            }
            Some(Observation::Sharing(mut observation)) => {
                if self.sharing.step(&mut observation) {
                    self.is_decided = true;
                    self.end();
                } else {
                    self.observation = Some(Observation::Sharing(observation));
                }
            }
        }
    }

    /// Begins an evaluation if frames were measured, or if the wait for a measurement is over.
    fn begin(&mut self, submitted: Submitted<'_>, (topology, states): (&Topology, &States)) {
        let Some(waited) = &mut self.due else {
            return;
        };
        *waited += 1;
        let measured = self.measured.take();
        if measured.is_none() && *waited < MAX_WAITED_FRAMES {
            return;
        }
        self.due = None;
        let Submitted { frame, open, .. } = submitted;
        let costs = measured
            .as_ref()
            .map(|it| advice::measured_us(frame, &it.times));
        let took_us = measured.as_ref().map(|it| it.took_us);
        let (has_queues, has_sharing) = (self.has_queues, self.has_sharing);
        let sharing = &self.sharing;
        let observation = self.queues.observe(
            frame,
            topology,
            states,
            (
                |pass| has_queues && open.binary_search(&pass).is_ok(),
                |it: ResourceIndex| {
                    let name = &frame.resource(it).name;
                    has_sharing && submitted.is_open(it) && sharing.may_share(name)
                },
            ),
            |pass| costs.as_ref()?[pass.0 as usize],
            took_us,
        );
        self.observation = Some(Observation::Queues(Box::new(observation), took_us));
    }

    /// Ends an evaluation, and sets the time of the next one.
    fn end(&mut self) {
        let is_busy = self.queues.are_under_way() || self.sharing.are_under_way();
        self.gap = if is_busy {
            SHORT_GAP
        } else {
            (self.gap * 2).min(LONG_GAP)
        };
        self.frames_left = self.gap;
    }

    /// The queues, if they have changed since the last call.
    pub(crate) fn changed_queues(&mut self) -> Option<QueueChoices> {
        if !std::mem::take(&mut self.is_changed) {
            return None;
        }
        self.sharing.share_only(self.queues.shares());
        self.is_decided = true;
        Some(self.queues.clone())
    }

    /// The resources of a frame whose sharing mode has to change. Compared only for a new frame, and
    /// after decisions.
    pub(crate) fn changed_sharing(
        &mut self,
        (frame, handles): (&Frame, &[Handle]),
        is_new: bool,
    ) -> Vec<(Handle, Mode)> {
        let is_asked = std::mem::take(&mut self.is_decided) || is_new;
        if !is_asked || !self.has_sharing {
            return Vec::new();
        }
        let handle = |it: ResourceIndex| &handles[it.0 as usize];
        let is_open = |it| handle(it).has_open_sharing();
        let changes = self.sharing.changes(frame, is_open).into_iter();
        let changes = changes.map(|it| (handle(it.resource).clone(), it.sharing));
        changes.collect()
    }

    /// Notes that the sharing mode of a resource cannot change.
    pub(crate) fn keep_sharing(&mut self, resource: &Resource) {
        self.sharing.keep(resource);
    }

    /// Returns the decisions about sharing as JSON, by names of resources.
    pub(crate) fn sharing_to_json(&self) -> Map<String, Value> {
        let stages = self.sharing.stages().map(|(name, stage)| {
            let word = match stage {
                SharingStage::Open => "open",
                SharingStage::Tried => "tried",
                SharingStage::Settled(Mode::Exclusive) => "exclusive",
                SharingStage::Settled(Mode::Concurrent) => "concurrent",
            };
            (name.to_owned(), word.into())
        });
        stages.collect()
    }

    /// The passes that were moved, by name.
    pub(crate) fn moves_to_json(&self) -> Map<String, Value> {
        let moves = self.queues.moves().map(|moved| {
            let value = json!({
                "queue": moved.queue.0,
                "takes_us": moved.cost_us,
                "saves_us": moved.saves_us,
                "tried": moved.is_tried,
            });
            (moved.pass.to_string(), value)
        });
        moves.collect()
    }
}
