//! What a design says: all that tells one experiment from another.

use std::{fmt, path::PathBuf, time::Duration};

use fathom_engine::{Bounds, BoundsChoice, Codegen};
use fathom_record::{Experiment, Variant};

use super::Measured;
use crate::{
    choose::{Absent, Builds, Controls, OWN, Row, Wanted},
    engines::{EngineSpec, Presence},
    home::Home,
    own::OwnStrategy,
    plan::Task,
    request::{Request, RequestError, Strategies},
};

/// A command of Fathom's that measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// `fathom bench`.
    Bench,
    /// `fathom suite`.
    Suite,
    /// `fathom reproduce`.
    Reproduce,
}

/// Whether system calls are counted, in runs of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// They say nothing here.
    No,
    /// They are.
    Yes,
    /// They should be and are not, for this reason.
    Never(&'static str),
}

/// What tracers look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traces {
    /// WASI calls in our engine, and the system calls of the thread that runs the program.
    Run,
    /// WASI calls on every engine, by function, and the system calls of all threads.
    Whole,
}

/// What there is to measure with.
#[derive(Clone, Copy, Debug)]
pub struct Environment<'a> {
    /// What was asked for.
    pub request: &'a Request,
    /// Where suites and engines are.
    pub home: Option<&'a Home>,
    /// The outside engines.
    pub outside: &'a [(EngineSpec, Presence)],
}

impl<'a> Environment<'a> {
    /// Where suites are.
    ///
    /// # Errors
    /// [`RequestError::NoHome`].
    pub fn suites(&self) -> Result<&'a Home, RequestError> {
        self.home.ok_or(RequestError::NoHome)
    }
}

/// Our strategies to measure, by name, and those that cannot be.
pub type Chosen = (Vec<String>, Vec<Absent>);

/// How an experiment is measured.
pub struct Design {
    /// Which it is.
    pub experiment: Experiment,
    /// The command that is asked for it by name.
    pub command: Option<Command>,
    /// For a list of experiments.
    pub help: &'static str,
    /// A paragraph for the command's help.
    pub about: &'static str,
    /// The same on a copy of SPEC CPU.
    pub on_spec: Option<&'static Design>,

    /// Time for measuring, which begins when all are probed, unless rounds are named.
    pub budget: Duration,
    /// Time for a cell in one round.
    pub limit: Duration,
    /// Uncounted iterations.
    pub warmup: u32,
    /// Counted iterations of the first round, from which the others' follow.
    pub iterations: u32,
    /// At most this many.
    pub iterations_max: u32,
    /// What a cell should take, by the first round; its iterations stay if absent.
    pub cell_target: Option<Duration>,
    /// Whether each cell is judged by itself then.
    pub is_by_cell: bool,
    /// Whether many instances in a row are timed as well.
    pub cycles: bool,
    /// Whether system calls are counted.
    pub counting: Counting,
    /// How often each cell that [`Design::is_traced`] names is run under a tracer as well.
    pub traced: u32,
    /// What is looked at.
    pub traces: Traces,
    /// Whether a task is.
    pub is_traced: fn(&Task) -> bool,
    /// Whose noise is looked at.
    pub controls: Controls,

    /// What runs it, where it is not this program: another that has our engine in it, and the
    /// same natively.
    pub runner: fn(&Home) -> Option<PathBuf>,
    /// What is run.
    pub measured: fn(&Environment<'_>) -> Result<Measured, RequestError>,
    /// Whether an engine that is installed can be measured.
    pub presence: fn(&EngineSpec, Presence) -> Result<Presence, RequestError>,
    /// Which of our strategies.
    pub strategies: fn(&Request, &Measured) -> Result<Chosen, RequestError>,
    /// Which engines; none named: all there are.
    pub wanted: fn(&Environment<'_>) -> Vec<Wanted>,
    /// Generators by which our first row is measured as well, where nobody names engines or
    /// settings.
    pub generators: fn(&Measured) -> &'static [Codegen],
    /// What else cannot be measured here.
    pub absent: fn(&Environment<'_>) -> Result<Vec<Absent>, RequestError>,
    /// What becomes of the rows.
    pub rows: fn(Vec<Row>, &Request) -> Vec<Row>,
    /// The builds that rows are measured on.
    pub builds: fn(&[Variant]) -> Builds<'_>,
    /// Whether a task makes sense.
    pub suits: fn(&Task) -> bool,
    /// The row whose times ratios are taken to; the first if there is none.
    pub is_baseline: fn(&Row) -> bool,
}

impl Design {
    /// What most have in common: a suite's programs for four minutes, every engine,
    /// beside native code.
    pub const USUAL: Design = Design {
        experiment: Experiment::Suite,
        command: None,
        help: "",
        about: "",
        on_spec: None,
        budget: Duration::from_secs(4 * 60),
        limit: Duration::from_secs(60),
        warmup: 1,
        iterations: 3,
        iterations_max: 20,
        cell_target: Some(Duration::from_millis(150)),
        is_by_cell: false,
        cycles: false,
        counting: Counting::No,
        traced: 0,
        traces: Traces::Run,
        is_traced: |_| false,
        controls: Controls::FirstAndNative,
        runner: |_| None,
        measured: |_| Err(RequestError::NoHome),
        presence: |_, presence| Ok(presence),
        strategies: usual,
        wanted: |env| env.request.engines.clone(),
        generators: |_| &[],
        absent: |_| Ok(Vec::new()),
        rows: |rows, _| rows,
        builds: |builds| Builds::Each(builds),
        suits: |_| true,
        is_baseline: |row| row.native == Some(Variant::Native),
    };
    /// Time for what has many rows and rounds of minutes.
    pub const BUDGET_LONG: Duration = Duration::from_secs(90 * 60);

    /// Its name on the command line and in files.
    pub fn name(&self) -> &'static str {
        self.experiment.name()
    }
}

impl fmt::Debug for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The strategies that are named, and those of them that this host lacks.
fn usual(request: &Request, measured: &Measured) -> Result<Chosen, RequestError> {
    let mut own: Vec<OwnStrategy> = Vec::new();
    let plain = |bounds| OwnStrategy {
        choice: BoundsChoice::Named(bounds),
        is_pooled: false,
    };
    for word in &measured.strategies {
        match word {
            // The default strategy first: our engine's control is its first row's.
            Strategies::All => {
                own.push(plain(Bounds::Guard));
                let others = Bounds::measured_for(false).filter(|bounds| *bounds != Bounds::Guard);
                own.extend(others.map(plain));
            }
            // Of use where checks are compared alone: refused like any unknown name.
            Strategies::Forms => own.push("forms".parse()?),
            Strategies::One(one) => own.push(*one),
        }
    }
    let (mut names, mut absent) = (Vec::new(), Vec::new());
    for one in own {
        let missing = match one.choice {
            BoundsChoice::Named(bounds) => bounds.missing(),
            BoundsChoice::Auto => None,
        };
        let name = one.to_string();
        match missing {
            None => names.push(name),
            Some(why) => {
                let is_wanted = request.strategies.contains(&Strategies::One(one));
                absent.push(own_absent(&name, why, is_wanted));
            }
        }
    }
    Ok((names, absent))
}

/// Without the build for exactly this machine, unless engines are named: growing is the
/// kernel's work, whatever the compiler tuned for.
pub(super) fn without_tuned(mut rows: Vec<Row>, request: &Request) -> Vec<Row> {
    if request.engines.is_empty() {
        rows.retain(|row| row.native != Some(Variant::NativeTuned));
    }
    rows
}

/// An engine as it comes.
pub(super) fn plain(name: &str) -> Wanted {
    Wanted {
        version: None,
        build: None,
        engine: name.to_owned(),
        strategy: None,
        backend: None,
    }
}

/// Our engine's strategy that cannot be measured.
pub(super) fn own_absent(name: &str, why: String, is_wanted: bool) -> Absent {
    Absent {
        engine: format!("{OWN} {name}"),
        why,
        is_wanted,
        install: None,
    }
}
