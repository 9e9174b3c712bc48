//! `fathom reduce`: the smallest part of a recorded program that still shows a difference
//! between engines.
//!
//! ```text
//!  parts of the record, bodies of functions ─▶ a program that compares nothing ─▶ our engine
//!                                                                                   │ its answer
//!        taken, if it ends otherwise there ◀─ the engine ◀─ a program that compares that
//! ```
//!
//! What must stay true: what is written was seen to end well on our engine, with the answer
//! that it compares, and otherwise on the other; each run is a child of its own with a time
//! limit.

mod side;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow::{self, Break, Continue};
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use fathom_bench::choose::Wanted;
use fathom_replay::program::{candidate, replay};
use fathom_replay::record::{Digest, Record};
use fathom_replay::reduce::{Body, Calls, ddmin, has_defaults, own, with_empty};
use fathom_rewrite::shape::Shape;
use fathom_sys::regular;

use self::side::{Ending, Side};
use crate::bench::args::duration;
use crate::invocation::Invocation;
use crate::replay::Recording;
use crate::stopped::{self, Stopped};

/// How long nothing is said while it gets smaller.
const SILENCE: Duration = Duration::from_secs(10);

/// Cut a record to the smallest program on which an engine is still wrong
#[derive(clap::Args)]
#[command(after_help = "\
Calls of the module are left out, and its functions made empty, by delta debugging, as long as our \
engine ends well and the other still ends otherwise. Imports answer in the order of the record. \
What is written runs on every engine: it prints our engine's answer and exits with status 0, or says that \
it is not as recorded and exits with status 1. Stopped by Ctrl-C, it writes the smallest so far. \
Exit statuses: 0 if it was written, also where nothing could be left out; 1 if there is no such difference; \
130 if it was stopped.")]
pub struct Args {
    /// A record, of `fathom record`
    record: PathBuf,
    /// What must stay: 'wrong on ENGINE', where ENGINE, as in --engines of `fathom bench`, ends
    /// otherwise than our engine: other output, another status, a trap, a crash, no end
    #[arg(long, value_name = "WHAT")]
    keep: Keep,
    /// The module that was recorded [default: RECORD.wasm]
    #[arg(long, value_name = "FILE")]
    module: Option<PathBuf>,
    /// File for the new module [default: RECORD with the extension .reduced.wasm]
    #[arg(short, long = "out", alias = "output", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Time for all of it, such as 90s or 1h; the smallest until then is written
    #[arg(long, value_parser = duration, default_value = "10m")]
    budget: Duration,
    /// Time limit for one run
    #[arg(long, value_parser = duration, default_value = "60s")]
    time_limit: Duration,
}

/// What must stay.
#[derive(Clone, Debug)]
enum Keep {
    /// This engine ends otherwise than ours.
    Wrong(Wanted),
}

impl FromStr for Keep {
    type Err = String;

    fn from_str(text: &str) -> Result<Keep, String> {
        let engine = text.strip_prefix("wrong on ").map(str::trim);
        let engine = engine.ok_or("what can be kept is 'wrong on ENGINE'")?;
        Ok(Keep::Wrong(engine.parse()?))
    }
}

/// Reduces, and writes what is left.
///
/// # Errors
/// A record that is damaged or of another module, an engine that is not there, no difference.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let word = args.record.display().to_string();
    let read = crate::replay::read(&args.record, args.module, args.output, "reduced.wasm")?;
    let Recording {
        record,
        wasm,
        output,
    } = &read;
    let whole = replay(record, wasm).with_context(|| word.clone())?;
    let Keep::Wrong(wanted) = args.keep;
    let home = invocation.home()?;
    let calls = Calls::of(record, &whole.checked)?;
    let mut reduction = Reduction {
        ours: Side::of(&Wanted::own(), home.as_ref(), args.time_limit)?,
        theirs: Side::of(&wanted, home.as_ref(), args.time_limit)?,
        shape: Shape::of(wasm)?,
        wasm,
        parts: calls.all(),
        calls,
        bodies: BTreeMap::new(),
        kind: None,
        best: None,
        seen: HashMap::new(),
        halt: None,
        said: Instant::now(),
    };
    match reduction.begin() {
        Err(Halt::Told) => {
            say!("fathom: {word}: stopped before the difference was seen: nothing is written");
            return Ok(stopped::status());
        }
        begun => begun.map_err(Halt::into_error).context(word)?,
    }
    reduction.set_budget(args.budget);
    reduction.reduce();
    reduction.finish(output)
}

/// Why nothing more is tried.
enum Halt {
    /// By a signal.
    Told,
    /// The time is over.
    Budget,
    /// Something is wrong here.
    Failed(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Halt {
    fn from(error: E) -> Halt {
        Halt::Failed(error.into())
    }
}

impl Halt {
    fn into_error(self) -> anyhow::Error {
        match self {
            Halt::Told => Stopped.into(),
            Halt::Budget => anyhow::anyhow!("the time is over"),
            Halt::Failed(error) => error,
        }
    }
}

/// What was seen to show the difference.
struct Found {
    wasm: Vec<u8>,
    answer: String,
    ending: Ending,
}

struct Reduction<'a> {
    ours: Side,
    theirs: Side,
    wasm: &'a [u8],
    shape: Shape,
    calls: Calls<'a>,
    /// What is left of the record.
    parts: Vec<usize>,
    /// Functions that are empty.
    bodies: BTreeMap<u32, Body>,
    /// How the engine ends on all of it: another kind of end is another difference.
    kind: Option<side::Kind>,
    best: Option<Found>,
    /// Candidates that were tried, and whether they show it.
    seen: HashMap<String, bool>,
    halt: Option<Halt>,
    said: Instant,
}

impl Reduction<'_> {
    /// Looks for the difference in all of it.
    fn begin(&mut self) -> Result<(), Halt> {
        let record = self.calls.keeping(&self.parts);
        let made = candidate(&record, self.wasm, None)?;
        let reference = self.ours.run(&made.wasm)?;
        let Some(answer) = reference.answer(&made.answer) else {
            let why = anyhow::anyhow!("our engine does not end well on it: {reference}");
            return Err(Halt::Failed(why));
        };
        let made = candidate(&record, self.wasm, Some(answer))?;
        let ending = self.theirs.run(&made.wasm)?;
        if ending.is_well(&made.answer) {
            let why = anyhow::anyhow!(
                "{}: the engine's answer is ours: nothing to keep",
                self.theirs.name
            );
            return Err(Halt::Failed(why));
        }
        self.kind = ending.kind();
        if self.kind.is_none() {
            let why = anyhow::anyhow!("{}: it does not run it: {ending}", self.theirs.name);
            return Err(Halt::Failed(why));
        }
        match self.shows(&self.parts.clone(), &BTreeMap::new())? {
            true => Ok(()),
            false => Err(Halt::Failed(anyhow::anyhow!(
                "{}: it ended otherwise once, and not again: {ending}",
                self.theirs.name
            ))),
        }
    }

    fn set_budget(&mut self, budget: Duration) {
        for side in [&mut self.ours, &mut self.theirs] {
            side.deadline = Instant::now().checked_add(budget);
        }
    }

    /// Leaves out calls and functions in turns, until neither brings anything.
    fn reduce(&mut self) {
        let before = |own: &Self| (own.parts.len(), own.bodies.len());
        loop {
            let was = before(self);
            let bodies = self.bodies.clone();
            self.parts = ddmin(&self.parts.clone(), &mut |some| self.test(some, &bodies));
            for body in [Body::Trap, Body::Defaults] {
                self.empty(body);
            }
            self.progress();
            if self.halt.is_some() || before(self) == was {
                return;
            }
        }
    }

    /// Makes functions empty, in one way.
    fn empty(&mut self, with: Body) {
        let mut whole = own(&self.shape);
        whole.retain(|func| !self.bodies.contains_key(func));
        whole.retain(|func| with == Body::Trap || has_defaults(&self.shape, *func));
        let (parts, bodies) = (self.parts.clone(), self.bodies.clone());
        let without = |some: &[u32]| {
            let some = BTreeSet::from_iter(some);
            let gone = whole.iter().filter(|func| !some.contains(func));
            let gone = gone.map(|func| (*func, with));
            bodies.clone().into_iter().chain(gone).collect()
        };
        let left = ddmin(&whole, &mut |some| self.test(&parts, &without(some)));
        self.bodies = without(&left);
    }

    fn test(&mut self, parts: &[usize], bodies: &BTreeMap<u32, Body>) -> ControlFlow<(), bool> {
        if self.halt.is_some() {
            return Break(());
        }
        match self.shows(parts, bodies) {
            Ok(shows) => {
                if shows && self.said.elapsed() > SILENCE {
                    self.said = Instant::now();
                    say!("fathom: {}", self.counts(parts, bodies));
                }
                Continue(shows)
            }
            Err(halt) => {
                self.halt = Some(halt);
                Break(())
            }
        }
    }

    /// Whether the difference is there with these parts and bodies.
    fn shows(&mut self, parts: &[usize], bodies: &BTreeMap<u32, Body>) -> Result<bool, Halt> {
        let record = self.calls.keeping(parts);
        let wasm = with_empty(self.wasm, &self.shape, bodies)?;
        let Ok(made) = candidate(&record, &wasm, None) else {
            return Ok(false);
        };
        let key = Digest::of(&made.wasm).blake3;
        if let Some(shows) = self.seen.get(&key) {
            return Ok(*shows);
        }
        let found = match self.ours.run(&made.wasm)?.answer(&made.answer) {
            Some(answer) => self.found(&record, &wasm, answer)?,
            None => None,
        };
        self.seen.insert(key, found.is_some());
        let shows = found.is_some();
        self.best = found.or(self.best.take());
        Ok(shows)
    }

    /// The program that compares this answer, where the engine ends as it did, and ours well.
    fn found(&mut self, record: &Record, wasm: &[u8], answer: u32) -> Result<Option<Found>, Halt> {
        let made = candidate(record, wasm, Some(answer))?;
        let ending = self.theirs.run(&made.wasm)?;
        if ending.is_well(&made.answer) || ending.kind() != self.kind {
            return Ok(None);
        }
        let is_well = self.ours.run(&made.wasm)?.is_well(&made.answer);
        Ok(is_well.then_some(Found {
            wasm: made.wasm,
            answer: made.answer,
            ending,
        }))
    }

    fn counts(&self, parts: &[usize], bodies: &BTreeMap<u32, Body>) -> String {
        let (calls, functions) = (self.calls.count(&self.calls.all()), own(&self.shape).len());
        format!(
            "calls {calls} → {}, functions {functions} → {}, {} candidates tried",
            self.calls.count(parts),
            functions - bodies.len(),
            self.seen.len()
        )
    }

    fn progress(&mut self) {
        self.said = Instant::now();
        say!("fathom: {}", self.counts(&self.parts, &self.bodies));
    }

    /// Writes the smallest that was found, and says what it is.
    fn finish(self, output: &std::path::Path) -> anyhow::Result<ExitCode> {
        let file = output.display();
        let Some(found) = &self.best else {
            bail!("{file}: nothing was found");
        };
        regular::write_output(output, &found.wasm).with_context(|| file.to_string())?;
        let bytes = found.wasm.len();
        say!(
            "fathom: {file}: {bytes} bytes; our engine prints '{}'",
            found.answer.trim_end()
        );
        say!("fathom: {}: {}", self.theirs.name, found.ending);
        match self.halt {
            None => Ok(ExitCode::SUCCESS),
            Some(Halt::Budget) => {
                say!("fathom: --budget is over: it is the smallest so far");
                Ok(ExitCode::SUCCESS)
            }
            Some(Halt::Told) => {
                say!("fathom: stopped: it is the smallest so far");
                Ok(stopped::status())
            }
            Some(Halt::Failed(error)) => Err(error.context("it is the smallest so far")),
        }
    }
}
