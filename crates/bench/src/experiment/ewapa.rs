//! What the eWAPA study measured of WASI: programs of input and output on every engine and
//! natively, timed in rounds, and traced in runs of their own.
//!
//! ```text
//!  suite wasi-io × { fathom, every engine, native code of GCC }   times, traces
//!  two of it, smaller, on the same                                figures 2, 3 and 5
//!  not-run       × { fathom, every engine }                       start-up
//! ```
//!
//! A process runs its program once, cold, as the study's did. Native code is GCC's with this
//! machine's C library: the portable build has musl, whose buffers are as small as
//! wasi-libc's.

use std::time::Duration;

use fathom_record::{
    Compared, Experiment, Variant,
    campaign::WorkloadNote,
    waterfall::{NOT_RUN, SUITE},
};
use fathom_sys::regular;

use super::{
    Command, Design, Environment, Measured, Traces,
    design::plain,
    measured::{DEFAULT, Programs, answered, names, size, suite},
    waterfall::beside,
};
use crate::{
    choose::{Builds, Controls, OWN, Program, Row, Wanted},
    empty_start::empty_start,
    plan::Task,
    request::RequestError,
    suite::Suite,
};

/// What the study's tables are of.
const STUDY: [&str; 6] = [
    "freads-4096",
    "freads-2000",
    "fwrites-60",
    "fwrites-280",
    "opens",
    "seeks",
];
/// The second one is for engines that take no later instructions, which the study had.
const BUILDS: [Variant; 2] = [Variant::Wasm, Variant::WasmMvp];
/// What is run at smaller sizes, too, where it is run at all: figures 2, 3 and 5.
const TRENDS: [&str; 2] = ["freads-4096", "fwrites-60"];
/// How much smaller.
const SMALLER: [u64; 3] = [64, 16, 4];
/// Files have so many bytes at least.
const BYTES_MIN: u64 = 1 << 16;
/// Traced runs of each: as many as an interval takes.
const TRACED: u32 = 5;

/// How it is measured.
pub(super) static DESIGN: Design = Design {
    experiment: Experiment::Ewapa,
    command: Some(Command::Reproduce),
    help: "eWAPA: an eBPF-based WASI performance analysis framework",
    about: "`ewapa`: Mao, Su, Shan, Li: eWAPA, an eBPF-based WASI Performance Analysis Framework \
            for WebAssembly Runtimes. WASI calls and system calls by function, their times, \
            start-up, and the time of programs that read and write, on every engine that is \
            installed and natively. Needs `python3 workloads/build.py --suite wasi-io --variant \
            wasm,wasm-mvp,native-gcc`; system calls need root, or CAP_BPF and CAP_PERFMON. --quick and \
            --workloads measure fewer programs; --size extralarge is the study's 10 GB. Traces \
            are kept for `fathom explain`.",
    budget: Duration::from_secs(30 * 60),
    warmup: 0,
    iterations: 1,
    iterations_max: 1,
    cell_target: None,
    traced: TRACED,
    traces: Traces::Whole,
    is_traced: |task| !task.cell.is_control() && task.cell.suite != SUITE,
    controls: Controls::First,
    measured,
    wanted,
    builds: |builds| Builds::First(builds),
    suits,
    is_baseline: |row: &Row| row.native == Some(Variant::NativeGcc),
    ..Design::USUAL
};

fn measured(env: &Environment<'_>) -> Result<Measured, RequestError> {
    let (request, suite) = (env.request, suite(env.suites()?, "wasi-io")?);
    let size = size(request);
    let (mut programs, mut notes) = answered(&suite, &names(request, &STUDY), &size)?;
    let (smaller, their_notes) = smaller(&suite, &programs, &size)?;
    programs.extend(smaller);
    notes.extend(their_notes);
    for (note, program) in notes.iter_mut().zip(&programs) {
        note.trips = library_calls(program);
    }
    let mut written = Vec::new();
    // What is not built is told by whoever looks for all that is measured.
    for variant in BUILDS {
        let wasm = programs.first().map(|one| (one.artifact)(variant));
        let wasm = wasm.and_then(|file| regular::read(&file).ok());
        let wasm = wasm.and_then(|wasm| empty_start(&wasm));
        written.extend(wasm.map(|wasm| (not_run(variant), wasm)));
    }
    notes.push(WorkloadNote {
        suite: SUITE.to_owned(),
        name: NOT_RUN.to_owned(),
        why: "a program of the suite, whose start returns at once".to_owned(),
        ..WorkloadNote::default()
    });
    programs.push(Program {
        artifact: Box::new(|variant| not_run(variant).into()),
        ..beside(NOT_RUN, "")
    });
    Ok(Measured {
        written,
        compared: Compared::Kernel,
        variants: BUILDS.to_vec(),
        strategies: vec![DEFAULT],
        ..Measured::new(format!("ewapa-{size}"), (programs, notes))
    })
}

/// Those of the programs that the study's figures show by size, at smaller ones:
/// `NAME-of-BYTES`.
fn smaller(suite: &Suite, all: &[Program<'_>], size: &str) -> Result<Programs, RequestError> {
    let (mut programs, mut notes) = (Vec::new(), Vec::new());
    let shown = all.iter().filter(|one| TRENDS.contains(&&*one.name));
    for (whole, factor) in shown.flat_map(|one| SMALLER.map(|factor| (one, factor))) {
        let (mut smaller, mut note) = answered(suite, std::slice::from_ref(&whole.name), size)?;
        let (Some(mut program), Some(mut note)) = (smaller.pop(), note.pop()) else {
            continue;
        };
        let Some(last) = program.args.last_mut() else {
            continue;
        };
        let bytes = last.parse::<u64>().unwrap_or(0) / factor;
        if bytes < BYTES_MIN {
            continue;
        }
        *last = bytes.to_string();
        program.name = format!("{}-of-{bytes}", whole.name);
        note.name = program.name.clone();
        programs.push(program);
        notes.push(note);
    }
    Ok((programs, notes))
}

/// The file of a build of it.
fn not_run(variant: Variant) -> String {
    format!("{NOT_RUN}-{variant}.wasm")
}

/// How often a program calls what it is named for of the C library, where its arguments say
/// that: `fwrite`, `fread`, `fopen` and `fclose`, `fseek`.
fn library_calls(program: &Program<'_>) -> Option<u64> {
    let numbers: Vec<u64> = program
        .args
        .iter()
        .map(|word| word.parse().ok())
        .collect::<Option<_>>()?;
    let kind = program.name.split('-').next()?;
    match (kind, numbers.as_slice()) {
        ("fwrites", [each, bytes]) => bytes.checked_div(*each),
        // One more finds the end.
        ("freads", [each, bytes]) if *each > 0 => Some(bytes.div_ceil(*each) + 1),
        ("opens" | "seeks", [times]) => Some(*times),
        _ => None,
    }
}

/// The engines that were named, or all there are, as they come.
fn wanted(env: &Environment<'_>) -> Vec<Wanted> {
    if !env.request.engines.is_empty() {
        return env.request.engines.clone();
    }
    let outside = env.outside.iter().map(|(spec, _)| spec.name.as_str());
    let own = [OWN, Variant::NativeGcc.name()].into_iter();
    own.chain(outside).map(plain).collect()
}

/// Native code has no start-up of an engine's, and that needs no control.
fn suits(task: &Task) -> bool {
    let is_beside = task.cell.suite == SUITE;
    !is_beside || (task.cell.variant.is_wasm() && !task.cell.is_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_the_library_follow_from_the_arguments() {
        let calls = |name: &str, args: &[&str]| {
            let mut program = beside(name, "");
            program.args = args.iter().map(|word| (*word).to_owned()).collect();
            library_calls(&program)
        };
        assert_eq!(calls("fwrites-60", &["60", "4194304"]), Some(69_905));
        assert_eq!(calls("freads-4096", &["4096", "8192"]), Some(3));
        assert_eq!(calls("freads-4096-of-8192", &["4096", "8192"]), Some(3));
        assert_eq!(calls("seeks", &["50"]), Some(50));
        assert_eq!(calls("writes-60", &["60", "4194304"]), None);
        assert_eq!(calls("fwrites-60", &["0", "1"]), None);
        assert_eq!(calls("fwrites-60", &["sixty", "1"]), None);
    }
    #[test]
    fn two_programs_are_run_at_smaller_sizes_too() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/wasi-io");
        let suite = Suite::load(folder.as_ref()).unwrap();
        let smaller_at = |names: &[&str], size: &str| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let (all, _) = answered(&suite, &names, size).unwrap();
            let (programs, notes) = smaller(&suite, &all, size).unwrap();
            let same = programs.iter().zip(&notes).all(|(a, b)| a.name == b.name);
            assert!(same && programs.len() == notes.len());
            let words = |one: &Program<'_>| format!("{} {}", one.name, one.args.join(" "));
            programs.iter().map(words).collect::<Vec<_>>()
        };
        assert_eq!(
            smaller_at(&["seeks", "fwrites-60"], "medium"),
            [
                "fwrites-60-of-1048576 60 1048576",
                "fwrites-60-of-4194304 60 4194304",
                "fwrites-60-of-16777216 60 16777216",
            ]
        );
        assert_eq!(smaller_at(&["freads-4096"], "small").len(), 3);
        assert!(smaller_at(&["freads-4096", "fwrites-60"], "mini").is_empty());
        assert!(smaller_at(&["freads-2000"], "medium").is_empty());
    }
}
