//! What can be wrong with a batch, in a line each.

use arrow_schema::DataType;

use super::COPIED_BYTES_MAX;

/// Why what a guest left in its memory is no batch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// A range that is not inside.
    #[error("{what} of {len} bytes at {at:#x} are outside its memory")]
    Outside {
        /// What was to be there.
        what: String,
        /// From where.
        at: u64,
        /// How much.
        len: u64,
    },
    /// More than is copied for a batch.
    #[error("a batch of more than {} MiB", COPIED_BYTES_MAX >> 20)]
    Large,
    /// Another number of rows.
    #[error("{returned} rows for {given}")]
    Rows {
        /// What it said.
        returned: u32,
        /// What it was given.
        given: usize,
    },
    /// Another number of columns.
    #[error("{returned} columns where {declared} are declared")]
    Columns {
        /// What it said.
        returned: u32,
        /// What its definition says.
        declared: usize,
    },
    /// Another type.
    #[error("column {column} is of type number {returned}, not {declared}")]
    Type {
        /// Which, from 1.
        column: usize,
        /// What it said.
        returned: u32,
        /// What its definition says.
        declared: &'static str,
    },
    /// Text without offsets.
    #[error("column {column} without offsets")]
    NoOffsets {
        /// Which, from 1.
        column: usize,
    },
    /// Offsets that go back.
    #[error("column {column}: the offsets of row {row} go back")]
    Offsets {
        /// Which, from 1.
        column: usize,
        /// Which, from 1.
        row: usize,
    },
    /// Bytes that are no text.
    #[error("column {column} is not UTF-8")]
    Text {
        /// Which, from 1.
        column: usize,
    },
}

/// Why columns cannot be given to a module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// Another type.
    #[error("column {column} is of type {given}, not {declared}")]
    Type {
        /// Which, from 1.
        column: usize,
        /// What it is.
        given: DataType,
        /// What it should be.
        declared: &'static str,
    },
    /// Another number of rows.
    #[error("column {column} has {given} rows of {rows}")]
    Rows {
        /// Which, from 1.
        column: usize,
        /// What it has.
        given: usize,
        /// What the batch has.
        rows: usize,
    },
    /// More text than offsets of 32 bits reach.
    #[error("column {column} has more than 2 GiB of text")]
    Long {
        /// Which, from 1.
        column: usize,
    },
}
