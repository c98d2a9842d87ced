//! The push constants of the shaders, field by field as the WGSL structs have them.
//!
//! Where a shader's work depends on its constants, they also know how many workgroups it takes.

use quadrille::prelude::ShaderType;

use crate::{Board, Rule, Size, View};

/// Constants of `shaders/life/step.wgsl`: one generation.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, ShaderType)]
pub struct Step {
    width: u32,
    height: u32,
    birth: u32,
    survival: u32,
}

impl Step {
    /// Words and rows a workgroup works on.
    const WORKGROUP: [u32; 2] = [32, 4];

    /// The next generation of a board of this size by this rule.
    pub fn new(size: Size, rule: Rule) -> Self {
        Self {
            width: size.width(),
            height: size.height(),
            birth: rule.birth(),
            survival: rule.survival(),
        }
    }

    /// The workgroups to dispatch.
    pub fn workgroups(&self) -> [u32; 3] {
        let words = self.width.div_ceil(Board::WORD_CELLS);
        [
            words.div_ceil(Self::WORKGROUP[0]),
            self.height.div_ceil(Self::WORKGROUP[1]),
            1,
        ]
    }
}

/// Constants of `shaders/life/count.wgsl`: the population. The counter must hold 0 before.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, ShaderType)]
pub struct Count {
    words: u32,
}

impl Count {
    /// Words a workgroup works on.
    const WORKGROUP: u32 = 256;

    /// The population of a board of this size.
    pub fn new(size: Size) -> Self {
        Self {
            words: Board::words_per_row(size) * size.height(),
        }
    }

    /// The workgroups to dispatch.
    pub fn workgroups(&self) -> [u32; 3] {
        [self.words.div_ceil(Self::WORKGROUP), 1, 1]
    }
}

/// Constants of `shaders/life/paint.wgsl`: one stroke of a brush.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, ShaderType)]
pub struct Paint {
    board: [u32; 2],
    from_cell: [i32; 2],
    to_cell: [i32; 2],
    radius: u32,
    alive: u32,
}

impl Paint {
    /// Cells of a workgroup in either direction.
    const WORKGROUP: [u32; 2] = [8, 8];

    /// The widest brush, in cells.
    pub const MAX_RADIUS: u32 = 256;

    /// A stroke between two cells, with a brush of `radius` cells (at most
    /// [`Paint::MAX_RADIUS`]; at 0 the line is one cell wide), that sets cells or clears them.
    ///
    /// The cells may lie outside the board, which is a torus; each is brought to within one board
    /// of it, so that no stroke is longer than three boards.
    pub fn stroke(size: Size, cells: [[i32; 2]; 2], radius: u32, alive: bool) -> Self {
        let board = [size.width(), size.height()];
        let near = |cell: [i32; 2]| {
            let clamp = |value: i32, side: u32| value.clamp(-(side as i32), 2 * side as i32 - 1);
            [clamp(cell[0], board[0]), clamp(cell[1], board[1])]
        };
        Self {
            board,
            from_cell: near(cells[0]),
            to_cell: near(cells[1]),
            radius: radius.min(Self::MAX_RADIUS),
            alive: alive.into(),
        }
    }

    /// The workgroups to dispatch.
    pub fn workgroups(&self) -> [u32; 3] {
        let count = |axis: usize| {
            let length = self.from_cell[axis].abs_diff(self.to_cell[axis]);
            (length + 1 + 2 * self.radius).div_ceil(Self::WORKGROUP[axis])
        };
        [count(0), count(1), 1]
    }
}

/// Constants of `shaders/life/draw.wgsl`: the board as a window sees it. Draw 3 vertices.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, ShaderType)]
pub struct Draw {
    board: [u32; 2],
    window: [f32; 2],
    centre: [f32; 2],
    cells_per_pixel: f32,
    grid: f32,
}

impl Draw {
    /// A board of this size in a window of so many pixels; `grid` parts the cells by thin lines
    /// where they are large enough.
    pub fn new(size: Size, window: [f32; 2], view: &View, grid: bool) -> Self {
        Self {
            board: [size.width(), size.height()],
            window,
            centre: view.centre(),
            cells_per_pixel: view.cells_per_pixel(),
            grid: if grid { 1.0 } else { 0.0 },
        }
    }
}

/// Constants of `shaders/post_process/scene.wgsl`: a moving picture. Draw 3 vertices.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, ShaderType)]
pub struct Scene {
    /// Width of the picture over its height.
    pub aspect: f32,
    /// In seconds.
    pub time: f32,
}

/// Constants of `shaders/post_process/effect.wgsl`: a cheap lens. Draw 3 vertices.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, ShaderType)]
pub struct Effect {
    /// Width of the picture over its height.
    pub aspect: f32,
    /// 0 leaves the picture as it is, 1 is a strong effect.
    pub strength: f32,
}

/// Constants of `shaders/windows/pictures.wgsl`: one of the moving pictures.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, ShaderType)]
pub struct Picture {
    /// Width of the window over its height.
    pub aspect: f32,
    /// In seconds.
    pub time: f32,
    /// Index of the picture; they repeat.
    pub number: u32,
}

#[cfg(test)]
#[path = "constants_tests.rs"]
mod tests;
