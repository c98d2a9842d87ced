//! Phase `edge`: images of swapchains, at the frame's two edges.
//!
//! The first submission that uses an image waits for the image's binary semaphore, in the stages
//! of that first use, and these stages are the source of the first layout transition: any other
//! source would not chain to the wait. After the last use the image goes to
//! [`Layout::PresentSrc`], at the end of that submission if its queue can present, else in a
//! submission of a queue that can.
//!
//! An image that no pass uses is neither acquired nor presented.

use super::barrier::{for_each_predecessor, last_pass, source};
use super::ownership::{Destination, half, release};
use super::record::Barrier;
use super::track::{Maps, Mark, State};
use super::walk::{Request, Walk};
use crate::error::PlanError;
use crate::flags::{Layout, Stages};
use crate::frame::Frame;
use crate::plan::{ImageAcquire, PassRef, Reason, Rung, Scope, TransferHalf};
use crate::range::{EVERYTHING, RangeMap};
use crate::resource::{Lifetime, ResourceIndex};
use crate::states::{EndPass, RangeState};
use crate::topology::{QueueIndex, Topology};

/// Reports swapchain images that no queue could present.
pub(super) fn check(frame: &Frame, topology: &Topology, errors: &mut Vec<PlanError>) {
    if topology.queues.iter().any(|queue| queue.can_present) {
        return;
    }
    let mut used: Vec<u32> = frame.uses.iter().map(|one| one.resource.0).collect();
    used.sort_unstable();
    used.dedup();
    for resource in used.into_iter().map(|at| &frame.resources[at as usize]) {
        if resource.lifetime == Lifetime::Swapchain {
            errors.push(PlanError::NoPresentingQueue {
                resource: resource.name.clone(),
                topology: topology.to_string(),
            });
        }
    }
}

/// If a request is the first of a swapchain image, lets its submission wait for the image. To the
/// states, the presentation engine is somebody who has written the image in these stages.
pub(super) fn acquire_image(
    walk: &mut Walk<'_>,
    request: &Request,
    map: &mut RangeMap<RangeState<Mark>>,
) {
    let swapchain = walk.frame.resource(request.resource).lifetime == Lifetime::Swapchain;
    if !swapchain || walk.last_uses.submission(request.resource.0).is_some() {
        return;
    }
    let stages = request.scope.stages;
    let stages = if stages.is_empty() {
        Stages::ALL_COMMANDS
    } else {
        stages
    };
    let acquire = ImageAcquire {
        resource: request.resource,
        stages,
    };
    walk.records[request.submission]
        .submission
        .acquires
        .push(acquire);
    let scope = Scope {
        stages,
        ..Scope::default()
    };
    let mark = Mark {
        pass: EndPass::Presentation,
        ..request.mark(scope)
    };
    map.update(EVERYTHING, |_, state| state.write = Some(mark));
}

/// Hands the images of swapchains to the presentation engine.
pub(super) fn present(walk: &mut Walk<'_>, maps: &mut Maps) {
    let mut presenter = None;
    for (at, resource) in walk.frame.resources.iter().enumerate() {
        let used = walk.last_uses.submission(at as u32);
        let Some(last) = used.filter(|_| resource.lifetime == Lifetime::Swapchain) else {
            continue;
        };
        let queue = walk.point(last).queue;
        let index = ResourceIndex(at as u32);
        let mut place = last;
        if walk.topology.queue(queue).can_present {
            present_here(walk, index, last, &mut maps[at]);
        } else if let Some(queue) = presenting_queue(walk.topology) {
            place = *presenter.get_or_insert_with(|| walk.open(queue));
            present_there(walk, index, place, &mut maps[at]);
        }
        walk.records[place].submission.presents.push(index);
        let point = walk.point(place);
        walk.last_uses
            .note(at as u32, point.queue, point.value, place);
    }
}

/// The queue that presents what others have finished.
fn presenting_queue(topology: &Topology) -> Option<QueueIndex> {
    topology
        .indices()
        .find(|queue| topology.queue(*queue).can_present)
}

/// The last transition, at the end of the last submission that uses the image.
fn present_here(
    walk: &mut Walk<'_>,
    resource: ResourceIndex,
    place: usize,
    map: &mut RangeMap<State>,
) {
    let queue = walk.point(place).queue;
    map.update(EVERYTHING, |interval, state| {
        let reason = reason(walk, resource, state, Rung::Presentation);
        let mut src = Scope::default();
        for_each_predecessor(state, |mark, memory| {
            if mark.queue == queue {
                src = src.union(source(mark, memory));
            } else {
                walk.require_late(place, mark, reason.clone());
                src.stages = Stages::ALL_COMMANDS;
            }
        });
        if state.layout == Layout::PresentSrc {
            return;
        }
        let dst = Scope::default();
        let barrier = Barrier {
            src,
            dst,
            old_layout: state.layout,
            new_layout: Layout::PresentSrc,
            transfer: None,
            reason,
        };
        walk.records[place].tail[1].push(walk.frame.resource(resource), interval, barrier);
        state.layout = Layout::PresentSrc;
    });
}

/// The last transition, on a queue that does nothing else with the image.
fn present_there(
    walk: &mut Walk<'_>,
    resource: ResourceIndex,
    place: usize,
    map: &mut RangeMap<State>,
) {
    let queue = walk.point(place).queue;
    let family = walk.topology.family(queue);
    let everything = Scope {
        stages: Stages::ALL_COMMANDS,
        ..Scope::default()
    };
    map.update(EVERYTHING, |interval, state| {
        let mut barrier = Barrier {
            src: everything,
            dst: Scope::default(),
            old_layout: state.layout,
            new_layout: Layout::PresentSrc,
            transfer: None,
            reason: reason(walk, resource, state, Rung::Presentation),
        };
        let foreign = state
            .owner
            .filter(|owner| walk.is_owned(resource) && *owner != family);
        if let Some(owner) = foreign {
            let (layout, later) = (Layout::PresentSrc, PassRef::Presentation);
            let to = Destination {
                resource,
                family,
                layout,
                later,
            };
            let pending = release(walk, &to, &interval, state);
            walk.require_late(place, &pending.mark, barrier.reason.clone());
            barrier.transfer = Some(half(owner, family, TransferHalf::Acquire));
        } else {
            for_each_predecessor(state, |mark, memory| {
                if mark.queue == queue {
                    barrier.src = barrier.src.union(source(mark, memory));
                } else {
                    walk.require_late(place, mark, barrier.reason.clone());
                }
            });
        }
        walk.records[place]
            .head
            .push(walk.frame.resource(resource), interval, barrier);
        state.layout = Layout::PresentSrc;
    });
}

/// Why the presentation engine waits.
fn reason(walk: &Walk<'_>, resource: ResourceIndex, state: &State, rung: Rung) -> Reason {
    let earlier = last_pass(state).map_or(PassRef::Nobody, |pass| walk.past.pass_ref(pass));
    Reason {
        resource,
        earlier,
        later: PassRef::Presentation,
        rung,
    }
}
