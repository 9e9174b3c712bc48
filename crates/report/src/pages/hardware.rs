//! The figures of "Hardware-Accelerated Bounds Checking for WebAssembly" in their own form, ours
//! beside, by each of our code generators.
//!
//! ```text
//!  data/hardware-bounds-checking.toml: what the thesis states ─┬▶ hardware-bounds-checking.md
//!  samples.jsonl: one campaign ────────────────────────────────┘
//!    lines    each strategy of a generator over the one that checks nothing
//!    tables   figures 5.1 to 5.6 and A.4 to A.6, and what users get
//!    here     what a statement is answered with
//! ```
//!
//! What must stay true: what the thesis states is in that file alone and is called published; a
//! ratio is to the same generator's; what a campaign does not hold is absent or not measured,
//! and never left out unsaid.

mod here;
mod lines;
mod tables;

use std::fmt::Write;

use fathom_record::Campaign;
use fathom_stats::Summary;
use serde::Deserialize;

use super::{Context, PageOutput, Printed};
use crate::ReportError;
use crate::about::failures;
use crate::publications::{
    self, Difference, Gap, Statement, done_otherwise, listed, measured_on, not_reproduced,
    statements,
};
use crate::view::portable;
use lines::Lines;

const NAME: &str = "hardware-bounds-checking";
const DATA: &str = include_str!("../../data/hardware-bounds-checking.toml");
/// Our code generators in the thesis's order, and what the page calls them.
const GENERATORS: [(&str, &str); 3] = [
    ("llvm", "LLVM"),
    ("direct", "one pass"),
    ("cranelift", "Cranelift"),
];

/// What the thesis states.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Thesis {
    title: String,
    paper: String,
    how: String,
    method: Vec<Method>,
    form: Vec<Form>,
    program: Vec<Program>,
    statement: Vec<Statement>,
    difference: Vec<Difference>,
    gap: Vec<Gap>,
}

/// A way to check.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Method {
    of: String,
    /// Ours.
    strategy: String,
    /// Over no checks, by LLVM.
    kmeans: String,
}

/// A figure that compares instructions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    figure: String,
    place: String,
    of: String,
    published: String,
    /// An instruction, and the strategy of ours that has it.
    line: Vec<(String, String)>,
}

/// A program under protection keys.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    of: String,
    /// How often the register was written.
    wrpkru: String,
    /// Processor cycles of each time.
    cycles: String,
}

/// A campaign seen in every way that the page needs.
struct Page<'a> {
    campaign: &'a Campaign,
    summary: &'a Summary,
    lines: Lines<'a>,
}

/// What the experiment adds: the page of the thesis; printed, all programs.
///
/// # Errors
/// [`ReportError::Data`] if our own data cannot be read; a test reads it.
pub fn output(context: &Context<'_>) -> Result<PageOutput, ReportError> {
    let thesis: Thesis = publications::read(NAME, DATA)?;
    let page = Page::of(context.campaign, context.summary);
    Ok(PageOutput {
        printed: Printed::Instead(page.by_method(&thesis)),
        files: Vec::new(),
        paper: vec![(format!("{NAME}.md"), page.text(&thesis))],
    })
}

impl<'a> Page<'a> {
    fn of(campaign: &'a Campaign, summary: &'a Summary) -> Page<'a> {
        Page {
            campaign,
            summary,
            lines: Lines::of(campaign, summary),
        }
    }

    fn text(&self, thesis: &Thesis) -> String {
        let measured = measured_on(self.campaign, self.summary);
        let Thesis {
            title, paper, how, ..
        } = thesis;
        let mut text = publications::head(self.campaign, NAME, title, paper, &measured);
        let _ = write!(text, "\n{how}\n");
        text.push_str(&statements(
            "What was found, then and here",
            "Published figures are those that the text states: most of its bars carry no numbers.\n\n",
            "where in the thesis",
            &thesis.statement,
            |question| self.here(question),
        ));
        text.push_str(&self.figure_5_1(thesis));
        text.push_str(&self.figure_5_2(thesis));
        text.push_str(&self.figure_5_3(thesis));
        text.push_str(&self.figure_5_4(thesis));
        text.push_str(&self.figure_5_6(thesis));
        for form in &thesis.form {
            text.push_str(&self.form(form));
        }
        text.push_str(&self.as_used(thesis));
        text.push_str(&self.foot(thesis));
        text
    }

    fn foot(&self, thesis: &Thesis) -> String {
        let absent = self.campaign.header.config.absent.iter();
        let mut text = done_otherwise(thesis.difference.iter());
        text.push_str(&not_reproduced(thesis.gap.iter(), absent));
        text.push_str(&listed("Not measured", failures(self.campaign)));
        let _ = write!(
            text,
            "\n## Reproduce\n\n```sh\npython3 workloads/build.py --suite pointers --variant wasm32,wasm64\n\
             python3 workloads/build.py --suite polybench --variant wasm32,wasm64\n{}\n```\n\n`make setup` brings \
             LLVM's compiler. The same command continues a campaign that was stopped, and rewrites this page; \
             `--page-only` only rewrites it.\n",
            portable(&self.campaign.header)
        );
        text
    }
}

#[cfg(test)]
mod tests;
