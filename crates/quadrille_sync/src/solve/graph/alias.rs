//! Phase `alias`: hazards between transient resources that share memory.
//!
//! Resources whose bytes in a block overlap occupy the memory one after the other, sorted by their
//! first use in declared order. All uses of one precede all uses of the next: these are hazards, like
//! those on one resource. If two of these lifetimes overlap in time, that is an error: the frame needs
//! the contents of both at once.

use std::ops::Range;

use crate::error::PlanError;
use crate::frame::{Frame, PassKind};
use crate::range::{EVERYTHING, RangeMap};
use crate::resource::{Placement, ResourceIndex};
use crate::solve::graph::hazard::Hazard;
use crate::solve::graph::ranks;
use crate::solve::graph::touch::{Member, Span, Touches};
use crate::topology::QueueIndex;

/// The lifetime of a resource that occupies bytes of a block for a part of the frame.
#[derive(Debug)]
struct Turn {
    resource: ResourceIndex,
    place: Placement,
    /// The ranks of the first and the last pass that uses it.
    first: u32,
    last: u32,
    /// The first users: passes that no other user of the same range precedes.
    enter: Vec<u32>,
    /// The last users: passes that no other user of the same range follows.
    leave: Vec<u32>,
    /// The length of all touched intervals of the resource.
    touched: u64,
}

/// The hazards between users of different resources in the same memory. `touches` is sorted by
/// `order`; culled passes, which have no queue, touch nothing.
pub(crate) fn alias(
    frame: &Frame,
    touches: &Touches,
    order: &[u32],
    queues: &[Option<QueueIndex>],
    errors: &mut Vec<PlanError>,
) -> Vec<Hazard> {
    let mut hazards = Vec::new();
    if frame.resources.iter().all(|it| it.memory.is_none()) {
        return hazards;
    }
    let mut turns = turns(frame, touches, &ranks(order), queues);
    turns.sort_by_key(|turn| (turn.place.block, turn.first, turn.resource));
    for block in turns.chunk_by(|a, b| a.place.block == b.place.block) {
        // By byte: the occupants so far. An occupant that is touched as a whole replaces earlier ones.
        let mut map: RangeMap<Vec<u32>> = RangeMap::new(Vec::new());
        for (at, turn) in (0..).zip(block) {
            let mut before: Vec<u32> = Vec::new();
            map.update(turn.place.range(), |_, present| {
                let new = present.iter().filter(|other| !before.contains(other));
                before.extend(&new.copied().collect::<Vec<_>>());
                if turn.is_whole() {
                    present.clear();
                }
                present.push(at);
            });
            for other in before.iter().map(|other| &block[*other as usize]) {
                if other.last >= turn.first {
                    errors.push(overlap(frame, order, other, turn));
                    continue;
                }
                let pairs = other.leave.iter();
                let pairs = pairs.flat_map(|from| turn.enter.iter().map(move |to| (*from, *to)));
                hazards.extend(pairs);
            }
        }
    }
    hazards
}

/// The lifetimes of all resources in blocks that any pass uses.
fn turns(
    frame: &Frame,
    touches: &Touches,
    rank: &[u32],
    queues: &[Option<QueueIndex>],
) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let is_culled = |pass: u32| {
        let is_device = frame.passes[pass as usize].kind == PassKind::Device;
        is_device && queues[pass as usize].is_none()
    };
    // Spans are sorted by resource.
    for (span, members) in touches.spans() {
        let Some(place) = frame.resource(span.resource).memory else {
            continue;
        };
        let members = members.iter().copied();
        let members: Vec<Member> = members.filter(|it| !is_culled(it.pass)).collect();
        let (Some(first), Some(last)) = (members.first(), members.last()) else {
            continue;
        };
        let rank_of = |member: &Member| rank[member.pass as usize];
        let (first, last) = (rank_of(first), rank_of(last));
        let known = turns.last().is_some_and(|it| it.resource == span.resource);
        if !known {
            turns.push(Turn {
                resource: span.resource,
                place,
                first,
                last,
                enter: Vec::new(),
                leave: Vec::new(),
                touched: 0,
            });
        }
        let Some(turn) = turns.last_mut() else {
            unreachable!("a turn has just been added");
        };
        (turn.first, turn.last) = (turn.first.min(first), turn.last.max(last));
        turn.touch(span, &members);
    }
    turns
}

impl Turn {
    /// Adds the users of a span.
    fn touch(&mut self, span: &Span, members: &[Member]) {
        let Range { start, end } = span.interval;
        self.touched += end - start;
        let reads_first = members.iter().take_while(|it| !it.writes).count();
        let reads_last = members.iter().rev().take_while(|it| !it.writes).count();
        let mut add = |list: fn(&mut Self) -> &mut Vec<u32>, members: &[Member]| {
            for pass in members.iter().map(|member| member.pass) {
                let list = list(self);
                if !list.contains(&pass) {
                    list.push(pass);
                }
            }
        };
        add(|turn| &mut turn.enter, &members[..reads_first.max(1)]);
        let before = members.len() - reads_last.max(1);
        add(|turn| &mut turn.leave, &members[before..]);
    }

    /// Whether all of the resource is touched.
    fn is_whole(&self) -> bool {
        self.touched == EVERYTHING.end
    }
}

/// The error for two lifetimes that overlap in time.
fn overlap(frame: &Frame, order: &[u32], one: &Turn, other: &Turn) -> PlanError {
    let resource = |turn: &Turn| frame.resource(turn.resource).name.clone();
    let pass = |rank: u32| frame.passes[order[rank as usize] as usize].name.clone();
    let (a, b) = (one.place.range(), other.place.range());
    PlanError::AliasedAtOnce {
        resource: resource(one),
        user: pass(one.last),
        other: resource(other),
        other_user: pass(other.first),
        block: one.place.block,
        bytes: a.start.max(b.start)..a.end.min(b.end),
    }
}
