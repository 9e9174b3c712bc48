//! On whose threads compilation runs: rayon's, which a forked child has not, though it
//! inherits the memory that says that there are some; or threads that are told to
//! end with it, for a process that wants none beside its own.

use std::io;

use fathom_sys::forked;

use crate::facts::error::{Error, Result};

/// Do work that is given to rayon's threads: to those of the process, or, where `end` says
/// so and in a child that was forked since there may be any, to threads made for this.
///
/// # Errors
/// What the host says of new threads.
pub(crate) fn by_threads<R: Send>(end: bool, work: impl FnOnce() -> R + Send) -> Result<R> {
    if !end && !forked::is_child() {
        return Ok(work());
    }
    let threads = rayon::ThreadPoolBuilder::new().build();
    let none = |error| Error::resource("no threads to compile with", io::Error::other(error));
    // They are told to end when it is dropped. Nobody waits for them.
    Ok(threads.map_err(none)?.install(work))
}
