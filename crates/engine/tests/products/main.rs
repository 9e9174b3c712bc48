//! Products of 64-bit integers in full: programs that are one, or nearly one, do
//! what their instructions say.
//!
//! The property: the three forms that are recognised, with any few of their
//! instructions changed or with terms more or less, yield what an interpreter of ten
//! lines yields. A program that is taken for a product and is none would yield the
//! product. That the forms themselves are recognised is seen in the code.

mod forms;

use std::fmt::Write as _;

use fathom_engine::*;
use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, TestRunner};

use forms::{COMPARISONS, FOLDS, Form, LOW, Node, OPS, Op, Operand, Program, WAYS, Way};

/// The last two results are the halves of the product.
fn product(way: Way) -> Program {
    Form::exact(way).program()
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
    let at = 0..product(Way::Twice).len();
    let number = prop::sample::select(vec![0, 1, 31, 33, 96, LOW, LOW >> 1, LOW << 32, !0]);
    prop_oneof![
        4 => at.clone().prop_map(Change::Turn),
        2 => (at.clone(), 0..OPS.len()).prop_map(|(at, op)| Change::Op(at, op)),
        3 => (at.clone(), any::<bool>(), 0..24usize).prop_map(|(at, second, from)| Change::Operand(at, second, from)),
        2 => (at, number).prop_map(|(at, number)| Change::Const(at, number)),
    ]
}

fn changed(way: Way, changes: &[Change]) -> Program {
    let mut program = product(way);
    let length = program.len();
    for change in changes {
        let at = match *change {
            Change::Turn(at)
            | Change::Op(at, _)
            | Change::Operand(at, ..)
            | Change::Const(at, _) => at,
        } % length;
        match *change {
            Change::Turn(_) => {
                let (op, x, y) = program[at];
                if !matches!(op, Op::Shl | Op::Shr) && !COMPARISONS.contains(&op) {
                    program[at] = (op, y, x);
                }
            }
            Change::Op(_, op) => program[at].0 = OPS[op],
            Change::Operand(_, second, from) => {
                let operand = Operand::Local(from % (at + 2));
                match second {
                    true => program[at].2 = operand,
                    false => program[at].1 = operand,
                }
            }
            Change::Const(_, number) => {
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
            let (to, compares, op) = (at + 2, COMPARISONS.contains(op), op.name());
            let (x, y) = (text(*x), text(*y));
            match compares {
                true => write!(
                    wat,
                    "(local.set {to} (i64.extend_i32_u (i64.{op} {x} {y})))"
                ),
                false => write!(wat, "(local.set {to} (i64.{op} {x} {y}))"),
            }
            .unwrap();
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

/// The results of these programs for these factors are what the interpreter says;
/// the first program that is not, if there is one.
fn first_wrong(engine: &Engine, programs: &[Program], factors: &[(u64, u64)]) -> Option<Program> {
    let wasm = wat::parse_str(wat(programs)).unwrap();
    let module = Module::new(engine, &wasm).unwrap();
    let mut store = Store::new(engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let wrong = programs.iter().enumerate().find(|(index, program)| {
        let func = instance.get_func(&store, &index.to_string()).unwrap();
        let func = func.typed::<(i64, i64), (i64, i64)>(&store).unwrap();
        factors.iter().any(|(x, y)| {
            let args = (x.cast_signed(), y.cast_signed());
            let (high, low) = func.call(&mut store, args).unwrap();
            let found = (high.cast_unsigned(), low.cast_unsigned());
            found != interpret(program, *x, *y)
        })
    });
    wrong.map(|(_, program)| program.clone())
}

#[test]
fn whatever_is_nearly_a_product_is_what_it_is() {
    let engine = Engine::new(&Config::new()).unwrap();
    let way = prop::sample::select(WAYS.to_vec());
    let program = (way, prop::collection::vec(change(), 0..5));
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
        let programs: Vec<Program> = programs.iter().map(|(way, c)| changed(*way, c)).collect();
        prop_assert_eq!(first_wrong(&engine, &programs, &factors), None);
        Ok(())
    });
    outcome.unwrap();
}

/// A mistake in one place.
#[derive(Clone, Copy, Debug)]
enum Miss {
    /// A term of a sum stands there twice, thrice, or not at all.
    Times(usize, usize, usize),
    /// Another value stands for a term.
    Swapped(usize, usize, Node),
    /// An instruction has another constant: it shifts by another distance, or has
    /// another mask.
    Constant(usize, u64),
    /// It has the other factor, or the other half; of a comparison, any value.
    Operand(usize, bool, usize),
    /// Another instruction: of a comparison another one, or another way to join.
    Op(usize, Op),
}

/// Every mistake that this form can have in one place.
fn misses(form: &Form) -> Vec<Miss> {
    let mut misses = Vec::new();
    for (sum, terms) in form.sums.iter().enumerate() {
        for at in 0..terms.len() {
            misses.extend([0, 2, 3].map(|times| Miss::Times(sum, at, times)));
            let others = form.nodes(sum).iter();
            misses.extend(others.map(|node| Miss::Swapped(sum, at, *node)));
        }
    }
    for (at, (op, _, second)) in form.program().iter().enumerate() {
        let numbers: &[u64] = match (op, second) {
            (Op::Shl | Op::Shr, Operand::Const(_)) => &[0, 1, 16, 31, 33, 63, 64, 95, 97],
            (_, Operand::Const(LOW)) => &[0, 1, LOW >> 1, LOW << 1, LOW + 1, LOW << 32, !0],
            _ => &[],
        };
        misses.extend(numbers.iter().map(|number| Miss::Constant(at, *number)));
        let operands = match op {
            Op::Mul => 6,
            _ if COMPARISONS.contains(op) => at + 2,
            _ => 0,
        };
        for second in [false, true] {
            misses.extend((0..operands).map(|from| Miss::Operand(at, second, from)));
        }
        if COMPARISONS.contains(op) {
            misses.extend(COMPARISONS.map(|other| Miss::Op(at, other)));
        }
        if form.way == Way::Compared && matches!(op, Op::Or | Op::Add) {
            misses.extend([Op::Or, Op::Add, Op::Sub, Op::And].map(|other| Miss::Op(at, other)));
        }
    }
    misses
}

/// The form with these mistakes.
fn missed(form: &Form, misses: &[Miss]) -> Program {
    let mut form = form.clone();
    for miss in misses {
        match *miss {
            Miss::Times(sum, at, times) if at < form.sums[sum].len() => {
                let term = form.sums[sum].remove(at);
                form.sums[sum].splice(at..at, std::iter::repeat_n(term, times));
            }
            Miss::Swapped(sum, at, node) if at < form.sums[sum].len() => {
                form.sums[sum][at] = node;
            }
            _ => {}
        }
    }
    let mut program = form.program();
    for miss in misses {
        match *miss {
            Miss::Constant(at, number) => {
                if let Some((_, _, second @ Operand::Const(_))) = program.get_mut(at) {
                    *second = Operand::Const(number);
                }
            }
            Miss::Operand(at, second, from) => {
                if let Some((op, x, y)) = program.get_mut(at)
                    && (*op == Op::Mul || COMPARISONS.contains(op))
                    && from < at + 2
                {
                    *(if second { y } else { x }) = Operand::Local(from);
                }
            }
            Miss::Op(at, other) => {
                if let Some((op, _, _)) = program.get_mut(at) {
                    *op = other;
                }
            }
            Miss::Times(..) | Miss::Swapped(..) => {}
        }
    }
    program
}

/// All forms, with their sums added up in every way.
fn forms() -> impl Iterator<Item = Form> {
    let ways = FOLDS
        .into_iter()
        .flat_map(|fold| [true, false].map(|or| (fold, or)));
    let forms = ways.flat_map(|(fold, or)| {
        WAYS.map(|way| Form {
            fold,
            or,
            ..Form::exact(way)
        })
    });
    forms.flat_map(|form| {
        let others: &[bool] = if form.way == Way::Compared {
            &[false, true]
        } else {
            &[false]
        };
        let with = |other: &bool| Form {
            other: *other,
            ..form.clone()
        };
        others.iter().map(with).collect::<Vec<_>>()
    })
}

/// Numbers whose products carry in each place, and some of no kind.
fn factors() -> Vec<(u64, u64)> {
    let mut numbers = vec![0, 1, LOW, LOW + 1, LOW << 32, 1 << 63, !0];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    numbers.extend(
        std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        })
        .take(7),
    );
    let pairs = numbers.iter().enumerate();
    pairs
        .flat_map(|(i, x)| [1, 5].map(|by| (*x, numbers[(i + by) % numbers.len()])))
        .collect()
}

#[test]
fn every_near_miss_is_what_it_is() {
    let engine = Engine::new(&Config::new()).unwrap();
    let programs: Vec<Program> = forms()
        .flat_map(|form| {
            let misses = misses(&form).into_iter();
            misses
                .map(move |miss| missed(&form, &[miss]))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(programs.len() > 2000, "only {}", programs.len());
    assert_eq!(first_wrong(&engine, &programs, &factors()), None);
}

#[test]
fn two_mistakes_at_once_are_what_they_are() {
    let engine = Engine::new(&Config::new()).unwrap();
    let forms: Vec<Form> = forms().collect();
    let mut state = 1_u64;
    let mut below = |end: usize| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 33) as usize % end
    };
    let programs: Vec<Program> = (0..3000)
        .map(|_| {
            let form = &forms[below(forms.len())];
            let misses = misses(form);
            let chosen = [misses[below(misses.len())], misses[below(misses.len())]];
            missed(form, &chosen)
        })
        .collect();
    assert_eq!(first_wrong(&engine, &programs, &factors()), None);
}

/// What is a product becomes the processor's own, whatever the order of its sums:
/// without it there are four multiplications.
#[test]
fn products_are_recognised() {
    let engine = Engine::new(&Config::new()).unwrap();
    let mut programs = Vec::new();
    for form in forms() {
        for turn in 0..4 {
            let mut form = form.clone();
            // Over the sums of two and of three terms.
            form.sums[0].rotate_left(turn % 2);
            let terms = form.sums[1].len();
            form.sums[1].rotate_left(turn % terms);
            form.sums[2].rotate_left(turn % 3);
            programs.push(form.program());
        }
    }
    let wasm = wat::parse_str(wat(&programs)).unwrap();
    for (listing, program) in Module::disassemble(&engine, &wasm, None)
        .unwrap()
        .iter()
        .zip(&programs)
    {
        let multiplies = |text: &str| text.contains("mul") || text.contains("madd");
        let count = listing
            .code
            .iter()
            .filter(|line| multiplies(&line.text))
            .count();
        assert!((1..=2).contains(&count), "{count} in {program:?}");
    }
    assert_eq!(first_wrong(&engine, &programs, &factors()), None);
}

#[test]
fn all_forms_are_the_product() {
    for form in forms() {
        for (x, y) in factors() {
            let product = u128::from(x) * u128::from(y);
            let halves = ((product >> 64) as u64, product as u64);
            assert_eq!(interpret(&form.program(), x, y), halves);
        }
    }
}
