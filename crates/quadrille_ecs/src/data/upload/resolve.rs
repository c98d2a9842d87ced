//! Pending writes that overlap: the newer ones count.
//!
//! All functions take writes in the order in which they were made. Their time is in proportion to
//! `n log n`, however the writes are scattered.

use std::collections::BinaryHeap;

use quadrille_sync::ResourceId;
use quadrille_vulkan::ImageRegion;

/// Bytes of a buffer that a write covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) buffer: ResourceId,
    pub(super) start: u64,
    pub(super) end: u64,
    /// Writes of one step are in no order; copies read the result of earlier steps.
    pub(super) step: u32,
    /// Index of the write; a higher one is newer.
    pub(super) write: u32,
}

/// Write, end and step of the spans that have begun, the newest on top.
pub(super) type Active = BinaryHeap<(u32, u64, u32)>;

/// Leaves out bytes that a newer write of the same or an earlier step covers. A span that is covered in
/// part becomes the parts that are not. The result is sorted by buffer, then by step, then by offset.
pub(super) fn visible_bytes(spans: &mut [Span], active: &mut Active, visible: &mut Vec<Span>) {
    visible.clear();
    spans.sort_unstable_by_key(|span| (span.buffer, span.start, span.write));
    for group in spans.chunk_by(|one, next| one.buffer == next.buffer) {
        let mut last = None;
        while let Some(step) = next_step(group, last) {
            sweep(group, step, active, visible);
            last = Some(step);
        }
    }
}

/// The first step behind another one.
fn next_step(group: &[Span], last: Option<u32>) -> Option<u32> {
    let steps = group.iter().map(|span| span.step);
    steps
        .filter(|&step| last.is_none_or(|last| step > last))
        .min()
}

/// Sweeps over the offsets of one buffer with the spans of all steps up to one, and keeps the newest at each
/// offset if it belongs to that step.
fn sweep(group: &[Span], step: u32, active: &mut Active, visible: &mut Vec<Span>) {
    let mut coming = group.iter().filter(|span| span.step <= step).peekable();
    let mut at = 0;
    active.clear();
    loop {
        while let Some(span) = coming.next_if(|span| span.start <= at) {
            active.push((span.write, span.end, span.step));
        }
        while active.peek().is_some_and(|&(_, end, _)| end <= at) {
            active.pop();
        }
        let next = coming.peek().map(|span| span.start);
        let (Some(&(write, end, of_step)), next) = (active.peek(), next) else {
            let Some(start) = next else { return };
            at = start;
            continue;
        };
        let end = next.map_or(end, |next| next.min(end));
        if of_step == step {
            append(visible, group[0].buffer, (at, end), (step, write));
        }
        at = end;
    }
}

/// Adds a part of a span, or lengthens the last one if it is the same write's and ends there.
fn append(
    visible: &mut Vec<Span>,
    buffer: ResourceId,
    (start, end): (u64, u64),
    (step, write): (u32, u32),
) {
    if let Some(last) = visible.last_mut()
        && (last.buffer, last.step, last.write, last.end) == (buffer, step, write, start)
    {
        last.end = end;
    } else {
        visible.push(Span {
            buffer,
            start,
            end,
            step,
            write,
        });
    }
}

/// Texels of an image that a write covers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Texels {
    pub(super) image: ResourceId,
    pub(super) region: ImageRegion,
    /// Index of the write; a higher one is newer.
    pub(super) write: u32,
    /// Step in which it is copied: behind all older writes that it overlaps. None if a newer write covers it.
    pub(super) step: Option<u32>,
}

/// Finds the steps of writes of texels. Copies of one pass are in no order among themselves, so a write that
/// shares texels with an older one comes one step later.
pub(super) fn find_steps(writes: &mut [Texels], grid: &mut Grid) {
    writes.sort_unstable_by_key(|it| (it.image, it.region.mip, it.write));
    for group in writes
        .chunk_by_mut(|one, next| (one.image, one.region.mip) == (next.image, next.region.mip))
    {
        match group {
            [alone] => alone.step = Some(0),
            _ => grid.find_steps(group),
        }
    }
}

/// Squares of texels of one mip level, each with the writes that touch it: so that a write is compared with
/// those near it alone.
#[derive(Default)]
pub(super) struct Grid {
    /// Cells with the writes that touch them. The first ones of a cell, which are older than the write that is
    /// looked at, are replaced by those that still count.
    cells: Vec<([u32; 3], u32)>,
    /// How many of each cell's writes count, at the index of its first.
    live: Vec<u32>,
    /// Pairs of writes that were compared.
    pub(super) compared: usize,
}

/// Texels along a cell's side: so many that a whole large image has few cells, so few that a cell has few
/// glyphs.
const CELL: u32 = 64;

impl Grid {
    /// The writes are of one mip level, and in order.
    fn find_steps(&mut self, writes: &mut [Texels]) {
        self.cells.clear();
        for (index, write) in (0_u32..).zip(writes.iter()) {
            self.cells
                .extend(cells(&write.region).map(|cell| (cell, index)));
        }
        self.cells.sort_unstable();
        self.live.clear();
        self.live.resize(self.cells.len(), 0);
        for index in 0..writes.len() {
            let region = writes[index].region;
            let steps = cells(&region).map(|cell| self.enter(cell, index as u32, writes));
            writes[index].step = steps.max();
        }
    }

    /// Adds a write to a cell, takes those out that it covers, and returns the step behind the others that it
    /// overlaps there.
    fn enter(&mut self, cell: [u32; 3], index: u32, writes: &mut [Texels]) -> u32 {
        let first = self.cells.partition_point(|&it| it < (cell, 0));
        let region = writes[index as usize].region;
        let (mut kept, mut step) = (0, 0);
        for at in 0..self.live[first] as usize {
            let (_, older) = self.cells[first + at];
            let old = &mut writes[older as usize];
            self.compared += 1;
            if region.contains(&old.region) {
                old.step = None;
                continue;
            }
            if let Some(of_old) = old.step.filter(|_| region.overlaps(&old.region)) {
                step = step.max(of_old + 1);
            }
            self.cells[first + kept].1 = older;
            kept += 1;
        }
        self.cells[first + kept].1 = index;
        self.live[first] = kept as u32 + 1;
        step
    }
}

/// The cells that a region touches; slices of depth and array layers count alike, as an image has one of them.
fn cells(region: &ImageRegion) -> impl Iterator<Item = [u32; 3]> + use<> {
    let [x, y, z] = region.offset;
    let [width, height, depth] = region.extent;
    let within = |start: u32, count: u32| start / CELL..(start + count).div_ceil(CELL);
    let (columns, rows) = (within(x, width), within(y, height));
    let slices = z + region.base_layer..z + region.base_layer + depth.max(region.layer_count);
    slices.flat_map(move |slice| {
        let columns = columns.clone();
        rows.clone()
            .flat_map(move |row| columns.clone().map(move |column| [slice, row, column]))
    })
}

#[cfg(test)]
mod tests;
