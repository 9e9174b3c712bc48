//! What can be wrong, in one line each.

use std::{fmt, path::PathBuf};

use datafusion::error::DataFusionError;

/// Why a function could not be defined, or why its query failed.
///
/// Its debug text is its line, too: Ballista tells the client of a failed task by that.
#[derive(thiserror::Error)]
pub enum Error {
    /// The statement is not one.
    #[error("{0}")]
    Statement(String),
    /// The module cannot be read.
    #[error("function {name}: {}: {error}", file.display())]
    File {
        /// The function.
        name: String,
        /// What was to be read.
        file: PathBuf,
        /// Why it was not.
        error: std::io::Error,
    },
    /// The module cannot be what the statement says.
    #[error("function {name}: {}: {what}", file.display())]
    Module {
        /// The function.
        name: String,
        /// The module.
        file: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A call failed.
    #[error("function {name}, {rows}: {what}")]
    Call {
        /// The function.
        name: String,
        /// Which rows it was given, or what else it was to do.
        rows: String,
        /// What it did.
        what: String,
    },
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Error> for DataFusionError {
    fn from(error: Error) -> DataFusionError {
        DataFusionError::External(Box::new(error))
    }
}
