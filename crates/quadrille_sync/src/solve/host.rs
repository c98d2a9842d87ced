//! Phase `host`: passes that the host runs.
//!
//! A host pass waits for timeline values like a queue. What it reads has to be made visible to
//! the host by the queue that wrote it, after the write: at the end of the submission with the
//! write, or in the queue's window if that was in an earlier frame. What it overwrites likewise,
//! or a late write-back would win. Its own writes need nothing: submission makes them visible to
//! the device (section "Host Write Ordering Guarantees").

use std::ops::Range;

use super::barrier::{for_each_predecessor, source};
use super::ownership;
use super::record::Barrier;
use super::seen::see;
use super::split::HostDraft;
use super::timeline::{Numbers, Point, Timeline};
use super::track::{Maps, Mark, State};
use super::walk::{Hosted, Walk};
use crate::flags::{AccessMask, Layout, Stages};
use crate::frame::{PassIndex, Use};
use crate::plan::{HostStep, PassRef, Reason, RelativePoint, Rung, Scope};
use crate::range::intervals;
use crate::resource::ResourceIndex;
use crate::states::{EndPass, HostWait, Seen};

/// Reads by the host.
const HOST_READ: Scope = Scope {
    stages: Stages::HOST,
    access: AccessMask::HOST_READ,
};

/// The host passes on their way through the frame.
pub(super) struct Host<'a> {
    /// Those that have not been planned yet, in order.
    left: &'a [HostDraft],
    steps: Vec<HostStep>,
}

impl<'a> Host<'a> {
    pub(super) fn new(passes: &'a [HostDraft]) -> Self {
        Self {
            left: passes,
            steps: Vec::new(),
        }
    }

    /// Plans the host passes that come right before a submission, and says whether there are any.
    pub(super) fn run_before(
        &mut self,
        walk: &mut Walk<'_>,
        maps: &mut Maps,
        draft: usize,
    ) -> bool {
        let gates = self.left.iter();
        let count = gates
            .take_while(|host| host.before.is_some_and(|before| before <= draft))
            .count();
        let (now, left) = self.left.split_at(count);
        self.left = left;
        // Only numbered in the end: see `number`.
        let before = Some(walk.records.len() as u32);
        for host in now {
            let step = one_pass(walk, maps, host.pass, before);
            self.steps.push(step);
        }
        count > 0
    }

    /// Plans the host passes that no device pass comes after. What they touch may leave all the
    /// same, and is released once they have run.
    pub(super) fn run_rest(mut self, walk: &mut Walk<'_>, maps: &mut Maps) -> Vec<HostStep> {
        let uses = |host: &HostDraft| walk.frame.uses_of(host.pass);
        let mut uses = self.left.iter().flat_map(uses);
        let leaves = uses.any(|one| walk.is_given(one.resource));
        let before = leaves.then_some(walk.records.len() as u32);
        for host in self.left {
            self.steps.push(one_pass(walk, maps, host.pass, before));
        }
        if leaves {
            walk.open_windows();
        }
        self.steps
    }
}

/// Plans one host pass.
fn one_pass(
    walk: &mut Walk<'_>,
    maps: &mut Maps,
    pass: PassIndex,
    before: Option<u32>,
) -> HostStep {
    let frame = walk.frame;
    let mut step = HostStep {
        pass,
        waits: Vec::new(),
        before,
    };
    // What is declared to come before it has run on the device, whether they share anything or
    // not: a callback has no other way to know.
    for earlier in frame.after_of(pass) {
        if let Some(point) = walk.ran[earlier.0 as usize] {
            wait_for(&mut step, point);
        }
    }
    for one in frame.uses_of(pass) {
        let kind = &frame.resource(one.resource).kind;
        let map = &mut maps[one.resource.0 as usize];
        walk.hosted[one.resource.0 as usize] = Some(Hosted {
            pass,
            submissions: walk.records.len(),
        });
        intervals(kind, &one.range, |interval| {
            if !interval.is_empty() && frame.resource(one.resource).is_image() {
                ownership::settle_for_host(walk, (one.resource, pass), &interval, map);
            }
            map.update(interval, |interval, state| {
                advance(walk, &mut step, one, interval, state);
            });
        });
    }
    step
}

/// Drops waits that others imply, and numbers the rest.
pub(super) fn number(steps: &mut [HostStep], timeline: &Timeline, numbers: &Numbers) {
    for HostStep { waits, before, .. } in steps {
        *before = before.map(|before| numbers.place(before));
        *before = before.filter(|before| *before < numbers.count);
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
    // After a release, only another host pass can have written, which has waited for it already.
    let is_free = state.pending.is_some() && state.write.is_none() && state.reads.is_empty();
    if writes && !is_free {
        for_each_predecessor(state, |mark, _| {
            if !is_over(walk, state, mark) {
                wait(walk, step, mark);
            }
        });
    }
    let image = walk.frame.resource(one.resource).is_image();
    let layout_fits = !image || state.layout == one.access.layout();
    // Once the host can see a write, it can also overwrite it.
    let is_seen = |seen: &Seen| seen.scope.covers(HOST_READ);
    match state.write {
        None if layout_fits => {}
        Some(write) if layout_fits && state.visible.iter().any(is_seen) => {
            if state.host_wait != HostWait::Before {
                wait(walk, step, &write);
                state.host_wait = HostWait::Now;
            }
        }
        _ => {
            // Who may read may also write: either brings what the device wrote to the host.
            let reads = one.access.is_read() && !one.discard;
            let dst = Scope {
                stages: Stages::HOST,
                access: match reads {
                    true => AccessMask::HOST_READ,
                    false => AccessMask::HOST_WRITE,
                },
            };
            let mark = make_visible(walk, step.pass, one, dst, interval, state);
            wait(walk, step, &mark);
            see(state, mark.queue, dst);
            state.write = Some(mark);
            state.host_wait = HostWait::Now;
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

/// Whether an access is over: an earlier frame's host pass has waited for the last write, or for the
/// barrier that shows it to the host, and what its queue has done before is over with it.
fn is_over(walk: &mut Walk<'_>, state: &State, mark: &Mark) -> bool {
    let Some(write) = state.write.filter(|_| state.host_wait == HostWait::Before) else {
        return false;
    };
    if write != *mark {
        // A plan that hangs on which of two is the later one.
        walk.past.consult_exactly(mark);
        walk.past.consult_exactly(&write);
    }
    write.queue == mark.queue && mark.value <= write.value
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
    let place = place(walk, one.resource, state, changes);
    let point = walk.point(place);
    let src = sources(walk, place, &reason, state, changes);
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
        if walk.is_owned(one.resource) {
            // A transition is a use: it makes an owner of who is the first to have one.
            let family = walk.topology.family(point.queue);
            state.owner.get_or_insert(family);
        }
    } else {
        tail[1].merge(src, dst, reason);
    }
    walk.last_uses
        .note(one.resource.0, point.queue, point.value, place);
    mark
}

/// What a barrier at the end of a submission comes after, so that the host sees a range: the last
/// write, and if the layout changes all reads since.
fn sources(
    walk: &mut Walk<'_>,
    place: usize,
    reason: &Reason,
    state: &State,
    changes: bool,
) -> Scope {
    let queue = walk.point(place).queue;
    let mut src = Scope::default();
    let mut add = |mark: &Mark, memory: bool| {
        let one = match mark.queue == queue {
            true => source(mark, memory),
            false => {
                let earlier = walk.past.pass_ref(mark.pass);
                let reason = Reason {
                    earlier,
                    ..reason.clone()
                };
                walk.chain_late(place, mark, reason)
            }
        };
        src = src.union(one);
    };
    state.write.iter().for_each(|write| add(write, true));
    if changes {
        state.reads.iter().for_each(|read| add(read, false));
    }
    src
}

/// The submission at whose end the barrier for the host goes: the last of this frame that it has
/// to come after, or the window of the queue that wrote, read, or owns the range, or else will be
/// the next to use the resource.
fn place(walk: &Walk<'_>, resource: ResourceIndex, state: &State, changes: bool) -> usize {
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
    let next = || walk.next_queue(resource);
    let queue = mark.map(|mark| mark.queue).or_else(owning).or_else(next);
    walk.window(queue.unwrap_or_default())
}

/// Lets a host pass wait for an access.
fn wait(walk: &mut Walk<'_>, step: &mut HostStep, mark: &Mark) {
    walk.past.consult_exactly(mark);
    wait_for(step, mark.point());
}

/// Lets a host pass wait for a point.
fn wait_for(step: &mut HostStep, point: Point) {
    match step.waits.iter_mut().find(|wait| wait.queue == point.queue) {
        Some(wait) => wait.offset = wait.offset.max(point.value),
        None => step.waits.push(RelativePoint {
            queue: point.queue,
            offset: point.value,
        }),
    }
}
