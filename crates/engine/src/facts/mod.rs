//! Facts: what all modules of the engine agree on. They use none of the others.
//!
//! ```text
//!  module   declarations and bodies, out of the binary     types, features
//!  vmctx    what compiled code sees                        libcall: what it calls
//!  object   how structures and arrays are laid out
//!  error    one type, of traps, exceptions and limits      trap, thrown, quota, bytes, shown
//! ```

pub(crate) mod bytes;
pub(crate) mod error;
pub(crate) mod features;
pub(crate) mod libcall;
pub(crate) mod module;
pub(crate) mod object;
pub(crate) mod quota;
pub(crate) mod shown;
pub(crate) mod source;
pub(crate) mod thrown;
pub(crate) mod trap;
pub(crate) mod types;
pub(crate) mod vmcont;
pub(crate) mod vmctx;
