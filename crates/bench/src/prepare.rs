//! From what was asked for to all that a campaign is made of.
//!
//! ```text
//!  Request ─▶ Design ─▶ Measured, rows ─▶ Plan, Header, Pace ─▶ Prepared
//! ```
//!
//! What must stay true: what tells experiments apart is read from the design; what the
//! user says comes before what the design would have.

use std::{
    collections::BTreeMap,
    env,
    panic::resume_unwind,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    thread,
    time::{Duration, SystemTime},
};

use fathom_engine::is_command;
use fathom_record::{
    Campaign, Compared, Estimator, FailureKind, Header,
    campaign::{AbsentNote, Config, FORMAT_VERSION, ShardNote},
};
use fathom_sys::pin;

use crate::{
    check::Expected,
    choose::{self, Absent, OWN, Program, Row},
    counts,
    date::rfc3339,
    driver::{Driver, ProcessDriver},
    engines::{self, EngineSpec, Presence},
    experiment::{Counting, Design, Environment, Measured},
    generator,
    home::Home,
    host,
    instructions::{Counter, CountingDriver},
    layout,
    plan::{Folder, Plan, Task},
    probe::kept,
    readonly_dirs,
    request::{Request, RequestError, ensure},
    session::Pace,
    shard,
    trial::{self, Broken, Trial},
};

mod counted;
mod place;
mod replays;
mod rows;

use place::make;

/// Time for a first impression.
const BUDGET_QUICK: Duration = Duration::from_secs(60);
/// Time for probing before it, where nothing is known yet.
const PROBE_QUICK: Duration = Duration::from_secs(20);
/// How well the ratio of each workload should be known: a quarter of what two layouts of the
/// same code differ by, so that a table can call cells equivalent.
const WIDTH: f64 = 0.005;
/// So much of a campaign's name is in its folder's, of 255 bytes that there may be.
const TITLE_BYTES_MAX: usize = 200;
/// At most this many rounds unless told otherwise.
const ROUNDS_MAX: u32 = 30;
/// The same where rounds go on until a difference would be found.
const ROUNDS_MAX_DETECT: u32 = 1000;
/// Time for that, unless told otherwise.
const BUDGET_DETECT: Duration = Duration::from_secs(30 * 60);
/// Where our compiled modules are kept, in the folder of the results.
const CACHE: &str = "cache";

/// A campaign, ready to begin.
pub struct Prepared {
    /// How it is measured.
    pub design: &'static Design,
    /// What is measured.
    pub plan: Plan,
    /// What its file begins with.
    pub header: Header,
    /// By the tasks' `driver`.
    pub drivers: Vec<ProcessDriver>,
    /// What counts instructions, where they are compared.
    pub counter: Option<Counter>,
    /// The lines of its table.
    pub rows: Vec<Row>,
    /// What cannot be measured.
    pub absent: Vec<Absent>,
    /// Where the results go.
    pub folder: PathBuf,
    /// Whether that folder was made for it, and by this process.
    is_own_folder: bool,
    /// How far it goes.
    pub pace: Pace,
    /// How long it waits for processors that other programs use.
    pub wait_idle: Duration,
    /// Whether strategies are taken to be sound, and how else they are probed.
    pub skips_probe: bool,
    /// Whether verdicts of earlier probes are left alone.
    pub probes_again: bool,
    /// Whether the user named engines: then what one lacks is a failure.
    pub names_engines: bool,
    /// Time for probing; what is not probed by then is measured and said to be so.
    pub probe_limit: Option<Duration>,
    /// What each driver starts, as a hash: a verdict on an engine holds for this. By
    /// position; empty where it cannot be told, and nothing is kept then.
    pub engines: Vec<String>,
    /// What the user should be told, a line each.
    pub warnings: Vec<String>,
}

/// Prepares a campaign; `command` is recorded as its command line, `tool` as the version
/// of what it is a command of.
///
/// # Errors
/// [`RequestError`], one line. Nothing is measured by then, and nothing is written but the
/// modules that are made for it.
pub fn prepare(
    request: &Request,
    command: &[String],
    tool: &str,
) -> Result<Prepared, RequestError> {
    let design = request.subject.design();
    let mut request = request.clone();
    // A release that is named in part is named in full from here on.
    let described = choose::described(request.home.as_ref(), &mut request.engines);
    let (specs, errors) = described.map_err(RequestError::Refused)?;
    let mut warnings: Vec<String> = errors.iter().map(|one| format!("fathom: {one}")).collect();
    warnings.extend(rows::without_effect(&request));
    let request = &request;
    let home = request.home.as_ref();
    // What is asked for in vain is known before any engine has said whether it is here.
    let (measured, shard) = wanted(request, &specs)?;
    let counter = counted::counter(request)?;
    let outside = find_outside(specs, request)?;
    let env = Environment {
        request,
        home,
        outside: &outside,
    };
    let (rows, absent) = rows::rows(&env, &measured, counter.as_ref())?;
    let folder = folder(&env, &measured)?;
    are_told(&[&folder, &env::temp_dir()])?;
    let mut plan = plan(request, &measured, &rows, &folder);
    let mut header = header(request, &plan, &rows, &absent, &measured, command, tool)?;
    header.config.shard = shard;
    let is_own_folder = make(&plan, &measured, &folder)?;
    readonly_dirs::give(&mut plan.input, &folder)?;
    header.config.replays = replays::any(&plan);
    header.config.counter = counter.as_ref().map(Counter::how);
    // Where nothing is compared nobody asks what a layout is worth.
    if counter.is_none() && design.controls.compares() {
        header.config.layouts = layout::varied(&plan);
    }
    let runner = home.and_then(design.runner);
    let engines = identities(&outside, home, runner.as_deref());
    header.config.engines = by_name(&engines, &outside);
    plan.config = header.config.clone();
    let unknown = |error| RequestError::system("cannot find this executable", error);
    let mut drivers = generator::own_drivers(home, runner).map_err(unknown)?;
    drivers.extend(outside.iter().map(|(spec, _)| spec.driver()));
    Ok(Prepared {
        design,
        pace: pace(request),
        skips_probe: request.skips_probe,
        probes_again: request.probes_again,
        names_engines: !request.engines.is_empty(),
        wait_idle: counted::wait_idle(request),
        probe_limit: request.duration.is_quick.then_some(PROBE_QUICK),
        engines,
        plan,
        header,
        drivers,
        counter,
        rows,
        absent,
        folder,
        is_own_folder,
        warnings,
    })
}

/// What is to be measured, and which part of it.
fn wanted(
    request: &Request,
    specs: &[EngineSpec],
) -> Result<(Measured, Option<ShardNote>), RequestError> {
    request.takes_what_is_given()?;
    let design = request.subject.design();
    let unseen: Vec<_> = specs.iter().map(|spec| (spec.clone(), unasked())).collect();
    let mut measured = (design.measured)(&Environment {
        request,
        home: request.home.as_ref(),
        outside: &unseen,
    })?;
    override_by(&mut measured, request)?;
    let part = request
        .shard
        .map(|shard| shard.part(|name| env::var(name).ok()));
    let shard = part
        .transpose()?
        .map(|part| shard::take(&mut measured, design, part, request.anchors));
    Ok((measured, shard.transpose()?))
}

/// What the user says comes before what the design would have.
fn override_by(measured: &mut Measured, request: &Request) -> Result<(), RequestError> {
    if !request.variants.is_empty() {
        let is_wasm = request.variants.iter().all(|variant| variant.is_wasm());
        ensure(is_wasm, || {
            "--variant is wasm or wasm-simd; native code is an engine".to_owned()
        })?;
        ensure(measured.module.is_none(), || {
            "--variant is for suites; a module is run as it is".to_owned()
        })?;
        measured.variants.clone_from(&request.variants);
    }
    if !request.threads.is_empty() {
        let is_sane = request
            .threads
            .iter()
            .all(|count| (1..=1024).contains(count));
        ensure(is_sane, || "--threads is 1 to 1024".to_owned())?;
        measured.threads.clone_from(&request.threads);
    }
    let writer = |one: &&Program<'_>| one.folder == Some(Folder::Empty);
    if let Some(program) = measured.programs.iter().find(writer) {
        ensure(measured.threads.iter().all(|count| *count == 1), || {
            format!(
                "{} writes files, which instances at once would share: --threads 1",
                program.name
            )
        })?;
    }
    if !request.metric.is_time() {
        counted::compared(measured)?;
    }
    measured.settings.override_by(&request.settings);
    if !request.strategies.is_empty() {
        measured.strategies.clone_from(&request.strategies);
    }
    Ok(())
}

/// Of an engine that nobody looks for.
fn unasked() -> Presence {
    Presence::Absent {
        why: "nobody asked for it".to_owned(),
    }
}

/// Whether these engines are here. Where some are named, nobody waits for the others to be
/// looked for.
fn find_outside(
    specs: Vec<EngineSpec>,
    request: &Request,
) -> Result<Vec<(EngineSpec, Presence)>, RequestError> {
    let design = request.subject.design();
    let named = &request.engines;
    let is_asked = |spec: &EngineSpec| named.is_empty() || named.iter().any(|one| one.is(spec));
    let presences: Vec<Presence> = thread::scope(|scope| {
        let looked_for = |spec| match is_asked(spec) {
            true => Ok(scope.spawn(|| spec.presence())),
            false => Err(unasked()),
        };
        let started: Vec<_> = specs.iter().map(looked_for).collect();
        let found = started.into_iter().map(|one| match one {
            Ok(looking) => looking.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(absent) => absent,
        });
        found.collect()
    });
    let known = specs.into_iter().zip(presences).map(|(spec, presence)| {
        let presence = (design.presence)(&spec, presence)?;
        Ok::<_, RequestError>((spec, presence))
    });
    known.collect()
}

/// What is behind each driver, in their order: ours, native code, the outside engines.
fn identities(
    outside: &[(EngineSpec, Presence)],
    home: Option<&Home>,
    runner: Option<&Path>,
) -> Vec<String> {
    let own = runner.map_or_else(kept::this_program, kept::hash);
    let own = own.unwrap_or_default();
    let each = outside.iter().map(|(spec, presence)| match home {
        Some(home) if matches!(presence, Presence::Installed { .. }) => {
            kept::engine(spec, presence, home)
        }
        _ => String::new(),
    });
    [own, String::new()].into_iter().chain(each).collect()
}

/// The same by name, of those that can be measured.
fn by_name(identities: &[String], outside: &[(EngineSpec, Presence)]) -> BTreeMap<String, String> {
    let native = String::new();
    let names = [OWN.to_owned(), native].into_iter();
    let names = names.chain(outside.iter().map(|(spec, _)| spec.id()));
    let known = names.zip(identities.iter().cloned());
    known.filter(|(_, identity)| !identity.is_empty()).collect()
}

/// Whether runners can be told files in these folders.
fn are_told(folders: &[&Path]) -> Result<(), RequestError> {
    for folder in folders {
        let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
        ensure(whole.to_str().is_some(), || {
            let folder = whole.display();
            format!("{folder}: its name is not UTF-8, which runners are told files in")
        })?;
    }
    Ok(())
}

/// The results folder: the one named, or the next free one of the day.
fn folder(env: &Environment<'_>, measured: &Measured) -> Result<PathBuf, RequestError> {
    if let Some(folder) = &env.request.out {
        return Ok(folder.clone());
    }
    let results = &env.request.results;
    let date = rfc3339(SystemTime::now());
    let day = date.split('T').next().unwrap_or(&date);
    // A file's name may be as long as a folder's, which has a day and a number beside it.
    let title = &measured.title[..measured.title.floor_char_boundary(TITLE_BYTES_MAX)];
    // Folders are listed on terminals: no escape sequences of the module's name.
    let title = title.replace(is_command, "_");
    let base = format!("{day}-{title}");
    let free = |name: &String| !results.join(name).exists();
    let numbered = (2..1000).map(|number| format!("{base}-{number}"));
    let name = std::iter::once(base.clone()).chain(numbered).find(free);
    let none = || RequestError::refused("no free name for the results; name a folder with --out");
    Ok(results.join(name.ok_or_else(none)?))
}

fn plan(request: &Request, measured: &Measured, rows: &[Row], folder: &Path) -> Plan {
    let design = request.subject.design();
    let builds = (design.builds)(&measured.variants);
    let threads = &measured.threads;
    let mut tasks = choose::tasks(rows, &measured.programs, &builds, threads, design.controls);
    tasks.retain(design.suits);
    for task in &mut tasks {
        task.artifact = folder.join(&task.artifact);
        match &mut task.expected {
            Expected::SameAs(_) if request.any_output => task.expected = Expected::Anything,
            Expected::SameAs(reference) => *reference = folder.join(&*reference),
            Expected::Answer(_) | Expected::Text(_) | Expected::Near(_) | Expected::Anything => {}
        }
    }
    Plan {
        config: Config::default(),
        workloads: measured.notes.clone(),
        tasks,
        input: request.input.clone(),
        cycles: design.cycles && request.metric.is_time(),
        cache: Some(folder.join(CACHE)),
        exits_allowed: request.exits_allowed.clone(),
    }
}

fn header(
    request: &Request,
    plan: &Plan,
    rows: &[Row],
    absent: &[Absent],
    measured: &Measured,
    command: &[String],
    tool: &str,
) -> Result<Header, RequestError> {
    let (design, duration) = (request.subject.design(), &request.duration);
    // The last processors first: interrupts tend to be served on the first.
    let mut cpus = pin::allowed_cpus()
        .map_err(|error| RequestError::system("which processors may be used", error))?;
    cpus.reverse();
    let baseline = rows.iter().find(|row| (design.is_baseline)(row));
    let now = SystemTime::now();
    let since_epoch = now.duration_since(SystemTime::UNIX_EPOCH);
    let is_timed = request.metric.is_time();
    let (iterations, limit) = counted::lengths(request);
    let config = Config {
        experiment: design.experiment,
        compared: measured.compared,
        estimator: Estimator::FasterHalf,
        rounds: duration.rounds.unwrap_or(rounds_max(request)).max(1),
        warmup: duration.warmup.unwrap_or(design.warmup),
        iterations: iterations.max(1),
        limit_ms: millis(limit),
        cpus: cpus.iter().map(|&cpu| cpu as u32).collect(),
        seed: request
            .seed
            .unwrap_or(since_epoch.map_or(0, |since| since.as_secs())),
        // Where code lies changes times, and hardly counts.
        layout_varies: is_timed,
        baseline: Some(baseline.unwrap_or(&rows[0]).sandbox.id()),
        module: measured.module.clone(),
        any_output: request.any_output,
        folder: Some(request.folder.clone()),
        budget_ms: pace(request).budget.map(millis),
        absent: absent.iter().map(AbsentNote::from).collect(),
        uncounted: match design.counting {
            Counting::No => None,
            Counting::Yes => counts::available().err(),
            Counting::Never(why) => Some(why.to_owned()),
        },
        ..Config::default()
    };
    Ok(Header {
        format: FORMAT_VERSION,
        tool: tool.to_owned(),
        name: measured.title.clone(),
        date: rfc3339(now),
        command: command.to_vec(),
        request: Some(request.recorded()?),
        host: host::collect(),
        config,
        workloads: plan.workloads.clone(),
        cells: plan.cells(),
    })
}

impl From<&Absent> for AbsentNote {
    fn from(absent: &Absent) -> AbsentNote {
        AbsentNote {
            engine: absent.engine.clone(),
            why: absent.why.clone(),
            install: absent.install.clone(),
        }
    }
}

/// Rounds there are at most where nobody says how many.
fn rounds_max(request: &Request) -> u32 {
    match request.duration.detect {
        _ if !request.metric.is_time() => counted::ROUNDS,
        Some(_) => ROUNDS_MAX_DETECT,
        None => ROUNDS_MAX,
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn pace(request: &Request) -> Pace {
    let (design, duration) = (request.subject.design(), &request.duration);
    let default = match duration.is_quick {
        true => BUDGET_QUICK,
        false if duration.detect.is_some() => BUDGET_DETECT,
        false => design.budget,
    };
    let is_timed = request.metric.is_time();
    // Where nothing is compared nothing has a width.
    let compares = design.controls.compares() && is_timed;
    let width = compares.then_some(duration.width.unwrap_or(WIDTH));
    // Who says how many rounds has said how long.
    let default = (duration.rounds.is_none() && is_timed).then_some(default);
    Pace {
        budget: duration.budget.or(default),
        cell_target: design
            .cell_target
            .filter(|_| is_timed && duration.iterations.is_none()),
        iterations_max: design.iterations_max,
        rounds_wanted: match is_timed {
            true => duration.rounds_wanted,
            false => counted::ROUNDS,
        },
        width: width.filter(|_| duration.rounds.is_none() && duration.detect.is_none()),
        detect: duration.detect.filter(|_| duration.rounds.is_none()),
        spares_warmup: compares && !design.is_by_cell && duration.warmup.is_none(),
        is_by_cell: design.is_by_cell,
    }
}

impl Prepared {
    /// Looks at a user's own module before the campaign is written down: what
    /// is compared depends on what it prints, and what does not run is not
    /// measured. It is tried on our engine, or on the first there is; where that lacks a
    /// feature of the program, on the next.
    ///
    /// # Errors
    /// [`RequestError::Trial`] for a program that runs nowhere; nothing is left of it then. If
    /// there can be no folder for its output.
    pub fn run_trial(&mut self, stop: &AtomicBool) -> Result<(), RequestError> {
        if self.header.config.module.is_none() {
            return Ok(());
        }
        self.claim()?;
        let reference = self.folder.join("output.stdout");
        let limit = Duration::from_millis(self.plan.config.limit_ms);
        let mut seen = Vec::new();
        let mut first = None;
        for task in &self.plan.tasks {
            if seen.contains(&task.driver) {
                continue;
            }
            seen.push(task.driver);
            let driver: &mut dyn Driver = &mut self.drivers[task.driver];
            match trial::look(&self.plan, task, driver, &reference, limit, stop) {
                Ok(trial) => {
                    let warning = first.map(|broken: Box<Broken>| format!("fathom: {broken}"));
                    self.warnings.extend(warning);
                    self.warnings.extend(trial::much_kept(&reference));
                    self.apply_trial(trial);
                    return Ok(());
                }
                // Whoever waits for nothing more is told so by the campaign.
                Err(None) => return Ok(()),
                Err(Some(broken)) => {
                    // Another engine may have what this one lacks.
                    use FailureKind::{Lacking, Unsupported};
                    let may_run_elsewhere = matches!(broken.kind, Lacking | Unsupported);
                    first.get_or_insert(broken);
                    if !may_run_elsewhere {
                        break;
                    }
                }
            }
        }
        let Some(broken) = first else { return Ok(()) };
        self.take_away();
        Err(RequestError::Trial(broken))
    }

    fn apply_trial(&mut self, trial: Trial) {
        let config = &mut self.header.config;
        if trial.states_kernel && !config.compared.is_count() {
            config.compared = Compared::Kernel;
        }
        if !trial.is_repeatable {
            let words =
                "its output changes from run to run: outputs are not compared (--any-output)";
            self.warnings.push(words.to_owned());
            config.any_output = true;
        }
        self.plan.config = config.clone();
        self.apply_output_policy();
    }

    /// Takes over what an earlier beginning of this campaign decided, but for its rounds:
    /// these where they are named, or else as many as the budget allows, and never fewer
    /// than it has. How many those are now.
    pub fn adopt(&mut self, campaign: &Campaign, rounds: Option<u32>) -> u32 {
        let mut config = campaign.header.config.clone();
        let begun = campaign.processes.iter().map(|one| one.round + 1).max();
        let rounds = rounds.unwrap_or(config.rounds.max(ROUNDS_MAX));
        config.rounds = rounds.max(begun.unwrap_or(1));
        // What the list is now: a campaign of another is not gone on with.
        config.shard = self.header.config.shard.take();
        self.header.config = config.clone();
        self.plan.config = config;
        self.apply_output_policy();
        self.plan.config.rounds
    }

    /// An engine of the plan that is another build than it was, by what a campaign says of
    /// it. A campaign of before that was kept does not say.
    pub fn rebuilt(&self, then: &BTreeMap<String, String>) -> Option<String> {
        let is_other = |task: &&Task| {
            let then = then.get(&engines::of(&task.cell.sandbox));
            let now = &self.engines[task.driver];
            then.is_some_and(|then| !now.is_empty() && then != now)
        };
        let other = self.plan.tasks.iter().find(is_other)?;
        Some(engines::of(&other.cell.sandbox))
    }

    /// Compares no outputs where they are not to be.
    fn apply_output_policy(&mut self) {
        if self.plan.config.any_output {
            for task in &mut self.plan.tasks {
                if matches!(task.expected, Expected::SameAs(_)) {
                    task.expected = Expected::Anything;
                }
            }
        }
    }

    /// The drivers, each for whoever asks through them.
    pub fn boxed_drivers(&self) -> Vec<Box<dyn Driver>> {
        let boxed = |driver: &ProcessDriver| match &self.counter {
            None => Box::new(driver.clone()) as Box<dyn Driver>,
            Some(counter) => Box::new(CountingDriver::new(driver.clone(), counter.clone())),
        };
        self.drivers.iter().map(boxed).collect()
    }
}

#[cfg(test)]
mod tests;
