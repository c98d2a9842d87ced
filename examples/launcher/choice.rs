//! The chosen tile.

use bevy_ecs::prelude::*;
use bevy_math::IVec2;

/// Tiles in a row.
pub(crate) const COLUMNS: usize = 3;

/// Index of the chosen tile.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice(pub(crate) usize);

impl Choice {
    /// Moves by a number of columns (to the right) and rows (down) among `count` tiles. A move beyond an edge ends at the
    /// other end of its row or column.
    pub(crate) fn moved(self, step: IVec2, count: usize) -> Self {
        let rows = count.div_ceil(COLUMNS);
        let wrapped = |at: usize, step: i32, length: usize| {
            let length = i32::try_from(length).unwrap_or(1).max(1);
            let at = i32::try_from(at).unwrap_or(0) + step;
            usize::try_from(at.rem_euclid(length)).unwrap_or(0)
        };
        let row = wrapped(self.0 / COLUMNS, step.y, rows);
        let in_row = COLUMNS.min(count - row * COLUMNS);
        let column = (self.0 % COLUMNS).min(in_row - 1);
        Self(row * COLUMNS + wrapped(column, step.x, in_row))
    }
}

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;
