//! What can go wrong, as one type.

use std::any::Any;
use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::iter::successors;

use crate::facts::features::lacking;
use crate::facts::quota::LimitError;
use crate::facts::shown::Shown;
use crate::facts::thrown::{ExnRef, Uncaught};
use crate::facts::trap::{Frame, Trap};

/// The result of most of the engine's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the engine. One pointer wide, so that results stay small.
///
/// `{}` is one line that says what happened and where; `{:#}` has the causes behind it,
/// the error of a host function first; `{:?}`, which `main` and `unwrap` print, has the
/// causes and the frames of Wasm that were live, a line each.
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
    #[error("import '{}' '{}': {message}", Shown(.module), Shown(.name))]
    Link {
        /// First name of the import.
        module: String,
        /// Second name of the import.
        name: String,
        /// What is wrong: "unknown import" or "incompatible import type: …".
        message: String,
    },
    /// A name is defined twice.
    #[error(
        "'{}' '{}' is defined already; Linker::allow_shadowing lets a later definition replace it",
        Shown(.module),
        Shown(.name)
    )]
    Defined {
        /// First name of the definition.
        module: String,
        /// Second name of the definition.
        name: String,
    },
    /// Execution trapped.
    #[error(transparent)]
    Trap(Box<Trap>),
    /// An exception was not caught.
    #[error(transparent)]
    Exception(Box<Uncaught>),
    /// A host function returned an error, which is its source.
    #[error("the host reported an error{}", innermost(.frames))]
    Host {
        /// The error.
        #[source]
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
    /// Bytes that are no serialised module for this engine.
    #[error("cannot use the serialised module: {0}")]
    Serialized(String),
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

    /// An error that a host function reports in words.
    pub fn msg(message: impl fmt::Display) -> Error {
        Error::host(message.to_string())
    }

    /// What a host function returned: one of the engine's as it is, of another type as
    /// the source of one.
    pub(crate) fn of_host<E>(error: E) -> Error
    where
        E: Into<Box<dyn StdError + Send + Sync>> + 'static,
    {
        let mut error = Some(error);
        let any: &mut dyn Any = &mut error;
        let boxed = match any.downcast_mut::<Option<anyhow::Error>>() {
            // Its own conversion would hide the error's type.
            Some(anyhow) => anyhow
                .take()
                .map(anyhow::Error::reallocate_into_boxed_dyn_error_without_backtrace),
            None => error.map(Into::into),
        };
        match boxed.expect("it was given").downcast::<Error>() {
            Ok(ours) => *ours,
            Err(other) => Error::host(other),
        }
    }

    /// The limit of the store that was met, by running code or by the host.
    pub fn limit(&self) -> Option<&LimitError> {
        match &*self.0 {
            ErrorKind::Limit(limit) => Some(limit),
            _ => self.trap()?.limit.as_ref(),
        }
    }

    /// The trap, where it is one, or where a host function gave one a context.
    pub fn trap(&self) -> Option<&Trap> {
        self.downcast_ref()
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

    /// The error of type `E` behind it: what a host function returned, or a cause of
    /// that; a [`Trap`] or its code alone, an [`Uncaught`] exception, a [`LimitError`].
    pub fn downcast_ref<E: StdError + 'static>(&self) -> Option<&E> {
        let own: &(dyn StdError + 'static) = match &*self.0 {
            ErrorKind::Trap(trap) => &**trap,
            ErrorKind::Exception(uncaught) => &**uncaught,
            ErrorKind::Host { error, .. } => &**error,
            ErrorKind::Limit(limit) => limit,
            ErrorKind::Resource { source, .. } => source,
            _ => return None,
        };
        if let ErrorKind::Trap(trap) = &*self.0 {
            let code: &(dyn StdError + 'static) = &trap.code;
            if let Some(code) = code.downcast_ref() {
                return Some(code);
            }
        }
        successors(Some(own), |&error| error.source()).find_map(|error| {
            let ours = || error.downcast_ref::<Error>()?.downcast_ref();
            error.downcast_ref().or_else(ours)
        })
    }

    /// Whether [`Error::downcast_ref`] finds one of type `E`.
    pub fn is<E: StdError + 'static>(&self) -> bool {
        self.downcast_ref::<E>().is_some()
    }

    /// What caused it, from the nearest on.
    fn causes(&self) -> impl Iterator<Item = &(dyn StdError + 'static)> {
        successors(self.source(), |&error| error.source())
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

/// Why a binary is refused, on the way out of what decodes it: the parser's errors are
/// no part of the engine's interface.
pub(crate) struct Refused(Error);

impl From<wasmparser::Error> for Refused {
    fn from(error: wasmparser::Error) -> Refused {
        let offset = error.offset() as usize;
        // It quotes names.
        let message = Shown(error.message()).to_string();
        // The parser has one type for both, and knows which feature it missed.
        Refused(match error.missing_wasm_feature() {
            Some(missed) => {
                let message = lacking(missed).map_or(message, str::to_owned);
                ErrorKind::Unsupported { message, offset }.into()
            }
            None => ErrorKind::Invalid { message, offset }.into(),
        })
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
        Refused(error)
    }
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Error {
        refused.0
    }
}

/// The innermost frame, as the end of a sentence.
fn innermost(frames: &[Frame]) -> String {
    let place = |frame| format!(" in {frame}");
    frames.first().map(place).unwrap_or_default()
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return fmt::Debug::fmt(&self.0, f);
        }
        write!(f, "{}", self.0)?;
        let mut head = "\n\nCaused by:";
        for cause in self.causes() {
            write!(f, "{head}\n    {cause}")?;
            head = "";
        }
        let mut head = "\n\nFrames of Wasm, the innermost first:";
        for (number, frame) in self.frames().iter().enumerate() {
            write!(f, "{head}\n    {number}: {frame}")?;
            head = "";
        }
        Ok(())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        if f.alternate() {
            self.causes().try_for_each(|cause| write!(f, ": {cause}"))?;
        }
        Ok(())
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
