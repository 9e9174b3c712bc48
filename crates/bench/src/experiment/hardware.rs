//! What "Hardware-Accelerated Bounds Checking for WebAssembly" measured: its strategies on both
//! widths, by each of our code generators.
//!
//! ```text
//!  rows      as published, every access checked and no guard against speculation:
//!              the thesis's strategies      wasm32, wasm64    figures 5.1 to 5.4
//!              their other instructions     wasm64            figures A.4 to A.6
//!            as users get them: some        wasm64
//!  × generators cranelift, llvm, direct
//!  × programs   k-means, at the smaller sizes too (figure 5.2), and four more
//! ```
//!
//! What must stay true: the first row checks nothing, for ratios are to such rows and the control is
//! its; a strategy is not measured by a generator that leaves all its code to another, and is absent
//! with that reason.

use std::time::Duration;

use fathom_engine::{
    Bounds, BoundsChoice, Codegen, Config, Engine, Growth, HighBits, Module, Probing,
};
use fathom_record::{Cell, Experiment, Sandbox, Setting, Variant};

use super::{
    Command, Design, Environment, Measured, bounds,
    design::{Chosen, own_absent, plain},
    measured::{answered, names, size, suite},
};
use crate::{
    choose::{Absent, Controls, OWN, Row, Wanted},
    generator,
    home::Home,
    request::{Request, RequestError, Strategies},
    settings::Choices,
};

/// What the thesis compares, in its order but for the last, behind what all are compared with.
const STRATEGIES: [Bounds; 8] = [
    Bounds::None,
    Bounds::Guard,
    Bounds::GUARD64,
    Bounds::Shadow(Probing::Movzx),
    Bounds::ShadowCompressed(Growth::MicroGuard, Probing::Movzx),
    Bounds::Pkeys,
    Bounds::Trap,
    Bounds::Debug,
];
/// The same with other instructions: its figures A.4 to A.6.
const FORMS: [Bounds; 5] = [
    Bounds::Guard64(HighBits::Shift),
    Bounds::Shadow(Probing::Mov),
    Bounds::Shadow(Probing::Test),
    Bounds::ShadowCompressed(Growth::MicroGuard, Probing::Mov),
    Bounds::ShadowCompressed(Growth::MicroGuard, Probing::Test),
];
/// Those of which is shown what users get.
const AS_USED: [Bounds; 5] = [
    Bounds::None,
    Bounds::GUARD64,
    Bounds::Shadow(Probing::Movzx),
    Bounds::ShadowCompressed(Growth::MicroGuard, Probing::Movzx),
    Bounds::Trap,
];
/// What says how rows are set in more than their generator.
const SET: [Setting; 2] = [Setting::Elide, Setting::Spectre];

/// The thesis's own program.
const KMEANS: &str = "kmeans";
/// It, and those in the place of SPEC CPU's mcf, xz, namd and lbm.
const PROGRAMS: [(&str, &[&str]); 2] = [
    ("pointers", &[KMEANS, "graph", "lz", "spmv"]),
    ("polybench", &["heat-3d"]),
];
/// A first impression.
pub(super) const QUICK: [&str; 3] = [KMEANS, "graph", "gemm"];
/// Sizes at which k-means is measured as well where a larger one is measured: `kmeans-SIZE`.
const SMALLER: [&str; 2] = ["small", "medium"];
/// All sizes there are, in their order.
const SIZES: [&str; 5] = ["mini", "small", "medium", "large", "extralarge"];

/// How it is measured: a process runs its program once, or a few times where that is short.
pub(super) static DESIGN: Design = Design {
    experiment: Experiment::HardwareBoundsChecking,
    command: Some(Command::Reproduce),
    help: "Hardware-accelerated bounds checking for WebAssembly",
    about: "`hardware-bounds-checking`: D\u{f6}llerer: Hardware-Accelerated Bounds Checking for WebAssembly \
            (TUM, 2024). Its strategies on 32-bit and 64-bit memories, by each of our code generators, \
            on k-means and four programs: run time, compile time, and which instruction checks. Rows \
            are as in the thesis, every access checked and no guards against speculation; some are \
            measured as users get them, too. Needs `python3 workloads/build.py --suite pointers \
            --variant wasm32,wasm64`, the same for the suite `polybench`, and for LLVM its compiler.",
    budget: Duration::from_secs(16 * 60),
    warmup: 0,
    iterations: 1,
    iterations_max: 5,
    cell_target: Some(Duration::from_millis(50)),
    is_by_cell: true,
    controls: Controls::First,
    measured,
    strategies: |_, measured| chosen(&measured.strategies),
    wanted,
    absent: left_to_another,
    rows,
    suits: |task| suits(&task.cell),
    is_baseline: |row| row.sandbox.strategy == Bounds::None.name(),
    ..Design::USUAL
};

fn measured(env: &Environment<'_>) -> Result<Measured, RequestError> {
    let (request, home) = (env.request, env.suites()?);
    let (size, wanted) = (size(request), names(request, &QUICK));
    let (mut programs, mut notes) = (Vec::new(), Vec::new());
    let mut known = Vec::new();
    for (name, usual) in PROGRAMS {
        let suite = suite(home, name)?;
        let all = suite.workloads.iter().map(|one| one.name.clone());
        let is_wanted = |name: &String| match wanted.is_empty() {
            true => usual.contains(&name.as_str()),
            false => wanted.contains(name),
        };
        known.extend(all.clone());
        let chosen: Vec<String> = all.filter(is_wanted).collect();
        // Of no names it would be all.
        if !chosen.is_empty() {
            let (some, their_notes) = answered(&suite, &chosen, &size)?;
            programs.extend(some);
            notes.extend(their_notes);
        }
        let smaller = smaller(&size).filter(|_| chosen.iter().any(|name| name == KMEANS));
        for size in smaller {
            let (mut some, mut their_notes) = answered(&suite, &[KMEANS.to_owned()], size)?;
            let name = format!("{KMEANS}-{size}");
            some.iter_mut().for_each(|one| one.name.clone_from(&name));
            their_notes
                .iter_mut()
                .for_each(|one| one.name.clone_from(&name));
            programs.extend(some);
            notes.extend(their_notes);
        }
    }
    if let Some(unknown) = wanted.iter().find(|name| !known.contains(name)) {
        let words = format!("no workload `{unknown}`; there are: {}", known.join(" "));
        return Err(RequestError::Refused(words));
    }
    let generators = [Codegen::Cranelift, Codegen::Llvm, Codegen::Direct];
    let off = ["off"];
    Ok(Measured {
        variants: vec![Variant::Wasm32, Variant::Wasm64],
        strategies: STRATEGIES
            .iter()
            .chain(&FORMS)
            .copied()
            .map(Strategies::one)
            .collect(),
        natives: Vec::new(),
        settings: SET.into_iter().fold(
            Choices::default().with(Setting::Codegen, &generators.map(Codegen::name)),
            |all, setting| all.with(setting, &off),
        ),
        ..Measured::new(
            format!("hardware-bounds-checking-{size}"),
            (programs, notes),
        )
    })
}

/// The sizes below one at which k-means is measured as well.
fn smaller(size: &str) -> impl Iterator<Item = &'static str> {
    let place = |name: &str| SIZES.iter().position(|one| *one == name);
    let limit = place(size);
    SMALLER.into_iter().filter(move |name| place(name) < limit)
}

/// Those that this host has, and those that it lacks: a list of the experiment's is a wish.
fn chosen(strategies: &[Strategies]) -> Result<Chosen, RequestError> {
    let (mut names, mut absent) = bounds::strategies(strategies)?;
    // They are compared with what checks nothing, and not with what is chosen for users.
    names.retain(|name| name.parse().is_ok_and(|one: Bounds| is_of_thesis(one)));
    absent.iter_mut().for_each(|one| one.is_wanted = false);
    Ok((names, absent))
}

fn is_of_thesis(bounds: Bounds) -> bool {
    STRATEGIES.contains(&bounds) || FORMS.contains(&bounds)
}

/// The engines that were named, or ours alone.
fn wanted(env: &Environment<'_>) -> Vec<Wanted> {
    match env.request.engines.is_empty() {
        true => vec![plain(OWN)],
        false => env.request.engines.clone(),
    }
}

/// What is there of rows as published and as users get them; where somebody says how they are
/// set, what he says.
fn rows(mut rows: Vec<Row>, request: &Request) -> Vec<Row> {
    rows.retain(|row| refusal(&row.sandbox, request.home.as_ref()).is_none());
    if request.settings.settings().any(|one| SET.contains(&one)) {
        return rows;
    }
    let all = rows.clone();
    rows.retain(|row| is_as_published(row, &all) || is_as_used(row));
    for row in &mut rows {
        let own = bounds::named(&row.sandbox);
        let is_compared = own.is_some_and(|one| STRATEGIES.contains(&one));
        if row.sandbox.engine == OWN && !(is_compared && is_set(&row.sandbox)) {
            row.takes = vec![Variant::Wasm64];
        }
    }
    // What checks nothing comes first of both.
    rows.sort_by_key(|row| !is_set(&row.sandbox));
    rows
}

fn is_set(sandbox: &Sandbox) -> bool {
    SET.iter()
        .any(|setting| sandbox.settings.get(*setting).is_some())
}

/// Whether a row has no guards against speculation and leaves no checks out, as far as that is
/// something else than without saying so.
fn is_as_published(row: &Row, all: &[Row]) -> bool {
    let settings = &row.sandbox.settings;
    let with_checks = Sandbox {
        settings: settings.clone().with(Setting::Elide, "off"),
        ..row.sandbox.clone()
    };
    let is_off = |setting| settings.get(setting) == Some("off");
    let has_other = || all.iter().any(|other| other.sandbox == with_checks);
    row.sandbox.engine != OWN
        || (is_off(Setting::Spectre) && (is_off(Setting::Elide) || !has_other()))
}

fn is_as_used(row: &Row) -> bool {
    let own = bounds::named(&row.sandbox);
    own.is_some_and(|one| AS_USED.contains(&one)) && !is_set(&row.sandbox)
}

/// Whether a strategy is for a build; of k-means at a smaller size what the thesis compares, and
/// the slowest strategy on k-means alone.
fn suits(cell: &Cell) -> bool {
    let Some(strategy) = bounds::named(&cell.sandbox) else {
        return true;
    };
    let is_smaller = SMALLER.contains(&cell.workload.strip_prefix("kmeans-").unwrap_or_default());
    let is_compared = STRATEGIES.contains(&strategy) && is_set(&cell.sandbox);
    bounds::suits(cell)
        && (!is_smaller || (is_compared && strategy != Bounds::Debug))
        && (strategy != Bounds::Debug
            || (cell.workload == KMEANS && cell.variant == Variant::Wasm64))
}

/// Strategies of which a generator leaves all code to another.
fn left_to_another(env: &Environment<'_>) -> Result<Vec<Absent>, RequestError> {
    let mut absent = Vec::new();
    for codegen in Codegen::ALL {
        for bounds in STRATEGIES {
            let sandbox = Sandbox::new(OWN, bounds.name());
            let sandbox = sandbox.with(Setting::Codegen, codegen.name());
            if let Some(why) = refusal(&sandbox, env.home) {
                let name = format!("{bounds} {codegen}");
                absent.push(own_absent(&name, why, false));
            }
        }
    }
    Ok(absent)
}

/// Why no code under a sandbox of ours would be by its generator, in the engine's own words of a
/// program of one access. Asked only where it may be so: LLVM's compiler takes its time.
fn refusal(sandbox: &Sandbox, home: Option<&Home>) -> Option<String> {
    let bounds = bounds::named(sandbox)?;
    let codegen: Codegen = sandbox.settings.value(Setting::Codegen).parse().ok()?;
    let is_probed = matches!(bounds, Bounds::Shadow(_) | Bounds::ShadowCompressed(..));
    if !is_probed || codegen != Codegen::Llvm {
        return None;
    }
    let config = Config::new()
        .codegen(codegen)
        .clang(generator::clang(home))
        .bounds(BoundsChoice::Named(bounds));
    let wasm = wat::parse_str(
        "(module (memory 1) (func (export \"load\") (result i32) (i32.load (i32.const 8))))",
    );
    let engine = Engine::new(&config).ok()?;
    let module = Module::new(&engine, wasm.ok()?).ok()?;
    generator::shares(&module).err()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::choose::OWN_DRIVER;
    use crate::experiment::Subject;
    use crate::settings;

    fn request(choices: Choices) -> Request {
        let subject = Subject::named(Command::Reproduce, "hardware-bounds-checking").unwrap();
        Request {
            settings: choices,
            ..Request::new(subject, PathBuf::new())
        }
    }

    /// The rows of some strategies where these values are named beside the design's.
    fn rows_of(strategies: &[&str], more: Choices) -> Vec<Row> {
        let row = |strategy: &&str| Row {
            sandbox: Sandbox::new(OWN, strategy),
            native: None,
            driver: OWN_DRIVER,
            takes: Vec::new(),
            takes_components: false,
        };
        let mut choices = Choices::default()
            .with(Setting::Codegen, &["cranelift", "direct"])
            .with(Setting::Elide, &["off"])
            .with(Setting::Spectre, &["off"]);
        choices.override_by(&more);
        let plain = strategies.iter().map(row).collect();
        let (all, _) = settings::rows(plain, &choices, &[]);
        rows(all, &request(more))
    }

    fn ids(rows: &[Row]) -> Vec<String> {
        let id = |row: &Row| {
            let wide = if row.takes.is_empty() { "" } else { ", 64" };
            format!("{}{wide}", row.sandbox.id())
        };
        rows.iter().map(id).collect()
    }

    #[test]
    fn rows_are_as_published_and_as_users_get_them() {
        let rows = rows_of(&["none", "guard", "trap", "shadow:mov"], Choices::default());
        let mut expected = Vec::new();
        for generator in ["", ":direct"] {
            for row in ["none/speed~spectre-off", "guard/speed~spectre-off"] {
                expected.push(format!(
                    "fathom/{}",
                    row.replace('~', &format!("{generator}~"))
                ));
            }
            expected.push(format!("fathom/trap/speed{generator}~off~spectre-off"));
            expected.push(format!(
                "fathom/shadow:mov/speed{generator}~off~spectre-off, 64"
            ));
        }
        for generator in ["", ":direct"] {
            for row in ["none", "trap"] {
                expected.push(format!("fathom/{row}/speed{generator}, 64"));
            }
        }
        assert_eq!(ids(&rows), expected);
    }

    #[test]
    fn who_says_how_rows_are_set_gets_these() {
        let on = Choices::default()
            .with(Setting::Spectre, &["on"])
            .with(Setting::Elide, &["loops"]);
        let rows = rows_of(&["none", "trap"], on);
        assert_eq!(rows.len(), 4);
        assert!(rows.iter().all(|row| !is_set(&row.sandbox)));
    }

    #[test]
    fn smaller_k_means_are_measured_of_what_the_thesis_compares() {
        assert_eq!(smaller("medium").collect::<Vec<_>>(), ["small"]);
        assert_eq!(smaller("large").collect::<Vec<_>>(), ["small", "medium"]);
        assert_eq!(smaller("mini").count(), 0);
        assert_eq!(smaller("unknown").count(), 0);
        let is_measured = |strategy: &str, spectre: &str, workload: &str, variant| {
            let sandbox = Sandbox::new(OWN, strategy);
            let sandbox = match spectre {
                "on" => sandbox,
                other => sandbox.with(Setting::Spectre, other),
            };
            suits(&Cell {
                sandbox,
                suite: "pointers".to_owned(),
                workload: workload.to_owned(),
                variant,
                size: "mini".to_owned(),
                threads: 1,
                control_of: None,
            })
        };
        let (narrow, wide) = (Variant::Wasm32, Variant::Wasm64);
        assert!(is_measured("trap", "off", "kmeans-small", narrow));
        assert!(!is_measured("trap", "on", "kmeans-small", wide));
        assert!(!is_measured("guard64:shift", "off", "kmeans-small", wide));
        assert!(is_measured("guard64:shift", "off", "kmeans", wide));
        assert!(!is_measured("guard64", "off", "kmeans", narrow));
        assert!(is_measured("debug", "off", "kmeans", wide));
        assert!(!is_measured("debug", "off", "graph", wide));
        assert!(!is_measured("debug", "off", "kmeans", narrow));
    }

    #[test]
    fn what_the_thesis_compares_is_there_or_absent_with_a_reason() {
        let all: Vec<Strategies> = STRATEGIES
            .iter()
            .chain(&FORMS)
            .copied()
            .map(Strategies::one)
            .collect();
        let (names, absent) = chosen(&all).unwrap();
        assert_eq!(names[0], "none");
        assert!(!names.contains(&"auto".to_owned()));
        assert_eq!(names.len() + absent.len(), all.len());
        let is_wish = |one: &Absent| !one.is_wanted && !one.why.is_empty();
        assert!(absent.iter().all(is_wish));
    }
}
