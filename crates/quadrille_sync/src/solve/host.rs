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
    if let Some(write) = state.write {
        let image = walk.frame.resource(one.resource).is_image();
        let layout_fits = !image || state.layout == one.access.layout();
        // Once the host can see a write, it can also overwrite it.
        let is_seen = |(_, scope): &(QueueIndex, Scope)| scope.covers(HOST_READ);
        if layout_fits && state.visible.iter().any(is_seen) {
            wait(walk, step, &write);
        } else {
            let dst = if writes { HOST_WRITE } else { HOST_READ };
            let mark = make_visible(walk, step.pass, one, dst, interval, state, &write);
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

/// Adds the barrier that lets the host see a write, and returns the write as it is then known.
fn make_visible(
    walk: &mut Walk<'_>,
    pass: PassIndex,
    one: &Use,
    dst: Scope,
    interval: Range<u64>,
    state: &mut State,
    write: &Mark,
) -> Mark {
    let image = walk.frame.resource(one.resource).is_image();
    let new_layout = if image {
        one.access.layout()
    } else {
        Layout::Undefined
    };
    let reason = Reason {
        resource: one.resource,
        earlier: walk.past.pass_ref(write.pass),
        later: PassRef::Pass(pass),
        rung: if state.layout == new_layout {
            Rung::Memory
        } else {
            Rung::LayoutTransition
        },
    };
    let mut place = walk.timeline.submission(write.point());
    if state.layout != new_layout {
        for read in &state.reads {
            place = place.max(walk.timeline.submission(read.point()));
        }
    }
    let place = place.unwrap_or_else(|| walk.window(write.queue));
    let point = walk.point(place);
    let mut src = Scope::default();
    let mut add = |walk: &mut Walk<'_>, mark: &Mark, memory: bool| {
        if mark.queue == point.queue {
            src = src.union(source(mark, memory));
        } else {
            src = src.union(walk.chain_late(place, mark, reason.clone()));
        }
    };
    add(walk, write, true);
    if state.layout != new_layout {
        state.reads.iter().for_each(|read| add(walk, read, false));
    }
    let mut scope = write.scope;
    let tail = &mut walk.records[place].tail;
    if state.layout == new_layout {
        tail[1].merge(src, dst, reason);
    } else {
        // From here on, whoever comes later comes after the transition.
        scope = dst.stages_only();
        let mut barrier = Barrier::plain(src, dst, state.layout, reason);
        barrier.new_layout = new_layout;
        tail[0].push(walk.frame.resource(one.resource), interval, barrier);
        state.reads.clear();
        state.promised = None;
        state.visible.clear();
        state.layout = new_layout;
    }
    walk.last_uses
        .note(one.resource.0, point.queue, point.value, place);
    Mark {
        queue: point.queue,
        value: point.value,
        scope,
        ..*write
    }
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
