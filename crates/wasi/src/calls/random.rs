//! Random numbers: the host's generator fills guest memory itself.

use super::Call;
use crate::errno::Errno;
use crate::memory::GuestMemory;
use rustix::rand::GetRandomFlags;

/// `random_get`, on one populated piece of its range.
pub(crate) fn random_get(mem: &mut GuestMemory, ptr: u32, len: u32) -> Call {
    mem.fill(ptr, len, randomise).map(|_| ())
}

fn randomise(bytes: &mut [u8]) -> Result<usize, Errno> {
    let mut done = 0;
    while done < bytes.len() {
        match rustix::rand::getrandom(&mut bytes[done..], GetRandomFlags::empty()) {
            Ok(filled) => done += filled,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(Errno::from(error)),
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::pieces;

    #[test]
    fn fills_the_whole_range_and_no_more() {
        let mut bytes = vec![0; 70_000];
        let mut memory = GuestMemory::new(&mut bytes);
        for (ptr, len) in pieces(10, 69_000) {
            random_get(&mut memory, ptr, len).unwrap();
        }
        assert_eq!(random_get(&mut memory, 69_999, 2), Err(Errno::Fault));
        assert_eq!(bytes[..10], [0; 10]);
        assert_eq!(bytes[69_010..], [0; 990]);
        assert!(
            bytes[10..69_010]
                .chunks(100)
                .all(|c| c.iter().any(|&b| b != 0))
        );
    }
}
