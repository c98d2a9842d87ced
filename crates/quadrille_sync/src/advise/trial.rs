//! Automatic sharing modes, decided by the costs of frames.
//!
//! A resource whose sharing mode is automatic is exclusive at first. From time to time the caller observes a
//! frame ([`SharingTrials::observe`]). If the plans of several successive observations are better with the
//! resource concurrent ([`SharingAdvice::is_cheaper`]), it becomes concurrent. If that holds for several
//! resources at the same time, and a plan with all of them is better still, all become concurrent.
//!
//! Plans do not show the effect of sharing on the accesses themselves. Buffers have no layout, so for them
//! the plan decides. An image may lose its compression, so it becomes concurrent on trial, and only if the
//! device is measured: if frames take longer than before, it becomes exclusive again, permanently. Whole
//! frames are compared, because passes that overlap thanks to sharing take longer each.
//!
//! A resource without advice is skipped for some observations, and for twice as many each time (exponential
//! backoff). So an unchanged frame costs ever fewer plans.
//!
//! Decisions are stored by name. So a resource that replaces a concurrent one, such as a target of another
//! size, becomes concurrent at the next observation. Resources of one name share a decision.

use std::sync::Arc;

use super::plans::{Pending, Plans};
use super::sharing::{SharingAdvice, advise_sharing_of, cost_shared};
use crate::frame::Frame;
use crate::resource::{Lifetime, Resource, ResourceIndex, Sharing};
use crate::states::States;
use crate::topology::Topology;

/// Successive observations that have to agree: a temporary change of the frame decides nothing.
const OBSERVATIONS: u32 = 4;

/// Frames may take 1/`TOLERANCE` longer than before a trial, since measured times vary.
const TOLERANCE: u64 = 50;

/// The most observations that a resource without advice is skipped for.
const MAX_SKIPPED_LOOKS: u32 = 8;

/// Decides the sharing modes of resources, observation by observation.
#[derive(Clone, Debug, Default)]
pub struct SharingTrials {
    /// Trials of the resources that changed their family in an observation, sorted by name.
    trials: Vec<Trial>,
}

/// Observation of a frame: see [`SharingTrials::observe`].
#[derive(Clone, Debug)]
pub struct SharingObservation {
    frame: Frame,
    /// The resources that may still become concurrent.
    asked: Vec<ResourceIndex>,
    /// The measured device time of the frame, in microseconds.
    took_us: Option<u64>,
    plans: Plans,
}

/// The trial state of the resources with one name.
#[derive(Clone, Debug)]
struct Trial {
    name: Arc<str>,
    stage: Stage,
    /// Whether to try it alone next time, because a trial together with others failed.
    is_alone: bool,
    /// Observations that are still skipped.
    rest: u32,
    /// Observations to skip if there is no advice again.
    next_rest: u32,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Exclusive, with the successive observations that have advised to share it.
    Exclusive(Observations),
    /// Concurrent on trial; `before` is the shortest frame time before the trial.
    Tried { before: u64, since: Observations },
    /// Concurrent for a moved pass.
    Needed,
    /// Decided permanently.
    Settled(Sharing),
}

/// Successive observations, and the least time that a frame took at one of them.
#[derive(Clone, Copy, Debug)]
struct Observations {
    count: u32,
    least: u64,
}

/// Stage of the decision about a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharingStage {
    /// Exclusive; it may still become concurrent.
    Open,
    /// Concurrent on trial.
    Tried,
    /// Decided.
    Settled(Sharing),
}

/// A change of a resource's sharing mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharingChange {
    /// The resource.
    pub resource: ResourceIndex,
    /// Its new sharing mode.
    pub sharing: Sharing,
}

/// Advice derived from plans.
struct Found {
    /// For each resource that changes its family, the effect of making it alone concurrent.
    advice: Vec<SharingAdvice>,
    /// Making all advised resources concurrent is better than any one of them.
    are_better_together: bool,
}

impl Observations {
    const NONE: Self = Self {
        count: 0,
        least: u64::MAX,
    };

    fn add(&mut self, took_us: u64) {
        self.count += 1;
        self.least = self.least.min(took_us);
    }

    fn are_enough(&self) -> bool {
        self.count >= OBSERVATIONS
    }
}

impl SharingTrials {
    /// Begins the observation of a submitted frame, with measured costs of its passes if there are any.
    /// `is_open` selects the resources that may change. `took_us` is the device time of the whole frame in
    /// microseconds, `None` if it was not measured.
    ///
    /// ```
    /// use quadrille_sync::advise::SharingTrials;
    /// use quadrille_sync::resource::Sharing;
    /// use quadrille_sync::states::States;
    /// use quadrille_sync::text::{parse_frame, parse_topology};
    /// let topology = parse_topology("gct:1,ct:1").unwrap();
    /// let frame = parse_frame("
    /// buffer cells 0 bytes 64
    /// pass simulate requires COMPUTE async
    ///   StorageWriteCompute cells
    /// pass draw requires GRAPHICS
    ///   VertexRead cells
    /// ").unwrap();
    /// let mut trials = SharingTrials::default();
    /// for _ in 0..4 {
    ///     assert!(trials.changes(&frame, |_| true).is_empty());
    ///     let mut observation = trials.observe(&frame, &topology, &States::default(), |_| true, None);
    ///     while !trials.step(&mut observation) {}
    /// }
    /// let change = trials.changes(&frame, |_| true)[0];
    /// assert_eq!(change.sharing, Sharing::Concurrent, "four observations agree");
    /// ```
    pub fn observe(
        &mut self,
        frame: &Frame,
        topology: &Topology,
        states: &States,
        is_open: impl Fn(ResourceIndex) -> bool,
        took_us: Option<u64>,
    ) -> SharingObservation {
        self.forget(frame);
        self.judge_tried(took_us);
        for trial in &mut self.trials {
            trial.rest = trial.rest.saturating_sub(1);
        }
        let asked = open(frame, is_open).filter(|&it| {
            let resource = frame.resource(it);
            let may_be_shared = |trial: &Trial| {
                let is_asked = matches!(trial.stage, Stage::Exclusive(_)) && trial.rest == 0;
                is_asked && (took_us.is_some() || !resource.is_image())
            };
            resource.sharing == Sharing::Exclusive
                && self.trial(&resource.name).is_none_or(may_be_shared)
        });
        SharingObservation {
            asked: asked.collect(),
            took_us,
            plans: Plans::new(topology, states),
            frame: frame.clone(),
        }
    }

    /// Makes at most one of the plans that an observation compares. After the last one, decides and
    /// returns true.
    pub fn step(&mut self, observation: &mut SharingObservation) -> bool {
        // No new decisions while a trial runs: its frame times must differ by that trial alone.
        let is_tried = |it: &Trial| matches!(it.stage, Stage::Tried { .. });
        if observation.asked.is_empty() || self.trials.iter().any(is_tried) {
            return true;
        }
        let SharingObservation {
            frame,
            asked,
            took_us,
            plans,
        } = observation;
        let Some(found) = plans.step(|plans| find(frame, asked, plans)) else {
            return false;
        };
        self.count(frame, &found, *took_us);
        self.decide(frame, &found);
        true
    }

    /// Returns the changes of sharing modes for the resources of a frame that `is_open` selects.
    pub fn changes(
        &self,
        frame: &Frame,
        is_open: impl Fn(ResourceIndex) -> bool,
    ) -> Vec<SharingChange> {
        if self.trials.is_empty() {
            return Vec::new();
        }
        let changes = open(frame, is_open).filter_map(|resource| {
            let now = frame.resource(resource);
            let sharing = self.trial(&now.name)?.stage.sharing();
            (sharing != now.sharing).then_some(SharingChange { resource, sharing })
        });
        changes.collect()
    }

    /// Whether a decision is under way: the next observations should be soon.
    pub fn are_under_way(&self) -> bool {
        self.trials.iter().any(|trial| match trial.stage {
            Stage::Exclusive(observations) => observations.count > 0,
            Stage::Tried { .. } => true,
            Stage::Needed | Stage::Settled(_) => false,
        })
    }

    /// Whether resources of a name are or may become concurrent.
    pub fn may_share(&self, name: &str) -> bool {
        let stage = self.trial(name).map(|it| it.stage);
        !matches!(stage, Some(Stage::Settled(Sharing::Exclusive)))
    }

    /// Notes that the sharing mode of a resource cannot change.
    pub fn keep(&mut self, resource: &Resource) {
        self.of_name(&resource.name).stage = Stage::Settled(resource.sharing);
    }

    /// Sets the names of the resources that moved passes need concurrent
    /// ([`QueueChoices::shares`](super::QueueChoices::shares)). Others that were concurrent for that reason
    /// become exclusive again.
    pub fn share_only<'a>(&mut self, names: impl Iterator<Item = &'a Arc<str>> + Clone) {
        for name in names.clone() {
            let trial = self.of_name(name);
            if matches!(trial.stage, Stage::Exclusive(_)) {
                trial.stage = Stage::Needed;
            }
        }
        for trial in &mut self.trials {
            let is_needed = names.clone().any(|it| *it == trial.name);
            if matches!(trial.stage, Stage::Needed) && !is_needed {
                trial.stage = Stage::Exclusive(Observations::NONE);
            }
        }
    }

    /// The names of resources that change their family, and the stage of each.
    pub fn stages(&self) -> impl Iterator<Item = (&str, SharingStage)> {
        self.trials.iter().map(|trial| {
            let stage = match trial.stage {
                Stage::Exclusive(_) => SharingStage::Open,
                Stage::Tried { .. } => SharingStage::Tried,
                Stage::Needed => SharingStage::Settled(Sharing::Concurrent),
                Stage::Settled(sharing) => SharingStage::Settled(sharing),
            };
            (&*trial.name, stage)
        })
    }

    /// Removes names that the frame does not have.
    fn forget(&mut self, frame: &Frame) {
        if self.trials.is_empty() {
            return;
        }
        let mut names: Vec<&str> = frame.resources.iter().map(|it| &*it.name).collect();
        names.sort_unstable();
        let is_there = |trial: &Trial| names.binary_search(&&*trial.name).is_ok();
        self.trials.retain(is_there);
    }

    fn trial(&self, name: &str) -> Option<&Trial> {
        let at = self.trials.binary_search_by(|it| (*it.name).cmp(name));
        Some(&self.trials[at.ok()?])
    }

    /// The trial of a name; adds one if there is none.
    fn of_name(&mut self, name: &Arc<str>) -> &mut Trial {
        let found = self.trials.binary_search_by(|it| it.name.cmp(name));
        let at = found.unwrap_or_else(|at| {
            self.trials.insert(at, Trial::new(Arc::clone(name)));
            at
        });
        &mut self.trials[at]
    }

    /// Ends the trials that have lasted long enough.
    fn judge_tried(&mut self, took_us: Option<u64>) {
        let Some(took) = took_us else {
            return;
        };
        let is_tried = |it: &&Trial| matches!(it.stage, Stage::Tried { .. });
        let are_together = self.trials.iter().filter(is_tried).count() > 1;
        for trial in &mut self.trials {
            let Stage::Tried { before, since } = &mut trial.stage else {
                continue;
            };
            since.add(took);
            if !since.are_enough() {
                continue;
            }
            let is_dearer = since.least > *before + *before / TOLERANCE;
            trial.stage = match (is_dearer, are_together) {
                (false, _) => Stage::Settled(Sharing::Concurrent),
                (true, false) => Stage::Settled(Sharing::Exclusive),
                (true, true) => Stage::Exclusive(Observations::NONE),
            };
            trial.is_alone = is_dearer;
        }
    }

    /// Counts the observations that advise to share each resource.
    fn count(&mut self, frame: &Frame, found: &Found, took_us: Option<u64>) {
        for advice in &found.advice {
            let resource = frame.resource(advice.resource);
            let trial = self.of_name(&resource.name);
            match (&mut trial.stage, advice.is_cheaper()) {
                (Stage::Exclusive(observations), true)
                    if took_us.is_some() || !resource.is_image() =>
                {
                    observations.add(took_us.unwrap_or(0));
                }
                (Stage::Exclusive(observations), false) => {
                    *observations = Observations::NONE;
                    trial.rest = trial.next_rest;
                    trial.next_rest = (trial.next_rest * 2).min(MAX_SKIPPED_LOOKS);
                }
                _ => {}
            }
        }
        // A resource that does not change its family any more starts its count again.
        for trial in &mut self.trials {
            let is_advised = |it: &SharingAdvice| frame.resource(it.resource).name == trial.name;
            if let Stage::Exclusive(observations) = &mut trial.stage
                && !found.advice.iter().any(is_advised)
            {
                *observations = Observations::NONE;
            }
        }
    }

    /// Makes resources concurrent for which enough observations agree: the best one, or all if that is better.
    fn decide(&mut self, frame: &Frame, found: &Found) {
        let agreed = found.cheaper().filter_map(|resource| {
            let now = frame.resource(resource);
            let trial = self.trial(&now.name)?;
            match trial.stage {
                Stage::Exclusive(observations) if observations.are_enough() => Some((
                    Arc::clone(&now.name),
                    now.is_image(),
                    trial.is_alone,
                    observations,
                )),
                _ => None,
            }
        });
        let mut agreed: Vec<_> = agreed.collect();
        if agreed.is_empty() {
            return;
        }
        let is_alone = agreed.iter().any(|(_, _, is_alone, _)| *is_alone);
        if is_alone || !found.are_better_together {
            agreed.truncate(1);
        }
        for (name, is_image, _, observations) in agreed {
            self.of_name(&name).stage = if is_image {
                let (before, since) = (observations.least, Observations::NONE);
                Stage::Tried { before, since }
            } else {
                Stage::Settled(Sharing::Concurrent)
            };
        }
        for trial in &mut self.trials {
            // The changed resource makes it another frame, so the others start their count again.
            if let Stage::Exclusive(observations) = &mut trial.stage {
                *observations = Observations::NONE;
            }
        }
    }
}

impl Trial {
    fn new(name: Arc<str>) -> Self {
        Self {
            name,
            stage: Stage::Exclusive(Observations::NONE),
            is_alone: false,
            rest: 0,
            next_rest: 1,
        }
    }
}

impl Stage {
    fn sharing(self) -> Sharing {
        match self {
            Self::Exclusive(_) => Sharing::Exclusive,
            Self::Tried { .. } | Self::Needed => Sharing::Concurrent,
            Self::Settled(sharing) => sharing,
        }
    }
}

impl Found {
    /// The resources that are better concurrent, the best first.
    fn cheaper(&self) -> impl Iterator<Item = ResourceIndex> {
        let cheaper = self.advice.iter().filter(|it| it.is_cheaper());
        cheaper.map(|it| it.resource)
    }
}

/// The resources of a frame whose sharing mode may change.
fn open(
    frame: &Frame,
    is_open: impl Fn(ResourceIndex) -> bool,
) -> impl Iterator<Item = ResourceIndex> {
    let all = (0..frame.resources.len() as u32).map(ResourceIndex);
    let is_ours = |it: &ResourceIndex| frame.resource(*it).lifetime != Lifetime::Swapchain;
    all.filter(is_ours).filter(move |&it| is_open(it))
}

/// Plans the frame with resources concurrent, and returns the advice.
fn find(frame: &Frame, asked: &[ResourceIndex], plans: &mut Plans) -> Result<Found, Pending> {
    let is_asked = |it: ResourceIndex| asked.binary_search(&it).is_ok();
    let advice = advise_sharing_of(frame, plans, is_asked)?;
    let mut found = Found {
        advice,
        are_better_together: false,
    };
    let cheaper: Vec<ResourceIndex> = found.cheaper().collect();
    if cheaper.len() > 1 {
        let best = found.advice[0].concurrent.parts();
        let together = cost_shared(frame, plans, &cheaper)?;
        found.are_better_together = together.is_some_and(|it| it.parts() < best);
    }
    Ok(found)
}

#[cfg(test)]
#[path = "trial_tests.rs"]
mod tests;
