//! After the last cell: the table, the reports, and what to do next.

use std::process::ExitCode;

use anyhow::Context;
use fathom_bench::{choose::Absent, prepare::Prepared, results::Results, session::Ended};
use fathom_report::{Format, Report, figures::plural};

use crate::one_line::{lines, say};
use crate::report::{print, stdout_style};

/// Reports on a campaign; failure where a cell failed or an engine that was
/// asked for is absent or lacks what the program uses.
pub fn finish(prepared: &Prepared, results: &Results, ended: Ended) -> anyhow::Result<ExitCode> {
    let folder = results.folder();
    let again = format!("continue with: fathom bench --resume {}", folder.display());
    if results.campaign().processes.is_empty() {
        eprintln!("nothing was measured; {again}");
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
            eprintln!("after {rounds} rounds every workload's ratio is known to ± {width} %");
        }
        Ended::Stopped => eprintln!("stopped; {again}"),
    }
    let all = results.campaign().failures.iter();
    let failures = all
        .filter(|one| prepared.names_engines || !one.is_lack())
        .count();
    let wanted = || prepared.absent.iter().filter(|absent| absent.is_wanted);
    for absent in wanted() {
        let Absent { engine, why, .. } = absent;
        say(&format!("requested but not measured: {engine}: {why}"));
    }
    if failures > 0 {
        let failures = plural(failures, "failure");
        eprintln!("{failures}: see what was not measured, and why, above");
    }
    let missing = wanted().count();
    Ok(match (failures + missing, ended) {
        (_, Ended::Stopped) => ExitCode::from(130),
        (0, _) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}
