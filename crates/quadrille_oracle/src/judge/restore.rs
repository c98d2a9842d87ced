//! Judges that start from a snapshot of earlier frames.
//!
//! A [`Snapshot`] has the submission of each past access, but no order within it, so all accesses of one
//! submission count as one instant. Its statements of order and visibility are assumed to be correct;
//! only the frames after it are judged.

use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use quadrille_sync::flags::{AccessMask, Stages};
use quadrille_sync::frame::Frame;
use quadrille_sync::plan::Scope;
use quadrille_sync::range::SubresourceRange;
use quadrille_sync::resource::{Resource, ResourceKind};
use quadrille_sync::states::{HostWait, PastAccess, RangeSnapshot, Snapshot};
use quadrille_sync::topology::{QueueIndex, Topology};

use super::cell::{Cell, Contents, Read, Release, Visible, Write};
use super::clock::{Done, Instant, Signalled};
use super::memory::Former;
use super::{Judge, Tracked};
use crate::area::{Area, AreaMap};
use crate::stages::{COMMAND, accesses, second_scope, single};
use crate::violation::{Actor, ResourcePart};

/// The instants of the past: by queue, the timeline values that the snapshot refers to, in order.
struct Past {
    values: Vec<Vec<u64>>,
}

impl Judge {
    /// A judge with the history of a snapshot. `snapshot` was taken before `frame`, the next frame to judge.
    pub fn restore(topology: &Topology, frame: &Frame, snapshot: &Snapshot) -> Self {
        let mut judge = Self::new(topology);
        let past = Past::new(snapshot, topology.queues.len());
        past.begin_queues(&mut judge, snapshot);
        for resource in &snapshot.resources {
            let Some(of) = frame.resources.get(resource.resource.0 as usize) else {
                continue;
            };
            let mut tracked = Tracked::new(of, judge.columns);
            judge.columns += 1;
            for part in &resource.parts {
                let cell = past.cell(&judge, snapshot, (of, part));
                for area in areas(of, &part.positions) {
                    for (_, old) in tracked.cells.parts_mut(&area) {
                        *old = cell.clone();
                    }
                }
                past.order(&mut judge, part);
            }
            tracked.memory = of.memory;
            if of.memory.is_some() {
                tracked.cells = AreaMap::new(Area::whole(&of.kind), Cell::fresh());
            }
            judge.resources.insert(of.id, tracked);
        }
        for block in &snapshot.blocks {
            let affected = |bytes: &Range<u64>| ResourcePart {
                resource: format!("block {}", block.block.0).into(),
                range: format!("bytes {}..{}", bytes.start, bytes.end),
            };
            let formers = block.bytes.iter().flat_map(|(bytes, accesses)| {
                let former = |tracked| {
                    past.former(
                        (&judge, snapshot),
                        tracked,
                        (affected(bytes), bytes.clone()),
                    )
                };
                accesses.iter().map(former)
            });
            let formers = formers.collect();
            judge.blocks.insert(block.block, formers);
        }
        judge
    }
}

impl Past {
    fn new(snapshot: &Snapshot, queues: usize) -> Self {
        let mut values = vec![BTreeSet::new(); queues];
        let mut add = |queue: QueueIndex, value: u64| {
            if let Some(values) = values.get_mut(usize::from(queue.0)) {
                values.insert(value);
            }
        };
        for (queue, past) in (0..).zip(&snapshot.queues) {
            add(QueueIndex(queue), past.value);
            past.known.iter().for_each(|it| add(it.of, it.value));
        }
        let parts = snapshot.resources.iter().flat_map(|it| &it.parts);
        let in_blocks = snapshot.blocks.iter().flat_map(|block| &block.bytes);
        let accesses = in_blocks.flat_map(|(_, accesses)| accesses);
        for tracked in parts.flat_map(accesses_of).chain(accesses) {
            add(tracked.point.queue, tracked.point.value);
        }
        Self {
            values: values
                .into_iter()
                .map(|it| it.into_iter().collect())
                .collect(),
        }
    }

    /// The instant of a submission: its rank among the values of the queue that the snapshot refers to.
    fn instant(&self, queue: QueueIndex, value: u64) -> Instant {
        let column = usize::from(queue.0);
        let values = self.values.get(column).map_or(&[][..], Vec::as_slice);
        let position = values.partition_point(|it| *it <= value) as u32;
        Instant { column, position }
    }

    fn of(&self, tracked: &PastAccess) -> Instant {
        self.instant(tracked.point.queue, tracked.point.value)
    }

    /// Restores past signals, and the clocks of the queues.
    fn begin_queues(&self, judge: &mut Judge, snapshot: &Snapshot) {
        for (column, values) in self.values.iter().enumerate() {
            let queue = QueueIndex(column as u8);
            let last = snapshot.queues.get(column).map_or(0, |past| past.value);
            let state = &mut judge.queues[column];
            state.position = values.len() as u32;
            for value in values.iter().filter(|value| **value > 0 && **value <= last) {
                let seen = Signalled::of(self.instant(queue, *value));
                state.signals.push((*value, seen));
            }
            let known = snapshot
                .queues
                .get(column)
                .map_or(&[][..], |past| &past.known);
            for it in known {
                let seen = Signalled::of(self.instant(it.of, it.value));
                let clock = &mut judge.queues[column].clock;
                clock.order_after(second_scope(it.stages), &seen.view(column));
                // The last signal comes after all that the queue was ordered after.
                if let Some((_, signal)) = judge.queues[column].signals.last_mut() {
                    signal.join(&seen);
                }
            }
        }
        self.chain_signals(judge, snapshot);
    }

    /// Extends past signals by the order of the accesses to each part: a wait for a read or a release covers the
    /// write before it, and a wait for a release covers the reads before it.
    fn chain_signals(&self, judge: &mut Judge, snapshot: &Snapshot) {
        let mut chain = |later: &PastAccess, earlier: &PastAccess| {
            let (later, seen) = (later.point, Signalled::of(self.of(earlier)));
            let signals = &mut judge.queues[usize::from(later.queue.0)].signals;
            for (_, signal) in signals.iter_mut().filter(|it| it.0 >= later.value) {
                signal.join(&seen);
            }
        };
        for part in snapshot.resources.iter().flat_map(|it| &it.parts) {
            let ends = part.release.iter().map(|it| &it.tracked);
            let ends = ends.chain(part.host.iter().map(|it| &it.tracked));
            for end in ends {
                part.write
                    .iter()
                    .chain(&part.reads)
                    .for_each(|it| chain(end, it));
            }
            for read in &part.reads {
                part.write.iter().for_each(|write| chain(read, write));
            }
        }
    }

    /// Orders the stages to which a write is visible after the write, and if the snapshot says so after the reads
    /// since.
    fn order(&self, judge: &mut Judge, part: &RangeSnapshot) {
        for seen in &part.visible {
            let column = usize::from(seen.queue.0);
            let reads = part.reads.iter().filter(|_| seen.is_ready);
            for tracked in part.write.iter().chain(reads) {
                let instant = self.of(tracked);
                if instant.column != column {
                    continue;
                }
                let view = Signalled::of(instant).view(column);
                let view = view.of_stages(single(tracked.scope.stages) | COMMAND);
                let clock = &mut judge.queues[column].clock;
                clock.order_after(second_scope(seen.scope.stages), &view);
            }
        }
    }

    fn cell(
        &self,
        judge: &Judge,
        snapshot: &Snapshot,
        (of, part): (&Resource, &RangeSnapshot),
    ) -> Cell {
        let mut cell = Cell {
            owner: part.owner,
            layout: part.layout,
            contents: if part.is_defined {
                Contents::Written
            } else {
                Contents::Never
            },
            write: part.write.as_ref().map(|tracked| self.write(tracked)),
            reads: part
                .reads
                .iter()
                .chain(&part.promised)
                .map(|it| self.read(it))
                .collect(),
            ..Cell::fresh()
        };
        if let Some(write) = &mut cell.write {
            self.show(judge, snapshot, part, write);
        }
        if let Some(release) = &part.release {
            cell.released = Some(Rc::new(Release {
                from: release.from,
                to: release.to,
                old_layout: release.old_layout,
                new_layout: release.new_layout,
                area: Area::of(&of.kind, &release.range),
                done: Done::Dependency(self.of(&release.tracked), COMMAND),
                actor: Actor::Release {
                    from: release.from,
                    to: release.to,
                    frame: 0,
                },
            }));
        }
        if let Some(host) = part.host.as_ref().filter(|it| it.wait != HostWait::None) {
            cell.host.add(0, &Signalled::of(self.of(&host.tracked)));
        }
        cell
    }

    /// Restores the visibility of a write: to scopes, by waits, and to the host.
    fn show(&self, judge: &Judge, snapshot: &Snapshot, part: &RangeSnapshot, write: &mut Write) {
        for seen in &part.visible {
            let column = usize::from(seen.queue.0);
            let Some(position) = judge.queues.get(column).map(|queue| queue.position) else {
                continue;
            };
            let since = Done::Dependency(
                Instant { column, position },
                second_scope(seen.scope.stages) | COMMAND,
            );
            write.available.push(since);
            write.visible.push(Visible {
                since,
                scope: seen.scope,
            });
        }
        if let Some(host) = &part.host {
            let since = Done::Dependency(self.of(&host.tracked), Stages::HOST | COMMAND);
            write.available.push(since);
            write.visible.push(Visible {
                since,
                scope: Scope {
                    stages: Stages::HOST,
                    access: AccessMask::HOST_READ | AccessMask::HOST_WRITE,
                },
            });
        }
        self.pass_waits(judge, snapshot, write);
    }

    /// Makes a write visible to the stages that have waited for it.
    fn pass_waits(&self, judge: &Judge, snapshot: &Snapshot, write: &mut Write) {
        let written = write.done.instant();
        let of = QueueIndex(written.column as u8);
        for (column, queue) in snapshot.queues.iter().enumerate() {
            let reaches = |value| self.instant(of, value).position >= written.position;
            let known = queue
                .known
                .iter()
                .filter(|it| it.of == of && reaches(it.value));
            for it in known {
                let position = judge.queues[column].position;
                let at = Instant { column, position };
                let since = Done::Dependency(at, second_scope(it.stages) | COMMAND);
                write.pass_wait(it.stages, since);
            }
        }
    }

    fn write(&self, tracked: &PastAccess) -> Write {
        let (at, stages) = (self.of(tracked), single(tracked.scope.stages));
        if accesses(tracked.scope.access, true).is_empty() {
            // A write by a barrier: everything in its second scope is ordered after it.
            let done = Done::Dependency(at, second_scope(tracked.scope.stages) | COMMAND);
            let none = Scope::default();
            return Write::by_barrier(actor(tracked, "before"), done, none);
        }
        Write::by_pass(
            actor(tracked, "before"),
            Done::Stages(at, stages),
            tracked.scope,
        )
    }

    fn read(&self, tracked: &PastAccess) -> Read {
        Read {
            actor: actor(tracked, "read before"),
            done: Done::Stages(self.of(tracked), single(tracked.scope.stages)),
        }
    }

    fn former(
        &self,
        (judge, snapshot): (&Judge, &Snapshot),
        tracked: &PastAccess,
        (affected, bytes): (ResourcePart, Range<u64>),
    ) -> Former {
        if tracked.scope.access.is_empty() {
            return Former::new(affected, bytes, None, vec![self.read(tracked)]);
        }
        let mut write = self.write(tracked);
        self.pass_waits(judge, snapshot, &mut write);
        Former::new(affected, bytes, Some(write), Vec::new())
    }
}

fn accesses_of(part: &RangeSnapshot) -> impl Iterator<Item = &PastAccess> {
    let release = part.release.iter().map(|it| &it.tracked);
    let host = part.host.iter().map(|it| &it.tracked);
    let accesses = part.write.iter().chain(&part.reads).chain(&part.promised);
    accesses.chain(release).chain(host)
}

/// A pass of an earlier frame.
fn actor(tracked: &PastAccess, access: &'static str) -> Actor {
    Actor::Pass {
        name: Arc::clone(&tracked.pass),
        access,
        frame: 0,
    }
}

/// Converts linear positions of a resource to areas; see [`RangeSnapshot::positions`].
fn areas(resource: &Resource, positions: &Range<u64>) -> Vec<Area> {
    let whole = Area::whole(&resource.kind);
    if *positions == (0..u64::MAX) {
        return vec![whole];
    }
    let ResourceKind::Image {
        aspects,
        mip_levels,
        array_layers,
        slices,
    } = resource.kind
    else {
        let size = positions.end.saturating_sub(positions.start);
        let part = Area::bytes(positions.start, size).intersection(&whole);
        return part.into_iter().collect();
    };
    let (mips, layers) = (u64::from(mip_levels), u64::from(array_layers));
    let depth = u64::from(slices).max(1);
    let mut areas = Vec::new();
    for (row, aspect) in aspects.iter().enumerate() {
        for layer in 0..layers {
            for mip in 0..mips {
                let first = ((row as u64 * layers + layer) * mips + mip) * depth;
                let end = positions.end.min(first + depth);
                let start = positions.start.max(first);
                if start >= end {
                    continue;
                }
                let area = Area::subresources(&SubresourceRange {
                    aspects: aspect,
                    base_mip: mip as u32,
                    mip_count: 1,
                    base_layer: layer as u32,
                    layer_count: 1,
                });
                areas.push(area.of_slices(
                    start - first..if end == first + depth {
                        u64::MAX
                    } else {
                        end - first
                    },
                ));
            }
        }
    }
    areas
}
