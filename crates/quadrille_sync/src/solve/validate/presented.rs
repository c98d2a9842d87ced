//! Phase `check` for swapchain images: they must be written, and some queue must be able to present.

use crate::error::PlanError;
use crate::frame::{Frame, Use};
use crate::resource::{Lifetime, ResourceIndex};
use crate::topology::Topology;

/// Reports swapchain images that no queue could present, or that no pass writes.
pub(crate) fn check_presented(frame: &Frame, topology: &Topology, errors: &mut Vec<PlanError>) {
    let can_present = topology.queues.iter().any(|queue| queue.can_present);
    let is_image = |one: &&Use| frame.resource(one.resource).lifetime == Lifetime::Swapchain;
    // By resource: whether any use writes.
    let mut used: Vec<(ResourceIndex, bool)> = Vec::new();
    for one in frame.uses.iter().filter(is_image) {
        let writes = one.access.is_write();
        match used.iter_mut().find(|(known, _)| *known == one.resource) {
            Some((_, written)) => *written |= writes,
            None => used.push((one.resource, writes)),
        }
    }
    used.sort_unstable();
    for (image, written) in used {
        let resource = frame.resource(image).name.clone();
        if !written {
            let resource = resource.clone();
            errors.push(PlanError::PresentedUnwritten { resource });
        }
        if !can_present {
            let topology = topology.to_string();
            errors.push(PlanError::NoPresentingQueue { resource, topology });
        }
    }
}
