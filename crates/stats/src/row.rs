//! Rows: one engine configuration over all workloads of a suite.

use std::fmt;

use fathom_record::{Cell, Sandbox, Variant};

/// What a row of the table is: everything of a cell but its workload.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Row {
    /// The engine and its configuration.
    pub sandbox: Sandbox,
    /// The suite.
    pub suite: String,
    /// What the sources were compiled to.
    pub variant: Variant,
    /// The problem size.
    pub size: String,
    /// Instances at once.
    pub threads: u32,
}

impl Row {
    /// The row of a cell; a control's is that of the cell it repeats.
    pub fn of(cell: &Cell) -> Row {
        Row {
            sandbox: cell.sandbox.clone(),
            suite: cell.suite.clone(),
            variant: cell.variant,
            size: cell.size.clone(),
            threads: cell.threads,
        }
    }

    /// Whether the two ran the same suite at the same size, so that a ratio
    /// between them says something.
    pub fn is_comparable_to(&self, other: &Row) -> bool {
        self.suite == other.suite && self.size == other.size
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{}/{}/{}/t{}",
            self.sandbox.id(),
            self.suite,
            self.variant,
            self.size,
            self.threads
        )
    }
}
