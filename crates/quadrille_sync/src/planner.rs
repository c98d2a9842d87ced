//! Cache of plans: in the steady state a comparison replaces [`plan`](crate::solve::plan).
//!
//! A plan can be reused for an equal frame and states that are equal in everything that the plan depends
//! on. Most parts of the states must be equal, but timeline points advance with every frame. A plan
//! depends on only two of their properties: whether a queue is already ordered after a point, and if not,
//! the offset of the point (the value of the wait). So [`solve`](crate::solve) records the properties that
//! it has used, and only these are compared. For example, a texture that was uploaded long ago, on a queue
//! that nothing waits for, does not invalidate a plan.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::error::PlanErrors;
use crate::frame::Frame;
use crate::plan::Plan;
use crate::range::RangeMap;
use crate::resource::{BlockId, Resource};
use crate::solve::{Consulted, solve};
use crate::states::{HasAccesses, PastAccess, RangeState, States, StreamOwnership, TimelinePoint};
use crate::topology::Topology;

mod worth;

use worth::{Worth, signature};

/// Number of cached plans: enough for resources that alternate with a period of up to eight frames, and
/// few enough to compare with all of them.
const CACHED_PLANS: usize = 8;

/// Result of [`Planner::plan`].
#[derive(Clone, Debug)]
pub struct Planned {
    /// The plan.
    pub plan: Arc<Plan>,
    /// Whether it is the cached plan of an earlier frame.
    pub reused: bool,
}

/// Plans frames, with a cache of the last plans.
///
/// ```
/// use quadrille_sync::access::Access;
/// use quadrille_sync::frame::{Frame, QueueRequest, Use};
/// use quadrille_sync::planner::Planner;
/// use quadrille_sync::resource::{Resource, ResourceId};
/// use quadrille_sync::states::States;
/// use quadrille_sync::text::parse_topology;
/// let topology = parse_topology("gct:1").unwrap();
/// let (mut planner, mut states) = (Planner::default(), States::default());
/// let mut frame = Frame::default();
/// let cells = frame.add_resource(Resource::buffer(ResourceId(0), "cells", 1024));
/// let write = [Use::whole(cells, Access::StorageWriteCompute)];
/// frame.add_pass("fill", QueueRequest::default(), &write, &[]);
/// for reused in [false, false, true] {
///     let planned = planner.plan(&frame, &topology, &states).unwrap();
///     assert_eq!(planned.reused, reused);
///     states.commit(&frame, &topology, &planned.plan);
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Planner {
    /// The most recently used plan is the first.
    cached: VecDeque<CachedPlan>,
    /// Counter of distinct frames.
    frames: u64,
    /// The number of the frame planned last; `None` if planning failed, or its plan was not cached.
    last: Option<u64>,
    worth: Worth,
}

impl Planner {
    /// Returns a plan for the frame: a cached one if it is valid, else a new one.
    ///
    /// # Errors
    /// Fails as [`plan`](crate::solve::plan) does.
    pub fn plan(
        &mut self,
        frame: &Frame,
        topology: &Topology,
        states: &States,
    ) -> Result<Planned, PlanErrors> {
        self.last = None;
        let (number, signature) = self.number_of(frame, topology);
        let fits = |cached: &CachedPlan| {
            Some(cached.number) == number && (states.repeat(&cached.plan) || cached.fits(states))
        };
        let found = self.cached.iter().position(fits);
        if let Some(cached) = found.and_then(|at| self.cached.remove(at)) {
            let plan = cached.plan.clone();
            self.last = Some(cached.number);
            self.cached.push_front(cached);
            self.worth.note_reuse();
            return Ok(Planned { plan, reused: true });
        }
        let solved = solve(frame, topology, states)?;
        let plan = Arc::new(solved.plan);
        if number.is_some() || self.worth.is_worth(signature) {
            let number = number.unwrap_or_else(|| {
                self.frames += 1;
                self.frames
            });
            let start = Start::new(frame, topology, states, &plan);
            self.last = Some(number);
            self.cache(frame, |frame| CachedPlan {
                number,
                signature,
                frame,
                topology: topology.clone(),
                start,
                consulted: solved.consulted,
                plan: plan.clone(),
            });
        } else {
            // The least recently used plan is dropped, as if the frame had been kept.
            self.cached.pop_back();
        }
        Ok(Planned {
            plan,
            reused: false,
        })
    }

    /// Caches a plan with a copy of its frame, and evicts the least recently used one.
    fn cache(&mut self, frame: &Frame, cached: impl FnOnce(Frame) -> CachedPlan) {
        let last = self.cached.len().min(CACHED_PLANS - 1);
        let oldest = self.cached.split_off(last).pop_front();
        // Reuse the memory of the evicted frame.
        let mut copy = oldest.map(|cached| cached.frame).unwrap_or_default();
        copy.clone_from(frame);
        self.cached.push_front(cached(copy));
    }

    /// Returns the number of an equal cached frame with this topology, and the frame's signature.
    fn number_of(&self, frame: &Frame, topology: &Topology) -> (Option<u64>, u64) {
        let is_same = |cached: &&CachedPlan| cached.frame == *frame && cached.topology == *topology;
        // Fast path: usually it is the most recent frame.
        if let Some(cached) = self.cached.front().filter(is_same) {
            return (Some(cached.number), cached.signature);
        }
        let signature = signature(frame);
        let others = self.cached.iter().skip(1);
        let mut others = others.filter(|cached| cached.signature == signature);
        let number = others.find(is_same).map(|cached| cached.number);
        (number, signature)
    }

    /// Returns a cached plan for the frame of the last call of [`Planner::plan`], if one is
    /// valid. Skips the comparison of the frame, which the caller must know to be equal.
    pub fn plan_again(&mut self, topology: &Topology, states: &States) -> Option<Planned> {
        let number = self.last?;
        let is_same = |cached: &CachedPlan| cached.number == number && cached.topology == *topology;
        // If the last plan was committed often enough, it is valid without a comparison.
        let front = self.cached.front().filter(|cached| is_same(cached));
        if let Some(cached) = front.filter(|cached| states.repeat(&cached.plan)) {
            let plan = cached.plan.clone();
            self.worth.note_reuse();
            return Some(Planned { plan, reused: true });
        }
        let fits = |cached: &CachedPlan| is_same(cached) && cached.fits(states);
        let found = self.cached.iter().position(fits)?;
        let cached = self.cached.remove(found)?;
        let plan = cached.plan.clone();
        self.cached.push_front(cached);
        self.worth.note_reuse();
        Some(Planned { plan, reused: true })
    }
}

/// A cached plan with its inputs.
#[derive(Clone, Debug)]
struct CachedPlan {
    /// Equal frames have equal numbers.
    number: u64,
    /// See [`signature`].
    signature: u64,
    frame: Frame,
    topology: Topology,
    start: Start,
    consulted: Vec<Consulted>,
    plan: Arc<Plan>,
}

/// The states that a plan was solved from: those of the frame's resources, and the clocks.
#[derive(Clone, Debug)]
struct Start {
    maps: Vec<Option<Arc<RangeMap<RangeState<PastAccess>>>>>,
    stream_ownerships: Vec<StreamOwnership>,
    /// The blocks of the frame's resources.
    blocks: Vec<(BlockId, Option<RangeMap<Vec<PastAccess>>>)>,
    /// States without resources: bases and clocks.
    clocks: States,
}

impl Start {
    fn new(frame: &Frame, topology: &Topology, states: &States, plan: &Plan) -> Self {
        let maps = frame
            .resources
            .iter()
            .map(|resource| states.map(resource.id).cloned());
        let stream_ownerships = frame.resources.iter();
        let blocks = plan.end.blocks.iter();
        let blocks = blocks.map(|end| (end.block, states.block(end.block).cloned()));
        Self {
            maps: maps.collect(),
            blocks: blocks.collect(),
            stream_ownerships: stream_ownerships
                .map(|it| states.stream_ownership(it.id))
                .collect(),
            clocks: states.clocks(topology.queues.len()),
        }
    }
}

impl CachedPlan {
    /// Whether the cached plan equals the result of [`plan`](crate::solve::plan) from these states, and commits
    /// to the same states. In rare cases it has more waits than that result: if queues have become ordered
    /// since in ways that the plan does not depend on.
    fn fits(&self, states: &States) -> bool {
        let stream_ownerships = self
            .frame
            .resources
            .iter()
            .map(|it| states.stream_ownership(it.id));
        if !stream_ownerships.eq(self.start.stream_ownerships.iter().copied()) {
            return false;
        }
        // An id that was reused for another kind of resource is an error, so no plan is valid.
        let is_other = |it: &Resource| states.kind(it.id).is_some_and(|kind| kind != it.kind);
        if self.frame.resources.iter().any(is_other) {
            return false;
        }
        let mut consulted = self.consulted.iter();
        let mut comparison = AccessComparison {
            cached: self,
            states,
            consulted: &mut consulted,
        };
        let resources = self.frame.resources.iter().zip(&self.start.maps);
        let resources = resources.filter(|(resource, _)| resource.has_past());
        for (resource, old) in resources {
            let new = states.map(resource.id);
            let (old, new) = (old.as_deref(), new.map(Arc::as_ref));
            if !comparison.maps_agree(old, new, AccessComparison::states_agree) {
                return false;
            }
        }
        let mut blocks = self.start.blocks.iter();
        blocks.all(|(id, old)| {
            comparison.maps_agree(old.as_ref(), states.block(*id), |comparison, old, new| {
                comparison.lists_agree(old, new)
            })
        })
    }
}

/// Comparison of accesses before the frame, in the order of [`CachedPlan::consulted`].
struct AccessComparison<'a, 'b> {
    cached: &'a CachedPlan,
    states: &'a States,
    consulted: &'b mut std::slice::Iter<'a, Consulted>,
}

impl AccessComparison<'_, '_> {
    fn maps_agree<T: HasAccesses<PastAccess>>(
        &mut self,
        old: Option<&RangeMap<T>>,
        new: Option<&RangeMap<T>>,
        agree: fn(&mut Self, &T, &T) -> bool,
    ) -> bool {
        let (Some(old), Some(new)) = (old, new) else {
            return old.is_none() && new.is_none();
        };
        old.len() == new.len()
            && old
                .iter()
                .zip(new.iter())
                .all(|((old_range, old), (new_range, new))| {
                    old_range == new_range && agree(self, old, new)
                })
    }

    fn lists_agree(&mut self, old: &[PastAccess], new: &[PastAccess]) -> bool {
        old.len() == new.len()
            && old
                .iter()
                .zip(new)
                .all(|(old, new)| self.access_agrees(old, new))
    }

    fn states_agree(&mut self, old: &RangeState<PastAccess>, new: &RangeState<PastAccess>) -> bool {
        let pending = |state: &RangeState<PastAccess>| {
            let pending = state.rare.pending();
            let transfer = pending.map(|it| (it.from, it.to, it.old_layout, it.new_layout));
            (transfer, pending.map(|it| it.range))
        };
        let host_wait = |state: &RangeState<PastAccess>| state.rare.host().map(|host| host.wait);
        old.owner == new.owner
            && old.layout == new.layout
            && old.defined == new.defined
            && old.visible == new.visible
            && host_wait(old) == host_wait(new)
            && old.first == new.first
            && old.write.is_some() == new.write.is_some()
            && old.reads.len() == new.reads.len()
            && old.rare.promised().is_some() == new.rare.promised().is_some()
            && pending(old) == pending(new)
            && old
                .accesses()
                .zip(new.accesses())
                .all(|(old, new)| self.access_agrees(old, new))
    }

    fn access_agrees(&mut self, old: &PastAccess, new: &PastAccess) -> bool {
        let Some(consulted) = self.consulted.next() else {
            return false;
        };
        old.point.queue == new.point.queue
            && old.scope == new.scope
            && old.pass == new.pass
            && self.point_agrees(old.point, new.point, *consulted)
    }

    /// Whether all properties of a point that the plan depends on are unchanged.
    fn point_agrees(&self, old: TimelinePoint, new: TimelinePoint, consulted: Consulted) -> bool {
        if consulted == Consulted::default() {
            return true;
        }
        let (clocks, topology) = (&self.cached.start.clocks, &self.cached.topology);
        let offset = |states: &States, point: TimelinePoint| {
            states.base(point.queue) as i64 - states.value(point) as i64
        };
        let (old_value, new_value) = (clocks.value(old), self.states.value(new));
        let mut exact = consulted.exact;
        for queue in topology.indices() {
            let known_old = clocks.clock_entry(queue, old.queue);
            let known_new = self.states.clock_entry(queue, new.queue);
            let is_known = known_old.value >= old_value;
            // Waits are transitive, so the clock of every queue counts.
            if is_known != (known_new.value >= new_value) {
                return false;
            }
            if consulted.by & (1 << queue.0) != 0 {
                exact |= !is_known;
                if is_known && known_old.stages != known_new.stages {
                    return false;
                }
            }
        }
        !exact || offset(clocks, old) == offset(self.states, new)
    }
}

#[cfg(test)]
mod tests;
