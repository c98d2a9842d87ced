//! When sharing follows from what frames cost.
//!
//! A program may leave it to the renderer whether families own a resource in turn or together.
//! Such a resource is exclusive at first. Now and then the caller evaluates a frame
//! ([`SharingTrials::look`]). If plans of several looks in a row say that the frame is better
//! with it shared ([`SharingAdvice::is_cheaper`](crate::SharingAdvice::is_cheaper)), it is shared from
//! then on.
//!
//! What plans do not show is what sharing costs the accesses themselves. Buffers have no layout
//! that could suffer, so for them the plan decides. An image may lose its compression, so it is
//! shared on trial, and only where times are measured: if its passes take longer than before, it
//! becomes exclusive again, for good.
//!
//! Verdicts belong to names. So a resource that replaces a shared one, such as a target of another
//! size, is shared at the next look. Resources of one name have one verdict.

use std::sync::Arc;

use super::sharing::advise_sharing_of;
use crate::frame::{Frame, PassIndex};
use crate::resource::{Lifetime, Resource, ResourceIndex, Sharing};
use crate::states::States;
use crate::topology::Topology;

/// How many looks in a row have to agree: a temporary change of the frame decides nothing.
const LOOKS: u32 = 4;

/// The part of their time, one in so many, that passes may take longer than before: times vary.
const TOLERANCE: u64 = 20;

/// Decides which resources are shared, look by look.
#[derive(Clone, Debug, Default)]
pub struct SharingTrials {
    trials: Vec<Trial>,
}

/// The trial state of the resources with one name.
#[derive(Clone, Debug)]
struct Trial {
    name: Arc<str>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Exclusive; so many looks in a row have advised to share it.
    Exclusive(Looks),
    /// Shared, to see how long its passes take; before it was the least of them.
    Tried { before: u64, since: Looks },
    /// As it stays.
    Settled(Sharing),
}

/// Looks in a row, and the least time that the passes took at one of them.
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
    /// What is better for it.
    pub sharing: Sharing,
}

impl Looks {
    const NONE: Self = Self {
        count: 0,
        least: u64::MAX,
    };

    fn add(&mut self, cost: u64) {
        self.count += 1;
        self.least = self.least.min(cost);
    }

    fn are_enough(&self) -> bool {
        self.count >= LOOKS
    }
}

impl SharingTrials {
    /// Looks at a frame whose plan was submitted, and says which of the resources that `is_open`
    /// names are to change. `cost` is what each pass took on the device, in any unit, and `None`
    /// where that was not measured.
    ///
    /// At most one name is decided at a look, because the advice for the others is of the frame
    /// without it. A look plans the frame a few times for each resource that changes its family
    /// and is not decided, so it is nothing for every frame.
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
    /// let mut look = || trials.look(&frame, &topology, &States::default(), |_| true, |_| None);
    /// assert!(look().is_empty() && look().is_empty() && look().is_empty());
    /// assert_eq!(look()[0].sharing, Sharing::Concurrent, "four looks agree");
    /// ```
    pub fn look(
        &mut self,
        frame: &Frame,
        topology: &Topology,
        states: &States,
        is_open: impl Fn(ResourceIndex) -> bool,
        cost: impl Fn(PassIndex) -> Option<u64>,
    ) -> Vec<SharingChange> {
        let all = (0..frame.resources.len() as u32).map(ResourceIndex);
        let ours = all.filter(|&it| frame.resource(it).lifetime != Lifetime::Swapchain);
        let ours: Vec<ResourceIndex> = ours.filter(|&it| is_open(it)).collect();
        self.note_names(frame, &ours);
        self.judge_tried(frame, &cost);
        self.judge_exclusive(frame, topology, states, &ours, &cost);
        let changes = ours.iter().filter_map(|&resource| {
            let now = frame.resource(resource);
            let sharing = self.stage(&now.name)?.sharing();
            (sharing != now.sharing).then_some(SharingChange { resource, sharing })
        });
        changes.collect()
    }

    /// Whether a decision is under way: the next looks should be soon.
    pub fn are_under_way(&self) -> bool {
        self.trials.iter().any(|trial| match trial.stage {
            Stage::Exclusive(looks) => looks.count > 0,
            Stage::Tried { .. } => true,
            Stage::Settled(_) => false,
        })
    }

    /// A resource cannot be changed: it stays as it is.
    pub fn keep(&mut self, resource: &Resource) {
        for trial in self.trials.iter_mut().filter(|it| it.name == resource.name) {
            trial.stage = Stage::Settled(resource.sharing);
        }
    }

    /// Resources of a name are shared for a reason of the caller's.
    pub fn share(&mut self, name: &Arc<str>) {
        let stage = Stage::Settled(Sharing::Concurrent);
        match self.trials.iter_mut().find(|it| it.name == *name) {
            Some(trial) => trial.stage = stage,
            None => self.trials.push(Trial {
                name: Arc::clone(name),
                stage,
            }),
        }
    }

    /// The names in the last evaluated frame, and the stage of each.
    pub fn stages(&self) -> impl Iterator<Item = (&str, SharingStage)> {
        self.trials.iter().map(|trial| {
            let stage = match trial.stage {
                Stage::Exclusive(_) => SharingStage::Open,
                Stage::Tried { .. } => SharingStage::Tried,
                Stage::Settled(sharing) => SharingStage::Settled(sharing),
            };
            (&*trial.name, stage)
        })
    }

    /// Adds the names of the frame.
    fn note_names(&mut self, frame: &Frame, ours: &[ResourceIndex]) {
        let resources = || ours.iter().map(|&it| frame.resource(it));
        self.trials
            .retain(|trial| resources().any(|it| it.name == trial.name));
        for resource in resources() {
            if self.stage(&resource.name).is_none() {
                let stage = match resource.sharing {
                    Sharing::Exclusive => Stage::Exclusive(Looks::NONE),
                    Sharing::Concurrent => Stage::Settled(Sharing::Concurrent),
                };
                let name = Arc::clone(&resource.name);
                self.trials.push(Trial { name, stage });
            }
        }
    }

    fn stage(&self, name: &str) -> Option<Stage> {
        let trial = self.trials.iter().find(|trial| *trial.name == *name);
        trial.map(|trial| trial.stage)
    }

    /// Ends the trials of those that were seen long enough.
    fn judge_tried(&mut self, frame: &Frame, cost: &impl Fn(PassIndex) -> Option<u64>) {
        for Trial { name, stage } in &mut self.trials {
            let Stage::Tried { before, since } = stage else {
                continue;
            };
            let Some(cost) = cost_of(frame, name, cost) else {
                continue;
            };
            since.add(cost);
            if since.are_enough() {
                let is_dearer = since.least > *before + *before / TOLERANCE;
                *stage = Stage::Settled(if is_dearer {
                    Sharing::Exclusive
                } else {
                    Sharing::Concurrent
                });
            }
        }
    }

    /// Counts the advice for exclusive resources, and shares one that enough looks have agreed
    /// about.
    fn judge_exclusive(
        &mut self,
        frame: &Frame,
        topology: &Topology,
        states: &States,
        ours: &[ResourceIndex],
        cost: &impl Fn(PassIndex) -> Option<u64>,
    ) {
        let is_asked = |resource: ResourceIndex| {
            let stage = self.stage(&frame.resource(resource).name);
            ours.contains(&resource) && matches!(stage, Some(Stage::Exclusive(_)))
        };
        if !ours.iter().any(|&it| is_asked(it)) {
            return;
        }
        let known = |pass| cost(pass).unwrap_or(0);
        let advice = advise_sharing_of(frame, topology, states, known, is_asked);
        // The largest saving is first, and so is decided first.
        let advised = advice.iter().filter(|it| it.is_cheaper());
        let advised: Vec<ResourceIndex> = advised.map(|it| it.resource).collect();
        let of_name = |name: &str| {
            let is_it = |&&it: &&ResourceIndex| *frame.resource(it).name == *name;
            advised.iter().find(is_it).copied()
        };
        for Trial { name, stage } in &mut self.trials {
            if let Stage::Exclusive(looks) = stage {
                match of_name(name) {
                    Some(it) => match (cost_of(frame, name, cost), frame.resource(it).is_image()) {
                        (Some(cost), _) => looks.add(cost),
                        (None, false) => looks.add(0),
                        (None, true) => {}
                    },
                    None => *looks = Looks::NONE,
                }
            }
        }
        let decided = advised.into_iter().find_map(|resource| {
            let name = &frame.resource(resource).name;
            match self.stage(name) {
                Some(Stage::Exclusive(looks)) if looks.are_enough() => {
                    Some((resource, Arc::clone(name), looks.least))
                }
                _ => None,
            }
        });
        if let Some((resource, name, before)) = decided {
            let is_image = frame.resource(resource).is_image();
            for Trial { name: of, stage } in &mut self.trials {
                match stage {
                    Stage::Exclusive(_) if *of == name && is_image => {
                        let since = Looks::NONE;
                        *stage = Stage::Tried { before, since };
                    }
                    Stage::Exclusive(_) if *of == name => {
                        *stage = Stage::Settled(Sharing::Concurrent);
                    }
                    // For the others it will be another frame.
                    Stage::Exclusive(looks) => *looks = Looks::NONE,
                    _ => {}
                }
            }
        }
    }
}

impl Stage {
    fn sharing(self) -> Sharing {
        match self {
            Self::Exclusive(_) => Sharing::Exclusive,
            Self::Tried { .. } => Sharing::Concurrent,
            Self::Settled(sharing) => sharing,
        }
    }
}

/// The time of the passes that use resources of a name, if all of them were measured.
fn cost_of(frame: &Frame, name: &str, cost: &impl Fn(PassIndex) -> Option<u64>) -> Option<u64> {
    let uses_it = |pass: &PassIndex| {
        let mut uses = frame.uses_of(*pass).iter();
        uses.any(|used| *frame.resource(used.resource).name == *name)
    };
    frame.pass_indices().filter(uses_it).map(cost).sum()
}

#[cfg(test)]
#[path = "trial_tests.rs"]
mod tests;
