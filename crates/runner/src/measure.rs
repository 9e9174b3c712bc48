//! Measure mode: what happens once a process, around the measured threads.

use std::{collections::BTreeMap, fs};

use fathom_record::{
    FailureKind, Metric, Phase,
    protocol::{Event, Measure},
};
use fathom_sys::usage::{MemoryUse, Usage, process_cpu_ns};

use crate::{
    Emitter, Refusal,
    cycle::{self, CycleError, Laps, Program, timed_by},
};

/// Reads the module that a request names, compiles it and runs it as the
/// request wants, with an event for each phase and iteration and the process's
/// totals at the end. The runner has said what is in force before.
///
/// Loading and compiling are charged what all threads of the process used,
/// since compilers use threads of their own. `told` is what the engine can tell of the
/// process besides: how much machine code there is, say.
///
/// # Errors
/// Whatever keeps it from being measured.
pub fn measure_module<P: Program<Error = Refusal>>(
    measure: &Measure,
    emitter: &Emitter,
    compile: impl FnOnce(&[u8]) -> Result<P, Refusal>,
    told: impl FnOnce(&P) -> BTreeMap<Metric, u64>,
) -> Result<(), Refusal> {
    let phase = |phase, span| emitter.send(&Event::Phase { phase, span });
    let (bytes, span) = timed_by(process_cpu_ns, || fs::read(&measure.module));
    let bytes = bytes.map_err(|error| Refusal::file(&measure.module, &error))?;
    phase(Phase::Load, span)?;
    let (program, span) = timed_by(process_cpu_ns, || compile(&bytes));
    let program = program?;
    phase(Phase::Compile, span)?;
    // What runs is measured as an embedder would have it, who needs them no longer.
    drop(bytes);
    measure_program(&program, measure, emitter, |refusal| refusal)?;
    let used = Usage::of_process()
        .map_err(|error| Refusal::new(FailureKind::Internal, error.to_string()))?;
    let mut metrics = metrics_of(&used);
    let memory = MemoryUse::of_process().unwrap_or_default();
    let more = [
        (Metric::RssPeakBytes, memory.rss_peak_bytes),
        (Metric::VirtualBytes, memory.virtual_peak_bytes),
    ];
    metrics.extend(more.into_iter().filter_map(|(m, v)| Some((m, v?))));
    metrics.append(&mut told(&program));
    emitter.send(&Event::Process { metrics })
}

/// Runs a program as a request wants it, sending an event per iteration.
///
/// # Errors
/// The first failure of any thread, explained by `explain`.
pub fn measure_program<P: Program>(
    program: &P,
    measure: &Measure,
    emitter: &Emitter,
    explain: impl Fn(P::Error) -> Refusal,
) -> Result<(), Refusal> {
    if measure.threads == 0 || measure.iterations == 0 {
        let message = "threads and iterations must be 1 or more";
        return Err(Refusal::new(FailureKind::Protocol, message));
    }
    let laps = Laps {
        threads: measure.threads,
        cpus: measure.cpus.clone(),
        warmup: measure.warmup,
        iterations: measure.iterations,
        stdin: measure.stdin.clone(),
        scratch: measure.scratch.clone(),
        cycle: measure.cycle,
    };
    let report = |iteration| {
        // A parent which no longer reads has given up on us; `done` will fail.
        let _ = emitter.send(&Event::Iteration(iteration));
    };
    cycle::cycle(program, &laps, report).map_err(|error| match error {
        CycleError::Pin { cpu, source } => Refusal::new(
            FailureKind::Unsupported,
            format!("cannot pin a thread to CPU {cpu}: {source}"),
        ),
        CycleError::File(file) => Refusal::file(&file.path, &file.source),
        CycleError::Program(error) => explain(error),
    })
}

/// What a program sees as its arguments, its own name first.
pub fn arguments_of(measure: &Measure) -> Vec<String> {
    let name = measure.module.file_name().unwrap_or_default();
    let mut arguments = vec![name.to_string_lossy().into_owned()];
    arguments.extend(measure.args.iter().cloned());
    arguments
}

/// The part of a process's totals that the kernel counts.
pub fn metrics_of(usage: &Usage) -> BTreeMap<Metric, u64> {
    BTreeMap::from([
        (Metric::FaultsMinor, usage.faults_minor),
        (Metric::FaultsMajor, usage.faults_major),
        (Metric::CtxVoluntary, usage.ctx_voluntary),
        (Metric::CtxInvoluntary, usage.ctx_involuntary),
    ])
}
