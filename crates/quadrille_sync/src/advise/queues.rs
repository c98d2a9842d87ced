//! Automatic choice of queues, for passes without a declared preference.
//!
//! A pass without a preference begins on the main queue. From time to time the caller measures a frame and
//! observes it ([`QueueChoices::observe`]). An observation compares plans of the frame: unchanged, and with
//! one such pass, or a chain of them, on another queue. If several observations agree that this shortens the
//! estimated time by at least one part in [`GAIN`], the passes move. Then the frame is measured. If it has
//! not become shorter, for example because both queues use the same execution units, the passes return to
//! the main queue. They also return when observations agree that the move no longer saves time.
//!
//! An exclusive resource has one owner at a time, so passes of several families cannot read it at the same
//! time. An observation therefore also compares the frame with such resources concurrent, if their sharing
//! mode is automatic. If that saves time, they become concurrent when the passes move
//! ([`QueueChoices::shares`]).
//!
//! After a failed trial, passes are skipped for some observations, and for twice as many each time
//! (exponential backoff). So an unchanged frame costs ever fewer observations. For given costs all decisions
//! are deterministic.
//!
//! Decisions and costs are stored by the names of passes. Passes of one name share them.

use std::sync::Arc;

use super::observation::{Finding, MAX_CHAIN_PASSES, MultiQueueCandidate, QueueObservation};
use crate::frame::{Frame, PassIndex, PassKind};
use crate::resource::ResourceIndex;
use crate::states::States;
use crate::topology::{QueueIndex, Topology};

/// A pass moves if that shortens the frame by at least 1/`GAIN` of its time.
pub(super) const GAIN: u64 = 50;

/// A moved pass stays as long as that shortens the frame by at least 1/`KEPT` of its time.
const KEPT: u64 = 100;

/// Successive observations that have to agree.
const OBSERVATIONS: u32 = 3;

/// The most observations that a pass is skipped for after failed trials.
const MAX_SKIPPED_LOOKS: u32 = 64;

/// A measured cost replaces the stored one if it differs by more than 1/`CHANGE` of it.
const CHANGE: u32 = 4;

/// The least difference of costs that matters, in microseconds.
const MIN_CHANGE_US: u32 = 10;

/// Frames with more passes are not observed: extra plans would take noticeable time.
const MAX_PASSES: usize = 1024;

/// Chooses queues for passes without a preference, and stores measured costs of passes.
#[derive(Clone, Debug, Default)]
pub struct QueueChoices {
    passes: Vec<PassState>,
    observations: u32,
}

/// A pass that was moved to another queue to shorten frames.
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
struct PassState {
    name: Arc<str>,
    cost_us: u32,
    stage: Stage,
    /// The names of the passes that moved with it.
    followers: Vec<Arc<str>>,
    /// The names of resources that its move makes concurrent.
    shares: Vec<Arc<str>>,
    /// Backoff by the number of followers.
    rests: [Rest; MAX_CHAIN_PASSES],
}

/// Backoff after failed trials.
#[derive(Clone, Copy, Debug)]
struct Rest {
    /// Observations that are still skipped.
    observations: u32,
    /// Observations to skip after the next failed trial.
    next: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// On the main queue. `agreed`: successive observations that prefer another queue; `least`: the
    /// shortest measured frame time at these, in microseconds.
    Main { agreed: u32, least: Option<u64> },
    /// On another queue, on trial: `before` is the frame time before the move, `since` the number of
    /// measurements after it and the shortest of them.
    Tried {
        queue: QueueIndex,
        saves_us: u64,
        before: u64,
        since: (u32, u64),
    },
    /// On another queue. `doubted`: successive observations without a saving.
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
    /// The queue that was chosen for passes of a name; `None` for the main queue.
    pub fn queue(&self, pass: &str) -> Option<QueueIndex> {
        let leads = |it: &&PassState| it.followers.iter().any(|follower| **follower == *pass);
        let own = self.known(pass).and_then(|it| it.stage.queue());
        own.or_else(|| self.passes.iter().find(leads)?.stage.queue())
    }

    /// Returns the measured cost of passes of a name, in microseconds; 0 if that was never measured.
    pub fn cost_us(&self, pass: &str) -> u32 {
        self.known(pass).map_or(0, |it| it.cost_us)
    }

    /// The moved passes, in order of their names, each followed by the passes that moved with it.
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

    /// The names of the resources that have to be concurrent for the moved passes.
    pub fn shares(&self) -> impl Iterator<Item = &Arc<str>> + Clone {
        self.passes.iter().flat_map(|it| &it.shares)
    }

    /// Whether a decision is pending, so that the next observation should follow soon.
    pub fn are_under_way(&self) -> bool {
        self.passes.iter().any(|known| match known.stage {
            Stage::Main { agreed, .. } => agreed > 0,
            Stage::Tried { .. } => true,
            Stage::Moved { doubted, .. } => doubted > 0,
        })
    }

    /// Begins the observation of a submitted frame that follows the current choices. `is_open` selects the
    /// passes whose queue is automatic, and `is_shareable` the resources whose sharing mode is. `cost_us`
    /// returns the device time of a pass in microseconds, `None` if it was not measured. `took_us` is the
    /// device time of the whole frame.
    ///
    /// ```
    /// use quadrille_sync::advise::QueueChoices;
    /// use quadrille_sync::states::States;
    /// use quadrille_sync::text::{parse_frame, parse_topology};
    /// use quadrille_sync::topology::QueueIndex;
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
        self.observations += 1;
        let is_changed = self.note_costs(&mut frame, cost_us);
        let is_returned = self.judge_tried(took_us);
        let open = frame.pass_indices();
        let open = open.filter(|&it| frame.pass(it).kind == PassKind::Device && is_open(it));
        let open = open.collect();
        let shareable = (0..frame.resources.len() as u32).map(ResourceIndex);
        let shareable = shareable.filter(|it| is_shareable(*it)).collect();
        let mut observation = QueueObservation::without_question(frame, topology, states);
        (observation.open, observation.shareable) = (open, shareable);
        (observation.took_us, observation.is_changed) = (took_us, is_changed | is_returned);
        // No comparison while a trial runs: its frame times must differ by that move alone.
        if !is_returned && !self.is_trying() {
            self.rest_all();
            observation.has_question = !observation.open.is_empty() || self.has_moved();
        }
        observation
    }

    /// Makes at most one of the plans that an observation compares.
    ///
    /// After the last one, decides, and returns whether a queue or a cost has changed since the observation
    /// began, so that the next frame needs another plan.
    pub fn step(&mut self, observation: &mut QueueObservation) -> Option<bool> {
        if !observation.has_question {
            return Some(observation.is_changed);
        }
        let finding = observation.step(|observation, plans| observation.find(self, plans))?;
        let is_settled = match finding {
            Finding::Nothing => {
                self.disagree(None);
                false
            }
            Finding::Proposed { passes, better } => {
                self.propose(passes, better, observation.took_us)
            }
            Finding::Doubted { pass, saves } => self.doubt(&pass, saves),
        };
        Some(observation.is_changed | is_settled)
    }

    /// Returns the moved pass that this observation checks. `None` if the observation is about new moves;
    /// the two kinds alternate.
    pub(super) fn doubted(&self) -> Option<&Arc<str>> {
        let moved = || {
            let is_moved = |it: &&PassState| matches!(it.stage, Stage::Moved { .. });
            self.passes.iter().filter(is_moved)
        };
        let count = moved().count();
        if count == 0 || !self.observations.is_multiple_of(2) {
            return None;
        }
        // Doubted passes come first, so that successive observations check the same pass.
        let is_doubted =
            |it: &&PassState| matches!(it.stage, Stage::Moved { doubted, .. } if doubted > 0);
        let in_turn = || moved().nth((self.observations / 2) as usize % count);
        Some(&moved().find(is_doubted).or_else(in_turn)?.name)
    }

    /// The names of the passes that moved with a pass.
    pub(super) fn followers(&self, pass: &str) -> &[Arc<str>] {
        self.known(pass).map_or(&[], |it| &it.followers)
    }

    /// Whether the backoff of a chain is over, given its first pass and number of followers.
    pub(super) fn are_rested(&self, leader: &str, followers: usize) -> bool {
        let known = self.known(leader);
        known.is_some_and(|it| it.rests[followers].observations == 0)
    }

    fn known(&self, name: &str) -> Option<&PassState> {
        let at = self.passes.binary_search_by(|it| (*it.name).cmp(name));
        Some(&self.passes[at.ok()?])
    }

    fn is_trying(&self) -> bool {
        let is_tried = |it: &PassState| matches!(it.stage, Stage::Tried { .. });
        self.passes.iter().any(is_tried)
    }

    fn has_moved(&self) -> bool {
        let is_moved = |it: &PassState| matches!(it.stage, Stage::Moved { .. });
        self.passes.iter().any(is_moved)
    }

    fn rest_all(&mut self) {
        for rest in self.passes.iter_mut().flat_map(|it| &mut it.rests) {
            rest.observations = rest.observations.saturating_sub(1);
        }
    }

    /// Stores the costs of the passes of a frame, drops other passes, and sets the stored costs in the
    /// frame. Returns whether one has changed by much.
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
            let mut known = known.unwrap_or_else(|| PassState::new(Arc::clone(name)));
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

    /// Ends the trial of a pass once the frame was measured often enough. Returns whether the pass returns
    /// to the main queue.
    fn judge_tried(&mut self, took_us: Option<u64>) -> bool {
        let Some(took) = took_us else {
            return false;
        };
        for known in &mut self.passes {
            let Stage::Tried {
                queue,
                saves_us,
                before,
                since: (observations, least),
            } = known.stage
            else {
                continue;
            };
            let (observations, least) = (observations + 1, least.min(took));
            if observations < OBSERVATIONS {
                let since = (observations, least);
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

    /// Resets the counts of all passes except the one that an observation was about.
    fn disagree(&mut self, but: Option<&Arc<str>>) {
        for known in self.passes.iter_mut().filter(|it| Some(&it.name) != but) {
            if matches!(known.stage, Stage::Main { .. }) {
                known.stage = Stage::MAIN;
            }
        }
    }

    /// Counts an observation of the frame with these passes on another queue. Returns whether they move.
    /// `better` is `None` without a gain.
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
        if agreed < OBSERVATIONS {
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
            // Without measured frame times, the estimate decides.
            None => Stage::Moved {
                queue,
                saves_us,
                doubted: 0,
            },
        };
        true
    }

    /// Counts an observation of the frame with a pass back on the main queue. Returns whether the pass
    /// returns. `saves` has the saving by the move and the frame time without it, in microseconds; `None` if
    /// no open pass has the name any more.
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
        if doubted < OBSERVATIONS {
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

impl PassState {
    fn new(name: Arc<str>) -> Self {
        Self {
            name,
            cost_us: 0,
            stage: Stage::MAIN,
            followers: Vec::new(),
            shares: Vec::new(),
            rests: [Rest {
                observations: 0,
                next: 1,
            }; MAX_CHAIN_PASSES],
        }
    }

    /// Stores a measured cost if it differs by much from the stored one. Returns whether it does.
    fn note_cost(&mut self, measured: u64) -> bool {
        let cost = u32::try_from(measured).unwrap_or(u32::MAX).max(1);
        let least = (self.cost_us / CHANGE).max(MIN_CHANGE_US);
        let is_changed = self.cost_us == 0 || cost.abs_diff(self.cost_us) > least;
        if is_changed {
            self.cost_us = cost;
        }
        is_changed
    }

    /// The backoff for its current number of followers.
    fn rest(&mut self) -> &mut Rest {
        &mut self.rests[self.followers.len()]
    }

    /// Returns it and its followers to the main queue, and starts their backoff.
    fn return_to_main(&mut self) {
        let rest = self.rest();
        rest.observations = rest.next;
        rest.next = (rest.next * 2).min(MAX_SKIPPED_LOOKS);
        self.stage = Stage::MAIN;
        self.shares.clear();
        self.followers.clear();
    }
}

#[cfg(test)]
#[path = "queues_tests.rs"]
mod tests;
