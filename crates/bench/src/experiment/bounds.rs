//! What bounds checks cost: PolyBench and the programs that follow pointers, built
//! for both widths, under every strategy, beside engines that know 64-bit memories.
//!
//! ```text
//!  rows     auto, none, the other strategies of `Bounds::ALL` that this host has,
//!           outside engines in their default configuration; those of ours that
//!           can leave checks out, with fewer left out
//!  × builds wasm32, wasm64: those that a strategy is for
//!  × both suites, and controls of the first row on each program and build
//! ```
//!
//! What must stay true: `auto`, which is for both widths, comes first, because the
//! control is that of the first row; what cannot be measured here is
//! absent with its reason, in the campaign too.

use std::sync::atomic::AtomicBool;

use fathom_engine::{Bounds, BoundsChoice, Config, Engine};
use fathom_record::{Cell, Experiment, Sandbox, Setting, Variant, protocol::Call};

use super::{
    Command, Design, Environment, Measured,
    design::{Chosen, own_absent},
    measured::{has_answer, names, note, program, size, suite},
};
use crate::{
    choose::{OWN, OWN_DRIVER},
    engines::{EngineSpec, Presence},
    probe::{Ending, Runner, Subject, TIME_LIMIT},
    request::{RequestError, Strategies},
    settings::{Choices, has_effect_on},
};

/// The suites of the selection.
const SUITES: [&str; 2] = ["polybench", "pointers"];
/// A first impression: two of each suite.
pub(super) const QUICK: [&str; 4] = ["gemm", "lu", "graph", "quicksort"];
/// A memory and a table with 64-bit addresses, as compilers make them.
const MEMORY64: &str = "(module (memory i64 1) (table i64 1 funcref)
  (func (export \"answer\") (result i32) (i32.load (i64.const 4096))))";

/// How it is measured. Half of the programs take long and rows are many: more rounds
/// say more than more iterations.
pub(super) static DESIGN: Design = Design {
    experiment: Experiment::Bounds,
    command: Some(Command::Suite),
    help: "What bounds checks cost on 32-bit and 64-bit memories",
    about: "`bounds`: the PolyBench kernels and programs that follow pointers, each built for \
            32-bit and 64-bit memories from the same source. It compares every strategy that this \
            host supports with `none`, 64-bit `auto` with 32-bit `guard`, and other engines that \
            run 64-bit memories. The tables are printed and written to bounds.md beside the samples.",
    budget: Design::BUDGET_LONG,
    iterations: 2,
    measured,
    presence: with_memory64,
    strategies: |request, _| strategies(&request.strategies),
    suits: |task| suits(&task.cell),
    is_baseline: |row| row.driver == OWN_DRIVER && row.sandbox.strategy == Bounds::None.name(),
    ..Design::USUAL
};

fn measured(env: &Environment<'_>) -> Result<Measured, RequestError> {
    let (request, home) = (env.request, env.suites()?);
    let (size, names) = (size(request), names(request, &QUICK));
    let suites = SUITES.iter().map(|name| suite(home, name));
    let suites = suites.collect::<Result<Vec<_>, _>>()?;
    let (mut programs, mut notes) = (Vec::new(), Vec::new());
    for suite in &suites {
        for workload in &suite.workloads {
            if names.is_empty() || names.contains(&workload.name) {
                programs.push(program(suite, workload, &size));
                notes.push(note(suite, workload, &size));
            }
        }
    }
    let known = |name: &&String| notes.iter().any(|note| note.name == **name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        let all = suites.iter().flat_map(|suite| &suite.workloads);
        let all: Vec<&str> = all.map(|workload| workload.name.as_str()).collect();
        let words = format!("no workload `{unknown}`; there are: {}", all.join(" "));
        return Err(RequestError::Refused(words));
    }
    for note in &notes {
        has_answer(&note.name, note.answer.as_deref(), &size)?;
    }
    Ok(Measured {
        variants: vec![Variant::Wasm32, Variant::Wasm64],
        strategies: Vec::new(),
        natives: Vec::new(),
        settings: Choices::default().with(Setting::Elide, &["off", "dominated"]),
        ..Measured::new(format!("bounds-{size}"), (programs, notes))
    })
}

/// Our strategies to measure, and those that this host lacks: all there are, or
/// what is asked for beside the two that everything is compared with.
pub(super) fn strategies(named: &[Strategies]) -> Result<Chosen, RequestError> {
    let mut names = vec![
        BoundsChoice::Auto.to_string(),
        Bounds::None.name().to_owned(),
    ];
    let mut absent = Vec::new();
    for choice in wanted(named)? {
        let name = choice.to_string();
        if names.contains(&name) {
            continue;
        }
        if let (BoundsChoice::Named(bounds), []) = (choice, named)
            && bounds.is_diagnostic()
        {
            let why = "not there to run fast: name it in --bounds to measure it";
            absent.push(own_absent(&name, why.to_owned(), false));
            continue;
        }
        match Engine::new(&Config::new().bounds(choice).allow_unchecked(true)) {
            Ok(_) => names.push(name),
            Err(error) => absent.push(own_absent(&name, error.to_string(), !named.is_empty())),
        }
    }
    Ok((names, absent))
}

/// Every strategy in its usual form unless some are named; `forms` are all forms.
fn wanted(named: &[Strategies]) -> Result<Vec<BoundsChoice>, RequestError> {
    let is_measured = |bounds: &Bounds| !bounds.is_diagnostic();
    let measured = |list: &[Bounds]| -> Vec<BoundsChoice> {
        let list = list.iter().copied().filter(is_measured);
        list.map(BoundsChoice::Named).collect()
    };
    let mut wanted = Vec::new();
    for word in named {
        match word {
            Strategies::All => wanted.extend(measured(&Bounds::ALL)),
            Strategies::Forms => wanted.extend(measured(&Bounds::FORMS)),
            // Pools have nothing to do with checks: refused like any unknown name.
            Strategies::One(own) if own.is_pooled => {
                own.to_string().parse::<BoundsChoice>()?;
            }
            Strategies::One(own) => wanted.push(own.choice),
        }
    }
    if named.is_empty() {
        wanted.extend(Bounds::ALL.into_iter().map(BoundsChoice::Named));
    }
    Ok(wanted)
}

/// Whether a strategy of ours is for the width of a build, and leaves checks out
/// there if it is asked how many. Other engines are asked for what they do by
/// default, which is for both.
pub(super) fn suits(cell: &Cell) -> bool {
    let memory64 = cell.variant.has_memory64();
    match named(&cell.sandbox) {
        Some(bounds) => bounds.supports(memory64) && has_effect_on(&cell.sandbox, memory64),
        None => true,
    }
}

/// A strategy of ours, by its name.
pub(super) fn named(sandbox: &Sandbox) -> Option<Bounds> {
    match sandbox.strategy.parse() {
        Ok(BoundsChoice::Named(bounds)) if sandbox.engine == OWN => Some(bounds),
        _ => None,
    }
}

/// An engine that is installed is absent here where it does not know 64-bit
/// memories.
fn with_memory64(spec: &EngineSpec, presence: Presence) -> Result<Presence, RequestError> {
    if matches!(presence, Presence::Absent { .. }) {
        return Ok(presence);
    }
    let strategy = spec.strategies.first().map_or("", String::as_str);
    let sandbox = Sandbox::new(&spec.name, strategy);
    let sandbox = match spec.backends.first() {
        Some(backend) => sandbox.with(Setting::Codegen, backend),
        None => sandbox,
    };
    let mut runner = Runner {
        driver: &spec.driver(),
        sandbox: &sandbox,
        time_limit: TIME_LIMIT,
        cancel: &AtomicBool::new(false),
    };
    let call = Call {
        export: "answer".to_owned(),
        args: Vec::new(),
    };
    let module = wat::parse_str(MEMORY64).map_err(|error| {
        RequestError::Refused(format!("the module with a 64-bit memory: {error}"))
    })?;
    let why = match runner.call_all(&module, vec![call]) {
        Ok(answers) => match answers.ending {
            Ending::Done => return Ok(presence),
            Ending::Escaped(why)
            | Ending::Died(why)
            | Ending::Refused(why)
            | Ending::Stillborn(why) => why,
        },
        Err(error) => error.to_string(),
    };
    let why = format!("it does not run 64-bit memories: {why}");
    Ok(Presence::Absent { why })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_is_there_or_absent_with_a_reason() {
        let (names, absent) = strategies(&[]).unwrap();
        assert_eq!(names[..2], ["auto", "none"]);
        assert_eq!(names.len() + absent.len(), Bounds::ALL.len() + 1);
        assert!(absent.iter().all(|absent| !absent.why.is_empty()));
        let words = |words: &[&str]| -> Vec<Strategies> {
            words.iter().map(|word| word.parse().unwrap()).collect()
        };
        let (names, _) = strategies(&words(&["guard64", "none"])).unwrap();
        assert_eq!(names, ["auto", "none", "guard64"]);
        let (forms, absent) = strategies(&words(&["forms", "debug"])).unwrap();
        assert_eq!(forms.len() + absent.len(), Bounds::FORMS.len() + 1);
        let pooled = strategies(&words(&["guard+pool"])).unwrap_err();
        assert!(pooled.to_string().contains("'guard+pool'"), "{pooled}");
    }

    #[test]
    fn strategies_meet_the_builds_they_are_for() {
        let cell = |strategy: &str, variant| Cell {
            sandbox: Sandbox::new(OWN, strategy),
            suite: "pointers".to_owned(),
            workload: "graph".to_owned(),
            variant,
            size: "mini".to_owned(),
            threads: 1,
            control_of: None,
        };
        for (strategy, narrow, wide) in [
            ("auto", true, true),
            ("trap", true, true),
            ("guard", true, false),
            ("guard64", false, true),
        ] {
            assert_eq!(
                suits(&cell(strategy, Variant::Wasm32)),
                narrow,
                "{strategy}"
            );
            assert_eq!(suits(&cell(strategy, Variant::Wasm64)), wide, "{strategy}");
        }
    }
}
