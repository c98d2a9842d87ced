//! Phase `check` for owners: each must be a family of the topology, or external.

use crate::error::PlanError;
use crate::frame::Frame;
use crate::resource::Lifetime;
use crate::states::States;
use crate::topology::{FamilyIndex, Topology};

/// Reports owners that are not in the topology. Later phases rely on a queue for each owner.
pub(crate) fn check_owners(
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
            // After a release only the destination family counts.
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
        // An external owner is valid: without a pending release to it, it has released the
        // resource to this device.
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
