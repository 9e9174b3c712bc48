//! Instructions that nothing uses: what is left of a product by halves once it is one
//! instruction.
//!
//! The code generator leaves them out, too, but simplifies and numbers them first, and
//! there are thirty for each product of a cipher.
//!
//! What must stay true: nothing that can trap, write or be seen from outside is removed,
//! and nothing that anything uses.

use cranelift_codegen::ir::{Function, Inst, Opcode, Value};
use smallvec::SmallVec;

/// Removes them.
pub(super) fn remove(func: &mut Function) {
    let mut uses = vec![0_u32; func.dfg.num_values()];
    let blocks: Vec<_> = func.layout.blocks().collect();
    for block in &blocks {
        for inst in func.layout.block_insts(*block) {
            for value in operands(func, inst) {
                uses[value.as_u32() as usize] += 1;
            }
        }
    }
    // Users first, so that what only they used goes with them.
    for block in blocks.into_iter().rev() {
        let mut next = func.layout.last_inst(block);
        while let Some(inst) = next {
            next = func.layout.prev_inst(inst);
            let mut results = func.dfg.inst_results(inst).iter();
            let is_used = results.any(|value| uses[value.as_u32() as usize] > 0);
            if is_used || !computes(func.dfg.insts[inst].opcode()) {
                continue;
            }
            for value in operands(func, inst) {
                uses[value.as_u32() as usize] -= 1;
            }
            func.layout.remove_inst(inst);
        }
    }
}

fn operands(func: &Function, inst: Inst) -> SmallVec<[Value; 4]> {
    let values = func.dfg.inst_values(inst);
    values
        .map(|value| func.dfg.resolve_aliases(value))
        .collect()
}

/// Whether an instruction only computes: those of products by halves.
fn computes(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Iconst
            | Opcode::Iadd
            | Opcode::Imul
            | Opcode::Umulhi
            | Opcode::Band
            | Opcode::Bor
            | Opcode::Ishl
            | Opcode::Ushr
            | Opcode::Icmp
            | Opcode::Uextend
            | Opcode::Ireduce
            | Opcode::Isplit
    )
}
