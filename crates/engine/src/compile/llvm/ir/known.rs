//! What LLVM could come to know of a function's floats, found out before it is printed.
//!
//! It learns numbers from constants, and from comparisons: behind `x == 2`, which `x <= 2`
//! and `x >= 2` can amount to, it puts 2 for `x`, and 1 for `x / 2`. So what could be a
//! constant is hidden where it is compared (`float.rs`): a comparison of two values that
//! it does not know tells it about neither. A constant that a block is handed and that may be
//! compared there is hidden in front of the block, which may be a loop: a search for the
//! least stays a minimum.
//!
//! Integers are compared as they are, and so are vectors of them. Hence the bits of a vector
//! are taken for something that LLVM does not know only where nothing but floats is made
//! of them.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::{BlockArg, Function, Inst, InstructionData, Opcode, Type, Value};

/// What could be known.
#[derive(Default)]
pub(super) struct Known {
    /// Scalars that may be a constant, but for what blocks are handed.
    told: BTreeSet<Value>,
    /// What is compared, and what blocks hand on to be.
    compared: BTreeSet<Value>,
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
            told: reached(&found.constants, &found.selected),
            compared: reached(&found.compared, &found.handed),
            mixed: reached(&found.of_integers, &found.same_bits),
            has_promotion: found.has_promotion,
        }
    }

    /// Whether a scalar may be a constant.
    pub(super) fn is_told(&self, value: Value) -> bool {
        self.told.contains(&value)
    }

    /// Whether a parameter of a block may be compared: it is not told.
    pub(super) fn is_compared(&self, param: Value) -> bool {
        self.compared.contains(&param)
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
    compared: Vec<Value>,
    /// From a float to selections that may be it.
    selected: BTreeMap<Value, Vec<Value>>,
    /// From a float to those that it may be, and that blocks hand on.
    handed: BTreeMap<Value, Vec<Value>>,
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
                        let arg = dfg.resolve_aliases(*arg);
                        self.selected.entry(arg).or_default().push(result);
                        self.handed.entry(result).or_default().push(arg);
                    }
                }
                _ => {}
            }
        }
        if matches!(opcode, Opcode::Fcmp | Opcode::Fmin | Opcode::Fmax) {
            let args = dfg.inst_args(inst).iter();
            self.compared
                .extend(args.map(|arg| dfg.resolve_aliases(*arg)));
        }
        for call in data.branch_destination(&dfg.jump_tables, &dfg.exception_tables) {
            let params = dfg.block_params(call.block(&dfg.value_lists));
            for (arg, param) in call.args(&dfg.value_lists).zip(params) {
                if let BlockArg::Value(arg) = arg {
                    let arg = dfg.resolve_aliases(arg);
                    self.handed.entry(*param).or_default().push(arg);
                    self.shared(arg, *param);
                }
            }
        }
        self.bits(func, inst, result);
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
