//! What LLVM could come to know of a function's floats, found out before it is printed.
//!
//! It learns numbers from constants, and from comparisons: behind `x == 2`, which `x <= 2`
//! and `x >= 2` can amount to, it puts 2 for `x`, and 1 for `x / 2`. So what could be a
//! constant is hidden where it is compared (`float.rs`): a comparison of two values that
//! it does not know tells it about neither.
//!
//! Integers are compared as they are, and so are vectors of them. Hence the bits of a vector
//! are taken for something that LLVM does not know only where nothing but floats is made
//! of them.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::{BlockArg, Function, Inst, InstructionData, Opcode, Type, Value};

/// What could be known.
#[derive(Default)]
pub(super) struct Known {
    /// Scalars that a constant may reach without arithmetic.
    told: BTreeSet<Value>,
    /// Vectors whose bits integers are made of.
    mixed: BTreeSet<Value>,
    /// Whether a number is converted to 64 bits.
    has_promotion: bool,
}

impl Known {
    pub(super) fn of(func: &Function) -> Known {
        let mut found = Finding::default();
        for block in func.layout.blocks() {
            for inst in func.layout.block_insts(block) {
                found.look_at(func, inst);
            }
        }
        Known {
            told: reached(&found.constants, &found.moves),
            mixed: reached(&found.of_integers, &found.same_bits),
            has_promotion: found.has_promotion,
        }
    }

    /// Whether a scalar may be a constant.
    pub(super) fn is_told(&self, value: Value) -> bool {
        self.told.contains(&value)
    }

    /// Whether integers are made of a vector's bits.
    pub(super) fn is_mixed(&self, value: Value) -> bool {
        self.mixed.contains(&value)
    }

    /// Whether any number is converted to 64 bits.
    pub(super) fn has_promotion(&self) -> bool {
        self.has_promotion
    }
}

/// Everything that can be reached from some values.
fn reached(from: &[Value], ways: &BTreeMap<Value, Vec<Value>>) -> BTreeSet<Value> {
    let mut all = BTreeSet::new();
    let mut work = from.to_vec();
    while let Some(value) = work.pop() {
        if all.insert(value) {
            work.extend(ways.get(&value).into_iter().flatten());
        }
    }
    all
}

/// What a function's instructions say.
#[derive(Default)]
struct Finding {
    constants: Vec<Value>,
    /// From a float to those that may be it.
    moves: BTreeMap<Value, Vec<Value>>,
    of_integers: Vec<Value>,
    /// From a vector to those that have bits of it, and back.
    same_bits: BTreeMap<Value, Vec<Value>>,
    has_promotion: bool,
}

impl Finding {
    fn look_at(&mut self, func: &Function, inst: Inst) {
        let dfg = &func.dfg;
        let data = dfg.insts[inst];
        let opcode = data.opcode();
        self.has_promotion |= matches!(opcode, Opcode::Fpromote | Opcode::FvpromoteLow);
        let result = dfg.inst_results(inst).first().copied();
        if let Some(result) = result
            && dfg.value_type(result).is_float()
        {
            match opcode {
                Opcode::F32const | Opcode::F64const | Opcode::Extractlane => {
                    self.constants.push(result);
                }
                Opcode::Load if is_in_slot(func, data) => self.constants.push(result),
                Opcode::Select => {
                    for arg in &dfg.inst_args(inst)[1..] {
                        self.moved(func, *arg, result);
                    }
                }
                _ => {}
            }
        }
        for call in data.branch_destination(&dfg.jump_tables, &dfg.exception_tables) {
            let params = dfg.block_params(call.block(&dfg.value_lists));
            for (arg, param) in call.args(&dfg.value_lists).zip(params) {
                if let BlockArg::Value(arg) = arg {
                    self.moved(func, arg, *param);
                    self.shared(dfg.resolve_aliases(arg), *param);
                }
            }
        }
        self.bits(func, inst, result);
    }

    fn moved(&mut self, func: &Function, from: Value, to: Value) {
        let from = func.dfg.resolve_aliases(from);
        if func.dfg.value_type(from).is_float() {
            self.moves.entry(from).or_default().push(to);
        }
    }

    fn shared(&mut self, one: Value, other: Value) {
        self.same_bits.entry(one).or_default().push(other);
        self.same_bits.entry(other).or_default().push(one);
    }

    /// What is made of the bits of vectors of integers.
    fn bits(&mut self, func: &Function, inst: Inst, result: Option<Value>) {
        let dfg = &func.dfg;
        let is_vector = |ty: Type| ty.is_vector() && !ty.lane_type().is_float();
        let opcode = dfg.insts[inst].opcode();
        for arg in dfg.inst_args(inst) {
            let arg = dfg.resolve_aliases(*arg);
            let is_of_integers = is_vector(dfg.value_type(arg));
            match (opcode, result) {
                (Opcode::Bitcast | Opcode::Shuffle, Some(result)) => self.shared(arg, result),
                (Opcode::Store, _) => {}
                _ if opcode.is_call() || opcode.is_return() => {}
                _ if is_of_integers => self.of_integers.push(arg),
                _ => {}
            }
        }
    }
}

/// Whether a load is of a slot of the frame: of what was stored there LLVM knows what was
/// known before.
fn is_in_slot(func: &Function, data: InstructionData) -> bool {
    let InstructionData::Load { arg, .. } = data else {
        return false;
    };
    let made = func.dfg.value_def(func.dfg.resolve_aliases(arg)).inst();
    made.is_some_and(|inst| func.dfg.insts[inst].opcode() == Opcode::StackAddr)
}
