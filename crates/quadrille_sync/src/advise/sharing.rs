//! What concurrent sharing of a resource would save.
//!
//! A resource that families own in turn is released, waited for and acquired; one that they share
//! is only waited for, and in fewer stages. So a frame is planned both ways, for each resource
//! that changes its family, and what the plans cost is put beside each other: what stands between
//! the passes, and how long the frame takes if submissions last as long as their passes did.
//!
//! What plans cannot show is what sharing costs the accesses themselves. For buffers that is
//! nothing on the devices that we know of; images may lose their compression, which only measuring
//! both ways shows.

use std::cmp::Reverse;

use crate::frame::{Frame, PassIndex};
use crate::plan::{Counts, Plan, Step};
use crate::resource::{Lifetime, ResourceIndex, Sharing};
use crate::solve::{plan, time_us};
use crate::states::States;
use crate::topology::Topology;

/// How often a frame is repeated until its plans repeat: predictions use the two frames before.
const REPEATED: usize = 4;

/// What a frame costs that repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameCost {
    /// What stands between its passes.
    pub counts: Counts,
    /// How long it takes, in the unit of the costs that were given, if each submission begins when
    /// its queue is free and all that it waits for is done.
    pub length: u64,
}

/// What sharing one resource would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharingAdvice {
    /// The resource, which families own in turn.
    pub resource: ResourceIndex,
    /// What the frame costs as it is.
    pub exclusive: FrameCost,
    /// What it would cost with this resource shared ([`Sharing::Concurrent`]).
    pub concurrent: FrameCost,
}

impl FrameCost {
    /// What plans are judged by (see `schedule/objective.rs`): the first difference decides.
    fn parts(&self) -> [u64; 5] {
        let counts = &self.counts;
        let submissions = counts.submissions as usize;
        [
            time_us(&[self.length], submissions),
            submissions as u64,
            counts.semaphore_waits.into(),
            counts.barrier_calls.into(),
            counts.barriers.into(),
        ]
    }
}

impl SharingAdvice {
    /// Whether the frame is better with the resource shared: shorter by estimate, also at the price
    /// of waits and barriers, or as long and with fewer of them.
    pub fn is_cheaper(&self) -> bool {
        self.concurrent.parts() < self.exclusive.parts()
    }

    /// How much shorter the frame would be, in the unit of the costs that were given.
    pub fn saves(&self) -> u64 {
        self.exclusive.length.saturating_sub(self.concurrent.length)
    }
}

/// What concurrent sharing would change, for each resource that changes its family when the frame
/// repeats; what saves most comes first. `cost` is what each pass took on the device, in any unit.
///
/// Each resource is looked at alone: what several together would save is known once one of them is
/// shared and the advice taken again. Nothing is said of frames that cannot be planned, nor of
/// images of swapchains.
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
/// let advice = advise_sharing(&frame, &topology, &States::default(), |_| 1);
/// let [cells] = advice.as_slice() else { panic!("one resource changes its family") };
/// assert!(cells.is_cheaper());
/// assert_eq!(cells.exclusive.counts.ownership_transfers, 2, "there and back");
/// assert_eq!(cells.concurrent.counts.ownership_transfers, 0);
/// ```
pub fn advise_sharing(
    frame: &Frame,
    topology: &Topology,
    states: &States,
    cost: impl Fn(PassIndex) -> u64,
) -> Vec<SharingAdvice> {
    advise_sharing_of(frame, topology, states, cost, |_| true)
}

/// The same for some resources.
pub(super) fn advise_sharing_of(
    frame: &Frame,
    topology: &Topology,
    states: &States,
    cost: impl Fn(PassIndex) -> u64,
    is_asked: impl Fn(ResourceIndex) -> bool,
) -> Vec<SharingAdvice> {
    let Some(now) = steady(frame, topology, states) else {
        return Vec::new();
    };
    let cost_of = |plan: &Plan| FrameCost {
        counts: plan.counts(),
        length: length(plan, topology, &cost),
    };
    let mut all = Vec::new();
    for resource in moving(&now) {
        if frame.resource(resource).lifetime == Lifetime::Swapchain || !is_asked(resource) {
            continue;
        }
        let mut shared = frame.clone();
        shared.resources[resource.0 as usize].sharing = Sharing::Concurrent;
        if let Some(then) = steady(&shared, topology, states) {
            all.push(SharingAdvice {
                resource,
                exclusive: cost_of(&now),
                concurrent: cost_of(&then),
            });
        }
    }
    let counts = |advice: &SharingAdvice| advice.concurrent.parts().iter().skip(1).sum::<u64>();
    all.sort_by_key(|advice| (Reverse(advice.saves()), counts(advice), advice.resource));
    all
}

/// The plan of a frame that has repeated.
pub(super) fn steady(frame: &Frame, topology: &Topology, states: &States) -> Option<Plan> {
    let mut states = states.clone();
    for _ in 1..REPEATED {
        let plan = plan(frame, topology, &states).ok()?;
        states.commit(frame, topology, &plan);
    }
    plan(frame, topology, &states).ok()
}

/// The resources that change their family, in order.
fn moving(plan: &Plan) -> Vec<ResourceIndex> {
    let steps = plan.submissions.iter().flat_map(|it| &it.steps);
    let mut all = Vec::new();
    for step in steps {
        let Step::Barriers(batch) = step else {
            continue;
        };
        let buffers = batch.buffers.iter().map(|it| (it.resource, it.transfer));
        let images = batch.images.iter().map(|it| (it.resource, it.transfer));
        let inside = |(resource, transfer): (ResourceIndex, Option<crate::Transfer>)| {
            // A resource cannot be shared with an external owner.
            let transfer = transfer?;
            (!transfer.from.is_outside() && !transfer.to.is_outside()).then_some(resource)
        };
        all.extend(buffers.chain(images).filter_map(inside));
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// How long a plan takes if each submission begins when its queue is free and all that it waits
/// for is done.
fn length(plan: &Plan, topology: &Topology, cost: impl Fn(PassIndex) -> u64) -> u64 {
    let mut free = vec![0_u64; topology.queues.len()];
    // When each value of each queue is signalled.
    let mut signalled: Vec<Vec<(i64, u64)>> = vec![Vec::new(); topology.queues.len()];
    for submission in &plan.submissions {
        let waits = submission.waits.iter().map(|wait| wait.point);
        let ready = waits.filter_map(|point| {
            let mut of_queue = signalled.get(usize::from(point.queue.0))?.iter();
            let (_, done) = of_queue.find(|(value, _)| *value >= point.offset)?;
            // What lies in an earlier frame is taken to be done.
            (point.offset > 0).then_some(*done)
        });
        let ready = ready.max().unwrap_or(0);
        let passes = submission.steps.iter().map(|step| match step {
            Step::Pass(pass) => cost(*pass),
            Step::Barriers(_) => 0,
        });
        let queue = usize::from(submission.queue.0);
        free[queue] = free[queue].max(ready) + passes.sum::<u64>();
        signalled[queue].push((submission.signal, free[queue]));
    }
    free.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
#[path = "sharing_tests.rs"]
mod tests;
