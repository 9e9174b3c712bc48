//! Going on behind an instruction that reads memory, as if it had read zero.
//!
//! Only for what a probe of shadow memory can be: `mov`, `movzx`, `test` with a
//! register or an immediate, `cmp` with zero, all with one operand in memory (Intel SDM
//! vol. 2, §2.1: prefixes, opcode, ModRM, SIB, displacement, immediate).

/// What an instruction does with the zero it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Zero in the register of this number.
    Load(u8),
    /// As many bits are zero as a comparison of zero with zero leaves.
    CompareWithZero,
}

/// An instruction that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Probe {
    /// Its length in bytes.
    pub bytes: usize,
    /// What it does.
    pub effect: Effect,
}

/// Reads a probe; nothing where it is another instruction. `code` gives the
/// byte at a distance from its start, and is asked for none beyond its end.
pub(crate) fn decode(code: impl Fn(usize) -> Option<u8>) -> Option<Probe> {
    let mut at = 0;
    let mut next = || {
        let byte = code(at);
        at += 1;
        byte
    };
    let mut byte = next()?;
    let mut has_small_operand = false;
    if byte == 0x66 {
        has_small_operand = true;
        byte = next()?;
    }
    let mut rex = 0;
    if byte & 0xf0 == 0x40 {
        rex = byte;
        byte = next()?;
    }
    // Length of the immediate, and whether a register is loaded.
    let (immediate, loads) = match byte {
        0x0f => match next()? {
            0xb6 | 0xb7 => (0, true),
            _ => return None,
        },
        0x8b => (0, true),
        0x84 | 0x85 => (0, false),
        0x80 | 0x83 | 0xf6 => (1, false),
        0x81 | 0xf7 => (if has_small_operand { 2 } else { 4 }, false),
        _ => return None,
    };
    let modrm = next()?;
    let (mode, operation, base) = (modrm >> 6, modrm >> 3 & 7, modrm & 7);
    let is_known = match byte {
        0x80 | 0x81 | 0x83 => operation == 7,
        0xf6 | 0xf7 => operation == 0,
        _ => true,
    };
    if mode == 3 || !is_known {
        return None;
    }
    let mut displacement = [0, 1, 4][usize::from(mode)];
    if base == 4 {
        let sib = next()?;
        if mode == 0 && sib & 7 == 5 {
            displacement = 4;
        }
    } else if mode == 0 && base == 5 {
        displacement = 4;
    }
    let first = at + displacement;
    let is_zero = (first..first + immediate).all(|at| code(at) == Some(0));
    // A comparison with anything else is not one of zero with zero.
    if matches!(byte, 0x80 | 0x81 | 0x83) && !is_zero {
        return None;
    }
    Some(Probe {
        bytes: first + immediate,
        effect: match loads {
            true => Effect::Load(operation | (rex & 4) << 1),
            false => Effect::CompareWithZero,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(code: &[u8], effect: Effect) {
        let bytes = code.len();
        assert_eq!(decode(byte_of(code)), Some(Probe { bytes, effect }));
    }

    fn byte_of(code: &[u8]) -> impl Fn(usize) -> Option<u8> {
        |at| Some(*code.get(at).expect("no byte beyond the instruction"))
    }

    #[test]
    fn the_forms_of_a_probe_are_read() {
        // movzx eax, byte [rdi + rcx]; movzx r9, byte [r12 + 8]
        reads(&[0x0f, 0xb6, 0x04, 0x0f], Effect::Load(0));
        reads(&[0x4d, 0x0f, 0xb6, 0x4c, 0x24, 0x08], Effect::Load(9));
        // mov r10d, [rsi + rax - 0x10000]; mov edx, [rip + 1]
        reads(
            &[0x44, 0x8b, 0x94, 0x06, 0x00, 0x00, 0xff, 0xff],
            Effect::Load(10),
        );
        reads(&[0x8b, 0x15, 1, 0, 0, 0], Effect::Load(2));
        // mov rax, [rbp*1 + 0x10]
        reads(&[0x48, 0x8b, 0x04, 0x2d, 0x10, 0, 0, 0], Effect::Load(0));
        // cmp byte [rsi + rax - 0x10000], 0; test byte [rdi], 0xff
        let compare = [0x80, 0xbc, 0x06, 0x00, 0x00, 0xff, 0xff, 0x00];
        reads(&compare, Effect::CompareWithZero);
        reads(&[0xf6, 0x07, 0xff], Effect::CompareWithZero);
        // test dword [r9 + rcx], edx
        reads(&[0x41, 0x85, 0x14, 0x09], Effect::CompareWithZero);
        // test dword [rdi + 4], 0xff
        reads(&[0xf7, 0x47, 4, 0xff, 0, 0, 0], Effect::CompareWithZero);
    }

    #[test]
    fn other_instructions_are_not() {
        // A store, a register operand, an addition, a comparison with 1.
        let others: [&[u8]; 4] = [&[0x89, 7], &[0x8b, 0xc7], &[0x80, 7], &[0x80, 0x3f, 1]];
        for code in others {
            assert_eq!(decode(byte_of(code)), None, "{code:x?}");
        }
    }
}
