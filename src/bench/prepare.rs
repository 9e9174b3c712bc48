//! From a command line to all that a campaign is made of.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::{Duration, SystemTime},
};

use anyhow::{Context, bail, ensure};
use fathom_bench::{
    check::Expected,
    choose::{self, Absent, Builds, Menu, OWN_DRIVER, Program, Row, Wanted},
    date::rfc3339,
    driver::{Driver, ProcessDriver},
    engines::{self, EngineSpec, Presence},
    host,
    house::House,
    own::OwnStrategy,
    plan::{Folder, Input, Plan},
    session::Pace,
    trial::{self, Trial},
};
use fathom_engine::{Bounds, BoundsChoice};
use fathom_record::{
    Campaign, Compared, Experiment, Header, Variant,
    campaign::{AbsentNote, Config, FORMAT_VERSION},
};
use fathom_sys::pin;

use super::{
    Args,
    args::Selection,
    bounds, library, scaling, spec, startup,
    target::{self, Kind, Target},
};

/// Time for a campaign unless told otherwise, the probe included. A clean clone
/// takes several minutes to build before it, and is to be done in twenty.
const BUDGET: Duration = Duration::from_secs(9 * 60);
const BUDGET_QUICK: Duration = Duration::from_secs(60);
/// At most this many rounds unless told otherwise.
const ROUNDS_MAX: u32 = 30;
/// Counted iterations of the first round, from which the others' follow.
const ITERATIONS: u32 = 3;
/// The same where children scatter as iterations do, and start as fast: rounds say more.
const ITERATIONS_FEW: u32 = 1;
/// The same where half of the programs take long and rows are many: more rounds
/// say more than more iterations.
const ITERATIONS_BOUNDS: u32 = 2;
/// At most this many where a run is short, and what a cell's should take then.
const ITERATIONS_MAX: u32 = 20;
const CELL_TARGET: Duration = Duration::from_millis(150);
const CELL_TARGET_FEW: Duration = Duration::from_millis(20);
/// The same for instances made in a loop, which are many or show nothing.
const ITERATIONS_MAX_GROWTH: u32 = 1000;
const CELL_TARGET_GROWTH: Duration = Duration::from_millis(400);
/// Time for a cell in one round unless told otherwise.
const LIMIT: Duration = Duration::from_secs(60);
/// The same where interpreters meet scrypt.
const LIMIT_LIBRARY: Duration = Duration::from_secs(300);
/// The same for SPEC's programs, which take minutes natively.
const LIMIT_SPEC: Duration = Duration::from_secs(4 * 3600);
/// The same for instances side by side: long enough to be looked at, and at most
/// so many of all workers together, since each is kept.
const ITERATIONS_MAX_SCALING: u32 = 4000;
const CELL_TARGET_SCALING: Duration = Duration::from_millis(300);
/// Time for an experiment unless told otherwise.
const BUDGET_EXPERIMENT: Duration = Duration::from_secs(4 * 60);
/// The same for a selection, whose single round takes minutes.
const BUDGET_SELECTION: Duration = Duration::from_secs(90 * 60);

/// A campaign, ready to begin.
pub struct Prepared {
    pub plan: Plan,
    pub header: Header,
    /// By the tasks' `driver`.
    pub drivers: Vec<ProcessDriver>,
    pub rows: Vec<Row>,
    pub absent: Vec<Absent>,
    pub folder: PathBuf,
    pub pace: Pace,
    pub skips_probe: bool,
    pub kind: Kind,
    /// Whether it is of a copy of SPEC CPU.
    pub is_spec: bool,
}

/// Prepares a campaign; `command` is recorded as its command line.
pub fn prepare(args: &Args, command: &[String]) -> anyhow::Result<Prepared> {
    let house = House::find();
    let mut target = target::find(args, house.as_ref())?;
    override_by(&mut target, args)?;
    let mut outside = find_outside(house.as_ref());
    let (own_strategies, lacking) = match target.kind {
        Kind::Bounds => bounds::strategies(&args.bounds)?,
        Kind::Run
        | Kind::Growth
        | Kind::Compile
        | Kind::Scaling
        | Kind::Startup
        | Kind::Library => without_lacking(own_strategies(&target.strategies)?, args),
    };
    if target.kind == Kind::Bounds {
        for (spec, presence) in &mut outside {
            *presence = bounds::with_memory64(spec, presence.clone())?;
        }
    }
    let wanted = wanted(args, &target, &outside, house.as_ref());
    let (mut rows, mut absent) = choose::rows(
        &wanted,
        &Menu {
            own_strategies: &own_strategies,
            own_opts: &target.opts,
            has_native: target.has_native,
            outside: &outside,
        },
    )
    .map_err(anyhow::Error::msg)?;
    let elsewhere = library::not_to_be_had(args, &outside);
    absent.extend([lacking, scaling::not_to_be_had(args)?, elsewhere].concat());
    absent.extend(without_a_build(&mut rows, &target));
    if target.kind == Kind::Bounds {
        rows = bounds::with_elision(rows, &args.elide);
    }
    rows = bounds::with_guards(rows, &args.spectre);
    if matches!(target.kind, Kind::Growth | Kind::Scaling) && args.engines.is_empty() {
        // Growing is the kernel's work, whatever the compiler tuned for.
        rows.retain(|row| row.native != Some(Variant::NativeTuned));
    }
    let nothing = "nothing to measure: none of the engines is here";
    ensure!(!rows.is_empty(), "{nothing}");
    let folder = folder(args, &target, house.as_ref())?;
    let mut plan = plan(args, &target, &rows, &folder)?;
    let header = header(args, &plan, &rows, &absent, &target, command)?;
    for (name, bytes) in &target.written {
        let path = folder.join(name);
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&path, bytes))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    find_artifacts(&plan)?;
    plan.config = header.config.clone();
    let mut drivers = own_drivers()?;
    drivers.extend(outside.iter().map(|(spec, _)| spec.driver()));
    Ok(Prepared {
        pace: pace(args, &target),
        skips_probe: args.results.no_probe,
        kind: target.kind,
        is_spec: args.spec.is_some(),
        plan,
        header,
        drivers,
        rows,
        absent,
        folder,
    })
}

/// The engines that are asked for, by the user or by what is measured.
fn wanted(
    args: &Args,
    target: &Target,
    outside: &[(EngineSpec, Presence)],
    house: Option<&House>,
) -> Vec<Wanted> {
    match target.kind {
        Kind::Library => library::wanted(args, outside),
        _ => scaling::wanted(args, outside, house),
    }
}

/// The builds that rows are measured on.
fn builds(target: &Target) -> Builds<'_> {
    match target.kind {
        Kind::Library => Builds::First(&target.variants),
        _ => Builds::Each(&target.variants),
    }
}

/// Takes the rows away whose engine takes no build of what is measured.
fn without_a_build(rows: &mut Vec<Row>, target: &Target) -> Vec<Absent> {
    let builds = builds(target);
    let (taking, others) = rows.drain(..).partition(|row| !builds.of(row).is_empty());
    *rows = taking;
    let named = |list: &[Variant]| list.iter().map(Variant::to_string).collect::<Vec<_>>();
    let why = |row: Row| Absent {
        engine: row.sandbox.engine,
        why: format!(
            "it takes {} and this is built as {}",
            named(&row.takes).join(", "),
            named(&target.variants).join(", ")
        ),
        is_wanted: false,
    };
    let others: Vec<Row> = others;
    others.into_iter().map(why).collect()
}

/// What the user says comes before what the target would have.
fn override_by(target: &mut Target, args: &Args) -> anyhow::Result<()> {
    if !args.variant.is_empty() {
        let is_wasm = args.variant.iter().all(|variant| variant.is_wasm());
        ensure!(
            is_wasm,
            "--variant is wasm or wasm-simd; native code is an engine"
        );
        ensure!(
            target.module.is_none(),
            "--variant is for suites; a module is run as it is"
        );
        target.variants = args.variant.clone();
    }
    if !args.threads.is_empty() {
        let is_sane = args.threads.iter().all(|count| (1..=1024).contains(count));
        ensure!(is_sane, "--threads is 1 to 1024");
        target.threads = args.threads.clone();
    }
    let writer = |one: &&Program<'_>| one.folder == Some(Folder::Empty);
    if let Some(program) = target.programs.iter().find(writer) {
        ensure!(
            target.threads.iter().all(|count| *count == 1),
            "{} writes files, which instances at once would share: --threads 1",
            program.name
        );
    }
    if !args.opt.is_empty() {
        target.opts = args.opt.clone();
    }
    if !args.bounds.is_empty() {
        target.strategies = args.bounds.clone();
    }
    Ok(())
}

fn find_outside(house: Option<&House>) -> Vec<(EngineSpec, Presence)> {
    let (specs, errors) = house.map(engines::all).unwrap_or_default();
    for error in errors {
        eprintln!("fathom: {error}");
    }
    let with_presence = |spec: EngineSpec| {
        let presence = spec.presence();
        (spec, presence)
    };
    specs.into_iter().map(with_presence).collect()
}

fn own_strategies(wanted: &[String]) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for name in wanted {
        match name.as_str() {
            // The default strategy first: its control is the noise floor's.
            "all" => {
                names.push(Bounds::Guard.name().to_owned());
                let others = Bounds::measured_for(false).filter(|bounds| *bounds != Bounds::Guard);
                names.extend(others.map(|bounds| bounds.name().to_owned()));
            }
            "auto" => names.push("auto".to_owned()),
            _ => names.push(name.parse::<OwnStrategy>()?.to_string()),
        }
    }
    Ok(names)
}

/// The strategies that this host has, and the others.
fn without_lacking(names: Vec<String>, args: &Args) -> (Vec<String>, Vec<Absent>) {
    let lack = |name: &String| match name.parse::<OwnStrategy>().ok()?.choice {
        BoundsChoice::Named(bounds) => bounds.lack(),
        BoundsChoice::Auto => None,
    };
    let (lacking, here): (Vec<String>, Vec<String>) =
        names.into_iter().partition(|name| lack(name).is_some());
    let absent = lacking.iter().map(|name| Absent {
        engine: format!("{} {name}", choose::OWN),
        why: lack(name).unwrap_or_default(),
        is_wanted: args.bounds.contains(name),
    });
    (here, absent.collect())
}

fn own_drivers() -> anyhow::Result<Vec<ProcessDriver>> {
    let exe = std::env::current_exe().context("cannot find this executable")?;
    let runner = |name| ProcessDriver::new(&exe, ["runner", name]);
    Ok(vec![runner("fathom"), runner("native")])
}

/// The results folder: the one named, or the next free one of the day.
fn folder(args: &Args, target: &Target, house: Option<&House>) -> anyhow::Result<PathBuf> {
    if let Some(folder) = &args.results.out {
        return Ok(std::path::absolute(folder)?);
    }
    let results = house.map_or_else(|| PathBuf::from("results"), House::results);
    let date = rfc3339(SystemTime::now());
    let day = date.split('T').next().unwrap_or(&date);
    let base = format!("{day}-{}", target.title);
    let free = |name: &String| !results.join(name).exists();
    let numbered = (2..1000).map(|number| format!("{base}-{number}"));
    let name = std::iter::once(base.clone()).chain(numbered).find(free);
    let name = name.context("no free name for the results; name a folder with --out")?;
    Ok(std::path::absolute(results.join(name))?)
}

fn plan(args: &Args, target: &Target, rows: &[Row], folder: &Path) -> anyhow::Result<Plan> {
    let mut tasks = choose::tasks(
        rows,
        &target.programs,
        &builds(target),
        &target.threads,
        true,
    );
    if target.kind == Kind::Bounds {
        tasks.retain(|task| bounds::suits(&task.cell));
    }
    tasks.retain(startup::suits);
    for task in &mut tasks {
        task.artifact = folder.join(&task.artifact);
        match &mut task.expected {
            Expected::SameAs(_) if args.given.any_output => task.expected = Expected::Anything,
            Expected::SameAs(reference) => *reference = folder.join(&*reference),
            Expected::Answer(_) | Expected::Text(_) | Expected::Near(_) | Expected::Anything => {}
        }
    }
    Ok(Plan {
        config: Config::default(),
        workloads: target.notes.clone(),
        tasks,
        input: input(args)?,
        cycles: target.kind == Kind::Startup,
        cache: Some(folder.join(startup::CACHE)),
    })
}

/// Nothing is begun where something is not built.
fn find_artifacts(plan: &Plan) -> anyhow::Result<()> {
    let missing: Vec<_> = plan
        .tasks
        .iter()
        .filter(|task| !task.artifact.exists())
        .collect();
    let Some(first) = missing.first() else {
        return Ok(());
    };
    let (path, count) = (first.artifact.display(), missing.len());
    let suite = &first.cell.suite;
    let variant = match first.cell.variant {
        // Nobody builds these without being asked.
        asked @ (Variant::WasmOpt | Variant::NativeGcc) => format!(" --variant {asked}"),
        _ => String::new(),
    };
    bail!(
        "{path} is not there ({count} cells need what is missing): build it with \
         `python3 workloads/build.py --suite {suite}{variant}`, with --size for other sizes than \
         medium"
    )
}

fn input(args: &Args) -> anyhow::Result<Input> {
    let mut env = Vec::new();
    for pair in &args.given.env {
        let (key, value) = pair
            .split_once('=')
            .with_context(|| format!("--env {pair}: K=V"))?;
        env.push((key.to_owned(), value.to_owned()));
    }
    let mut dirs = Vec::new();
    for dir in &args.given.dirs {
        let (host, guest) = dir.split_once("::").unwrap_or((dir, dir));
        let host = fs::canonicalize(host).with_context(|| format!("--dir {host}"))?;
        dirs.push((host, guest.to_owned()));
    }
    let stdin = match &args.given.stdin {
        Some(path) => Some(fs::canonicalize(path).with_context(|| path.display().to_string())?),
        None => None,
    };
    Ok(Input { env, dirs, stdin })
}

fn header(
    args: &Args,
    plan: &Plan,
    rows: &[Row],
    absent: &[Absent],
    target: &Target,
    command: &[String],
) -> anyhow::Result<Header> {
    // The last processors first: interrupts tend to be served on the first.
    let mut cpus = pin::allowed_cpus().context("which processors may be used")?;
    cpus.reverse();
    let baseline = rows.iter().find(|row| match target.kind {
        Kind::Bounds => row.driver == OWN_DRIVER && row.sandbox.strategy == Bounds::None.name(),
        Kind::Run
        | Kind::Growth
        | Kind::Compile
        | Kind::Scaling
        | Kind::Startup
        | Kind::Library => row.native == Some(Variant::Native),
    });
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let config = Config {
        compared: target.compared,
        rounds: args.pace.rounds.unwrap_or(ROUNDS_MAX).max(1),
        warmup: args.pace.warmup,
        iterations: args
            .pace
            .iterations
            .or(target.iterations)
            .unwrap_or(match target.kind {
                Kind::Bounds => ITERATIONS_BOUNDS,
                Kind::Run | Kind::Library => ITERATIONS_FEW,
                Kind::Growth | Kind::Compile | Kind::Scaling | Kind::Startup => ITERATIONS,
            })
            .max(1),
        limit_ms: u64::try_from(limit(args, target).as_millis()).unwrap_or(u64::MAX),
        cpus: cpus.iter().map(|&cpu| cpu as u32).collect(),
        seed: args.results.seed.unwrap_or(since_epoch.as_secs()),
        layout_varies: true,
        baseline: Some(baseline.unwrap_or(&rows[0]).sandbox.id()),
        module: target.module.clone(),
        experiment: experiment(args, target),
        any_output: args.given.any_output,
        folder: Some(std::env::current_dir()?),
        budget_ms: pace(args, target)
            .budget
            .map(|budget| u64::try_from(budget.as_millis()).unwrap_or(u64::MAX)),
        absent: absent
            .iter()
            .map(|one| AbsentNote {
                engine: one.engine.clone(),
                why: one.why.clone(),
            })
            .collect(),
        uncounted: uncounted(args, target),
        other: BTreeMap::new(),
    };
    Ok(Header {
        format: FORMAT_VERSION,
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        name: target.title.clone(),
        date: rfc3339(SystemTime::now()),
        command: command.to_vec(),
        host: host::collect(),
        config,
        workloads: plan.workloads.clone(),
        cells: plan.cells(),
    })
}

/// What it is about.
fn experiment(args: &Args, target: &Target) -> Experiment {
    match (args.selection, target.kind) {
        (Some(Selection::Bounds), _) => Experiment::Bounds,
        (Some(Selection::Scaling), _) => Experiment::Scaling,
        (Some(Selection::LeapsAndBounds), _) if args.spec.is_some() => {
            Experiment::LeapsAndBoundsSpec
        }
        (Some(Selection::LeapsAndBounds), _) => Experiment::LeapsAndBounds,
        (Some(Selection::Libsodium), _) => Experiment::Libsodium,
        (Some(Selection::Libsodium2023), _) => Experiment::Libsodium2023,
        (None, Kind::Growth) => Experiment::Growth,
        (None, Kind::Compile) => Experiment::Compile,
        (None, Kind::Startup) => Experiment::Startup,
        (None, _) if target.module.is_some() => Experiment::Module,
        (None, _) => Experiment::Suite,
    }
}

/// Why system calls are not counted, where they belong to what is measured.
fn uncounted(args: &Args, target: &Target) -> Option<String> {
    match target.kind {
        Kind::Scaling if args.spec.is_some() => Some(spec::UNCOUNTED.to_owned()),
        Kind::Scaling => fathom_bench::counts::lack().err(),
        _ => None,
    }
}

/// Time for one cell in one round.
fn limit(args: &Args, target: &Target) -> Duration {
    match (args.pace.time_limit, target.kind) {
        (None, _) if args.spec.is_some() => LIMIT_SPEC,
        (None, Kind::Library) => LIMIT_LIBRARY,
        (limit, _) => limit.unwrap_or(LIMIT),
    }
}

fn pace(args: &Args, target: &Target) -> Pace {
    let default = match target.kind {
        _ if args.pace.quick => BUDGET_QUICK,
        Kind::Run => BUDGET,
        Kind::Growth | Kind::Compile | Kind::Startup => BUDGET_EXPERIMENT,
        Kind::Bounds | Kind::Scaling | Kind::Library => BUDGET_SELECTION,
    };
    let (cell_target, iterations_max) = match target.kind {
        Kind::Growth => (CELL_TARGET_GROWTH, ITERATIONS_MAX_GROWTH),
        Kind::Scaling => (CELL_TARGET_SCALING, ITERATIONS_MAX_SCALING),
        Kind::Run => (CELL_TARGET_FEW, ITERATIONS_MAX),
        Kind::Compile | Kind::Bounds | Kind::Startup | Kind::Library => {
            (CELL_TARGET, ITERATIONS_MAX)
        }
    };
    let is_fixed = args.pace.iterations.or(target.iterations).is_some();
    Pace {
        // Who says how many rounds has said how long.
        budget: args
            .pace
            .budget
            .or(args.pace.rounds.is_none().then_some(default)),
        cell_target: (!is_fixed).then_some(cell_target),
        iterations_max,
        rounds_wanted: fathom_stats::interval::ROUNDS_MIN as u32,
        is_by_cell: target.kind == Kind::Scaling,
    }
}

impl Prepared {
    /// Looks at a user's own module before the campaign is written down: what
    /// is compared depends on what it prints. That it does not run here is
    /// said and recorded later, like any engine's failure.
    pub fn look_first(&mut self, stop: &AtomicBool) -> anyhow::Result<()> {
        if self.header.config.module.is_none() {
            return Ok(());
        }
        fs::create_dir_all(&self.folder)
            .with_context(|| format!("cannot make {}", self.folder.display()))?;
        let Some(position) = self
            .plan
            .tasks
            .iter()
            .position(|task| task.driver == OWN_DRIVER)
        else {
            return Ok(());
        };
        let task = &self.plan.tasks[position];
        let reference = self.folder.join("output.stdout");
        let limit = Duration::from_millis(self.plan.config.limit_ms);
        let driver: &mut dyn Driver = &mut self.drivers[OWN_DRIVER];
        match trial::look(&self.plan, task, driver, &reference, limit, stop) {
            Ok(trial) => self.learn(trial),
            Err(error) => eprintln!("fathom: a first look: {error}"),
        }
        Ok(())
    }

    fn learn(&mut self, trial: Trial) {
        if trial.states_kernel {
            self.header.config.compared = Compared::Kernel;
            self.plan.config.compared = Compared::Kernel;
        }
        if !trial.is_repeatable {
            eprintln!("its output changes from run to run: outputs are not compared");
            self.header.config.any_output = true;
            self.plan.config = self.header.config.clone();
            self.compare_no_output();
        }
    }

    fn compare_no_output(&mut self) {
        for task in &mut self.plan.tasks {
            task.expected = Expected::Anything;
        }
    }

    /// Takes over what an earlier beginning of this campaign decided.
    pub fn adopt(&mut self, campaign: &Campaign) {
        let before = &campaign.header;
        self.header.config = before.config.clone();
        self.plan.config = before.config.clone();
        if before.config.any_output {
            self.compare_no_output();
        }
    }

    /// Says what is about to happen.
    pub fn announce(&self) {
        let cells = self.plan.tasks.len();
        let rows = self.rows.len();
        eprintln!(
            "{}: {rows} rows, {cells} cells a round → {}",
            self.header.name,
            self.folder.display()
        );
        for absent in &self.absent {
            eprintln!("absent: {}: {}", absent.engine, absent.why);
        }
    }

    pub fn boxed_drivers(&self) -> Vec<Box<dyn Driver>> {
        let boxed = |driver: &ProcessDriver| Box::new(driver.clone()) as Box<dyn Driver>;
        self.drivers.iter().map(boxed).collect()
    }
}
