//! The page of `fathom reproduce leaps-and-bounds`: what the paper states beside
//! what a campaign found, and the paper's figures drawn of the campaign.
//!
//! ```text
//!  samples.jsonl ─▶ Campaign ─▶ Summary, View, Scaling ─┐
//!  data/leaps-and-bounds.toml: what the paper states ───┴▶ page, pictures
//!    here       what a statement is answered with
//!    pictures   the paper's figures 1 to 6
//! ```
//!
//! What must stay true: the page is made of these two files alone; what a campaign
//! does not hold is said to be missing, never filled in.

mod here;
mod pictures;

use std::fmt::Write;

use fathom_record::Campaign;
use fathom_stats::Summary;
use serde::Deserialize;

use crate::ReportError;
use crate::about::failures;
use crate::figures;
use crate::markdown::escape;
use crate::pages::{Context, PageOutput};
use crate::publications::{
    self, Difference, Gap, Statement, done_otherwise, early, listed, measured_on, not_reproduced,
    statements,
};
use crate::scaling::{self, Scaling};
use crate::table::Table;
use crate::view::{self, View, portable};

/// The page's name.
pub const NAME: &str = "leaps-and-bounds";
const DATA: &str = include_str!("../data/leaps-and-bounds.toml");

/// What the paper states.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Publication {
    title: String,
    paper: String,
    statement: Vec<Statement>,
    difference: Vec<Difference<Only>>,
    gap: Vec<Gap<Only>>,
}

/// Campaigns that a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Only {
    /// What the paper measured of PolyBench.
    PolyBench,
    /// What it measured of SPEC CPU.
    #[serde(rename = "SPEC CPU")]
    Spec,
}

/// A campaign seen in every way that the page needs.
struct Page<'a> {
    campaign: &'a Campaign,
    summary: &'a Summary,
    view: &'a View,
    scaling: &'a Scaling,
    of: Only,
}

/// What the experiments add: the page of the paper, itself first among its files.
///
/// # Errors
/// [`ReportError::Data`] if our own data cannot be read; a test reads it.
pub fn output(context: &Context<'_>, of: Only) -> Result<PageOutput, ReportError> {
    let page = Page {
        campaign: context.campaign,
        summary: context.summary,
        view: context.view,
        scaling: &scaling::of(context),
        of,
    };
    let paper: Publication = publications::read(NAME, DATA)?;
    Ok(PageOutput {
        paper: page.files(&paper),
        ..PageOutput::default()
    })
}

impl Page<'_> {
    fn files(&self, paper: &Publication) -> Vec<(String, String)> {
        let pictures = self.pictures();
        let mut text = self.head(paper);
        text.push_str(&self.statements(paper));
        for picture in &pictures {
            let _ = write!(
                text,
                "\n## {}\n\n{}\n\n![{}]({})\n",
                picture.heading, picture.caption, picture.heading, picture.file
            );
        }
        text.push_str(&self.side_by_side());
        text.push_str(&self.not_the_same(paper));
        text.push_str(&self.in_force());
        text.push_str(&listed("Not measured", failures(self.campaign)));
        let _ = write!(
            text,
            "\n## Reproduce\n\n```sh\n{}\n```\n\nThe same command continues a campaign that was stopped, and \
             rewrites this page; `--page-only` only rewrites it.\n",
            portable(&self.campaign.header)
        );
        let mut files = vec![(format!("{NAME}.md"), text)];
        files.extend(pictures.into_iter().map(|one| (one.file, one.svg)));
        files
    }

    fn head(&self, paper: &Publication) -> String {
        let measured = measured_on(self.campaign, self.summary);
        publications::head(self.campaign, NAME, &paper.title, &paper.paper, &measured)
    }

    fn statements(&self, paper: &Publication) -> String {
        let early = early(self.campaign);
        let here = |question: &str| {
            let here = self.here(question)?;
            Some(match early.is_some() && self.is_measured(question) {
                true => figures::NONE.to_owned(),
                false => here,
            })
        };
        let note =
            "The paper's bars carry no numbers; the published figures here are those in its text.";
        let early = early
            .as_ref()
            .map_or_else(String::new, |early| format!("{early}\n\n"));
        statements(
            "What they found, and what was found here",
            &format!("{note}\n\n{early}"),
            "where in the paper",
            &paper.statement,
            here,
        )
    }

    fn side_by_side(&self) -> String {
        let mut text = String::new();
        for part in &self.scaling.parts {
            let _ = write!(
                text,
                "\n## Instances side by side, in numbers\n\n{}\n\n{}\n{}",
                self.scaling.head,
                part.throughput_table(self.scaling.processors).source(),
                part.cost_table().source()
            );
        }
        if let Some(how) = &self.scaling.counted {
            let _ = write!(text, "\nSystem calls: {how}.\n");
        }
        text
    }

    fn not_the_same(&self, paper: &Publication) -> String {
        let holds = |only: Option<Only>| only.is_none_or(|only| only == self.of);
        let differences = paper.difference.iter().filter(|one| holds(one.only));
        let gaps = paper.gap.iter().filter(|gap| holds(gap.only));
        let absent = self.campaign.header.config.absent.iter();
        let absent = absent.filter(|one| one.engine != "wavm");
        done_otherwise(differences) + &not_reproduced(gaps, absent)
    }

    fn in_force(&self) -> String {
        let mut table = Table::words([
            "asked for",
            "engine",
            "back end",
            "tier",
            "checks",
            "evidence",
        ]);
        for row in &self.view.in_force {
            let mut fields = vec![row.asked.clone()];
            fields.extend(row.found().map(str::to_owned));
            fields.push(row.evidence.clone());
            table.push(fields);
        }
        format!("\n## Configuration in force\n\n{}", table.markdown(escape))
    }

    /// The group of one instance of each, which most of the paper is about.
    fn alone(&self) -> Option<&view::Group> {
        let groups = self.view.groups.iter();
        groups.min_by_key(|group| group.threads)
    }
}

#[cfg(test)]
mod tests;
