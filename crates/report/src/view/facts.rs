//! The host, the configuration, and what was asked for beside what was found.

use std::fmt::Display;

use fathom_record::campaign::{ANEW, Config, Header};
use fathom_record::{Campaign, Host, Names, Variant};

use super::commands::shell;
use super::{Fact, InForceRow};
use crate::figures;

/// The host in one line: `2 × AMD EPYC 9R14, Linux 6.18, 8.0 GB`.
pub fn host_line(host: &Host) -> String {
    let cpus = match (host.cpus_logical.known(), host.cpu_model.known()) {
        (Some(cpus), Some(model)) => format!("{cpus} × {model}"),
        (None, Some(model)) => model.clone(),
        (Some(cpus), None) => figures::plural(*cpus as usize, "CPU"),
        (None, None) => "unknown CPU".to_owned(),
    };
    let kernel = host.kernel.known().cloned();
    let memory = host
        .memory_bytes
        .known()
        .map(|bytes| figures::bytes(*bytes as f64));
    let load = host
        .load_average
        .known()
        .map(|[one, ..]| format!("load {one:.2} at the start"));
    [Some(cpus), kernel, memory, load]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" · ")
}

/// What the hypervisor took of the processors' time while children ran.
pub fn stolen(campaign: &Campaign) -> Option<Fact> {
    let spent = campaign
        .processes
        .iter()
        .filter_map(|process| process.cpu_host);
    let (mut stolen, mut all) = (0, 0);
    for time in spent {
        stolen += time.steal_ms;
        all += time.steal_ms + time.user_ms + time.system_ms + time.idle_ms;
        all += time.hardirq_ms + time.softirq_ms;
    }
    let share = figures::percent(stolen as f64 / all as f64);
    (all > 0).then(|| known("stolen by the hypervisor", format!("{share} of the time")))
}

/// The host, fact by fact.
pub fn host(host: &Host) -> Vec<Fact> {
    let mut facts = vec![
        fact("CPU", &host.cpu_model),
        fact("which", &host.cpu_kind),
        fact("flags", &host.cpu_flags),
        fact("architecture", &host.arch),
        fact("logical CPUs", &host.cpus_logical),
        fact("physical cores", &host.cores_physical),
        fact("sockets", &host.sockets),
        fact("kernel", &host.kernel),
        fact("system", &host.os),
        shown("memory", &host.memory_bytes, |bytes| {
            figures::bytes(*bytes as f64)
        }),
        shown("page", &host.page_bytes, |bytes| {
            format!("{} bytes", figures::count(*bytes as f64))
        }),
        fact("hypervisor", &host.hypervisor),
        fact("microcode", &host.microcode),
        fact("governor", &host.governor),
        fact("turbo", &host.turbo),
        fact("clock source", &host.clock_source),
        shown("mappings at most", &host.map_count_max, |count| {
            figures::count(*count as f64)
        }),
        shown(
            "load average",
            &host.load_average,
            |[one, five, fifteen]| format!("{one:.2}, {five:.2}, {fifteen:.2} (1, 5, 15 min)"),
        ),
    ];
    facts.extend(
        host.features
            .iter()
            .map(|(name, feature)| fact(feature_name(name), feature)),
    );
    facts.push(shown("mitigations", &host.mitigations, |mitigations| {
        mitigations
            .iter()
            .filter(|(_, state)| *state != "Not affected")
            .map(|(name, state)| format!("{name}: {state}"))
            .collect::<Vec<_>>()
            .join("; ")
    }));
    facts.push(known("fingerprint", host.fingerprint()));
    facts
}

fn feature_name(name: &str) -> &str {
    match name {
        "pku" => "protection keys",
        "pmu" => "hardware counters",
        "bpf" => "eBPF",
        "thp" => "huge pages",
        other => other,
    }
}

/// How a campaign measured.
pub fn config(header: &Header) -> Vec<Fact> {
    let config = &header.config;
    let mut facts = vec![
        known("compared", config.compared.help()),
        known("rounds", format!("{} at most", config.rounds)),
        known(
            "iterations",
            format!(
                "{} counted or more after {} to warm up, each round and worker, in a fresh process",
                config.iterations, config.warmup
            ),
        ),
        known(
            "time limit",
            match config.limit_ms {
                0 => "none".to_owned(),
                ms => figures::time(ms as f64 * 1e6),
            },
        ),
        known(
            "pinned to CPUs",
            if config.cpus.is_empty() {
                "not pinned".to_owned()
            } else {
                config
                    .cpus
                    .iter()
                    .map(u32::to_string)
                    .collect::<Vec<_>>()
                    .join(", ")
            },
        ),
        known("code layout", layout(config)),
        known("seed", config.seed),
    ];
    if let Some(baseline) = &config.baseline {
        facts.push(known("baseline", baseline));
    }
    if let Some(module) = &config.module {
        facts.push(known("module", module.path.display()));
        facts.push(known("module's size", figures::bytes(module.bytes as f64)));
        facts.push(known("module's digest", &module.digest));
        facts.push(known("module's arguments", shell(&module.args)));
    }
    if let Some(folder) = &config.folder {
        facts.push(known("folder", folder.display()));
    }
    if let Some(ms) = config.budget_ms {
        facts.push(known("budget", format!("{} s", ms as f64 / 1000.0)));
    }
    if config.any_output {
        facts.push(known("output", "not compared"));
    }
    if let Some(counter) = &config.counter {
        facts.push(known("instructions", format!("counted by {counter}")));
    }
    if let Some(why) = &config.uncounted {
        facts.push(known("system calls", why));
    }
    facts.extend(config.other.iter().map(|(name, value)| known(name, value)));
    facts
}

/// How the layout of code varies, by build where that is known.
fn layout(config: &Config) -> String {
    if config.layouts.is_empty() {
        let of_all = match config.layout_varies {
            true => "varies from round to round",
            false => "fixed",
        };
        return of_all.to_owned();
    }
    let of = |(build, count): (&Variant, &u32)| match *count {
        ANEW => format!("{build}: another order of functions in each round"),
        1 => format!("{build}: fixed"),
        count => format!("{build}: {count} links in turn"),
    };
    config.layouts.iter().map(of).collect::<Vec<_>>().join("; ")
}

/// One line for each sandbox and thing found in force, in the campaign's order.
pub fn in_force(campaign: &Campaign) -> Vec<InForceRow> {
    let mut rows: Vec<InForceRow> = Vec::new();
    for record in &campaign.in_force {
        let Some(cell) = campaign.cell(&record.cell) else {
            continue;
        };
        let sandbox = &cell.sandbox;
        let (_, asked) = Names::of([(sandbox, None)]).engine_and_detail(sandbox, None);
        let row = InForceRow {
            sandbox: sandbox.id(),
            asked,
            version: record.hello.version.clone(),
            backend: record.hello.backend.clone(),
            tier: record.hello.tier.clone(),
            checks: record.hello.checks.to_string(),
            evidence: record.hello.evidence.clone(),
            runner: shell(&record.runner),
        };
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows
}

fn known(name: impl Display, value: impl Display) -> Fact {
    Fact {
        name: name.to_string(),
        value: value.to_string(),
        is_known: true,
    }
}

fn fact<T: Display>(name: &str, fact: &fathom_record::Fact<T>) -> Fact {
    shown(name, fact, T::to_string)
}

fn shown<T>(name: &str, fact: &fathom_record::Fact<T>, show: impl Fn(&T) -> String) -> Fact {
    match fact {
        fathom_record::Fact::Known(value) => known(name, show(value)),
        fathom_record::Fact::Absent { absent } => Fact {
            name: name.to_owned(),
            value: match absent.as_str() {
                "not recorded" => "unknown".to_owned(),
                why => format!("absent: {why}"),
            },
            is_known: false,
        },
    }
}
