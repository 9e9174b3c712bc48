//! A function's machine code as the disassembler reads it.
//!
//! Whether an instruction moves the stack is asked twice: of the disassembler's tables, and of
//! its text. The tables do not know that `enter` does; the text of most that write a register
//! names it (`frame.rs` knows each such use), and those that move the stack without naming it
//! have their names here. Operands are written as AT&T did, which is how Cranelift has Capstone
//! write them.

use std::collections::BTreeMap;

use cranelift_codegen::isa::TargetIsa;

/// Where an instruction goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// At the next one, or nowhere.
    Next,
    Jump,
    Call,
    Return,
    /// In the kernel, or in what only the kernel may.
    Leaves,
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction<'a> {
    pub at: u32,
    /// Where the next one begins.
    pub end: u32,
    pub mnemonic: &'a str,
    pub operands: &'a str,
    pub flow: Flow,
    /// Whether it writes the stack pointer, the frame pointer, or a part of one.
    pub moves_stack: bool,
}

/// The stack pointer, the frame pointer and their parts.
const OF_STACK: [&str; 8] = ["rsp", "esp", "sp", "spl", "rbp", "ebp", "bp", "bpl"];

/// Whether a register, as it is written in an operand, is the stack pointer, the frame pointer
/// or a part of one.
pub(super) fn is_of_stack(register: &str) -> bool {
    register
        .strip_prefix('%')
        .is_some_and(|name| OF_STACK.contains(&name))
}

/// How those are called that move the stack pointer without naming it.
const MOVING: [&str; 6] = ["push", "pop", "enter", "leave", "call", "ret"];

/// Whether one is called so, whatever prefixes it has.
fn moves_by_name(mnemonic: &str) -> bool {
    let is_moving = |word: &str| MOVING.iter().any(|name| word.starts_with(name));
    let mut words = mnemonic.split(' ');
    words.any(|word| is_moving(word) && !word.starts_with("popcnt"))
}

/// Capstone's numbers of groups (`cs_group_type`), each with what it means here.
const GROUPS: [(u8, Flow); 6] = [
    (1, Flow::Jump),
    (2, Flow::Call),
    (3, Flow::Return),
    (4, Flow::Leaves),
    (5, Flow::Leaves),
    (6, Flow::Leaves),
];

/// Shows all instructions of a function, of which there is nothing else in `code`.
pub(super) fn read<T>(
    isa: &dyn TargetIsa,
    code: &[u8],
    look: impl FnOnce(&[Instruction<'_>]) -> T,
) -> Result<T, String> {
    let capstone = isa.to_capstone().map_err(|error| error.to_string())?;
    let all = capstone
        .disasm_all(code, 0)
        .map_err(|error| error.to_string())?;
    let mut of_stack: BTreeMap<u16, bool> = BTreeMap::new();
    let mut found = Vec::with_capacity(all.len());
    for instruction in all.iter() {
        let detail = capstone
            .insn_detail(instruction)
            .map_err(|error| error.to_string())?;
        let mnemonic = instruction.mnemonic().unwrap_or_default();
        let mut moves_stack = moves_by_name(mnemonic);
        for register in detail.regs_write() {
            moves_stack |= *of_stack.entry(register.0).or_insert_with(|| {
                let name = capstone.reg_name(*register);
                name.is_none_or(|name| OF_STACK.contains(&name.as_str()))
            });
        }
        let is_in = |group: u8| detail.groups().iter().any(|found| found.0 == group);
        let flow = GROUPS.iter().find(|(group, _)| is_in(*group));
        let at = instruction.address() as u32;
        found.push(Instruction {
            at,
            end: at + instruction.bytes().len() as u32,
            mnemonic,
            operands: instruction.op_str().unwrap_or_default(),
            flow: flow.map_or(Flow::Next, |(_, flow)| *flow),
            moves_stack,
        });
    }
    let end = found.last().map_or(0, |last| last.end);
    match end as usize == code.len() {
        true => Ok(look(&found)),
        false => Err(format!("an unknown instruction at {end:#x}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::Target;

    /// What is relied on of the disassembler's tables.
    #[test]
    #[cfg_attr(not(target_arch = "x86_64"), ignore = "SKIPPED: code of x86-64")]
    fn the_disassembler_knows_who_moves_the_stack() {
        let target = Target::fixed();
        let all: [(&[u8], Flow, bool); 24] = [
            (&[0x55], Flow::Next, true),                    // push rbp
            (&[0x50], Flow::Next, true),                    // push rax
            (&[0x68, 1, 0, 0, 0], Flow::Next, true),        // push 1
            (&[0x9c], Flow::Next, true),                    // pushfq
            (&[0x58], Flow::Next, true),                    // pop rax
            (&[0x9d], Flow::Next, true),                    // popfq
            (&[0xc9], Flow::Next, true),                    // leave
            (&[0xc8, 16, 0, 0], Flow::Next, true),          // enter 16, 0
            (&[0x48, 0x83, 0xe4, 0xe0], Flow::Next, true),  // and rsp, -32
            (&[0x83, 0xe4, 0xe0], Flow::Next, true),        // and esp, -32
            (&[0x48, 0x83, 0xec, 8], Flow::Next, true),     // sub rsp, 8
            (&[0x48, 0x29, 0xc4], Flow::Next, true),        // sub rsp, rax
            (&[0x48, 0x8d, 0x65, 0xf8], Flow::Next, true),  // lea rsp, [rbp - 8]
            (&[0x48, 0x89, 0xc4], Flow::Next, true),        // mov rsp, rax
            (&[0x48, 0x94], Flow::Next, true),              // xchg rsp, rax
            (&[0x48, 0x87, 0x28], Flow::Next, true),        // xchg [rax], rbp
            (&[0x48, 0x0f, 0x44, 0xe0], Flow::Next, true),  // cmove rsp, rax
            (&[0x40, 0xb5, 1], Flow::Next, true),           // mov bpl, 1
            (&[0x48, 0x89, 0xe0], Flow::Next, false),       // mov rax, rsp
            (&[0x48, 0x89, 0x04, 0x24], Flow::Next, false), // mov [rsp], rax
            (&[0x0f, 0x0b], Flow::Next, false),             // ud2
            (&[0xeb, 0], Flow::Jump, false),                // jmp
            (&[0xff, 0xe0], Flow::Jump, false),             // jmp rax
            (&[0x0f, 0x05], Flow::Leaves, false),           // syscall
        ];
        for (code, flow, moves_stack) in all {
            let seen = read(target.isa(), code, |all| {
                assert_eq!(all.len(), 1, "{code:x?}");
                (all[0].flow, all[0].moves_stack, all[0].mnemonic.to_owned())
            });
            let (seen_flow, seen_moves, mnemonic) = seen.unwrap();
            assert_eq!((seen_flow, seen_moves), (flow, moves_stack), "{mnemonic}");
        }
        let flow = |code: &[u8]| read(target.isa(), code, |all| all[0].flow).unwrap();
        assert_eq!(flow(&[0xe8, 0, 0, 0, 0]), Flow::Call);
        assert_eq!(flow(&[0xff, 0xd0]), Flow::Call);
        assert_eq!(flow(&[0xc3]), Flow::Return);
        assert_eq!(flow(&[0xc2, 8, 0]), Flow::Return);
        let moves = |code: &[u8]| read(target.isa(), code, |all| all[0].moves_stack).unwrap();
        assert!(moves(&[0xe8, 0, 0, 0, 0]) && moves(&[0xc3]) && moves(&[0xf3, 0xc3]));
        assert!(!moves(&[0xf3, 0x48, 0x0f, 0xb8, 0xc0]), "popcnt rax, rax");
        assert!(read(target.isa(), &[0x0f], |_| ()).is_err());
    }
}
