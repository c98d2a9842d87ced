//! Estimated effect of concurrent sharing of a resource.
//!
//! An exclusive resource that changes its family is released, waited for and acquired; a concurrent one
//! only needs a wait, in fewer stages. So a frame is planned both ways, for each resource that changes
//! its family, and the plans are compared by the usual objective.
//!
//! Plans do not show the effect of sharing on the accesses themselves. For buffers there is none on
//! known devices. Images may lose their compression, which only a measurement shows.

use super::plans::{Pending, Plans};
use crate::frame::{Frame, PassIndex};
use crate::plan::{Counts, Plan, Step};
use crate::resource::{Lifetime, ResourceIndex, Sharing};
use crate::solve::time_us;
use crate::states::States;
use crate::topology::Topology;

/// Cost of a frame in steady state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameCost {
    /// Submissions, waits and barriers of its plan.
    pub counts: Counts,
    /// Its estimated time, in microseconds ([`Plan::critical_path_us`]).
    pub length_us: u64,
}

/// Estimated effect of concurrent sharing of one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharingAdvice {
    /// The resource.
    pub resource: ResourceIndex,
    /// Cost of the frame with exclusive sharing.
    pub exclusive: FrameCost,
    /// Cost of the frame with this resource shared ([`Sharing::Concurrent`]).
    pub concurrent: FrameCost,
}

impl FrameCost {
    /// The cost of a frame with this plan.
    pub(super) fn of(frame: &Frame, plan: &Plan) -> Self {
        Self {
            counts: plan.counts(),
            length_us: plan.critical_path_us(frame),
        }
    }

    /// Returns the parts of the objective (see `schedule/objective.rs`): the first difference decides.
    pub(super) fn parts(&self) -> [u64; 5] {
        let counts = &self.counts;
        [
            time_us(&[self.length_us], counts.submissions as usize),
            counts.submissions.into(),
            counts.semaphore_waits.into(),
            counts.barrier_calls.into(),
            counts.barriers.into(),
        ]
    }
}

impl SharingAdvice {
    /// Whether the frame is better with the resource concurrent: its estimated time is shorter, even with
    /// more waits and barriers, or equal with fewer of them.
    pub fn is_cheaper(&self) -> bool {
        self.concurrent.parts() < self.exclusive.parts()
    }

    /// The estimated saving, in microseconds.
    pub fn saves_us(&self) -> u64 {
        let (now, then) = (self.exclusive.length_us, self.concurrent.length_us);
        now.saturating_sub(then)
    }
}

/// Estimates the effect of concurrent sharing of each resource that changes its family, best first.
///
/// The frame is assumed to repeat. `cost_us` returns the device time of a pass in microseconds, 0 if
/// unknown.
///
/// Each resource is judged alone. For the effect of several, make one of them concurrent and call this
/// again. Frames that cannot be planned, and swapchain images, get no advice.
///
/// ```
/// use quadrille_sync::advise::advise_sharing;
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
/// let advice = advise_sharing(&frame, &topology, &States::default(), |_| 100);
/// let [cells] = advice.as_slice() else { panic!("one resource changes its family") };
/// assert!(cells.is_cheaper());
/// assert_eq!(cells.exclusive.counts.ownership_transfers, 2, "there and back");
/// assert_eq!(cells.concurrent.counts.ownership_transfers, 0);
/// ```
pub fn advise_sharing(
    frame: &Frame,
    topology: &Topology,
    states: &States,
    cost_us: impl Fn(PassIndex) -> u64,
) -> Vec<SharingAdvice> {
    let mut frame = frame.clone();
    for (at, pass) in frame.passes.iter_mut().enumerate() {
        let cost = cost_us(PassIndex(at as u32));
        pass.cost_us = u32::try_from(cost).unwrap_or(u32::MAX);
    }
    let mut plans = Plans::new(topology, states);
    plans.finish(|plans| advise_sharing_of(&frame, plans, |_| true))
}

/// [`advise_sharing`] for the resources that `is_asked` selects.
pub(super) fn advise_sharing_of(
    frame: &Frame,
    plans: &mut Plans,
    is_asked: impl Fn(ResourceIndex) -> bool,
) -> Result<Vec<SharingAdvice>, Pending> {
    let Some(now) = plans.steady(frame)? else {
        return Ok(Vec::new());
    };
    let exclusive = FrameCost::of(frame, &now);
    let mut all = Vec::new();
    for resource in moving(&now) {
        if frame.resource(resource).lifetime == Lifetime::Swapchain || !is_asked(resource) {
            continue;
        }
        if let Some(concurrent) = cost_shared(frame, plans, &[resource])? {
            all.push(SharingAdvice {
                resource,
                exclusive,
                concurrent,
            });
        }
    }
    all.sort_by_key(|advice| (advice.concurrent.parts(), advice.resource));
    Ok(all)
}

/// Returns the cost of a frame with some resources concurrent; `None` if it cannot be planned.
pub(super) fn cost_shared(
    frame: &Frame,
    plans: &mut Plans,
    resources: &[ResourceIndex],
) -> Result<Option<FrameCost>, Pending> {
    let mut shared = frame.clone();
    for resource in resources {
        shared.resources[resource.0 as usize].sharing = Sharing::Concurrent;
    }
    let plan = plans.steady(&shared)?;
    Ok(plan.map(|plan| FrameCost::of(&shared, &plan)))
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
        let inside = |(resource, transfer): (ResourceIndex, Option<crate::plan::Transfer>)| {
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

#[cfg(test)]
#[path = "sharing_tests.rs"]
mod tests;
