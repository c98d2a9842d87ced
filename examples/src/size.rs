//! The size of a board or a pattern.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// Width and height in cells, each from 1 to [`Size::MAX_SIDE`].
///
/// ```
/// use examples::Size;
///
/// let size: Size = "640x480".parse()?;
/// assert_eq!((size.width(), size.height()), (640, 480));
/// # Ok::<(), examples::size::SizeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    width: u32,
    height: u32,
}

impl Size {
    /// The longest side, in cells.
    pub const MAX_SIDE: u32 = 8192;

    /// A size of `width` times `height` cells.
    ///
    /// # Errors
    /// [`SizeError::Side`] if a side is 0 or longer than [`Size::MAX_SIDE`].
    pub fn new(width: u32, height: u32) -> Result<Self, SizeError> {
        for (side, length) in [("width", width), ("height", height)] {
            if !(1..=Self::MAX_SIDE).contains(&length) {
                return Err(SizeError::Side {
                    side,
                    length: length.to_string(),
                });
            }
        }
        Ok(Self { width, height })
    }

    /// Cells in a row.
    pub fn width(self) -> u32 {
        self.width
    }

    /// Rows.
    pub fn height(self) -> u32 {
        self.height
    }

    /// Whether something of size `other` fits into this.
    pub fn holds(self, other: Self) -> bool {
        other.width <= self.width && other.height <= self.height
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

impl FromStr for Size {
    type Err = SizeError;

    /// Reads `WIDTHxHEIGHT`, such as `640x480`; the `x` may be a capital.
    fn from_str(text: &str) -> Result<Self, SizeError> {
        let (width, height) = text
            .split_once(['x', 'X'])
            .ok_or_else(|| SizeError::Form(text.to_owned()))?;
        Self::new(side("width", width, text)?, side("height", height, text)?)
    }
}

/// One side of `text`. A number too long for `u32` is still a number: its error is its length.
fn side(side: &'static str, digits: &str, text: &str) -> Result<u32, SizeError> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(SizeError::Form(text.to_owned()));
    }
    digits.parse().map_err(|_| SizeError::Side {
        side,
        length: digits.to_owned(),
    })
}

/// Why a size was refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SizeError {
    /// The text is not two numbers with an `x` between.
    #[error("{0:?} is not a size; a size is WIDTHxHEIGHT, such as 640x480")]
    Form(String),
    /// A side is out of range.
    #[error("the {side} {length} is out of range; a side has 1 to {max} cells", max = Size::MAX_SIDE)]
    Side {
        /// `width` or `height`.
        side: &'static str,
        /// Text of the length, in cells.
        length: String,
    },
}

#[cfg(test)]
#[path = "size_tests.rs"]
mod tests;
