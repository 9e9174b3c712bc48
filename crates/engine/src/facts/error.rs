//! What can go wrong, as one type.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use crate::facts::quota::LimitError;
use crate::facts::thrown::{ExnRef, Uncaught};
use crate::facts::trap::{Frame, Trap};

/// The result of most of the engine's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the engine. One pointer wide, so that results stay small.
pub struct Error(Box<ErrorKind>);

/// The kinds of [`Error`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The module is malformed or does not validate.
    #[error("invalid module at offset {offset:#x}: {message}")]
    Invalid {
        /// What is wrong.
        message: String,
        /// Where, in bytes from the start of the module.
        offset: usize,
    },
    /// The module is valid, but uses what the engine does not support.
    #[error("unsupported at offset {offset:#x}: {message}")]
    Unsupported {
        /// What is not supported.
        message: String,
        /// Where, in bytes from the start of the module.
        offset: usize,
    },
    /// A function is beyond what the code generator can do.
    #[error("cannot compile function {func}: {message}")]
    Compile {
        /// The function's index in the module.
        func: u32,
        /// What the code generator says.
        message: String,
    },
    /// Compiling the module would take more than [`crate::CompileBudget`] allows.
    #[error("{0}")]
    Budget(String),
    /// An import is missing or of the wrong type.
    #[error("import '{module}' '{name}': {message}")]
    Link {
        /// First name of the import.
        module: String,
        /// Second name of the import.
        name: String,
        /// What is wrong: "unknown import" or "incompatible import type: …".
        message: String,
    },
    /// Execution trapped.
    #[error(transparent)]
    Trap(Box<Trap>),
    /// An exception was not caught.
    #[error(transparent)]
    Exception(Box<Uncaught>),
    /// A host function returned an error.
    #[error("{error}")]
    Host {
        /// The error.
        error: Box<dyn StdError + Send + Sync>,
        /// The Wasm frames that were live, innermost first.
        frames: Vec<Frame>,
    },
    /// Arguments, values or handles do not fit.
    #[error("{0}")]
    Mismatch(String),
    /// The configuration is refused.
    #[error("{0}")]
    Config(String),
    /// Beyond what the store may have.
    #[error("{0}")]
    Limit(LimitError),
    /// The host lacks a resource.
    #[error("{what}: {source}")]
    Resource {
        /// What was wanted.
        what: String,
        /// What the host said.
        source: io::Error,
    },
}

impl Error {
    /// Which kind it is.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// The kind, owned.
    pub fn into_kind(self) -> ErrorKind {
        *self.0
    }

    /// An error that a host function reports.
    pub fn host(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Error {
        ErrorKind::Host {
            error: error.into(),
            frames: Vec::new(),
        }
        .into()
    }

    /// The limit of the store that was met, by running code or by the host.
    pub fn limit(&self) -> Option<&LimitError> {
        match &*self.0 {
            ErrorKind::Limit(limit) => Some(limit),
            ErrorKind::Trap(trap) => trap.limit.as_ref(),
            _ => None,
        }
    }

    /// The trap, where it is one.
    pub fn trap(&self) -> Option<&Trap> {
        match &*self.0 {
            ErrorKind::Trap(trap) => Some(trap),
            _ => None,
        }
    }

    /// Where in the module, for one that is refused: bytes from its start.
    pub fn offset(&self) -> Option<usize> {
        match &*self.0 {
            ErrorKind::Invalid { offset, .. } | ErrorKind::Unsupported { offset, .. } => {
                Some(*offset)
            }
            _ => None,
        }
    }

    /// The exception, where it is one that was not caught.
    pub fn exception(&self) -> Option<ExnRef> {
        match &*self.0 {
            ErrorKind::Exception(uncaught) => Some(uncaught.exception),
            _ => None,
        }
    }

    /// The error of type `E` that a host function returned.
    pub fn downcast_ref<E: StdError + 'static>(&self) -> Option<&E> {
        match &*self.0 {
            ErrorKind::Host { error, .. } => error.downcast_ref(),
            _ => None,
        }
    }

    /// The Wasm frames that were live, innermost first; empty for errors that
    /// were not raised by running code.
    pub fn frames(&self) -> &[Frame] {
        match &*self.0 {
            ErrorKind::Trap(trap) => &trap.frames,
            ErrorKind::Exception(uncaught) => &uncaught.frames,
            ErrorKind::Host { frames, .. } => frames,
            _ => &[],
        }
    }

    pub(crate) fn mismatch(message: impl Into<String>) -> Error {
        ErrorKind::Mismatch(message.into()).into()
    }

    pub(crate) fn resource(what: impl Into<String>, source: io::Error) -> Error {
        ErrorKind::Resource {
            what: what.into(),
            source,
        }
        .into()
    }

    pub(crate) fn link(module: &str, name: &str, message: impl Into<String>) -> Error {
        let (module, name) = (module.to_owned(), name.to_owned());
        ErrorKind::Link {
            module,
            name,
            message: message.into(),
        }
        .into()
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Error {
        Error(Box::new(kind))
    }
}

impl From<wasmparser::Error> for Error {
    fn from(error: wasmparser::Error) -> Error {
        let (message, offset) = (error.message().to_owned(), error.offset() as usize);
        // The parser has one type for both, and knows which feature it missed.
        match error.missing_wasm_feature() {
            Some(_) => ErrorKind::Unsupported { message, offset }.into(),
            None => ErrorKind::Invalid { message, offset }.into(),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &*self.0 {
            // The error itself, so that who has an `anyhow::Error` finds it by its type.
            ErrorKind::Host { error, .. } => Some(&**error),
            ErrorKind::Resource { source, .. } => source.source(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_error_is_one_pointer() {
        assert_eq!(size_of::<super::Error>(), size_of::<usize>());
    }
}
