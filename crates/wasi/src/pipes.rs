//! Streams in the host's memory: what a guest reads is given, what it writes is kept.
//!
//! Both are files without a name in memory (memfd_create(2)), so that the kernel works on
//! guest memory itself here, too. To the guest they are streams: they have no positions
//! and no size that it could change.

use crate::errno::Errno;
use rustix::fs::MemfdFlags;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes for a guest to read, as its standard input. Clones are the same stream: what one
/// guest has read, no other reads.
///
/// A host that has no file for it says so when the context is built.
#[derive(Clone, Debug)]
pub struct MemoryInputPipe(Arc<io::Result<OwnedFd>>);

impl MemoryInputPipe {
    /// A stream of these bytes.
    #[must_use]
    pub fn new(bytes: impl AsRef<[u8]>) -> MemoryInputPipe {
        let made = file().and_then(|file| {
            let mut rest = bytes.as_ref();
            while !rest.is_empty() {
                let at = (bytes.as_ref().len() - rest.len()) as u64;
                let written = rustix::io::pwrite(&file, rest, at)?;
                rest = &rest[written..];
            }
            Ok(file)
        });
        MemoryInputPipe(Arc::new(made))
    }

    /// Whether there is a file.
    pub(crate) fn check(&self) -> io::Result<()> {
        checked(&self.0)
    }
}

impl AsFd for MemoryInputPipe {
    fn as_fd(&self) -> BorrowedFd<'_> {
        made(&self.0)
    }
}

/// Keeps what a guest writes, as its standard output or error. Clones are the same
/// stream: one is given to the guest, the other asked.
///
/// ```
/// use fathom_wasi::{MemoryOutputPipe, WasiCtxBuilder};
///
/// # fn main() -> Result<(), fathom_wasi::BuildError> {
/// let output = MemoryOutputPipe::new(64 << 10);
/// let context = WasiCtxBuilder::new().stdout(output.clone()).build()?;
/// // … run the guest …
/// assert_eq!(output.contents(), b"");
/// # drop(context);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MemoryOutputPipe(Arc<Output>);

#[derive(Debug)]
struct Output {
    file: io::Result<OwnedFd>,
    capacity: u64,
    /// Bytes that were written.
    len: Mutex<u64>,
}

impl MemoryOutputPipe {
    /// A stream that keeps so many bytes; beyond, the guest gets `Errno::Nospc`.
    #[must_use]
    pub fn new(capacity: usize) -> MemoryOutputPipe {
        MemoryOutputPipe(Arc::new(Output {
            file: file(),
            capacity: capacity as u64,
            len: Mutex::new(0),
        }))
    }

    /// What was written so far.
    #[must_use]
    pub fn contents(&self) -> Vec<u8> {
        let Ok(file) = &self.0.file else {
            return Vec::new();
        };
        let len = *self.0.len.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
        let mut done = 0;
        while done < bytes.len() {
            match rustix::io::pread(file, &mut bytes[done..], done as u64) {
                Ok(read @ 1..) => done += read,
                Err(rustix::io::Errno::INTR) => {}
                // It has as many, and nobody can take one away.
                Ok(0) | Err(_) => break,
            }
        }
        bytes.truncate(done);
        bytes
    }

    /// Writes as much as there is room for.
    ///
    /// # Errors
    /// `Errno::Nospc` where there is none, else what the host answers.
    pub(crate) fn write(&self, slices: &[IoSlice<'_>]) -> Result<usize, Errno> {
        let mut len = self.0.len.lock().unwrap_or_else(PoisonError::into_inner);
        let mut room = usize::try_from(self.0.capacity - *len).unwrap_or(usize::MAX);
        let mut fitting = Vec::new();
        for slice in slices {
            let fits = slice.len().min(room);
            room -= fits;
            fitting.push(IoSlice::new(&slice[..fits]));
            if fits < slice.len() {
                break;
            }
        }
        let asked: usize = slices.iter().map(|slice| slice.len()).sum();
        let fits: usize = fitting.iter().map(|slice| slice.len()).sum();
        if asked > 0 && fits == 0 {
            return Err(Errno::Nospc);
        }
        let written = rustix::io::pwritev(self.as_fd(), &fitting, *len)?;
        *len += written as u64;
        Ok(written)
    }

    /// Whether there is a file.
    pub(crate) fn check(&self) -> io::Result<()> {
        checked(&self.0.file)
    }
}

impl AsFd for MemoryOutputPipe {
    fn as_fd(&self) -> BorrowedFd<'_> {
        made(&self.0.file)
    }
}

fn file() -> io::Result<OwnedFd> {
    Ok(rustix::fs::memfd_create("fathom", MemfdFlags::CLOEXEC)?)
}

/// An error is no value that can be cloned, but its number is.
fn checked(file: &io::Result<OwnedFd>) -> io::Result<()> {
    match file {
        Ok(_) => Ok(()),
        Err(error) => Err(error
            .raw_os_error()
            .map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)),
    }
}

fn made(file: &io::Result<OwnedFd>) -> BorrowedFd<'_> {
    match file {
        Ok(file) => file.as_fd(),
        // The context was not built.
        Err(error) => unreachable!("checked when the context is built: {error}"),
    }
}
