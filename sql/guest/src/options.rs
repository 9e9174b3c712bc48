//! What a function may take, and how its memory is checked.

use std::time::Duration;

use fathom_engine::BoundsChoice;

/// What a function may take, and how its memory is checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Bytes of linear memory.
    pub memory_bytes: usize,
    /// For each call, of one batch.
    pub deadline: Duration,
    /// The strategy.
    pub bounds: BoundsChoice,
    /// Rows that an instance of an operator may return.
    pub rows_max: u64,
    /// Whether an instance is used again. Those of operators are not.
    pub reuse: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            memory_bytes: 256 << 20,
            deadline: Duration::from_secs(10),
            bounds: BoundsChoice::default(),
            rows_max: 100_000_000,
            reuse: true,
        }
    }
}
