//! Upper bound on the time that moving a pass to another queue can save.
//!
//! A pass waits for its dependencies and for the earlier passes on its queue.
//! On a separate queue only the dependencies remain. So a frame is simulated with measured times, once as
//! planned and once for each pass with that pass on a separate queue; the difference is
//! the upper bound of the saving. A move costs semaphores, and may cost ownership transfers and
//! bandwidth, so the actual saving is smaller, and passes without advice should not be moved.

use crate::frame::{Frame, PassIndex};
use crate::plan::Plan;
use crate::topology::{QueueIndex, Topology};

mod observation;
mod plans;
mod queues;
mod sharing;
mod trial;

pub use observation::QueueObservation;
pub use queues::{QueueChoices, QueueMove};
pub use sharing::{FrameCost, SharingAdvice, advise_sharing};
pub use trial::{SharingChange, SharingObservation, SharingStage, SharingTrials};

/// Estimated saving of moving one pass to another queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The pass.
    pub pass: PassIndex,
    /// The queue that runs it.
    pub queue: QueueIndex,
    /// The other queues that could run it.
    pub to: Vec<QueueIndex>,
    /// Its time, in microseconds.
    pub cost_us: u64,
    /// Upper bound of the reduction of the frame time, in microseconds.
    pub saves_us: u64,
}

/// Estimates the savings of moving passes to other queues, largest first.
///
/// Passes that save nothing, or that no other queue can run, are left out. `cost_us` returns the
/// measured device time of a pass, in microseconds.
///
/// ```
/// use quadrille_sync::advise::advise;
/// use quadrille_sync::frame::PassIndex;
/// use quadrille_sync::solve::plan;
/// use quadrille_sync::states::States;
/// use quadrille_sync::text::{parse_frame, parse_topology};
/// let topology = parse_topology("gct:1,ct:1").unwrap();
/// let frame = parse_frame("
/// buffer a 0 bytes 64
/// buffer b 1 bytes 64
/// pass shadows requires GRAPHICS
///   StorageWriteFragment a
/// pass particles requires COMPUTE
///   StorageWriteCompute b
/// ").unwrap();
/// let plan = plan(&frame, &topology, &States::default()).unwrap();
/// let advice = advise(&frame, &topology, &plan, |pass| [500, 300][pass.0 as usize]);
/// assert_eq!(advice.len(), 1, "nobody else can run shadows");
/// assert_eq!((advice[0].pass, advice[0].saves_us), (PassIndex(1), 300));
/// ```
pub fn advise(
    frame: &Frame,
    topology: &Topology,
    plan: &Plan,
    cost_us: impl Fn(PassIndex) -> u64,
) -> Vec<Advice> {
    let order: Vec<Placed> = plan
        .passes()
        .map(|(queue, pass)| Placed {
            queue,
            pass,
            cost: cost_us(pass),
        })
        .collect();
    let needs = needs(frame, &order);
    let now = length(&order, &needs, &[]);
    let mut all = Vec::new();
    for (at, placed) in order.iter().enumerate() {
        let required = frame.pass(placed.pass).queue.required;
        let can_run = |queue: &QueueIndex| {
            *queue != placed.queue && topology.queue(*queue).capabilities.contains(required)
        };
        let to: Vec<QueueIndex> = topology.indices().filter(can_run).collect();
        let saves_us = if to.is_empty() {
            0
        } else {
            now - length(&order, &needs, &[at]).min(now)
        };
        if saves_us > 0 {
            all.push(Advice {
                pass: placed.pass,
                queue: placed.queue,
                to,
                cost_us: placed.cost,
                saves_us,
            });
        }
    }
    all.sort_by_key(|advice| (std::cmp::Reverse(advice.saves_us), advice.pass));
    all
}

/// A pass with its queue in the plan.
struct Placed {
    queue: QueueIndex,
    pass: PassIndex,
    cost: u64,
}

/// For each pass in the order of the plan, the indices of the passes that it depends on: the last writers
/// of the resources that it uses, and the readers since of those that it writes. Whole resources are
/// compared, so passes on different parts of one count as dependent, and savings are underestimated.
fn needs(frame: &Frame, order: &[Placed]) -> Vec<Vec<usize>> {
    let mut last: Vec<(Option<usize>, Vec<usize>)> =
        vec![Default::default(); frame.resources.len()];
    let mut all = Vec::with_capacity(order.len());
    for (at, placed) in order.iter().enumerate() {
        let mut needs = Vec::new();
        for used in frame.uses_of(placed.pass) {
            let (writer, readers) = &mut last[used.resource.0 as usize];
            needs.extend(writer.filter(|writer| *writer != at));
            if used.access.is_write() {
                needs.extend(readers.drain(..).filter(|reader| *reader != at));
                *writer = Some(at);
            } else {
                readers.push(at);
            }
        }
        needs.sort_unstable();
        needs.dedup();
        all.push(needs);
    }
    all
}

/// Estimates the time of a frame in microseconds: queues run their passes one after the other, each when
/// its dependencies have ended. The passes in `alone` run on a separate queue.
fn length(order: &[Placed], needs: &[Vec<usize>], alone: &[usize]) -> u64 {
    let mut done: Vec<u64> = Vec::with_capacity(order.len());
    let (mut free, mut own) = ([0u64; Topology::MAX_QUEUES], 0);
    for (at, (placed, needs)) in order.iter().zip(needs).enumerate() {
        let ready = needs.iter().map(|&before| done[before]).max().unwrap_or(0);
        let queue = if alone.contains(&at) {
            &mut own
        } else {
            &mut free[usize::from(placed.queue.0) % Topology::MAX_QUEUES]
        };
        *queue = ready.max(*queue) + placed.cost;
        done.push(*queue);
    }
    done.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests;
