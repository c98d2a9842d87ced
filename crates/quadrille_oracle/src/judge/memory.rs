//! Blocks of memory: transient resources that share bytes take turns.
//!
//! The first barrier or access of a frame that names a placed resource *opens* it: whoever else has
//! had any of its bytes in the frame is *closed*. What was done to bytes outlives the turn. Each
//! part of a newcomer has to come after all that others have done to its bytes, and has to find
//! their writes available, until somebody has written the part. What they wrote is gone for all: it
//! need not be visible to anybody, nobody can read it again, and images begin in `UNDEFINED`.
//!
//! Of an image nobody knows which bytes a subresource has, so each has all of them. Whether a write
//! is available is kept for each part that comes after it: barriers of a range make available
//! whatever was written to the memory of the range, by whatever name, and nothing beyond.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use quadrille_sync::{BlockId, Placement, ResourceId, ResourceKind};

use super::cell::{Cell, Contents, Read, Write};
use super::clock::View;
use super::{Judge, Tracked, Trial};
use crate::area::{Area, AreaMap};
use crate::violation::{Actor, Lack, Place, Violation};

/// What was done to bytes of a block before they were somebody else's.
#[derive(Clone, Debug)]
pub(crate) struct Former {
    /// What it was done to.
    place: Place,
    bytes: Range<u64>,
    pub(crate) write: Option<Write>,
    reads: Vec<Read>,
}

/// By block: what was done to its bytes by all that have been closed.
pub(super) type Blocks = BTreeMap<BlockId, Vec<Former>>;

impl Judge {
    /// Forgets a block of memory, so that its id can be given to another one.
    pub fn remove_block(&mut self, block: BlockId) {
        self.blocks.remove(&block);
    }

    /// All writes that anybody may still have to come after.
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

    /// Closes every resource of the last frame.
    pub(super) fn close_all(&mut self) {
        for tracked in self.resources.values_mut().filter(|it| it.is_open) {
            tracked.close(&mut self.blocks);
        }
    }
}

impl Trial<'_> {
    /// Opens a resource that is about to be touched, if it shares memory and is not open yet.
    pub(super) fn open(&mut self, id: ResourceId) {
        let Some(tracked) = self.judge.resources.get(&id) else {
            return;
        };
        let Some(place) = tracked.memory.filter(|_| !tracked.is_open) else {
            return;
        };
        let name = tracked.name.clone();
        for (other, tracked) in &mut self.judge.resources {
            let shares = |it: &Placement| it.overlaps(&place);
            if *other != id && tracked.is_open && tracked.memory.as_ref().is_some_and(shares) {
                tracked.close(&mut self.judge.blocks);
                tracked.lose(&name);
            }
        }
        let formers = self.judge.blocks.get(&place.block);
        if let Some(tracked) = self.judge.resources.get_mut(&id) {
            tracked.open(place, formers.map(Vec::as_slice).unwrap_or_default());
        }
    }
}

impl Tracked {
    /// Takes over its bytes. What it knows of its contents stays: nothing, or that others have
    /// taken them.
    fn open(&mut self, place: Placement, formers: &[Former]) {
        self.is_open = true;
        for former in formers {
            let Some(area) = part_of(&self.kind, place, &former.bytes) else {
                continue;
            };
            for (_, cell) in self.cells.touch(&area) {
                cell.formers.push(former.clone());
            }
        }
    }

    /// Leaves its bytes to others.
    fn close(&mut self, blocks: &mut Blocks) {
        self.is_open = false;
        let Some(place) = self.memory else { return };
        let history = blocks.entry(place.block).or_default();
        let is_image = self.is_image();
        let cells = self.cells.iter();
        // Whoever comes after a write comes after all that the write has come after.
        if is_image && cells.clone().all(|(_, cell)| cell.write.is_some()) {
            cut(history, &place.range());
        }
        for (part, cell) in cells {
            let bytes = bytes_of(&self.kind, place, part);
            if !is_image && cell.write.is_some() {
                cut(history, &bytes);
            }
            if cell.write.is_some() || !cell.reads.is_empty() {
                history.push(Former {
                    place: self.place(part),
                    bytes,
                    write: cell.write.clone(),
                    reads: cell.reads.clone(),
                });
            }
        }
        self.cells = AreaMap::new(Area::whole(&self.kind), Cell::fresh());
    }

    /// Another resource has taken the bytes.
    fn lose(&mut self, by: &Arc<str>) {
        for cell in self.cells.values_mut() {
            cell.contents = Contents::Taken(by.clone());
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
        (later, place): (&Actor, &Place),
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
                object(former, &read.actor, Lack::Execution);
            } else if let Some(write) = &former.write {
                if !view.sees(&write.done) {
                    object(former, &write.actor, Lack::Execution);
                } else if !covers(write) && !write.available_to(column, view) {
                    object(former, &write.actor, Lack::Availability);
                }
            }
        }
    }
}

/// The bytes of a block that a part of a resource lies in.
fn bytes_of(kind: &ResourceKind, place: Placement, part: &Area) -> Range<u64> {
    match kind {
        ResourceKind::Image { .. } => place.range(),
        ResourceKind::Buffer { .. } => {
            let line = part.line();
            place.offset + line.start..place.offset + line.end
        }
    }
}

/// The part of a resource that lies in bytes of its block, if any does.
fn part_of(kind: &ResourceKind, place: Placement, bytes: &Range<u64>) -> Option<Area> {
    let own = place.range();
    let whole = Area::whole(kind);
    if bytes.start >= own.end || own.start >= bytes.end {
        return None;
    }
    match kind {
        ResourceKind::Image { .. } => Some(whole),
        ResourceKind::Buffer { .. } => {
            let start = bytes.start.saturating_sub(place.offset);
            let end = bytes.end - place.offset;
            whole.intersection(&Area::bytes(start, end - start))
        }
    }
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
