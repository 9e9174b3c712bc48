//! One program's time on one engine: a bar of parts, in a terminal, as a page, as a
//! drawing, and as a table.
//!
//! ```text
//!  part            time      95 %                share
//!  native       371 ms  369–373 ms         90 %  ███████████████████
//!  format      31.0 ms  28.9–33.1 ms      7.5 %                     ██
//! ```
//!
//! What must stay true: a part below nothing is drawn backwards and keeps its sign; what is
//! left unexplained stands beside the sum with its interval, however small it is.

use fathom_record::{Campaign, Cell, Names};
use fathom_stats::NoEstimate;
use fathom_stats::waterfall::{Missing, NoWaterfall, Part, Share, Value, Waterfall};

use super::{Context, PageOutput, Printed};
use crate::document::Document;
use crate::figures;
use crate::plain::{Style, Tone};
use crate::sheet::{Column, Entry, Sheet, Unit};
use crate::table::Table;

mod draw;

/// The name of its files.
const NAME: &str = "waterfall";

const COLUMNS: [Column; 7] = [
    ("part", "part", Unit::Text),
    ("time", "time_ns", Unit::Time),
    ("95 % from", "low_ns", Unit::Time),
    ("to", "high_ns", Unit::Time),
    ("share", "share", Unit::Share),
    ("count", "count", Unit::Whole),
    ("each", "each_ns", Unit::Time),
];

/// What the experiment adds: its bar, in place of the general report.
pub fn output(context: &Context<'_>) -> PageOutput {
    let campaign = context.campaign;
    match Waterfall::of(campaign, context.summary) {
        Ok(waterfall) => Page::of(&waterfall, context).output(&campaign.header.name),
        Err(why) => without(&why, context),
    }
}

/// What is said where there is no bar.
fn without(why: &NoWaterfall, context: &Context<'_>) -> PageOutput {
    let mut text = format!("No waterfall: {why}\n");
    text.extend(failures(context.campaign).map(|line| format!("  {line}\n")));
    PageOutput {
        printed: Printed::Instead(text),
        ..PageOutput::default()
    }
}

/// What was not measured, a line each.
fn failures(campaign: &Campaign) -> impl Iterator<Item = String> {
    campaign.failures.iter().map(|failure| {
        let cell = failure.cell.as_ref().and_then(|id| campaign.cell(id));
        let what = cell.map_or_else(String::new, |cell| {
            format!(
                "{} on {}: ",
                cell.workload,
                Names::one(&cell.sandbox, cell.variant)
            )
        });
        format!("not measured: {what}{}: {}", failure.kind, failure.message)
    })
}

/// A line of the bar.
pub(super) struct Line {
    /// What it is called.
    pub(super) name: &'static str,
    /// What it is, in words.
    pub(super) what: String,
    pub(super) value: Value,
    /// Where it begins on the axis: behind all before it.
    pub(super) from_ns: f64,
    /// Whether it is the whole, from the beginning.
    pub(super) is_whole: bool,
    pub(super) part: Option<Part>,
    count: Option<(f64, f64)>,
}

impl Line {
    pub(super) fn time(&self) -> String {
        figures::time(self.value.ns)
    }

    pub(super) fn ends(&self) -> Option<(f64, f64)> {
        let interval = self.value.interval.ok()?;
        Some((interval.low, interval.high))
    }

    /// The interval as text.
    fn interval(&self) -> String {
        match (self.ends(), self.value.interval) {
            (Some((low, high)), _) => format!("{} to {}", figures::time(low), figures::time(high)),
            (None, Err(NoEstimate::TooFewSamples { have, .. })) => {
                format!("{} only", figures::plural(have, "run"))
            }
            (None, _) => figures::NONE.to_owned(),
        }
    }
}

/// All of it, in words.
pub(super) struct Page {
    pub(super) title: String,
    pub(super) lines: Vec<Line>,
    /// What stands below.
    notes: Vec<String>,
    whole_ns: f64,
}

impl Page {
    fn of(waterfall: &Waterfall, context: &Context<'_>) -> Page {
        let whole_ns = waterfall.whole.ns;
        let mut lines = Vec::new();
        let mut from_ns = 0.0;
        for share in &waterfall.parts {
            lines.push(line(share, waterfall, from_ns));
            from_ns += share.value.ns;
        }
        let unexplained = Line {
            name: "unexplained",
            what: "the whole without the parts".to_owned(),
            value: waterfall.unexplained,
            from_ns,
            is_whole: false,
            part: None,
            count: None,
        };
        let whole = Line {
            name: "whole",
            what: "the process, from its start to its end".to_owned(),
            value: waterfall.whole,
            from_ns: 0.0,
            is_whole: true,
            part: None,
            count: None,
        };
        lines.extend([unexplained, whole]);
        Page {
            title: title(waterfall),
            lines,
            notes: notes(waterfall, context),
            whole_ns,
        }
    }

    fn output(&self, campaign: &str) -> PageOutput {
        let sheet = self.sheet();
        let mut files = super::files(NAME, &self.document(campaign, &sheet), Some(sheet.csv()));
        files.push((format!("{NAME}.svg"), draw::alone(self)));
        PageOutput {
            printed: Printed::Instead(self.plain()),
            files,
            paper: Vec::new(),
        }
    }

    fn document(&self, campaign: &str, sheet: &Sheet) -> Document {
        let mut page = Document::new(campaign);
        page.say(Tone::Plain, &self.title);
        page.figure(draw::chart(self));
        page.table(sheet.table());
        page.list(self.notes.iter().map(|note| (Tone::Plain, note.clone())));
        page
    }

    fn share(&self, line: &Line) -> f64 {
        line.value.ns / self.whole_ns
    }

    fn sheet(&self) -> Sheet {
        let entries = |line: &Line| -> Vec<Entry> {
            let (low, high) = line.ends().unzip();
            vec![
                line.name.into(),
                Some(line.value.ns).into(),
                low.into(),
                high.into(),
                Some(self.share(line)).into(),
                line.count.map(|(count, _)| count).into(),
                line.count.map(|(_, each_ns)| each_ns).into(),
            ]
        };
        Sheet {
            title: self.title.clone(),
            columns: &COLUMNS,
            lines: self.lines.iter().map(entries).collect(),
        }
    }

    /// For a terminal.
    fn plain(&self) -> String {
        let mut table = Table::new(["part", "time", "95 %", "share", "", ""]).left([4, 5]);
        for line in &self.lines {
            table.push([
                line.name.to_owned(),
                line.time(),
                line.interval(),
                figures::percent(self.share(line)),
                draw::blocks(self, line),
                counted(line),
            ]);
        }
        let mut text = format!("{}\n{}", self.title, table.terminal(Style::default()));
        text.extend(self.notes.iter().map(|note| format!("{note}\n")));
        text
    }
}

/// How many and how long each.
fn counted(line: &Line) -> String {
    line.count.map_or_else(String::new, |(count, each_ns)| {
        format!("{} × {}", figures::count(count), figures::time(each_ns))
    })
}

fn line(share: &Share, waterfall: &Waterfall, from_ns: f64) -> Line {
    let (name, what) = words(share.part, waterfall);
    Line {
        name,
        what,
        value: share.value,
        from_ns,
        is_whole: false,
        part: Some(share.part),
        count: share.count.map(|count| (count.count, count.each_ns)),
    }
}

/// A part's name, and what it is of this engine.
fn words(part: Part, waterfall: &Waterfall) -> (&'static str, String) {
    let engine = Names::sandbox(&waterfall.cell.sandbox);
    let unchecked = waterfall.unchecked.as_ref().map(Names::sandbox);
    let without = unchecked.unwrap_or_else(|| engine.clone());
    let format = Names::sandbox(&waterfall.format);
    let has_native = waterfall.parts.iter().any(|one| one.part == Part::Native);
    let more = match has_native {
        true => ", more than native",
        false => "",
    };
    match part {
        Part::Native => ("native", "the native program".to_owned()),
        Part::Code => ("code", format!("its own code on {format}")),
        Part::Format => ("format", format!("{format} over native")),
        Part::Quality => ("code quality", format!("{without} over {format}")),
        Part::Checks => ("checks", format!("{engine} over {without}")),
        Part::Wasi if waterfall.wasi_has_calls => (
            "WASI",
            "with its system calls, which were not seen".to_owned(),
        ),
        Part::Wasi => ("WASI", "outside system calls".to_owned()),
        Part::Calls => ("system calls", format!("in the run{more}")),
        Part::Faults => ("page faults", format!("in the run{more}")),
        Part::Instance => ("instance", "making and dropping it".to_owned()),
        Part::Compile => ("compile", "reading and compiling".to_owned()),
        Part::Start => (
            "start-up",
            "start and end of the engine's process".to_owned(),
        ),
    }
}

fn title(waterfall: &Waterfall) -> String {
    let Cell { workload, size, .. } = &waterfall.cell;
    let size = match size.as_str() {
        "" => String::new(),
        size => format!(" {size}"),
    };
    format!(
        "{workload}{size} on {}: {}",
        Names::one(&waterfall.cell.sandbox, waterfall.cell.variant),
        figures::time(waterfall.whole.ns)
    )
}

fn notes(waterfall: &Waterfall, context: &Context<'_>) -> Vec<String> {
    let mut notes = vec![adds_up(waterfall)];
    if let Some(twice) = &waterfall.twice {
        let ends = match twice.interval {
            Ok(ends) => format!(
                " (95 %: {} to {})",
                figures::time(ends.low),
                figures::time(ends.high)
            ),
            Err(_) => String::new(),
        };
        let ns = figures::time(twice.ns);
        notes.push(format!(
            "The same row measured twice differs by {ns}{ends}."
        ));
    }
    let traced = match waterfall.repeats {
        0 => String::new(),
        repeats => format!(", and {}", figures::plural(repeats, "traced run")),
    };
    let rounds = figures::plural(waterfall.rounds, "round");
    notes.push(format!(
        "Means of {rounds}, a cold process for each row in each{traced}."
    ));
    notes.extend(
        waterfall
            .apart
            .iter()
            .map(|missing| apart(missing, waterfall)),
    );
    notes.extend(failures(context.campaign));
    notes
}

/// The sum against the whole.
fn adds_up(waterfall: &Waterfall) -> String {
    let [sum, whole, left] =
        [&waterfall.sum, &waterfall.whole, &waterfall.unexplained].map(|one| figures::time(one.ns));
    let share = figures::percent((waterfall.unexplained.ns / waterfall.whole.ns).abs());
    match (
        &waterfall.unexplained.interval,
        waterfall.unexplained.may_be_nothing(),
    ) {
        (Err(_), _) => {
            format!("The parts add up to {sum} of {whole}; there are too few rounds to say more.")
        }
        (Ok(_), true) => format!(
            "The parts add up to {sum} of {whole}: what is left, {left}, cannot be told from nothing."
        ),
        (Ok(_), false) => {
            format!("The parts add up to {sum} of {whole}: {left} ({share}) is unexplained.")
        }
    }
}

/// Why a part is not there, and where its time is.
fn apart((part, missing): &(Part, Missing), waterfall: &Waterfall) -> String {
    let (name, _) = words(*part, waterfall);
    let into = match waterfall.parts.iter().any(|one| one.part == Part::Native) {
        true => "format",
        false => "code",
    };
    match (part, missing) {
        (_, Missing::NoUnchecked) => format!(
            "{} has no way to leave out its checks: they are in \"code quality\".",
            waterfall.cell.sandbox.engine
        ),
        (_, Missing::NotTraced) => {
            format!("\"{name}\" is not told apart, since it was not traced: it is in \"{into}\".")
        }
        (_, Missing::NotBeside(other)) => format!(
            "\"{name}\" is not told apart, since {other} were not traced: it is in \"{into}\"."
        ),
        (_, Missing::NoPrice) => {
            format!("\"{name}\" is not told apart, since their price is not known.")
        }
    }
}

#[cfg(test)]
mod tests;
