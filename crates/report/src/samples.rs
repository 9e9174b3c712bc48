//! Every sample of a campaign as comma-separated values (RFC 4180) or as a Parquet file: one row for
//! each counted iteration, nothing rounded and nothing left out, for whoever estimates by other
//! means.

use fathom_record::campaign::Sample;
use fathom_record::{Campaign, Cell, Phase};

use crate::csv::line;
use crate::parquet::{self, Column};

/// What is said of a phase: two columns.
const PHASES: [(Phase, &str, &str); 3] = [
    (
        Phase::Instantiate,
        "instantiate_wall_ns",
        "instantiate_cpu_ns",
    ),
    (Phase::Run, "run_wall_ns", "run_cpu_ns"),
    (Phase::Teardown, "teardown_wall_ns", "teardown_cpu_ns"),
];

/// The columns, each with what it holds.
pub const COLUMNS: [(&str, &str); 21] = [
    ("campaign", "the campaign's name"),
    ("cell", "the cell's id, as in the report"),
    ("engine", "the engine's name"),
    ("strategy", "how it checks bounds"),
    ("opt", "how hard the code generator tries"),
    ("backend", "the code generator, where one was chosen"),
    ("suite", "the workload's suite"),
    ("workload", "the program"),
    ("variant", "what it was compiled to"),
    ("size", "the problem size"),
    ("threads", "instances that ran at once"),
    ("round", "the round, from 0: each is a process of its own"),
    ("thread", "which of the instances at once, from 0"),
    ("index", "the iteration within the process, from 0"),
    (
        "kernel_ns",
        "what the program said its kernel took; empty where it says nothing",
    ),
    ("instantiate_wall_ns", "making the instance, by the clock"),
    ("instantiate_cpu_ns", "the same, processor time"),
    ("run_wall_ns", "running it, by the clock"),
    ("run_cpu_ns", "the same, processor time"),
    ("teardown_wall_ns", "letting it go, by the clock"),
    ("teardown_cpu_ns", "the same, processor time"),
];

/// The first of them are text, all others numbers.
const TEXTS: usize = 10;

/// The samples of whole rounds, in the order of the file.
fn rows(campaign: &Campaign) -> impl Iterator<Item = Vec<String>> {
    let samples = campaign.samples.iter();
    let whole = samples.filter(|sample| campaign.is_sealed(&sample.cell, sample.round));
    whole.filter_map(|sample| {
        let cell = campaign.cell(&sample.cell)?;
        Some(fields(&campaign.header.name, cell, sample))
    })
}

/// The samples as a Parquet file.
pub fn parquet(campaign: &Campaign) -> Vec<u8> {
    let mut texts: [Vec<String>; TEXTS] = Default::default();
    let mut numbers = [const { Vec::new() }; COLUMNS.len() - TEXTS];
    for mut fields in rows(campaign) {
        let behind = fields.split_off(TEXTS);
        for (column, field) in numbers.iter_mut().zip(behind) {
            column.push(field.parse().ok());
        }
        for (column, field) in texts.iter_mut().zip(fields) {
            column.push(field);
        }
    }
    let texts = texts.into_iter().map(Column::Text);
    let columns = texts.chain(numbers.into_iter().map(Column::Numbers));
    let names = COLUMNS.iter().map(|(name, _)| *name);
    parquet::file(&names.zip(columns).collect::<Vec<_>>())
}

/// The samples as comma-separated values.
pub fn csv(campaign: &Campaign) -> String {
    let heads = COLUMNS.map(|(name, _)| name);
    line(heads) + &rows(campaign).map(line).collect::<String>()
}

fn fields(campaign: &str, cell: &Cell, sample: &Sample) -> Vec<String> {
    let sandbox = &cell.sandbox;
    let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let mut fields = vec![
        campaign.to_owned(),
        sample.cell.to_string(),
        sandbox.engine.clone(),
        sandbox.strategy.clone(),
        sandbox.settings.opt().to_string(),
        sandbox.settings.backend().unwrap_or_default().to_owned(),
        cell.suite.clone(),
        cell.workload.clone(),
        cell.variant.to_string(),
        cell.size.clone(),
        cell.threads.to_string(),
        sample.round.to_string(),
        sample.thread.to_string(),
        sample.index.to_string(),
        number(sample.kernel_ns),
    ];
    for (phase, ..) in PHASES {
        let span = sample.phases.get(&phase);
        fields.push(number(span.map(|span| span.wall_ns)));
        fields.push(number(span.and_then(|span| span.cpu_ns)));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_columns_name_is_the_phases() {
        let phases = PHASES.iter().flat_map(|(_, wall, cpu)| [*wall, *cpu]);
        let columns = COLUMNS[COLUMNS.len() - 2 * PHASES.len()..].iter();
        assert!(phases.eq(columns.map(|(name, _)| *name)));
    }
}
