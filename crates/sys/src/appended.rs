//! Machine code that grows while other parts of it run.
//!
//! ```text
//!  write_at() ──▶ file without a name ──▶ its pages, mapped readable and executable
//! ```
//!
//! The pages are never writable anywhere: code reaches them through the file.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

use crate::caps;

/// Bytes of code in a file without a name, zeros at first. A process that forks shares them
/// with its children: who writes is for its owner to know.
#[derive(Debug)]
pub struct Appended {
    file: File,
    bytes: usize,
}

impl Appended {
    /// So many bytes.
    ///
    /// # Errors
    /// What `memfd_create(2)` and `ftruncate(2)` say: EMFILE; EFBIG beyond `RLIMIT_FSIZE`; EACCES
    /// where the host allows no executable ones (`vm.memfd_noexec`).
    pub fn new(bytes: usize) -> io::Result<Appended> {
        caps::file_may_have(bytes)?;
        let with = |flags| memfd_create(c"code", MemfdFlags::CLOEXEC | flags);
        // Kernels before 6.3 do not know that flag, and need none.
        let made = match with(MemfdFlags::EXEC) {
            Err(rustix::io::Errno::INVAL) => with(MemfdFlags::empty()),
            made => made,
        };
        let file = File::from(made?);
        ftruncate(&file, bytes as u64)?;
        Ok(Appended { file, bytes })
    }

    /// Write code where nothing runs yet.
    ///
    /// # Errors
    /// What `pwrite(2)` says: ENOSPC, ENOMEM.
    pub fn write_at(&self, code: &[u8], at: usize) -> io::Result<()> {
        self.file.write_all_at(code, at as u64)
    }

    /// How many there are.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The file, to be mapped.
    pub(crate) fn file(&self) -> impl AsFd + '_ {
        &self.file
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{Access, PageBytes, Reservation, page_bytes};

    #[test]
    fn what_is_written_is_seen_where_it_is_mapped() {
        let page = page_bytes();
        let bytes = PageBytes::round_up(3 * page).unwrap();
        let reservation = Reservation::new(bytes, Access::None).unwrap();
        let code = Appended::new(page).unwrap();
        reservation.lay_code(page, &code).unwrap();
        // SAFETY: inside, readable.
        let read = |at| unsafe { reservation.start().as_ptr().add(at).read_volatile() };
        assert_eq!(read(page + 7), 0);
        code.write_at(&[0xc3], 7).unwrap();
        assert_eq!(read(page + 7), 0xc3);
        assert!(reservation.lay_code(3 * page, &code).is_err());
    }
}
