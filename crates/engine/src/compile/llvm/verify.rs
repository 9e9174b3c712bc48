//! What must hold of a function's machine code before it runs: a second pair of eyes on
//! what LLVM left of the table of traps.
//!
//! Every access that cannot fault has the prefix `ss` (`ir/memory.rs`) or is to the frame
//! or to constants behind the code. So whatever else has an operand in memory must have a
//! site, or a fault there would be taken for a defect of the engine.

use cranelift_codegen::isa::TargetIsa;

use super::object::Piece;

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
    isa: &dyn TargetIsa,
    piece: &Piece,
    places: &[u32],
) -> Result<Instructions, String> {
    let capstone = isa.to_capstone().map_err(|error| error.to_string())?;
    let code = &piece.code[..piece.code_bytes as usize];
    let all = capstone
        .disasm_all(code, 0)
        .map_err(|error| error.to_string())?;
    let mut starts = Vec::with_capacity(all.len() + 1);
    let mut end = 0;
    for instruction in all.iter() {
        let at = instruction.address() as u32;
        starts.push(at);
        end = at + instruction.bytes().len() as u32;
        let mnemonic = instruction.mnemonic().unwrap_or_default();
        let operands = instruction.op_str().unwrap_or_default();
        let has_site = places.binary_search(&at).is_ok();
        if !has_site && may_fault(mnemonic, operands, piece.has_table) {
            return Err(format!(
                "an access without a site: {mnemonic} {operands} at {at:#x}"
            ));
        }
    }
    starts.push(end);
    match end == piece.code_bytes {
        true => Ok(Instructions(starts)),
        false => Err(format!("an unknown instruction at {end:#x}")),
    }
}

/// Whether an instruction has an operand in memory that may fault.
fn may_fault(mnemonic: &str, operands: &str, has_table: bool) -> bool {
    let Some((before, rest)) = operands.split_once('[') else {
        return false;
    };
    if mnemonic == "lea" || mnemonic.contains("nop") || before.ends_with("ss:") {
        return false;
    }
    let address = rest.split(']').next().unwrap_or_default();
    if ["rsp", "rbp", "rip"]
        .iter()
        .any(|base| address.starts_with(base))
    {
        return false;
    }
    // An entry of a table of jumps: a distance of 32 bits.
    let is_entry = mnemonic == "movsxd" && address.ends_with("*4") && before.contains("dword");
    !(has_table && is_entry)
}

#[cfg(test)]
mod tests {
    use super::may_fault;

    #[test]
    fn accesses_are_told_apart() {
        assert!(may_fault("mov", "eax, dword ptr [rdi + rcx]", false));
        assert!(may_fault("mov", "qword ptr [rax], rcx", true));
        assert!(may_fault("movsxd", "rax, dword ptr [rcx + rax*4]", false));
        assert!(!may_fault("movsxd", "rax, dword ptr [rcx + rax*4]", true));
        assert!(!may_fault("mov", "rax, qword ptr ss:[rdi + 8]", false));
        assert!(!may_fault("mov", "rax, qword ptr [rbp - 8]", false));
        assert!(!may_fault("vmovsd", "xmm0, qword ptr [rip + 0x20]", false));
        assert!(!may_fault("lea", "rax, [rdi + rcx]", false));
        assert!(!may_fault("add", "rax, rcx", false));
    }
}
