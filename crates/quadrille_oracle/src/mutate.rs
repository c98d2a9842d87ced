//! Plans with one element taken out or weakened: the judge has to object to every one.
//!
//! If it does not, either the judge is blind or the solver has put something into the plan that
//! nothing needs; so this proves the judge and the minimality of plans in one. What may survive
//! all the same is listed in [`Excuse`]: either an argument says why, or it is shown for the very
//! mutant that only something else in the plans, there for another purpose, does the same.

use std::fmt::{self, Display, Formatter};

use quadrille_sync::{Frame, Plan, Stages, Topology};

use crate::sequence::{Failure, Sequence};

mod asked;
mod barrier;
mod call;
mod cell;
mod excuse;
mod isolate;
mod maker;
mod part;
mod proof;
mod restrict;
mod serve;
mod world;

pub use excuse::Excuse;
use part::Part;
use proof::{Survival, Taken};
use restrict::Purpose;

/// What has been done to a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mutation {
    /// A barrier is gone that is no half of an ownership transfer.
    DropBarrier,
    /// A release is gone.
    DropRelease,
    /// An acquire of ownership is gone.
    DropAcquire,
    /// A barrier's first scope lacks a stage.
    SrcStage,
    /// A barrier's first scope lacks an access.
    SrcAccess,
    /// A barrier's second scope lacks a stage.
    DstStage,
    /// A barrier's second scope lacks an access.
    DstAccess,
    /// A barrier covers only part of its range.
    Range,
    /// A barrier discards contents.
    OldLayoutUndefined,
    /// A barrier has another old layout.
    OldLayout,
    /// A barrier has another new layout.
    NewLayout,
    /// A wait is gone.
    DropWait,
    /// A wait is for the value before.
    WaitValue,
    /// A wait lacks a stage.
    WaitStage,
    /// The wait for a swapchain image is gone.
    DropAcquireImage,
    /// The wait for a swapchain image lacks a stage.
    AcquireImageStage,
    /// A present is gone.
    DropPresent,
    /// A host pass waits for one point less.
    DropHostWait,
    /// Submissions do not wait for a host pass.
    DropHostGate,
    /// A host pass waits for the value before.
    HostWaitValue,
    /// One half of an ownership transfer names another family.
    Family,
    /// A submission signals the value before.
    Signal,
    /// A barrier call comes after a pass that it is for.
    LateBarrier,
    /// Two barrier calls are one, in the place of the first.
    JoinCalls,
    /// Two submissions of a queue change places.
    SubmissionOrder,
    /// A pass is gone.
    DropPass,
}

/// A plan with one change.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// What kind of change.
    pub mutation: Mutation,
    /// Where it is.
    pub place: String,
    /// Why it may be that nobody notices.
    pub excuse: Option<Excuse>,
    /// What the element is for.
    purposes: Vec<Purpose>,
    /// The stage that the wait for a swapchain image lacks, if it lacks just one.
    stage: Stages,
    /// What it lacks, if that is all of the change.
    part: Option<Part>,
    /// What it lacks for one pass, each of which the pass may need.
    late: Vec<Part>,
    /// The changed plan.
    pub plan: Plan,
}

impl Display for Mutant {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{:?} {}", self.mutation, self.place)
    }
}

/// All plans that have one element less than `plan`, or a weaker one. Changes that say the same in
/// other words, such as leaving out a stage that logical order implies, are none, and neither is
/// what Vulkan ignores (the second scope of a release).
pub fn mutants(frame: &Frame, plan: &Plan, topology: &Topology) -> Vec<Mutant> {
    maker::mutants(frame, plan, topology)
}

/// A mutant that the judge did not notice, neither in its own frame nor in those after it.
#[derive(Clone, Debug)]
pub struct Survivor {
    /// The frame whose plan was changed, counted from 0.
    pub frame: usize,
    /// The change.
    pub mutant: Mutant,
}

/// Judges all mutants of the plans of a sequence, and gives how many there are and those that
/// nobody noticed. The last `echo` frames only serve to judge what comes before them.
///
/// # Errors
/// If the sequence fails as it is.
pub fn survivors(sequence: &Sequence, echo: usize) -> Result<(usize, Vec<Survivor>), Failure> {
    let mut steps = Vec::new();
    sequence.run_with(|judge, frame, plan| {
        steps.push((judge.clone(), frame.clone(), plan.clone()));
    })?;
    Ok(unnoticed(&sequence.topology, &steps, echo))
}

/// Judges all mutants of frames with right plans.
fn unnoticed(topology: &Topology, steps: &[Taken], echo: usize) -> (usize, Vec<Survivor>) {
    let (mut count, mut survivors) = (0, Vec::new());
    let frames = steps.len().saturating_sub(echo);
    for (at, (before, frame, plan)) in steps.iter().enumerate().take(frames) {
        let later = &steps[at + 1..];
        for mut mutant in mutants(frame, plan, topology) {
            count += 1;
            let mut judge = before.clone();
            let is_noticed = !judge.frame(frame, &mutant.plan).is_empty()
                || (later.iter()).any(|(_, frame, plan)| !judge.frame(frame, plan).is_empty());
            if is_noticed {
                continue;
            }
            let argument = mutant.excuse;
            if !argument.is_some_and(Excuse::is_enough) {
                let survival = Survival {
                    topology,
                    steps,
                    at,
                    mutant: &mutant,
                };
                mutant.excuse = survival.proof().or(survival.argument());
            }
            survivors.push(Survivor { frame: at, mutant });
        }
    }
    (count, survivors)
}

#[cfg(test)]
mod tests;
