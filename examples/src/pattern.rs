//! A pattern of live cells and where it came from.

use std::io;
use std::path::{Path, PathBuf};

use quadrille::vulkan::file::read_file;
use thiserror::Error;

use crate::rle::{self, RleError};
use crate::{Rule, Size};

/// Live cells next to each other in one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    /// Column of the first cell.
    pub x: u32,
    /// Row, counted downwards.
    pub y: u32,
    /// Number of cells, at least 1.
    pub length: u32,
}

/// A pattern as its file tells it.
///
/// ```
/// use examples::Pattern;
///
/// let glider = Pattern::parse("glider.rle", b"#N Glider\nx = 3, y = 3\nbo$2bo$3o!")?;
/// assert_eq!(glider.name.as_deref(), Some("Glider"));
/// assert_eq!(glider.population(), 5);
/// # Ok::<(), examples::rle::RleError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Its name (`#N`).
    pub name: Option<String>,
    /// Discoverer and date (`#O`).
    pub author: Option<String>,
    /// Remarks (`#C`), a line each.
    pub comments: Vec<String>,
    /// The rule it was made for, if the file names one.
    pub rule: Option<Rule>,
    /// The box around it, as the header says.
    pub size: Size,
    /// Its live cells; all lie within `size`, no two runs overlap.
    pub runs: Vec<Run>,
}

impl Pattern {
    /// The longest file read, in bytes: ample for any pattern of the largest size.
    pub const MAX_FILE_BYTES: u64 = 1 << 28;

    /// Reads a run length encoded file.
    ///
    /// # Errors
    /// [`PatternError`] if the file cannot be read, is too long, or is malformed.
    pub fn load(path: &Path) -> Result<Self, PatternError> {
        let bytes = read_file(path, Self::MAX_FILE_BYTES).map_err(|source| PatternError::Read {
            path: path.into(),
            source,
        })?;
        Ok(Self::parse(&path.display().to_string(), &bytes)?)
    }

    /// Reads run length encoded text; `file` is its name in errors. See [`rle`] for the format.
    ///
    /// # Errors
    /// [`RleError`], with line and column, if the text is malformed.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, RleError> {
        rle::parse(file, bytes)
    }

    /// The number of live cells.
    pub fn population(&self) -> u64 {
        self.runs.iter().map(|run| u64::from(run.length)).sum()
    }
}

/// Why a pattern file was refused.
#[derive(Debug, Error)]
pub enum PatternError {
    /// The file cannot be read.
    #[error(
        "cannot read the pattern {path:?}: {source}; name an .rle file such as assets/patterns/glider.rle"
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The file is malformed.
    #[error(transparent)]
    Rle(#[from] RleError),
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
