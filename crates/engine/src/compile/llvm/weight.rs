//! What LLVM is not given, since it would take long with it: known before it is printed.
//!
//! Most of what LLVM does takes time by the length of a text. Two things do not:
//! - A jump by a table that blocks come back to is copied to the end of each of them
//!   (`TailDuplicator`), as interpreters want it. Then each of them goes on to each entry, and
//!   hands on each value that differs: their product.
//! - A function of many thousand blocks, of which some passes look at pairs.

use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::{Block, Function, InstructionData, Opcode};

/// Blocks that come back × entries × values that they hand on: some seconds of clang's time.
/// An interpreter of 256 instructions with 24 variables has three quarters of it.
const TABLE_MAX: u64 = 2 << 20;

/// Bytes of a function's text. QuickJS's largest has more than 4 MiB under `trap`.
pub(super) const TEXT_BYTES_MAX: usize = 16 << 20;

/// Why a function is too much; nothing where it is not.
pub(super) fn is_beyond(func: &Function) -> Option<String> {
    let flow = ControlFlowGraph::with_function(func);
    let tables = func.layout.blocks().filter_map(|block| {
        let last = func.layout.last_inst(block)?;
        match func.dfg.insts[last] {
            InstructionData::BranchTable { table, .. } => {
                let entries = func.dfg.jump_tables[table].all_branches().len();
                Some(weight(func, &flow, block, entries))
            }
            _ => None,
        }
    });
    let weight = tables.fold(0_u64, u64::saturating_add);
    (weight > TABLE_MAX).then(|| format!("too many ways back to a br_table: {weight}"))
}

/// What a table weighs that a block ends with.
fn weight(func: &Function, flow: &ControlFlowGraph, block: Block, entries: usize) -> u64 {
    // Blocks that only this one goes on from are one with it.
    let mut first = block;
    for _ in 0..func.dfg.num_blocks() {
        let mut before = flow.pred_iter(first);
        let (Some(one), None) = (before.next(), before.next()) else {
            break;
        };
        if func.dfg.insts[one.inst].opcode() != Opcode::Jump {
            break;
        }
        first = one.block;
    }
    let ways = flow.pred_iter(first).count() as u64;
    let values = func.dfg.block_params(first).len() as u64 + 1;
    ways.saturating_mul(values).saturating_mul(entries as u64)
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::cursor::{Cursor as _, FuncCursor};
    use cranelift_codegen::ir::{BlockCall, InstBuilder as _, JumpTableData, types};

    use super::*;

    /// A loop with a table of so many entries, each of which comes back with so many values.
    fn interpreter(entries: usize, values: usize) -> Function {
        let mut func = Function::new();
        let [entry, head] = [(); 2].map(|()| func.dfg.make_block());
        let cases: Vec<Block> = (0..entries).map(|_| func.dfg.make_block()).collect();
        let params: Vec<_> = (0..values)
            .map(|_| func.dfg.append_block_param(head, types::I32))
            .collect();
        let mut cursor = FuncCursor::new(&mut func);
        cursor.insert_block(entry);
        let zero = cursor.ins().iconst(types::I32, 0);
        let zeros = vec![zero.into(); values];
        cursor.ins().jump(head, &zeros);
        cursor.insert_block(head);
        let calls: Vec<BlockCall> = cases
            .iter()
            .map(|case| cursor.func.dfg.block_call(*case, &[]))
            .collect();
        let table = JumpTableData::new(calls[0], &calls);
        let table = cursor.func.create_jump_table(table);
        cursor.ins().br_table(params[0], table);
        for case in cases {
            cursor.insert_block(case);
            let args: Vec<_> = params.iter().map(|value| (*value).into()).collect();
            cursor.ins().jump(head, &args);
        }
        func
    }

    #[test]
    fn interpreters_are_taken_and_squares_are_not() {
        assert_eq!(is_beyond(&interpreter(250, 25)), None);
        let why = is_beyond(&interpreter(700, 31)).unwrap();
        assert!(why.starts_with("too many ways back"), "{why}");
        // Many entries, of which few come back with much.
        assert_eq!(is_beyond(&interpreter(1000, 1)), None);
        assert!(is_beyond(&interpreter(2000, 1)).is_some());
    }
}
