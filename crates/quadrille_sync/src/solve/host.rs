//! Phase `host`: passes that the host runs.
//!
//! A host pass waits for timeline values like a queue. What it reads has to be made visible to
//! the host by the queue that wrote it, after the write: at the end of the submission with the
//! write, or in the queue's window if that was in an earlier frame. What it overwrites likewise,
//! or a late write-back would win. Its own writes need nothing: submission makes them visible to
//! the device (section "Host Write Ordering Guarantees").

use std::ops::Range;

use super::barrier::{for_each_predecessor, see, source};
use super::record::Barrier;
use super::timeline::{Numbers, Timeline};
use super::track::{Maps, Mark, State};
use super::walk::Walk;
use crate::flags::{AccessMask, Layout, Stages};
use crate::frame::{PassIndex, Use};
use crate::plan::{HostStep, PassRef, Reason, RelativePoint, Rung, Scope};
use crate::range::intervals;
use crate::states::EndPass;
use crate::topology::QueueIndex;

/// Reads by the host.
const HOST_READ: Scope = Scope {
    stages: Stages::HOST,
    access: AccessMask::HOST_READ,
};

/// Writes by the host.
const HOST_WRITE: Scope = Scope {
    stages: Stages::HOST,
    access: AccessMask::HOST_WRITE,
};

/// Plans the host passes, in order, and notes which resources they touch.
pub(super) fn host(
    walk: &mut Walk<'_>,
    maps: &mut Maps,
    passes: &[PassIndex],
    touched: &mut [bool],
) -> Vec<HostStep> {
    let frame = walk.frame;
    let mut steps = Vec::new();
    for pass in passes {
        let mut step = HostStep {
            pass: *pass,
            waits: Vec::new(),
        };
        for one in frame.uses_of(*pass) {
            let kind = &frame.resource(one.resource).kind;
            let map = &mut maps[one.resource.0 as usize];
            touched[one.resource.0 as usize] = true;
            intervals(kind, &one.range, |interval| {
                map.update(interval, |interval, state| {
                    advance(walk, &mut step, one, interval, state);
                });
            });
        }
        steps.push(step);
    }
    steps
}

/// Drops waits that others imply, and numbers the rest.
pub(super) fn number(steps: &mut [HostStep], timeline: &Timeline, numbers: &Numbers) {
    for HostStep { waits, .. } in steps {
        let mut at = 0;
        while at < waits.len() {
            let point = waits[at].into();
            if waits
                .iter()
                .any(|other| timeline.implies((*other).into(), point))
            {
                waits.remove(at);
            } else {
                at += 1;
            }
        }
        for wait in waits {
            wait.offset = numbers.value(wait.queue, wait.offset);
        }
    }
}

/// One use of one run of a range.
fn advance(
    walk: &mut Walk<'_>,
    step: &mut HostStep,
    one: &Use,
    interval: Range<u64>,
    state: &mut State,
) {
    let writes = one.access.is_write();
    if writes {
        for_each_predecessor(state, |mark, _| wait(walk, step, mark));
    }
    let image = walk.frame.resource(one.resource).is_image();
    let layout_fits = !image || state.layout == one.access.layout();
    // Once the host can see a write, it can also overwrite it.
    let is_seen = |(_, scope): &(QueueIndex, Scope)| scope.covers(HOST_READ);
    match state.write {
        None if layout_fits => {}
        Some(write) if layout_fits && state.visible.iter().any(is_seen) => {
            wait(walk, step, &write);
        }
        _ => {
            let dst = if writes { HOST_WRITE } else { HOST_READ };
            let mark = make_visible(walk, step.pass, one, dst, interval, state);
            wait(walk, step, &mark);
            see(state, mark.queue, dst);
            state.write = Some(mark);
        }
    }
    if writes {
        *state = State {
            layout: state.layout,
            owner: state.owner,
            defined: true,
            pending: state.pending.take(),
            first: state.first.take(),
            previous_first: state.previous_first.take(),
            ..State::fresh()
        };
    }
}

/// Adds the barrier that lets the host see the last write, or brings an image that nobody has
/// written into the host's layout; returns the write as it is then known.
fn make_visible(
    walk: &mut Walk<'_>,
    pass: PassIndex,
    one: &Use,
    dst: Scope,
    interval: Range<u64>,
    state: &mut State,
) -> Mark {
    let image = walk.frame.resource(one.resource).is_image();
    let new_layout = if image {
        one.access.layout()
    } else {
        Layout::Undefined
    };
    let changes = state.layout != new_layout;
    let earlier = state.write.as_ref().or(state.reads.last());
    let reason = Reason {
        resource: one.resource,
        earlier: earlier.map_or(PassRef::Nobody, |mark| walk.past.pass_ref(mark.pass)),
        later: PassRef::Pass(pass),
        rung: if changes {
            Rung::LayoutTransition
        } else {
            Rung::Memory
        },
    };
    let place = place(walk, state, changes);
    let point = walk.point(place);
    let mut src = Scope::default();
    let mut add = |walk: &mut Walk<'_>, mark: &Mark, memory: bool| {
        if mark.queue == point.queue {
            src = src.union(source(mark, memory));
        } else {
            src = src.union(walk.chain_late(place, mark, reason.clone()));
        }
    };
    if let Some(write) = &state.write {
        add(walk, write, true);
    }
    if changes {
        state.reads.iter().for_each(|read| add(walk, read, false));
    }
    let mut mark = state.write.unwrap_or(Mark {
        queue: point.queue,
        value: point.value,
        scope: dst.stages_only(),
        pass: EndPass::Pass(pass),
        step: 0,
    });
    (mark.queue, mark.value) = (point.queue, point.value);
    let tail = &mut walk.records[place].tail;
    if changes {
        // From here on, whoever comes later comes after the transition.
        mark.scope = dst.stages_only();
        let mut barrier = Barrier::plain(src, dst, state.layout, reason);
        barrier.new_layout = new_layout;
        tail[0].push(walk.frame.resource(one.resource), interval, barrier);
        state.reads.clear();
        state.promised = None;
        state.visible.clear();
        state.layout = new_layout;
    } else {
        tail[1].merge(src, dst, reason);
    }
    walk.last_uses
        .note(one.resource.0, point.queue, point.value, place);
    mark
}

/// The submission at whose end the barrier for the host goes: the last of this frame that it has
/// to come after, or the window of the queue that wrote, read, or owns the range.
fn place(walk: &mut Walk<'_>, state: &State, changes: bool) -> usize {
    let submission = |mark: &Mark| walk.timeline.submission(mark.point());
    let mut place = state.write.as_ref().and_then(submission);
    if changes {
        place = place.max(state.reads.iter().filter_map(submission).max());
    }
    if let Some(place) = place {
        return place;
    }
    let mark = state.write.as_ref().or(state.reads.last());
    let topology = walk.topology;
    let owning = || {
        let mut queues = topology.indices();
        queues.find(|queue| state.owner == Some(topology.family(*queue)))
    };
    let queue = mark.map(|mark| mark.queue).or_else(owning);
    walk.window(queue.unwrap_or_default())
}

/// Lets a host pass wait for an access.
fn wait(walk: &mut Walk<'_>, step: &mut HostStep, mark: &Mark) {
    walk.past.consult_exactly(mark);
    match step.waits.iter_mut().find(|wait| wait.queue == mark.queue) {
        Some(wait) => wait.offset = wait.offset.max(mark.value),
        None => step.waits.push(RelativePoint {
            queue: mark.queue,
            offset: mark.value,
        }),
    }
}
