//! What a module's host answered, as a record, and a module of its own made of both.
//!
//! ```text
//!  record    the file: a header in JSON, then events
//!   ├ event    what host and guest did, one after another
//!   └ check    whether that can be, of this module
//!  program   the module that needs no host: imports answer as recorded
//!   ├ script   what is done, as words that the module reads
//!   └ emit     the functions that read them
//!  reduce    both in parts, of which some are left out
//! ```
//!
//! What must stay true: a record is looked at as if somebody had made it to do harm; what
//! is replayed was checked against the module's types first. The program ends well only
//! where the guest passed what it passed when it was recorded.

pub mod program;
pub mod record;
pub mod reduce;
