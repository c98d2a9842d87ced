//! Transfer of resources between streams.
//!
//! A stream plans frames independently, with its own [`States`]. All streams use the same queue indices
//! (see [`Queue::is_foreign`](crate::topology::Queue::is_foreign)), so the state of a resource can be moved from one
//! to another unchanged: owner, layout, last write and reads, each with its timeline point. The receiving
//! stream then has accesses on queues of another stream. The ladder treats these like any other queue: it
//! waits, acquires, and chains from the wait.
//!
//! There are two ways to transfer a resource:
//!
//! - [`give`](States::give) and [`take`](States::take) move it permanently;
//! - [`lend`](States::lend) and [`take`](States::take) let both streams read it, and neither write, until
//!   the lender calls [`returned`](States::returned) with the point at which the other stream will be
//!   done. The submission that signals that point need not exist yet.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{Entry, HasAccesses, HostWait, PastAccess, RangeState, States, TimelinePoint};
use crate::flags::{AccessMask, Stages};
use crate::plan::Scope;
use crate::range::{EVERYTHING, RangeMap};
use crate::resource::{ResourceId, ResourceKind};
use crate::topology::QueueIndex;

/// Rights of a stream to a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum StreamOwnership {
    /// All rights.
    #[default]
    Own,
    /// Reads in the current layout; another stream reads it too.
    Lent,
    /// None: another stream has it.
    Given,
}

/// A resource between two streams: its whole state, by value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handover {
    id: ResourceId,
    map: RangeMap<RangeState<PastAccess>>,
    stream_ownership: StreamOwnership,
    kind: Option<ResourceKind>,
}

impl Handover {
    /// The resource.
    pub fn resource(&self) -> ResourceId {
        self.id
    }

    /// The timeline points that the next user may have to wait for.
    pub fn points(&self) -> impl Iterator<Item = TimelinePoint> + '_ {
        let accesses = self.map.iter().flat_map(|(_, state)| state.accesses());
        accesses.map(|tracked| tracked.point)
    }
}

/// Returns the state that remains of a resource that another stream has: only whether its contents are
/// defined.
fn only_defined() -> RangeMap<RangeState<PastAccess>> {
    RangeMap::new(RangeState {
        defined: true,
        ..RangeState::fresh()
    })
}

impl Entry {
    /// Returns the entry of an unused resource.
    pub(super) fn fresh() -> Self {
        Self {
            map: Arc::new(RangeMap::new(RangeState::fresh())),
            last_uses: SmallVec::new(),
            stream_ownership: StreamOwnership::Own,
            kind: None,
        }
    }
}

impl States {
    /// States without resources, for queues that have already signalled these values.
    ///
    /// ```
    /// use quadrille_sync::states::States;
    /// use quadrille_sync::topology::QueueIndex;
    /// assert_eq!(States::starting_at(&[7]).base(QueueIndex(0)), 7);
    /// ```
    pub fn starting_at(values: &[u64]) -> Self {
        let mut states = Self::default();
        states.grow(values.len());
        states.base.copy_from_slice(values);
        states
    }

    /// Gives a resource to another stream. This stream cannot use it any more, until it takes it back;
    /// points for retiring are kept.
    ///
    /// If the other stream uses it on another queue family, the last frame that uses it here must list it
    /// in [`Frame::gives`](crate::frame::Frame::gives).
    ///
    /// Returns `None` if this stream does not have all rights: the resource is lent, or given already.
    ///
    /// ```
    /// use quadrille_sync::flags::Layout;
    /// use quadrille_sync::resource::ResourceId;
    /// use quadrille_sync::states::States;
    /// let (mut one, mut other) = (States::default(), States::default());
    /// one.import(ResourceId(3), Layout::General, None);
    /// let cells = one.give(ResourceId(3)).unwrap();
    /// assert!(one.give(ResourceId(3)).is_none());
    /// other.take(cells);
    /// assert!(other.ever_written(ResourceId(3)));
    /// ```
    pub fn give(&mut self, id: ResourceId) -> Option<Handover> {
        self.leave_steady_state();
        let entry = self.slot(id).get_or_insert_with(Entry::fresh);
        if entry.stream_ownership != StreamOwnership::Own {
            return None;
        }
        entry.stream_ownership = StreamOwnership::Given;
        let map = std::mem::replace(&mut entry.map, Arc::new(only_defined()));
        let map = Arc::unwrap_or_clone(map);
        Some(Handover {
            id,
            map,
            stream_ownership: StreamOwnership::Own,
            kind: entry.kind,
        })
    }

    /// Lends a resource to another stream for reading. Until it is [`returned`](States::returned), both
    /// streams may only read it; an image stays in its current layout.
    ///
    /// Only for resources that need no ownership transfer: concurrent ones, or if both streams use queues
    /// of one family. Returns `None` if this stream does not have all rights, or has predicted a release
    /// of the resource to another family.
    pub fn lend(&mut self, id: ResourceId) -> Option<Handover> {
        self.leave_steady_state();
        let entry = self.slot(id).get_or_insert_with(Entry::fresh);
        let moves = entry
            .map
            .iter()
            .any(|(_, state)| state.rare.pending().is_some());
        if entry.stream_ownership != StreamOwnership::Own || moves {
            return None;
        }
        entry.stream_ownership = StreamOwnership::Lent;
        Arc::make_mut(&mut entry.map).update(EVERYTHING, |_, state| state.first = None);
        let mut map = RangeMap::clone(&entry.map);
        map.update(EVERYTHING, |_, state| {
            // Reads need no order among them, and visibility on this stream's queues means nothing
            // on those of the other stream.
            state.reads.clear();
            state.rare.forget_promised();
            state.visible.clear();
            state.first = None;
        });
        Some(Handover {
            id,
            map,
            stream_ownership: StreamOwnership::Lent,
            kind: entry.kind,
        })
    }

    /// Prepares a resource to be lent after the next frame that uses it: prevents look-ahead barriers, so
    /// an image stays in the layout of its last use.
    pub fn prepare_to_lend(&mut self, id: ResourceId) {
        let is_predicted = |map: &RangeMap<RangeState<PastAccess>>| {
            let mut states = map.iter();
            states.any(|(_, state)| state.first.is_some())
        };
        if !self.map(id).is_some_and(|map| is_predicted(map)) {
            return;
        }
        self.leave_steady_state();
        if let Some(Some(entry)) = self.resources.get_mut(id.0 as usize) {
            Arc::make_mut(&mut entry.map).update(EVERYTHING, |_, state| state.first = None);
        }
    }

    /// Takes a resource that another stream has given or lent.
    pub fn take(&mut self, handover: Handover) {
        self.leave_steady_state();
        let Handover {
            id,
            mut map,
            stream_ownership,
            kind,
        } = handover;
        map.update(EVERYTHING, |_, state| {
            state.first = None;
            // The other stream's host passes may not have run yet.
            if let Some(host) = state.rare.host_mut() {
                host.wait = HostWait::None;
            }
        });
        let points = map.iter().flat_map(|(_, state)| state.accesses());
        let points: Vec<TimelinePoint> = points.map(|tracked| tracked.point).collect();
        points.iter().for_each(|point| self.reach(*point));
        let slot = self.slot(id);
        let last_uses = slot.take().map(|entry| entry.last_uses);
        *slot = Some(Entry {
            map: Arc::new(map),
            last_uses: last_uses.unwrap_or_default(),
            stream_ownership,
            kind,
        });
    }

    /// Ends the loan of a resource: the other stream will have finished its reads at `done`, which need
    /// not be submitted yet. This stream may write to the resource again; the first write waits for `done`.
    ///
    /// Has no effect on a resource that is not lent.
    pub fn returned(&mut self, id: ResourceId, done: TimelinePoint) {
        self.leave_steady_state();
        self.reach(done);
        let Some(entry) = self.slot(id).as_mut() else {
            return;
        };
        if entry.stream_ownership != StreamOwnership::Lent {
            return;
        }
        entry.stream_ownership = StreamOwnership::Own;
        let read = PastAccess {
            point: done,
            scope: Scope {
                stages: Stages::ALL_COMMANDS,
                access: AccessMask::empty(),
            },
            pass: "another stream".into(),
        };
        Arc::make_mut(&mut entry.map).update(EVERYTHING, |_, state| {
            state.rare.set_promised(read.clone());
            state
                .visible
                .iter_mut()
                .for_each(|seen| seen.is_ready = false);
            state.first = None;
        });
    }

    /// Gives back a resource that another stream has lent: this stream cannot use it any more, until it
    /// takes it again. Points for retiring are kept.
    pub fn give_back(&mut self, id: ResourceId) {
        self.leave_steady_state();
        let entry = self.slot(id).get_or_insert_with(Entry::fresh);
        entry.stream_ownership = StreamOwnership::Given;
        entry.map = Arc::new(only_defined());
    }

    /// Returns the rights of this stream to a resource.
    pub(crate) fn stream_ownership(&self, id: ResourceId) -> StreamOwnership {
        let entry = self.resources.get(id.0 as usize).and_then(Option::as_ref);
        entry.map_or(StreamOwnership::Own, |entry| entry.stream_ownership)
    }

    /// Raises the base of another stream's timeline to a point. Plans are relative to bases, so a stream
    /// that takes a resource in each frame finds its point at the same offset, and can reuse its plan.
    fn reach(&mut self, point: TimelinePoint) {
        let QueueIndex(queue) = point.queue;
        let queue = usize::from(queue);
        self.grow(self.base.len().max(queue + 1));
        self.base[queue] = self.base[queue].max(point.value);
    }
}
