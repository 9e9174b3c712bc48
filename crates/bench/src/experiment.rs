//! Experiments: what is measured, and how, a file each.
//!
//! ```text
//!  Subject ── design ──▶ Design ─┬─ measured ──▶ Measured   programs, builds, threads
//!                                ├─ strategies, wanted, rows, absent   who is measured
//!                                ├─ suits, builds, baseline            on what, against whom
//!                                └─ budget, limit, iterations, …       how long
//! ```
//!
//! [`ALL`] is the closed list. Planning, running and resuming read the design; what a
//! report shows of it is in `fathom-report`, by the same name.
//!
//! A new one is a row of [`Experiment`], a file here with its line in [`ALL`], and a line in
//! the report's `pages::of`, with a file there if it has a page of its own; then tests and
//! docs. Help, planning, resuming and `fathom report` follow from these.
//!
//! What must stay true: nobody outside this folder asks which experiment it is
//! (`tests/tidy.rs`); the row that users get comes first, because our engine's control is
//! that of its first row; what cannot be measured here is absent with its reason.

mod bounds;
mod calls;
mod compile;
mod design;
mod ewapa;
mod fibers;
mod growth;
mod hardware;
mod http;
mod leaps;
mod libsodium;
mod measured;
mod module;
mod scaling;
mod spec;
mod sql;
mod startup;
mod suite;
mod waterfall;
mod web;

use std::path::Path;

use fathom_record::Experiment;
use serde::{Deserialize, Serialize};

pub use design::{Command, Counting, Design, Environment, Traces};
pub use measured::Measured;
pub use spec::BUILT as SPEC_BUILT;
pub use waterfall::Apart;

use crate::request::{OwnModule, RequestError};

/// Every experiment, in the order in which help names them.
pub const ALL: &[&Design] = &[
    &suite::DESIGN,
    &module::DESIGN,
    &waterfall::DESIGN,
    &growth::DESIGN,
    &compile::DESIGN,
    &startup::DESIGN,
    &calls::DESIGN,
    &bounds::DESIGN,
    &scaling::DESIGN,
    &fibers::DESIGN,
    &http::DESIGN,
    &sql::DESIGN,
    &sql::DESIGN_CALLS,
    &libsodium::DESIGN,
    &web::DESIGN,
    &leaps::DESIGN,
    &spec::DESIGN,
    &libsodium::DESIGN_2023,
    &ewapa::DESIGN,
    &fibers::DESIGN_2024,
    &hardware::DESIGN,
];

/// The experiments that a command is asked for by name.
pub fn of_command(command: Command) -> impl Iterator<Item = &'static Design> {
    ALL.iter()
        .copied()
        .filter(move |design| design.command == Some(command))
}

/// What is measured: an experiment, and what it takes to say of what.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    #[serde(rename = "experiment")]
    design: &'static Design,
    of: Of,
}

/// What an experiment is of.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Of {
    /// Nothing that is left to choose.
    Itself,
    /// A suite.
    Suite(String),
    /// A program of the user's own.
    Module(OwnModule),
    /// A size of a copy of SPEC CPU.
    Spec(String),
    /// A program that is taken apart.
    Apart(Apart),
}

impl Subject {
    /// A program of the user's own.
    pub fn module(module: OwnModule) -> Subject {
        Subject {
            design: &module::DESIGN,
            of: Of::Module(module),
        }
    }

    /// A program whose time is taken apart.
    pub fn apart(apart: Apart) -> Subject {
        Subject {
            design: &waterfall::DESIGN,
            of: Of::Apart(apart),
        }
    }

    /// What a word of `fathom bench` names: an experiment, or else a suite.
    pub fn word(word: &str) -> Subject {
        Subject::named(Command::Bench, word).unwrap_or_else(|| Subject {
            design: &suite::DESIGN,
            of: Of::Suite(word.to_owned()),
        })
    }

    /// An experiment that a command is asked for by name.
    pub fn named(command: Command, name: &str) -> Option<Subject> {
        let design = of_command(command).find(|design| design.name() == name)?;
        Some(Subject {
            design,
            of: Of::Itself,
        })
    }

    /// The same experiment on a copy of SPEC CPU at a size.
    ///
    /// # Errors
    /// [`RequestError::Refused`] if nothing of SPEC CPU is built for it.
    pub fn on_spec(self, size: &str) -> Result<Subject, RequestError> {
        match self.design.on_spec {
            Some(design) => Ok(Subject {
                design,
                of: Of::Spec(size.to_owned()),
            }),
            None => Err(RequestError::Refused(format!(
                "--spec: no part of SPEC CPU is built for {}",
                self.design.name()
            ))),
        }
    }

    /// How it is measured.
    pub fn design(&self) -> &'static Design {
        self.design
    }

    /// The program of the user's own, where it is one, to be read before it is measured.
    pub fn own_module_mut(&mut self) -> Option<&mut OwnModule> {
        match &mut self.of {
            Of::Module(module) | Of::Apart(Apart::Module { module, .. }) => Some(module),
            Of::Itself | Of::Suite(_) | Of::Spec(_) | Of::Apart(Apart::Workload { .. }) => None,
        }
    }

    /// The same program for the host, where the user named one.
    pub fn native(&self) -> Option<&Path> {
        match self.taken_apart() {
            Some(Apart::Module { native, .. }) => native.as_deref(),
            Some(Apart::Workload { .. }) | None => None,
        }
    }

    /// Whether its programs are the experiment's, and none of the user's.
    pub fn is_itself(&self) -> bool {
        matches!(self.of, Of::Itself)
    }

    fn suite(&self) -> &str {
        match &self.of {
            Of::Suite(name) => name,
            Of::Itself | Of::Module(_) | Of::Spec(_) | Of::Apart(_) => "",
        }
    }

    fn own_module(&self) -> Option<&OwnModule> {
        match &self.of {
            Of::Module(module) => Some(module),
            Of::Itself | Of::Suite(_) | Of::Spec(_) | Of::Apart(_) => None,
        }
    }

    fn taken_apart(&self) -> Option<&Apart> {
        match &self.of {
            Of::Apart(apart) => Some(apart),
            Of::Itself | Of::Suite(_) | Of::Module(_) | Of::Spec(_) => None,
        }
    }

    fn spec_size(&self) -> &str {
        match &self.of {
            Of::Spec(size) => size,
            Of::Itself | Of::Suite(_) | Of::Module(_) | Of::Apart(_) => "",
        }
    }
}

/// By its name, in files.
impl Serialize for Design {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.experiment.serialize(to)
    }
}

impl<'de> Deserialize<'de> for &'static Design {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let experiment = Experiment::deserialize(from)?;
        let unknown = || serde::de::Error::custom(format!("no experiment `{experiment}`"));
        design(experiment).ok_or_else(unknown)
    }
}

/// How an experiment is measured.
pub fn design(experiment: Experiment) -> Option<&'static Design> {
    ALL.iter()
        .copied()
        .find(|design| design.experiment == experiment)
}

#[cfg(test)]
mod tests;
