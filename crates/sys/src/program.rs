//! Which build of a program runs: bytes that two builds do not have in common.

use std::ops::Range;

/// The note that linkers write (elf(5)): its type, and its owner's name.
const BUILD_ID: u32 = 3;
const OWNER: &[u8] = b"GNU\0";
/// Words in front of a note: bytes of its owner's name, bytes of it, its type.
const HEAD_BYTES: usize = 12;

/// Hand over what identifies the build of the program, or of the library, that the
/// code or constant at `address` belongs to: the build id that its linker gave it,
/// which is a hash of its contents; where it has none, all its bytes that nobody
/// writes to. By what is loaded, not by a path: that may be replaced meanwhile.
///
/// False, and nothing was handed over, where nothing loaded has the address.
pub fn identify(address: usize, visit: &mut dyn FnMut(&[u8])) -> bool {
    struct Search<'a> {
        address: usize,
        visit: &'a mut dyn FnMut(&[u8]),
        found: bool,
    }
    unsafe extern "C" fn look(
        object: *mut libc::dl_phdr_info,
        _: usize,
        search: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: what `dl_iterate_phdr` passes: an object that stays loaded during
        // the call, and the search below.
        unsafe {
            let search = &mut *search.cast::<Search<'_>>();
            let object = Object::new(&*object);
            if object.has(search.address) {
                search.found = object.identify(search.visit);
            }
            search.found.into()
        }
    }
    let mut search = Search {
        address,
        visit,
        found: false,
    };
    // SAFETY: calls `look` with the search, for as long as this takes.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    search.found
}

/// A program or library that is loaded.
struct Object<'a> {
    base: usize,
    segments: &'a [libc::Elf64_Phdr],
}

impl<'a> Object<'a> {
    /// # Safety
    /// It is loaded, for `'a`.
    unsafe fn new(info: &'a libc::dl_phdr_info) -> Object<'a> {
        let count = usize::from(info.dlpi_phnum);
        Object {
            base: info.dlpi_addr as usize,
            segments: match info.dlpi_phdr.is_null() {
                true => &[],
                // SAFETY: as many headers as it says, by the caller's promise alive.
                false => unsafe { std::slice::from_raw_parts(info.dlpi_phdr, count) },
            },
        }
    }

    fn addresses(&self, segment: &libc::Elf64_Phdr) -> Range<usize> {
        let start = self.base.wrapping_add(segment.p_vaddr as usize);
        start..start + segment.p_memsz as usize
    }

    fn of_type(&self, ty: u32) -> impl Iterator<Item = &libc::Elf64_Phdr> {
        self.segments.iter().filter(move |it| it.p_type == ty)
    }

    fn has(&self, address: usize) -> bool {
        self.of_type(libc::PT_LOAD)
            .any(|segment| self.addresses(segment).contains(&address))
    }

    /// # Safety
    /// It is loaded.
    unsafe fn identify(&self, visit: &mut dyn FnMut(&[u8])) -> bool {
        // SAFETY: segments that are loaded, readable and not written to.
        let bytes = |segment: &libc::Elf64_Phdr| unsafe {
            let range = self.addresses(segment);
            std::slice::from_raw_parts(range.start as *const u8, range.len())
        };
        for notes in self.of_type(libc::PT_NOTE) {
            let align = if notes.p_align == 8 { 8 } else { 4 };
            if let Some(id) = build_id(bytes(notes), align) {
                visit(b"build id");
                visit(id);
                return true;
            }
        }
        let fixed = self.of_type(libc::PT_LOAD).filter(|segment| {
            segment.p_flags & libc::PF_R != 0 && segment.p_flags & libc::PF_W == 0
        });
        let mut any = false;
        for segment in fixed {
            if !any {
                visit(b"contents");
            }
            any = true;
            visit(bytes(segment));
        }
        any
    }
}

/// The build id among notes, each part of which is padded to `align`.
fn build_id(mut notes: &[u8], align: usize) -> Option<&[u8]> {
    loop {
        let (head, rest) = notes.split_at_checked(HEAD_BYTES)?;
        let word = |at: usize| Some(u32::from_ne_bytes(head[at..at + 4].try_into().ok()?));
        let (name_bytes, bytes, ty) = (word(0)? as usize, word(4)? as usize, word(8)?);
        let name = rest.get(..name_bytes)?;
        let rest = rest.get(name_bytes.checked_next_multiple_of(align)?..)?;
        let id = rest.get(..bytes)?;
        if name == OWNER && ty == BUILD_ID && !id.is_empty() {
            return Some(id);
        }
        notes = rest.get(bytes.checked_next_multiple_of(align)?..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(address: usize) -> Option<Vec<Vec<u8>>> {
        let mut parts = Vec::new();
        identify(address, &mut |bytes| parts.push(bytes.to_vec())).then_some(parts)
    }

    #[test]
    fn this_program_is_not_the_c_library() {
        let here = identity(identity as *const () as usize).expect("code of this program");
        assert!(!here[1].is_empty());
        assert_eq!(
            identity(here_is_data().as_ptr() as usize),
            Some(here.clone())
        );
        // Linked statically, it is one with the program.
        let library = identity(libc::getenv as *const () as usize);
        if let Some(library) = library.filter(|_| cfg!(not(target_feature = "crt-static"))) {
            assert_ne!(library, here);
        }
        let local = 0u8;
        assert_eq!(identity(&raw const local as usize), None, "the stack");
    }

    fn here_is_data() -> &'static str {
        "a constant of this program"
    }

    #[test]
    fn a_program_without_an_id_is_known_by_its_bytes() {
        let bytes = [7u8; 64];
        // SAFETY: plain numbers.
        let mut segment: libc::Elf64_Phdr = unsafe { std::mem::zeroed() };
        segment.p_type = libc::PT_LOAD;
        segment.p_flags = libc::PF_R | libc::PF_X;
        segment.p_vaddr = bytes.as_ptr() as u64;
        segment.p_memsz = 64;
        let written = libc::Elf64_Phdr {
            p_flags: libc::PF_R | libc::PF_W,
            ..segment
        };
        let object = Object {
            base: 0,
            segments: &[segment, written],
        };
        assert!(object.has(bytes.as_ptr() as usize + 63));
        let mut seen = Vec::new();
        // SAFETY: the segments are the array above.
        let found = unsafe { object.identify(&mut |bytes| seen.push(bytes.to_vec())) };
        assert!(found);
        assert_eq!(seen, [b"contents".to_vec(), bytes.to_vec()]);
    }

    #[test]
    fn an_id_is_found_behind_other_notes_and_damage_ends_the_search() {
        let note = |name: &[u8], ty: u32, id: &[u8]| {
            let mut bytes = Vec::new();
            bytes.extend((name.len() as u32).to_ne_bytes());
            bytes.extend((id.len() as u32).to_ne_bytes());
            bytes.extend(ty.to_ne_bytes());
            for part in [name, id] {
                bytes.extend(part);
                bytes.resize(bytes.len().next_multiple_of(4), 0);
            }
            bytes
        };
        let notes = [
            note(b"GNU\0", 1, b"system"),
            note(b"Go\0", BUILD_ID, b"other"),
            note(OWNER, BUILD_ID, b"\x01\x02\x03\x04\x05"),
        ]
        .concat();
        assert_eq!(build_id(&notes, 4), Some(&b"\x01\x02\x03\x04\x05"[..]));
        for len in 0..notes.len() - 8 {
            assert_eq!(build_id(&notes[..len], 4), None, "{len} bytes");
        }
        assert_eq!(build_id(&[0xff; 64], 4), None);
    }
}
