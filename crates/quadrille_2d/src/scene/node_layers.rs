//! Order of the batches of UI nodes: a quad joins the first batch of its state behind everything that it overlaps.
//!
//! Buttons with texts alternate between boxes and glyphs. Drawn node by node they take two draws each, reordered two in all.

use bevy_math::{Rect, Vec2};
use bevy_platform::collections::HashMap;
use quadrille_content::meshes::MeshAllocation;

use crate::scene::phase::{Batch, BatchKind};

/// Width and height of a cell in pixels.
const CELL: f32 = 32.0;
/// Cells of a quad from which it is compared on its own.
const MOST_CELLS: usize = 128;
/// Quads that are compared on their own; a further one ends all batches before it.
const MOST_LARGE: usize = 64;
/// Quads of a cell that are compared one by one; further ones count as covering the cell.
const MOST_IN_CELL: usize = 96;

/// State of a draw: batches with the same state may be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct DrawState {
    mesh: MeshAllocation,
    /// Image and sampler.
    texture: Option<[u32; 2]>,
    kind: BatchKind,
    bind_group: Option<u32>,
}

impl DrawState {
    fn of(batch: &Batch) -> Self {
        Self {
            mesh: batch.mesh,
            texture: batch.texture.map(|it| [it.image, it.sampler]),
            kind: batch.kind,
            bind_group: batch.bind_group,
        }
    }
}

/// A quad, and its batch.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    bounds: Rect,
    batch: u32,
}

/// Quads over a part of the view.
#[derive(Default)]
struct Cell {
    drawn: Vec<Drawn>,
    /// Last batch among them.
    last: u32,
}

impl Cell {
    fn clear(&mut self) {
        self.drawn.clear();
        self.last = 0;
    }

    fn push(&mut self, drawn: Drawn) {
        self.drawn.push(drawn);
        self.last = self.last.max(drawn.batch);
    }
}

/// Batches of a view while its nodes are added, in drawing order.
#[derive(Default)]
pub(crate) struct NodeLayers {
    /// Batches, whose ranges count instances from 0.
    batches: Vec<Batch>,
    /// Batches of each state, in drawing order.
    of_state: HashMap<DrawState, Vec<u32>>,
    /// Columns and rows of the view in `cells`.
    size: [usize; 2],
    cells: Vec<Cell>,
    large: Vec<Drawn>,
    /// First batch that quads may join.
    first_open: u32,
    group: Option<Group>,
}

/// Quads that are placed as one while they have one state, such as the glyphs of a text.
struct Group {
    bounds: Rect,
    last: Option<(DrawState, u32)>,
}

/// States of earlier views that are kept for their memory.
const MOST_STATES: usize = 256;

impl NodeLayers {
    /// Begins a view of so many pixels.
    pub(crate) fn begin(&mut self, size: Vec2) {
        self.batches.clear();
        match self.of_state.len() > MOST_STATES {
            true => self.of_state.clear(),
            false => self.of_state.values_mut().for_each(Vec::clear),
        }
        self.group = None;
        self.large.clear();
        self.first_open = 0;
        self.size = [size.x, size.y].map(|length| (length / CELL).ceil().max(1.0) as usize);
        self.cells.iter_mut().for_each(Cell::clear);
        // Views of other sizes use the same cells.
        let count = self.cells.len().max(self.size[0] * self.size[1]);
        self.cells.resize_with(count, Cell::default);
    }

    /// Begins or ends a group of quads, most of which lie within these bounds.
    pub(crate) fn set_group(&mut self, bounds: Option<Rect>) {
        self.group = bounds.map(|bounds| Group { bounds, last: None });
    }

    /// Adds a quad that covers `bounds`, in pixels with y up from the view's top left corner. Returns its batch.
    pub(crate) fn add(&mut self, batch: Batch, bounds: Rect) -> u32 {
        let state = DrawState::of(&batch);
        let group = self.group.as_ref().map(|it| (it.bounds, it.last));
        let group = group.filter(|(all, _)| all.union(bounds) == *all);
        let index = match group {
            Some((_, Some((last, index)))) if last == state => index,
            Some((all, _)) => self.place(state, batch, all),
            None => self.place(state, batch, bounds),
        };
        let is_inside = group.is_some();
        if let Some(group) = &mut self.group {
            // A quad outside of the group may lie over its earlier ones.
            group.last = is_inside.then_some((state, index));
        }
        self.batches[index as usize].instances.end += 1;
        index
    }

    /// Returns the first batch of a state behind everything that overlaps `bounds`, and covers these with it.
    fn place(&mut self, state: DrawState, batch: Batch, bounds: Rect) -> u32 {
        let bounds = match bounds.min.is_finite() && bounds.max.is_finite() {
            true => bounds,
            false => Rect {
                min: Vec2::NEG_INFINITY,
                max: Vec2::INFINITY,
            },
        };
        let behind = self.last_below(bounds);
        let of_state = self.of_state.entry(state).or_default();
        let at = of_state.partition_point(|it| *it < behind);
        let index = of_state.get(at).copied().unwrap_or_else(|| {
            let index = self.batches.len() as u32;
            of_state.push(index);
            self.batches.push(Batch {
                instances: 0..0,
                ..batch
            });
            index
        });
        self.cover(Drawn {
            bounds,
            batch: index,
        });
        index
    }

    /// Batches in drawing order, with the number of their instances as ranges from 0.
    pub(crate) fn batches(&self) -> &[Batch] {
        &self.batches
    }

    /// Returns the last batch that overlaps `bounds`, or the first one that quads may join.
    fn last_below(&self, bounds: Rect) -> u32 {
        let [columns, rows] = self.cells_of(bounds);
        let below = |last: u32, drawn: &Drawn| match drawn.batch > last {
            true if overlaps(drawn.bounds, bounds) => drawn.batch,
            _ => last,
        };
        let mut last = self.large.iter().fold(self.first_open, below);
        for row in rows {
            let row = row * self.size[0];
            for cell in &self.cells[row + columns.start..row + columns.end] {
                if cell.last > last {
                    last = cell.drawn.iter().fold(last, below);
                }
            }
        }
        last
    }

    /// Notes what a quad covers.
    fn cover(&mut self, drawn: Drawn) {
        let [columns, rows] = self.cells_of(drawn.bounds);
        if columns.len() * rows.len() > MOST_CELLS {
            if self.large.len() >= MOST_LARGE {
                self.large.clear();
                self.cells.iter_mut().for_each(Cell::clear);
                // All that was drawn is in this batch or an earlier one.
                self.first_open = self.batches.len() as u32 - 1;
            }
            self.large.push(drawn);
            return;
        }
        for row in rows {
            for column in columns.clone() {
                let cell = &mut self.cells[row * self.size[0] + column];
                if cell.drawn.len() >= MOST_IN_CELL {
                    let min = Vec2::new(column as f32, -(row as f32 + 1.0)) * CELL;
                    let whole = Rect::from_corners(min, min + CELL);
                    // Quads beyond the view are in the cells at its edge.
                    let bounds = |all: Rect, it: &Drawn| all.union(it.bounds);
                    let all = Drawn {
                        bounds: cell.drawn.iter().fold(whole, bounds),
                        batch: cell.last,
                    };
                    cell.drawn.clear();
                    cell.push(all);
                }
                cell.push(drawn);
            }
        }
    }

    /// Columns and rows of the cells that a rectangle overlaps, those at the edge for what lies beyond.
    fn cells_of(&self, bounds: Rect) -> [std::ops::Range<usize>; 2] {
        let range = |low: f32, high: f32, count: usize| {
            let last = count - 1;
            // Conversions of negative numbers end at 0.
            let first = ((low / CELL).floor() as usize).min(last);
            let end = ((high / CELL).ceil() as usize).clamp(first + 1, last.max(first) + 1);
            first..end
        };
        [
            range(bounds.min.x, bounds.max.x, self.size[0]),
            range(-bounds.max.y, -bounds.min.y, self.size[1]),
        ]
    }
}

/// Whether two rectangles share more than an edge.
fn overlaps(a: Rect, b: Rect) -> bool {
    a.min.cmplt(b.max).all() && b.min.cmplt(a.max).all()
}

#[cfg(test)]
mod tests;
