//! Automatic sharing modes, decided by the costs of frames.
//!
//! A program may leave it to the renderer whether families own a resource in turn or together.
//! Such a resource is exclusive at first. Now and then the caller has a frame observed
//! ([`SharingTrials::observe`]). If plans of several successive observations say that the frame is better
//! with it shared ([`SharingAdvice::is_cheaper`]), it is shared from then on. Resources that observations
//! agree about at the same time are shared together, if a plan says that this is better still.
//!
//! Plans do not show the cost of sharing for the accesses themselves. Buffers have no layout
//! that could suffer, so for them the plan decides. An image may lose its compression, so it is
//! shared on trial, and only where the device is measured: if frames take longer than before, it
//! becomes exclusive again, for good. Frames are compared and not passes, because passes that
//! overlap for being shared take longer each.
//!
//! A resource that nothing advises to share is left alone for some observations, and for twice as many
//! each time. So a frame that does not change comes to rest.
//!
//! Verdicts belong to names. So a resource that replaces a shared one, such as a target of another
//! size, is shared at the next observation. Resources of one name have one verdict.

use std::sync::Arc;

use super::plans::{Pending, Plans};
use super::sharing::{SharingAdvice, advise_sharing_of, cost_shared};
use crate::frame::Frame;
use crate::resource::{Lifetime, Resource, ResourceIndex, Sharing};
use crate::states::States;
use crate::topology::Topology;

/// Successive observations that have to agree: a temporary change of the frame decides nothing.
const LOOKS: u32 = 4;

/// The part of their time, one in so many, that frames may take longer than before: times vary.
const TOLERANCE: u64 = 50;

/// A resource without advice is left alone for at most so many observations.
const MAX_SKIPPED_LOOKS: u32 = 8;

/// Decides which resources are shared, observation by observation.
#[derive(Clone, Debug, Default)]
pub struct SharingTrials {
    /// By name: the resources that an observation has found to change their family.
    trials: Vec<Trial>,
}

/// Observation of a frame: see [`SharingTrials::observe`].
#[derive(Clone, Debug)]
pub struct SharingObservation {
    frame: Frame,
    /// The resources that may be shared yet.
    asked: Vec<ResourceIndex>,
    /// How long the device was busy with a frame, in microseconds.
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
    /// Observations that it is left alone for.
    rest: u32,
    /// How long it is left alone if there is no advice once more.
    next_rest: u32,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Exclusive; so many successive observations have advised to share it.
    Exclusive(Looks),
    /// Shared, to see how long frames take; before it was the least of them.
    Tried { before: u64, since: Looks },
    /// Shared for a pass that has moved.
    Needed,
    /// As it stays.
    Settled(Sharing),
}

/// Successive observations, and the least time that a frame took at one of them.
#[derive(Clone, Copy, Debug)]
struct Looks {
    count: u32,
    least: u64,
}

/// How far the decision about a resource has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharingStage {
    /// Exclusive; it may be shared yet.
    Open,
    /// Shared on trial.
    Tried,
    /// Decided.
    Settled(Sharing),
}

/// A resource whose sharing is to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharingChange {
    /// The resource.
    pub resource: ResourceIndex,
    /// The sharing mode that is better for it.
    pub sharing: Sharing,
}

/// Advice that plans give.
struct Found {
    /// For each resource that changes its family, what sharing it alone would change.
    advice: Vec<SharingAdvice>,
    /// All that are better shared are best shared together.
    are_better_together: bool,
}

impl Looks {
    const NONE: Self = Self {
        count: 0,
        least: u64::MAX,
    };

    fn add(&mut self, took_us: u64) {
        self.count += 1;
        self.least = self.least.min(took_us);
    }

    fn are_enough(&self) -> bool {
        self.count >= LOOKS
    }
}

impl SharingTrials {
    /// Begins the observation of a frame that was submitted, whose passes have measured costs if there are
    /// any. `is_open` names the resources that may change. `took_us` is how long the device was busy
    /// with a whole frame, in microseconds: `None` if that is not measured.
    ///
    /// ```
    /// use quadrille_sync::*;
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

    /// Makes at most one of the plans that an observation compares. Once there are no more to make, decides;
    /// returns whether that is so.
    pub fn step(&mut self, look: &mut SharingObservation) -> bool {
        // While frames are compared with others, nothing else changes.
        let is_tried = |it: &Trial| matches!(it.stage, Stage::Tried { .. });
        if look.asked.is_empty() || self.trials.iter().any(is_tried) {
            return true;
        }
        let SharingObservation {
            frame,
            asked,
            took_us,
            plans,
        } = look;
        let Some(found) = plans.step(|plans| find(frame, asked, plans)) else {
            return false;
        };
        self.count(frame, &found, *took_us);
        self.decide(frame, &found);
        true
    }

    /// Returns the changes of sharing for the resources of a frame that `is_open` names.
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
            Stage::Exclusive(looks) => looks.count > 0,
            Stage::Tried { .. } => true,
            Stage::Needed | Stage::Settled(_) => false,
        })
    }

    /// Whether resources of a name are or may become shared.
    pub fn may_share(&self, name: &str) -> bool {
        let stage = self.trial(name).map(|it| it.stage);
        !matches!(stage, Some(Stage::Settled(Sharing::Exclusive)))
    }

    /// A resource cannot be changed: it stays as it is.
    pub fn keep(&mut self, resource: &Resource) {
        self.of_name(&resource.name).stage = Stage::Settled(resource.sharing);
    }

    /// Resources of these names are shared for passes that have moved
    /// ([`QueueChoices::shares`](super::QueueChoices::shares)), and no others are for that reason.
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
                trial.stage = Stage::Exclusive(Looks::NONE);
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

    /// Forgets the names that a frame does not have.
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

    /// The state of a name, which is open if there was none.
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
                (true, true) => Stage::Exclusive(Looks::NONE),
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
                (Stage::Exclusive(looks), true) if took_us.is_some() || !resource.is_image() => {
                    looks.add(took_us.unwrap_or(0));
                }
                (Stage::Exclusive(looks), false) => {
                    *looks = Looks::NONE;
                    trial.rest = trial.next_rest;
                    trial.next_rest = (trial.next_rest * 2).min(MAX_SKIPPED_LOOKS);
                }
                _ => {}
            }
        }
        // A resource that does not change its family any more starts its count again.
        for trial in &mut self.trials {
            let is_advised = |it: &SharingAdvice| frame.resource(it.resource).name == trial.name;
            if let Stage::Exclusive(looks) = &mut trial.stage
                && !found.advice.iter().any(is_advised)
            {
                *looks = Looks::NONE;
            }
        }
    }

    /// Shares the resources that enough observations agree about: the best, or all if that is better.
    fn decide(&mut self, frame: &Frame, found: &Found) {
        let agreed = found.cheaper().filter_map(|resource| {
            let now = frame.resource(resource);
            let trial = self.trial(&now.name)?;
            match trial.stage {
                Stage::Exclusive(looks) if looks.are_enough() => {
                    Some((Arc::clone(&now.name), now.is_image(), trial.is_alone, looks))
                }
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
        for (name, is_image, _, looks) in agreed {
            self.of_name(&name).stage = if is_image {
                let (before, since) = (looks.least, Looks::NONE);
                Stage::Tried { before, since }
            } else {
                Stage::Settled(Sharing::Concurrent)
            };
        }
        for trial in &mut self.trials {
            // For the others it will be another frame.
            if let Stage::Exclusive(looks) = &mut trial.stage {
                *looks = Looks::NONE;
            }
        }
    }
}

impl Trial {
    fn new(name: Arc<str>) -> Self {
        Self {
            name,
            stage: Stage::Exclusive(Looks::NONE),
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
    /// The resources that are better shared, the best first.
    fn cheaper(&self) -> impl Iterator<Item = ResourceIndex> {
        let cheaper = self.advice.iter().filter(|it| it.is_cheaper());
        cheaper.map(|it| it.resource)
    }
}

/// The resources of a frame that may change at all.
fn open(
    frame: &Frame,
    is_open: impl Fn(ResourceIndex) -> bool,
) -> impl Iterator<Item = ResourceIndex> {
    let all = (0..frame.resources.len() as u32).map(ResourceIndex);
    let is_ours = |it: &ResourceIndex| frame.resource(*it).lifetime != Lifetime::Swapchain;
    all.filter(is_ours).filter(move |&it| is_open(it))
}

/// Plans the frame with the resources that may be shared, and returns the advice.
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
