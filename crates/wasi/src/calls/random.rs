//! Random numbers: the host's generator fills guest memory itself.

use super::Call;
use crate::ctx::WasiCtx;
use crate::errno::Errno;
use crate::memory::GuestMemory;
use crate::ranges::{Checked, Present};
use rustix::rand::GetRandomFlags;

/// `random_get`, on one present piece of its range.
pub(crate) fn random_get(ctx: &WasiCtx, mem: &mut GuestMemory, piece: &Present<Checked>) -> Call {
    let fill = |bytes: &mut [u8]| match ctx.given.fill(bytes) {
        true => Ok(bytes.len()),
        false => randomise(bytes),
    };
    mem.fill(piece, fill).map(|_| ())
}

fn randomise(bytes: &mut [u8]) -> Result<usize, Errno> {
    let mut done = 0;
    while done < bytes.len() {
        match rustix::rand::getrandom(&mut bytes[done..], GetRandomFlags::empty()) {
            // More than 256 bytes may come in parts, and a signal may come first.
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
    use crate::ctx::WasiCtxBuilder;
    use crate::ranges::Resident;

    #[test]
    fn fills_the_whole_range_and_no_more() {
        let ctx = WasiCtxBuilder::new().build().unwrap();
        let mut bytes = vec![0; 70_000];
        let mut memory = GuestMemory::new(&mut bytes);
        for piece in memory.checked(10, 69_000).unwrap().pieces() {
            let piece = piece.present(&Resident).unwrap();
            random_get(&ctx, &mut memory, &piece).unwrap();
        }
        assert_eq!(memory.checked(69_999, 2), Err(Errno::Fault));
        assert_eq!(bytes[..10], [0; 10]);
        assert_eq!(bytes[69_010..], [0; 990]);
        assert!(
            bytes[10..69_010]
                .chunks(100)
                .all(|c| c.iter().any(|&b| b != 0))
        );
    }
}
