//! Memory blocks: transient resources that share bytes occupy them one after the other.
//!
//! The first access of a frame to a part of a placed resource *opens* the part, whether by a pass or
//! by a barrier that changes the layout. All other resources in the same bytes are *closed*. Their
//! accesses are kept. Until it is written, the next resource needs an execution dependency on all
//! accesses of former resources to its bytes, and their writes must be available. Former contents are
//! lost: they need not be visible, no access may read them, and images begin in `UNDEFINED`.
//!
//! Only a global memory barrier, a wait or the host makes former writes available. A barrier for a
//! buffer or an image covers accesses through that buffer or image ("Image Memory Barriers"), and
//! drivers may choose by the barrier's image which caches they flush.
//! A layout transition happens in the middle of its own barrier, so the first scope of that barrier must
//! include the former writes too ("Memory Aliasing").
//!
//! The bytes of an image subresource are unspecified, so each counts as all bytes of the image.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use quadrille_sync::resource::{BlockId, Placement, ResourceId, ResourceKind};

use super::cell::{Cell, Contents, Read, Write};
use super::clock::View;
use super::{FrameCheck, Judge, Tracked};
use crate::area::{Area, AreaMap};
use crate::violation::{Actor, MissingDependency, ResourcePart, Violation};

/// Accesses of a former resource to bytes of a block.
#[derive(Clone, Debug)]
pub(crate) struct Former {
    /// The part of the former resource.
    affected: ResourcePart,
    bytes: Range<u64>,
    pub(crate) write: Option<Write>,
    reads: Vec<Read>,
}

impl Former {
    pub(super) fn new(
        affected: ResourcePart,
        bytes: Range<u64>,
        write: Option<Write>,
        reads: Vec<Read>,
    ) -> Self {
        Self {
            affected,
            bytes,
            write,
            reads,
        }
    }
}

/// By block: accesses of closed resources.
pub(super) type Blocks = BTreeMap<BlockId, Vec<Former>>;

impl Judge {
    /// Removes a memory block, so that its id can be reused.
    pub fn remove_block(&mut self, block: BlockId) {
        self.blocks.remove(&block);
    }

    /// Calls `each` with all writes that a later access may still depend on.
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

    /// Closes all placed resources at the end of the frame.
    pub(super) fn close_all(&mut self) {
        for tracked in self.resources.values_mut() {
            if let Some(placement) = tracked.memory {
                tracked.close(
                    (placement.block, &placement.range()),
                    &mut self.blocks,
                    None,
                );
                tracked.cells = AreaMap::new(Area::whole(&tracked.kind), Cell::fresh());
            }
        }
    }
}

impl FrameCheck<'_> {
    /// Opens a part of a resource before an access, where it is not open yet.
    pub(super) fn open(&mut self, id: ResourceId, area: &Area) {
        let Some(tracked) = self.judge.resources.get_mut(&id) else {
            return;
        };
        let Some(placement) = tracked.memory else {
            return;
        };
        let (kind, name) = (tracked.kind, tracked.name.clone());
        let cells = tracked.cells.parts_mut(area);
        let closed = cells.filter(|(_, cell)| !cell.is_open);
        let parts: Vec<Area> = closed.map(|(part, _)| part.clone()).collect();
        for part in parts {
            let bytes = bytes_of(&kind, placement, &part);
            for (other, tracked) in &mut self.judge.resources {
                if *other != id {
                    tracked.close(
                        (placement.block, &bytes),
                        &mut self.judge.blocks,
                        Some(&name),
                    );
                }
            }
            let history = self.judge.blocks.entry(placement.block).or_default();
            if let Some(tracked) = self.judge.resources.get_mut(&id) {
                tracked.open(placement, &part, history);
            }
        }
    }
}

impl Tracked {
    /// Takes over the bytes of a part, with the accesses of former resources. Its contents stay
    /// undefined, or taken by others.
    fn open(&mut self, placement: Placement, part: &Area, history: &[Former]) {
        for former in history {
            let area = part_of(&self.kind, placement, &former.bytes);
            if let Some(area) = area.and_then(|area| area.intersection(part)) {
                for (_, cell) in self.cells.parts_mut(&area) {
                    cell.formers.push(former.clone());
                }
            }
        }
        for (_, cell) in self.cells.parts_mut(part) {
            cell.is_open = true;
        }
    }

    /// Closes the parts of the resource in some bytes of a block, for another resource or at the end of
    /// the frame.
    fn close(
        &mut self,
        (block, bytes): (BlockId, &Range<u64>),
        blocks: &mut Blocks,
        by: Option<&Arc<str>>,
    ) {
        let Some(placement) = self.memory.filter(|placement| placement.block == block) else {
            return;
        };
        let Some(area) = part_of(&self.kind, placement, bytes) else {
            return;
        };
        let history = blocks.entry(block).or_default();
        let (kind, name, is_image) = (self.kind, self.name.clone(), self.is_image());
        // An execution dependency on a write also covers all accesses that the write depended on.
        let is_written = |cell: &Cell| cell.is_open && cell.write.is_some();
        if is_image && self.cells.iter().all(|(_, cell)| is_written(cell)) {
            cut(history, &placement.range());
        }
        for (part, cell) in self.cells.parts_mut(&area).filter(|(_, cell)| cell.is_open) {
            let bytes = bytes_of(&kind, placement, part);
            if !is_image && is_written(cell) {
                cut(history, &bytes);
            }
            if cell.write.is_some() || !cell.reads.is_empty() {
                history.push(Former {
                    affected: ResourcePart {
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

impl Cell {
    /// Calls `each` with the writes that the next access must be ordered after.
    pub(super) fn for_each_write(&mut self, each: &mut impl FnMut(&mut Write)) {
        let formers = self.formers.iter_mut();
        let formers = formers.filter_map(|former| former.write.as_mut());
        self.write.iter_mut().chain(formers).for_each(each);
    }

    /// Reports accesses of former resources to the memory that an access with this view is not
    /// ordered after. `covers` returns whether the access, a barrier, makes a write available itself.
    pub(super) fn judge_formers(
        &self,
        (later, affected): (&Actor, &ResourcePart),
        (column, view): (usize, &View),
        covers: impl Fn(&Write) -> bool,
        violations: &mut Vec<Violation>,
    ) {
        let mut report = |former: &Former, earlier: &Actor, missing| {
            violations.push(Violation::MemoryHazard {
                affected: affected.clone(),
                former: former.affected.clone(),
                earlier: earlier.clone(),
                later: later.clone(),
                missing,
            });
        };
        // One report per former resource: its reads came after its write.
        for former in &self.formers {
            let unseen = |read: &&Read| !view.sees(&read.done);
            if let Some(read) = former.reads.iter().find(unseen) {
                report(former, &read.actor, MissingDependency::Execution);
            } else if let Some(write) = &former.write {
                if !view.sees(&write.done) {
                    report(former, &write.actor, MissingDependency::Execution);
                } else if !covers(write) && !write.available_to(column, view) {
                    report(former, &write.actor, MissingDependency::Availability);
                }
            }
        }
    }
}

/// The bytes of a block that a part of a resource occupies. Bytes of the placement beyond the end of a
/// buffer belong to the buffer's last byte.
fn bytes_of(kind: &ResourceKind, placement: Placement, part: &Area) -> Range<u64> {
    let ResourceKind::Buffer { bytes } = *kind else {
        return placement.range();
    };
    let line = part.line();
    let at = |byte: u64| placement.offset.saturating_add(byte);
    let end = if line.end >= bytes {
        placement.range().end
    } else {
        at(line.end)
    };
    at(line.start)..end
}

/// The part of a resource that occupies the given bytes of its block, if any.
fn part_of(kind: &ResourceKind, placement: Placement, bytes: &Range<u64>) -> Option<Area> {
    let own = placement.range();
    if bytes.start >= own.end || own.start >= bytes.end {
        return None;
    }
    let ResourceKind::Buffer { bytes: size } = *kind else {
        return Some(Area::whole(kind));
    };
    // Frames that were not validated may have empty buffers, which have no bytes.
    let last = size.checked_sub(1)?;
    let start = bytes.start.saturating_sub(placement.offset).min(last);
    let end = (bytes.end - placement.offset).min(size);
    Some(Area::bytes(start, end.max(start + 1) - start))
}

/// Removes bytes from a history.
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
