//! Blocks of memory: transient resources that share bytes take turns.
//!
//! The first access of a frame to a part of a placed resource *opens* it, be it a pass's or that of
//! a barrier which changes the layout: whatever lay in the same bytes is *closed*. Accesses to bytes
//! outlive the turn. The next resource needs an execution dependency on all accesses of former ones
//! to its bytes, and their writes available, until it is written. Former contents are dead: they need
//! not be visible, no access may read them, and images begin in `UNDEFINED`.
//!
//! The bytes of a subresource of an image are unspecified, so each counts as having all of them.
//! Whether a write is available is kept for each part that is opened after it: barriers of a range
//! make available whatever was written to the memory of the range, by whatever name, and nothing
//! beyond.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use quadrille_sync::{BlockId, Placement, ResourceId, ResourceKind};

use super::barrier::Recorded;
use super::cell::{Cell, Contents, Read, Scopes, Write};
use super::clock::{Done, View};
use super::{Judge, Tracked, Trial};
use crate::area::{Area, AreaMap};
use crate::violation::{Actor, MissingDependency, ResourcePart, Violation};

/// The accesses to bytes of a block before another resource had them.
#[derive(Clone, Debug)]
pub(crate) struct Former {
    /// The part of the former resource.
    place: ResourcePart,
    bytes: Range<u64>,
    pub(crate) write: Option<Write>,
    reads: Vec<Read>,
}

impl Former {
    /// Accesses to bytes of a block.
    pub(super) fn new(
        place: ResourcePart,
        bytes: Range<u64>,
        write: Option<Write>,
        reads: Vec<Read>,
    ) -> Self {
        Self {
            place,
            bytes,
            write,
            reads,
        }
    }
}

/// A barrier of a range of a resource that is not open yet.
#[derive(Clone, Debug)]
pub(super) struct Early {
    area: Area,
    view: View,
    scopes: Scopes,
    done: Done,
}

/// By block: what was done to its bytes by all that have been closed.
pub(super) type Blocks = BTreeMap<BlockId, Vec<Former>>;

impl Judge {
    /// Forgets a block of memory, so that its id can be given to another one.
    pub fn remove_block(&mut self, block: BlockId) {
        self.blocks.remove(&block);
    }

    /// All writes that a later access may still depend on.
    pub(super) fn for_each_write(&mut self, mut each: impl FnMut(&mut Write)) {
        for tracked in self.resources.values_mut() {
            for cell in tracked.cells.values_mut() {
                cell.for_each_write(&mut each);
            }
        }
        let formers = self.blocks.values_mut().flatten();
        formers
            .filter_map(|former| former.write.as_mut())
            .for_each(each);
    }

    /// Ends all turns, with the frame.
    pub(super) fn close_all(&mut self) {
        for tracked in self.resources.values_mut() {
            tracked.early.clear();
            if let Some(place) = tracked.memory {
                tracked.close((place.block, &place.range()), &mut self.blocks, None);
                tracked.cells = AreaMap::new(Area::whole(&tracked.kind), Cell::fresh());
            }
        }
    }
}

impl Trial<'_> {
    /// Opens what is not open yet of a part of a resource that is about to be touched.
    pub(super) fn open(&mut self, id: ResourceId, area: &Area) {
        let Some(tracked) = self.judge.resources.get_mut(&id) else {
            return;
        };
        let Some(place) = tracked.memory else {
            return;
        };
        let (kind, name) = (tracked.kind, tracked.name.clone());
        let cells = tracked.cells.touch(area);
        let closed = cells.filter(|(_, cell)| !cell.is_open);
        let parts: Vec<Area> = closed.map(|(part, _)| part.clone()).collect();
        for part in parts {
            let bytes = bytes_of(&kind, place, &part);
            for (other, tracked) in &mut self.judge.resources {
                if *other != id {
                    tracked.close((place.block, &bytes), &mut self.judge.blocks, Some(&name));
                }
            }
            let history = self.judge.blocks.entry(place.block).or_default();
            if let Some(tracked) = self.judge.resources.get_mut(&id) {
                tracked.open(place, &part, history);
            }
        }
    }
}

impl Tracked {
    /// Takes over the bytes of a part. What is known of its contents stays: nothing, or that
    /// others have taken them.
    fn open(&mut self, place: Placement, part: &Area, history: &[Former]) {
        for former in history {
            let area = part_of(&self.kind, place, &former.bytes);
            if let Some(area) = area.and_then(|area| area.intersection(part)) {
                for (_, cell) in self.cells.touch(&area) {
                    cell.formers.push(former.clone());
                }
            }
        }
        for early in &self.early {
            if let Some(area) = early.area.intersection(part) {
                for (_, cell) in self.cells.touch(&area) {
                    cell.for_each_write(&mut |write| early.pass(write));
                }
            }
        }
        for (_, cell) in self.cells.touch(part) {
            cell.is_open = true;
        }
    }

    /// Remembers a barrier of a range whose memory others may have still: it can come before the
    /// last of them is closed, as long as it comes after all that was done to the range.
    pub(super) fn remember(&mut self, barrier: &Recorded, area: &Area) {
        self.early.push(Early {
            area: area.clone(),
            view: barrier.view.clone(),
            scopes: barrier.scopes,
            done: barrier.done,
        });
    }

    /// Leaves some bytes of a block to another resource, or to the next frame.
    fn close(
        &mut self,
        (block, bytes): (BlockId, &Range<u64>),
        blocks: &mut Blocks,
        by: Option<&Arc<str>>,
    ) {
        let Some(place) = self.memory.filter(|place| place.block == block) else {
            return;
        };
        let Some(area) = part_of(&self.kind, place, bytes) else {
            return;
        };
        let history = blocks.entry(block).or_default();
        let (kind, name, is_image) = (self.kind, self.name.clone(), self.is_image());
        // An execution dependency on a write covers all that the write depended on.
        let is_written = |cell: &Cell| cell.is_open && cell.write.is_some();
        if is_image && self.cells.iter().all(|(_, cell)| is_written(cell)) {
            cut(history, &place.range());
        }
        for (part, cell) in self.cells.touch(&area).filter(|(_, cell)| cell.is_open) {
            let bytes = bytes_of(&kind, place, part);
            if !is_image && is_written(cell) {
                cut(history, &bytes);
            }
            if cell.write.is_some() || !cell.reads.is_empty() {
                history.push(Former {
                    place: ResourcePart {
                        resource: name.clone(),
                        range: part.words(&kind),
                    },
                    bytes,
                    write: cell.write.take(),
                    reads: std::mem::take(&mut cell.reads),
                });
            }
            *cell = Cell::fresh();
            if let Some(by) = by {
                cell.contents = Contents::Taken(by.clone());
            }
        }
    }
}

impl Early {
    /// Makes a write that came before the barrier available.
    fn pass(&self, write: &mut Write) {
        if self.view.sees(&write.done) {
            write.pass_barrier(&self.view, self.scopes, self.done);
        }
    }
}

impl Cell {
    /// The writes that the next access has to come after.
    pub(super) fn for_each_write(&mut self, each: &mut impl FnMut(&mut Write)) {
        let formers = self.formers.iter_mut();
        let formers = formers.filter_map(|former| former.write.as_mut());
        self.write.iter_mut().chain(formers).for_each(each);
    }

    /// Looks for what others have done to the memory and an access with this view does not come
    /// after. `covers` says of a write whether the access, a barrier, makes it available itself.
    pub(super) fn judge_formers(
        &self,
        (later, place): (&Actor, &ResourcePart),
        (column, view): (usize, &View),
        covers: impl Fn(&Write) -> bool,
        violations: &mut Vec<Violation>,
    ) {
        let mut object = |former: &Former, earlier: &Actor, lack| {
            violations.push(Violation::MemoryHazard {
                place: place.clone(),
                former: former.place.clone(),
                earlier: earlier.clone(),
                later: later.clone(),
                lack,
            });
        };
        // One report for each is enough: the reads came after the write.
        for former in &self.formers {
            let unseen = |read: &&Read| !view.sees(&read.done);
            if let Some(read) = former.reads.iter().find(unseen) {
                object(former, &read.actor, MissingDependency::Execution);
            } else if let Some(write) = &former.write {
                if !view.sees(&write.done) {
                    object(former, &write.actor, MissingDependency::Execution);
                } else if !covers(write) && !write.available_to(column, view) {
                    object(former, &write.actor, MissingDependency::Availability);
                }
            }
        }
    }
}

/// The bytes of a block that a part of a resource lies in. What a place has behind the end of a
/// buffer counts as the buffer's last byte.
fn bytes_of(kind: &ResourceKind, place: Placement, part: &Area) -> Range<u64> {
    let ResourceKind::Buffer { bytes } = *kind else {
        return place.range();
    };
    let line = part.line();
    let at = |byte: u64| place.offset.saturating_add(byte);
    let end = if line.end >= bytes {
        place.range().end
    } else {
        at(line.end)
    };
    at(line.start)..end
}

/// The part of a resource that lies in bytes of its block, if any does.
fn part_of(kind: &ResourceKind, place: Placement, bytes: &Range<u64>) -> Option<Area> {
    let own = place.range();
    if bytes.start >= own.end || own.start >= bytes.end {
        return None;
    }
    let ResourceKind::Buffer { bytes: size } = *kind else {
        return Some(Area::whole(kind));
    };
    // Frames that were not validated may have empty buffers, which have no bytes.
    let last = size.checked_sub(1)?;
    let start = bytes.start.saturating_sub(place.offset).min(last);
    let end = (bytes.end - place.offset).min(size);
    Some(Area::bytes(start, end.max(start + 1) - start))
}

/// Takes bytes out of a history.
fn cut(history: &mut Vec<Former>, bytes: &Range<u64>) {
    let mut rest = Vec::new();
    history.retain_mut(|former| {
        let (start, end) = (former.bytes.start, former.bytes.end);
        if end <= bytes.start || bytes.end <= start {
            return true;
        }
        let pieces = [start..bytes.start, bytes.end..end];
        let pieces = pieces.into_iter().filter(|piece| piece.start < piece.end);
        rest.extend(pieces.map(|bytes| Former {
            bytes,
            ..former.clone()
        }));
        false
    });
    history.append(&mut rest);
}
