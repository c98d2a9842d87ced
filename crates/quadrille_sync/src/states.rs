//! States: synchronization state of resources and queues between frames.
//!
//! States are the input of plans. (Pending submissions, the other part of the global submission state,
//! belong to the backend.) For every range of every resource they have its owner, its layout, the last
//! write, the reads since, the stages and accesses of each queue that this write is visible to, and a
//! pending release. For every pair of queues they have the timeline value of one that the other is
//! already ordered after (a vector clock).
//!
//! [`plan`](crate::solve::plan) reads states and never writes them; [`States::commit`] advances them after
//! a plan was submitted. The GPU's [`Progress`] is no input of `plan`: a plan that omitted waits because
//! the GPU happened to be fast could be neither reused nor replayed, and a satisfied wait costs almost
//! nothing. Progress is used to retire resources.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::flags::{Layout, Stages};
use crate::plan::Plan;
use crate::range::RangeMap;
use crate::resource::{ResourceId, ResourceKind};
use crate::topology::{FamilyIndex, QueueIndex};

mod block;
mod commit;
mod end;
mod handover;
mod range_state;
mod rare;
mod settled;
mod snapshot;
mod steady;
mod value_offsets;

pub(crate) use block::EndBlock;
pub use end::EndStates;
pub(crate) use end::{EndPass, EndResource, Joined, Learned, TrackedAccess};
pub use handover::Handover;
pub(crate) use handover::StreamOwnership;
pub(crate) use range_state::{First, FirstUse, HasAccesses, Previous, RangeState};
pub use range_state::{HostVisibility, HostWait, PastAccess, Pending, VisibleScope};
pub(crate) use rare::RareParts;
pub use snapshot::{
    BlockSnapshot, QueueOrderSnapshot, QueueSnapshot, RangeSnapshot, ResourceSnapshot, Snapshot,
};
pub(crate) use steady::Stamp;
use steady::Steady;
use value_offsets::ValueOffsets;

/// A value of a queue's timeline semaphore, counted from the creation of the semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TimelinePoint {
    /// The queue whose timeline it is.
    pub queue: QueueIndex,
    /// The value; the first submission ever signals 1.
    pub value: u64,
}

/// Progress of the GPU: the highest completed timeline value of each queue.
///
/// ```
/// use quadrille_sync::states::{Progress, TimelinePoint};
/// use quadrille_sync::topology::QueueIndex;
/// let progress = Progress { values: vec![4] };
/// assert!(progress.reached(TimelinePoint { queue: QueueIndex(0), value: 4 }));
/// assert!(!progress.reached(TimelinePoint { queue: QueueIndex(0), value: 5 }));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Progress {
    /// The values, by queue index.
    pub values: Vec<u64>,
}

impl Progress {
    /// Whether a point has completed; never for queues without an entry in `values`.
    pub fn reached(&self, point: TimelinePoint) -> bool {
        self.values
            .get(usize::from(point.queue.0))
            .is_some_and(|value| *value >= point.value)
    }
}

/// Clock entry of a queue: the point of another queue's timeline that it is ordered after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ClockEntry {
    /// The timeline value of the other queue.
    pub(crate) value: u64,
    /// The stages of later submissions that are ordered after the value.
    pub(crate) stages: Stages,
}

/// The stored state of a resource.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Shared with the planners whose plans depend on it.
    pub(crate) map: Arc<RangeMap<RangeState<PastAccess>>>,
    last_uses: SmallVec<[TimelinePoint; 2]>,
    pub(crate) stream_ownership: StreamOwnership,
    /// The kind that frames have declared it with; `None` if none has.
    kind: Option<ResourceKind>,
}

/// Synchronization state between frames: owners, layouts, last writes, reads since, visibility, and
/// vector clocks of the queues.
///
/// States belong to one topology. Another topology needs new states.
#[derive(Clone, Debug, Default)]
pub struct States {
    resources: Vec<Option<Entry>>,
    /// By block, the last accesses to each byte.
    blocks: Vec<Option<RangeMap<Vec<PastAccess>>>>,
    /// The last value signalled, by queue.
    base: Vec<u64>,
    /// `clocks[q][r]`: the entry for queue `r` in the vector clock of queue `q`.
    clocks: Vec<Vec<ClockEntry>>,
    /// Whether frames repeat.
    steady: Steady,
    /// Offsets of repeated commits that the stored states do not include yet.
    offsets: ValueOffsets,
}

impl States {
    /// The last value that a queue has signalled, or 0.
    pub fn base(&self, queue: QueueIndex) -> u64 {
        self.base.get(usize::from(queue.0)).copied().unwrap_or(0)
    }

    /// The absolute value of an offset from a queue's base.
    ///
    /// Submitters turn [`RelativePoint`](crate::plan::RelativePoint)s into semaphore values with it,
    /// before the plan is committed.
    pub fn absolute(&self, queue: QueueIndex, offset: i64) -> u64 {
        self.base(queue).saturating_add_signed(offset)
    }

    /// Whether a plan was committed so often in succession that it is valid again: the states that it
    /// depends on have reached a fixed point.
    pub(crate) fn repeat(&self, plan: &Plan) -> bool {
        self.steady.repeats(&plan.end.stamp, self.base.len())
    }

    /// Removes a resource, so that its id can be reused. Reusing an id for a resource
    /// of another kind or size without this call is an error of the frame.
    pub fn remove(&mut self, id: ResourceId) {
        self.leave_steady_state();
        if let Some(entry) = self.resources.get_mut(id.0 as usize) {
            *entry = None;
        }
    }

    /// Moves the state of a resource to another id. The old id is then that of a resource without contents; the
    /// state stored under the new id is dropped.
    ///
    /// ```
    /// use quadrille_sync::flags::Layout;
    /// use quadrille_sync::resource::ResourceId;
    /// use quadrille_sync::states::States;
    /// let mut states = States::default();
    /// states.import(ResourceId(3), Layout::General, None);
    /// states.rename(ResourceId(3), ResourceId(7));
    /// assert!(states.ever_written(ResourceId(7)));
    /// assert!(!states.ever_written(ResourceId(3)));
    /// ```
    pub fn rename(&mut self, from: ResourceId, to: ResourceId) {
        self.leave_steady_state();
        let entry = self.resources.get_mut(from.0 as usize);
        let entry = entry.and_then(Option::take);
        *self.slot(to) = entry;
    }

    /// Imports contents that no pass wrote: those of host writes while no queue
    /// used the resource, or of work outside of frames. `layout` is an image's current layout (ignored for buffers),
    /// and `owner` the family that owns it, if it is exclusive and a family has used it.
    ///
    /// An owner outside of the device ([`FamilyIndex::EXTERNAL`], [`FamilyIndex::FOREIGN`]) has
    /// released the resource to this device in exactly this layout; the first pass that needs the
    /// contents acquires it. To release it again, add it to
    /// [`Frame::gives`](crate::frame::Frame::gives); after its return, import it again.
    ///
    /// The writes must be complete and visible to the device before the
    /// next frame is submitted (submission makes host writes visible: section "Host Write
    /// Ordering Guarantees"). Earlier state is dropped; points for retiring are kept.
    pub fn import(&mut self, id: ResourceId, layout: Layout, owner: Option<FamilyIndex>) {
        self.leave_steady_state();
        let state = RangeState {
            layout,
            owner,
            defined: true,
            ..RangeState::fresh()
        };
        let slot = self.slot(id);
        let last_uses = slot.take().map(|entry| entry.last_uses).unwrap_or_default();
        *slot = Some(Entry {
            map: Arc::new(RangeMap::new(state)),
            last_uses,
            stream_ownership: StreamOwnership::Own,
            kind: None,
        });
    }

    /// The last use of a resource on every queue that has used it: once [`Progress`] has reached
    /// all of these points, the resource can be destroyed.
    pub fn last_uses(&self, id: ResourceId) -> impl Iterator<Item = TimelinePoint> + '_ {
        let entry = self.resources.get(id.0 as usize).and_then(Option::as_ref);
        entry
            .into_iter()
            .flat_map(|entry| &entry.last_uses)
            .map(|point| TimelinePoint {
                value: self.value(*point),
                ..*point
            })
    }

    /// Whether any part of a resource has been written by a pass, or imported.
    pub fn ever_written(&self, id: ResourceId) -> bool {
        self.map(id)
            .is_some_and(|map| map.iter().any(|(_, state)| state.defined))
    }

    /// Bases and clocks without resources, for `queues` queues.
    pub(crate) fn clocks(&self, queues: usize) -> Self {
        let mut clocks = Self {
            resources: Vec::new(),
            blocks: Vec::new(),
            steady: Steady::default(),
            offsets: self.offsets.clone(),
            base: self.base.clone(),
            clocks: self.clocks.clone(),
        };
        clocks.grow(queues);
        clocks
    }

    /// The actual value of a stored point, which may be higher than the stored value (see [`ValueOffsets`]).
    #[inline]
    pub(crate) fn value(&self, point: TimelinePoint) -> u64 {
        self.offsets.value(point)
    }

    /// The number of queues with values.
    pub(crate) fn queue_count(&self) -> usize {
        self.base.len()
    }

    /// The state of a resource, if there is any.
    pub(crate) fn map(&self, id: ResourceId) -> Option<&Arc<RangeMap<RangeState<PastAccess>>>> {
        Some(&self.resources.get(id.0 as usize)?.as_ref()?.map)
    }

    /// Returns the kind by which frames have declared a resource, if any has.
    pub(crate) fn kind(&self, id: ResourceId) -> Option<ResourceKind> {
        self.resources.get(id.0 as usize)?.as_ref()?.kind
    }

    /// The entry for queue `of` in the vector clock of a queue.
    pub(crate) fn clock_entry(&self, queue: QueueIndex, of: QueueIndex) -> ClockEntry {
        let row = self.clocks.get(usize::from(queue.0));
        row.and_then(|row| row.get(usize::from(of.0)))
            .copied()
            .unwrap_or_default()
    }

    /// Grows bases and clocks to a number of queues.
    fn grow(&mut self, queues: usize) {
        if self.base.len() < queues {
            self.base.resize(queues, 0);
            self.clocks.resize(queues, Vec::new());
            for row in &mut self.clocks {
                row.resize(queues, ClockEntry::default());
            }
        }
    }

    /// The slot of a resource's state.
    fn slot(&mut self, id: ResourceId) -> &mut Option<Entry> {
        let index = id.0 as usize;
        if self.resources.len() <= index {
            self.resources.resize(index + 1, None);
        }
        &mut self.resources[index]
    }
}

#[cfg(test)]
#[path = "states/handover_tests.rs"]
mod handover_tests;

#[cfg(test)]
mod tests;
