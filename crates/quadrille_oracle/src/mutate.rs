//! Plans with one element taken out or weakened: the judge has to object to every one.
//!
//! If it does not, either the judge is blind or the solver has put something into the plan that
//! nothing needs; so this proves the judge and the minimality of plans in one. What may survive
//! all the same is listed in [`Excuse`].

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use quadrille_sync::{Frame, Plan, Topology};

use crate::judge::Judge;
use crate::sequence::{Failure, Sequence};
use crate::violation::Violation;

mod barrier;
mod excuse;
mod maker;

pub use excuse::Excuse;

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
    let (mut count, mut survivors) = (0, Vec::new());
    for (at, (before, frame, plan)) in steps.iter().enumerate() {
        if at + echo >= steps.len() {
            break;
        }
        for mutant in mutants(frame, plan, &sequence.topology) {
            count += 1;
            let later = &steps[at + 1..];
            let objections = |before: &Judge, plan: &Plan| {
                let mut judge = before.clone();
                let own = judge.frame(frame, plan);
                let later = later
                    .iter()
                    .map(|(_, frame, plan)| judge.frame(frame, plan));
                own.into_iter().chain(later.flatten().collect::<Vec<_>>())
            };
            if objections(before, &mutant.plan).next().is_some() {
                continue;
            }
            let mut mutant = mutant;
            if mutant.excuse == Some(Excuse::History) {
                let forgetful = before.without_dependencies();
                let known: Vec<Violation> = objections(&forgetful, plan).collect();
                let is_new = |violation: &Violation| !known.contains(violation);
                // Otherwise it is not what earlier frames have done that makes it needless.
                if !objections(&forgetful, &mutant.plan).any(|it| is_new(&it)) {
                    let is_over = is_over(&steps[..=at], &mutant);
                    mutant.excuse = is_over.then_some(Excuse::Over);
                }
            }
            survivors.push(Survivor { frame: at, mutant });
        }
    }
    Ok((count, survivors))
}

/// Whether a mutant of the last of these frames waits for less of what a host pass of a frame before
/// has waited for.
fn is_over(steps: &[(Judge, Frame, Arc<Plan>)], mutant: &Mutant) -> bool {
    let [earlier @ .., (judge, _, plan)] = steps else {
        return false;
    };
    let waits = |plan: &Plan| {
        let waits = plan.submissions.iter().flat_map(|it| it.waits.clone());
        waits.map(|wait| wait.point).collect::<Vec<_>>()
    };
    let (before, after) = (waits(plan), waits(&mutant.plan));
    let changed = before.iter().zip(&after).find(|(one, other)| one != other);
    let Some((point, _)) = changed.filter(|_| mutant.mutation == Mutation::WaitValue) else {
        return false;
    };
    let value = judge.value(*point);
    earlier.iter().any(|(judge, _, plan)| {
        let mut waits = plan.host.iter().flat_map(|step| &step.waits);
        waits.any(|it| it.queue == point.queue && judge.value(*it) >= value)
    })
}
