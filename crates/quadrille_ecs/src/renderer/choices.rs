//! Choices by measured frame time: the queues of passes that leave it open
//! ([`QueuePreference::Auto`]), and the sharing of resources that do ([`Sharing::Auto`]).
//!
//! Decisions are made by [`QueueChoices`] and [`SharingTrials`]; this module decides when frames are
//! measured and evaluated. Two frames in a row are measured for each evaluation, at the price of a timestamp
//! a pass: the time that a frame adds to the device begins where the frame before it ends. An evaluation
//! goes on over the frames that follow, of which each pays for one more plan at most. First it is
//! about queues, and if nothing is undecided there, about sharing: so one thing changes at a time.
//! Decisions take effect with the next frame that is collected.
//!
//! [`QueuePreference::Auto`]: crate::QueuePreference::Auto
//! [`Sharing::Auto`]: quadrille_vulkan::Sharing::Auto

use std::time::Instant;

use quadrille_sync::{
    Frame, PassIndex, QueueChoices, QueueObservation, Resource, ResourceIndex, Sharing as Mode,
    SharingObservation, SharingStage, SharingTrials, States, Topology,
};
use quadrille_vulkan::{DeviceTimes, Frames, Gpu, Handle};
use serde_json::{Map, Value, json};

use crate::renderer::advice;

/// Frames between looks while a decision is under way: about half a second.
const SHORT_GAP: u32 = 32;

/// Frames between evaluations at most: a game at rest should hardly ever plan a frame more than once.
const LONG_GAP: u32 = 1024;

/// Frames that a measurement may take. Some devices have no timestamps, and frames may fail.
const MAX_WAITED_FRAMES: u32 = 8;

/// Chooses queues and sharing, while frames go on.
pub(crate) struct Choices {
    /// Passes may move.
    has_queues: bool,
    /// Resources may be shared.
    has_sharing: bool,
    queues: QueueChoices,
    sharing: SharingTrials,
    /// The queues have changed, and the collector does not know yet.
    is_changed: bool,
    /// Sharing was decided, and no frame was compared with that yet.
    is_decided: bool,
    /// Frames until the next ones are measured, and from then to those after them.
    frames_left: u32,
    gap: u32,
    /// Frames are being measured for an evaluation, and so many have passed since.
    due: Option<u32>,
    /// The number of the frame that was measured last, and when the device was done with it.
    last: Option<(u64, Instant)>,
    measured: Option<Measured>,
    look: Option<Observation>,
}

/// A frame that was measured after the one before it.
struct Measured {
    times: DeviceTimes,
    took_us: u64,
}

/// A look that goes on.
enum Observation {
    Queues(Box<QueueObservation>, Option<u64>),
    Sharing(Box<SharingObservation>),
}

/// A frame that was submitted: its passes that may move, in order, and what its resources mean.
#[derive(Clone, Copy)]
pub(crate) struct Submitted<'a> {
    pub(crate) frame: &'a Frame,
    pub(crate) open: &'a [PassIndex],
    pub(crate) handles: &'a [Handle],
}

impl Submitted<'_> {
    /// Whether how families share a resource is left to the renderer.
    fn is_open(&self, resource: ResourceIndex) -> bool {
        self.handles[resource.0 as usize].has_open_sharing()
    }
}

impl Choices {
    /// Nothing is chosen yet.
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
            look: None,
        }
    }

    /// Has frames measured when it is time to.
    pub(crate) fn measure(&mut self, frames: &mut Frames) {
        let is_on = self.has_queues || self.has_sharing;
        if !is_on || self.due.is_some() || self.look.is_some() {
            return;
        }
        if self.frames_left > 0 {
            self.frames_left -= 1;
            return;
        }
        self.due = Some(0);
        frames.measure_next(2);
    }

    /// A frame was measured.
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

    /// Begins the evaluation of a frame if it was measured, or goes on with one by a plan.
    pub(crate) fn observe(
        &mut self,
        submitted: Submitted<'_>,
        (topology, states): (&Topology, &States),
    ) {
        match self.look.take() {
            None => self.begin(submitted, (topology, states)),
            Some(Observation::Queues(mut look, took_us)) => match self.queues.step(&mut look) {
                None => self.look = Some(Observation::Queues(look, took_us)),
                Some(is_changed) => {
                    self.is_changed |= is_changed;
                    if self.queues.are_under_way() || !self.has_sharing {
                        return self.end();
                    }
                    let is_open = |resource| submitted.is_open(resource);
                    let sharing = &mut self.sharing;
                    let look = sharing.observe(submitted.frame, topology, states, is_open, took_us);
                    self.look = Some(Observation::Sharing(Box::new(look)));
                }
            },
            Some(Observation::Sharing(mut look)) => {
                if self.sharing.step(&mut look) {
                    self.is_decided = true;
                    self.end();
                } else {
                    self.look = Some(Observation::Sharing(look));
                }
            }
        }
    }

    /// Begins an evaluation, if frames were measured or cannot be.
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
        let look = self.queues.observe(
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
        self.look = Some(Observation::Queues(Box::new(look), took_us));
    }

    /// A look is over: says when the next one is.
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

    /// The resources of a frame that are to be shared otherwise. It is evaluated if the frame is new,
    /// and looked for as well after decisions.
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

    /// A resource cannot be shared otherwise.
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
