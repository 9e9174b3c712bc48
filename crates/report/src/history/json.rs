//! A history for a program (`docs/COMMANDS.md` has the shape).

use fathom_stats::compare::Basis;
use serde::Serialize;

use super::{Change, History, Line, Point, Section, Series};
use crate::json::FORMAT;

#[derive(Serialize)]
struct Answer<'a> {
    format: u32,
    campaigns: Vec<CampaignOut<'a>>,
    sections: Vec<SectionOut<'a>>,
}

#[derive(Serialize)]
struct CampaignOut<'a> {
    name: &'a str,
    date: &'a str,
    tool: &'a str,
    folder: String,
    host: String,
}

#[derive(Serialize)]
struct SectionOut<'a> {
    host: &'a str,
    suite: &'a str,
    size: &'a str,
    threads: u32,
    figure: &'static str,
    estimator: String,
    workloads: &'a [String],
    baseline: Option<&'a str>,
    rows: Vec<LineOut<'a>>,
}

#[derive(Serialize)]
struct LineOut<'a> {
    name: &'a str,
    row: String,
    basis: &'static str,
    #[serde(flatten)]
    mean: SeriesOut<'a>,
    workloads: Vec<WorkloadOut<'a>>,
}

#[derive(Serialize)]
struct WorkloadOut<'a> {
    workload: &'a str,
    #[serde(flatten)]
    series: SeriesOut<'a>,
}

#[derive(Serialize)]
struct SeriesOut<'a> {
    detectable: Option<f64>,
    points: Vec<PointOut<'a>>,
    changes: Vec<ChangeOut<'a>>,
}

#[derive(Serialize)]
struct PointOut<'a> {
    campaign: usize,
    version: Option<&'a str>,
    build: Option<&'a str>,
    value: Option<f64>,
    low_95: Option<f64>,
    high_95: Option<f64>,
    why_not: Option<&'a str>,
}

#[derive(Serialize)]
struct ChangeOut<'a> {
    ratio: f64,
    low_95: f64,
    high_95: f64,
    before: SideOut<'a>,
    after: SideOut<'a>,
    surely_after: usize,
    surely_before: usize,
    others: &'a [String],
}

#[derive(Serialize)]
struct SideOut<'a> {
    campaign: usize,
    date: &'a str,
    version: Option<&'a str>,
}

/// The history; ends with a line break.
///
/// # Errors
/// A value that JSON has no form for; there is none.
pub fn render(history: &History) -> Result<String, serde_json::Error> {
    let campaigns = history.campaigns.iter().map(|one| CampaignOut {
        name: &one.header.name,
        date: &one.header.date,
        tool: &one.header.tool,
        folder: one.results.folder.display().to_string(),
        host: one.header.host.fingerprint(),
    });
    let answer = Answer {
        format: FORMAT,
        campaigns: campaigns.collect(),
        sections: history
            .sections
            .iter()
            .map(|one| section(history, one))
            .collect(),
    };
    Ok(serde_json::to_string_pretty(&answer)? + "\n")
}

fn section<'a>(history: &'a History, section: &'a Section) -> SectionOut<'a> {
    SectionOut {
        host: &section.host,
        suite: &section.suite,
        size: &section.size,
        threads: section.threads,
        figure: section.figure.name(),
        estimator: section.estimator.to_string(),
        workloads: &section.workloads,
        baseline: section.baseline.as_deref(),
        rows: section.lines.iter().map(|one| line(history, one)).collect(),
    }
}

fn line<'a>(history: &'a History, line: &'a Line) -> LineOut<'a> {
    let workloads = line.workloads.iter().map(|(name, one)| WorkloadOut {
        workload: name,
        series: series(history, one),
    });
    LineOut {
        name: &line.name,
        row: line.row.to_string(),
        basis: match line.basis {
            Basis::Time => "time",
            Basis::ToBaseline => "ratio",
        },
        mean: series(history, &line.mean),
        workloads: workloads.collect(),
    }
}

fn series<'a>(history: &'a History, series: &'a Series) -> SeriesOut<'a> {
    let points = series.points.iter().map(|point| {
        let ends = point.value.and_then(|value| value.ends);
        PointOut {
            campaign: point.campaign,
            version: version(point),
            build: point.build.as_deref(),
            value: point.value.map(|value| value.value),
            low_95: ends.map(|ends| ends.0),
            high_95: ends.map(|ends| ends.1),
            why_not: point.why_not.as_deref(),
        }
    });
    SeriesOut {
        detectable: series.detectable,
        points: points.collect(),
        changes: series
            .changes
            .iter()
            .map(|one| change(history, series, one))
            .collect(),
    }
}

fn change<'a>(history: &'a History, series: &'a Series, change: &'a Change) -> ChangeOut<'a> {
    let side = |at: usize| {
        let point = &series.points[at];
        SideOut {
            campaign: point.campaign,
            date: &history.campaigns[point.campaign].header.date,
            version: version(point),
        }
    };
    ChangeOut {
        ratio: change.ratio,
        low_95: change.ends.0,
        high_95: change.ends.1,
        before: side(change.before),
        after: side(change.after),
        surely_after: series.points[change.surely.0].campaign,
        surely_before: series.points[change.surely.1].campaign,
        others: &change.others,
    }
}

fn version(point: &Point) -> Option<&str> {
    Some(point.version.as_str()).filter(|version| !version.is_empty())
}
