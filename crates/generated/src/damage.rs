//! Damaged modules: a few edits of a valid one.

use crate::generate::Stream;

/// Edits made to one module at most.
const EDITS_MAX: usize = 8;

/// A module with a few edits, or cut short.
pub fn damage(module: &[u8], stream: &mut Stream) -> Vec<u8> {
    let mut bytes = module.to_vec();
    for _ in 0..=stream.below(EDITS_MAX) {
        if bytes.is_empty() {
            break;
        }
        edit(&mut bytes, stream);
    }
    bytes
}

fn edit(bytes: &mut Vec<u8>, stream: &mut Stream) {
    let at = stream.below(bytes.len());
    match stream.below(8) {
        0 => bytes.truncate(at),
        1 => bytes[at] ^= 1 << stream.below(8),
        2 => bytes[at] = stream.next_u64() as u8,
        3 => {
            bytes.remove(at);
        }
        4 => bytes.insert(at, stream.next_u64() as u8),
        // The largest numbers a length or an index can claim.
        5 => {
            let claim: &[u8] = match stream.below(3) {
                0 => &[0xff, 0xff, 0xff, 0xff, 0x0f],
                1 => &[0x80, 0x80, 0x80, 0x80, 0x08],
                _ => &[0xff, 0xff, 0x03],
            };
            let end = (at + claim.len()).min(bytes.len());
            bytes.splice(at..end, claim.iter().copied());
        }
        // A part of it once more, elsewhere: sections and bodies that repeat.
        6 => {
            let end = (at + 1 + stream.below(64)).min(bytes.len());
            let part = bytes[at..end].to_vec();
            let to = stream.below(bytes.len());
            bytes.splice(to..to, part);
        }
        _ => {
            let end = (at + 1 + stream.below(16)).min(bytes.len());
            bytes.drain(at..end);
        }
    }
}
