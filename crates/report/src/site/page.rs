//! The pages of a site that are not a campaign's.

use std::fs;
use std::path::Path;

use askama::Template;
use fathom_record::campaign::FILE_NAME;

use super::{CAMPAIGNS, SiteError, TRENDS, failed};
use crate::chart::{Chart, trend};
use crate::figures;
use crate::history::{History, Section, told};
use crate::view::host_line;

/// How to read a history; docs/HISTORY.md has the whole.
const METHOD: [&str; 5] = [
    "Campaigns are compared with their like: the same machine, suite, size, number of instances and workloads. \
     Values and their intervals are those of the campaigns' own reports. Ratios are to native code where every \
     campaign measured it, so that what the machine did that day cancels.",
    "A change is a step between two campaigns, with two of them on either side, that is larger than what campaigns \
     differ by anyway. What they differ by is estimated from the series; intervals of single values include an \
     allowance for code layout that all campaigns share, so they may overlap where a change is told.",
    "All rows of a section share one error: of twenty sections in which nothing changed, at most one names a change.",
    "No change found is not no change: what would have been found is told below the changes. And a version that \
     changed at the same place is likely the cause, not certainly.",
    "For the method and its sources see `docs/HISTORY.md` in Fathom's sources.",
];

/// A sentence and the class it is drawn by.
struct Finding {
    class: &'static str,
    text: String,
}

/// A section on the first page.
struct Part {
    anchor: String,
    title: String,
    about: Vec<String>,
    findings: Vec<Finding>,
    chart: Chart,
    page: String,
}

/// A campaign in the list.
struct Listed {
    date: String,
    name: String,
    page: String,
    samples: String,
    bytes: String,
    host: String,
    tool: String,
    rounds: u32,
}

#[derive(Template)]
#[template(path = "site.html")]
struct Index<'a> {
    tool: &'static str,
    span: String,
    headline: String,
    parts: Vec<Part>,
    campaigns: Vec<Listed>,
    method: &'a [&'static str],
}

/// A workload of a section.
struct Workload<'a> {
    anchor: String,
    name: &'a str,
    chart: Chart,
}

/// A line of a table, with the page of its campaign.
struct Value {
    fields: Vec<String>,
    page: String,
}

#[derive(Template)]
#[template(path = "trends.html")]
struct Trends<'a> {
    tool: &'static str,
    title: String,
    about: Vec<String>,
    findings: Vec<Finding>,
    means: Chart,
    workloads: Vec<Workload<'a>>,
    head: Vec<String>,
    values: Vec<Value>,
}

/// The first page; `folder` has the samples that are listed.
pub(super) fn index(
    history: &History,
    campaigns: &[String],
    sections: &[String],
    folder: &Path,
) -> Result<String, SiteError> {
    let parts = history.sections.iter().zip(sections);
    let parts = parts.map(|(section, name)| {
        let page = format!("{TRENDS}/{name}.html");
        Part {
            anchor: name.clone(),
            title: section.title(),
            about: told::about(history, section),
            findings: findings(history, section),
            chart: trend::means(history, section, &format!("{page}#values")),
            page,
        }
    });
    let listed = history.campaigns.iter().zip(campaigns).rev();
    let listed = listed.map(|(one, name)| {
        let samples = format!("{CAMPAIGNS}/{name}/{FILE_NAME}");
        let path = folder.join(&samples);
        let bytes = fs::metadata(&path).map_err(failed(&path))?.len();
        Ok(Listed {
            date: one.minute(),
            name: one.header.name.clone(),
            page: format!("{CAMPAIGNS}/{name}/report.html"),
            samples,
            bytes: figures::bytes(bytes as f64),
            host: host_line(&one.header.host),
            tool: one.header.tool.clone(),
            rounds: one.header.config.rounds,
        })
    });
    let page = Index {
        tool: env!("CARGO_PKG_VERSION"),
        span: told::span(history.campaigns.iter()),
        headline: headline(history),
        parts: parts.collect(),
        campaigns: listed.collect::<Result<_, SiteError>>()?,
        method: &METHOD,
    };
    Ok(page.render()?)
}

/// The page of a section.
pub(super) fn section(
    history: &History,
    section: &Section,
    campaigns: &[String],
) -> Result<String, SiteError> {
    let each = section.workloads.iter().enumerate();
    let each = each.filter(|_| section.workloads.len() > 1);
    let workloads = each.map(|(at, name)| Workload {
        anchor: format!("workload-{}", at + 1),
        name,
        chart: trend::workload(history, section, name, "#values"),
    });
    let table = told::table(history, section);
    let points = section.lines.iter().flat_map(|line| &line.mean.points);
    let values = table.lines.into_iter().zip(points);
    let values = values.map(|((_, fields), point)| Value {
        fields,
        page: format!("../{CAMPAIGNS}/{}/report.html", campaigns[point.campaign]),
    });
    let page = Trends {
        tool: env!("CARGO_PKG_VERSION"),
        title: section.title(),
        about: told::about(history, section),
        findings: findings(history, section),
        means: trend::means(history, section, "#values"),
        workloads: workloads.collect(),
        head: table.head,
        values: values.collect(),
    };
    Ok(page.render()?)
}

fn findings(history: &History, section: &Section) -> Vec<Finding> {
    let all = told::findings(history, section).into_iter();
    let all = all.map(|(tone, text)| Finding {
        class: tone.class(),
        text,
    });
    all.collect()
}

/// What changed of all rows' means, in a sentence.
fn headline(history: &History) -> String {
    let lines = || history.sections.iter().flat_map(|section| &section.lines);
    let changes = lines().flat_map(|line| &line.mean.changes);
    let (slower, faster): (Vec<f64>, Vec<f64>) = changes
        .map(|change| change.ratio)
        .partition(|ratio| *ratio > 1.0);
    let campaigns = figures::plural(history.campaigns.len(), "campaign");
    let rows = figures::plural(lines().count(), "row");
    let said = match (slower.len(), faster.len()) {
        (0, 0) if lines().all(|line| line.mean.is_short()) => {
            "too few campaigns yet to tell a change".to_owned()
        }
        (0, 0) => "no change was found".to_owned(),
        (slower, faster) => {
            let all = figures::plural(slower + faster, "change");
            format!("{all}, {slower} to slower and {faster} to faster")
        }
    };
    format!("{rows} over {campaigns}: {said}.")
}
