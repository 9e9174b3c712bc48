//! A processor that goes ahead of every check, simulated.
//!
//! Functions made up from a seed are translated, and their checks left out. What
//! is left is executed twice over: at first as the specification says, and from some
//! instruction on as a processor goes on that has predicted a branch wrong: no check
//! traps, no access faults, branches go either way, and what is loaded is anything.
//! Whatever it does then, an access must be inside the memory's reservation. That is
//! asked of the code before the code generator's optimisation and behind it.

use std::collections::HashMap;

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, BlockArg, BlockCall, Function, Inst, InstructionData, Opcode, Type, Value, types,
};

use crate::bounds::{Bounds, GrowthLimits, Guarantee, MemoryPlan};
use crate::compile::argument_passing::Passing;
use crate::compile::budget::Most;
use crate::compile::elide;
use crate::compile::translate::{FuncTranslator, Inlinable, ModuleEnv};
use crate::compile::{CompileBudget, Elide, ModuleBudget, Target};
use crate::facts::features::Features;
use crate::facts::module::decode;
use crate::facts::types::MemoryType;
use crate::facts::vmctx::{VmLayout, offsets};

#[path = "../../../../tests/common/loops.rs"]
mod loops;

use loops::{Numbers, PARAMS};

/// Where things are. Nothing else is near the memory.
const CONTEXT: u64 = 0x1_0000_0000;
const DEFINITION: u64 = 0x2_0000_0000;
const BASE: u64 = 0x2000_0000_0000;
/// What the runtime's own cells span.
const CELLS: u64 = 0x1_0000;

/// Instructions that are in flight at most: two for each iteration that
/// `AHEAD_MAX` allows.
const IN_FLIGHT: u32 = 8192;
/// Instructions that are executed as specified.
const RETIRED_MAX: u32 = 3000;

/// One module's function under one plan.
struct Subject {
    func: Function,
    /// That of the memory it is given.
    plan: MemoryPlan,
    layout: VmLayout,
}

/// Translates a module, and optimises it where that is asked for.
fn subject(wat: &str, bounds: Bounds, spectre: bool, optimised: bool) -> Subject {
    let wasm = wat::parse_str(wat).expect("the input is well-formed");
    let (info, bodies) = decode(&wasm, Features::all()).expect("the input validates");
    let layout = VmLayout::new(&info);
    let declared = &info.memories[0];
    let imported = info.imported_memories > 0;
    // One that is imported may have been made with another maximum.
    let given = match imported {
        true => &MemoryType {
            min: 1,
            max: Some(3),
            ..*declared
        },
        false => declared,
    };
    let limits = GrowthLimits::default();
    let [plan, given] =
        [declared, given].map(|ty| MemoryPlan::new(bounds, ty, limits).expect("the strategy fits"));
    let plan = plan.imported(imported).spectre(spectre);
    let target = Target::fixed();
    let env = ModuleEnv {
        inlinable: Inlinable::NONE,
        info: &info,
        layout: &layout,
        plans: &[plan],
        isa: target.isa(),
        elide: Elide::Loops,
        spectre,
        passing: Passing::Stack,
        count: false,
        fuel: false,
        budget: &ModuleBudget::new(CompileBudget::OFF, 0),
        plain_isa: target.isa(),
        unplaced: [target.unplaced(); 2],
        plain: false,
        direct: false,
        countdowns: None,
        entered_at: None,
        is_left: false,
        compares_null: false,
    };
    let mut context = Context::new();
    let mut translator = FuncTranslator::default();
    let (to_validate, body) = bodies.into_iter().next().expect("a function");
    let translated = translator.translate(&env, to_validate, &body, &mut context.func, Most::ANY);
    assert!(translated.is_ok(), "it translates");
    let sites = translator.sites();
    elide::run(&mut context, env.isa, env.plans, sites, env.elide).expect("it stays well-formed");
    if optimised {
        let done = context.optimize(env.isa, &mut ControlPlane::default());
        assert!(done.is_ok(), "it optimises");
    }
    Subject {
        func: context.func,
        plan: given,
        layout,
    }
}

/// Why an execution ended.
#[derive(Debug)]
enum End {
    /// It returned, trapped, or was ahead for long enough.
    Done,
    /// An access left the reservation.
    Escaped(Inst, u64),
}

struct Processor<'s> {
    subject: &'s Subject,
    numbers: Numbers,
    values: HashMap<Value, u128>,
    /// Whether it has predicted wrong.
    is_ahead: bool,
}

fn cut(value: u128, ty: Type) -> u128 {
    match ty.bits() {
        128.. => value,
        bits => value & ((1 << bits) - 1),
    }
}

impl Processor<'_> {
    fn get(&self, value: Value) -> u128 {
        let value = self.subject.func.dfg.resolve_aliases(value);
        self.values[&value]
    }

    fn set(&mut self, inst: Inst, value: u128) {
        let result = self.subject.func.dfg.first_result(inst);
        let ty = self.subject.func.dfg.value_type(result);
        self.values.insert(result, cut(value, ty));
    }

    /// Runs from the entry until `retired` instructions are executed as specified,
    /// and then ahead.
    fn run(&mut self, retired: u32, args: &[u64]) -> End {
        let func = &self.subject.func;
        let entry = func.layout.entry_block().expect("an entry");
        let params = func.dfg.block_params(entry);
        let given = [CONTEXT, CONTEXT].into_iter().chain(args.iter().copied());
        for (param, arg) in params.iter().zip(given) {
            let ty = func.dfg.value_type(*param);
            self.values.insert(*param, cut(u128::from(arg), ty));
        }
        let mut at = func.layout.first_inst(entry);
        for executed in 0..retired + IN_FLIGHT {
            self.is_ahead = executed >= retired;
            let Some(inst) = at else { return End::Done };
            at = match func.dfg.insts[inst].opcode() {
                Opcode::Return => return End::Done,
                Opcode::Jump | Opcode::Brif => self.branch(inst),
                Opcode::Trapnz | Opcode::Trapz => {
                    let is_zero = self.get(func.dfg.inst_args(inst)[0]) == 0;
                    let traps = is_zero == (func.dfg.insts[inst].opcode() == Opcode::Trapz);
                    if traps && !self.is_ahead {
                        return End::Done;
                    }
                    func.layout.next_inst(inst)
                }
                Opcode::Trap => return End::Done,
                _ => {
                    if let Some(end) = self.execute(inst) {
                        return end;
                    }
                    func.layout.next_inst(inst)
                }
            };
        }
        End::Done
    }

    fn branch(&mut self, inst: Inst) -> Option<Inst> {
        let func = &self.subject.func;
        let call = match func.dfg.insts[inst] {
            InstructionData::Jump { destination, .. } => destination,
            InstructionData::Brif { arg, blocks, .. } => {
                let mut taken = self.get(arg) != 0;
                if self.is_ahead && self.numbers.in_a_hundred(20) {
                    taken = !taken;
                }
                blocks[usize::from(!taken)]
            }
            _ => unreachable!("only these are asked"),
        };
        self.enter(call)
    }

    fn enter(&mut self, call: BlockCall) -> Option<Inst> {
        let func = &self.subject.func;
        let block: Block = call.block(&func.dfg.value_lists);
        let args: Vec<u128> = call
            .args(&func.dfg.value_lists)
            .map(|arg| match arg {
                BlockArg::Value(value) => self.get(value),
                _ => unreachable!("no call is caught"),
            })
            .collect();
        for (param, arg) in func.dfg.block_params(block).iter().zip(args) {
            self.values.insert(*param, arg);
        }
        func.layout.first_inst(block)
    }

    fn anything(&mut self) -> u128 {
        let numbers = &mut self.numbers;
        let near = numbers.one_of(&[0u64, 8, 1 << 16, 1 << 32, 1 << 36, 1 << 47, 1 << 63]);
        let wide = u128::from(numbers.next()) << 40;
        (u128::from(near) + u128::from(numbers.next() % 64)).wrapping_sub(32) ^ (wide << 64)
    }

    /// A load or a store; what was loaded.
    fn access(&mut self, inst: Inst) -> Result<u128, End> {
        let func = &self.subject.func;
        let data = &func.dfg.insts[inst];
        let offset = data.load_store_offset().unwrap_or(0);
        let place = *func.dfg.inst_args(inst).last().expect("an address");
        let address = self.get(place) as u64;
        let address = address.wrapping_add_signed(i64::from(offset));
        let width = self.width(inst);
        if let Some(cell) = self.cell(address) {
            return Ok(cell);
        }
        // The runtime's own: no guest's access is of what never changes.
        if let InstructionData::Load { flags, .. } = data
            && func.dfg.mem_flags[*flags].readonly()
        {
            return Ok(self.anything());
        }
        // A probe of a shadow: nothing is made of what it reads.
        let is_probe = data.opcode() == Opcode::Uload8 && self.is_unused(inst);
        let inside = address.wrapping_sub(BASE);
        if !self.is_ahead {
            let len = self.subject.plan.min_bytes;
            let is_inside = inside < len && len - inside >= width;
            return match is_inside || is_probe {
                true => Ok(self.anything()),
                false => Err(End::Done),
            };
        }
        let front = self.subject.plan.lead_bytes();
        let from_front = address.wrapping_sub(BASE - front);
        let reserved = front + self.subject.plan.reserved_bytes;
        match is_probe || from_front <= reserved - width {
            true => Ok(self.anything()),
            false => Err(End::Escaped(inst, address)),
        }
    }

    fn width(&self, inst: Inst) -> u64 {
        let dfg = &self.subject.func.dfg;
        let accessed = dfg
            .inst_results(inst)
            .first()
            .or(dfg.inst_args(inst).first());
        match dfg.insts[inst].opcode() {
            Opcode::Uload8 | Opcode::Sload8 | Opcode::Istore8 => 1,
            Opcode::Uload16 | Opcode::Sload16 | Opcode::Istore16 => 2,
            Opcode::Uload32 | Opcode::Sload32 | Opcode::Istore32 => 4,
            _ => accessed.map_or(16, |value| dfg.value_type(*value).bytes().into()),
        }
    }

    fn is_unused(&self, inst: Inst) -> bool {
        let func = &self.subject.func;
        let result = func.dfg.first_result(inst);
        let uses = |other| {
            func.dfg
                .inst_values(other)
                .any(|value| func.dfg.resolve_aliases(value) == result)
        };
        !func
            .layout
            .blocks()
            .any(|block| func.layout.block_insts(block).any(uses))
    }

    /// What the runtime keeps at an address, if it keeps anything there.
    fn cell(&mut self, address: u64) -> Option<u128> {
        let Subject { plan, layout, .. } = self.subject;
        let base = CONTEXT + layout.memory_base(0) as u64;
        let def = CONTEXT + layout.memory_def(0) as u64;
        let in_def = |offset: i32| DEFINITION + offset as u64;
        let found = match address {
            _ if address == base => BASE,
            _ if address == def => DEFINITION,
            _ if address == in_def(offsets::MEMORY_LEN) => plan.min_bytes,
            _ if address == in_def(offsets::MEMORY_HIGH_BITS) => u64::MAX << plan.index_bits(),
            _ if address == in_def(offsets::MEMORY_INDEX_BITS) => u64::from(plan.index_bits()),
            _ if address.wrapping_sub(CONTEXT) < CELLS => return Some(self.anything()),
            _ if address.wrapping_sub(DEFINITION) < CELLS => 0,
            _ => return None,
        };
        Some(u128::from(found))
    }

    fn execute(&mut self, inst: Inst) -> Option<End> {
        let func = &self.subject.func;
        let dfg = &func.dfg;
        let data = &dfg.insts[inst];
        let args: Vec<u128> = dfg
            .inst_args(inst)
            .iter()
            .map(|arg| self.get(*arg))
            .collect();
        let ty = match dfg.inst_results(inst) {
            [] => types::I64,
            [first, ..] => dfg.value_type(*first),
        };
        let arg_ty = dfg
            .inst_args(inst)
            .first()
            .map_or(ty, |arg| dfg.value_type(*arg));
        let amount = |by: u128| (by % u128::from(ty.bits())) as u32;
        let value = match data.opcode() {
            Opcode::Iconst => match *data {
                InstructionData::UnaryImm { imm, .. } => imm.bits().cast_unsigned().into(),
                _ => unreachable!("a constant"),
            },
            Opcode::Iadd => args[0].wrapping_add(args[1]),
            Opcode::UaddOverflowTrap => match (args[0] + args[1]) >> ty.bits() {
                0 => args[0] + args[1],
                _ if self.is_ahead => args[0] + args[1],
                _ => return Some(End::Done),
            },
            Opcode::Isub => args[0].wrapping_sub(args[1]),
            Opcode::Imul => args[0].wrapping_mul(args[1]),
            Opcode::Ineg => args[0].wrapping_neg(),
            Opcode::Band => args[0] & args[1],
            Opcode::Bor => args[0] | args[1],
            Opcode::Bxor => args[0] ^ args[1],
            Opcode::Bnot => !args[0],
            Opcode::Ishl => args[0] << amount(args[1]),
            Opcode::Ushr => args[0] >> amount(args[1]),
            Opcode::Uextend | Opcode::Ireduce => args[0],
            Opcode::Sextend => {
                let unused = 128 - arg_ty.bits();
                ((args[0] << unused).cast_signed() >> unused).cast_unsigned()
            }
            Opcode::Umin => args[0].min(args[1]),
            Opcode::Select | Opcode::SelectSpectreGuard => args[if args[0] != 0 { 1 } else { 2 }],
            Opcode::Icmp => match *data {
                InstructionData::IntCompare { cond, .. } => {
                    u128::from(holds(cond, args[0], args[1], arg_ty))
                }
                _ => unreachable!("a comparison"),
            },
            opcode if opcode.is_call() => self.anything(),
            opcode if opcode.can_load() || opcode.can_store() => match self.access(inst) {
                Ok(loaded) => narrowed(loaded, opcode),
                Err(end) => return Some(end),
            },
            // Vectors, which no address is made of.
            _ if ty.is_vector() || arg_ty.is_vector() => 0,
            other => panic!("{other} is not simulated"),
        };
        if !dfg.inst_results(inst).is_empty() {
            self.set(inst, value);
        }
        None
    }
}

fn narrowed(loaded: u128, opcode: Opcode) -> u128 {
    match opcode {
        Opcode::Uload8 => loaded & 0xff,
        Opcode::Uload16 => loaded & 0xffff,
        Opcode::Uload32 => loaded & 0xffff_ffff,
        _ => loaded,
    }
}

fn holds(cond: IntCC, left: u128, right: u128, ty: Type) -> bool {
    let unused = 128 - ty.bits();
    let signed = |value: u128| (value << unused).cast_signed() >> unused;
    match cond {
        IntCC::Equal => left == right,
        IntCC::NotEqual => left != right,
        IntCC::UnsignedLessThan => left < right,
        IntCC::UnsignedLessThanOrEqual => left <= right,
        IntCC::UnsignedGreaterThan => left > right,
        IntCC::UnsignedGreaterThanOrEqual => left >= right,
        IntCC::SignedLessThan => signed(left) < signed(right),
        IntCC::SignedLessThanOrEqual => signed(left) <= signed(right),
        IntCC::SignedGreaterThan => signed(left) > signed(right),
        IntCC::SignedGreaterThanOrEqual => signed(left) >= signed(right),
    }
}

/// Accesses that got out, of all executions of some made-up modules.
fn escapes(bounds: Bounds, memory64: bool, spectre: bool) -> Vec<String> {
    let modules = std::env::var("FATHOM_ELIDE_MODULES").ok();
    let modules: u64 = modules.and_then(|n| n.parse().ok()).unwrap_or(80);
    let mut escapes = Vec::new();
    for seed in 0..modules {
        let wat = loops::module(seed, memory64);
        for optimised in [false, true] {
            let subject = subject(&wat, bounds, spectre, optimised);
            for time in 0..20 {
                let mut processor = Processor {
                    subject: &subject,
                    numbers: Numbers((seed << 8 | time) + 1),
                    values: HashMap::new(),
                    is_ahead: false,
                };
                let mut number = || processor.anything() as u64;
                let args: [u64; PARAMS] = std::array::from_fn(|_| number());
                let retired = processor.numbers.next() as u32 % RETIRED_MAX;
                let retired = if time < 10 { 0 } else { retired };
                if let End::Escaped(inst, address) = processor.run(retired, &args) {
                    let func = &subject.func;
                    escapes.push(format!(
                        "seed {seed} under {bounds}, optimised {optimised}: {inst} at {address:#x}, \
                         {:?} from the memory\n{wat}\n{func}",
                        i128::from(address) - i128::from(BASE),
                    ));
                }
            }
        }
    }
    escapes
}

fn exact(memory64: bool) -> impl Iterator<Item = Bounds> {
    Bounds::all_for(memory64).filter(|bounds| match bounds.guarantee() {
        Guarantee::Exact | Guarantee::Contained => true,
        Guarantee::Partial | Guarantee::Unchecked => false,
    })
}

#[test]
fn nothing_gets_out_ahead_of_its_check() {
    for memory64 in [false, true] {
        for bounds in exact(memory64) {
            if let Some(escape) = escapes(bounds, memory64, true).first() {
                panic!("{escape}");
            }
        }
    }
}

/// The simulation finds what there is to be found.
#[test]
fn without_guards_something_gets_out() {
    for bounds in [Bounds::Trap, Bounds::GUARD64, Bounds::Uffd, Bounds::Debug] {
        assert!(!escapes(bounds, true, false).is_empty(), "{bounds}");
    }
    assert!(!escapes(Bounds::Debug, false, false).is_empty());
}
