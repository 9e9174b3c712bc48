//! After the last cell: the table, the reports, and what to do next.

use std::process::ExitCode;

use anyhow::Context;
use fathom_bench::{
    choose::{Absent, OWN},
    prepare::Prepared,
    results::Results,
    session::Ended,
    stopping::StoppingRule,
};
use fathom_record::{Campaign, FailureKind, campaign::Failure};
use fathom_report::{
    Format, Report,
    figures::{percent, plural},
};

use super::stopping::Estimates;
use crate::one_line::{lines, say};
use crate::report::{print, stdout_style};
use crate::stopped;

/// Reports on a campaign; failure where a cell failed or an engine that was
/// asked for is absent, is no sound sandbox or lacks what the program uses.
pub fn finish(prepared: &Prepared, results: &Results, ended: Ended) -> anyhow::Result<ExitCode> {
    let folder = results.folder();
    let again = format!("continue with: fathom bench --resume {}", folder.display());
    if results.campaign().processes.is_empty() {
        say!("nothing was measured; {again}");
    } else {
        let report = Report::open(folder)?;
        report
            .save()
            .with_context(|| format!("the samples are kept; {again}"))?;
        print(&lines(&report.render(Format::Terminal, stdout_style())?))?;
    }
    match ended {
        Ended::Complete | Ended::TimeUp { .. } => {}
        Ended::Precise { rounds } => {
            let width = prepared.pace.width.unwrap_or_default() * 100.0;
            say!("after {rounds} rounds every workload's ratio is known to ± {width} %");
        }
        // Said below.
        Ended::Detectable { .. } | Ended::Limited { .. } => {}
        Ended::Stopped => say!("stopped; {again}"),
    }
    if let Some(wanted) = prepared.pace.detect {
        say!("{}", detected(wanted, results, ended));
    }
    let all = results.campaign().failures.iter();
    let failures = all
        .filter(|one| prepared.names_engines || !is_peers(one, results.campaign()))
        .count();
    let wanted = || prepared.absent.iter().filter(|absent| absent.is_wanted);
    for absent in wanted() {
        let Absent { engine, why, .. } = absent;
        say(&format!("requested but not measured: {engine}: {why}"));
    }
    if failures > 0 {
        let failures = plural(failures, "failure");
        say!("{failures}: see what was not measured, and why, above");
    }
    let missing = wanted().count();
    Ok(match (failures + missing, ended) {
        (_, Ended::Stopped) => stopped::status(),
        (0, _) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// Whether a failure says what an engine of others is like and not that measuring failed:
/// nothing is wrong with a campaign that took what was installed and left that out.
fn is_peers(failure: &Failure, campaign: &Campaign) -> bool {
    let cell = failure.cell.as_ref().and_then(|id| campaign.cell(id));
    let is_unsound = failure.kind == FailureKind::Unsound;
    failure.is_lack() || (is_unsound && cell.is_some_and(|cell| cell.sandbox.engine != OWN))
}

/// What ended a campaign that was to find a difference, and what it could have found.
fn detected(wanted: f64, results: &Results, ended: Ended) -> String {
    let campaign = results.campaign();
    let rounds = campaign.processes.iter().map(|one| one.round + 1).max();
    let rounds = plural(rounds.unwrap_or(0) as usize, "round");
    let why = match ended {
        Ended::Detectable { .. } => format!("enough after {rounds}"),
        Ended::Limited { .. } => format!("ended after {rounds}, as no number of them is enough"),
        Ended::TimeUp { .. } => format!("time was up after {rounds}"),
        Ended::Complete | Ended::Precise { .. } => format!("{rounds} are the most there are"),
        Ended::Stopped => format!("stopped in {rounds}"),
    };
    let wanted = percent(wanted);
    match Estimates.detectable(campaign) {
        None => format!("{why}: too few to say what difference would have been found"),
        Some(seen) if matches!(ended, Ended::Detectable { .. }) => format!(
            "{why}: a difference of {} would have been found (80 % power), {wanted} was asked for",
            percent(seen)
        ),
        Some(seen) => format!(
            "{why}: a difference of {} would have been found (80 % power), not the {wanted} that \
             was asked for",
            percent(seen)
        ),
    }
}
