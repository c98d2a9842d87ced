//! What synchronisation costs if it is done the plain way, for comparison.
//!
//! Passes run in declaration order; each switch of queue flushes a submission, which waits for
//! the one before. Each use that depends on an earlier one gets a barrier call of its own, and
//! an ownership transfer a submission of its own on the old family, and a wait for that. A use
//! that depends on several ranges counts once, and a queue that cannot present is not told from one
//! that can, so these counts are lower bounds of what plain code would do.

use std::collections::HashMap;

use quadrille_sync::{
    Access, Counts, FamilyIndex, Frame, Lifetime, PassIndex, Plan, QueueIndex, ResourceId, Sharing,
    SubRange, Topology, Use,
};

/// Counts for one frame after the other. Passes run on the queues that a plan gave them, so that
/// both do the same work.
#[derive(Debug, Default)]
pub(super) struct Naive {
    queue: Option<QueueIndex>,
    last: HashMap<ResourceId, Vec<LastUse>>,
}

/// The last use of a range.
#[derive(Debug)]
struct LastUse {
    range: SubRange,
    access: Access,
    family: FamilyIndex,
}

impl Naive {
    /// Counts for the next frame.
    pub(super) fn frame(&mut self, frame: &Frame, topology: &Topology, plan: &Plan) -> Counts {
        let mut counts = Counts::default();
        for resource in &frame.resources {
            if resource.lifetime != Lifetime::Persistent {
                self.last.remove(&resource.id);
            }
        }
        let mut is_open = false;
        for (queue, pass) in in_declaration_order(plan) {
            let is_switch = self.queue.is_some_and(|before| before != queue);
            counts.semaphore_waits += u32::from(is_switch);
            counts.submissions += u32::from(is_switch || !is_open);
            (self.queue, is_open) = (Some(queue), true);
            for one in frame.uses_of(pass) {
                self.depend(frame, one, topology.family(queue), &mut counts);
            }
        }
        // Each swapchain image goes to the presentation engine by a layout transition.
        let presents = plan.submissions.iter().map(|it| it.presents.len() as u32);
        counts.barriers += presents.sum::<u32>();
        counts.barrier_calls = counts.barriers;
        counts
    }

    fn depend(&mut self, frame: &Frame, one: &Use, family: FamilyIndex, counts: &mut Counts) {
        let resource = frame.resource(one.resource);
        let last = self.last.entry(resource.id).or_default();
        let is_exclusive = resource.sharing == Sharing::Exclusive;
        let mut earlier = last
            .iter()
            .filter(|it| it.range.overlaps(&one.range))
            .peekable();
        let is_fresh_image = resource.is_image() && earlier.peek().is_none();
        let (mut is_dependent, mut is_transfer) = (is_fresh_image, false);
        for it in earlier {
            let is_moved = is_exclusive && it.family != family;
            let is_hazard = it.access.is_write() || one.access.is_write();
            let is_transition = resource.is_image() && it.access.layout() != one.access.layout();
            is_dependent |= is_hazard || is_transition || is_moved;
            is_transfer |= is_moved && !one.discard;
        }
        counts.barriers += u32::from(is_dependent) + u32::from(is_transfer);
        counts.ownership_transfers += u32::from(is_transfer);
        counts.submissions += u32::from(is_transfer);
        counts.semaphore_waits += u32::from(is_transfer);
        last.retain(|it| it.range != one.range && one.range != SubRange::Whole);
        last.push(LastUse {
            range: one.range,
            access: one.access,
            family,
        });
    }
}

/// How often the queue changes from a pass to the next, as they are submitted.
pub(super) fn queue_switches(plan: &Plan) -> usize {
    switches(&plan.passes().collect::<Vec<_>>())
}

/// How often the queue changes from a pass to the next, as they are declared.
pub(super) fn declared_switches(plan: &Plan) -> usize {
    switches(&in_declaration_order(plan))
}

fn switches(passes: &[(QueueIndex, PassIndex)]) -> usize {
    passes.windows(2).filter(|two| two[0].0 != two[1].0).count()
}

fn in_declaration_order(plan: &Plan) -> Vec<(QueueIndex, PassIndex)> {
    let mut passes: Vec<_> = plan.passes().collect();
    passes.sort_by_key(|(_, pass)| *pass);
    passes
}
