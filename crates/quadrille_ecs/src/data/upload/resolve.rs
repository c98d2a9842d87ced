//! Overlap resolution of pending writes: the newest write wins.
//!
//! All functions take writes in the order of the calls. Their time is in `O(n log n)` regardless of how writes overlap.

use std::collections::BinaryHeap;

use quadrille_sync::resource::ResourceId;
use quadrille_vulkan::resources::ImageRegion;

/// Byte range of a buffer that a write covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) buffer: ResourceId,
    pub(super) start: u64,
    pub(super) end: u64,
    /// Writes of one step are unordered; copies between buffers read the result of earlier steps.
    pub(super) step: u32,
    /// Index of the write; a higher one is newer.
    pub(super) write: u32,
}

/// Spans at the current offset as (write, end, step), newest on top.
pub(super) type Active = BinaryHeap<(u32, u64, u32)>;

/// Removes bytes that a newer write of the same or an earlier step covers. A partially covered span is split into its
/// visible parts. The result is sorted by buffer, then step, then offset.
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

/// Returns the smallest step after `last`.
fn next_step(group: &[Span], last: Option<u32>) -> Option<u32> {
    let steps = group.iter().map(|span| span.step);
    steps
        .filter(|&step| last.is_none_or(|last| step > last))
        .min()
}

/// Sweeps over the offsets of one buffer with the spans of all steps up to `step`. At each offset the newest span is
/// visible; it is kept if it belongs to `step`.
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

/// Appends a visible part, or extends the previous part if it is contiguous and of the same write.
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

/// Region of an image that a write covers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Texels {
    pub(super) image: ResourceId,
    pub(super) region: ImageRegion,
    /// Index of the write; a higher one is newer.
    pub(super) write: u32,
    /// Step of its copy: one after all older writes that it overlaps. `None` if newer writes cover it.
    pub(super) step: Option<u32>,
}

/// Assigns steps to writes of texels. Copies of one pass are unordered, so a write that overlaps an older one is copied
/// one step later.
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

/// Uniform grid over the texels of one mip level, so that a write is only compared with writes in the same cells.
#[derive(Default)]
pub(super) struct Grid {
    /// Entries (cell, write), sorted by cell. The first entries of a cell are overwritten by the live ones among the
    /// older writes.
    cells: Vec<([u32; 3], u32)>,
    /// Number of live writes of each cell, at the index of the cell's first entry.
    live: Vec<u32>,
    /// Pairs of writes that were compared.
    pub(super) compared: usize,
}

/// Side of a cell in texels: large enough that a large image has few cells, small enough that a cell of a glyph atlas
/// holds few glyphs.
const CELL: u32 = 64;

impl Grid {
    /// Assigns steps to the writes of one mip level, which must be in call order.
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

    /// Adds a write to a cell and removes the older writes that it covers. Returns the step after the remaining writes
    /// that it overlaps there.
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

/// Returns the cells that a region touches. Depth slices and array layers share a coordinate, as an image has only one
/// of them.
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
