//! Products of 64-bit integers in full: programs that are one, or nearly one, do
//! what their instructions say.
//!
//! The property: the two forms that are recognised, with any few of their
//! instructions changed, yield what an interpreter of ten lines yields. A program
//! that is taken for a product and is none would yield the product.

use std::fmt::Write as _;

use fathom_engine::*;
use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, TestRunner};

const LOW: u64 = 0xffff_ffff;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Shl,
    Shr,
}

const OPS: [Op; 7] = [Op::Add, Op::Sub, Op::Mul, Op::And, Op::Or, Op::Shl, Op::Shr];

impl Op {
    fn name(self) -> &'static str {
        match self {
            Op::Add => "add",
            Op::Sub => "sub",
            Op::Mul => "mul",
            Op::And => "and",
            Op::Or => "or",
            Op::Shl => "shl",
            Op::Shr => "shr_u",
        }
    }

    fn apply(self, x: u64, y: u64) -> u64 {
        match self {
            Op::Add => x.wrapping_add(y),
            Op::Sub => x.wrapping_sub(y),
            Op::Mul => x.wrapping_mul(y),
            Op::And => x & y,
            Op::Or => x | y,
            Op::Shl => x.wrapping_shl(y as u32),
            Op::Shr => x.wrapping_shr(y as u32),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Operand {
    /// A factor, or the result of an instruction, by position; the factors are the
    /// first two.
    Local(usize),
    Const(u64),
}

type Program = Vec<(Op, Operand, Operand)>;

/// The halves of both factors, and the product of the lower ones: positions 2 to 6.
fn halves() -> Program {
    use Operand::{Const, Local};
    vec![
        (Op::And, Local(0), Const(LOW)),
        (Op::Shr, Local(0), Const(32)),
        (Op::And, Local(1), Const(LOW)),
        (Op::Shr, Local(1), Const(32)),
        (Op::Mul, Local(2), Local(4)),
        (Op::Shr, Local(6), Const(32)),
    ]
}

/// The middle is carried twice, or once; the last two results are the halves of the
/// product.
fn product(twice: bool) -> Program {
    use Operand::{Const, Local};
    let mut program = halves();
    // 8 to 13: the middle is the last.
    program.extend(match twice {
        true => [
            (Op::Mul, Local(2), Local(5)),
            (Op::Add, Local(7), Local(8)),
            (Op::And, Local(9), Const(LOW)),
            (Op::Mul, Local(3), Local(4)),
            (Op::Shr, Local(9), Const(32)),
            (Op::Add, Local(10), Local(11)),
        ],
        false => [
            (Op::Mul, Local(3), Local(4)),
            (Op::And, Local(8), Const(LOW)),
            (Op::Add, Local(7), Local(9)),
            (Op::Mul, Local(2), Local(5)),
            (Op::Shr, Local(8), Const(32)),
            (Op::Add, Local(10), Local(11)),
        ],
    });
    program.extend([
        (Op::Mul, Local(3), Local(5)),
        (Op::Add, Local(14), Local(12)),
        (Op::Shr, Local(13), Const(32)),
        (Op::Shl, Local(13), Const(32)),
        (Op::And, Local(6), Const(LOW)),
        (Op::Add, Local(15), Local(16)),
        (Op::Or, Local(17), Local(18)),
    ]);
    program
}

/// A change of one instruction.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// The same for sums and products.
    Turn(usize),
    Op(usize, usize),
    Operand(usize, bool, usize),
    Const(usize, u64),
}

fn change() -> impl Strategy<Value = Change> {
    let at = 0..product(true).len();
    let number = prop::sample::select(vec![0, 1, 31, 33, 96, LOW, LOW >> 1, LOW << 32, !0]);
    prop_oneof![
        4 => at.clone().prop_map(Change::Turn),
        2 => (at.clone(), 0..OPS.len()).prop_map(|(at, op)| Change::Op(at, op)),
        3 => (at.clone(), any::<bool>(), 0..20usize).prop_map(|(at, second, from)| Change::Operand(at, second, from)),
        2 => (at, number).prop_map(|(at, number)| Change::Const(at, number)),
    ]
}

fn changed(twice: bool, changes: &[Change]) -> Program {
    let mut program = product(twice);
    for change in changes {
        match *change {
            Change::Turn(at) => {
                let (op, x, y) = program[at];
                if !matches!(op, Op::Shl | Op::Shr) {
                    program[at] = (op, y, x);
                }
            }
            Change::Op(at, op) => program[at].0 = OPS[op],
            Change::Operand(at, second, from) => {
                let operand = Operand::Local(from % (at + 2));
                match second {
                    true => program[at].2 = operand,
                    false => program[at].1 = operand,
                }
            }
            Change::Const(at, number) => {
                if matches!(program[at].2, Operand::Const(_)) {
                    program[at].2 = Operand::Const(number);
                }
            }
        }
    }
    program
}

fn wat(programs: &[Program]) -> String {
    let text = |operand| match operand {
        Operand::Local(at) => format!("(local.get {at})"),
        Operand::Const(number) => format!("(i64.const {})", number.cast_signed()),
    };
    let mut wat = "(module".to_owned();
    for (index, program) in programs.iter().enumerate() {
        let locals = "i64 ".repeat(program.len());
        write!(
            wat,
            "(func (export \"{index}\") (param i64 i64) (result i64 i64) (local {locals})"
        )
        .unwrap();
        for (at, (op, x, y)) in program.iter().enumerate() {
            let (to, op) = (at + 2, op.name());
            write!(wat, "(local.set {to} (i64.{op} {} {}))", text(*x), text(*y)).unwrap();
        }
        let last = program.len() + 1;
        write!(wat, "(local.get {}) (local.get {last}))", last - 1).unwrap();
    }
    wat + ")"
}

fn interpret(program: &Program, x: u64, y: u64) -> (u64, u64) {
    let mut values = vec![x, y];
    for (op, x, y) in program {
        let value = |operand| match operand {
            Operand::Local(at) => values[at],
            Operand::Const(number) => number,
        };
        values.push(op.apply(value(*x), value(*y)));
    }
    (values[values.len() - 2], values[values.len() - 1])
}

fn factor() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        prop::sample::select(vec![0, 1, LOW, LOW + 1, LOW << 32, 1 << 63, !0, !0 - 1]),
    ]
}

#[test]
fn whatever_is_nearly_a_product_is_what_it_is() {
    let engine = Engine::new(&Config::new()).unwrap();
    let program = (any::<bool>(), prop::collection::vec(change(), 0..5));
    let input = (
        prop::collection::vec(program, 60),
        prop::collection::vec((factor(), factor()), 12),
    );
    let cases = Cases {
        cases: 24,
        failure_persistence: None,
        ..Cases::default()
    };
    let outcome = TestRunner::new(cases).run(&input, |(programs, factors)| {
        let programs: Vec<Program> = programs.iter().map(|(t, c)| changed(*t, c)).collect();
        let wasm = wat::parse_str(wat(&programs)).unwrap();
        let module = Module::new(&engine, &wasm).unwrap();
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        for (index, program) in programs.iter().enumerate() {
            let func = instance.get_func(&store, &index.to_string()).unwrap();
            let func = func.typed::<(i64, i64), (i64, i64)>(&store).unwrap();
            for (x, y) in &factors {
                let args = (x.cast_signed(), y.cast_signed());
                let (high, low) = func.call(&mut store, args).unwrap();
                let found = (high.cast_unsigned(), low.cast_unsigned());
                prop_assert_eq!(found, interpret(program, *x, *y), "{:?}", program);
            }
        }
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn both_forms_are_the_product() {
    for twice in [false, true] {
        for (x, y) in [
            (!0, !0),
            (3, !0),
            (LOW << 32, LOW + 1),
            (0x1234_5678_9abc_def0, 0xfedc_ba98),
        ] {
            let product = u128::from(x) * u128::from(y);
            let halves = ((product >> 64) as u64, product as u64);
            assert_eq!(interpret(&self::product(twice), x, y), halves);
        }
    }
}
