//! What applications of npm take on every engine: replays of what their JavaScript host
//! answered, as the set-up has recorded them (`docs/WEB.md`).
//!
//! What must stay true: what is not recorded is absent with the command that records it, unless
//! it was asked for by name or nothing is there: then nothing is measured.

use std::time::Duration;

use fathom_engine::Codegen;
use fathom_record::{Experiment, Variant};

use super::{
    Command, Design, Environment, Measured,
    measured::suite,
    suite::{TIMED, of_suite},
};
use crate::{
    choose::Absent,
    request::{RequestError, Strategies},
    suite::Suite,
};

/// The suite.
const SUITE: &str = "web";
/// A first impression: short ones of different kinds.
const QUICK: [&str; 4] = ["argon2", "blake3", "gofmt", "jq"];

/// How it is measured.
pub(super) static DESIGN: Design = Design {
    experiment: Experiment::Web,
    command: Some(Command::Suite),
    help: "Which engine is first for which application of npm",
    about: "`web`: applications of npm, recorded once and replayed on every engine: who is first \
            for which, and by how much. With --against, the folders of earlier campaigns, it says \
            whether those predict the engines' order: `fathom bench polybench`, \
            `fathom suite libsodium`. Needs `python3 workloads/build.py --suite web`, which \
            records them (docs/WEB.md). The page is written as web.html, .md and .csv.",
    budget: Design::BUDGET_LONG,
    // Interpreters meet ffmpeg.
    limit: Duration::from_secs(300),
    measured,
    // What `fathom run` takes.
    generators: |_| &[Codegen::Tiered],
    absent,
    ..TIMED
};

fn measured(env: &Environment<'_>) -> Result<Measured, RequestError> {
    let mut suite = suite(env.suites()?, SUITE)?;
    if env.request.workloads.is_empty() {
        let is_quick = env.request.duration.is_quick;
        let mut asked = suite.workloads.clone();
        asked.retain(|one| !is_quick || QUICK.contains(&one.name.as_str()));
        let (recorded, missing): (Vec<_>, Vec<_>) = asked
            .into_iter()
            .partition(|one| is_recorded(&suite, &one.name));
        // Where nothing is recorded all are missed, which says how to record them.
        suite.workloads = match recorded.is_empty() {
            true => missing,
            false => recorded,
        };
    }
    Ok(Measured {
        strategies: vec![Strategies::AUTO],
        ..of_suite(env.request, &suite)?
    })
}

fn is_recorded(suite: &Suite, name: &str) -> bool {
    suite.artifact(Variant::Wasm.name(), "", name).exists()
}

/// The applications that are left out, and LLVM, which nobody would wait for.
fn absent(env: &Environment<'_>) -> Result<Vec<Absent>, RequestError> {
    let request = env.request;
    let absent = |what: String, why: String| Absent {
        engine: what,
        why,
        is_wanted: false,
        install: None,
    };
    let mut all = Vec::new();
    if request.engines.is_empty() && request.settings.settings().next().is_none() {
        let why = "clang takes minutes for the larger of these: --codegen \
                   cranelift,tiered,llvm measures it, too";
        all.push(absent("fathom llvm".to_owned(), why.to_owned()));
    }
    let suite = suite(env.suites()?, SUITE)?;
    let is_asked = request.workloads.is_empty() && !request.duration.is_quick;
    for one in suite.workloads.iter().filter(|_| is_asked) {
        let name = &one.name;
        if !is_recorded(&suite, name) {
            let why =
                format!("not recorded: python3 workloads/build.py --suite {SUITE} --kernel {name}");
            all.push(absent(name.clone(), why));
        }
    }
    Ok(all)
}
