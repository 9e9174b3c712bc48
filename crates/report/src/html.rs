//! One self-contained HTML file: pictures first, tables second, raw samples
//! last.
//!
//! What must stay true: the page loads nothing and runs nothing (its own
//! content security policy says so), everything that came from outside is
//! escaped (by askama in the template, by [`svg::escape`] in figures), and it
//! is as readable at 320 pixels as on a desk.
//!
//! [`svg::escape`]: crate::chart::svg::escape

use askama::Template;
use fathom_stats::{Figure, Verdict};

use crate::chart::svg::escape;
use crate::chart::{self, Chart, bars, heat, samples, stack};
use crate::columns::{self, Column};
use crate::figures;
use crate::view::{self, CellView, Group, Interval, Rank, Row, View};

/// Samples of a cell listed in the page at most; beyond that the file of
/// samples is named instead.
const SAMPLES_MAX: usize = 60;

/// The page.
///
/// # Errors
/// Only if a template fails to render, which no view makes it do.
pub fn render(view: &View) -> Result<String, askama::Error> {
    Page {
        view,
        pages: view
            .groups
            .iter()
            .map(|group| GroupPage::new(group, view.has_load()))
            .collect(),
        controls: view.controls.iter().map(control).collect(),
    }
    .render()
}

fn control((cell, ratio): &(fathom_record::CellId, Option<Interval>)) -> (String, String, String) {
    let Some(ratio) = ratio else {
        return (
            cell.to_string(),
            figures::NONE.to_owned(),
            figures::NONE.to_owned(),
        );
    };
    let ends = ratio.ends.map_or_else(
        || figures::NONE.to_owned(),
        |(low, high)| crate::view::range(low, high),
    );
    let differ = figures::signed_percent(ratio.value - 1.0);
    (cell.to_string(), differ, ends)
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    view: &'a View,
    pages: Vec<GroupPage<'a>>,
    controls: Vec<(String, String, String)>,
}

/// A sentence in which no number is parted from its unit at the end of a line.
pub(crate) fn tied(sentence: &str) -> String {
    sentence
        .replace(" %", "\u{a0}%")
        .replace(" ×", "\u{a0}×")
        .replace("± ", "±\u{a0}")
}

/// A sentence as markup: tied, and commands between backticks as code.
pub(crate) fn prose(sentence: &str) -> String {
    marked(&tied(sentence))
}

/// Text as markup: commands between backticks as code.
pub(crate) fn marked(text: &str) -> String {
    let parts = text.split('`').map(escape).enumerate();
    let parts = parts.map(|(at, part)| match at % 2 {
        0 => part,
        _ => format!("<code>{part}</code>"),
    });
    parts.collect()
}

/// How a figure is to be cited.
pub(crate) const CITE: &str = "To cite a figure, name Fathom's version, the campaign and its \
     date, and the host; `CITATION.cff` in Fathom's sources has the entry.";

/// The methodology as a reader of one page needs it; docs/METHODOLOGY.md has the whole.
const METHOD: [&str; 9] = [
    "A round measures every cell once, in fresh processes, in random order. A time in a table is \
     the median of a cell's rounds.",
    "A ratio is of the faster half of each of two cells' rounds, since whatever else runs on a \
     machine only makes it slower; of all rounds, where a campaign or `--estimator mean` says so. \
     What slowed the machine for the whole of a round cancels as far as both count it.",
    "A row's ratio is the geometric mean over its workloads. Its 95 % interval includes the \
     scatter of rounds and, where an engine cannot vary its code layout, an allowance for that.",
    "Where each cell counts its faster half of rounds, the slow half is how much longer the other \
     half took, in brackets that of the row's control. What else ran on the machine is in it: read \
     it beside that of the control and of other rows.",
    "Below five rounds a ratio has no interval and no verdict.",
    "Two rows are different if the test, corrected for all that is compared, shows a difference; \
     equivalent if it shows them to be within 2 % of each other; otherwise undecided, which does \
     not mean equal: an interval stands alone and may exclude 1 where the test, which allows for \
     all pairs, is not passed. Rows that share a rank (`=`) were not shown to differ.",
    "The noise floor is the difference that was measured between identical configurations. Where \
     they differ by more than their errors explain, all errors are widened by as much.",
    "For the full methodology and its reasons see `docs/METHODOLOGY.md` in Fathom's sources.",
    CITE,
];

struct GroupPage<'a> {
    group: &'a Group,
    ratios: Chart,
    heat: Vec<HeatLine>,
    means: Vec<String>,
    scatter: Chart,
    workloads: Vec<WorkloadChart>,
    start: Chart,
    memory: Chart,
    tables: Vec<Table>,
    raw: Vec<RawRow>,
}

struct WorkloadChart {
    name: String,
    why: String,
    chart: Chart,
}

struct HeatLine {
    name: String,
    why: String,
    fields: Vec<HeatField>,
}

struct HeatField {
    class: &'static str,
    text: String,
    title: String,
    target: String,
}

struct Table {
    title: &'static str,
    caption: String,
    head: Vec<Head>,
    lines: Vec<Line>,
    notes: Vec<String>,
}

struct Head {
    name: String,
    is_text: bool,
}

struct Line {
    anchor: String,
    rank: String,
    name: String,
    detail: String,
    is_apart: bool,
    fields: Vec<Field>,
}

struct Field {
    text: String,
    target: String,
    is_text: bool,
}

struct RawRow {
    name: String,
    cells: Vec<RawCell>,
}

struct RawCell {
    anchor: String,
    name: String,
    id: String,
    estimate: String,
    samples: String,
    command: String,
}

impl<'a> GroupPage<'a> {
    fn new(group: &'a Group, with_load: bool) -> GroupPage<'a> {
        let is_single = group.is_single();
        let means = group.rows.iter().map(|row| {
            row.to_baseline.map_or_else(
                || figures::NONE.to_owned(),
                |ratio| figures::ratio_bare(ratio.value),
            )
        });
        let workload = |(index, workload): (usize, &crate::view::Workload)| WorkloadChart {
            name: workload.name.clone(),
            why: workload.why.clone(),
            chart: samples::of_workload(group, index),
        };
        GroupPage {
            group,
            ratios: bars::ratios(group),
            heat: if is_single {
                Vec::new()
            } else {
                heat_lines(group)
            },
            means: means.collect(),
            scatter: if is_single {
                samples::of_workload(group, 0)
            } else {
                samples::of_all(group)
            },
            workloads: if is_single {
                Vec::new()
            } else {
                group.workloads.iter().enumerate().map(workload).collect()
            },
            start: stack::start(group),
            memory: stack::memory(group),
            tables: tables(group, with_load),
            raw: group.rows.iter().map(|row| raw(row, group)).collect(),
        }
    }
}

fn heat_lines(group: &Group) -> Vec<HeatLine> {
    group
        .workloads
        .iter()
        .enumerate()
        .map(|(index, workload)| HeatLine {
            name: workload.name.clone(),
            why: workload.why.clone(),
            fields: group
                .rows
                .iter()
                .map(|row| heat_field(row, row.cells.get(index).and_then(Option::as_ref), group))
                .collect(),
        })
        .collect()
}

fn heat_field(row: &Row, cell: Option<&CellView>, group: &Group) -> HeatField {
    let Some((cell, ratio)) = cell.and_then(|cell| Some((cell, cell.to_baseline?))) else {
        return HeatField {
            class: "",
            text: figures::NONE.to_owned(),
            title: String::new(),
            target: String::new(),
        };
    };
    let interval = ratio.ends.map_or_else(String::new, |(low, high)| {
        format!(" (95 %: {})", figures::ends(low, high))
    });
    HeatField {
        class: heat::class(ratio.value, cell.verdict),
        text: figures::ratio_bare(ratio.value),
        title: format!(
            "{}: {} {}{interval}, {}. {}",
            row.label(),
            figures::ratio(ratio.value),
            group.baseline,
            view::shown(group.figure, cell.estimate.value),
            cell.id,
        ),
        target: cell.anchor.clone(),
    }
}

fn tables(group: &Group, with_load: bool) -> Vec<Table> {
    let mut tables = vec![Table {
        title: "All numbers",
        caption: format!(
            "Ratios of {} are to {}. Times and sizes are geometric means over the workloads.",
            group.figure.noun(),
            group.baseline
        ),
        notes: notes(group),
        ..table(group, columns::numbers(group), "")
    }];
    if with_load {
        tables.push(Table {
            title: "Under load",
            caption: format!(
                "{}: how much was done, how busy the CPUs were, and how often threads were switched. Means over the workloads.",
                group.title
            ),
            ..table(group, columns::load(group), "load-")
        });
    }
    tables
}

fn notes(group: &Group) -> Vec<String> {
    let numbered = group
        .footnotes
        .iter()
        .enumerate()
        .map(|(index, note)| format!("{}) {note}", index + 1));
    numbered.chain(group.caveats()).collect()
}

fn table(group: &Group, columns: Vec<Column>, prefix: &str) -> Table {
    let lines = group
        .rows
        .iter()
        .map(|row| Line {
            anchor: format!("{prefix}{}", row.anchor),
            rank: chart::rank(row),
            name: row.engine_and_version(),
            detail: match row.footnote {
                Some(note) => format!("{} {note})", row.detail),
                None => row.detail.clone(),
            },
            is_apart: row.rank == Rank::Unranked,
            fields: columns.iter().map(|column| field(row, column)).collect(),
        })
        .collect();
    Table {
        title: "",
        caption: String::new(),
        head: columns
            .into_iter()
            .map(|column| Head {
                name: column.name,
                is_text: column.is_text,
            })
            .collect(),
        lines,
        notes: Vec::new(),
    }
}

fn field(row: &Row, column: &Column) -> Field {
    let target = match row.cells.iter().flatten().next() {
        Some(cell) if column.has_samples => cell.anchor.clone(),
        _ => String::new(),
    };
    Field {
        text: (column.show)(row),
        target,
        is_text: column.is_text,
    }
}

fn raw(row: &Row, group: &Group) -> RawRow {
    let cells = row
        .cells
        .iter()
        .zip(&group.workloads)
        .filter_map(|(cell, workload)| {
            let cell = cell.as_ref()?;
            Some(RawCell {
                anchor: cell.anchor.clone(),
                name: workload.name.clone(),
                id: cell.id.to_string(),
                estimate: estimate(cell, group.figure),
                samples: listed(cell, group.figure),
                command: cell.command.clone(),
            })
        })
        .collect();
    RawRow {
        name: row.label(),
        cells,
    }
}

fn estimate(cell: &CellView, figure: Figure) -> String {
    let noise = cell
        .estimate
        .noise()
        .map_or_else(String::new, |noise| format!(" {}", figures::noise(noise)));
    let verdict = cell
        .verdict
        .filter(|verdict| *verdict != Verdict::Different)
        .map_or_else(String::new, |verdict| format!(", {}", verdict.name()));
    let ratio = cell.to_baseline.map_or_else(String::new, |ratio| {
        format!(", {} the baseline{verdict}", figures::ratio(ratio.value))
    });
    format!("{}{noise}{ratio}", view::shown(figure, cell.estimate.value))
}

/// The samples of a cell, rounds apart: `4.01 4.02 | 4.00 4.05 ms`.
fn listed(cell: &CellView, figure: Figure) -> String {
    if cell.samples.len() > SAMPLES_MAX {
        return format!(
            "{} in the samples file",
            figures::plural(cell.samples.len(), "sample")
        );
    }
    let mut text = String::new();
    let mut last = None;
    for point in &cell.samples {
        match last {
            None => {}
            Some(round) if round == point.round => text.push(' '),
            Some(_) => text.push_str(" | "),
        }
        last = Some(point.round);
        text.push_str(&view::shown(figure, point.ns).replace(' ', "\u{a0}"));
    }
    text
}
