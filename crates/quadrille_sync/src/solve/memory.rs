//! Offsets of transient resources in memory: resources with disjoint lifetimes share bytes.
//!
//! Two resources may share bytes if all passes that use one already precede all passes that use
//! the other:
//!
//! - by any order, declared or inferred, if all of these passes are on one queue: sharing costs a
//!   barrier at most;
//! - else by hazards, and only if both are used on the same queues. Order between queues without a
//!   hazard costs nothing, and sharing must not turn it into a wait, neither in this frame nor from
//!   it to the next.
//!
//! A resource that has an offset already keeps it if possible. The others are placed by size, the
//! largest first, each at the lowest offset that fits (first fit decreasing). If no resource keeps
//! its offset, the result is never larger than without sharing. Optimal packing is NP-hard (dynamic
//! storage allocation).

use std::cmp::Reverse;
use std::ops::Range;

use crate::error::PlanErrors;
use crate::frame::{Frame, PassKind};
use crate::resource::{Lifetime, ResourceIndex};
use crate::solve::graph::range_uses::RangeUses;
use crate::solve::graph::{Graph, ranks};
use crate::solve::graph::{cull, depend, hazard, order, range_uses, timelines};
use crate::solve::schedule::assign;
use crate::solve::validate::check_shape;
use crate::states::States;
use crate::topology::{QueueIndex, Topology};

/// The memory that a transient resource needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryNeed {
    /// The resource.
    pub resource: ResourceIndex,
    /// Its bytes; at least 1.
    pub bytes: u64,
    /// The alignment of its offset, in bytes; at least 1.
    pub alignment: u64,
    /// The kind of memory, as any number: only resources of equal class can share.
    pub class: u32,
    /// The current offset, if any. It is kept if possible, so that the resource need not be created
    /// again. The amount of sharing then depends on earlier offsets.
    pub now: Option<u64>,
}

/// The memory of all resources of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockNeed {
    /// The class.
    pub class: u32,
    /// The size of the block, in bytes.
    pub bytes: u64,
    /// The largest alignment of any of them, in bytes.
    pub alignment: u64,
}

/// Where transient resources lie: see [`plan_memory`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryPlan {
    /// For each need, the offset in the block of its class, in bytes. None for a resource that cannot
    /// lie in a block, because it is not transient or the host uses it.
    pub offsets: Vec<Option<u64>>,
    /// One block for each class, in the order in which needs name them.
    pub blocks: Vec<BlockNeed>,
    /// The size of all blocks without sharing, in bytes.
    pub unshared_bytes: u64,
}

impl MemoryPlan {
    /// The bytes of all blocks.
    pub fn bytes(&self) -> u64 {
        self.blocks.iter().map(|block| block.bytes).sum()
    }
}

/// Finds an offset for each transient resource of a frame. With the resulting
/// [`Placement`](crate::resource::Placement)s, [`plan`](crate::solve::plan) reports no errors of aliasing and adds no
/// waits between queues.
///
/// A pure function: the same frame, topology and needs give the same offsets. Placements in the frame
/// itself are ignored.
///
/// ```
/// use quadrille_sync::resource::ResourceIndex;
/// use quadrille_sync::solve::{MemoryNeed, plan_memory};
/// use quadrille_sync::text::{parse_frame, parse_topology};
/// let topology = parse_topology("gct:1").unwrap();
/// let frame = parse_frame("
/// buffer rough 0 bytes 64 transient
/// buffer kept 1 bytes 64
/// buffer smooth 2 bytes 64 transient
/// pass fill
///   CopyWrite rough
/// pass copy
///   CopyRead rough
///   CopyWrite kept
/// pass again
///   CopyRead kept
///   CopyWrite smooth
/// ").unwrap();
/// let need = |at| MemoryNeed {
///     resource: ResourceIndex(at),
///     bytes: 64,
///     alignment: 16,
///     class: 0,
///     now: None,
/// };
/// let places = plan_memory(&frame, &topology, &[need(0), need(2)]).unwrap();
/// assert_eq!(places.offsets, [Some(0), Some(0)]);
/// assert_eq!((places.bytes(), places.unshared_bytes), (64, 128));
/// ```
///
/// # Errors
/// Lists defects of the frame's order; [`plan`](crate::solve::plan) lists the same, and more.
pub fn plan_memory(
    frame: &Frame,
    topology: &Topology,
    needs: &[MemoryNeed],
) -> Result<MemoryPlan, PlanErrors> {
    let lifetimes = LifetimeOrder::new(frame, topology, needs)?;
    let mut places = MemoryPlan {
        offsets: vec![None; needs.len()],
        ..MemoryPlan::default()
    };
    let mut by_size: Vec<usize> = (0..needs.len())
        .filter(|at| lifetimes.is_fit(*at))
        .collect();
    by_size.sort_by_key(|at| (needs[*at].now.is_none(), Reverse(needs[*at].bytes), *at));
    for need in by_size.iter().map(|at| &needs[*at]) {
        if !places.blocks.iter().any(|it| it.class == need.class) {
            places.blocks.push(BlockNeed {
                class: need.class,
                bytes: 0,
                alignment: 1,
            });
        }
    }
    for block in &mut places.blocks {
        // The offset of each resource, and the size of the block without sharing.
        let mut placed: Vec<(usize, Range<u64>)> = Vec::new();
        let mut unshared: u64 = 0;
        for at in by_size.iter().copied() {
            let need = &needs[at];
            if need.class != block.class {
                continue;
            }
            let alignment = need.alignment.max(1);
            let others = placed.iter();
            let others = others.filter(|(other, _)| !lifetimes.may_share(*other, at));
            let taken: Vec<Range<u64>> = others.map(|(_, range)| range.clone()).collect();
            let stays = |offset: &u64| {
                let end = offset.saturating_add(need.bytes);
                let mut taken = taken.iter();
                let is_free = taken.all(|other| end <= other.start || other.end <= *offset);
                offset.is_multiple_of(alignment) && is_free
            };
            let stays = need.now.filter(stays);
            let offset = stays.unwrap_or_else(|| first_fit(need.bytes, alignment, taken));
            let end = offset.saturating_add(need.bytes);
            placed.push((at, offset..end));
            places.offsets[at] = Some(offset);
            block.bytes = block.bytes.max(end);
            block.alignment = block.alignment.max(alignment);
            unshared = align(unshared, alignment).saturating_add(need.bytes);
        }
        places.unshared_bytes = places.unshared_bytes.saturating_add(unshared);
    }
    Ok(places)
}

/// The lowest aligned offset at which `bytes` overlap none of the ranges.
fn first_fit(bytes: u64, alignment: u64, mut taken: Vec<Range<u64>>) -> u64 {
    taken.sort_by_key(|range| range.start);
    let mut offset: u64 = 0;
    for range in taken {
        if offset.saturating_add(bytes) <= range.start {
            break;
        }
        offset = offset.max(align(range.end, alignment));
    }
    offset
}

/// Rounds an offset up to a multiple of the alignment.
fn align(offset: u64, alignment: u64) -> u64 {
    offset
        .checked_next_multiple_of(alignment)
        .unwrap_or(u64::MAX)
}

/// Order of the lifetimes of resources, without regard to shared memory.
struct LifetimeOrder {
    /// Whether each need can lie in a block at all.
    fit: Vec<bool>,
    /// For each pair of needs, row by row, whether all users of the one precede all users of the
    /// other.
    before: Vec<bool>,
}

impl LifetimeOrder {
    fn new(frame: &Frame, topology: &Topology, needs: &[MemoryNeed]) -> Result<Self, PlanErrors> {
        check_shape(frame, topology, &States::default())?;
        let mut errors = Vec::new();
        let mut uses = range_uses::range_uses(frame);
        let mut graph = depend::depend(frame, &uses, &mut errors);
        timelines::order_by_timelines(frame, &mut graph, &mut errors);
        let Some(order) = order::order(frame, &graph, &mut errors) else {
            PlanErrors::check(errors)?;
            unreachable!("a missing order is an error");
        };
        uses.sort(&order);
        let kept = cull::cull(frame, &uses);
        let queues = assign::assign(frame, topology, &graph, &order, &kept, &mut errors);
        PlanErrors::check(errors)?;
        let hazards = hazard::hazards(frame, topology, &uses, &queues, None);
        let hazards = Graph::of(order.len(), hazards);
        let users = Users::new(frame, &uses, &queues, needs);
        let fit = (needs.iter().zip(&users.by_host)).map(|(need, by_host)| {
            let resource = frame.resources.get(need.resource.0 as usize);
            let is_transient = resource.is_some_and(|it| it.lifetime == Lifetime::Transient);
            is_transient && !by_host && need.bytes > 0
        });
        Ok(Self {
            fit: fit.collect(),
            before: before(&users, &order, &graph, &hazards),
        })
    }

    fn is_fit(&self, need: usize) -> bool {
        self.fit[need]
    }

    fn may_share(&self, one: usize, other: usize) -> bool {
        let count = self.fit.len();
        self.before[one * count + other] || self.before[other * count + one]
    }
}

/// The passes that use each resource.
struct Users {
    /// By need: its passes, each once.
    passes: Vec<Vec<u32>>,
    /// By need: the queues of its passes, as bits.
    queues: Vec<u32>,
    by_host: Vec<bool>,
}

impl Users {
    fn new(
        frame: &Frame,
        uses: &RangeUses,
        queues: &[Option<QueueIndex>],
        needs: &[MemoryNeed],
    ) -> Self {
        let mut users = Self {
            passes: vec![Vec::new(); needs.len()],
            queues: vec![0; needs.len()],
            by_host: vec![false; needs.len()],
        };
        let mut need_of = vec![None; frame.resources.len()];
        for (at, need) in needs.iter().enumerate() {
            if let Some(slot) = need_of.get_mut(need.resource.0 as usize) {
                *slot = Some(at);
            }
        }
        for (span, members) in uses.spans() {
            let Some(need) = need_of[span.resource.0 as usize] else {
                continue;
            };
            for pass in members.iter().map(|member| member.pass) {
                let is_host = frame.passes[pass as usize].kind == PassKind::Host;
                users.by_host[need] |= is_host;
                let Some(queue) = queues[pass as usize] else {
                    continue;
                };
                users.queues[need] |= 1 << queue.0;
                if !users.passes[need].contains(&pass) {
                    users.passes[need].push(pass);
                }
            }
        }
        users
    }
}

/// For each pair of needs, whether all users of the one precede all users of the other.
fn before(users: &Users, order: &[u32], graph: &Graph, hazards: &Graph) -> Vec<bool> {
    let rank = ranks(order);
    let count = users.passes.len();
    let mut before = vec![false; count * count];
    let rank_of = |pass: &u32| rank[*pass as usize];
    let first = |need: usize| users.passes[need].iter().map(rank_of).min();
    let last = |need: usize| users.passes[need].iter().map(rank_of).max();
    let (mut by_hazards, mut by_order) = (Queries::default(), Queries::default());
    for one in 0..count {
        for other in (0..count).filter(|other| *other != one) {
            let is_possible = match (last(one), first(other)) {
                (Some(last), Some(first)) => last < first,
                // A resource without users has no lifetime.
                _ => true,
            };
            if !is_possible || users.queues[one] != users.queues[other] {
                let is_unused = users.passes[one].is_empty() || users.passes[other].is_empty();
                before[one * count + other] = is_unused;
                continue;
            }
            before[one * count + other] = true;
            let is_one_queue = users.queues[one].count_ones() < 2;
            let queries = if is_one_queue {
                &mut by_order
            } else {
                &mut by_hazards
            };
            let (first, second) = (&users.passes[one], &users.passes[other]);
            queries.add(one * count + other, first, second);
        }
    }
    for (graph, Queries { about, pairs }) in [(hazards, by_hazards), (graph, by_order)] {
        for (about, reached) in about.into_iter().zip(graph.reaches(order, &pairs)) {
            before[about] &= reached;
        }
    }
    before
}

/// Reachability queries to a graph.
#[derive(Default)]
struct Queries {
    /// By query: the index of its pair of needs.
    about: Vec<usize>,
    /// By query: two passes, of which the first has to precede the second.
    pairs: Vec<(u32, u32)>,
}

impl Queries {
    /// Asks whether all of the first passes precede all of the second.
    fn add(&mut self, about: usize, first: &[u32], second: &[u32]) {
        for from in first {
            self.pairs.extend(second.iter().map(|to| (*from, *to)));
        }
        self.about.resize(self.pairs.len(), about);
    }
}

#[cfg(test)]
mod tests;
