//! Campaigns made of formulas, for tests of pages: five rounds whose noise is of the
//! fourth decimal.

use std::collections::BTreeMap;

use fathom_record::campaign::{Config, FORMAT_VERSION, Process, Sample, WorkloadNote};
use fathom_record::{Campaign, Cell, Experiment, Header, Record, Sandbox, Variant};
use fathom_stats::Summary;

use crate::pages::{self, Context, PageOutput};
use crate::view;

/// What the page of an experiment says of a campaign.
pub fn output(campaign: &Campaign, experiment: Experiment) -> PageOutput {
    let summary = Summary::from_campaign(campaign);
    let page = pages::of(experiment);
    let figure = page.figure.unwrap_or(summary.compared);
    let output = (page.output)(&Context {
        campaign,
        summary: &summary,
        view: &view::from_campaign(campaign, &summary, figure, "samples.jsonl", "results"),
        against: &[],
    });
    output.unwrap()
}

/// One of its files.
pub fn file(campaign: &Campaign, experiment: Experiment, name: &str) -> String {
    let PageOutput { files, paper, .. } = output(campaign, experiment);
    let mut files = files.into_iter().chain(paper);
    let found = files.find(|(have, _)| *have == name);
    found.unwrap_or_else(|| panic!("no {name}")).1
}

/// A cell of size `mini` and one instance.
pub fn cell(
    engine: &str,
    strategy: &str,
    variant: Variant,
    (suite, workload): (&str, &str),
) -> Cell {
    Cell {
        sandbox: Sandbox::new(engine, strategy),
        suite: suite.to_owned(),
        workload: workload.to_owned(),
        variant,
        size: "mini".to_owned(),
        threads: 1,
        control_of: None,
    }
}

/// A campaign whose cells take these times in seconds.
pub fn campaign(
    name: &str,
    workloads: Vec<WorkloadNote>,
    cells: &[Cell],
    truth: impl Fn(&Cell) -> f64,
) -> Campaign {
    let mut campaign = Campaign::new(Header {
        format: FORMAT_VERSION,
        tool: "test".to_owned(),
        name: name.to_owned(),
        date: "2026-11-20T12:00:00Z".to_owned(),
        command: Vec::new(),
        request: None,
        host: fathom_record::Host::default(),
        config: Config::default(),
        workloads,
        cells: cells.to_vec(),
    });
    for round in 0..5 {
        for (number, cell) in cells.iter().enumerate() {
            let off = f64::from((number as u32 * 7 + round * 13) % 5) * 1e-4;
            let id = cell.id();
            campaign.push(Record::Sample(Sample {
                cell: id.clone(),
                round,
                thread: 0,
                index: 0,
                kernel_ns: Some((1e9 * truth(cell) * (1.0 + off)) as u64),
                phases: BTreeMap::new(),
            }));
            campaign.push(Record::Process(Process::new(id, round)));
        }
    }
    campaign
}
