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
        /// How many entries the table has.
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
        /// How many members the table has.
        len: usize,
        /// How many entries the table has.
        capacity: u32,
    },
    /// The table's shaders cannot read the image or buffer.
    #[error("`{member}` does not fit the table `{table}` of {kind}: {problem}")]
    Member {
        /// The table.
        table: String,
        /// The element type of the table, as WGSL calls it.
        kind: String,
        /// The image or buffer.
        member: String,
        /// Why.
        problem: String,
    },
    /// The view of the image could not be created.
    #[error(transparent)]
    View(#[from] Error),
}
