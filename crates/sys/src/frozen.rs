//! Frozen bytes: pages that many mappings share until one of them is written.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use crate::caps;
use crate::map::{MappedFile, map_file};

/// Bytes in a file without a name that nobody can change any more.
#[derive(Debug)]
pub struct Frozen {
    file: File,
    mapped: MappedFile,
}

impl Frozen {
    /// A frozen copy.
    ///
    /// # Errors
    /// What `memfd_create(2)`, writing and `mmap(2)` say: EMFILE, ENOMEM; EFBIG beyond
    /// `RLIMIT_FSIZE`.
    pub fn new(bytes: &[u8]) -> io::Result<Frozen> {
        caps::file_may_have(bytes.len())?;
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let mut file = File::from(memfd_create(c"fathom", flags)?);
        file.write_all(bytes)?;
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL;
        // Before it is mapped: from here on the slice that `bytes` hands out cannot change,
        // nor lose its pages by the file becoming shorter.
        fcntl_add_seals(&file, seals)?;
        let mapped = map_file(&file, bytes.len())?;
        Ok(Frozen { file, mapped })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: mapped as long as this, and sealed against every change.
        unsafe { std::slice::from_raw_parts(self.mapped.start(), self.mapped.bytes()) }
    }

    /// The file, to be mapped by others.
    pub(crate) fn file(&self) -> impl AsFd + '_ {
        &self.file
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{Access, PageBytes, Reservation, page_bytes};

    #[test]
    fn a_mapping_has_the_bytes_and_keeps_its_changes_to_itself() {
        let page = page_bytes();
        let frozen = Frozen::new(&vec![7; page]).unwrap();
        let bytes = PageBytes::round_up(3 * page).unwrap();
        let of = |reservation: &Reservation, at: usize| {
            // SAFETY: inside, readable and writable.
            unsafe { reservation.start().as_ptr().add(at) }
        };
        let [one, other] = [(); 2].map(|()| {
            let reservation = Reservation::new(bytes, Access::ReadWrite).unwrap();
            reservation.lay(page, &frozen).unwrap();
            reservation
        });
        // SAFETY: as above.
        unsafe {
            of(&one, page).write(1);
            assert_eq!(of(&one, page).read(), 1);
            assert_eq!(of(&one, page - 1).read(), 0);
            assert_eq!(of(&other, page).read(), 7);
            one.empty(0..3 * page).unwrap();
            assert_eq!(of(&one, page).read(), 7, "what is dropped is the change");
        }
        assert!(frozen.bytes().iter().all(|byte| *byte == 7));
        assert!(one.lay(3 * page, &frozen).is_err());
    }
}
