//! All that a process asks for: the WASI calls of any engine by function, and the system
//! calls of all its threads. Beside the campaign's samples, each first trace is kept as a
//! file, for `fathom explain`.
//!
//! What must stay true: a run that times WASI calls reads clocks, and so is not the one
//! whose system calls are counted.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, ensure};
use fathom_bench::choose::{NATIVE, NATIVE_DRIVER, OWN_DRIVER};
use fathom_bench::driver::Driver;
use fathom_record::campaign::{Seen, Threads, Traced};
use fathom_record::protocol::{Job, Request};
use fathom_sys::regular;
use fathom_trace::counts::Counts;
use fathom_trace::kernel::Kernel;
use fathom_trace::rewrite::{self, RewriteError, Stream, counting};
use fathom_trace::trace::{Cost, Function, KIND, Trace, VERSION, Wasi};

use super::{Eyes, Run, seen};

/// Where traces are kept, in the folder of the results.
const FOLDER: &str = "traces";

impl Eyes {
    /// Looks at all of it; each look is at a run of its own.
    pub(super) fn look_at_all<'a>(
        &self,
        traced: &mut Traced,
        run: impl Fn() -> anyhow::Result<Run<'a>>,
    ) -> anyhow::Result<()> {
        let run_of_wasi = run()?;
        let wasi = run_of_wasi.wasi_of_any().unwrap_or_else(|error| {
            let cell = super::super::show::describe(&run_of_wasi.task.cell);
            say!("WASI calls are not traced: {cell}: {error:#}");
            None
        });
        let mut kernel = None;
        if let Some(cost) = self.kernel {
            let run = run()?;
            let began = std::time::Instant::now();
            let (seen, _) = run.kernel()?;
            let wall_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            traced.threads = Some(threads(&seen, cost));
            kernel = Some((seen, wall_ns, cost));
        }
        traced.functions = wasi.as_ref().map(functions);
        match (kernel, traced.repeat) {
            (Some(kernel), 0) => run()?.keep(wasi, kernel),
            _ => Ok(()),
        }
    }
}

/// Calls by function. Where an engine's clock says the times, one reading is in each.
fn functions(wasi: &Wasi) -> BTreeMap<String, Seen> {
    let called = wasi.functions.iter();
    let called = called.filter(|(_, function)| function.calls.count() > 0);
    let seen = |function: &Function| Seen {
        count: function.calls.count(),
        total_ns: function.all_ns().unwrap_or(0),
        each_ns: wasi.cost.map_or(0.0, |cost| cost.least_ns),
    };
    called
        .map(|(name, function)| (name.clone(), seen(function)))
        .collect()
}

fn threads(kernel: &Kernel, cost: Cost) -> Threads {
    let calls = kernel.by_name().into_iter();
    Threads {
        count: kernel.threads.len() as u64,
        calls: calls
            .map(|(name, call)| (name.to_owned(), seen(&call.times, cost)))
            .collect(),
        waits: (kernel.threads.iter())
            .map(|thread| thread.in_calls.count)
            .sum(),
    }
}

impl Run<'_> {
    /// What it calls of WASI; native code calls nothing.
    fn wasi_of_any(&self) -> anyhow::Result<Option<Wasi>> {
        match self.task.driver {
            NATIVE_DRIVER => Ok(None),
            OWN_DRIVER => self.wasi().map(Some),
            driver => self.rewritten(driver).map(Some),
        }
    }

    /// The same of another engine: the module counts and times its calls itself, or counts
    /// them where they cannot be timed.
    fn rewritten(&self, driver: usize) -> anyhow::Result<Wasi> {
        let mut measure = self.measure()?.clone();
        let wasm = regular::read(&measure.module).context("the module")?;
        let timed = counting(&wasm, Stream::Stdout, rewrite::Seen::Times);
        let wasm = match timed {
            Err(RewriteError::Times(_)) => counting(&wasm, Stream::Stdout, rewrite::Seen::Counts),
            timed => timed,
        };
        measure.module = self.scratch.path().join("rewritten.wasm");
        fs::write(&measure.module, wasm?).context("the rewritten module")?;
        let request = Request {
            job: Job::Measure(measure),
            ..self.request.clone()
        };
        let mut driver = self.prepared.drivers[driver].clone();
        let conversation = driver.ask(&request, self.limit(), self.stop)?;
        let last = conversation.iterations.last();
        let last = last.context("the engine reported no run")?;
        let exit = last.exit;
        ensure!(self.prepared.plan.allows(exit), "it ended with {exit}");
        let file = last.stdout.as_ref();
        let stdout = regular::read(file.context("what it wrote was not kept")?)?;
        let counts = Counts::split(&stdout).map(|(_, counts)| counts);
        let counts = counts.context("it wrote no counts at its end")?;
        Ok(Wasi::rewritten(counts))
    }

    /// Writes it where `fathom explain` reads it.
    fn keep(&self, wasi: Option<Wasi>, kernel: (Kernel, u64, Cost)) -> anyhow::Result<()> {
        let (kernel, wall_ns, kernel_cost) = kernel;
        let cell = &self.task.cell;
        let engine = match cell.variant.is_wasm() {
            true => cell.sandbox.engine.as_str(),
            false => NATIVE,
        };
        let trace = Trace {
            fathom: KIND.to_owned(),
            version: VERSION,
            command: vec![self.task.artifact.display().to_string()],
            engine: Some(engine.to_owned()),
            module: Some(self.task.artifact.display().to_string()),
            args: self.task.args.clone(),
            status: 0,
            wall_ns,
            wasi,
            kernel: Some(kernel),
            kernel_cost: Some(kernel_cost),
            missing: Vec::new(),
        };
        let folder = self.prepared.folder.join(FOLDER);
        let strategy = &cell.sandbox.strategy;
        let file = folder.join(format!("{}-{engine}-{strategy}.json", cell.workload));
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&file, serde_json::to_string(&trace)? + "\n"))
            .with_context(|| file.display().to_string())
    }
}
