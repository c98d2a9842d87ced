//! What is wrong with a change of a table.

use crate::error::Error;

/// Why a table was not changed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// All entries are taken.
    #[error(
        "`{image}` has no place in the table `{table}`: all {capacity} entries are taken; remove one, \
         or make the table larger"
    )]
    Full {
        /// The table.
        table: String,
        /// The image.
        image: String,
        /// How many entries the table has.
        capacity: u32,
    },
    /// There is nothing at the index.
    #[error(
        "the table `{table}` has no image at index {index}; it has {len} of at most {capacity} images"
    )]
    Vacant {
        /// The table.
        table: String,
        /// The index.
        index: u32,
        /// How many images the table has.
        len: usize,
        /// How many entries the table has.
        capacity: u32,
    },
    /// The table's shaders cannot sample the image.
    #[error("`{image}` does not fit the table `{table}` of {kind}: {problem}")]
    Image {
        /// The table.
        table: String,
        /// What the table is of, as WGSL calls it.
        kind: String,
        /// The image.
        image: String,
        /// Why.
        problem: String,
    },
    /// No view of the image could be made.
    #[error(transparent)]
    View(#[from] Error),
}
