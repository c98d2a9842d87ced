//! Advance of states by a plan: rebuilt, or updated in place if the same plan is committed again.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{
    ClockEntry, EndPass, EndResource, EndStates, Entry, HasAccesses, PastAccess, RangeState,
    States, TimelinePoint, TrackedAccess,
};
use crate::flags::Stages;
use crate::frame::Frame;
use crate::plan::Plan;
use crate::range::RangeMap;
use crate::resource::Resource;
use crate::topology::{QueueIndex, Topology};

/// The state of a resource at the end of a frame.
type EndMap = RangeMap<RangeState<TrackedAccess>>;

impl States {
    /// Advances the states by a plan. Call it once the whole plan has been submitted, with the frame and
    /// topology that the plan was made for. Do not call it for a frame that failed: its plan has no
    /// effect then.
    pub fn commit(&mut self, frame: &Frame, topology: &Topology, plan: &Plan) {
        let again = self.steady.commit(&plan.end.stamp);
        self.grow(topology.queues.len());
        if again && self.steady.is_in_place() {
            self.offsets.repeat(&plan.end.signals);
        } else {
            self.write_down(frame, plan, again);
        }
        self.commit_knowledge(&plan.end);
        for (base, signals) in self.base.iter_mut().zip(&plan.end.signals) {
            *base += signals;
        }
    }

    /// Advances the states of all resources and blocks. `again`: the last commit was of the same plan.
    fn write_down(&mut self, frame: &Frame, plan: &Plan, again: bool) {
        self.catch_up();
        self.offsets.begin(&self.base);
        let mut in_place = again;
        for end in &plan.end.resources {
            let map = end
                .has_past
                .then(|| &plan.end.maps[end.resource.0 as usize]);
            if !(again && self.commit_again(frame, end, map)) {
                self.commit_resource(frame, end, map);
                in_place = false;
            }
        }
        for end in &plan.end.blocks {
            if !(again && self.commit_block_again(end)) {
                self.commit_block(frame, end);
                in_place = false;
            }
        }
        self.steady.settle(in_place);
    }

    /// Applies the offsets of repeated commits to the stored values.
    pub(super) fn catch_up(&mut self) {
        let Self {
            resources,
            blocks,
            offsets,
            ..
        } = self;
        if offsets.is_none() {
            return;
        }
        let catch_up = |point: &mut TimelinePoint| point.value = offsets.value(*point);
        for entry in resources.iter_mut().flatten() {
            let accesses = Arc::make_mut(&mut entry.map).values_mut();
            accesses
                .flat_map(HasAccesses::accesses_mut)
                .for_each(|tracked: &mut PastAccess| catch_up(&mut tracked.point));
            entry.last_uses.iter_mut().for_each(catch_up);
        }
        let accesses = blocks.iter_mut().flatten().flat_map(RangeMap::values_mut);
        accesses
            .flatten()
            .for_each(|tracked| catch_up(&mut tracked.point));
        offsets.end();
    }

    /// Prepares for a change of the states by other means than a plan.
    pub(super) fn leave_steady_state(&mut self) {
        self.catch_up();
        self.steady.leave_steady_state();
    }

    /// Advances the state of a resource in place, without an allocation, if only timeline values change
    /// (the last commit was of the same plan). Otherwise returns false and does nothing.
    fn commit_again(&mut self, frame: &Frame, end: &EndResource, map: Option<&EndMap>) -> bool {
        let Self {
            resources, base, ..
        } = self;
        let id = frame.resource(end.resource).id;
        let Some(Some(entry)) = resources.get_mut(id.0 as usize) else {
            return false;
        };
        if let Some(map) = map
            && !advance_accesses(base, Arc::make_mut(&mut entry.map), map)
        {
            return false;
        }
        note_uses(base, &mut entry.last_uses, &end.last_uses);
        true
    }

    /// Replaces the state of a resource.
    fn commit_resource(&mut self, frame: &Frame, end: &EndResource, map: Option<&EndMap>) {
        let Resource { id, kind, .. } = *frame.resource(end.resource);
        let entry = self.slot(id).take();
        let mut entry = entry.unwrap_or_else(Entry::fresh);
        note_uses(&self.base, &mut entry.last_uses, &end.last_uses);
        if let Some(map) = map {
            let past = self.past(frame, &entry.map, map);
            match Arc::get_mut(&mut entry.map) {
                Some(map) => *map = past,
                None => entry.map = Arc::new(past),
            }
        }
        entry.kind = Some(kind);
        *self.slot(id) = Some(entry);
    }

    /// Converts an end state to a state between frames. Accesses before the frame are copied from `start`.
    fn past(
        &self,
        frame: &Frame,
        start: &RangeMap<RangeState<PastAccess>>,
        end: &EndMap,
    ) -> RangeMap<RangeState<PastAccess>> {
        // Most states have a write and a read.
        let mut old: SmallVec<[&PastAccess; 2]> = SmallVec::new();
        for (_, state) in start.iter() {
            old.extend(state.accesses());
        }
        let past = |tracked: &TrackedAccess| self.past_access(frame, &old, tracked);
        end.map(|state| state.map(past))
    }

    /// Converts an access of an end state; `old` are the accesses before the frame.
    pub(super) fn past_access(
        &self,
        frame: &Frame,
        old: &[&PastAccess],
        tracked: &TrackedAccess,
    ) -> PastAccess {
        let pass = match tracked.pass {
            EndPass::Pass(pass) => frame.pass(pass).name.clone(),
            EndPass::Start(at) => match old.get(at as usize) {
                Some(old) if tracked.value <= 0 => return (*old).clone(),
                Some(old) => old.pass.clone(),
                None => "unknown".into(),
            },
            EndPass::Presentation => "presentation".into(),
            EndPass::None => "none".into(),
        };
        let value = self.absolute(tracked.queue, tracked.value);
        let point = TimelinePoint {
            queue: tracked.queue,
            value,
        };
        PastAccess {
            point,
            scope: tracked.scope,
            pass,
        }
    }

    /// Advances the vector clocks.
    fn commit_knowledge(&mut self, end: &EndStates) {
        if end.learned.is_empty() && end.joined.is_empty() {
            return;
        }
        let start = self.clocks.clone();
        let mut learn = |queue: QueueIndex, of: QueueIndex, value: u64, stages: Stages| {
            let row = self.clocks.get_mut(usize::from(queue.0));
            let known = row.and_then(|row| row.get_mut(usize::from(of.0)));
            if let Some(known) = known.filter(|known| known.value < value) {
                *known = ClockEntry { value, stages };
            }
        };
        for joined in &end.joined {
            for (of, known) in start[usize::from(joined.of.0)].iter().enumerate() {
                learn(
                    joined.queue,
                    QueueIndex(of as u8),
                    known.value,
                    joined.stages,
                );
            }
        }
        for learned in &end.learned {
            let base = self
                .base
                .get(usize::from(learned.of.0))
                .copied()
                .unwrap_or(0);
            let value = base.saturating_add_signed(learned.value);
            learn(learned.queue, learned.of, value, learned.stages);
        }
    }
}

/// Sets new timeline points for accesses of this frame, relative to the last values of the queues.
/// Returns false and does nothing if the stored accesses differ in order from those of the plan, or if
/// an access of an earlier frame changes its position.
pub(super) fn advance_accesses<P: HasAccesses<PastAccess>, E: HasAccesses<TrackedAccess>>(
    base: &[u64],
    map: &mut RangeMap<P>,
    end: &RangeMap<E>,
) -> bool {
    if map.len() != end.len() || !stay_in_place(map, end) {
        return false;
    }
    let mut ends = end.iter().flat_map(|(_, state)| state.accesses());
    for tracked in map.values_mut().flat_map(HasAccesses::accesses_mut) {
        if let Some(end) = ends.next().filter(|end| end.value > 0) {
            tracked.point.value = absolute(base, end.queue, end.value);
        }
    }
    true
}

/// Notes the last use of a resource on each queue.
fn note_uses(
    base: &[u64],
    last_uses: &mut SmallVec<[TimelinePoint; 2]>,
    uses: &[(QueueIndex, i64)],
) {
    for (queue, offset) in uses {
        let value = absolute(base, *queue, *offset);
        match last_uses.iter_mut().find(|last| last.queue == *queue) {
            Some(last) => last.value = value,
            None => last_uses.push(TimelinePoint {
                queue: *queue,
                value,
            }),
        }
    }
}

/// The absolute value of an offset from the last value that a queue has signalled.
fn absolute(base: &[u64], queue: QueueIndex, offset: i64) -> u64 {
    let base = base.get(usize::from(queue.0)).copied().unwrap_or(0);
    base.saturating_add_signed(offset)
}

/// Whether every access keeps its index in the order of accesses: one from before the frame has the same
/// index, and one of the frame has an index with the same queue.
fn stay_in_place<P: HasAccesses<PastAccess>, E: HasAccesses<TrackedAccess>>(
    map: &RangeMap<P>,
    end: &RangeMap<E>,
) -> bool {
    let mut past = map.iter().flat_map(|(_, state)| state.accesses());
    let mut ends = end.iter().flat_map(|(_, state)| state.accesses());
    for at in 0.. {
        let (past, end) = match (past.next(), ends.next()) {
            (None, None) => return true,
            (Some(past), Some(end)) => (past, end),
            _ => return false,
        };
        let stays = match end.pass {
            EndPass::Start(of) => of == at,
            EndPass::Pass(_) | EndPass::Presentation | EndPass::None => end.value > 0,
        };
        if !stays || past.point.queue != end.queue {
            return false;
        }
    }
    true
}
