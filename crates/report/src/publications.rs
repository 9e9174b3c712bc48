//! What papers state, which is data of ours: one file each in `data/`.

use std::fmt::Write;

use fathom_record::Campaign;
use fathom_record::campaign::AbsentNote;
use fathom_stats::Summary;
use fathom_stats::interval::ROUNDS_MIN;
use serde::{Deserialize, de::DeserializeOwned};

use crate::markdown::{escape, prose};
use crate::table::Table;
use crate::{ReportError, about, figures};

/// What a paper states.
///
/// # Errors
/// [`ReportError::Data`] if the file is not what its page reads; a test reads each.
pub(crate) fn read<T: DeserializeOwned>(name: &'static str, data: &str) -> Result<T, ReportError> {
    toml::from_str(data).map_err(|error| ReportError::Data {
        name,
        error: error.to_string(),
    })
}

/// Something that a paper states and that can be held against a measurement.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Statement {
    /// Where in the paper.
    pub place: String,
    /// What it is about.
    pub what: String,
    /// What the paper says.
    pub published: String,
    /// The name of what says the same of a campaign.
    pub here: String,
}

/// What was done otherwise than in the paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, bound = "Only: Deserialize<'de>")]
pub(crate) struct Difference<Only = ()> {
    what: String,
    published: String,
    here: String,
    /// Campaigns that it is about; all if absent.
    pub only: Option<Only>,
}

/// What was not done.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, bound = "Only: Deserialize<'de>")]
pub(crate) struct Gap<Only = ()> {
    what: String,
    why: String,
    /// Campaigns that it is about; all if absent.
    pub only: Option<Only>,
}

/// The section of what was done otherwise.
pub(crate) fn done_otherwise<'a, Only: 'a>(
    differences: impl Iterator<Item = &'a Difference<Only>>,
) -> String {
    let mut table = Table::words(["", "published", "here"]);
    for one in differences {
        table.push([&one.what, &one.published, &one.here].map(String::clone));
    }
    format!("\n## What was done otherwise\n\n{}", table.source())
}

/// The section of what was not done, and of what was absent.
pub(crate) fn not_reproduced<'a, Only: 'a>(
    gaps: impl Iterator<Item = &'a Gap<Only>>,
    absent: impl Iterator<Item = &'a AbsentNote>,
) -> String {
    let mut text = "\n## What could not be reproduced\n\n".to_owned();
    for gap in gaps {
        let _ = writeln!(text, "- {}: {}.", gap.what, gap.why);
    }
    for one in absent {
        let (engine, why) = (escape(&one.engine), escape(&one.why));
        let _ = writeln!(text, "- {engine}: absent: {why}");
    }
    text
}

/// How a publication's page begins: its title, the command that writes the page, the publication,
/// on what it was measured here; and, where there are too few rounds for any finding, that.
pub(crate) fn head(
    campaign: &Campaign,
    name: &str,
    title: &str,
    paper: &str,
    measured: &str,
) -> String {
    let mut text = format!(
        "# {title}\n\n<!-- Written by `fathom reproduce {name}`. -->\n\n{paper}\n\n{measured}\n"
    );
    if let Some(early) = early(campaign) {
        let _ = writeln!(text, "\n{early}");
    }
    text
}

/// When and on what a campaign was measured, how much of it there is, and its noise.
pub(crate) fn measured_on(campaign: &Campaign, summary: &Summary) -> String {
    let header = &campaign.header;
    format!(
        "Measured on {}: {} ({} used), {}, {}; {}, {} of {}; noise floor of the means {}.",
        header.date,
        escape(&header.host.cpu_model.to_string()),
        figures::plural(header.config.cpus.len(), "processor"),
        escape(&header.host.kernel.to_string()),
        escape(&header.host.hypervisor.known().map_or_else(
            || "hypervisor unknown".to_owned(),
            |name| match name.as_str() {
                "none" => "no hypervisor".to_owned(),
                name => format!("under {name}"),
            }
        )),
        figures::plural(rounds(campaign), "round"),
        figures::plural(campaign.samples.len(), "sample"),
        figures::plural(header.cells.len(), "cell"),
        about::floor(summary),
    )
}

fn rounds(campaign: &Campaign) -> usize {
    let rounds = campaign.processes.iter().map(|one| one.round + 1);
    rounds.max().unwrap_or(0) as usize
}

/// Why nothing was found here yet, where there are too few rounds for any finding.
pub(crate) fn early(campaign: &Campaign) -> Option<String> {
    let rounds = rounds(campaign);
    (rounds < ROUNDS_MIN).then(|| {
        format!("Too few rounds to find anything here: {rounds} of the {ROUNDS_MIN} that it takes.")
    })
}

/// The section of what a paper states, and of what a campaign answers.
pub(crate) fn statements(
    title: &str,
    note: &str,
    place: &str,
    statements: &[Statement],
    here: impl Fn(&str) -> Option<String>,
) -> String {
    let mut table = Table::words(["question", "published", "here", place]);
    for one in statements {
        let here = here(&one.here).unwrap_or_else(|| "not in this campaign".to_owned());
        let Statement {
            what,
            published,
            place,
            ..
        } = one;
        table.push([what, published, &here, place].map(String::clone));
    }
    format!("\n## {title}\n\n{note}{}", table.source())
}

/// A section of a list; nothing if it has no items.
pub(crate) fn listed(title: &str, items: Vec<String>) -> String {
    let list = items.iter().map(|item| format!("- {}\n", prose(item)));
    match items.is_empty() {
        true => String::new(),
        false => format!("\n## {title}\n\n{}", list.collect::<String>()),
    }
}
