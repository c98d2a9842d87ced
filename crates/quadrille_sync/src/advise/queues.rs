//! Automatic choice of queues for passes whose declaration leaves it open.
//!
//! A pass without a preference begins on the main queue. Now and then the caller measures a frame and
//! has it observed ([`QueueChoices::observe`]). An observation compares plans of the frame: as it is, and
//! with one such pass on another queue, or a few that follow each other. If several observations agree
//! that this shortens the estimated frame by at least [`GAIN`] of its time, the passes move. Then the
//! frame is measured: if it has not become shorter, as where queues share all the units of a device, they
//! return. They return as well when observations agree that the move saves nothing any more.
//!
//! Ownership of a resource by one family at a time keeps passes of several families from reading it
//! together. So where the sharing mode is automatic, an observation compares the frame with these
//! resources concurrent as well, and if that pays, they become concurrent when the passes move
//! ([`QueueChoices::shares`]).
//!
//! Passes that were tried in vain are left alone for some observations, and for twice as many each time.
//! So a frame that does not change comes to rest. For given costs all of this is deterministic.
//!
//! Verdicts and costs belong to the names of passes. Passes of one name have one verdict.

use std::sync::Arc;

use super::observation::{Finding, MAX_CHAIN_PASSES, MultiQueueCandidate, QueueObservation};
use crate::frame::{Frame, PassIndex, PassKind};
use crate::resource::ResourceIndex;
use crate::states::States;
use crate::topology::{QueueIndex, Topology};

/// A pass moves if that makes a frame shorter by one part in so many.
pub(super) const GAIN: u64 = 50;

/// A pass stays where it is as long as that makes a frame shorter by one part in so many.
const KEPT: u64 = 100;

/// Successive observations that have to agree.
const LOOKS: u32 = 3;

/// A pass that was tried in vain is left alone for at most so many observations.
const MAX_SKIPPED_LOOKS: u32 = 64;

/// A measured cost replaces the known one if it differs by more than one part in so many.
const CHANGE: u32 = 4;

/// The least difference of costs that matters, in microseconds.
const MIN_CHANGE_US: u32 = 10;

/// Frames of more passes are left as they are: to plan them a few times would be felt.
const MAX_PASSES: usize = 1024;

/// Chooses queues for passes that leave them open, and keeps what passes cost.
#[derive(Clone, Debug, Default)]
pub struct QueueChoices {
    passes: Vec<Known>,
    looks: u32,
}

/// A pass that runs beside the main queue because it was measured that this is quicker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueMove {
    /// The name of the pass.
    pub pass: Arc<str>,
    /// The queue it runs on.
    pub queue: QueueIndex,
    /// Device time of the passes, in microseconds.
    pub cost_us: u32,
    /// Estimated time by which the frame is shorter, in microseconds, at the last observation.
    pub saves_us: u64,
    /// Whether the measurement that confirms the move is still due.
    pub is_tried: bool,
}

/// State of the passes of one name.
#[derive(Clone, Debug)]
struct Known {
    name: Arc<str>,
    cost_us: u32,
    stage: Stage,
    /// The names of the passes that follow it to where it runs.
    followers: Vec<Arc<str>>,
    /// The names of resources that have to be shared where it runs.
    shares: Vec<Arc<str>>,
    /// By the number of followers: when they are tried again.
    rests: [Rest; MAX_CHAIN_PASSES],
}

/// When something is tried again that was tried in vain.
#[derive(Clone, Copy, Debug)]
struct Rest {
    /// Looks that it is left alone for.
    looks: u32,
    /// How long it is left alone when it is tried in vain once more.
    next: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// On the main queue. So many successive observations prefer another queue; the frame took
    /// at least so long.
    Main { agreed: u32, least: Option<u64> },
    /// On another queue, to see what becomes of the frame.
    Tried {
        queue: QueueIndex,
        saves_us: u64,
        before: u64,
        since: (u32, u64),
    },
    /// On another queue. So many successive observations found that this saves nothing.
    Moved {
        queue: QueueIndex,
        saves_us: u64,
        doubted: u32,
    },
}

impl Stage {
    const MAIN: Self = Self::Main {
        agreed: 0,
        least: None,
    };

    fn queue(self) -> Option<QueueIndex> {
        match self {
            Self::Main { .. } => None,
            Self::Tried { queue, .. } | Self::Moved { queue, .. } => Some(queue),
        }
    }
}

impl QueueChoices {
    /// The queue that was chosen for passes of a name; none for the main one.
    pub fn queue(&self, pass: &str) -> Option<QueueIndex> {
        let leads = |it: &&Known| it.followers.iter().any(|follower| **follower == *pass);
        let own = self.known(pass).and_then(|it| it.stage.queue());
        own.or_else(|| self.passes.iter().find(leads)?.stage.queue())
    }

    /// Returns the measured cost of passes of a name, in microseconds; 0 if that was never measured.
    pub fn cost_us(&self, pass: &str) -> u32 {
        self.known(pass).map_or(0, |it| it.cost_us)
    }

    /// The passes that were moved: in order of their names, each with those that follow it.
    pub fn moves(&self) -> impl Iterator<Item = QueueMove> {
        self.passes.iter().flat_map(move |known| {
            let (queue, saves_us, is_tried) = match known.stage {
                Stage::Main { .. } => (None, 0, false),
                Stage::Tried {
                    queue, saves_us, ..
                } => (Some(queue), saves_us, true),
                Stage::Moved {
                    queue, saves_us, ..
                } => (Some(queue), saves_us, false),
            };
            let passes = std::iter::once(&known.name).chain(&known.followers);
            passes.filter_map(move |pass| {
                Some(QueueMove {
                    pass: Arc::clone(pass),
                    queue: queue?,
                    cost_us: self.cost_us(pass),
                    saves_us,
                    is_tried,
                })
            })
        })
    }

    /// The names of the resources that have to be shared for the passes that were moved.
    pub fn shares(&self) -> impl Iterator<Item = &Arc<str>> + Clone {
        self.passes.iter().flat_map(|it| &it.shares)
    }

    /// Whether a decision is under way: the next observations should be soon.
    pub fn are_under_way(&self) -> bool {
        self.passes.iter().any(|known| match known.stage {
            Stage::Main { agreed, .. } => agreed > 0,
            Stage::Tried { .. } => true,
            Stage::Moved { doubted, .. } => doubted > 0,
        })
    }

    /// Begins the observation of a frame that was submitted as the choices have it. `is_open` names the
    /// passes whose queue is left to the renderer, `cost_us` is the device time of each pass (`None`
    /// where that was not measured), and `took_us` how long the device was busy with the whole frame.
    /// `is_shareable` names the resources whose sharing is left to the renderer.
    ///
    /// ```
    /// use quadrille_sync::*;
    /// let topology = parse_topology("gct:1,ct:1").unwrap();
    /// let frame = parse_frame("
    /// buffer a 0 bytes 64
    /// buffer b 1 bytes 64
    /// pass shadows requires GRAPHICS
    ///   StorageWriteFragment a
    /// pass particles requires COMPUTE
    ///   StorageWriteCompute b
    /// ").unwrap();
    /// let mut choices = QueueChoices::default();
    /// for _ in 0..3 {
    ///     assert_eq!(choices.queue("particles"), None);
    ///     let open = (|_| true, |_| false);
    ///     let states = States::default();
    ///     let mut observation = choices.observe(&frame, &topology, &states, open, |_| Some(1000), None);
    ///     while choices.step(&mut observation).is_none() {}
    /// }
    /// assert_eq!(choices.queue("particles"), Some(QueueIndex(1)), "three observations agree");
    /// ```
    pub fn observe(
        &mut self,
        frame: &Frame,
        topology: &Topology,
        states: &States,
        (is_open, is_shareable): (impl Fn(PassIndex) -> bool, impl Fn(ResourceIndex) -> bool),
        cost_us: impl Fn(PassIndex) -> Option<u64>,
        took_us: Option<u64>,
    ) -> QueueObservation {
        let mut frame = frame.clone();
        if frame.passes.len() > MAX_PASSES {
            return QueueObservation::without_question(frame, topology, states);
        }
        self.looks += 1;
        let is_changed = self.note_costs(&mut frame, cost_us);
        let is_returned = self.judge_tried(took_us);
        let open = frame.pass_indices();
        let open = open.filter(|&it| frame.pass(it).kind == PassKind::Device && is_open(it));
        let open = open.collect();
        let shareable = (0..frame.resources.len() as u32).map(ResourceIndex);
        let shareable = shareable.filter(|it| is_shareable(*it)).collect();
        let mut look = QueueObservation::without_question(frame, topology, states);
        (look.open, look.shareable) = (open, shareable);
        (look.took_us, look.is_changed) = (took_us, is_changed | is_returned);
        // A frame is compared with itself but for what moves, so passes that are tried decide alone.
        if !is_returned && !self.is_trying() {
            self.rest_all();
            look.has_question = !look.open.is_empty() || self.has_moved();
        }
        look
    }

    /// Makes at most one of the plans that an observation compares.
    ///
    /// Once there are no more to make, decides, and returns whether a queue or a cost has changed since the
    /// observation began, so that the next frame needs another plan.
    pub fn step(&mut self, look: &mut QueueObservation) -> Option<bool> {
        if !look.has_question {
            return Some(look.is_changed);
        }
        let finding = look.step(|look, plans| look.find(self, plans))?;
        let is_settled = match finding {
            Finding::Nothing => {
                self.disagree(None);
                false
            }
            Finding::Proposed { passes, better } => self.propose(passes, better, look.took_us),
            Finding::Doubted { pass, saves } => self.doubt(&pass, saves),
        };
        Some(look.is_changed | is_settled)
    }

    /// Returns the moved pass that an observation is about, if it is not about passes that might move: they
    /// take turns.
    pub(super) fn doubted(&self) -> Option<&Arc<str>> {
        let moved = || {
            let is_moved = |it: &&Known| matches!(it.stage, Stage::Moved { .. });
            self.passes.iter().filter(is_moved)
        };
        let count = moved().count();
        if count == 0 || !self.looks.is_multiple_of(2) {
            return None;
        }
        // Doubted passes come first, so that successive observations are of one pass.
        let is_doubted =
            |it: &&Known| matches!(it.stage, Stage::Moved { doubted, .. } if doubted > 0);
        let in_turn = || moved().nth((self.looks / 2) as usize % count);
        Some(&moved().find(is_doubted).or_else(in_turn)?.name)
    }

    /// Whether a pass moves with those that follow it, if it is moved, and which these are.
    pub(super) fn followers(&self, pass: &str) -> &[Arc<str>] {
        self.known(pass).map_or(&[], |it| &it.followers)
    }

    /// Whether it is time to try passes that follow each other.
    pub(super) fn are_rested(&self, leader: &str, followers: usize) -> bool {
        let known = self.known(leader);
        known.is_some_and(|it| it.rests[followers].looks == 0)
    }

    fn known(&self, name: &str) -> Option<&Known> {
        let at = self.passes.binary_search_by(|it| (*it.name).cmp(name));
        Some(&self.passes[at.ok()?])
    }

    fn is_trying(&self) -> bool {
        let is_tried = |it: &Known| matches!(it.stage, Stage::Tried { .. });
        self.passes.iter().any(is_tried)
    }

    fn has_moved(&self) -> bool {
        let is_moved = |it: &Known| matches!(it.stage, Stage::Moved { .. });
        self.passes.iter().any(is_moved)
    }

    fn rest_all(&mut self) {
        for rest in self.passes.iter_mut().flat_map(|it| &mut it.rests) {
            rest.looks = rest.looks.saturating_sub(1);
        }
    }

    /// Keeps the costs of the passes of a frame, forgets other passes, and gives the frame these
    /// costs; whether one has changed by much.
    fn note_costs(
        &mut self,
        frame: &mut Frame,
        cost_us: impl Fn(PassIndex) -> Option<u64>,
    ) -> bool {
        let name = |pass: &PassIndex| &frame.pass(*pass).name;
        let mut by_name: Vec<PassIndex> = frame.pass_indices().collect();
        by_name.sort_by(|a, b| name(a).cmp(name(b)));
        let mut before = std::mem::take(&mut self.passes).into_iter().peekable();
        let mut is_changed = false;
        for of_name in by_name.chunk_by(|a, b| name(a) == name(b)) {
            let name = name(&of_name[0]);
            while before.next_if(|it| it.name < *name).is_some() {}
            let known = before.next_if(|it| it.name == *name);
            let mut known = known.unwrap_or_else(|| Known::new(Arc::clone(name)));
            let measured = of_name.iter().filter_map(|pass| cost_us(*pass));
            let (sum, count) = measured.fold((0, 0), |(sum, count), it| (sum + it, count + 1));
            if let Some(average) = u64::checked_div(sum, count) {
                is_changed |= known.note_cost(average);
            }
            self.passes.push(known);
        }
        for pass in 0..frame.passes.len() {
            frame.passes[pass].cost_us = self.cost_us(&frame.passes[pass].name);
        }
        is_changed
    }

    /// Ends the trial of a pass once the frame was measured often enough; whether it returns.
    fn judge_tried(&mut self, took_us: Option<u64>) -> bool {
        let Some(took) = took_us else {
            return false;
        };
        for known in &mut self.passes {
            let Stage::Tried {
                queue,
                saves_us,
                before,
                since: (looks, least),
            } = known.stage
            else {
                continue;
            };
            let (looks, least) = (looks + 1, least.min(took));
            if looks < LOOKS {
                let since = (looks, least);
                known.stage = Stage::Tried {
                    queue,
                    saves_us,
                    before,
                    since,
                };
            } else if least + least / KEPT <= before {
                known.stage = Stage::Moved {
                    queue,
                    saves_us,
                    doubted: 0,
                };
                known.rest().next = 1;
            } else {
                known.return_to_main();
                return true;
            }
        }
        false
    }

    /// Resets the counts of the passes that an observation was not about.
    fn disagree(&mut self, but: Option<&Arc<str>>) {
        for known in self.passes.iter_mut().filter(|it| Some(&it.name) != but) {
            if matches!(known.stage, Stage::Main { .. }) {
                known.stage = Stage::MAIN;
            }
        }
    }

    /// Counts an observation that compared the frame with one in which these passes have left the main
    /// queue; returns whether they leave. `better` is none if it does not pay.
    fn propose(
        &mut self,
        passes: Vec<Arc<str>>,
        better: Option<MultiQueueCandidate>,
        took_us: Option<u64>,
    ) -> bool {
        let Some((name, followers)) = passes.split_first() else {
            return false;
        };
        self.disagree(Some(name));
        let Some(known) = self.passes.iter_mut().find(|it| it.name == *name) else {
            return false;
        };
        let Stage::Main {
            mut agreed,
            mut least,
        } = known.stage
        else {
            return false;
        };
        if *known.followers != *followers {
            known.followers = followers.to_vec();
            (agreed, least) = (0, None);
        }
        let Some(better) = better else {
            known.return_to_main();
            return false;
        };
        let least = match (least, took_us) {
            (Some(least), Some(took)) => Some(least.min(took)),
            (least, took) => least.or(took),
        };
        let agreed = agreed + 1;
        if agreed < LOOKS {
            known.stage = Stage::Main { agreed, least };
            return false;
        }
        let MultiQueueCandidate {
            queue,
            saves_us,
            shares,
        } = better;
        known.shares = shares;
        known.stage = match least {
            Some(before) => Stage::Tried {
                queue,
                saves_us,
                before,
                since: (0, u64::MAX),
            },
            // Where a whole frame cannot be measured the estimate decides.
            None => Stage::Moved {
                queue,
                saves_us,
                doubted: 0,
            },
        };
        true
    }

    /// Counts an observation that compared the frame with one in which a pass has returned to the main queue;
    /// whether it returns. `saves` has the time that the move saves and the frame's without it, and is
    /// none if no open pass has the name any more.
    fn doubt(&mut self, pass: &str, saves: Option<(u64, u64)>) -> bool {
        let Some(known) = self.passes.iter_mut().find(|it| *it.name == *pass) else {
            return false;
        };
        let Stage::Moved { queue, doubted, .. } = known.stage else {
            return false;
        };
        let Some((saves_us, then)) = saves else {
            known.return_to_main();
            return true;
        };
        let doubted = if saves_us >= then / KEPT {
            0
        } else {
            doubted + 1
        };
        if doubted < LOOKS {
            known.stage = Stage::Moved {
                queue,
                saves_us,
                doubted,
            };
            return false;
        }
        known.return_to_main();
        true
    }
}

impl Known {
    fn new(name: Arc<str>) -> Self {
        Self {
            name,
            cost_us: 0,
            stage: Stage::MAIN,
            followers: Vec::new(),
            shares: Vec::new(),
            rests: [Rest { looks: 0, next: 1 }; MAX_CHAIN_PASSES],
        }
    }

    /// Keeps a measured cost if it differs from the known one; whether it does.
    fn note_cost(&mut self, measured: u64) -> bool {
        let cost = u32::try_from(measured).unwrap_or(u32::MAX).max(1);
        let least = (self.cost_us / CHANGE).max(MIN_CHANGE_US);
        let is_changed = self.cost_us == 0 || cost.abs_diff(self.cost_us) > least;
        if is_changed {
            self.cost_us = cost;
        }
        is_changed
    }

    /// When it is tried again with the followers that it has.
    fn rest(&mut self) -> &mut Rest {
        &mut self.rests[self.followers.len()]
    }

    /// Puts it and its followers on the main queue, where they are left alone for a while.
    fn return_to_main(&mut self) {
        let rest = self.rest();
        rest.looks = rest.next;
        rest.next = (rest.next * 2).min(MAX_SKIPPED_LOOKS);
        self.stage = Stage::MAIN;
        self.shares.clear();
        self.followers.clear();
    }
}

#[cfg(test)]
#[path = "queues_tests.rs"]
mod tests;
