//! What a call costs: of a function, through a table, of the host.
//!
//! ```text
//!  loop      x = step(x), written out        what the other three cost more is the call
//!  call      the same by a function          which an engine may put in its place
//!  indirect  the same through a table        of two, taken in turn
//!  host      the same, and a call of WASI    that asks the kernel nothing
//! ```
//!
//! What must stay true: a program traps unless its last number is the right one, so that
//! calls which were not made have no time; the step is a recurrence that no compiler
//! solves, so that a loop stays one.

use std::path::PathBuf;

use fathom_engine::Bounds;
use fathom_record::{Compared, Experiment, Setting, Variant, campaign::WorkloadNote};

use super::{Command, Design, Environment, Measured, suite};
use crate::settings::Choices;
use crate::{
    check::Expected,
    choose::Program,
    request::{RequestError, Strategies, ensure},
};

/// Calls in a run: the size of the programs, by which the report divides.
const CALLS: u32 = 4_000_000;
/// The step: a linear congruence (Numerical Recipes, 2nd edition, section 7.1).
const FACTOR: u32 = 1_664_525;
const SUMMAND: u32 = 1_013_904_223;

/// Name, why it is there, and what is done to `$x` each time.
const PROGRAMS: [(&str, &str, &str); 4] = [
    (
        "loop",
        "the loop alone, which all of them have",
        "(i32.add (i32.mul (local.get $x) (i32.const FACTOR)) (i32.const SUMMAND))",
    ),
    (
        "call",
        "a call of a small function, which an engine may put in the call's place",
        "(call $step (local.get $x))",
    ),
    (
        "indirect",
        "a call through a table of two functions, in turn",
        "(call_indirect (param i32) (result i32) (local.get $x)
           (i32.and (local.get $n) (i32.const 1)))",
    ),
    (
        "host",
        "a call of the host: WASI's args_sizes_get, which asks the kernel nothing",
        "(i32.add (call $host (i32.const 0) (i32.const 4))
           (i32.add (i32.mul (local.get $x) (i32.const FACTOR)) (i32.const SUMMAND)))",
    ),
];

const MODULE: &str = r#"(module
  (import "wasi_snapshot_preview1" "args_sizes_get"
    (func $host (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (table funcref (elem $step $other))
  (func $step (param $x i32) (result i32)
    (i32.add (i32.mul (local.get $x) (i32.const FACTOR)) (i32.const SUMMAND)))
  (func $other (param $x i32) (result i32)
    (i32.add (i32.const SUMMAND) (i32.mul (i32.const FACTOR) (local.get $x))))
  (func (export "_start") (local $n i32) (local $x i32)
    (loop $again
      (local.set $x STEP)
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $n) (i32.const CALLS))))
    (if (i32.ne (local.get $x) (i32.const LAST)) (then unreachable))))"#;

/// How it is measured: by whole runs, which are long enough.
pub(super) static DESIGN: Design = Design {
    experiment: Experiment::Calls,
    command: Some(Command::Bench),
    help: "measures a call: direct, through a table, and to the host",
    budget: Design::USUAL.budget,
    iterations_max: Design::USUAL.iterations_max,
    generators: Design::USUAL.generators,
    measured,
    ..suite::TIMED
};

fn measured(env: &Environment<'_>) -> Result<Measured, RequestError> {
    let request = env.request;
    ensure(request.size.is_none(), || "calls has no sizes".to_owned())?;
    let known = PROGRAMS.map(|(name, ..)| name);
    let is_unknown = |name: &&String| !known.contains(&name.as_str());
    if let Some(unknown) = request.workloads.iter().find(is_unknown) {
        let known = known.join(" ");
        let words = format!("calls has no workload `{unknown}`; it has: {known}");
        return Err(RequestError::Refused(words));
    }
    let is_asked = |name: &str| {
        request.workloads.is_empty() || request.workloads.iter().any(|one| one == name)
    };
    let (mut programs, mut notes, mut written) = (Vec::new(), Vec::new(), Vec::new());
    for (name, why, step) in PROGRAMS.into_iter().filter(|(name, ..)| is_asked(name)) {
        let wasm = wat::parse_str(text(step))
            .map_err(|error| RequestError::Refused(format!("a module of Fathom's own: {error}")))?;
        let file = PathBuf::from(format!("{name}.wasm"));
        written.push((format!("{name}.wasm"), wasm));
        notes.push(WorkloadNote {
            suite: "calls".to_owned(),
            name: name.to_owned(),
            why: why.to_owned(),
            answer: None,
            category: None,
            bytes: None,
            ..WorkloadNote::default()
        });
        programs.push(Program {
            suite: "calls".to_owned(),
            name: name.to_owned(),
            size: CALLS.to_string(),
            args: Vec::new(),
            artifact: Box::new(move |_| file.clone()),
            expected: Expected::Text(String::new()),
            folder: None,
            is_cached: false,
            stack_bytes: None,
            load: None,
        });
    }
    Ok(Measured {
        written,
        compared: Compared::Run,
        variants: vec![Variant::Wasm],
        settings: Choices::default().with(Setting::Opt, &["speed", "none"]),
        // Checks have nothing to do with calls, but for keys, which a call of the host
        // must open and close.
        strategies: vec![
            Strategies::one(Bounds::Guard),
            Strategies::one(Bounds::Pkeys),
        ],
        natives: Vec::new(),
        ..Measured::new("calls".to_owned(), (programs, notes))
    })
}

/// The module that does a step so many times, and traps unless it did.
fn text(step: &str) -> String {
    let last = (0..CALLS).fold(0_u32, |x, _| x.wrapping_mul(FACTOR).wrapping_add(SUMMAND));
    MODULE
        .replace("STEP", step)
        .replace("FACTOR", &FACTOR.to_string())
        .replace("SUMMAND", &SUMMAND.to_string())
        .replace("CALLS", &CALLS.to_string())
        .replace("LAST", &last.to_string())
}

#[cfg(test)]
mod tests {
    use fathom_engine::{Caller, Config, Engine, Linker, Module, Store};

    use super::*;

    fn runs(text: &str) -> bool {
        let engine = Engine::new(&Config::new()).unwrap();
        let module = Module::new(&engine, wat::parse_str(text).unwrap()).unwrap();
        let mut linker = Linker::new(&engine);
        linker
            .func_wrap(
                "wasi_snapshot_preview1",
                "args_sizes_get",
                |_: Caller<'_, ()>, _: i32, _: i32| 0_i32,
            )
            .unwrap();
        let mut store = Store::new(&engine, ());
        let instance = linker.instantiate(&mut store, &module).unwrap();
        let start = instance.get_func(&store, "_start").unwrap();
        start.call(&mut store, &[], &mut []).is_ok()
    }

    #[test]
    fn a_program_that_made_no_calls_traps() {
        for (name, _, step) in PROGRAMS {
            assert!(runs(&text(step)), "{name}");
        }
        assert!(!runs(&text("(local.get $x)")));
    }
}
