//! What the translation writes down of an access, so that its check can be left
//! out later.
//!
//! A strategy does nothing for it: whatever it appends that can trap, between
//! taking the index and handing out the address, is the check.

use cranelift_codegen::ir::{
    Block, DataFlowGraph, Inst, InstructionData, MemFlagsData, Opcode, Value,
};
use cranelift_frontend::FunctionBuilder;
use smallvec::SmallVec;

use super::{Access, HostAddress, mark};

/// An access with a check.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// The memory's index.
    pub memory: u32,
    /// Whether its own indices have 64 bits.
    pub memory64: bool,
    /// The index operand, an i64.
    pub index: Value,
    /// Whether what is added to the base is not the index itself but what a guard
    /// against speculation makes of it.
    pub is_guarded: bool,
    /// Whether that is the same number for every index below `R`: a mask or the lower half.
    pub is_masked: bool,
    /// The constant offset, below 2^32.
    pub offset: u64,
    /// Width in bytes.
    pub width: u8,
    /// The memory's first byte.
    pub base: Value,
    /// The memory's definition, and the flags of loads from it.
    pub def: Value,
    pub cell_flags: MemFlagsData,
    /// Where it is.
    pub block: Block,
    /// What traps unless the index is in bounds.
    pub checks: SmallVec<[Inst; 1]>,
    /// `base + index`. The access follows.
    pub sum: Inst,
}

/// The end of a block, to find what is appended from there on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockEnd(Option<(Block, Option<Inst>)>);

impl BlockEnd {
    /// The current end.
    pub(crate) fn of(builder: &FunctionBuilder<'_>) -> BlockEnd {
        let last = |block| (block, builder.func.layout.last_inst(block));
        BlockEnd(builder.current_block().map(last))
    }
}

impl Site {
    /// The site of `access`, whose check and address were appended behind
    /// `start`; nothing where it has no check, or one of another shape.
    pub(crate) fn since(
        start: BlockEnd,
        builder: &FunctionBuilder<'_>,
        memory: u32,
        access: &Access,
    ) -> Option<Site> {
        let (block, last) = start.0?;
        if builder.current_block() != Some(block) || access.offset >= 1 << 32 {
            return None;
        }
        let func = &builder.func;
        let layout = &func.layout;
        let mut at = match last {
            Some(last) => layout.next_inst(last),
            None => layout.first_inst(block),
        };
        let mut checks = SmallVec::new();
        let mut sum = None;
        let mut guard = None;
        while let Some(inst) = at {
            let is_check = mark::offset_and_check(func.srcloc(inst)).is_some_and(|(_, is)| is);
            match func.dfg.insts[inst] {
                InstructionData::CondTrap { .. } if is_check => checks.push(inst),
                InstructionData::Load { flags, .. }
                    if is_check && !func.dfg.mem_flags[flags].notrap() =>
                {
                    checks.push(inst);
                }
                _ if is_check && let Some((index, is_masked)) = guarded_index(&func.dfg, inst) => {
                    // The last one of them before the sum.
                    guard = Some((func.dfg.first_result(inst), index, is_masked));
                }
                InstructionData::Binary {
                    opcode: Opcode::Iadd,
                    args: [base, index],
                } if base == access.base => sum = Some((inst, index)),
                _ => {}
            }
            at = layout.next_inst(inst);
        }
        let (sum, added) = sum.filter(|_| !checks.is_empty())?;
        let behind = guard.filter(|(result, ..)| *result == added);
        let index = behind.map_or(added, |(_, index, _)| index);
        Some(Site {
            memory,
            memory64: access.memory64,
            index,
            is_guarded: behind.is_some(),
            is_masked: behind.is_some_and(|(.., is_masked)| is_masked),
            offset: access.offset,
            width: access.width,
            base: access.base,
            def: access.def,
            cell_flags: access.cell_flags,
            block,
            checks,
            sum,
        })
    }
}

/// The index that an instruction of a check is the guard of, if it is one, and whether it is
/// a mask.
fn guarded_index(dfg: &DataFlowGraph, inst: Inst) -> Option<(Value, bool)> {
    match dfg.insts[inst] {
        InstructionData::Binary {
            opcode: Opcode::Band,
            args: [index, _],
        } => Some((index, true)),
        InstructionData::Ternary {
            opcode: Opcode::SelectSpectreGuard,
            args: [_, _, index],
        } => Some((index, false)),
        InstructionData::Unary {
            opcode: Opcode::Uextend,
            arg,
        } => match dfg.insts[dfg.value_def(arg).inst()?] {
            InstructionData::Unary {
                opcode: Opcode::Ireduce,
                arg: index,
            } => Some((index, true)),
            _ => None,
        },
        _ => None,
    }
}

/// What the translation writes down of any access, so that a loop of such accesses can be
/// proved not to fault ([`crate::compile::versioning`]).
#[derive(Clone, Debug)]
pub(crate) struct Touch {
    /// The memory's index.
    pub memory: u32,
    /// The index operand, of the memory's index type.
    pub index: Value,
    /// The constant offset.
    pub offset: u64,
    /// Width in bytes.
    pub width: u8,
    /// The memory's first byte.
    pub base: Value,
    /// The memory's definition, and the flags of loads from it.
    pub def: Value,
    pub cell_flags: MemFlagsData,
    /// The address of the access, and what the access adds to it.
    pub address: Value,
    pub displacement: i32,
    /// What traps unless the index is in bounds.
    pub checks: SmallVec<[Inst; 1]>,
}

impl Touch {
    /// The same without aliases.
    pub(crate) fn resolved(&self, dfg: &DataFlowGraph) -> Touch {
        let resolve = |value| dfg.resolve_aliases(value);
        Touch {
            index: resolve(self.index),
            base: resolve(self.base),
            def: resolve(self.def),
            address: resolve(self.address),
            ..self.clone()
        }
    }

    /// The access that goes to `at`, whose check and address were appended behind
    /// `start`; nothing where that took more than one block.
    pub(crate) fn since(
        start: BlockEnd,
        builder: &FunctionBuilder<'_>,
        memory: u32,
        index: Value,
        access: &Access,
        at: &HostAddress,
    ) -> Option<Touch> {
        let (block, last) = start.0?;
        if builder.current_block() != Some(block) {
            return None;
        }
        let (layout, dfg) = (&builder.func.layout, &builder.func.dfg);
        let mut next = match last {
            Some(last) => layout.next_inst(last),
            None => layout.first_inst(block),
        };
        let mut checks = SmallVec::new();
        while let Some(inst) = next {
            if let InstructionData::CondTrap { .. } = dfg.insts[inst] {
                checks.push(inst);
            }
            next = layout.next_inst(inst);
        }
        Some(Touch {
            memory,
            index,
            offset: access.offset,
            width: access.width,
            base: access.base,
            def: access.def,
            cell_flags: access.cell_flags,
            address: at.address,
            displacement: at.displacement,
            checks,
        })
    }
}
