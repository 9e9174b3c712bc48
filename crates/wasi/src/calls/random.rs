//! Random numbers: the host's generator fills guest memory itself.

use super::Call;
use crate::errno::Errno;
use crate::memory::{GuestMemory, Iovecs};
use rustix::rand::GetRandomFlags;

/// `random_get`, on one populated range.
pub(crate) fn random_get(mem: &mut GuestMemory, buffer: &Iovecs) -> Call {
    for &(ptr, len) in buffer.ranges() {
        mem.fill(ptr, len, randomise)?;
    }
    Ok(())
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

    #[test]
    fn fills_the_whole_range_and_no_more() {
        let mut bytes = vec![0; 70_000];
        let mut memory = GuestMemory::new(&mut bytes);
        let range = Iovecs::one(&memory, 10, 69_000).unwrap();
        random_get(&mut memory, &range).unwrap();
        assert_eq!(Iovecs::one(&memory, 69_999, 2).unwrap_err(), Errno::Fault);
        assert_eq!(bytes[..10], [0; 10]);
        assert_eq!(bytes[69_010..], [0; 990]);
        assert!(
            bytes[10..69_010]
                .chunks(100)
                .all(|c| c.iter().any(|&b| b != 0))
        );
    }
}
