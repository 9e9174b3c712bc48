//! A library's programs on every engine: the page of a campaign of
//! `fathom suite libsodium`, in the form of the 2023 study it follows.
//!
//! ```text
//!  Campaign ─▶ Library ─┬─ tables   a line an engine, a column a group   ─▶ Markdown, terminal, CSV
//!                       ├─ charts   a drawing a group                    ─▶ HTML, SVG
//!                       └─ publication     what the 2023 study states, and ours       ─▶ its page
//! ```
//!
//! Two normalisations: to the median of the engines, as the 2023 study has it, and to
//! portable native code. A group's figure is the geometric mean over its programs.
//!
//! What must stay true: nothing is estimated here; the median is that of engines
//! which keep modules in a sandbox and have five rounds, native code and unsound rows are
//! not among them; a figure over fewer programs than the group has is marked.

mod charts;
mod csv;
mod page;
mod publication;

use fathom_record::{Campaign, CellId, Names, Variant};
use fathom_stats::interval::ROUNDS_MIN;
use fathom_stats::{Against, GroupRatio, Row, RowSummary, Summary};

use crate::ReportError;
use crate::figures;
use crate::pages::{Context, PageOutput, at_once};
use crate::view::Interval;

/// What the experiments add: their page in the place of the general report, and the one
/// that sets the 2023 study's figures beside ours.
///
/// # Errors
/// [`ReportError::Data`] if our own data cannot be read; a test reads it.
pub fn output(context: &Context<'_>) -> Result<PageOutput, ReportError> {
    let library = Library::of(context.campaign, context.summary);
    let publication = publication::Publication::read()?;
    Ok(PageOutput {
        paper: library.publication_files(&publication),
        ..PageOutput::instead(
            "library",
            context.campaign,
            library.document(),
            Some(library.csv()),
        )
    })
}

/// A group of programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name in the suite.
    pub name: String,
    /// Its programs.
    pub workloads: Vec<String>,
}

/// An engine in one configuration.
#[derive(Clone, Debug)]
pub struct Line {
    /// What it is.
    pub row: Row,
    /// In a reader's words.
    pub name: String,
    /// Whether it is among those whose median counts.
    pub is_ranked: bool,
    /// To the median: all programs, then group by group.
    pub to_median: Vec<GroupRatio>,
    /// To native code, likewise; empty without native code.
    pub to_native: Vec<GroupRatio>,
}

/// All that the page shows.
pub struct Library<'a> {
    campaign: &'a Campaign,
    summary: &'a Summary,
    /// In the suite's order.
    pub groups: Vec<Group>,
    /// The fastest first, by the mean over all programs; native code behind.
    pub lines: Vec<Line>,
    /// Those whose median counts.
    ranked: Vec<Row>,
}

impl<'a> Library<'a> {
    /// Of a campaign.
    pub fn of(campaign: &'a Campaign, summary: &'a Summary) -> Library<'a> {
        let mut library = Library {
            campaign,
            summary,
            groups: groups(campaign),
            lines: Vec::new(),
            ranked: in_median(summary),
        };
        let native = library.native(Variant::Native).cloned();
        let mut lines: Vec<Line> = summary
            .rows
            .iter()
            .map(|row| Line {
                name: library.name(&row.row),
                is_ranked: row.is_ranked,
                to_median: library.by_group(&row.row, Against::Median(&library.ranked)),
                to_native: native.as_ref().map_or(Vec::new(), |native| {
                    library.by_group(&row.row, Against::Row(native))
                }),
                row: row.row.clone(),
            })
            .collect();
        let place = |line: &Line| value(line.to_median.first()).unwrap_or(f64::INFINITY);
        lines.sort_by(|one, other| {
            let key = |line: &Line| (!line.is_ranked, place(line));
            let ((apart, one), (others, other)) = (key(one), key(other));
            apart.cmp(&others).then(one.total_cmp(&other))
        });
        library.lines = lines;
        library
    }

    fn native(&self, variant: Variant) -> Option<&Row> {
        let mut rows = self.summary.rows.iter().map(|row| &row.row);
        rows.find(|row| row.variant == variant)
    }

    /// All programs, then each group.
    fn by_group(&self, row: &Row, against: Against<'_>) -> Vec<GroupRatio> {
        let of = |groups: &[Group]| {
            let names = groups.iter().flat_map(|group| &group.workloads);
            let names: Vec<&str> = names.map(String::as_str).collect();
            self.summary.over(row, against, &names)
        };
        let each = self.groups.iter().map(std::slice::from_ref);
        std::iter::once(&self.groups[..])
            .chain(each)
            .map(of)
            .collect()
    }

    /// An engine, its version, its code generator, and what else tells its row apart.
    fn name(&self, row: &Row) -> String {
        match row.variant {
            Variant::Native => return "native, portable".to_owned(),
            Variant::NativeTuned => return "native, for this machine".to_owned(),
            _ => {}
        }
        let rows = self.summary.rows.iter().map(|other| &other.row);
        let all = rows.map(|row| (&row.sandbox, Some(row.variant)));
        // Of ours the strategy is said always: users choose among them.
        let names = match row.sandbox.engine == "fathom" {
            true => Names::of(all),
            false => Names::short(all),
        };
        let name = names.name(&row.sandbox, Some(row.variant));
        at_once(name, row.threads)
    }

    /// Whether rows are of modules that went through Binaryen's optimiser.
    fn has_optimised(&self) -> bool {
        let mut lines = self.lines.iter();
        lines.any(|line| line.row.variant == Variant::WasmOpt)
    }

    /// How many programs there are.
    fn programs(&self) -> usize {
        self.groups.iter().map(|group| group.workloads.len()).sum()
    }
}

/// Rows whose median counts: sandboxes with enough rounds, since a round that lacks one of
/// them has no median; all sandboxes where none has enough.
fn in_median(summary: &Summary) -> Vec<Row> {
    let ranked = || summary.rows.iter().filter(|row| row.is_ranked);
    let rounds = |id: &CellId| Some(summary.cell(id)?.times.as_ref().ok()?.rounds.len());
    let is_whole = |row: &&RowSummary| {
        let mut rounds = row.cells.iter().filter_map(rounds);
        rounds.all(|rounds| rounds >= ROUNDS_MIN)
    };
    let rows = |rows: &mut dyn Iterator<Item = &RowSummary>| -> Vec<Row> {
        rows.map(|row| row.row.clone()).collect()
    };
    let whole = rows(&mut ranked().filter(is_whole));
    match whole.is_empty() {
        true => rows(&mut ranked()),
        false => whole,
    }
}

/// The groups in the suite's order; programs without one are a group.
fn groups(campaign: &Campaign) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for note in &campaign.header.workloads {
        let name = note.category.clone().unwrap_or_else(|| "other".to_owned());
        let workload = note.name.clone();
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.workloads.push(workload),
            None => groups.push(Group {
                name,
                workloads: vec![workload],
            }),
        }
    }
    groups
}

/// The mean of a group, where there is one.
fn value(ratio: Option<&GroupRatio>) -> Option<f64> {
    Some(ratio?.geomean.as_ref().ok()?.value)
}

/// A figure over all programs with its interval, where it has one.
fn shown_whole(ratio: Option<&GroupRatio>) -> String {
    let ends = ratio.and_then(|ratio| Interval::from(ratio.geomean.as_ref().ok()?).ends);
    let ends = ends.map_or_else(String::new, |(low, high)| {
        format!(" ({})", figures::ends(low, high))
    });
    format!("{}{ends}", shown(ratio))
}

/// A figure with a mark where programs are missing.
fn shown(ratio: Option<&GroupRatio>) -> String {
    let Some(ratio) = ratio else {
        return figures::NONE.to_owned();
    };
    let Ok(mean) = &ratio.geomean else {
        return figures::NONE.to_owned();
    };
    let mark = if ratio.missing.is_empty() { "" } else { "*" };
    format!("{}{mark}", figures::ratio_bare(mean.value))
}

#[cfg(test)]
mod tests;
