//! View of a board in a window.

use crate::Size;

/// A view of a board: the cell in the middle of the window, and the zoom.
///
/// Points on the board are in cells from its top left corner, points in the window in pixels from
/// its own.
///
/// ```
/// use examples::{Size, view::View};
///
/// let window = [800.0, 600.0];
/// let mut view = View::fit(Size::new(400, 300)?, window);
/// assert_eq!(view.cell_at([400.0, 300.0], window), [200.0, 150.0]);
///
/// // The cell under the pointer stays there.
/// let pointer = [100.0, 50.0];
/// let before = view.cell_at(pointer, window);
/// view.zoom(2.0, pointer, window);
/// let after = view.cell_at(pointer, window);
/// assert!((0..2).all(|axis| (after[axis] - before[axis]).abs() < 1e-3));
/// # Ok::<(), examples::size::SizeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    centre: [f32; 2],
    cells_per_pixel: f32,
}

impl View {
    /// The nearest view: a cell as wide as 64 pixels.
    pub const MIN_CELLS_PER_PIXEL: f32 = 1.0 / 64.0;
    /// The farthest view, which `shaders/life/draw.wgsl` can still average exactly. The largest
    /// board is 273 pixels wide then.
    pub const MAX_CELLS_PER_PIXEL: f32 = 30.0;
    /// Margin that [`View::fit`] leaves around the board, as a share of the window.
    const MARGIN: f32 = 0.04;

    /// A view of the point `centre`, with pixels of so many cells a side; what is beyond the
    /// nearest or farthest view becomes that.
    pub fn new(centre: [f32; 2], cells_per_pixel: f32) -> Self {
        let cells_per_pixel =
            cells_per_pixel.clamp(Self::MIN_CELLS_PER_PIXEL, Self::MAX_CELLS_PER_PIXEL);
        Self {
            centre,
            cells_per_pixel,
        }
    }

    /// All of a board, in the middle of the window.
    pub fn fit(size: Size, window: [f32; 2]) -> Self {
        let board = [size.width() as f32, size.height() as f32];
        let room = 1.0 - Self::MARGIN;
        // A minimised window has no pixels.
        let needed = |axis: usize| board[axis] / (window[axis] * room).max(1.0);
        Self::new(board.map(|side| side / 2.0), needed(0).max(needed(1)))
    }

    /// The point of the board in the middle of the window, in cells.
    pub fn centre(&self) -> [f32; 2] {
        self.centre
    }

    /// Side of a pixel, in cells.
    pub fn cells_per_pixel(&self) -> f32 {
        self.cells_per_pixel
    }

    /// The point of the board under a pixel, in cells; it may lie outside.
    pub fn cell_at(&self, pixel: [f32; 2], window: [f32; 2]) -> [f32; 2] {
        [0, 1].map(|axis| {
            self.centre[axis] + (pixel[axis] - window[axis] / 2.0) * self.cells_per_pixel
        })
    }

    /// Moves the board with a pointer that moved by so many pixels.
    pub fn pan(&mut self, pixels: [f32; 2]) {
        self.centre = [0, 1].map(|axis| self.centre[axis] - pixels[axis] * self.cells_per_pixel);
    }

    /// Makes cells larger by `factor` (smaller below 1) and keeps what is under `pixel` there.
    pub fn zoom(&mut self, factor: f32, pixel: [f32; 2], window: [f32; 2]) {
        let fixed = self.cell_at(pixel, window);
        let zoomed = Self::new(self.centre, self.cells_per_pixel / factor.max(f32::EPSILON));
        let moved = zoomed.cell_at(pixel, window);
        let centre = [0, 1].map(|axis| self.centre[axis] + fixed[axis] - moved[axis]);
        *self = Self { centre, ..zoomed };
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
