//! From a campaign to what is shown of it.

use fathom_record::campaign::{AbsentNote, Failure, Tail};
use fathom_record::{Campaign, CellId, Names};
use fathom_stats::{Figure, NoTime, Summary};

use super::{FailureRow, Interval, ProbeRow, View, checks, commands, facts, group, sentences};

use crate::figures;

/// What is shown of a campaign, by a figure. `samples_file` is where its raw samples are,
/// and `folder` what a command that goes on with it would be given.
pub fn from_campaign(
    campaign: &Campaign,
    summary: &Summary,
    figure: Figure,
    samples_file: &str,
    folder: &str,
) -> View {
    let header = &campaign.header;
    let groups = group::all(campaign, summary, figure);
    View {
        title: header.name.clone(),
        date: header.date.clone(),
        tool: header.tool.clone(),
        command: commands::command(header),
        resume: commands::shell(&["fathom", "bench", "--resume", folder]),
        module_digest: (campaign.header.config.module.as_ref()).map(|own| own.digest.clone()),
        samples_file: samples_file.to_owned(),
        home: None,
        subject: sentences::subject(campaign, summary, &groups),
        host_line: facts::host_line(&header.host),
        headline: groups.first().map_or_else(
            || "This campaign has no cells.".to_owned(),
            |group| group.headline.clone(),
        ),
        checks: checks::lines(header, &groups),
        host: facts::host(&header.host)
            .into_iter()
            .chain(facts::stolen(campaign))
            .collect(),
        config: facts::config(header),
        in_force: facts::in_force(campaign),
        controls: summary
            .noise
            .controls
            .iter()
            .map(|control| {
                let ratio = control.ratio.as_ref().ok().map(Interval::from);
                (control.original.clone(), ratio)
            })
            .collect(),
        probes: probes(campaign),
        failures: failures(campaign, summary),
        notes: notes(campaign),
        groups,
    }
}

/// The last record of each sandbox, unsound ones last.
fn probes(campaign: &Campaign) -> Vec<ProbeRow> {
    let mut rows: Vec<ProbeRow> = Vec::new();
    for probe in &campaign.probes {
        let row = ProbeRow {
            sandbox: probe.sandbox.clone(),
            claimed: probe.claimed,
            observed: probe.observed,
            accesses: probe.accesses,
            violations: probe.violations,
            needless: probe.needless,
            without: probe.without.clone(),
            part_percent: probe.part_percent,
            examples: probe.examples.clone(),
            is_unsound: probe.is_unsound(),
            is_overcautious: probe.is_overcautious(),
            day: probe
                .date
                .as_deref()
                .map(|date| date.split('T').next().unwrap_or(date).to_owned()),
        };
        match rows.iter_mut().find(|known| known.sandbox == row.sandbox) {
            Some(known) if known.is_unsound => {}
            Some(known) => *known = row,
            None => rows.push(row),
        }
    }
    rows.sort_by_key(|row| row.is_unsound);
    rows
}

/// Failures of the campaign, then of cells, those that an engine has for one reason
/// together; cells without a time that have no failure of their own come last.
fn failures(campaign: &Campaign, summary: &Summary) -> Vec<FailureRow> {
    let engine = |failure: &Failure| {
        let cell = failure.cell.as_ref()?;
        Some(campaign.cell(cell)?.sandbox.engine.clone())
    };
    let mut alike: Vec<(&Failure, usize)> = Vec::new();
    for failure in campaign.failures.iter().filter(|one| !one.is_lack()) {
        let is_alike = |(one, _): &&mut (&Failure, usize)| {
            let (own, other) = (engine(one), engine(failure));
            own.is_some()
                && own == other
                && (one.round, one.kind) == (failure.round, failure.kind)
                && one.message == failure.message
        };
        match alike.iter_mut().find(is_alike) {
            Some((_, more)) => *more += 1,
            None => alike.push((failure, 0)),
        }
    }
    let mut rows: Vec<FailureRow> = Vec::new();
    for (failure, more) in alike {
        rows.push(FailureRow {
            what: match (&failure.cell, more) {
                (Some(cell), 0) => cell.to_string(),
                (Some(cell), more) => format!(
                    "{cell} and {} of {}",
                    figures::plural(more, "more cell"),
                    engine(failure).unwrap_or_default()
                ),
                (None, _) => "the campaign".to_owned(),
            },
            rounds: match failure.round {
                Some(round) => format!("round {round}"),
                None => "all rounds".to_owned(),
            },
            kind: failure.kind.name().replace('_', " "),
            message: failure.message.clone(),
        });
    }
    rows.extend(lacks(campaign));
    rows.extend(silent_failures(summary));
    let absent = &campaign.header.config.absent;
    rows.extend(not_installed(absent));
    for absent in absent.iter().filter(|one| one.install.is_none()) {
        rows.push(FailureRow {
            what: absent.engine.clone(),
            rounds: "all rounds".to_owned(),
            kind: "not here".to_owned(),
            message: absent.why.clone(),
        });
    }
    rows.sort_by_key(|row| row.what != "the campaign");
    rows
}

/// What engines lack that is used, those that lack the same in one row.
fn lacks(campaign: &Campaign) -> Vec<FailureRow> {
    let mut alike: Vec<(&str, Vec<(String, usize)>)> = Vec::new();
    for failure in campaign.failures.iter().filter(|one| one.is_lack()) {
        let Some(cell) = failure.cell.as_ref() else {
            continue;
        };
        let engine = match campaign.cell(cell) {
            Some(cell) => Names::sandbox(&cell.sandbox),
            None => cell.to_string(),
        };
        let known = alike
            .iter()
            .position(|(message, _)| *message == failure.message);
        let known = known.unwrap_or_else(|| {
            alike.push((&failure.message, Vec::new()));
            alike.len() - 1
        });
        let engines = &mut alike[known].1;
        match engines.iter_mut().find(|(name, _)| *name == engine) {
            Some((_, cells)) => *cells += 1,
            None => engines.push((engine, 1)),
        }
    }
    let name = |(engine, cells): (String, usize)| match cells {
        1 => engine,
        cells => format!("{engine} ({})", figures::plural(cells, "cell")),
    };
    let row = |(message, engines): (&str, Vec<(String, usize)>)| FailureRow {
        what: engines.into_iter().map(name).collect::<Vec<_>>().join(", "),
        rounds: "all rounds".to_owned(),
        kind: "absent".to_owned(),
        message: message.to_owned(),
    };
    alike.into_iter().map(row).collect()
}

/// The engines that an installer gets, in one row with the command.
fn not_installed(absent: &[AbsentNote]) -> Option<FailureRow> {
    let mut names: Vec<&str> = Vec::new();
    for name in absent.iter().filter_map(|one| one.install.as_deref()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| FailureRow {
        what: names.join(", "),
        rounds: "all rounds".to_owned(),
        kind: "not installed".to_owned(),
        message: format!("get them: fathom engines install {}", names.join(" ")),
    })
}

/// Cells without a time that have no failure of their own: unsound sandboxes,
/// each one failure however many cells it has, and what was not measured yet.
fn silent_failures(summary: &Summary) -> Vec<FailureRow> {
    let mut rows: Vec<FailureRow> = Vec::new();
    let (mut unmeasured, mut without_control) = (0, 0);
    let has_time = |id: &CellId| {
        summary
            .cells
            .iter()
            .any(|cell| cell.id == *id && cell.times.is_ok())
    };
    for cell in summary.cells.iter().filter(|cell| cell.failures.is_empty()) {
        let (what, message) = match &cell.times {
            Err(NoTime::Unsound { violations }) => (
                format!("every cell of {}", cell.cell.sandbox.id()),
                format!(
                    "the probe found {} accesses that violate its guarantee",
                    figures::count(*violations as f64)
                ),
            ),
            Err(NoTime::Failed { message, .. }) => (cell.id.to_string(), message.clone()),
            Err(NoTime::NotMeasured) => {
                match cell.cell.control_of.as_ref().is_some_and(has_time) {
                    true => without_control += 1,
                    false => unmeasured += 1,
                }
                continue;
            }
            Ok(_) => continue,
        };
        if rows.iter().any(|row| row.what == what) {
            continue;
        }
        let kind = match &cell.times {
            Err(NoTime::Unsound { .. }) => "unsound",
            _ => "failed",
        };
        rows.push(FailureRow {
            what,
            rounds: "all rounds".to_owned(),
            kind: kind.to_owned(),
            message,
        });
    }
    if unmeasured > 0 {
        rows.push(FailureRow {
            what: figures::plural(unmeasured, "cell"),
            rounds: "all rounds".to_owned(),
            kind: "not measured".to_owned(),
            message: "no round was completed; --resume continues".to_owned(),
        });
    }
    if without_control > 0 {
        rows.push(FailureRow {
            what: figures::plural(without_control, "control"),
            rounds: "all rounds".to_owned(),
            kind: "not measured".to_owned(),
            message: "too slow for the budget: the noisiest other control is used; a longer \
                      --budget measures them"
                .to_owned(),
        });
    }
    rows
}

fn notes(campaign: &Campaign) -> Vec<String> {
    let mut notes = Vec::new();
    if let Tail::Truncated { line, bytes } = campaign.tail {
        notes.push(format!(
            "The samples file ends in an incomplete record (line {line}, {} bytes), which is ignored.",
            figures::count(bytes as f64)
        ));
    }
    if campaign.header.config.replays {
        let note = "What is measured are replays of records: the time of the JavaScript host is not in it.";
        notes.push(note.to_owned());
    }
    let behind = behind(campaign);
    if behind > 0 {
        notes.push(format!(
            "{behind} of {} have fewer rounds than others: what is known well enough is not measured \
             again, nor is what the budget is too short for.",
            figures::plural(campaign.header.cells.len(), "cell")
        ));
    }
    if let Some(last) = campaign.resumed.last() {
        notes.push(format!(
            "The campaign was interrupted and resumed ({}), last on {}.",
            figures::plural(campaign.resumed.len(), "time"),
            last.date
        ));
    }
    notes
}

/// Cells with fewer rounds than others, those given up left out. A campaign
/// may well end before all the rounds it planned, when its time is up.
fn behind(campaign: &Campaign) -> usize {
    let is_given_up = |id: &CellId| {
        campaign
            .failures
            .iter()
            .any(|failure| failure.cell.as_ref() == Some(id) && failure.kind.voids_cell())
    };
    let done: Vec<usize> = campaign
        .header
        .cells
        .iter()
        .map(|cell| cell.id())
        .filter(|id| !is_given_up(id))
        .map(|id| {
            (0..campaign.header.config.rounds)
                .filter(|round| campaign.is_done(&id, *round))
                .count()
        })
        .collect();
    let most = done.iter().max().copied().unwrap_or(0);
    done.iter().filter(|done| **done < most).count()
}
