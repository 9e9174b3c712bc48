//! What must hold of a function's machine code before it runs: a second pair of eyes on
//! what LLVM left of the table of traps.
//!
//! Every access that cannot fault has the prefix `ss` (`ir/memory.rs`) or is to the frame
//! or to constants behind the code. So whatever else has an operand in memory must have a
//! site, or a fault there would be taken for a defect of the engine.

use super::instructions::Instruction;
use super::prologue;

/// Where the instructions of a function begin, and where the last one ends.
pub(super) struct Instructions(Vec<u32>);

impl Instructions {
    /// Where the instruction at `at` ends.
    pub(super) fn end(&self, at: u32) -> u32 {
        let behind = self.0.partition_point(|start| *start <= at);
        self.0.get(behind).copied().unwrap_or(at + 1)
    }
}

/// Checks a function; `places` are those with a site, in order.
pub(super) fn verify(
    instructions: &[Instruction<'_>],
    has_table: bool,
    places: &[u32],
) -> Result<Instructions, String> {
    let mut starts = Vec::with_capacity(instructions.len() + 1);
    for instruction in instructions {
        let Instruction {
            at,
            mnemonic,
            operands,
            ..
        } = *instruction;
        starts.push(at);
        // The prologue is ours: it was compared byte by byte.
        let is_ours = at < prologue::BYTES as u32;
        let has_site = is_ours || places.binary_search(&at).is_ok();
        if !has_site && may_fault(mnemonic, operands, has_table) {
            return Err(format!(
                "an access without a site: {mnemonic} {operands} at {at:#x}"
            ));
        }
    }
    starts.extend(instructions.last().map(|last| last.end));
    Ok(Instructions(starts))
}

/// Whether an instruction has an operand in memory that may fault.
fn may_fault(mnemonic: &str, operands: &str, has_table: bool) -> bool {
    let Some((before, rest)) = operands.split_once('(') else {
        // Nothing is at an address of its own.
        return operands.contains(':') && !operands.contains("%ss:");
    };
    let before = before.rsplit(' ').next().unwrap_or_default();
    if mnemonic.starts_with("lea") || mnemonic.contains("nop") || before.contains("%ss:") {
        return false;
    }
    let address = rest.split(')').next().unwrap_or_default();
    if ["%rsp", "%rbp", "%rip"]
        .iter()
        .any(|base| address.starts_with(base))
    {
        return false;
    }
    // An entry of a table of jumps: a distance of 32 bits.
    let is_entry = mnemonic == "movslq" && address.ends_with(", 4");
    !(has_table && is_entry)
}

#[cfg(test)]
mod tests {
    use super::may_fault;
    use crate::compile::Target;

    #[test]
    fn accesses_are_told_apart() {
        assert!(may_fault("movl", "(%rdi, %rcx), %eax", false));
        assert!(may_fault("movq", "%rcx, (%rax)", true));
        assert!(may_fault("movslq", "(%rcx, %rax, 4), %rax", false));
        assert!(!may_fault("movslq", "(%rcx, %rax, 4), %rax", true));
        assert!(!may_fault("movq", "%ss:8(%rdi), %rax", false));
        assert!(may_fault("movq", "%gs:8, %rax", false));
        assert!(!may_fault("movq", "-8(%rbp), %rax", false));
        assert!(!may_fault("vmovsd", "0x20(%rip), %xmm0", false));
        assert!(!may_fault("leaq", "(%rdi, %rcx), %rax", false));
        assert!(!may_fault("addq", "%rcx, %rax", false));
    }

    /// The text is what the disassembler says.
    #[test]
    #[cfg_attr(not(target_arch = "x86_64"), ignore = "SKIPPED: code of x86-64")]
    fn the_disassembler_writes_operands_so() {
        let target = Target::fixed();
        let capstone = target.isa().to_capstone().unwrap();
        let faults = |code: &[u8]| {
            let all = capstone.disasm_all(code, 0).unwrap();
            let one = all.iter().next().unwrap();
            may_fault(one.mnemonic().unwrap(), one.op_str().unwrap(), false)
        };
        // mov ecx, [rdi + rcx]; mov rdi, ss:[rdi + 32]; movsd xmm0, [rip + 8]; mov rax, [rsp]
        assert!(faults(&[0x8b, 0x0c, 0x0f]));
        assert!(!faults(&[0x36, 0x48, 0x8b, 0x7f, 0x20]));
        assert!(!faults(&[0xf2, 0x0f, 0x10, 0x05, 8, 0, 0, 0]));
        assert!(!faults(&[0x48, 0x8b, 0x04, 0x24]));
    }
}
