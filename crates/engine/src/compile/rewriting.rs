//! What Cranelift's rewriting makes of a function, tried on pieces of it first.
//!
//! An operator is rewritten in many ways at once, and what depends on it for each of
//! them: in a chain of rotations by a parameter each makes a hundred instructions and
//! as many values, in most programs none or one. Which chains these are only its rules
//! know. So a function that could grow beyond its bound is cut into pieces, each is
//! optimised alone, and what came of it is counted and forgotten.
//!
//! ```text
//!   function ─► pieces of 2,048 instructions, one after the other:
//!                 operands from outside ─► parameters
//!                 loads, stores, operators      copied
//!                 results used outside  ─► returned
//!               optimised ─► made: instructions, values    left: instructions
//!                 sum of left + made / 20, of all pieces
//! ```
//!
//! What must stay true: the function itself is not changed; and the sum depends on it
//! and the target alone.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, PoisonError};

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::{
    AbiParam, Block, Function, Inst, InstBuilder, InstructionData, Value, ValueListPool,
};
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::settings::OptLevel;

/// Instructions of a piece: of the worst, some forty megabytes come.
const PIECE: usize = 2048;
/// The most that an instruction was found to come to, in what is counted here.
const GROWTH_MAX: u64 = 16;
/// An instruction for the register allocator takes up to two kilobytes; one that is made
/// and dropped, or a value, some ninety bytes.
const MADE_AN_INST: u64 = 20;

/// What comes of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rewritten {
    /// Instructions that are left, and what was made on the way, in instructions.
    pub insts: u64,
    /// Instructions and values that were made: steps.
    pub made: u64,
}

/// What a function would come to, or the part of it that is beyond `most`; none of one
/// that cannot come to so much.
///
/// # Errors
/// What Cranelift says of what it cannot optimise.
pub(super) fn tried(
    func: &Function,
    isa: &dyn TargetIsa,
    most: u64,
) -> Result<Option<Rewritten>, String> {
    let count = func.dfg.num_insts() as u64;
    if isa.flags().opt_level() == OptLevel::None || count.saturating_mul(GROWTH_MAX) <= most {
        return Ok(None);
    }
    let blocks = func.layout.blocks();
    let insts: Vec<Inst> = blocks
        .flat_map(|block| func.layout.block_insts(block))
        .collect();
    let mut pieces = Pieces::new(func, &insts);
    let mut all = Rewritten::default();
    for start in (0..insts.len()).step_by(PIECE) {
        let end = insts.len().min(start + PIECE);
        let one = pieces.optimise(&insts[start..end], end, isa)?;
        all.insts += one.insts;
        all.made += one.made;
        if all.insts > most {
            break;
        }
    }
    Ok(Some(all))
}

/// Instructions and values of a function.
pub(super) fn size(func: &Function) -> u64 {
    (func.dfg.num_insts() + func.dfg.num_values()) as u64
}

/// A function, and the piece of it that is looked at.
struct Pieces<'a> {
    func: &'a Function,
    /// Behind the last instruction that uses each value, in the order of the layout.
    used_before: Vec<usize>,
    context: Context,
    /// The piece's values.
    values: HashMap<Value, Value>,
    block: Block,
}

impl<'a> Pieces<'a> {
    fn new(func: &'a Function, insts: &[Inst]) -> Pieces<'a> {
        let mut used_before = vec![0; func.dfg.num_values()];
        for (at, inst) in insts.iter().enumerate() {
            for value in func.dfg.inst_values(*inst) {
                used_before[func.dfg.resolve_aliases(value).as_u32() as usize] = at + 1;
            }
        }
        Pieces {
            func,
            used_before,
            context: Context::new(),
            values: HashMap::new(),
            block: Block::from_u32(0),
        }
    }

    /// What comes of a piece that ends in front of `end`.
    fn optimise(
        &mut self,
        insts: &[Inst],
        end: usize,
        isa: &dyn TargetIsa,
    ) -> Result<Rewritten, String> {
        self.begin();
        let mut returned = Vec::new();
        let mut opaque = 0;
        for inst in insts {
            if is_copied(&self.func.dfg.insts[*inst]) {
                self.copy(*inst, end, &mut returned);
                continue;
            }
            opaque += 1;
            let func = self.func;
            let operands = func.dfg.inst_values(*inst);
            let operands = operands.map(|value| func.dfg.resolve_aliases(value));
            returned.extend(operands.filter_map(|value| self.values.get(&value)));
        }
        let piece = &mut self.context.func;
        for value in &returned {
            let ty = piece.dfg.value_type(*value);
            piece.signature.returns.push(AbiParam::new(ty));
        }
        let mut cursor = FuncCursor::new(piece).at_bottom(self.block);
        cursor.ins().return_(&returned);
        let before = size(piece);
        let done = self.context.optimize(isa, &mut ControlPlane::default());
        done.map_err(|error| error.to_string())?;
        let piece = &self.context.func;
        let made = size(piece).saturating_sub(before);
        let left = piece.layout.block_insts(self.block).count() as u64 - 1;
        Ok(Rewritten {
            insts: left + opaque + made / MADE_AN_INST,
            made,
        })
    }

    /// An empty piece, with the tables that copied instructions refer to.
    fn begin(&mut self) {
        self.context.clear();
        self.values.clear();
        let piece = &mut self.context.func;
        piece.dfg.constants = self.func.dfg.constants.clone();
        piece.dfg.immediates = self.func.dfg.immediates.clone();
        piece.dfg.mem_flags = self.func.dfg.mem_flags.clone();
        piece.dfg.alias_regions = self.func.dfg.alias_regions.clone();
        self.block = piece.dfg.make_block();
        piece.layout.append_block(self.block);
    }

    /// Copies an instruction; what it gives is returned where it is used behind the piece.
    fn copy(&mut self, inst: Inst, end: usize, returned: &mut Vec<Value>) {
        let from = &self.func.dfg;
        let piece = &mut self.context.func;
        let mut data = from.insts[inst];
        // None of them has a list of operands.
        for operand in data.arguments_mut(&mut ValueListPool::new()) {
            let value = from.resolve_aliases(*operand);
            *operand = *self.values.entry(value).or_insert_with(|| {
                let ty = from.value_type(value);
                piece.signature.params.push(AbiParam::new(ty));
                piece.dfg.append_block_param(self.block, ty)
            });
        }
        let copy = piece.dfg.make_inst(data);
        piece.dfg.make_inst_results(copy, from.ctrl_typevar(inst));
        piece.layout.append_inst(copy, self.block);
        let results = from.inst_results(inst).iter();
        for (of, is) in results.zip(piece.dfg.inst_results(copy).to_vec()) {
            self.values.insert(*of, is);
            if self.used_before[of.as_u32() as usize] > end {
                returned.push(is);
            }
        }
    }
}

/// Whether an instruction refers to nothing but values, constants and flags.
fn is_copied(data: &InstructionData) -> bool {
    use InstructionData::*;
    matches!(
        data,
        AtomicCas { .. }
            | AtomicRmw { .. }
            | Binary { .. }
            | BinaryImm8 { .. }
            | CondTrap { .. }
            | FloatCompare { .. }
            | IntAddTrap { .. }
            | IntCompare { .. }
            | Load { .. }
            | LoadNoOffset { .. }
            | Shuffle { .. }
            | Store { .. }
            | StoreNoOffset { .. }
            | Ternary { .. }
            | TernaryImm8 { .. }
            | Unary { .. }
            | UnaryConst { .. }
            | UnaryIeee16 { .. }
            | UnaryIeee32 { .. }
            | UnaryIeee64 { .. }
            | UnaryImm { .. }
    )
}

/// Instructions of long functions that are compiled at this time, in the whole process.
static UNDER_WAY: Mutex<u64> = Mutex::new(0);
static DONE: Condvar = Condvar::new();

/// The right to compile a long function beside others.
pub(super) struct Turn(u64);

impl Turn {
    /// Waits until all that are compiled at a time, and one of so many instructions, come
    /// to no more than the longest may come to alone.
    pub(super) fn wait(insts: u64, most: u64) -> Turn {
        let guard = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |others: &mut u64| *others > 0 && *others + insts > most;
        let guard = DONE.wait_while(guard, is_full);
        *guard.unwrap_or_else(PoisonError::into_inner) += insts;
        Turn(insts)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner) -= self.0;
        DONE.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::ir::types::I32;

    use super::*;
    use crate::compile::Target;

    /// A chain of so many links, each of the one before and a parameter.
    fn chain(links: usize, link: impl Fn(&mut FuncCursor<'_>, Value, Value) -> Value) -> Function {
        let mut func = Function::new();
        let block = func.dfg.make_block();
        let [mut value, other] = [0; 2].map(|_| {
            func.signature.params.push(AbiParam::new(I32));
            func.dfg.append_block_param(block, I32)
        });
        func.signature.returns.push(AbiParam::new(I32));
        func.layout.append_block(block);
        let mut cursor = FuncCursor::new(&mut func).at_bottom(block);
        for _ in 0..links {
            value = link(&mut cursor, value, other);
        }
        cursor.ins().return_(&[value]);
        func
    }

    /// What comes of the whole.
    fn whole(func: &Function, isa: &dyn TargetIsa) -> Rewritten {
        let mut context = Context::for_function(func.clone());
        let done = context.optimize(isa, &mut ControlPlane::default());
        done.expect("it is well-formed");
        let after = &context.func;
        let blocks = after.layout.blocks();
        let left = blocks.map(|block| after.layout.block_insts(block).count() as u64);
        let made = size(after) - size(func);
        Rewritten {
            insts: left.sum::<u64>() + made / MADE_AN_INST,
            made,
        }
    }

    #[test]
    fn pieces_come_to_what_the_whole_comes_to() {
        let constant = |cursor: &mut FuncCursor<'_>, value| cursor.ins().iconst(I32, value);
        let target = Target::fixed();
        let isa = target.isa();
        let rotations = chain(8000, |cursor, value, other| cursor.ins().rotr(value, other));
        let sums = chain(8000, |cursor, value, _| {
            let one = constant(cursor, 1);
            cursor.ins().iadd(value, one)
        });
        let remainders = chain(8000, |cursor, value, _| {
            let three = constant(cursor, 3);
            cursor.ins().srem(value, three)
        });
        let products = chain(8000, |cursor, value, other| cursor.ins().imul(value, other));
        for (name, func, grows) in [
            ("rotations", rotations, 6),
            ("sums", sums, 1),
            ("remainders", remainders, 2),
            ("products", products, 1),
        ] {
            let count = func.dfg.num_insts() as u64;
            let most = count * GROWTH_MAX - 1;
            let tried = tried(&func, isa, most).expect("it is well-formed");
            let tried = tried.expect("it is long");
            let whole = whole(&func, isa);
            let near = whole.insts / 50;
            assert!(
                tried.insts.abs_diff(whole.insts) <= near,
                "{name}: {tried:?}, {whole:?}"
            );
            assert!(whole.insts >= grows * 8000, "{name}: {whole:?}");
            assert!(whole.insts < most, "{name}: {whole:?}");
        }
    }

    #[test]
    fn what_cannot_come_to_so_much_is_not_tried() {
        let target = Target::fixed();
        let func = chain(100, |cursor, value, other| cursor.ins().rotr(value, other));
        let most = func.dfg.num_insts() as u64 * GROWTH_MAX;
        assert_eq!(tried(&func, target.isa(), most), Ok(None));
        assert!(matches!(tried(&func, target.isa(), most - 1), Ok(Some(_))));
    }

    #[test]
    fn long_functions_take_turns() {
        let first = Turn::wait(10, 15);
        let second = std::thread::spawn(|| drop(Turn::wait(10, 15)));
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(!second.is_finished());
        drop(first);
        second.join().expect("it has its turn");
        // One that is longer than all may be has it alone.
        drop(Turn::wait(20, 15));
    }
}
