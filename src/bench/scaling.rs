//! Instances side by side: the selection `scaling`, and what "Leaps and bounds"
//! measured, which `fathom reproduce` asks for.
//!
//! ```text
//!            programs                                rows
//!  scaling   short: grow, three ways                 every engine as it comes, our
//!            long: kernels of PolyBench              engine under the paper's strategies
//!  leaps     PolyBench, medium, all 30 kernels       the paper's engines, each way they
//!                                                    check; what is not to be had is named
//!  × 1, 2, 4 and 16 instances (1, 4, 16 and as many as there are processors)
//! ```
//!
//! What must stay true: the strategy that users get comes first, because the
//! control of the first row is the noise floor; more instances than processors
//! are measured all the same, and a report marks them.

use anyhow::ensure;
use fathom_bench::{
    choose::{Absent, NATIVE, OWN, Wanted},
    engines::{EngineSpec, Presence},
    house::House,
};
use fathom_record::{Compared, Opt, Variant};
use fathom_sys::pin;

use super::{
    Args,
    args::Selection,
    spec::{self, Measured},
    target::{Kind, QUICK_KERNELS, Target, growing, note, program, suite},
};

/// Our strategies in the paper's order, but for the default, which is first; and the
/// two that resize by the kernel with instances that are used again, which is how the
/// paper's problem is met without userfaultfd.
const STRATEGIES: [&str; 7] = [
    "guard",
    "none",
    "clamp",
    "trap",
    "uffd",
    "guard+pool",
    "uffd+pool",
];
/// Instances at once.
const THREADS: [u32; 4] = [1, 2, 4, 16];
/// The paper's.
const THREADS_OF_PAPER: [u32; 3] = [1, 4, 16];
/// Short programs: pages, and pages at a time. The first does not grow.
const SHORT: [(u32, u32); 3] = [(1, 1), (64, 1), (256, 16)];
/// Long ones, of different appetite for memory.
const LONG: [&str; 4] = ["gemm", "durbin", "jacobi-2d", "trisolv"];
/// The paper's engines, by the names of those that may be here.
const ENGINES_OF_PAPER: [&str; 5] = [OWN, NATIVE, "wasmtime", "wasm3", "node"];
/// The paper's second compiler for native code, where it was built with it.
const NATIVE_GCC: &str = "native-gcc";

/// What a selection measures.
pub fn target(args: &Args, selection: Selection, house: &House) -> anyhow::Result<Target> {
    let is_paper = selection == Selection::LeapsAndBounds;
    if let Some(size) = &args.spec {
        let title = format!("{}-spec-{size}", selection.name());
        return Ok(Target {
            compared: Compared::Run,
            iterations: Some(1),
            ..side_by_side(title, spec::programs(args, size)?, is_paper)
        });
    }
    let size = size(args);
    let polybench = suite(house, "polybench")?;
    let mut kernels = args.kernels.clone();
    if kernels.is_empty() {
        kernels = match (is_paper, args.pace.quick) {
            (true, false) => Vec::new(),
            (true, true) => QUICK_KERNELS.map(str::to_owned).to_vec(),
            (false, _) => LONG.map(str::to_owned).to_vec(),
        };
    }
    let (mut programs, mut notes) = match is_paper || !args.kernels.is_empty() {
        true => (Vec::new(), Vec::new()),
        false => growing(&suite(house, "wasi")?, &SHORT)?,
    };
    for workload in polybench.select(&kernels)? {
        let name = &workload.name;
        let has_answer = workload.answers.contains_key(&size);
        ensure!(has_answer, "{name} has no answer for size {size}");
        programs.push(program(&polybench, workload, &size));
        notes.push(note(&polybench, workload, &size));
    }
    let title = format!("{}-{size}", selection.name());
    Ok(side_by_side(title, (programs, notes), is_paper))
}

/// What all of these have in common.
fn side_by_side(title: String, (programs, notes): Measured, is_paper: bool) -> Target {
    Target {
        kind: Kind::Scaling,
        title,
        programs,
        notes,
        module: None,
        written: Vec::new(),
        compared: Compared::Kernel,
        // As the paper built them; engines without vectors can run them too.
        variants: vec![Variant::Wasm],
        threads: threads(is_paper),
        opts: vec![Opt::Speed],
        strategies: STRATEGIES.map(str::to_owned).to_vec(),
        iterations: None,
        has_native: true,
    }
}

/// The problem size.
fn size(args: &Args) -> String {
    let default = if args.pace.quick { "small" } else { "medium" };
    let size = args.size.as_deref().map(str::to_lowercase);
    size.unwrap_or_else(|| default.to_owned())
}

/// How many instances at once; the paper's machine had 16 processors, so as
/// many as there are here belong to its form.
fn threads(is_paper: bool) -> Vec<u32> {
    if !is_paper {
        return THREADS.to_vec();
    }
    let here = pin::allowed_cpus().map_or(1, |cpus| cpus.len());
    let mut counts = THREADS_OF_PAPER.to_vec();
    counts.extend(u32::try_from(here).ok());
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// The engines to measure: those that were named, or the paper's, each in every
/// way it can be asked to check. Empty for all there are.
pub fn wanted(
    args: &Args,
    outside: &[(EngineSpec, Presence)],
    house: Option<&House>,
) -> Vec<Wanted> {
    if args.selection != Some(Selection::LeapsAndBounds) || !args.engines.is_empty() {
        return args.engines.clone();
    }
    let plain = |name: &str| Wanted {
        engine: name.to_owned(),
        strategy: None,
        backend: None,
    };
    let mut wanted = vec![plain(OWN), plain(NATIVE)];
    let built = house.map(|house| house.suite("polybench").join("build").join(NATIVE_GCC));
    if args.spec.is_none() && built.is_some_and(|folder| folder.join(size(args)).is_dir()) {
        wanted.push(plain(NATIVE_GCC));
    }
    for (spec, _) in outside {
        if ENGINES_OF_PAPER.contains(&spec.name.as_str()) {
            wanted.extend(spec.strategies.iter().map(|strategy| Wanted {
                strategy: Some(strategy.clone()),
                ..plain(&spec.name)
            }));
        }
    }
    wanted
}

/// What the paper measured and no registry has, or no copy of SPEC CPU gave.
pub fn not_to_be_had(args: &Args) -> anyhow::Result<Vec<Absent>> {
    if args.selection != Some(Selection::LeapsAndBounds) {
        return Ok(Vec::new());
    }
    let mut absent = spec::left_out(args)?;
    absent.push(Absent {
        engine: "wavm".to_owned(),
        why: "no package registry has it, and its last release is older than the paper".to_owned(),
        is_wanted: false,
    });
    Ok(absent)
}

#[cfg(test)]
mod tests {
    use fathom_bench::own::OwnStrategy;
    use fathom_engine::Bounds;

    use super::*;

    #[test]
    fn the_default_strategy_comes_first_and_the_papers_are_all_there() {
        for name in STRATEGIES {
            assert!(name.parse::<OwnStrategy>().is_ok(), "{name}");
        }
        assert_eq!(STRATEGIES[0], Bounds::Guard.name());
        assert_eq!(threads(false), THREADS);
        let counts = threads(true);
        assert!(THREADS_OF_PAPER.iter().all(|count| counts.contains(count)));
        assert!(counts.is_sorted());
    }
}
