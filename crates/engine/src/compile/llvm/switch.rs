//! A switch of stacks: Cranelift's `stack_switch`, as assembly that LLVM puts into a function.
//!
//! ```text
//!   lea rcx, [behind]      where to go on
//!   mov ss:[rax], rsp      rax: who is left
//!   mov ss:[rax + 8], rbp
//!   mov ss:[rax + 16], rcx
//!   mov rsp, ss:[rdx]      rdx: who goes on
//!   mov rbp, ss:[rdx + 8]
//!   jmp ss:[rdx + 16]
//! behind:                  rdi: the word, in and out
//! ```
//!
//! Either generator's code can go on where the other's has left: what they share is where the
//! three words stand (`facts/vmcont.rs`) and the register of the word. All other registers are
//! lost, so LLVM keeps nothing in one.
//!
//! What must stay true: these instructions are in a function as they stand here, and go on right
//! behind (`frame.rs` asks [`is_here`]). So whoever goes on behind has the stack pointer and the
//! frame pointer that were written down in front, and the frame is as it was.

use super::instructions::{Flow, Instruction};

/// Instructions in all.
pub(super) const INSTRUCTIONS: usize = 7;
/// All but the first, as the disassembler writes them.
const BEHIND_FIRST: [(&str, &str); INSTRUCTIONS - 1] = [
    ("movq", "%rsp, %ss:(%rax)"),
    ("movq", "%rbp, %ss:8(%rax)"),
    ("movq", "%rcx, %ss:0x10(%rax)"),
    ("movq", "%ss:(%rdx), %rsp"),
    ("movq", "%ss:8(%rdx), %rbp"),
    ("jmpq", "*%ss:0x10(%rdx)"),
];
/// What the instructions lose of what LLVM has, but for the registers of their operands.
const LOST: &str = "~{rcx},~{rbx},~{rsi},~{r8},~{r9},~{r10},~{r11},~{r12},~{r13},~{r14},~{r15},\
    ~{xmm0},~{xmm1},~{xmm2},~{xmm3},~{xmm4},~{xmm5},~{xmm6},~{xmm7},~{xmm8},~{xmm9},~{xmm10},\
    ~{xmm11},~{xmm12},~{xmm13},~{xmm14},~{xmm15},~{dirflag},~{fpsr},~{flags},~{memory}";

/// A call of the assembly, with who is left, who goes on, and the word. The word that comes back
/// is the first of what it results in.
pub(super) fn text(from: &str, to: &str, word: &str) -> String {
    let mut lines = vec!["leaq 1f(%rip), %rcx".to_owned()];
    let behind = BEHIND_FIRST.iter();
    lines.extend(behind.map(|(mnemonic, operands)| format!("{mnemonic} {operands}")));
    lines.push("1:".to_owned());
    let lines = lines.join("\\0A");
    format!(
        "call {{ i64, i64, i64 }} asm sideeffect \"{lines}\", \
         \"={{rdi}},={{rax}},={{rdx}},0,1,2,{LOST}\"(i64 {word}, i64 {from}, i64 {to}) #1"
    )
}

/// Whether a switch begins here, which goes on behind itself.
pub(super) fn is_here(instructions: &[Instruction<'_>]) -> bool {
    let Some((first, behind)) = instructions
        .get(..INSTRUCTIONS)
        .and_then(<[_]>::split_first)
    else {
        return false;
    };
    let end = instructions[INSTRUCTIONS - 1].end;
    let goes_on = |one: &Instruction<'_>| {
        let distance = one.operands.strip_suffix("(%rip), %rcx");
        let distance = distance.and_then(super::frame::number);
        let to = distance.and_then(|distance| i64::from(one.end).checked_add(distance));
        (one.mnemonic, one.flow) == ("leaq", Flow::Next) && to == Some(i64::from(end))
    };
    let is_rest = behind
        .iter()
        .zip(BEHIND_FIRST)
        .all(|(one, wanted)| (one.mnemonic, one.operands) == wanted);
    goes_on(first) && is_rest
}

#[cfg(test)]
mod tests {
    use super::super::instructions;
    use super::*;
    use crate::compile::Target;

    const SWITCH: [&[u8]; INSTRUCTIONS] = [
        &[0x48, 0x8d, 0x0d, 0x1b, 0, 0, 0], // lea rcx, [rip + 27]
        &[0x36, 0x48, 0x89, 0x20],          // mov ss:[rax], rsp
        &[0x36, 0x48, 0x89, 0x68, 0x08],    // mov ss:[rax + 8], rbp
        &[0x36, 0x48, 0x89, 0x48, 0x10],    // mov ss:[rax + 16], rcx
        &[0x36, 0x48, 0x8b, 0x22],          // mov rsp, ss:[rdx]
        &[0x36, 0x48, 0x8b, 0x6a, 0x08],    // mov rbp, ss:[rdx + 8]
        &[0x36, 0xff, 0x62, 0x10],          // jmp ss:[rdx + 16]
    ];

    /// Whether a switch is seen in code, and the code as it is written; nothing where the
    /// disassembler does not know it.
    fn seen(code: &[u8]) -> Option<(bool, String)> {
        let all = |all: &[Instruction<'_>]| {
            let lines = all
                .iter()
                .map(|one| format!("{} {}\n", one.mnemonic, one.operands));
            (is_here(all), lines.collect())
        };
        instructions::read(Target::fixed().isa(), code, all).ok()
    }

    /// With any bit changed it is none, unless the bit means nothing: then it is written as before.
    #[test]
    #[cfg_attr(not(target_arch = "x86_64"), ignore = "SKIPPED: code of x86-64")]
    fn a_switch_is_known_by_every_bit() {
        let code = SWITCH.concat();
        let distance = code.len() - SWITCH[0].len();
        assert_eq!(distance, usize::from(SWITCH[0][3]));
        let (is_switch, written) = seen(&code).unwrap();
        assert!(is_switch, "{written}");
        let (is_switch, _) = seen(&code[..code.len() - SWITCH[6].len()]).unwrap();
        assert!(!is_switch);
        let mut without_meaning = 0;
        for bit in 0..8 * code.len() {
            let mut other = code.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            let Some((is_switch, text)) = seen(&other) else {
                continue;
            };
            assert_eq!(is_switch, text == written, "bit {bit}: {text}");
            without_meaning += usize::from(is_switch);
        }
        // The bits of a prefix that number a base and an index where there is none.
        assert!(without_meaning < 20, "{without_meaning}");
    }
}
