//! The machine: its processors, its kernel, and what each strategy needs of
//! them.

use fathom_bench::instructions::Counter;
use fathom_bench::steadiness::{self, Steadiness};
use fathom_engine::{Bounds, Guarantee};
use fathom_sys::{caps, perf, pin, proc};
use fathom_trace::kernel::Tracer;

use super::Finding;

const MACHINE: &str = "machine";
const STRATEGIES: &str = "strategies";
const QUIET: &str = "quietness";
const CAUSES: &str = "causes (beyond time)";

/// Mappings below which a thousand live guarded memories do not fit.
const MAPS_COMFORTABLE: u64 = 65_530;
/// Load average per processor above which something else is running.
const LOAD_QUIET: f64 = 0.5;

pub(super) fn findings() -> Vec<Finding> {
    let mut all = vec![
        Finding::tried(
            MACHINE,
            "processor",
            proc::cpu_model(),
            "harmless: reports say unknown",
        ),
        cores(),
        Finding::tried(
            MACHINE,
            "kernel",
            proc::kernel_release(),
            "fathom needs Linux",
        ),
        memory(),
        address_space(),
        mappings(),
        overcommit(),
    ];
    all.extend(Bounds::ALL.map(strategy));
    all.extend([load(), steadiness(), governor(), siblings(), huge_pages()]);
    all.extend([counters(), counted()]);
    all.push(tracing());
    all
}

fn cores() -> Finding {
    match pin::allowed_cpus() {
        Ok(cpus) if cpus.len() > 1 => Finding::yes(
            MACHINE,
            "cores",
            format!("{} usable, threads can be pinned to each", cpus.len()),
        ),
        Ok(cpus) => Finding::partly(
            MACHINE,
            "cores",
            format!("{} usable", cpus.len()),
            "cells with several threads are left out; allow more processors (taskset, cpuset)",
        ),
        Err(error) => Finding::no(
            MACHINE,
            "cores",
            error.to_string(),
            "threads cannot be pinned: expect noise",
        ),
    }
}

fn memory() -> Finding {
    match proc::memory_total_bytes() {
        Ok(bytes) => Finding::yes(MACHINE, "memory", format!("{:.1} GiB", gib(bytes))),
        Err(why) => Finding::partly(MACHINE, "memory", why, "harmless: reports say unknown"),
    }
}

fn gib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

fn address_space() -> Finding {
    match caps::reservable_bytes() {
        Ok(bytes) => Finding::yes(
            MACHINE,
            "address space",
            format!("2^{} bytes can be reserved at once", bytes.ilog2()),
        ),
        Err(why) => Finding::no(
            MACHINE,
            "address space",
            why,
            "lift the limit (ulimit -v unlimited): guard, uffd, clamp and none reserve 8 GiB a memory",
        ),
    }
}

fn mappings() -> Finding {
    let name = "mappings";
    match caps::max_map_count() {
        Ok(count) if count >= MAPS_COMFORTABLE => {
            Finding::yes(MACHINE, name, format!("{count} a process"))
        }
        Ok(count) => Finding::partly(
            MACHINE,
            name,
            format!("{count} a process"),
            "many live memories will not fit: sysctl vm.max_map_count=65530",
        ),
        Err(why) => Finding::partly(
            MACHINE,
            name,
            why,
            "harmless unless many memories live at once",
        ),
    }
}

fn overcommit() -> Finding {
    let name = "overcommit";
    match caps::overcommit() {
        Ok(2) => Finding::partly(
            MACHINE,
            name,
            "strict: every writable reservation counts",
            "none and uffd map large writable ranges: sysctl vm.overcommit_memory=1",
        ),
        Ok(mode) => Finding::yes(
            MACHINE,
            name,
            if mode == 1 { "always" } else { "heuristic" },
        ),
        Err(why) => Finding::partly(MACHINE, name, why, "harmless unless reservations fail"),
    }
}

fn strategy(bounds: Bounds) -> Finding {
    let name = bounds.name();
    if let Some(missing) = bounds.missing() {
        return Finding::no(
            STRATEGIES,
            name,
            missing,
            "or another strategy; auto never takes it",
        );
    }
    match bounds {
        Bounds::Uffd => {
            let privilege = proc::userfaultfd().unwrap_or_else(|why| why);
            Finding::yes(STRATEGIES, name, format!("exact; userfaultfd {privilege}"))
        }
        Bounds::None => Finding::yes(
            STRATEGIES,
            name,
            "unchecked: only with --unsafe-no-bounds, a baseline, not a sandbox",
        ),
        _ => {
            debug_assert_ne!(bounds.guarantee(), Guarantee::Unchecked);
            Finding::yes(
                STRATEGIES,
                name,
                format!("{}; {}", bounds.guarantee(), bounds.help()),
            )
        }
    }
}

fn load() -> Finding {
    let name = "load";
    let cpus = pin::allowed_cpus().map_or(1, |cpus| cpus.len().max(1));
    match proc::load_average() {
        Ok([one, ..]) if one <= LOAD_QUIET * cpus as f64 => {
            Finding::yes(QUIET, name, format!("{one:.2} over the last minute"))
        }
        Ok([one, ..]) => Finding::partly(
            QUIET,
            name,
            format!("{one:.2} over the last minute: something else is running"),
            "wait or stop it; the noise floor of a campaign shows what it did",
        ),
        Err(why) => Finding::partly(QUIET, name, why, "harmless: reports say unknown"),
    }
}

fn steadiness() -> Finding {
    let name = "steadiness";
    let seen = Steadiness::measure(steadiness::PERIOD);
    let laps = format!(
        "laps of a loop take {:.2} times the fastest (median)",
        seen.factor()
    );
    match seen.is_disturbed() {
        false => Finding::yes(QUIET, name, laps),
        true => Finding::partly(
            QUIET,
            name,
            format!("{laps}: something slows this machine"),
            "if nothing runs here, its host is busy: measure later or elsewhere, or longer (--budget)",
        ),
    }
}

fn governor() -> Finding {
    let name = "frequency";
    match proc::governor() {
        Ok(governor) if governor == "performance" => Finding::yes(QUIET, name, governor),
        Ok(governor) => Finding::partly(
            QUIET,
            name,
            format!("governor {governor}"),
            "cpupower frequency-set -g performance",
        ),
        Err(why) => Finding::partly(
            QUIET,
            name,
            why,
            "nothing to do here; compare only within one campaign",
        ),
    }
}

fn siblings() -> Finding {
    let name = "hyper-threading";
    match proc::simultaneous_multithreading() {
        Ok(state) if state == "on" => Finding::partly(
            QUIET,
            name,
            "on: neighbours share a core",
            "echo off > /sys/devices/system/cpu/smt/control, or pin to one thread of each core",
        ),
        Ok(state) => Finding::yes(QUIET, name, state),
        Err(why) => Finding::partly(QUIET, name, why, "unknown: trust the noise floor"),
    }
}

fn huge_pages() -> Finding {
    let name = "huge pages";
    match proc::transparent_huge_pages() {
        Ok(mode) => Finding::yes(
            QUIET,
            name,
            format!("transparent: {mode}; kept with every campaign"),
        ),
        Err(why) => Finding::partly(QUIET, name, why, "harmless: reports say unknown"),
    }
}

fn counters() -> Finding {
    Finding::tried(
        CAUSES,
        "cycle counters",
        perf::hardware_counters().map(|()| "cycles and instructions are counted".to_owned()),
        "cycles and instructions are left out of reports; needs bare metal or a virtual PMU",
    )
}

/// What counts instructions for `--metric instructions`.
fn counted() -> Finding {
    Finding::tried(
        CAUSES,
        "instructions",
        Counter::find().map(|counter| format!("counted by {}", counter.how())),
        "nothing measured by --metric instructions",
    )
}

fn tracing() -> Finding {
    let name = "tracing";
    let always = "WASI calls, by rewriting on any engine and in ours";
    let can_probe = |tracer: Tracer| {
        tracer
            .can_probe()
            .map(|()| "at their first byte only".to_owned())
    };
    match Tracer::attach() {
        Ok(tracer) => Finding::yes(
            CAUSES,
            name,
            format!(
                "system calls, faults and waiting of any program (eBPF); functions of engines by \
                 symbols: {}; {always}",
                can_probe(tracer).unwrap_or_else(|error| error.to_string()),
            ),
        ),
        Err(error) => Finding::partly(
            CAUSES,
            name,
            format!("{always}; no system calls: {error}"),
            error.remedy(),
        ),
    }
}
