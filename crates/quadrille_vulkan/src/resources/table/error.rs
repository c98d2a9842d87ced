//! [`TableError`].

use crate::error::Error;

/// Error of a change of a table.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// All entries are taken.
    #[error(
        "`{member}` has no place in the table `{table}`: all {capacity} entries are taken; remove one, \
         or make the table larger"
    )]
    Full {
        /// The table.
        table: String,
        /// The image or buffer.
        member: String,
        /// Capacity of the table.
        capacity: u32,
    },
    /// There is no member at the index.
    #[error(
        "the table `{table}` has no {noun} at index {index}; it has {len} of at most {capacity} {noun}s"
    )]
    Vacant {
        /// The table.
        table: String,
        /// The kind of the table's members.
        noun: &'static str,
        /// The index.
        index: u32,
        /// Number of members of the table.
        len: usize,
        /// Capacity of the table.
        capacity: u32,
    },
    /// The table's shaders cannot read the image or buffer.
    #[error("`{member}` does not fit the table `{table}` of {kind}: {problem}")]
    Member {
        /// The table.
        table: String,
        /// Element type of the table, as in WGSL.
        kind: String,
        /// The image or buffer.
        member: String,
        /// The reason.
        problem: String,
    },
    /// The view of the image could not be created.
    #[error(transparent)]
    View(#[from] Error),
}
