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
use crate::solve::graph::range_uses::{Member, RangeUses, Span};
use crate::solve::graph::ranks;
use crate::topology::QueueIndex;

/// The lifetime of a resource that occupies bytes of a block for a part of the frame.
#[derive(Debug)]
struct Occupancy {
    resource: ResourceIndex,
    placement: Placement,
    /// The ranks of the first and the last pass that uses it.
    first: u32,
    last: u32,
    /// The first users: passes that no other user of the same range precedes.
    enter: Vec<u32>,
    /// The last users: passes that no other user of the same range follows.
    leave: Vec<u32>,
    /// The length of all touched intervals of the resource.
    used: u64,
}

/// The hazards between users of different resources in the same memory. `uses` is sorted by
/// `order`; culled passes, which have no queue, touch nothing.
pub(crate) fn alias(
    frame: &Frame,
    uses: &RangeUses,
    order: &[u32],
    queues: &[Option<QueueIndex>],
    errors: &mut Vec<PlanError>,
) -> Vec<Hazard> {
    let mut hazards = Vec::new();
    if frame.resources.iter().all(|it| it.memory.is_none()) {
        return hazards;
    }
    let mut occupancies = occupancies(frame, uses, &ranks(order), queues);
    occupancies.sort_by_key(|occupancy| {
        (
            occupancy.placement.block,
            occupancy.first,
            occupancy.resource,
        )
    });
    for block in occupancies.chunk_by(|a, b| a.placement.block == b.placement.block) {
        // By byte: the occupants so far. An occupant that is touched as a whole replaces earlier ones.
        let mut map: RangeMap<Vec<u32>> = RangeMap::new(Vec::new());
        for (at, occupancy) in (0..).zip(block) {
            let mut before: Vec<u32> = Vec::new();
            map.update(occupancy.placement.range(), |_, present| {
                let new = present.iter().filter(|other| !before.contains(other));
                before.extend(&new.copied().collect::<Vec<_>>());
                if occupancy.is_whole() {
                    present.clear();
                }
                present.push(at);
            });
            for other in before.iter().map(|other| &block[*other as usize]) {
                if other.last >= occupancy.first {
                    errors.push(overlap(frame, order, other, occupancy));
                    continue;
                }
                let pairs = other.leave.iter();
                let pairs =
                    pairs.flat_map(|from| occupancy.enter.iter().map(move |to| (*from, *to)));
                hazards.extend(pairs);
            }
        }
    }
    hazards
}

/// The lifetimes of all resources in blocks that any pass uses.
fn occupancies(
    frame: &Frame,
    uses: &RangeUses,
    rank: &[u32],
    queues: &[Option<QueueIndex>],
) -> Vec<Occupancy> {
    let mut occupancies: Vec<Occupancy> = Vec::new();
    let is_culled = |pass: u32| {
        let is_device = frame.passes[pass as usize].kind == PassKind::Device;
        is_device && queues[pass as usize].is_none()
    };
    // Spans are sorted by resource.
    for (span, members) in uses.spans() {
        let Some(placement) = frame.resource(span.resource).memory else {
            continue;
        };
        let members = members.iter().copied();
        let members: Vec<Member> = members.filter(|it| !is_culled(it.pass)).collect();
        let (Some(first), Some(last)) = (members.first(), members.last()) else {
            continue;
        };
        let rank_of = |member: &Member| rank[member.pass as usize];
        let (first, last) = (rank_of(first), rank_of(last));
        let known = occupancies
            .last()
            .is_some_and(|it| it.resource == span.resource);
        if !known {
            occupancies.push(Occupancy {
                resource: span.resource,
                placement,
                first,
                last,
                enter: Vec::new(),
                leave: Vec::new(),
                used: 0,
            });
        }
        let Some(occupancy) = occupancies.last_mut() else {
            unreachable!("a turn has just been added");
        };
        (occupancy.first, occupancy.last) = (occupancy.first.min(first), occupancy.last.max(last));
        occupancy.add_span(span, &members);
    }
    occupancies
}

impl Occupancy {
    /// Adds the users of a span.
    fn add_span(&mut self, span: &Span, members: &[Member]) {
        let Range { start, end } = span.interval;
        self.used += end - start;
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
        add(
            |occupancy| &mut occupancy.enter,
            &members[..reads_first.max(1)],
        );
        let before = members.len() - reads_last.max(1);
        add(|occupancy| &mut occupancy.leave, &members[before..]);
    }

    /// Whether all of the resource is touched.
    fn is_whole(&self) -> bool {
        self.used == EVERYTHING.end
    }
}

/// The error for two lifetimes that overlap in time.
fn overlap(frame: &Frame, order: &[u32], one: &Occupancy, other: &Occupancy) -> PlanError {
    let resource = |occupancy: &Occupancy| frame.resource(occupancy.resource).name.clone();
    let pass = |rank: u32| frame.passes[order[rank as usize] as usize].name.clone();
    let (a, b) = (one.placement.range(), other.placement.range());
    PlanError::AliasedAtOnce {
        resource: resource(one),
        user: pass(one.last),
        other: resource(other),
        other_user: pass(other.first),
        block: one.placement.block,
        bytes: a.start.max(b.start)..a.end.min(b.end),
    }
}
