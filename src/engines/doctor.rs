//! `fathom engines doctor`: does each installed engine run, and what does it
//! prove? One line for each; one that hangs is ended and said to.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, bail};
use fathom_bench::engines::{EngineSpec, Presence};
use fathom_bench::home::Home;
use fathom_bench::mistyped::did_you_mean;
use fathom_report::json::FORMAT;
use serde::Serialize;

use super::{State, described, states};

/// What became of an engine's check.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It ran and said this.
    Works(String),
    /// It is not installed, which is no fault.
    Absent(String),
    /// It is installed and does not work.
    Broken(String),
}

pub fn run(home: &Home, names: &[String], json: bool) -> anyhow::Result<ExitCode> {
    let states = states(home)?;
    let mut specs = described(home);
    specs.extend(releases(&specs, &states, home));
    if let Some(name) = names
        .iter()
        .find(|name| !specs.iter().any(|spec| spec.id() == **name))
    {
        let known: BTreeSet<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
        let meant = did_you_mean(name, known.iter().copied());
        bail!(
            "there is no engine {name:?}: there is {}{meant}",
            Vec::from_iter(known.iter().copied()).join(", ")
        );
    }
    let asked = |spec: &&EngineSpec| names.is_empty() || names.contains(&spec.id());
    let width = specs.iter().map(|spec| spec.id().len()).max().unwrap_or(0);
    let mut failed = false;
    let mut checked = Vec::new();
    for spec in specs.iter().filter(asked) {
        let name = spec.id();
        let state = states.iter().find(|state| state.name == name);
        let verdict = judge(spec, state);
        // Absence is a fault where the engine was asked for by name.
        failed |= match verdict {
            Verdict::Works(_) => false,
            Verdict::Absent(_) => !names.is_empty(),
            Verdict::Broken(_) => true,
        };
        if json {
            checked.push(Checked::new(&name, &verdict));
            continue;
        }
        // At once: a check may take seconds.
        std::io::stdout()
            .write_all(line(&name, width, &verdict).as_bytes())
            .context("standard output")?;
    }
    if json {
        let answer = Answer {
            format: FORMAT,
            engines: checked,
        };
        crate::report::print(&(serde_json::to_string_pretty(&answer)? + "\n"))?;
    }
    Ok(ExitCode::from(u8::from(failed)))
}

/// The releases that are installed beside the pinned ones.
pub(crate) fn releases(specs: &[EngineSpec], states: &[State], home: &Home) -> Vec<EngineSpec> {
    let found = states.iter().filter_map(|state| {
        let (engine, version) = state.name.split_once('@')?;
        let spec = specs.iter().find(|spec| spec.name == engine)?;
        spec.release(version, home).ok()
    });
    found.collect()
}

#[derive(Serialize)]
struct Answer {
    format: u32,
    engines: Vec<Checked>,
}

/// A verdict as a program reads it.
#[derive(Serialize)]
struct Checked {
    name: String,
    state: &'static str,
    detail: String,
}

impl Checked {
    fn new(name: &str, verdict: &Verdict) -> Checked {
        let (state, detail) = match verdict {
            Verdict::Works(detail) => ("works", detail),
            Verdict::Absent(detail) => ("absent", detail),
            Verdict::Broken(detail) => ("broken", detail),
        };
        Checked {
            name: name.to_owned(),
            state,
            detail: detail.clone(),
        }
    }
}

/// What is to be said of an engine, by every command that says it.
pub fn judge(spec: &EngineSpec, state: Option<&State>) -> Verdict {
    let installed = state.is_some_and(|state| state.installed);
    if state.is_some_and(|state| state.outdated) {
        return Verdict::Broken(format!(
            "made from a recipe that has changed: {}",
            spec.absent
        ));
    }
    match spec.presence() {
        Presence::Installed { says } => Verdict::Works(says),
        Presence::Absent { why } if installed => Verdict::Broken(why),
        // A thing that is not there says so by what it lacks.
        Presence::Absent { .. } => Verdict::Absent(format!("not installed: {}", spec.absent)),
    }
}

fn line(name: &str, width: usize, verdict: &Verdict) -> String {
    let (sign, text) = match verdict {
        Verdict::Works(text) => ('✓', text),
        Verdict::Absent(text) => ('–', text),
        Verdict::Broken(text) => ('✗', text),
    };
    format!("{sign} {name:width$}  {text}\n")
}
