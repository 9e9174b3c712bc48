//! Where a campaign's time went: by row, and by part of a child's life.
//!
//! ```text
//!  Process  wall_ns ───────────────────────────────────────────────────────────────────────┐
//!           load  compile  warm-up │ instantiate  run (kernel within)  teardown  cycle │ the rest
//!                                  └─ the counted iterations of a Sample ──────────────┘
//! ```
//!
//! The rest is the start and the end of the process, and in older campaigns warm-up, which
//! nobody timed apart.
//! Instances that run at once share the clock: of those, the mean of the workers counts.
//!
//! What must stay true: nothing is guessed. A child whose whole time was not recorded has no
//! rest, and its row no sum; what is in no record (probing, trial runs, what passed between
//! children, children that failed) is named and has no number.

use std::collections::BTreeMap;

use fathom_record::campaign::{Process, Sample};
use fathom_record::{Campaign, Cell, CellId, Names, Phase};

use crate::csv;
use crate::document::Document;
use crate::figures::{self, NONE};
use crate::plain::{Style, Tone};
use crate::table::Table;
use crate::{Format, ReportError};

/// A part of a child's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Reading the module.
    Load,
    /// Compiling it.
    Compile,
    /// Iterations before the counted ones.
    Warmup,
    /// Making instances.
    Instantiate,
    /// The kernel, as the program timed it.
    Kernel,
    /// Everything else that the program did.
    Run,
    /// Dropping instances.
    Teardown,
    /// Instances in a row, under one clock.
    Cycle,
    /// Start and end of the process, and warm-up that was not timed apart.
    Rest,
}

impl Part {
    /// Every one, in the order of a child's life.
    pub const ALL: [Part; 9] = [
        Part::Load,
        Part::Compile,
        Part::Warmup,
        Part::Instantiate,
        Part::Kernel,
        Part::Run,
        Part::Teardown,
        Part::Cycle,
        Part::Rest,
    ];

    /// Its name for a script.
    pub fn name(self) -> &'static str {
        match self {
            Part::Load => "load",
            Part::Compile => "compile",
            Part::Warmup => "warmup",
            Part::Instantiate => "instantiate",
            Part::Kernel => "kernel",
            Part::Run => "run",
            Part::Teardown => "teardown",
            Part::Cycle => "cycle",
            Part::Rest => "rest",
        }
    }

    fn of_phase(phase: Phase) -> Part {
        match phase {
            Phase::Load => Part::Load,
            Phase::Compile => Part::Compile,
            Phase::Instantiate => Part::Instantiate,
            Phase::Run => Part::Run,
            Phase::Teardown => Part::Teardown,
            Phase::Cycle => Part::Cycle,
        }
    }
}

/// What some children took, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// The row, and whether it is its control.
    pub name: String,
    /// Whether it repeats another row.
    pub is_control: bool,
    /// Children that were measured to their end.
    pub children: usize,
    /// From the start of each to its end; absent where one was not recorded.
    pub whole: Option<f64>,
    parts: BTreeMap<Part, f64>,
}

impl Line {
    /// A part; absent if it is the rest, and not all children have one.
    pub fn part(&self, part: Part) -> Option<f64> {
        match (part, self.whole) {
            (Part::Rest, None) => None,
            _ => Some(self.parts.get(&part).copied().unwrap_or(0.0)),
        }
    }

    fn add(&mut self, process: &Process, counted: &BTreeMap<Part, f64>) {
        self.children += 1;
        let mut parts = counted.clone();
        for (phase, span) in &process.phases {
            *parts.entry(Part::of_phase(*phase)).or_default() += span.wall_ns as f64;
        }
        parts.insert(Part::Warmup, process.warmup_ns.unwrap_or(0) as f64);
        let known: f64 = parts.values().sum();
        let whole = process.wall_ns.map(|ns| ns as f64);
        self.whole = self.whole.zip(whole).map(|(sum, one)| sum + one);
        let rest = whole.map_or(0.0, |ns| (ns - known).max(0.0));
        parts.insert(Part::Rest, rest);
        for (part, ns) in parts {
            *self.parts.entry(part).or_default() += ns;
        }
    }

    fn sum<'a>(name: &str, lines: impl Iterator<Item = &'a Line>) -> Line {
        let mut all = Line {
            name: name.to_owned(),
            whole: Some(0.0),
            ..Line::default()
        };
        for line in lines {
            all.children += line.children;
            all.whole = all.whole.zip(line.whole).map(|(sum, one)| sum + one);
            for (part, ns) in &line.parts {
                *all.parts.entry(*part).or_default() += ns;
            }
        }
        all
    }
}

/// Where a campaign's time went.
#[derive(Clone, Debug, PartialEq)]
pub struct Spent {
    title: String,
    /// Rows, and controls apart, what took longest first.
    pub lines: Vec<Line>,
    /// All of them together.
    pub all: Line,
    /// Whether the rest has it.
    has_warmup: bool,
    notes: Vec<String>,
}

/// What is in no record of a campaign.
const UNRECORDED: &str = "Not recorded, and in no figure here: probing, trial runs, what passed between \
     children, and children that failed or were cut short.";

impl Spent {
    /// By the records of a campaign.
    pub fn of(campaign: &Campaign) -> Spent {
        let mut counted = counted(campaign);
        let rows = campaign.header.cells.iter();
        let keys = rows.map(|cell| (&cell.sandbox, Some(cell.variant)));
        let names = Names::with_builds(keys);
        let threads = campaign.header.cells.iter().map(|cell| cell.threads);
        let is_one = threads.clone().min() == threads.max();
        let mut lines: BTreeMap<String, Line> = BTreeMap::new();
        // The later of two records of a round counts.
        let processes: BTreeMap<Child<'_>, &Process> = campaign
            .processes
            .iter()
            .map(|process| ((&process.cell, process.round), process))
            .collect();
        for (key, process) in processes {
            let Some(cell) = campaign.cell(key.0) else {
                continue;
            };
            let name = name(cell, &names, is_one);
            let line = lines.entry(name.clone()).or_insert_with(|| Line {
                name,
                is_control: cell.is_control(),
                whole: Some(0.0),
                ..Line::default()
            });
            line.add(process, &counted.remove(&key).unwrap_or_default());
        }
        let mut lines: Vec<Line> = lines.into_values().collect();
        let known = |line: &Line| line.parts.values().sum::<f64>();
        lines.sort_by(|one, other| known(other).total_cmp(&known(one)));
        let all = Line::sum("all children", lines.iter());
        let mut spent = Spent {
            title: campaign.header.name.clone(),
            has_warmup: campaign.header.config.warmup > 0
                && campaign.processes.iter().all(|one| one.warmup_ns.is_none()),
            notes: Vec::new(),
            lines,
            all,
        };
        spent.notes = spent.notes(campaign);
        spent
    }

    fn notes(&self, campaign: &Campaign) -> Vec<String> {
        let mut notes = Vec::new();
        let controls = Line::sum("", self.lines.iter().filter(|line| line.is_control));
        if let Some((ns, all)) = controls.whole.zip(self.all.whole)
            && controls.children > 0
            && all > 0.0
        {
            let (ns, share) = (figures::time(ns), figures::percent(ns / all));
            notes.push(format!("Of it controls: {ns}, {share}."));
        }
        if self.all.whole.is_none() {
            notes.push(
                "The whole time of some children was not recorded: their rest is not known, nor a \
                 sum."
                    .to_owned(),
            );
        }
        let failed = campaign.failures.iter();
        let failed = failed.filter(|failure| failure.round.is_some()).count();
        let failed = match failed {
            0 => String::new(),
            some => format!(" Children that failed: {some}."),
        };
        let budget = campaign.header.config.budget_ms;
        let budget = budget.map_or_else(String::new, |ms| {
            format!(" The budget was {}.", figures::time(ms as f64 * 1e6))
        });
        notes.push(format!("{UNRECORDED}{failed}{budget}"));
        notes
    }

    /// In a form: for a terminal, as Markdown, or as CSV, a line for each part of each row.
    ///
    /// # Errors
    /// [`ReportError::NoForm`] for any other.
    pub fn render(&self, format: Format, style: Style) -> Result<String, ReportError> {
        match format {
            Format::Terminal => {
                let page = self.document();
                Ok(page.title(style) + &page.terminal(style))
            }
            Format::Markdown => Ok(self.document().markdown()),
            Format::Csv => Ok(self.csv()),
            other => Err(ReportError::NoForm {
                what: "the time spent",
                format: other,
                known: "terminal, markdown or csv",
            }),
        }
    }

    fn document(&self) -> Document {
        let mut page = Document::new(format!("{}: where the time went", self.title));
        page.table(self.by_row());
        page.table(self.by_part());
        for note in &self.notes {
            page.say(Tone::Faint, note);
        }
        page
    }

    fn csv(&self) -> String {
        let mut text = csv::line(["row", "is_control", "children", "part", "ns", "share"]);
        for line in &self.lines {
            for part in Part::ALL {
                let ns = line.part(part);
                let share = ns.zip(self.all.whole).filter(|(_, all)| *all > 0.0);
                text.push_str(&csv::line([
                    line.name.clone(),
                    line.is_control.to_string(),
                    line.children.to_string(),
                    part.name().to_owned(),
                    csv::unrounded(ns),
                    csv::unrounded(share.map(|(ns, all)| ns / all)),
                ]));
            }
        }
        text
    }

    /// Parts that took any time.
    fn parts(&self) -> impl Iterator<Item = Part> + '_ {
        let is_there = |part: &Part| self.all.part(*part).is_none_or(|ns| ns > 0.0);
        Part::ALL.into_iter().filter(is_there)
    }

    fn head(&self, part: Part) -> &'static str {
        match part {
            Part::Run if self.all.part(Part::Kernel) > Some(0.0) => "rest of the run",
            Part::Warmup => "warm-up",
            Part::Cycle => "cycles",
            Part::Rest if self.has_warmup => "start, end, warm-up",
            Part::Rest => "start, end",
            part => part.name(),
        }
    }

    fn share(&self, ns: Option<f64>) -> String {
        let share = ns.zip(self.all.whole).filter(|(_, all)| *all > 0.0);
        share.map_or(NONE.to_owned(), |(ns, all)| figures::percent(ns / all))
    }

    fn by_row(&self) -> Table {
        let mut table = Table::new(["row", "children", "time", "share"])
            .and(self.parts().map(|part| self.head(part)));
        for line in self.lines.iter().chain([&self.all]) {
            let first = [
                line.name.clone(),
                figures::count(line.children as f64),
                shown(line.whole),
                self.share(line.whole),
            ];
            let parts = self.parts().map(|part| shown(line.part(part)));
            table.push(first.into_iter().chain(parts));
        }
        table
    }

    fn by_part(&self) -> Table {
        let mut table = Table::new(["part", "time", "share"]);
        for part in self.parts() {
            let ns = self.all.part(part);
            table.push([self.head(part).to_owned(), shown(ns), self.share(ns)]);
        }
        table
    }
}

fn shown(ns: Option<f64>) -> String {
    ns.map_or(NONE.to_owned(), figures::time)
}

/// A row by its name, how many run at once where that differs, and whether it is a control.
fn name(cell: &Cell, names: &Names, is_one: bool) -> String {
    let mut name = names.name(&cell.sandbox, Some(cell.variant));
    if !is_one {
        name.push_str(&format!(", {} at once", cell.threads));
    }
    if cell.is_control() {
        name.push_str(", control");
    }
    name
}

/// A cell in a round.
type Child<'a> = (&'a CellId, u32);

/// Counted iterations by worker and number.
type Iterations<'a> = BTreeMap<(u32, u32), &'a Sample>;

/// What the counted iterations of each child took, in parts.
fn counted(campaign: &Campaign) -> BTreeMap<Child<'_>, BTreeMap<Part, f64>> {
    let mut samples: BTreeMap<Child<'_>, Iterations<'_>> = BTreeMap::new();
    for sample in &campaign.samples {
        let child = samples.entry((&sample.cell, sample.round)).or_default();
        child.insert((sample.thread, sample.index), sample);
    }
    let each = samples.into_iter().map(|(child, samples)| {
        let workers = samples.keys().map(|(thread, _)| thread);
        let workers = workers.collect::<std::collections::BTreeSet<_>>().len() as f64;
        let mut parts: BTreeMap<Part, f64> = BTreeMap::new();
        for sample in samples.values() {
            for (phase, span) in &sample.phases {
                let ns = span.wall_ns as f64;
                let kernel = match phase {
                    Phase::Run => sample.kernel_ns.map_or(0.0, |kernel| ns.min(kernel as f64)),
                    _ => 0.0,
                };
                *parts.entry(Part::Kernel).or_default() += kernel / workers;
                *parts.entry(Part::of_phase(*phase)).or_default() += (ns - kernel) / workers;
            }
        }
        (child, parts)
    });
    each.collect()
}

#[cfg(test)]
mod tests;
