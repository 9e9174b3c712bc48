//! On whose threads compilation runs: rayon's, which a forked child has not, though it
//! inherits the memory that says that there are some.

use std::io;

use fathom_sys::forked;

use crate::facts::error::{Error, Result};

/// Do work that is given to rayon's threads: to those of the process, or, in a child
/// that was forked since there may be any, to threads made for this.
///
/// # Errors
/// What the host says of new threads, in a child.
pub(crate) fn by_threads<R: Send>(work: impl FnOnce() -> R + Send) -> Result<R> {
    if !forked::is_child() {
        return Ok(work());
    }
    let threads = rayon::ThreadPoolBuilder::new().build();
    let threads = threads.map_err(|error| {
        Error::resource(
            "no threads to compile with after a fork",
            io::Error::other(error),
        )
    })?;
    Ok(threads.install(work))
}
