//! A program as a module, in the text format.

use std::fmt::Write as _;

use super::program::{BUDGET, Handlers, Program, SLOTS, Statement, TAGS};

const TYPES: &str = "
  (type $f (func (param i64) (result i64)))
  (type $k (cont $f))
  (type $n (func (result i64)))
  (type $b (cont $n))
  (type $g (func (param i64 (ref null $k)) (result i64)))
  (type $s (cont $g))
  (import \"host\" \"mix\" (func $host (type $f)))
  (tag $swap (result i64))
  (tag $x (param i64))
  (global $sum (mut i64) (i64.const 0))
  (global $budget (mut i64) (i64.const 0))
  (func (export \"checksum\") (result i64) (global.get $sum))
  (func $spend
    (global.set $budget (i64.sub (global.get $budget) (i64.const 1)))
    (if (i64.lt_s (global.get $budget) (i64.const 0)) (then (unreachable))))
";

/// What every function has beside its parameters; loops nest no deeper.
const LOCALS: &str = "(local $e exnref) (local $i0 i32) (local $i1 i32) (local $i2 i32) \
                      (local $t (ref null $k))";

/// Its binary.
pub fn encode(program: &Program) -> Vec<u8> {
    let mut text = String::from("(module");
    text.push_str(TYPES);
    for tag in 0..TAGS {
        let _ = writeln!(text, "(tag $t{tag} (param i64) (result i64))");
    }
    for slot in 0..SLOTS {
        let _ = writeln!(text, "(global $k{slot} (mut (ref null $k)) (ref.null $k))");
        let _ = writeln!(text, "(global $b{slot} (mut (ref null $b)) (ref.null $b))");
        let _ = writeln!(text, "(global $s{slot} (mut (ref null $s)) (ref.null $s))");
    }
    let mut names = String::new();
    for (i, body) in program.funcs.iter().enumerate() {
        let _ = write!(
            text,
            "(func (export \"f{i}\") (param $x i64) (result i64)
               (global.set $budget (i64.const {BUDGET})) (call $f{i} (local.get $x)))
             (func $f{i} (type $f) (param $x i64) (result i64) {LOCALS}\n"
        );
        statements(&mut text, body, 0);
        text.push_str("(local.get $x))\n");
        let _ = write!(names, " $f{i}");
    }
    for (i, body) in program.switched.iter().enumerate() {
        let _ = write!(
            text,
            "(func $g{i} (type $g) (param $x i64) (param $who (ref null $k)) (result i64)
               {LOCALS} (global.set $k0 (local.get $who))\n"
        );
        statements(&mut text, body, 0);
        text.push_str("(local.get $x))\n");
        let _ = write!(names, " $g{i}");
    }
    let _ = writeln!(text, "(elem declare func{names}))");
    wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn statements(text: &mut String, body: &[Statement], depth: usize) {
    for one in body {
        text.push_str("(call $spend) ");
        statement(text, one, depth);
        text.push('\n');
    }
}

/// A `resume` of any kind: what stands before and behind its clauses; `x` is its result.
fn resume(text: &mut String, head: &str, handlers: &Handlers, operands: &str) {
    let count = handlers.clauses.len();
    text.push_str("(block $done (result i64)\n");
    for i in (0..count).rev() {
        let _ = writeln!(text, "(block $h{i} (result i64 (ref $k))");
    }
    let _ = write!(text, "(br $done ({head}");
    if handlers.switch {
        text.push_str(" (on $swap switch)");
    }
    for (i, clause) in handlers.clauses.iter().enumerate() {
        let _ = write!(text, " (on $t{} $h{i})", clause.tag);
    }
    let _ = write!(text, " {operands}))");
    for clause in &handlers.clauses {
        let slot = clause.slot;
        let _ = write!(
            text,
            ")\n(global.set $k{slot}) (br $done (i64.add (i64.const {slot})))"
        );
    }
    text.push_str(") (local.set $x)");
}

fn statement(text: &mut String, statement: &Statement, depth: usize) {
    let x = "(local.get $x)";
    let _ = match statement {
        Statement::Mix(n) => write!(
            text,
            "(global.set $sum (i64.add (i64.add (i64.mul (global.get $sum) (i64.const 31)) {x}) \
             (i64.const {n})))"
        ),
        Statement::Step(n) => write!(
            text,
            "(local.set $x (i64.add (i64.mul {x} (i64.const 3)) (i64.const {n})))"
        ),
        Statement::New { slot, func } => {
            write!(
                text,
                "(global.set $k{slot} (cont.new $k (ref.func $f{func})))"
            )
        }
        Statement::NewSwitched { slot, func } => {
            write!(
                text,
                "(global.set $s{slot} (cont.new $s (ref.func $g{func})))"
            )
        }
        Statement::Bind { from, to } => write!(
            text,
            "(global.set $b{to} (cont.bind $k $b {x} (global.get $k{from})))"
        ),
        Statement::Suspend(tag) => write!(text, "(local.set $x (suspend $t{tag} {x}))"),
        Statement::Switch(slot) => write!(
            text,
            "(local.set $x (switch $s $swap {x} (global.get $s{slot})))"
        ),
        Statement::Raise => write!(text, "(throw $x {x})"),
        Statement::Call(func) => write!(text, "(local.set $x (call $f{func} {x}))"),
        Statement::Host => write!(text, "(local.set $x (call $host {x}))"),
        Statement::Trap => write!(text, "(unreachable)"),
        Statement::Resume { .. }
        | Statement::ResumeBound { .. }
        | Statement::Throw { .. }
        | Statement::ThrowRef { .. } => return resumption(text, statement),
        Statement::Try(_) | Statement::Loop(..) | Statement::If(..) => {
            return block(text, statement, depth);
        }
    };
}

/// A statement that resumes.
fn resumption(text: &mut String, statement: &Statement) {
    let x = "(local.get $x)";
    match statement {
        Statement::Resume { slot, handlers } => {
            let _ = write!(
                text,
                "(local.set $t (global.get $k{slot})) (global.set $k{slot} (ref.null $k)) \
                 (if (ref.is_null (local.get $t)) \
                 (then (local.set $t (cont.new $k (ref.func $f0))))) "
            );
            let operands = format!("{x} (local.get $t)");
            resume(text, "resume $k", handlers, &operands);
        }
        Statement::ResumeBound { slot, handlers } => {
            resume(
                text,
                "resume $b",
                handlers,
                &format!("(global.get $b{slot})"),
            );
        }
        Statement::Throw { slot, handlers } => {
            let operands = format!("{x} (global.get $k{slot})");
            resume(text, "resume_throw $k $x", handlers, &operands);
        }
        Statement::ThrowRef { slot, handlers } => {
            let _ = write!(
                text,
                "(block $caught (result i64 exnref) (try_table (catch_ref $x $caught) \
                 (throw $x (i64.add {x} (i64.const 5)))) (unreachable)) (local.set $e) (drop) "
            );
            let operands = format!("(local.get $e) (global.get $k{slot})");
            resume(text, "resume_throw_ref $k", handlers, &operands);
        }
        _ => unreachable!("only what resumes is here"),
    }
}

/// A statement of statements.
fn block(text: &mut String, statement: &Statement, depth: usize) {
    let _ = match statement {
        Statement::Try(body) => {
            text.push_str(
                "(block $after (block $caught (result i64) (try_table (catch $x $caught)\n",
            );
            statements(text, body, depth + 1);
            write!(
                text,
                ") (br $after)) (local.set $x (i64.add (i64.const 1))))"
            )
        }
        Statement::Loop(times, body) => {
            let _ = writeln!(
                text,
                "(local.set $i{depth} (i32.const {times})) (loop $l{depth}"
            );
            statements(text, body, depth + 1);
            write!(
                text,
                "(br_if $l{depth} (local.tee $i{depth} \
                 (i32.sub (local.get $i{depth}) (i32.const 1)))))"
            )
        }
        Statement::If(then, otherwise) => {
            text.push_str("(if (i32.wrap_i64 (i64.and (global.get $sum) (i64.const 1))) (then\n");
            statements(text, then, depth + 1);
            text.push_str(") (else\n");
            statements(text, otherwise, depth + 1);
            write!(text, "))")
        }
        _ => unreachable!("only what has statements is here"),
    };
}
