//! What is really in force, observed instead of believed.
//!
//! Checks: one load outside a memory, while memory faults are noted. A fault
//! inside the memory's reach means that guard pages caught the access. No fault,
//! or one at the null address (where a Spectre-safe comparison sends an address
//! that fails it), means that an explicit comparison did.

use fathom_record::Checks;
use fathom_sys::witness::{Faults, made_code_bytes, watch_faults};

/// `(module (memory (export "m") 1) (func (export "f") (param i32) (result i32)
/// (i32.load (local.get 0))))`
pub const TINY: &[u8] = &[
    0, b'a', b's', b'm', 1, 0, 0, 0, 1, 6, 1, 0x60, 1, 0x7f, 1, 0x7f, 3, 2, 1, 0, 5, 3, 1, 0, 1, 7,
    9, 2, 1, b'm', 2, 0, 1, b'f', 0, 0, 10, 9, 1, 7, 0, 0x20, 0, 0x28, 2, 0, 0x0b,
];
/// An argument for [`TINY`]'s function: its load is outside the memory.
pub const OUTSIDE: i32 = 0x2_0000;

/// A 32-bit address and a 32-bit offset reach at most this far from the base.
const REACH: usize = 8 << 30;
/// Where the null address ends.
const NULL_PAGE: usize = 4096;

/// The kind of check that catches a load outside a memory which starts at
/// `base`, and how that is known. `load_outside` is true where it trapped; what
/// installs the engine's fault handler must have happened before.
pub fn observe_checks(base: usize, load_outside: impl FnOnce() -> bool) -> (Checks, String) {
    match watch_faults(load_outside) {
        Ok((trapped, faults)) => judge(base, trapped, faults),
        Err(error) => (Checks::Unknown, format!("faults cannot be noted: {error}")),
    }
}

fn judge(base: usize, trapped: bool, faults: Faults) -> (Checks, String) {
    let at = faults.last_address;
    let text = |text: &str| text.to_owned();
    if !trapped {
        let text = text("a load outside the memory did not trap");
        (Checks::None, text)
    } else if faults.count == 0 {
        let text = text("a load outside the memory trapped without a fault");
        (Checks::Explicit, text)
    } else if (base..base.saturating_add(REACH)).contains(&at) {
        let from_start = at - base;
        let text =
            format!("a load outside the memory faulted {from_start:#x} bytes after its start");
        (Checks::GuardPages, text)
    } else if at < NULL_PAGE {
        let text = text("a load outside the memory was compared, then sent to the null address");
        (Checks::Explicit, text)
    } else {
        let text = text("a load outside the memory faulted somewhere else");
        (Checks::Unknown, text)
    }
}

/// Whether a module that has run was interpreted: `(true, how that is known)`
/// where the process holds no machine code but that of files.
pub fn observe_interpretation() -> (bool, String) {
    match made_code_bytes() {
        Ok(0) => {
            let text = "a function ran and no memory of the process became executable";
            (true, text.to_owned())
        }
        Ok(bytes) => {
            let kib = bytes / 1024;
            (false, format!("{kib} KiB of memory became executable"))
        }
        Err(error) => (
            false,
            format!("executable memory cannot be listed: {error}"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_tell_the_kind_of_check() {
        let judged = |trapped, count, last_address| {
            let faults = Faults {
                count,
                last_address,
            };
            judge(0x10_0000, trapped, faults).0
        };
        assert_eq!(judged(false, 0, 0), Checks::None);
        assert_eq!(judged(true, 0, 0), Checks::Explicit);
        assert_eq!(judged(true, 1, 0x12_0000), Checks::GuardPages);
        assert_eq!(judged(true, 1, 8), Checks::Explicit);
        assert_eq!(judged(true, 1, 0x8_0000), Checks::Unknown);
    }
}
