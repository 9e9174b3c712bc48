//! Start-up: a line per module, number of instances and engine.

use fathom_record::{Campaign, Cell, Names, Phase};
use fathom_stats::Medians;

use super::{Context, PageOutput, engine};
use crate::sheet::{Column, Entry, Sheet, Unit};

const COLUMNS: [Column; 11] = [
    ("program", "program", Unit::Text),
    ("threads", "threads", Unit::Whole),
    ("engine", "engine", Unit::Text),
    ("to first instruction", "first_instruction_ns", Unit::Time),
    ("compile", "compile_ns", Unit::Time),
    ("MB/s", "compiled_mb_per_s", Unit::Mean),
    ("first instance", "first_instance_ns", Unit::Time),
    ("warm instance", "warm_instance_ns", Unit::Time),
    ("an instance", "instance_ns", Unit::Time),
    ("instances/s", "instances_per_s", Unit::Whole),
    ("x 1 thread", "over_one_thread", Unit::Ratio),
];

/// What the experiment adds: its table, behind the general report.
///
/// The first instruction is behind loading, compiling (or finding in the cache) and
/// instantiating; the start of the process is not in it. The first instance is the first
/// of its process and a warm one any later one, both as far as they are made; `an
/// instance` is one of a thousand, run and dropped too. `x 1 thread` is how many times
/// as many instances a second several threads make as one.
pub fn output(context: &Context<'_>) -> PageOutput {
    let (all, names) = (context.medians(), context.names());
    let sheet = Sheet {
        title: "Start-up: medians".to_owned(),
        columns: &COLUMNS,
        lines: all
            .iter()
            .map(|one| line(context.campaign, &names, one, &all))
            .collect(),
    };
    PageOutput::behind("startup", &sheet, context)
}

fn line(campaign: &Campaign, names: &Names, one: &Medians<'_>, all: &[Medians<'_>]) -> Vec<Entry> {
    let compile = one.once(Phase::Compile);
    let start = [
        one.once(Phase::Load),
        compile,
        one.first(Phase::Instantiate)
            .or_else(|| one.phase(Phase::Instantiate)),
    ];
    let to_first: Option<f64> = start.into_iter().sum();
    let bytes = bytes(campaign, one.cell).map(|bytes| bytes as f64);
    let speed = bytes.zip(compile).map(|(bytes, ns)| bytes * 1e3 / ns);
    let rate = one.cycled_per_second();
    let threads = f64::from(one.cell.threads);
    let alone = Cell {
        threads: 1,
        ..one.cell.clone()
    };
    let alone = all.iter().find(|other| *other.cell == alone);
    let gain = rate
        .zip(alone.and_then(Medians::cycled_per_second))
        .filter(|_| one.cell.threads > 1)
        .map(|(rate, alone)| rate / alone);
    vec![
        one.cell.workload.as_str().into(),
        one.cell.threads.into(),
        engine(names, one.cell).into(),
        to_first.into(),
        compile.into(),
        speed.into(),
        one.first(Phase::Instantiate).into(),
        one.warm(Phase::Instantiate).into(),
        rate.map(|rate| threads * 1e9 / rate).into(),
        rate.into(),
        gain.into(),
    ]
}

/// The length of a cell's module.
fn bytes(campaign: &Campaign, cell: &Cell) -> Option<u64> {
    let mut notes = campaign.header.workloads.iter();
    let note = notes.find(|note| note.suite == cell.suite && note.name == cell.workload);
    note?.bytes
}
