//! Resource states while a frame is planned.

pub(super) mod blocks;
pub(super) mod clocks;
pub(super) mod numbers;
pub(super) mod predecessors;
pub(super) mod visibility;

use std::sync::Arc;

use smallvec::SmallVec;

use crate::frame::{Frame, PassIndex};
use crate::plan::PassRef;
use crate::range::{EVERYTHING, RangeMap};
use crate::resource::{Lifetime, Resource, ResourceIndex};
use crate::states::{
    EndBlock, EndPass, EndResource, EndStates, HostWait, PastAccess, RangeState, States,
};
use crate::topology::{FamilyIndex, QueueIndex};

use crate::solve::state::blocks::Blocks;
use crate::solve::state::clocks::Point;
use crate::solve::state::numbers::Numbers;

/// An access, while a frame is planned. Timeline values count from the start of the frame; see
/// [`clocks`](crate::solve::state::clocks).
pub(super) use crate::states::TrackedAccess;

impl TrackedAccess {
    /// Returns the timeline point to wait for.
    pub(super) fn point(&self) -> Point {
        Point {
            queue: self.queue,
            value: self.value,
        }
    }
}

/// The state of a range.
pub(super) type State = RangeState<TrackedAccess>;

/// The states of a frame's resources, by [`ResourceIndex`](crate::resource::ResourceIndex).
pub(super) type Maps = Vec<RangeMap<State>>;

/// The range states of a frame.
pub(super) struct Ranges {
    pub(super) maps: Maps,
    pub(super) blocks: Blocks,
}

/// Properties of an access before the frame that the plan depends on, for the plan cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Consulted {
    /// The queues, as bits, for which the plan depends on whether they are ordered after the access.
    pub(crate) by: u32,
    /// The plan contains the timeline value of the access.
    pub(crate) exact: bool,
}

/// Accesses before the frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Past<'a> {
    /// The names of the passes, by the index in [`EndPass::Start`].
    names: Vec<&'a Arc<str>>,
    pub(super) consulted: Vec<Consulted>,
    /// The first index of each resource.
    pub(super) first: Vec<u32>,
}

impl<'a> Past<'a> {
    /// Notes that the plan depends on whether a queue is ordered after an access.
    pub(super) fn consult(&mut self, tracked: &TrackedAccess, queue: QueueIndex) {
        if let Some(consulted) = self.consulted(tracked) {
            consulted.by |= 1 << queue.0;
        }
    }

    /// Notes that the value of an access is in the plan.
    pub(super) fn consult_exactly(&mut self, tracked: &TrackedAccess) {
        if let Some(consulted) = self.consulted(tracked) {
            consulted.exact = true;
        }
    }

    /// The index of the next access that is noted.
    pub(super) fn next(&self) -> u32 {
        self.names.len() as u32
    }

    /// Notes an access before the frame.
    pub(super) fn tracked(&mut self, states: &States, tracked: &'a PastAccess) -> TrackedAccess {
        let pass = EndPass::Start(self.next());
        self.names.push(&tracked.pass);
        // Values fit: they count submissions.
        let value = states.value(tracked.point) as i64 - states.base(tracked.point.queue) as i64;
        TrackedAccess {
            queue: tracked.point.queue,
            value,
            scope: tracked.scope,
            pass,
            step: 0,
        }
    }

    fn consulted(&mut self, tracked: &TrackedAccess) -> Option<&mut Consulted> {
        match tracked.pass {
            EndPass::Start(at) if tracked.value <= 0 => self.consulted.get_mut(at as usize),
            _ => None,
        }
    }

    /// Converts a pass to the form that reasons use.
    pub(super) fn pass_ref(&self, pass: EndPass) -> PassRef {
        match pass {
            EndPass::Pass(pass) => PassRef::Pass(pass),
            EndPass::Start(at) => PassRef::Earlier(Arc::clone(self.names[at as usize])),
            EndPass::Presentation => PassRef::Presentation,
            EndPass::None => PassRef::None,
        }
    }
}

/// Loads the states of a frame's resources, and of the blocks that some of them lie in.
pub(super) fn load<'a>(frame: &Frame, states: &'a States) -> (Ranges, Past<'a>) {
    let count = frame.resources.len();
    let mut past = Past::default();
    past.names.reserve(2 * count);
    past.first.reserve(count);
    let load = |resource: &Resource| {
        past.first.push(past.next());
        let stored = states.map(resource.id).filter(|_| resource.has_past());
        let Some(stored) = stored else {
            return RangeMap::new(State::fresh());
        };
        stored.map(|state| {
            let mut state = state.map(|tracked| past.tracked(states, tracked));
            state.previous_first = state.first.take();
            // Transient contents are lost between frames; layout and owner still hold.
            state.defined &= resource.lifetime != Lifetime::Transient;
            state
        })
    };
    let maps = frame.resources.iter().map(load).collect();
    let blocks = Blocks::load(frame, states, &mut past);
    past.consulted = vec![Consulted::default(); past.names.len()];
    (Ranges { maps, blocks }, past)
}

/// Whether a part of a resource has a pending acquire, or an external owner.
pub(super) fn is_away(map: &RangeMap<State>) -> bool {
    let outside = |state: &State| state.owner.is_some_and(FamilyIndex::is_outside);
    let mut is_away = false;
    map.for_each(|state| is_away |= state.rare.pending().is_some() || outside(state));
    is_away
}

/// A host pass that touched a resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hosted {
    pub(super) pass: PassIndex,
    /// The number of submissions before it.
    pub(super) submissions: usize,
}

/// The last uses of a frame's resources.
#[derive(Clone, Debug)]
pub(super) struct LastUses {
    queues: usize,
    /// Timeline values, by resource and queue; 0 for none.
    values: Vec<i64>,
    /// The last submission that uses each resource, counted from 1; 0 for none.
    submissions: Vec<u32>,
}

impl LastUses {
    pub(super) fn new(resources: usize, queues: usize) -> Self {
        let values = vec![0; resources * queues];
        Self {
            queues,
            values,
            submissions: vec![0; resources],
        }
    }

    /// Notes a use.
    #[inline]
    pub(super) fn note(&mut self, resource: u32, queue: QueueIndex, value: i64, submission: usize) {
        let last = &mut self.submissions[resource as usize];
        let submission = submission as u32 + 1;
        if *last == submission {
            return;
        }
        *last = (*last).max(submission);
        let last = &mut self.values[resource as usize * self.queues + usize::from(queue.0)];
        *last = (*last).max(value);
    }

    /// The last submission that uses a resource.
    pub(super) fn submission(&self, resource: u32) -> Option<usize> {
        let last = self.submissions[resource as usize];
        last.checked_sub(1).map(|last| last as usize)
    }

    /// The last value of each queue that uses a resource.
    fn of(&self, resource: u32) -> impl Iterator<Item = (QueueIndex, i64)> + '_ {
        let row = &self.values[resource as usize * self.queues..][..self.queues];
        let used = row.iter().enumerate().filter(|(_, value)| **value > 0);
        used.map(|(queue, value)| (QueueIndex(queue as u8), *value))
    }
}

/// Converts the range states of the frame to the end states of its resources.
pub(super) fn end_states(
    frame: &Frame,
    Ranges { maps, blocks }: Ranges,
    first: &[u32],
    (last_uses, hosted): (&LastUses, &[Option<Hosted>]),
    numbers: &Numbers,
) -> EndStates {
    let mut end = EndStates {
        maps,
        ..EndStates::default()
    };
    end.resources.reserve(frame.resources.len());
    for (at, (map, resource)) in end.maps.iter_mut().zip(&frame.resources).enumerate() {
        let index = at as u32;
        let touched = last_uses.submission(index).is_some() || hosted[at].is_some();
        let has_past = touched && resource.has_past();
        if has_past {
            map.update(EVERYTHING, |_, state| {
                end_state(state, first[at], numbers);
            })
        } else {
            *map = RangeMap::new(State::fresh())
        }
        if !touched {
            continue;
        }
        let mut uses = SmallVec::new();
        for (queue, value) in last_uses.of(index) {
            uses.push((queue, numbers.value(queue, value)));
        }
        end.resources.push(EndResource {
            resource: ResourceIndex(index),
            has_past,
            last_uses: uses,
        });
    }
    let blocks = blocks.list.iter().map(|block| {
        let tracked = |tracked: &TrackedAccess| {
            let mut tracked = *tracked;
            end_access(&mut tracked, block.first, numbers);
            tracked
        };
        EndBlock {
            block: block.id,
            map: (block.bytes).map(|accesses| accesses.iter().map(tracked).collect()),
        }
    });
    end.blocks = blocks.collect();
    end
}

/// Turns a state into an end state.
fn end_state(state: &mut State, first: u32, numbers: &Numbers) {
    state.for_each_mark_mut(|tracked| end_access(tracked, first, numbers));
    // Blocks keep the accesses of earlier occupants.
    state.rare.forget_aliased();
    if let Some(host) = state.rare.host_mut()
        && host.wait == HostWait::Now
    {
        host.wait = HostWait::Before;
    }
    let previous = state.previous_first.take();
    match &mut state.first {
        Some(first) => first.again = 0,
        None => state.first = previous,
    }
}

/// Turns an access into one of the end states. Indices of accesses before the frame become relative to
/// `first`, the first one of the same resource or block.
fn end_access(tracked: &mut TrackedAccess, first: u32, numbers: &Numbers) {
    // `commit` looks up accesses before the frame by index, so cached plans must not contain their
    // values.
    tracked.value = numbers.value(tracked.queue, tracked.value).max(0);
    tracked.step = 0;
    if let EndPass::Start(pass) = &mut tracked.pass {
        *pass -= first;
    }
}
