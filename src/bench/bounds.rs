//! The selection `bounds`: PolyBench and the programs that follow pointers, built
//! for both widths, under every strategy, beside engines that know 64-bit memories.
//!
//! ```text
//!  rows     auto, none, the other strategies of `Bounds::ALL` that this host has,
//!           outside engines in their default configuration; those of ours that
//!           can leave checks out, with fewer left out
//!  × builds wasm32, wasm64: those that a strategy is for
//!  × both suites, and a control of `auto` on each program and build
//! ```
//!
//! What must stay true: `auto`, which is for both widths, comes first, because the
//! control of the first row is the noise floor; what cannot be measured here is
//! absent with its reason, in the campaign too.

use std::sync::atomic::AtomicBool;

use anyhow::{Context, ensure};
use fathom_bench::{
    choose::{Absent, OWN, Row},
    engines::{EngineSpec, Presence},
    house::House,
    probe::{Ending, Runner, Subject, TIME_LIMIT},
    suite::Suite,
};
use fathom_engine::{Bounds, BoundsChoice, Config, Engine, Module};
use fathom_record::{Cell, Compared, Elide, Opt, Sandbox, Spectre, Variant, protocol::Call};

use super::{
    Args,
    target::{Kind, Target, note, program},
};

/// The suites of the selection.
const SUITES: [&str; 2] = ["polybench", "pointers"];
/// A first impression: two of each suite.
const QUICK: [&str; 4] = ["gemm", "lu", "graph", "quicksort"];
const AUTO: &str = "auto";
/// A memory and a table with 64-bit addresses, as compilers make them.
const MEMORY64: &str = "(module (memory i64 1) (table i64 1 funcref)
  (func (export \"answer\") (result i32) (i32.load (i64.const 4096))))";

/// What the selection measures.
pub fn target(args: &Args, house: &House) -> anyhow::Result<Target> {
    let size = args.size.as_deref().map(str::to_lowercase);
    let default = if args.pace.quick { "small" } else { "medium" };
    let size = size.unwrap_or_else(|| default.to_owned());
    let mut names = args.kernels.clone();
    if args.pace.quick && names.is_empty() {
        names = QUICK.map(str::to_owned).to_vec();
    }
    let (mut programs, mut notes) = (Vec::new(), Vec::new());
    let suites = SUITES
        .iter()
        .map(|name| Suite::load(&house.suite(name)))
        .collect::<Result<Vec<_>, _>>()?;
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
        anyhow::bail!("no workload `{unknown}`; there are: {}", all.join(" "));
    }
    for note in &notes {
        let name = &note.name;
        ensure!(
            note.answer.is_some(),
            "{name} has no answer for size {size}"
        );
    }
    Ok(Target {
        kind: Kind::Bounds,
        title: format!("bounds-{size}"),
        programs,
        notes,
        module: None,
        written: Vec::new(),
        compared: Compared::Kernel,
        variants: vec![Variant::Wasm32, Variant::Wasm64],
        threads: vec![1],
        opts: vec![Opt::Speed],
        strategies: Vec::new(),
        iterations: None,
        has_native: false,
    })
}

/// Our strategies to measure, and those that this host lacks: all there are, or
/// what is asked for beside the two that everything is compared with.
pub fn strategies(asked: &[String]) -> anyhow::Result<(Vec<String>, Vec<Absent>)> {
    let mut names = vec![AUTO.to_owned(), Bounds::None.name().to_owned()];
    let mut absent = Vec::new();
    for name in wanted(asked) {
        let choice: BoundsChoice = name.parse()?;
        if names.contains(&name) {
            continue;
        }
        if let (BoundsChoice::Named(bounds), []) = (choice, asked)
            && bounds.is_diagnostic()
        {
            absent.push(Absent {
                engine: format!("{OWN} {name}"),
                why: "not there to run fast: name it in --bounds to measure it".to_owned(),
                is_wanted: false,
            });
            continue;
        }
        match Engine::new(&Config::new().bounds(choice).allow_unchecked(true)) {
            Ok(_) => names.push(name),
            Err(error) => absent.push(Absent {
                engine: format!("{OWN} {name}"),
                why: error.to_string(),
                is_wanted: !asked.is_empty(),
            }),
        }
    }
    Ok((names, absent))
}

/// Every strategy in its usual form unless some are named; `forms` are all forms.
fn wanted(asked: &[String]) -> Vec<String> {
    let name = |bounds: &Bounds| bounds.name().to_owned();
    let is_measured = |bounds: &&Bounds| !bounds.is_diagnostic();
    let mut wanted = Vec::new();
    for word in asked {
        match word.as_str() {
            "all" => wanted.extend(Bounds::ALL.iter().filter(is_measured).map(name)),
            "forms" => wanted.extend(Bounds::FORMS.iter().filter(is_measured).map(name)),
            _ => wanted.push(word.clone()),
        }
    }
    if asked.is_empty() {
        wanted.extend(Bounds::ALL.iter().map(name));
    }
    wanted
}

/// Whether a strategy of ours is for the width of a build, and leaves checks out
/// there if it is asked how many. Other engines are asked for what they do by
/// default, which is for both.
pub fn suits(cell: &Cell) -> bool {
    let memory64 = cell.variant.has_memory64();
    match named(&cell.sandbox) {
        Some(bounds) if cell.sandbox.elide.is_some() => leaves_checks_out(bounds, memory64),
        Some(bounds) => bounds.supports(memory64),
        None => true,
    }
}

/// A strategy of ours, by its name.
fn named(sandbox: &Sandbox) -> Option<Bounds> {
    match sandbox.strategy.parse() {
        Ok(BoundsChoice::Named(bounds)) if sandbox.engine == OWN => Some(bounds),
        _ => None,
    }
}

/// The rows, and behind each of a strategy that can leave checks out, the same
/// with each of these choices.
pub fn with_elision(rows: Vec<Row>, choices: &[Elide]) -> Vec<Row> {
    let mut all = Vec::new();
    for row in rows {
        let widths = [false, true];
        let can = |bounds| widths.iter().any(|&wide| leaves_checks_out(bounds, wide));
        let choices = match named(&row.sandbox) {
            Some(bounds) if can(bounds) => choices,
            _ => &[],
        };
        all.push(row.clone());
        for choice in choices {
            let mut other = row.clone();
            other.sandbox.elide = Some(*choice);
            all.push(other);
        }
    }
    all
}

/// The rows, and behind each of our engine the same with each of these choices of
/// guards against speculation.
pub fn with_guards(rows: Vec<Row>, choices: &[Spectre]) -> Vec<Row> {
    let mut all = Vec::new();
    for row in rows {
        let is_own = row.sandbox.engine == OWN;
        let others = choices.iter().filter(|_| is_own).map(|choice| {
            let mut other = row.clone();
            other.sandbox.spectre = Some(*choice);
            other
        });
        let others: Vec<Row> = others.collect();
        all.push(row);
        all.extend(others);
    }
    all
}

/// Whether a strategy leaves the check of an access out that comes a second time:
/// asked of the engine, with memories of either width.
fn leaves_checks_out(bounds: Bounds, memory64: bool) -> bool {
    let index = if memory64 { "i64" } else { "i32" };
    let twice = format!(
        "(module (memory {index} 1) (func (param {index})
           (i32.store (local.get 0) (i32.load (local.get 0)))))"
    );
    let config = Config::new()
        .bounds(BoundsChoice::Named(bounds))
        .allow_unchecked(true)
        .count(true);
    let compile = || {
        let engine = Engine::new(&config).ok()?;
        Module::new(&engine, &wat::parse_str(&twice).ok()?).ok()
    };
    bounds.supports(memory64) && compile().is_some_and(|module| module.check_sites().left_out > 0)
}

/// An engine that is installed is absent here where it does not know 64-bit
/// memories.
pub fn with_memory64(spec: &EngineSpec, presence: Presence) -> anyhow::Result<Presence> {
    if matches!(presence, Presence::Absent { .. }) {
        return Ok(presence);
    }
    let sandbox = Sandbox {
        engine: spec.name.clone(),
        version: None,
        strategy: spec.strategies.first().cloned().unwrap_or_default(),
        opt: Opt::Speed,
        backend: spec.backends.first().cloned(),
        elide: None,
        spectre: None,
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
    let module = wat::parse_str(MEMORY64).context("the module with a 64-bit memory")?;
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
        let (names, _) = strategies(&["guard64".to_owned(), "none".to_owned()]).unwrap();
        assert_eq!(names, ["auto", "none", "guard64"]);
        let (forms, absent) = strategies(&["forms".to_owned(), "debug".to_owned()]).unwrap();
        assert_eq!(forms.len() + absent.len(), Bounds::FORMS.len() + 1);
        assert!(strategies(&["hope".to_owned()]).is_err());
    }

    #[test]
    fn rows_with_fewer_checks_left_out_are_of_strategies_that_can() {
        for (strategy, narrow, wide) in [
            (Bounds::Trap, true, true),
            (Bounds::GUARD64, false, true),
            (Bounds::Guard, false, false),
            (Bounds::None, false, false),
        ] {
            assert_eq!(leaves_checks_out(strategy, false), narrow, "{strategy}");
            assert_eq!(leaves_checks_out(strategy, true), wide, "{strategy}");
        }
        let row = |strategy: &str| Row {
            sandbox: Sandbox {
                engine: OWN.to_owned(),
                version: None,
                strategy: strategy.to_owned(),
                opt: Opt::Speed,
                backend: None,
                elide: None,
                spectre: None,
            },
            native: None,
            driver: 0,
            takes: Vec::new(),
        };
        let rows = with_elision(vec![row("auto"), row("trap"), row("guard")], &[Elide::Off]);
        let ids: Vec<_> = rows
            .iter()
            .map(|row| row.sandbox.id().to_string())
            .collect();
        let expected = ["auto/speed", "trap/speed", "trap/speed~off", "guard/speed"];
        assert_eq!(ids, expected.map(|id| format!("{OWN}/{id}")));
        let rows = with_guards(vec![row("trap")], &[Spectre::Off]);
        let ids: Vec<_> = rows
            .iter()
            .map(|row| row.sandbox.id().to_string())
            .collect();
        let expected = ["trap/speed", "trap/speed~spectre-off"];
        assert_eq!(ids, expected.map(|id| format!("{OWN}/{id}")));
    }

    #[test]
    fn strategies_meet_the_builds_they_are_for() {
        let cell = |strategy: &str, variant| Cell {
            sandbox: Sandbox {
                engine: OWN.to_owned(),
                version: None,
                strategy: strategy.to_owned(),
                opt: Opt::Speed,
                backend: None,
                elide: None,
                spectre: None,
            },
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
