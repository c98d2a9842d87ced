//! Snapshots: the states before one frame, as plain data.
//!
//! [`States`] have everything for all later frames, shared and with pending offsets for speed. A [`Snapshot`] has
//! only the part that one frame's plan depends on, with actual values. So it can be written as text, judged, and
//! used for planning on another machine.

use std::ops::Range;
use std::sync::Arc;

use super::{
    ClockEntry, Entry, First, HostVisibility, PastAccess, Pending, RangeState, RareParts, States,
    StreamOwnership, VisibleScope,
};
use crate::flags::{Layout, Stages};
use crate::frame::Frame;
use crate::range::{EVERYTHING, RangeMap};
use crate::resource::{BlockId, ResourceIndex};
use crate::topology::{FamilyIndex, QueueIndex};

/// The states that a frame is planned from: its resources, the blocks that they lie in, and the clocks.
///
/// [`Snapshot::display`] writes it as text, which [`parse_snapshot`](crate::text::parse_snapshot) reads.
///
/// ```
/// use quadrille_sync::solve::plan;
/// use quadrille_sync::states::{Snapshot, States};
/// use quadrille_sync::text::{parse_frame, parse_snapshot, parse_topology};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let topology = parse_topology("gct:1")?;
/// let write = parse_frame("buffer cells 0 bytes 64\npass fill\n  StorageWriteCompute cells\n")?;
/// let read = parse_frame("buffer cells 0 bytes 64\npass sum\n  StorageReadCompute cells\n")?;
/// let mut states = States::default();
/// states.commit(&write, &topology, &plan(&write, &topology, &states)?);
/// let text = Snapshot::of(&states, &read).display(&read).to_string();
/// let again = parse_snapshot(&text, &read)?.restore(&read);
/// assert_eq!(plan(&read, &topology, &again)?, plan(&read, &topology, &states)?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// By queue: its timeline value and its vector clock.
    pub queues: Vec<QueueSnapshot>,
    /// The resources of the frame that earlier frames have used, or that were imported.
    pub resources: Vec<ResourceSnapshot>,
    /// The blocks of memory that resources of the frame lie in.
    pub blocks: Vec<BlockSnapshot>,
}

/// The timeline of a queue before a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueSnapshot {
    /// The value that it signalled last.
    pub value: u64,
    /// Its vector clock. Has an entry for itself if it has waited for a queue that had waited for it.
    pub known: Vec<QueueOrderSnapshot>,
}

/// Entry of a queue's vector clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueOrderSnapshot {
    /// The other queue.
    pub of: QueueIndex,
    /// The timeline value of the other queue that the queue is ordered after.
    pub value: u64,
    /// The stages of later submissions that are ordered after the value.
    pub stages: Stages,
}

/// The state of a resource before a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceSnapshot {
    /// The resource in the frame.
    pub resource: ResourceIndex,
    pub(crate) stream_ownership: StreamOwnership,
    /// Whether frames have used the resource; otherwise it was imported.
    pub is_declared: bool,
    /// The state of all its parts, in order.
    pub parts: Vec<RangeSnapshot>,
}

/// The state of a part of a resource before a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeSnapshot {
    /// Bytes of a buffer, or linear positions of an image's subresources: `(aspect * layers + layer) * mips + mip`,
    /// times the number of slices of the first mip level. The last part has no end (`u64::MAX`).
    pub positions: Range<u64>,
    /// The owning family; `None` if the resource is concurrent or was never used.
    pub owner: Option<FamilyIndex>,
    /// The layout; undefined for buffers.
    pub layout: Layout,
    /// Whether the part has contents.
    pub is_defined: bool,
    /// The last write; the scope of a barrier that wrote (a layout transition, an acquire) has no accesses.
    pub write: Option<PastAccess>,
    /// The reads since, at most one for each queue.
    pub reads: Vec<PastAccess>,
    /// The scopes to which the last write is visible, in addition to those on other queues that waited for it.
    pub visible: Vec<VisibleScope>,
    /// The last read by another stream that borrowed the resource.
    pub promised: Option<PastAccess>,
    /// A release that was not acquired yet.
    pub release: Option<Pending<PastAccess>>,
    /// The visibility of the last write to the host, if there is any.
    pub host: Option<HostVisibility<PastAccess>>,
    pub(crate) first: Option<First>,
}

/// The last accesses to a block of memory before a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSnapshot {
    /// The block.
    pub block: BlockId,
    /// By byte range; the last one has no end.
    pub bytes: Vec<(Range<u64>, Vec<PastAccess>)>,
}

impl Snapshot {
    /// The part of `states` that a plan of `frame` depends on.
    pub fn of(states: &States, frame: &Frame) -> Self {
        let real = |tracked: &PastAccess| PastAccess {
            point: crate::states::TimelinePoint {
                queue: tracked.point.queue,
                value: states.value(tracked.point),
            },
            ..tracked.clone()
        };
        let mut snapshot = Self {
            queues: (0..states.queue_count())
                .map(|queue| QueueSnapshot::of(states, QueueIndex(queue as u8)))
                .collect(),
            ..Self::default()
        };
        for (index, resource) in (0..).zip(&frame.resources) {
            let Some(map) = states.map(resource.id) else {
                continue;
            };
            let parts = map
                .iter()
                .map(|(positions, state)| RangeSnapshot::of(positions, &state.map(real)));
            snapshot.resources.push(ResourceSnapshot {
                resource: ResourceIndex(index),
                stream_ownership: states.stream_ownership(resource.id),
                is_declared: states.kind(resource.id).is_some(),
                parts: parts.collect(),
            });
        }
        for resource in &frame.resources {
            let Some(placement) = resource.memory else {
                continue;
            };
            let is_known = snapshot.blocks.iter().any(|it| it.block == placement.block);
            if let Some(map) = states.block(placement.block).filter(|_| !is_known) {
                let real = |accesses: &Vec<PastAccess>| accesses.iter().map(real).collect();
                let bytes = map.iter().map(|(bytes, accesses)| (bytes, real(accesses)));
                snapshot.blocks.push(BlockSnapshot {
                    block: placement.block,
                    bytes: bytes.collect(),
                });
            }
        }
        snapshot
    }

    /// Restores states from which `frame`, for which the snapshot was taken, has the same plan again.
    pub fn restore(&self, frame: &Frame) -> States {
        let bases: Vec<u64> = self.queues.iter().map(|queue| queue.value).collect();
        let mut states = States::starting_at(&bases);
        for (row, queue) in states.clocks.iter_mut().zip(&self.queues) {
            for known in &queue.known {
                if let Some(entry) = row.get_mut(usize::from(known.of.0)) {
                    *entry = ClockEntry {
                        value: known.value,
                        stages: known.stages,
                    };
                }
            }
        }
        for past in &self.resources {
            let Some(resource) = frame.resources.get(past.resource.0 as usize) else {
                continue;
            };
            let mut map = RangeMap::new(RangeState::fresh());
            for part in &past.parts {
                map.update(part.positions.clone(), |_, state| *state = part.state());
            }
            *states.slot(resource.id) = Some(Entry {
                map: Arc::new(map),
                stream_ownership: past.stream_ownership,
                kind: past.is_declared.then_some(resource.kind),
                ..Entry::fresh()
            });
        }
        for past in &self.blocks {
            let mut map = RangeMap::new(Vec::new());
            for (bytes, accesses) in &past.bytes {
                map.update(bytes.clone(), |_, old| old.clone_from(accesses));
            }
            let index = past.block.0 as usize;
            if states.blocks.len() <= index {
                states.blocks.resize(index + 1, None);
            }
            states.blocks[index] = Some(map);
        }
        states
    }
}

impl QueueSnapshot {
    fn of(states: &States, queue: QueueIndex) -> Self {
        let known = (0..states.queue_count()).map(|of| {
            let of = QueueIndex(of as u8);
            let ClockEntry { value, stages } = states.clock_entry(queue, of);
            QueueOrderSnapshot { of, value, stages }
        });
        Self {
            value: states.base(queue),
            known: known.filter(|known| known.value > 0).collect(),
        }
    }
}

impl RangeSnapshot {
    /// A part that was never used.
    pub(crate) fn fresh() -> Self {
        Self::of(EVERYTHING, &RangeState::fresh())
    }

    fn of(positions: Range<u64>, state: &RangeState<PastAccess>) -> Self {
        Self {
            positions,
            owner: state.owner,
            layout: state.layout,
            is_defined: state.defined,
            write: state.write.clone(),
            reads: state.reads.to_vec(),
            visible: state.visible.to_vec(),
            promised: state.rare.promised().cloned(),
            release: state.rare.pending().cloned(),
            host: state.rare.host().cloned(),
            first: state.first.clone(),
        }
    }

    fn state(&self) -> RangeState<PastAccess> {
        let mut rare = RareParts::NOTHING;
        if let Some(promised) = &self.promised {
            rare.set_promised(promised.clone());
        }
        if let Some(release) = &self.release {
            rare.set_pending(release.clone());
        }
        if let Some(host) = &self.host {
            rare.set_host(host.clone());
        }
        RangeState {
            owner: self.owner,
            layout: self.layout,
            defined: self.is_defined,
            write: self.write.clone(),
            reads: self.reads.iter().cloned().collect(),
            visible: self.visible.iter().copied().collect(),
            rare,
            first: self.first.clone(),
            ..RangeState::fresh()
        }
    }
}
