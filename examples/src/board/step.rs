//! One generation, 32 cells at a time.
//!
//! Neighbours are counted by adding bits sideways: bit `i` of four words together is the count of
//! cell `i`. `shaders/life/step.wgsl` does the same; the tests hold both against a plain loop.

use super::Board;
use crate::Rule;

/// The next generation of `board`.
pub(super) fn step(board: &Board, rule: Rule) -> Board {
    let size = board.size;
    let mut next = Board::new(size);
    let row_length = Board::words_per_row(size) as usize;
    let empty = vec![0; row_length];
    let occupied: Vec<bool> = (0..size.height()).map(|y| board.row(y) != empty).collect();
    let born_of_nothing = rule.lives(false, 0);
    for (y, next_row) in (0..size.height()).zip(next.words.chunks_exact_mut(row_length)) {
        let rows = [
            (y + size.height() - 1) % size.height(),
            y,
            (y + 1) % size.height(),
        ];
        // Most of a large board is empty, and stays so.
        if born_of_nothing || rows.iter().any(|row| occupied[*row as usize]) {
            step_row(rows.map(|row| board.row(row)), size.width(), rule, next_row);
        }
    }
    next
}

/// The next generation of the middle one of three rows.
fn step_row(rows: [&[u32]; 3], width: u32, rule: Rule, next: &mut [u32]) {
    for (index, word) in next.iter_mut().enumerate() {
        let rows = rows.map(|row| Neighbourhood::around(row, index, width));
        *word = apply(rule, rows[1].cells, count(rows));
    }
    let padding = next.len() as u32 * Board::WORD_CELLS - width;
    if let Some(last) = next.last_mut() {
        *last &= u32::MAX >> padding;
    }
}

/// 32 cells of a row; bit `i` of `west` and `east` is the cell beside cell `i`.
#[derive(Clone, Copy)]
struct Neighbourhood {
    west: u32,
    cells: u32,
    east: u32,
}

impl Neighbourhood {
    fn around(row: &[u32], index: usize, width: u32) -> Self {
        let last = row.len() - 1;
        // The bit of the row's last cell in the row's last word.
        let last_bit = (width - 1) % Board::WORD_CELLS;
        let cells = row[index];
        let before = if index == 0 {
            row[last] >> last_bit & 1
        } else {
            row[index - 1] >> 31
        };
        let after = if index == last {
            (row[0] & 1) << last_bit
        } else {
            row[index + 1] << 31
        };
        Self {
            west: cells << 1 | before,
            cells,
            east: cells >> 1 | after,
        }
    }
}

/// The number of live neighbours of each cell, as the words of its binary digits, ones first.
fn count([above, here, below]: [Neighbourhood; 3]) -> [u32; 4] {
    let (above_ones, above_twos) = add(above.west, above.cells, above.east);
    let (here_ones, here_twos) = (here.west ^ here.east, here.west & here.east);
    let (below_ones, below_twos) = add(below.west, below.cells, below.east);
    let (ones, carried_twos) = add(above_ones, here_ones, below_ones);
    let (row_twos, row_fours) = add(above_twos, here_twos, below_twos);
    let (twos, carried_fours) = (row_twos ^ carried_twos, row_twos & carried_twos);
    [
        ones,
        twos,
        row_fours ^ carried_fours,
        row_fours & carried_fours,
    ]
}

/// Adds three one-digit numbers per bit: their ones and their twos.
fn add(a: u32, b: u32, c: u32) -> (u32, u32) {
    (a ^ b ^ c, a & b | c & (a ^ b))
}

/// The cells that live, given the cells and the digits of their counts.
fn apply(rule: Rule, cells: u32, digits: [u32; 4]) -> u32 {
    let mut next = 0;
    for neighbours in 0..=8 {
        let born = if rule.lives(false, neighbours) {
            !cells
        } else {
            0
        };
        let surviving = if rule.lives(true, neighbours) {
            cells
        } else {
            0
        };
        if born | surviving != 0 {
            next |= (born | surviving) & equal(digits, neighbours);
        }
    }
    next
}

/// The cells whose count is `neighbours`.
fn equal(digits: [u32; 4], neighbours: u32) -> u32 {
    let equal = |digit: usize| {
        if neighbours >> digit & 1 == 1 {
            digits[digit]
        } else {
            !digits[digit]
        }
    };
    equal(0) & equal(1) & equal(2) & equal(3)
}
