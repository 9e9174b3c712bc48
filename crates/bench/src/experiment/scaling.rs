//! What it costs to run many instances at once: short programs, which grow in three ways, and
//! long ones, kernels of PolyBench.
//!
//! What must stay true: more instances than processors are measured all the same, and
//! a report marks them.

use std::time::Duration;

use fathom_engine::Bounds;
use fathom_record::{Experiment, Variant};

use super::{
    Command, Counting, Design, Environment, Measured,
    design::without_tuned,
    measured::{Programs, answered, growing, size, suite},
};
use crate::request::{RequestError, Strategies};

/// The paper's strategies in its order, but for the default, which is first; and the
/// two that resize by the kernel with instances that are used again, which is how the
/// paper's problem is met without userfaultfd.
pub(super) const STRATEGIES: [Strategies; 7] = [
    Strategies::one(Bounds::Guard),
    Strategies::one(Bounds::None),
    Strategies::one(Bounds::Clamp),
    Strategies::one(Bounds::Trap),
    Strategies::one(Bounds::Uffd),
    Strategies::pooled(Bounds::Guard),
    Strategies::pooled(Bounds::Uffd),
];
/// Instances at once.
const THREADS: [u32; 4] = [1, 2, 4, 16];
/// Short programs: pages, and pages at a time. The first does not grow.
const SHORT: [(u32, u32); 3] = [(1, 1), (64, 1), (256, 16)];
/// Long ones, of different appetite for memory.
pub(super) const LONG: [&str; 4] = ["gemm", "durbin", "jacobi-2d", "trisolv"];

/// How instances side by side are measured: long enough to be looked at, each cell by
/// itself, and at most so many iterations of all workers together, since each is kept.
pub(super) const SIDE_BY_SIDE: Design = Design {
    budget: Design::BUDGET_LONG,
    iterations_max: 4000,
    cell_target: Some(Duration::from_millis(300)),
    is_by_cell: true,
    counting: Counting::Yes,
    rows: without_tuned,
    ..Design::USUAL
};

/// How it is measured.
pub(super) static DESIGN: Design = Design {
    experiment: Experiment::Scaling,
    command: Some(Command::Suite),
    help: "What it costs to run many instances at once",
    about: "`scaling`: 1, 2, 4 and 16 pinned instances at once, of short programs in a loop of \
            instantiate, run and drop, and of long ones. It measures throughput, CPU use, context \
            switches, page faults and memory, and counts system calls separately. The page is \
            written as scaling.html, .md and .csv.",
    measured,
    ..SIDE_BY_SIDE
};

fn measured(env: &Environment<'_>) -> Result<Measured, RequestError> {
    let (request, home) = (env.request, env.suites()?);
    let size = size(request);
    let (mut programs, mut notes) = (Vec::new(), Vec::new());
    let mut kernels = request.workloads.clone();
    if kernels.is_empty() {
        kernels = LONG.map(str::to_owned).to_vec();
        (programs, notes) = growing(&suite(home, "wasi")?, &SHORT)?;
    }
    let long = answered(&suite(home, "polybench")?, &kernels, &size)?;
    programs.extend(long.0);
    notes.extend(long.1);
    let title = format!("scaling-{size}");
    Ok(side_by_side(title, (programs, notes), THREADS.to_vec()))
}

/// What all that run side by side have in common.
pub(super) fn side_by_side(title: String, programs: Programs, threads: Vec<u32>) -> Measured {
    Measured {
        // As the paper built them; engines without vectors can run them too.
        variants: vec![Variant::Wasm],
        threads,
        strategies: STRATEGIES.to_vec(),
        ..Measured::new(title, programs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_strategy_comes_first() {
        assert_eq!(STRATEGIES[0], super::super::measured::DEFAULT);
    }
}
