//! Fences: pages full of one byte, right in front of and right behind what is
//! mapped around an address. They tell whether anything has written just
//! beyond a mapping, without being in its way.
//!
//! ```text
//!            | what is mapped around the address, without a gap |
//!  -- fence -|--------------------------------------------------|- fence --
//! ```

use std::io;
use std::ops::Range;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Bytes of each fence: as far as the widest access and its constant part of
/// 64 KiB reach.
const FENCE_BYTES: usize = 128 << 10;

/// The two fences around one mapping.
#[derive(Debug)]
pub struct Fence {
    byte: u8,
    sides: Vec<Range<usize>>,
}

impl Fence {
    /// Fences the mapping that `address` is in with pages full of `byte`. A
    /// side where there is no room is left out.
    ///
    /// # Errors
    /// When `/proc/self/maps` cannot be read or `address` is not mapped.
    pub fn around(address: usize, byte: u8) -> io::Result<Fence> {
        let maps = std::fs::read_to_string("/proc/self/maps")?;
        let mapped = mapping_around(&maps, address)
            .ok_or_else(|| io::Error::other("the address is not mapped"))?;
        let front = mapped.start.saturating_sub(FENCE_BYTES)..mapped.start;
        let back = mapped.end..mapped.end + FENCE_BYTES;
        let sides = [front, back]
            .into_iter()
            .filter(|side| put_up(side, byte))
            .collect();
        Ok(Fence { byte, sides })
    }

    /// How many sides are fenced: 0 to 2.
    pub fn sides(&self) -> usize {
        self.sides.len()
    }

    /// The first address that no longer holds the byte.
    pub fn first_changed(&self) -> Option<usize> {
        let all = self.sides.iter().cloned().flatten();
        // SAFETY: the fences are mapped until `self` is dropped.
        all.into_iter()
            .find(|&at| unsafe { (at as *const u8).read_volatile() } != self.byte)
    }
}

/// Maps and fills one side, where its addresses are free.
fn put_up(side: &Range<usize>, byte: u8) -> bool {
    let flags = MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE;
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: FIXED_NOREPLACE never replaces an existing mapping.
    let mapped = unsafe { mmap_anonymous(side.start as *mut _, FENCE_BYTES, access, flags) };
    match mapped {
        Ok(start) if start as usize == side.start => {
            // SAFETY: just mapped, writable, FENCE_BYTES long.
            unsafe { std::ptr::write_bytes(start.cast::<u8>(), byte, FENCE_BYTES) };
            true
        }
        Ok(elsewhere) => {
            // SAFETY: just mapped by a kernel which takes the address as a hint.
            let _ = unsafe { munmap(elsewhere, FENCE_BYTES) };
            false
        }
        Err(_) => false,
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        for side in &self.sides {
            // SAFETY: mapped by `put_up`, handed out to nobody.
            let _ = unsafe { munmap(side.start as *mut _, FENCE_BYTES) };
        }
    }
}

/// The addresses around `address` that are mapped without a gap.
fn mapping_around(maps: &str, address: usize) -> Option<Range<usize>> {
    let mut around: Option<Range<usize>> = None;
    for line in maps.lines() {
        let (start, end) = line.split(' ').next()?.split_once('-')?;
        let start = usize::from_str_radix(start, 16).ok()?;
        let end = usize::from_str_radix(end, 16).ok()?;
        match &mut around {
            Some(run) if run.end == start => run.end = end,
            // The file is in order of addresses.
            Some(run) if run.contains(&address) => break,
            _ => around = Some(start..end),
        }
    }
    around.filter(|run| run.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{Access, PageBytes, Reservation};

    #[test]
    fn a_mapping_goes_on_while_there_is_no_gap() {
        let maps = "1000-2000 rw-p 0 0\n2000-3000 ---p 0 0\n4000-5000 r-xp 0 0 x\n";
        assert_eq!(mapping_around(maps, 0x1800), Some(0x1000..0x3000));
        assert_eq!(mapping_around(maps, 0x2fff), Some(0x1000..0x3000));
        assert_eq!(mapping_around(maps, 0x3000), None);
        assert_eq!(mapping_around(maps, 0x4000), Some(0x4000..0x5000));
    }

    #[test]
    fn a_fence_tells_of_the_first_byte_beyond_a_mapping() {
        let bytes = PageBytes::round_up(1).unwrap();
        let reservation = Reservation::placed(bytes, Access::ReadWrite).unwrap();
        let addresses = reservation.addresses();
        let fence = Fence::around(addresses.start, 0xa5).unwrap();
        assert_eq!(fence.sides(), 2);
        assert_eq!(fence.first_changed(), None);
        // SAFETY: in the fence, which is writable.
        unsafe { (addresses.end as *mut u8).write_volatile(1) };
        assert_eq!(fence.first_changed(), Some(addresses.end));
    }
}
