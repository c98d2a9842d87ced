//! Phase `ownership`: release and acquire of exclusive resources between queue families.
//!
//! Where a pass needs a range that another family owns, the owner releases it and the pass's queue
//! acquires it just before the pass, after a wait for the release. The release is put
//!
//! - at the end of the last submission that uses the range, if that is in this frame;
//! - else in the owner's *window*: one submission before all others of its queue, for all
//!   resources that leave the family. After a host pass that device passes come after there are
//!   new windows, because what the host has touched cannot be released before.
//!
//! Windows cost a submission, so they are foreseen. Frames repeat, mostly: every frame is like the
//! last, or like the one before (two resources that change places). So [`predict`] looks at who
//! used a range first two frames before the next one, and if that is another family, appends the
//! release to this frame's last use. A prediction that proves wrong is made good in the window of
//! the family that should have acquired: it acquires, and releases what is needed elsewhere.
//!
//! What nobody has foreseen is taken for a change that stays: the frame before it is then no guide to the
//! next one, or whatever happens once would be expected again. The price is that an owner that changes
//! in every frame, and that no frame ever shares with another, is not foreseen: each frame has a window.
//!
//! Neighbours that change hands alike do so by one release and one acquire.
//!
//! Discarding takes over without all this: contents are lost, and only order matters.

use crate::error::PlanError;
use crate::frame::Frame;
use crate::plan::{Transfer, TransferHalf};
use crate::resource::Lifetime;
use crate::states::States;
use crate::topology::{FamilyIndex, Topology};

mod acquire;
mod foresee;
mod outside;
mod release;
mod window;

pub(super) use acquire::bring;
pub(super) use foresee::{give, predict};
pub(super) use release::{Departures, Destination};
pub(super) use window::{for_each_pending, settle_for_host};

/// Reports owners that the topology does not have, so that later phases find a queue for each.
pub(super) fn check(
    frame: &Frame,
    topology: &Topology,
    states: &States,
    errors: &mut Vec<PlanError>,
) {
    let exists = |family: FamilyIndex| {
        let mut queues = topology.queues.iter();
        queues.any(|queue| queue.family == family && !queue.is_foreign())
    };
    for resource in &frame.resources {
        let kept = resource.lifetime == Lifetime::Persistent;
        let Some(map) = states.map(resource.id).filter(|_| kept) else {
            continue;
        };
        let owners = map.iter().flat_map(|(_, state)| {
            // Who has released has nothing more to do with it.
            let pending = state.rare.pending().map(|pending| pending.to);
            pending.or(state.owner)
        });
        let given = map.iter().filter_map(|(_, state)| state.rare.pending());
        let mut outside = given.map(|pending| pending.to).filter(|to| to.is_outside());
        if let Some(family) = outside.next() {
            errors.push(PlanError::Outside {
                resource: resource.name.clone(),
                family,
            });
            continue;
        }
        // Who is outside and has not been given it, has released it to us.
        let mut unknown = owners.filter(|family| !exists(*family) && !family.is_outside());
        if let Some(family) = unknown.next() {
            errors.push(PlanError::UnknownOwner {
                resource: resource.name.clone(),
                family,
                topology: topology.to_string(),
            });
        }
    }
}

/// One half of a transfer.
pub(super) fn half(from: FamilyIndex, to: FamilyIndex, half: TransferHalf) -> Transfer {
    Transfer { from, to, half }
}
