//! On whose threads compilation runs: rayon's, which a forked child has not, though it
//! inherits the memory that says that there are some; or threads that are told to
//! end with it, for a process that wants none beside its own.

use std::io;

use fathom_sys::forked;

use crate::facts::error::{Error, Result};

/// Do work that is given to rayon's threads by a single one, which ends with it: beside what runs.
///
/// # Errors
/// What the host says of a new thread.
pub(crate) fn by_one_thread<R: Send>(work: impl FnOnce() -> R + Send) -> Result<R> {
    Ok(threads(1)?.install(work))
}

/// Do work that is given to rayon's threads: to those of the process, or, where `end` says
/// so and in a child that was forked since there may be any, to threads made for this.
///
/// # Errors
/// What the host says of new threads.
pub(crate) fn by_threads<R: Send>(end: bool, work: impl FnOnce() -> R + Send) -> Result<R> {
    if !end && !forked::is_child() {
        return Ok(work());
    }
    Ok(threads(0)?.install(work))
}

/// So many threads, 0 for one a processor. They are told to end when they are dropped. Nobody waits
/// for them.
fn threads(count: usize) -> Result<rayon::ThreadPool> {
    let threads = rayon::ThreadPoolBuilder::new().num_threads(count).build();
    threads.map_err(|error| Error::resource("no threads to compile with", io::Error::other(error)))
}
