//! The instructions of machine code of which nothing but the bytes is known, and what they come
//! to.
//!
//! ```text
//!  bytes ─ capstone ─► jumps: where code begins ─► instructions, and data between them
//! ```
//!
//! Constants and tables of jumps stand behind an instruction that never goes on to the next, up
//! to where something jumps: directly, by a table of distances behind the jump (Cranelift's), or
//! by one of addresses (V8's).
//!
//! What must stay true: offsets rise, and each byte is in one line.

use std::collections::BTreeSet;
use std::ops::Range;

use capstone::arch::x86::{ArchMode, ArchSyntax, X86OperandType};
use capstone::arch::{ArchOperand, BuildsCapstone, BuildsCapstoneSyntax};
use capstone::{Capstone, Insn, InsnDetail, InsnGroupType};
use serde::Serialize;

/// Bytes of data that are shown in a line.
const DATA_BYTES: usize = 8;

/// An instruction, or data between instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// In bytes from the start of the function.
    pub offset: u32,
    /// As an assembler writes it.
    pub text: String,
    /// What it does; nothing of data.
    pub does: Option<Does>,
}

/// What an instruction does, besides computing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Does {
    /// Whether it reads or writes memory by an operand.
    pub accesses: bool,
    /// Whether it jumps, or does not, as a condition says.
    pub branches: bool,
    /// Whether it calls.
    pub calls: bool,
}

/// What a function's code comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Bytes, data included.
    pub bytes: usize,
    /// Instructions.
    pub instructions: usize,
    /// Those that read or write memory by an operand.
    pub accesses: usize,
    /// Conditional jumps.
    pub branches: usize,
    /// Calls.
    pub calls: usize,
}

impl Cost {
    /// Of the lines of so many bytes.
    pub fn of(bytes: usize, lines: &[Line]) -> Cost {
        let mut cost = Cost {
            bytes,
            ..Cost::default()
        };
        for does in lines.iter().filter_map(|line| line.does) {
            cost.instructions += 1;
            cost.accesses += usize::from(does.accesses);
            cost.branches += usize::from(does.branches);
            cost.calls += usize::from(does.calls);
        }
        cost
    }
}

/// Reads machine code of x86-64.
pub struct Disassembler(Capstone);

impl Disassembler {
    /// # Errors
    /// One line: there is none for this machine's instruction set.
    pub fn new() -> Result<Disassembler, String> {
        if !cfg!(target_arch = "x86_64") {
            return Err("code of others is read on x86-64 only".to_owned());
        }
        let capstone = Capstone::new()
            .x86()
            .mode(ArchMode::Mode64)
            .syntax(ArchSyntax::Att)
            .detail(true)
            .build();
        capstone
            .map(Disassembler)
            .map_err(|error| format!("no disassembler: {error}"))
    }

    /// What an instruction does, by its bytes.
    pub fn does(&self, instruction: &[u8]) -> Option<Does> {
        self.one(instruction, 0).map(|found| found.does)
    }

    /// The lines of code that was at an address.
    pub fn lines(&self, code: &[u8], address: u64) -> Vec<Line> {
        let starts = self.starts(code, address);
        let mut lines = Vec::new();
        let mut at = 0;
        let mut may_be_data = false;
        while at < code.len() {
            let next = starts.range(at as u32..).next();
            if may_be_data && next != Some(&(at as u32)) {
                let end = next.map_or(code.len(), |next| *next as usize);
                match self.padding(code, at..end) {
                    Some(padding) => lines.extend(padding),
                    None => data(&mut lines, code, at..end),
                }
                at = end;
                may_be_data = false;
                continue;
            }
            match self.one(code, at) {
                Some(found) => {
                    lines.push(Line {
                        offset: at as u32,
                        text: found.text,
                        does: Some(found.does),
                    });
                    at += found.bytes;
                    may_be_data = found.never_goes_on;
                }
                None => {
                    // Nothing the disassembler knows: shown as it is.
                    let end = code.len().min(at + 4);
                    data(&mut lines, code, at..end);
                    at = end;
                }
            }
        }
        lines
    }

    /// The lines of what fills the room up to where code begins again, if it is that: it never
    /// runs, and is counted as nothing.
    fn padding(&self, code: &[u8], range: Range<usize>) -> Option<Vec<Line>> {
        let mut lines = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let Found { text, bytes, .. } = self.one(&code[..range.end], at)?;
            let fills = ["nop", "int3", "data16"];
            fills.iter().find(|start| text.starts_with(**start))?;
            lines.push(Line {
                offset: at as u32,
                text,
                does: None,
            });
            at += bytes;
        }
        Some(lines)
    }

    /// Where something jumps.
    fn starts(&self, code: &[u8], address: u64) -> BTreeSet<u32> {
        let mut starts: BTreeSet<u32> = addresses(code, address).collect();
        let mut at = 0;
        while at < code.len() {
            let Some(found) = self.one(code, at) else {
                at += 1;
                continue;
            };
            at += found.bytes;
            starts.extend(
                found
                    .target
                    .filter(|target| (*target as usize) < code.len()),
            );
            if found.is_computed_jump {
                let (targets, bytes) = distances(code, at);
                starts.extend(targets);
                // What is in the table is no code.
                at += bytes;
            }
        }
        starts
    }

    /// The instruction that begins there, if one does.
    fn one(&self, code: &[u8], at: usize) -> Option<Found> {
        let decoded = self.0.disasm_count(&code[at..], at as u64, 1).ok()?;
        let instruction = decoded.iter().next()?;
        let detail = self.0.insn_detail(instruction).ok()?;
        Some(found(instruction, &detail))
    }
}

/// What there is to know of an instruction.
struct Found {
    text: String,
    bytes: usize,
    does: Does,
    /// Where it jumps to.
    target: Option<u32>,
    is_computed_jump: bool,
    never_goes_on: bool,
}

fn found(instruction: &Insn<'_>, detail: &InsnDetail<'_>) -> Found {
    let mnemonic = instruction.mnemonic().unwrap_or_default();
    let is_of = |group: u32| detail.groups().iter().any(|one| u32::from(one.0) == group);
    let is_jump = is_of(InsnGroupType::CS_GRP_JUMP);
    let never_comes_back = mnemonic.starts_with("jmp") || mnemonic.starts_with("ljmp");
    let mut has_memory = false;
    let mut immediate = None;
    for operand in detail.arch_detail().operands() {
        let ArchOperand::X86Operand(operand) = operand else {
            continue;
        };
        match operand.op_type {
            X86OperandType::Mem(_) => has_memory = true,
            X86OperandType::Imm(value) => immediate = u32::try_from(value).ok(),
            _ => {}
        }
    }
    let is_address = ["lea", "nop", "prefetch"]
        .iter()
        .any(|start| mnemonic.starts_with(start));
    let operands = instruction.op_str().unwrap_or_default();
    Found {
        text: format!("{mnemonic} {operands}").trim_end().to_owned(),
        bytes: instruction.bytes().len(),
        does: Does {
            accesses: has_memory && !is_address,
            branches: is_jump && !never_comes_back,
            calls: is_of(InsnGroupType::CS_GRP_CALL),
        },
        target: immediate.filter(|_| is_jump),
        is_computed_jump: is_jump && never_comes_back && immediate.is_none(),
        never_goes_on: never_comes_back
            || is_of(InsnGroupType::CS_GRP_RET)
            || mnemonic.starts_with("ud2"),
    }
}

/// Where a table of distances from itself leads that begins here, if one does, and its bytes.
fn distances(code: &[u8], table: usize) -> (BTreeSet<u32>, usize) {
    let mut targets = BTreeSet::new();
    let mut bytes = 0;
    // Behind it is code that it leads to.
    let mut end = code.len();
    while table + bytes + 4 <= end {
        let word = code[table + bytes..][..4].try_into().expect("four bytes");
        let target = (table as i64).checked_add(i32::from_le_bytes(word).into());
        let target = target.and_then(|target| usize::try_from(target).ok());
        let is_inside = |target: &usize| (table..table + bytes + 4).contains(target);
        let Some(target) = target.filter(|one| *one < code.len() && !is_inside(one)) else {
            break;
        };
        bytes += 4;
        targets.insert(target as u32);
        if target > table {
            end = end.min(target);
        }
    }
    (targets, bytes)
}

/// Where words of the code lead that are addresses of it.
fn addresses(code: &[u8], address: u64) -> impl Iterator<Item = u32> {
    let bytes = code.len() as u64;
    let words = code.chunks_exact(8);
    words.filter_map(move |word| {
        let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
        let offset = word.checked_sub(address).filter(|_| address != 0)?;
        (offset < bytes).then_some(offset as u32)
    })
}

fn data(lines: &mut Vec<Line>, code: &[u8], range: Range<usize>) {
    for (i, bytes) in code[range.clone()].chunks(DATA_BYTES).enumerate() {
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        lines.push(Line {
            offset: (range.start + DATA_BYTES * i) as u32,
            text: format!(".byte {}", digits.join(" ")),
            does: None,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(code: &[u8], address: u64) -> Vec<String> {
        let lines = Disassembler::new().unwrap().lines(code, address);
        let mut end = 0;
        for line in &lines {
            assert_eq!(line.offset, end, "{lines:?}");
            let data = line
                .text
                .strip_prefix(".byte ")
                .map(|text| text.split(' ').count());
            let next = lines.iter().find(|next| next.offset > line.offset);
            end = next.map_or(code.len() as u32, |next| next.offset);
            assert!(data.is_none_or(|bytes| bytes as u32 == end - line.offset));
        }
        lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn instructions_are_counted_by_what_they_do() {
        if !cfg!(target_arch = "x86_64") {
            eprintln!("SKIPPED: not x86-64");
            return;
        }
        let code: &[u8] = &[
            0x48, 0x8b, 0x07, // movq (%rdi), %rax
            0x48, 0x8d, 0x47, 0x08, // leaq 8(%rdi), %rax
            0x48, 0x83, 0x07, 0x01, // addq $1, (%rdi)
            0x74, 0x01, // je 0xe
            0x90, // nop
            0xe8, 0x00, 0x00, 0x00, 0x00, // callq
            0xeb, 0x02, // jmp 0x17
            0xff, 0xff, // nothing
            0xc3, // retq
            0x00, 0x00, 0xf0, 0x3f, // a constant
        ];
        let lines = Disassembler::new().unwrap().lines(code, 0);
        let cost = Cost::of(code.len(), &lines);
        let wanted = Cost {
            bytes: 28,
            instructions: 8,
            accesses: 2,
            branches: 1,
            calls: 1,
        };
        assert_eq!(cost, wanted, "{lines:?}");
        assert_eq!(texts(code, 0)[7], ".byte ff ff");
        // jmp 4; nopw: it fills the room
        assert_eq!(
            Disassembler::new()
                .unwrap()
                .lines(&[0xeb, 2, 0x66, 0x90, 0xc3], 0)[1],
            Line {
                offset: 2,
                text: "nop".to_owned(),
                does: None
            }
        );
        assert_eq!(texts(code, 0).last().unwrap(), ".byte 00 00 f0 3f");
    }

    #[test]
    fn tables_of_jumps_are_data_and_what_they_lead_to_is_code() {
        if !cfg!(target_arch = "x86_64") {
            eprintln!("SKIPPED: not x86-64");
            return;
        }
        // jmpq *%rax; distances to 10 and 11, of the table at 2
        let near = [0xff, 0xe0, 8, 0, 0, 0, 9, 0, 0, 0, 0x90, 0xc3];
        assert_eq!(
            texts(&near, 0),
            ["jmpq *%rax", ".byte 08 00 00 00 09 00 00 00", "nop", "retq"]
        );
        // jmpq *%rax; nop, retq at 2; 4 bytes of nothing; the address of what is at 2
        let mut far = vec![0xff, 0xe0, 0x90, 0xc3, 0, 0, 0, 0];
        far.extend(0x7f00_0000_0002_u64.to_le_bytes());
        let seen = texts(&far, 0x7f00_0000_0000);
        assert_eq!(seen[..3], ["jmpq *%rax", "nop", "retq"]);
        assert!(
            seen[3..].iter().all(|line| line.starts_with(".byte")),
            "{seen:?}"
        );
    }
}
