//! Ranges that an external owner (another device or API) has released to this device, in the layout
//! of their import.

use std::ops::Range;

use super::window::{ALL, record_acquire};
use crate::flags::Layout;
use crate::plan::{DependencyKind, PassRef, Reason, Scope};
use crate::range::{EVERYTHING, RangeMap, SubRange, gather, intervals};
use crate::resource::{ResourceIndex, ResourceKind};
use crate::solve::barriers::builder::Builder;
use crate::solve::barriers::request::Request;
use crate::solve::state::{State, TrackedAccess};
use crate::states::{EndPass, Pending};
use crate::topology::FamilyIndex;

/// Runs of a resource that external owners have released.
#[derive(Debug, Default)]
pub(super) struct Outside {
    groups: Vec<Group>,
}

/// Runs that one owner has released in one layout.
#[derive(Debug)]
struct Group {
    owner: FamilyIndex,
    layout: Layout,
    runs: Vec<Range<u64>>,
}

impl Outside {
    /// Adds a run if an external owner has it. A run with a pending acquire does not count.
    pub(super) fn add(&mut self, run: Range<u64>, state: &State) -> bool {
        let owner = state.owner.filter(|owner| owner.is_outside());
        let Some(owner) = owner.filter(|_| state.rare.pending().is_none()) else {
            return false;
        };
        let layout = state.layout;
        let mut groups = self.groups.iter_mut();
        match groups.find(|group| (group.owner, group.layout) == (owner, layout)) {
            Some(group) => group.runs.push(run),
            None => self.groups.push(Group {
                owner,
                layout,
                runs: vec![run],
            }),
        }
        true
    }

    /// The ranges that can be acquired as one.
    fn ranges(mut self, kind: &ResourceKind) -> Vec<(FamilyIndex, Layout, SubRange)> {
        let mut all = Vec::new();
        for group in &mut self.groups {
            let ranges = gather(kind, &mut group.runs).into_iter();
            all.extend(ranges.map(|range| (group.owner, group.layout, range)));
        }
        all
    }

    /// Notes in the states that a request acquires the ranges.
    pub(super) fn await_by(
        self,
        request: &Request,
        kind: &ResourceKind,
        map: &mut RangeMap<State>,
    ) {
        for (owner, layout, range) in self.ranges(kind) {
            let tracked = request.tracked(Scope::default());
            let pending = pending((owner, request.family), layout, range, tracked);
            intervals(kind, &range, |interval| {
                map.update(interval, |_, state| state.rare.set_pending(pending.clone()));
            });
        }
    }

    /// Acquires the ranges for a family of the device: to release them to another external owner, or
    /// for the host.
    pub(super) fn pass_on(
        self,
        builder: &mut Builder<'_>,
        resource: ResourceIndex,
        later: &PassRef,
        map: &mut RangeMap<State>,
    ) {
        let mut queues = builder.inputs.topology.indices();
        let Some(queue) = queues.find(|queue| !builder.inputs.topology.queue(*queue).is_foreign())
        else {
            unreachable!("frames without queues are refused");
        };
        let submission = builder.window(queue);
        let tracked = TrackedAccess {
            queue,
            value: builder.point(submission).value,
            scope: Scope::default(),
            pass: EndPass::None,
            step: 0,
        };
        let family = builder.inputs.topology.family(queue);
        for (owner, layout, range) in self.ranges(&builder.inputs.frame.resource(resource).kind) {
            let reason = Reason {
                resource,
                earlier: PassRef::None,
                later: later.clone(),
                dependency_kind: DependencyKind::OwnershipTransfer,
            };
            let pending = pending((owner, family), layout, range, tracked);
            record_acquire(builder, submission, ALL, &pending, reason, map);
        }
    }

    /// All runs of a resource with an external owner other than `but`.
    pub(super) fn of_others(map: &RangeMap<State>, but: FamilyIndex) -> Self {
        let mut all = Self::default();
        for (run, state) in map.iter_within(EVERYTHING) {
            if state.owner != Some(but) {
                all.add(run, state);
            }
        }
        all
    }
}

/// A release by an external owner.
fn pending(
    (from, to): (FamilyIndex, FamilyIndex),
    layout: Layout,
    range: SubRange,
    tracked: TrackedAccess,
) -> Pending<TrackedAccess> {
    Pending {
        from,
        to,
        old_layout: layout,
        new_layout: layout,
        range,
        tracked,
    }
}
