//! A torus of cells, in the bit-packed memory layout of the shaders.

use thiserror::Error;

use crate::pattern::{Pattern, Run};
use crate::{Rule, Size};

mod step;

/// Cells on a torus: the right edge meets the left one, the lower edge the upper one.
///
/// **Layout**, the same on CPU and GPU: rows one after another from the top, each of
/// [`Board::words_per_row`] words; cell `x` of a row is bit `x % 32` of its word `x / 32`. If
/// the width is not a multiple of 32, the bits after the last cell are padding, and always zero:
/// the torus wraps at the exact width.
///
/// ```
/// use examples::{Board, Pattern, Rule, Size};
///
/// let glider = Pattern::parse("glider.rle", b"x = 3, y = 3\nbo$2bo$3o!")?;
/// let mut board = Board::new(Size::new(20, 10)?);
/// board.place_centred(&glider)?;
/// assert_eq!(board.step(Rule::CONWAY).population(), 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    size: Size,
    words: Vec<u32>,
}

impl Board {
    /// Cells in a word.
    pub const WORD_CELLS: u32 = u32::BITS;

    /// A board without life.
    pub fn new(size: Size) -> Self {
        Self {
            size,
            words: vec![0; Self::word_count(size)],
        }
    }

    /// A board from its words, as read back from the GPU.
    ///
    /// # Errors
    /// [`BoardError::Words`] unless there are [`Board::word_count`] words.
    pub fn from_words(size: Size, words: Vec<u32>) -> Result<Self, BoardError> {
        let (given, expected) = (words.len(), Self::word_count(size));
        if given != expected {
            return Err(BoardError::Words {
                size,
                given,
                expected,
            });
        }
        Ok(Self { size, words })
    }

    /// Words in a row of a board of this size.
    pub fn words_per_row(size: Size) -> u32 {
        size.width().div_ceil(Self::WORD_CELLS)
    }

    /// Words in a board of this size; four bytes each.
    pub fn word_count(size: Size) -> usize {
        Self::words_per_row(size) as usize * size.height() as usize
    }

    /// Its size.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Its words, to be copied to the GPU.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Whether a cell lives; coordinates wrap.
    pub fn is_alive(&self, x: u32, y: u32) -> bool {
        let (word, bit) = self.locate(x, y);
        self.words[word] & bit != 0
    }

    /// Makes a cell live or die; coordinates wrap.
    pub fn set(&mut self, x: u32, y: u32, alive: bool) {
        let (word, bit) = self.locate(x, y);
        if alive {
            self.words[word] |= bit;
        } else {
            self.words[word] &= !bit;
        }
    }

    /// The number of live cells.
    pub fn population(&self) -> u64 {
        self.words
            .iter()
            .map(|word| u64::from(word.count_ones()))
            .sum()
    }

    /// Adds a pattern in the middle; where the room left over is odd, a cell nearer to the top
    /// left.
    ///
    /// # Errors
    /// [`BoardError::TooSmall`] if the pattern is larger than the board, which is left as it was.
    pub fn place_centred(&mut self, pattern: &Pattern) -> Result<(), BoardError> {
        if !self.size.holds(pattern.size) {
            return Err(BoardError::TooSmall {
                board: self.size,
                pattern: pattern.size,
            });
        }
        let left = (self.size.width() - pattern.size.width()) / 2;
        let top = (self.size.height() - pattern.size.height()) / 2;
        for Run { x, y, length } in &pattern.runs {
            for x in *x..x + length {
                self.set(left + x, top + y, true);
            }
        }
        Ok(())
    }

    /// The next generation: the reference that the shader has to equal.
    pub fn step(&self, rule: Rule) -> Self {
        step::step(self, rule)
    }

    /// The words of a row.
    fn row(&self, y: u32) -> &[u32] {
        let length = Self::words_per_row(self.size) as usize;
        let start = y as usize * length;
        &self.words[start..start + length]
    }

    /// The word of a cell and its bit in it.
    fn locate(&self, x: u32, y: u32) -> (usize, u32) {
        let (x, y) = (x % self.size.width(), y % self.size.height());
        let word = y * Self::words_per_row(self.size) + x / Self::WORD_CELLS;
        (word as usize, 1 << (x % Self::WORD_CELLS))
    }
}

/// Why a board could not be made or filled.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BoardError {
    /// A pattern does not fit.
    #[error(
        "the pattern has {pattern} cells and does not fit on a board of {board}; \
         give --size {needed} or more",
        needed = covering(*.board, *.pattern)
    )]
    TooSmall {
        /// The board's size.
        board: Size,
        /// The pattern's size.
        pattern: Size,
    },
    /// The words do not make a board of the size.
    #[error("a board of {size} has {expected} words, but {given} were given")]
    Words {
        /// The size asked for.
        size: Size,
        /// Words given.
        given: usize,
        /// Words needed.
        expected: usize,
    },
}

/// The smallest size that holds both, as text.
fn covering(a: Size, b: Size) -> String {
    format!(
        "{}x{}",
        a.width().max(b.width()),
        a.height().max(b.height())
    )
}

#[cfg(test)]
#[path = "board_tests.rs"]
mod tests;
