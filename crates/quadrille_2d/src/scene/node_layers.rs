//! Order of the batches of UI nodes: a quad joins an earlier batch of its kind if it overlaps nothing that was drawn since.
//!
//! Buttons with texts alternate between boxes and glyphs. Drawn node by node they take two draws each, reordered two in all.

use bevy_math::{Rect, Vec2};
use bevy_platform::collections::HashMap;
use quadrille_content::meshes::MeshAllocation;

use crate::scene::phase::{Batch, BatchKind};

/// Width and height of a cell in pixels.
const CELL: f32 = 64.0;
/// Cells of a quad from which it is compared on its own.
const MOST_CELLS: usize = 64;
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

/// Batches of a view while its nodes are added, in drawing order.
#[derive(Default)]
pub(crate) struct NodeLayers {
    /// Batches, whose ranges count instances from 0.
    batches: Vec<Batch>,
    states: Vec<DrawState>,
    /// Last batch of each state.
    latest: HashMap<DrawState, u32>,
    /// Columns and rows of `cells`.
    size: [usize; 2],
    cells: Vec<Vec<Drawn>>,
    large: Vec<Drawn>,
    /// First batch that quads may join.
    first_open: u32,
}

impl NodeLayers {
    /// Begins a view of so many pixels.
    pub(crate) fn begin(&mut self, size: Vec2) {
        self.batches.clear();
        self.states.clear();
        self.latest.clear();
        self.large.clear();
        self.first_open = 0;
        self.size = [size.x, size.y].map(|length| (length / CELL).ceil().max(1.0) as usize);
        let count = self.size[0] * self.size[1];
        self.cells.iter_mut().for_each(Vec::clear);
        self.cells.resize_with(count, Vec::new);
    }

    /// Adds a quad that covers `bounds`, in pixels with y up from the view's top left corner. Returns its batch.
    pub(crate) fn add(&mut self, batch: Batch, bounds: Rect) -> u32 {
        let state = DrawState::of(&batch);
        let bounds = match bounds.min.is_finite() && bounds.max.is_finite() {
            true => bounds,
            false => Rect {
                min: Vec2::NEG_INFINITY,
                max: Vec2::INFINITY,
            },
        };
        let newest = self.batches.len().checked_sub(1).map(|it| it as u32);
        let is_newest = newest.is_some_and(|it| self.states[it as usize] == state);
        let joined = match is_newest {
            true => newest,
            false => {
                let latest = self.latest.get(&state).copied();
                latest.filter(|it| *it >= self.first_open && !self.is_covered(bounds, *it))
            }
        };
        let index = joined.unwrap_or_else(|| {
            self.batches.push(Batch {
                instances: 0..0,
                ..batch
            });
            self.states.push(state);
            let index = self.batches.len() as u32 - 1;
            self.latest.insert(state, index);
            index
        });
        self.batches[index as usize].instances.end += 1;
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

    /// Whether a quad of a batch after `batch` overlaps `bounds`.
    fn is_covered(&self, bounds: Rect, batch: u32) -> bool {
        let covers = |drawn: &Drawn| drawn.batch > batch && overlaps(drawn.bounds, bounds);
        let [columns, rows] = self.cells_of(bounds);
        self.large.iter().any(covers)
            || rows.into_iter().any(|row| {
                let row = row * self.size[0];
                let cells = &self.cells[row + columns.start..row + columns.end];
                cells.iter().flatten().any(covers)
            })
    }

    /// Notes what a quad covers.
    fn cover(&mut self, drawn: Drawn) {
        let [columns, rows] = self.cells_of(drawn.bounds);
        if columns.len() * rows.len() > MOST_CELLS {
            if self.large.len() >= MOST_LARGE {
                self.large.clear();
                self.cells.iter_mut().for_each(Vec::clear);
                self.first_open = self.batches.len() as u32 - 1;
            }
            self.large.push(drawn);
            return;
        }
        for row in rows {
            for column in columns.clone() {
                let cell = &mut self.cells[row * self.size[0] + column];
                if cell.len() >= MOST_IN_CELL {
                    let min = Vec2::new(column as f32, -(row as f32 + 1.0)) * CELL;
                    let batch = cell.iter().fold(drawn.batch, |most, it| most.max(it.batch));
                    // Quads beyond the view are in the cells at its edge.
                    let bounds = cell.iter().fold(
                        Rect::from_corners(min, min + CELL).union(drawn.bounds),
                        |all, it| all.union(it.bounds),
                    );
                    cell.clear();
                    cell.push(Drawn { bounds, batch });
                } else {
                    cell.push(drawn);
                }
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
