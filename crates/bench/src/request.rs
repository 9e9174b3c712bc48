//! What a user asked to have measured, as values.
//!
//! The command line parses every option to these types, once; planning and the
//! designs of experiments read them, and the header of a campaign has them as JSON, by
//! which it goes on. Paths are absolute here: nothing depends on which folder this process
//! is in.
//!
//! What must stay true: what planning reads is recorded; a field or a value that this
//! version does not know is refused, since it would measure something else without it.

use std::{fmt, io, path::PathBuf, str::FromStr, time::Duration};

use fathom_engine::{Bounds, BoundsChoice, UnknownBounds};
use fathom_record::{Variant, Yardstick};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    choose::Wanted,
    experiment::{Command, Subject, of_command},
    home::Home,
    missing_builds::NotBuilt,
    mistyped::did_you_mean,
    own::OwnStrategy,
    plan::Input,
    settings::Choices,
    shard::Shard,
    suite::SuiteError,
    trial::Broken,
};

/// All that a campaign is prepared from.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// What is measured.
    pub subject: Subject,
    /// Arguments, where it is a program of the user's own.
    pub args: Vec<String>,
    /// The problem size, where the user named one.
    pub size: Option<String>,
    /// Only these workloads; all for none.
    pub workloads: Vec<String>,
    /// Builds of them; the experiment's own for none.
    pub variants: Vec<Variant>,
    /// Engines; those of the experiment for none.
    pub engines: Vec<Wanted>,
    /// Strategies of our engine; the experiment's own for none.
    pub strategies: Vec<Strategies>,
    /// Values of our engine's settings; the experiment's own where none is named of one.
    pub settings: Choices,
    /// Instances at once; the experiment's own for none.
    pub threads: Vec<u32>,
    /// Which part of the workloads, where several machines measure them.
    pub shard: Option<Shard>,
    /// How many workloads every shard measures, so that machines can be told apart; a few
    /// for none.
    pub anchors: Option<u32>,
    /// What programs are given.
    pub input: Input,
    /// Whether programs may print anything.
    pub any_output: bool,
    /// Exit statuses of programs that are no failure, beside 0.
    pub exits_allowed: Vec<i32>,
    /// What they are measured by.
    #[serde(default, skip_serializing_if = "Yardstick::is_time")]
    pub metric: Yardstick,
    /// How long to measure.
    pub duration: Length,
    /// Decides orders and layouts; from the clock if absent.
    pub seed: Option<u64>,
    /// Whether strategies are taken to be sound.
    pub skips_probe: bool,
    /// Whether they are probed though verdicts of earlier probes hold.
    pub probes_again: bool,
    /// Folder for the results; a new one if absent.
    #[serde(skip)]
    pub out: Option<PathBuf>,
    /// Folders of earlier campaigns that the report sets beside this one.
    #[serde(skip)]
    pub against: Vec<PathBuf>,
    /// The folder in which the command was given.
    #[serde(skip)]
    pub folder: PathBuf,
    /// Where engines and suites are, if they are anywhere.
    #[serde(skip)]
    pub home: Option<Home>,
    /// Where a new folder of results is made.
    #[serde(skip)]
    pub results: PathBuf,
}

impl Request {
    /// Everything as the experiment has it, asked for in this folder.
    pub fn new(subject: Subject, folder: PathBuf) -> Request {
        Request {
            subject,
            args: Vec::new(),
            size: None,
            workloads: Vec::new(),
            variants: Vec::new(),
            engines: Vec::new(),
            strategies: Vec::new(),
            settings: Choices::default(),
            threads: Vec::new(),
            shard: None,
            anchors: None,
            input: Input::default(),
            any_output: false,
            exits_allowed: Vec::new(),
            metric: Yardstick::default(),
            duration: Length::default(),
            seed: None,
            skips_probe: false,
            probes_again: false,
            out: None,
            against: Vec::new(),
            results: folder.join("results"),
            folder,
            home: None,
        }
    }

    /// Refuses what a program would be given where an experiment runs its own.
    ///
    /// # Errors
    /// The first that was given.
    pub(crate) fn takes_what_is_given(&self) -> Result<(), RequestError> {
        let input = &self.input;
        let given = [
            ("arguments", !self.args.is_empty()),
            ("--dir", !input.dirs.is_empty()),
            ("--env", !input.env.is_empty()),
            ("--stdin", input.stdin.is_some()),
        ];
        let name = self.subject.design().name();
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) if self.subject.is_itself() => Err(RequestError::Refused(format!(
                "{option}: `{name}` runs programs of its own"
            ))),
            Some(_) | None => Ok(()),
        }
    }

    /// As the header of a campaign has it.
    ///
    /// # Errors
    /// A path that JSON cannot have.
    pub fn recorded(&self) -> Result<Value, RequestError> {
        serde_json::to_value(self)
            .map_err(|error| RequestError::Refused(format!("it cannot be recorded: {error}")))
    }

    /// What a campaign's header has, asked for in this folder. Modules are not read yet:
    /// [`Subject::own_module_mut`].
    ///
    /// # Errors
    /// What this version does not know.
    pub fn of_record(request: &Value, folder: PathBuf) -> Result<Request, RequestError> {
        let request = Request::deserialize(request).map_err(|error| {
            RequestError::Refused(format!(
                "this version cannot measure what it asked for: {error}"
            ))
        })?;
        Ok(Request {
            results: folder.join("results"),
            folder,
            ..request
        })
    }
}

/// How long to measure; the experiment's own defaults where absent.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Length {
    /// Rounds; as many as fit into the budget if absent.
    pub rounds: Option<u32>,
    /// Counted iterations.
    pub iterations: Option<u32>,
    /// Uncounted ones before them.
    pub warmup: Option<u32>,
    /// Time for the whole campaign.
    pub budget: Option<Duration>,
    /// Time for one cell in one round.
    pub limit: Option<Duration>,
    /// Time to wait for processors that other programs use.
    pub wait_idle: Option<Duration>,
    /// Whether a first impression is enough.
    pub is_quick: bool,
    /// How well the ratio of each workload should be known: 0.01 for 1 %.
    pub width: Option<f64>,
    /// The difference that is to be found eight times of ten: 0.02 for 2 %. Rounds go on for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detect: Option<f64>,
    /// Rounds below which nothing can be said.
    pub rounds_wanted: u32,
}

impl Length {
    /// As long, to go on with: who names rounds or a budget says how far anew. A budget is
    /// for as many rounds as it allows, rounds take what they take.
    #[must_use]
    pub fn further(self, rounds: Option<u32>, budget: Option<Duration>) -> Length {
        match (rounds, budget) {
            (None, None) => self,
            _ => Length {
                rounds,
                budget,
                ..self
            },
        }
    }
}

/// A word that names strategies of our engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategies {
    /// Each in its usual form.
    All,
    /// Each in every form.
    Forms,
    /// This one.
    One(OwnStrategy),
}

impl Strategies {
    /// One by its row in the engine's list.
    pub const fn one(bounds: Bounds) -> Strategies {
        Strategies::One(OwnStrategy {
            choice: BoundsChoice::Named(bounds),
            is_pooled: false,
        })
    }

    /// The same with instances that are used again.
    pub const fn pooled(bounds: Bounds) -> Strategies {
        Strategies::One(OwnStrategy {
            choice: BoundsChoice::Named(bounds),
            is_pooled: true,
        })
    }

    /// What `auto` takes.
    pub const AUTO: Strategies = Strategies::One(OwnStrategy {
        choice: BoundsChoice::Auto,
        is_pooled: false,
    });
}

impl FromStr for Strategies {
    type Err = UnknownBounds;

    fn from_str(word: &str) -> Result<Strategies, UnknownBounds> {
        match word {
            "all" => Ok(Strategies::All),
            "forms" => Ok(Strategies::Forms),
            name => name.parse().map(Strategies::One),
        }
    }
}

impl fmt::Display for Strategies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Strategies::All => f.write_str("all"),
            Strategies::Forms => f.write_str("forms"),
            Strategies::One(one) => one.fmt(f),
        }
    }
}

/// Types that are one word in JSON: what [`fmt::Display`] writes and [`FromStr`] reads.
macro_rules! words {
    ($($word:ty),+) => {$(
        impl Serialize for $word {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $word {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let word = String::deserialize(from)?;
                word.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}

words!(Strategies, Shard);

/// What a component begins with (component model, Binary.md): a module's magic, another layer.
pub const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// A program of the user's own.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnModule {
    /// Where it is.
    pub path: PathBuf,
    /// The module in the binary format, as it is measured.
    #[serde(skip)]
    pub wasm: Vec<u8>,
    /// Whether the file is something else: text, or a library that is made a program.
    #[serde(skip)]
    pub is_made: bool,
    /// Its arguments.
    pub args: Vec<String>,
    /// How it is made a program.
    #[serde(default, skip_serializing_if = "Library::is_none")]
    pub library: Library,
}

impl OwnModule {
    /// Whether it is a component.
    pub fn is_component(&self) -> bool {
        self.wasm.starts_with(COMPONENT)
    }
}

/// How a program is made of a library; as the file has it by default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    /// Whether what nobody provides traps when it is called.
    pub stub_imports: bool,
    /// Functions that are called first.
    pub setup: Vec<String>,
    /// The function that is called with the program's arguments, instead of `_start`.
    pub invoke: Option<String>,
}

impl Library {
    /// Whether the file is a program already.
    pub fn is_none(&self) -> bool {
        *self == Library::default()
    }

    /// The options that say so.
    pub fn words(&self) -> Vec<String> {
        let stub = self.stub_imports.then(|| "--stub-imports".to_owned());
        let setup = self.setup.iter().map(|name| ("--setup", name));
        let all = setup.chain(self.invoke.iter().map(|name| ("--invoke", name)));
        let named = all.flat_map(|(option, name)| [option.to_owned(), name.clone()]);
        stub.into_iter().chain(named).collect()
    }
}

/// Why nothing can be measured as it was asked for; each is one line.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// What was asked for does not go together, or is not there.
    #[error("{0}")]
    Refused(String),
    /// Suites and engines are nowhere to be seen.
    #[error(
        "no suites here, and no folder of yours where they could be unpacked: set HOME or \
         XDG_DATA_HOME to one that you may write to, or name a clone of Fathom by --root or in \
         FATHOM_HOME"
    )]
    NoHome,
    /// Workloads are not built.
    #[error(transparent)]
    NotBuilt(Box<NotBuilt>),
    /// A name that is neither.
    #[error("`{name}` is neither a suite nor a file{meant}")]
    NoSuite {
        /// The name.
        name: String,
        /// What may have been meant, as the end of a sentence.
        meant: String,
        /// Why it is no suite, where there is a folder of that name.
        source: Option<SuiteError>,
    },
    /// The user's copy of SPEC CPU was not built.
    #[error("SPEC CPU is not built: name your copy with --spec")]
    NoSpec {
        /// Why there is nothing.
        source: SuiteError,
    },
    /// The user's own program does not run.
    #[error(transparent)]
    Trial(Box<Broken>),
    /// A suite cannot be used.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// No such strategy.
    #[error(transparent)]
    Strategy(#[from] UnknownBounds),
    /// The system refused something.
    #[error("{what}")]
    System {
        /// What was to be done.
        what: String,
        /// What the system said.
        source: io::Error,
    },
}

impl RequestError {
    /// There is no suite of this name in the home.
    pub fn no_suite(home: &Home, name: &str, source: SuiteError) -> RequestError {
        let suites = home.suites();
        let mut names: Vec<&str> = suites.iter().map(String::as_str).collect();
        for design in of_command(Command::Bench) {
            names.push(design.name());
        }
        RequestError::NoSuite {
            meant: did_you_mean(name, names.into_iter()),
            name: name.to_owned(),
            source: home.suite(name).exists().then_some(source),
        }
    }

    /// Refused, with these words.
    pub fn refused(words: impl Into<String>) -> RequestError {
        RequestError::Refused(words.into())
    }

    /// The system refused this.
    pub fn system(what: impl ToString, source: io::Error) -> RequestError {
        RequestError::System {
            what: what.to_string(),
            source,
        }
    }
}

/// Refuses with these words unless it holds.
pub(crate) fn ensure(holds: bool, words: impl FnOnce() -> String) -> Result<(), RequestError> {
    match holds {
        true => Ok(()),
        false => Err(RequestError::Refused(words())),
    }
}

#[cfg(test)]
mod tests;
