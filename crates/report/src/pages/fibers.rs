//! Fibers: what a resumption takes, by program, by depth and by live stacks; stack switching
//! over Asyncify on the same engine, and from which depth on it is ahead.
//!
//! ```text
//!  Context ─▶ Fibers: a line for each engine and way ─▶ tables ─▶ fibers.md, .html, .csv
//! ```
//!
//! What must stay true: a time is divided by the resumptions that the campaign says of the
//! program, and where it says none there is no figure; "ahead" is told of an interval that
//! does not hold 1, and of every depth behind it.

use fathom_record::campaign::WorkloadNote;
use fathom_record::{Campaign, Metric, Names, Variant};
use fathom_stats::{Against, Medians, Ratio, Row, Summary};

use super::{Context, PageOutput, at_once};
use crate::about::{absent, failures};
use crate::csv::{line, unrounded};
use crate::document::Document;
use crate::figures::{self, NONE};
use crate::plain::Tone;
use crate::table::Table;

/// The titles of tables that have fewer columns than others.
const CROSSINGS: &str = "Depth from which stack switching is ahead";
const SIZES: &str = "Bytes of a module";

/// What the experiment adds: its page in the place of the general report.
pub fn output(context: &Context<'_>) -> PageOutput {
    let fibers = Fibers::of(context.campaign, context.summary);
    PageOutput::instead(
        "fibers",
        context.campaign,
        fibers.document(),
        Some(fibers.csv()),
    )
}

/// How fibers are made in a build.
pub(super) fn way(variant: Variant) -> Option<&'static str> {
    match variant {
        Variant::WasmAsyncify => Some("Asyncify"),
        Variant::WasmSwitch => Some("stack switching"),
        Variant::WasmState | Variant::NativeState => Some("state machines"),
        Variant::Native => Some("own stacks"),
        Variant::Wasm
        | Variant::WasmSimd
        | Variant::WasmMvp
        | Variant::WasmOpt
        | Variant::WasmComponent
        | Variant::Wasm32
        | Variant::Wasm64
        | Variant::NativeTuned
        | Variant::NativeGcc => None,
    }
}

/// A campaign of fibers.
pub(super) struct Fibers<'a> {
    pub(super) campaign: &'a Campaign,
    pub(super) summary: &'a Summary,
    medians: Vec<Medians<'a>>,
    /// Engines and ways, in the campaign's order.
    pub(super) rows: Vec<&'a Row>,
}

impl<'a> Fibers<'a> {
    /// Of a campaign.
    pub(super) fn of(campaign: &'a Campaign, summary: &'a Summary) -> Fibers<'a> {
        let rows = summary.rows.iter().map(|row| &row.row);
        Fibers {
            campaign,
            summary,
            medians: Medians::all(campaign, summary),
            rows: rows.filter(|row| way(row.variant).is_some()).collect(),
        }
    }

    fn notes(&self, category: &str) -> Vec<&'a WorkloadNote> {
        let notes = self.campaign.header.workloads.iter();
        let of = |note: &&WorkloadNote| note.category.as_deref() == Some(category);
        notes.filter(of).collect()
    }

    /// An engine, and what tells it from others that make fibers in the same way.
    pub(super) fn engine(&self, row: &Row) -> String {
        let same = self
            .rows
            .iter()
            .filter(|other| other.variant == row.variant);
        let names = Names::short(same.map(|row| (&row.sandbox, None)));
        at_once(names.name(&row.sandbox, None), row.threads)
    }

    fn line(&self, row: &Row, fields: impl Iterator<Item = String>) -> Vec<String> {
        let way = way(row.variant).unwrap_or(NONE).to_owned();
        [self.engine(row), way].into_iter().chain(fields).collect()
    }

    /// Nanoseconds a resumption, the median of the rounds.
    fn trip_ns(&self, row: &Row, note: &WorkloadNote) -> Option<f64> {
        let trips = note.trips.filter(|trips| *trips > 0)?;
        let cell = self.summary.cell_of(row, &note.name)?;
        Some(cell.estimate(self.summary.compared)?.median / trips as f64)
    }

    /// A way over Asyncify on the same engine.
    pub(super) fn over_asyncify(&self, row: &Row, workload: &str) -> Option<Ratio> {
        let asyncify = Row {
            variant: Variant::WasmAsyncify,
            ..row.clone()
        };
        let over = self.summary.over(row, Against::Row(&asyncify), &[workload]);
        over.geomean.ok().filter(|_| row.variant.is_wasm())
    }

    /// Bytes of memory for each of so many suspended fibers: what the process takes more
    /// than with one.
    fn bytes_a_stack(&self, row: &Row, live: u32) -> Option<f64> {
        let peak = |live: u32| {
            let name = format!("live-{live}");
            let mut all = self.medians.iter();
            let of = |one: &&Medians<'_>| Row::of(one.cell) == *row && one.cell.workload == name;
            all.find(of)?.metric(Metric::RssPeakBytes)
        };
        Some((peak(live)? - peak(1)?) / f64::from(live - 1))
    }

    fn trips(&self, category: &str) -> Table {
        let notes = self.notes(category);
        let mut table = Table::new(["engine", "fibers"]).and(names(&notes));
        for row in &self.rows {
            let fields = notes
                .iter()
                .map(|note| nanoseconds(self.trip_ns(row, note)));
            table.push(self.line(row, fields));
        }
        table
    }

    fn ratios(&self, categories: &[&str]) -> Table {
        let notes: Vec<&WorkloadNote> = categories.iter().flat_map(|one| self.notes(one)).collect();
        let mut table = Table::new(["engine", "fibers"]).and(names(&notes));
        for row in self.wasm(|variant| variant != Variant::WasmAsyncify) {
            let fields = notes
                .iter()
                .map(|note| match self.over_asyncify(row, &note.name) {
                    Some(ratio) => figures::ratio_between(&ratio),
                    None => NONE.to_owned(),
                });
            table.push(self.line(row, fields));
        }
        table
    }

    fn wasm(&self, is_wanted: impl Fn(Variant) -> bool) -> impl Iterator<Item = &'a Row> {
        let rows = self.rows.iter().copied();
        rows.filter(move |row| row.variant.is_wasm() && is_wanted(row.variant))
    }

    /// The depths that were measured, each with its workload.
    fn depths(&self) -> Vec<(u32, &'a WorkloadNote)> {
        let number = |note: &&WorkloadNote| note.name.strip_prefix("depth-")?.parse().ok();
        let notes = self.notes("depth").into_iter();
        let mut depths: Vec<_> = notes
            .filter_map(|note| Some((number(&note)?, note)))
            .collect();
        depths.sort_by_key(|(depth, _)| *depth);
        depths
    }

    /// From which depth on stack switching is ahead of Asyncify, in words.
    fn overtakes(&self, row: &Row) -> String {
        let mut from = None;
        for (depth, note) in self.depths() {
            let Some(ratio) = self.over_asyncify(row, &note.name) else {
                return "not measured".to_owned();
            };
            let Ok(interval) = ratio.interval else {
                return "too few rounds to tell".to_owned();
            };
            from = match interval.high < 1.0 {
                true => from.or(Some(depth)),
                false => None,
            };
        }
        match from {
            Some(depth) => format!("from depth {depth} on"),
            None => "at no depth that was measured".to_owned(),
        }
    }

    fn crossings(&self) -> Table {
        let mut table = Table::new(["engine", "stack switching is ahead of Asyncify"]);
        if self.depths().is_empty() {
            return table;
        }
        for row in self.wasm(|variant| variant == Variant::WasmSwitch) {
            table.push([self.engine(row), self.overtakes(row)]);
        }
        table
    }

    fn memory(&self) -> Table {
        let live = self.notes("live").into_iter().filter_map(|note| {
            let live = note.name.strip_prefix("live-")?.parse::<u32>().ok()?;
            (live >= 10_000).then_some(live)
        });
        let live: Vec<u32> = live.collect();
        let heads = live.iter().map(|live| figures::count(f64::from(*live)));
        let heads = heads.map(|live| format!("of {live}"));
        let mut table = Table::new(["engine", "fibers"]).and(heads);
        for row in &self.rows {
            let fields = live.iter().map(|live| {
                let bytes = self.bytes_a_stack(row, *live);
                bytes.map_or_else(|| NONE.to_owned(), figures::bytes)
            });
            table.push(self.line(row, fields));
        }
        table
    }

    fn sizes(&self) -> Table {
        let notes: Vec<&WorkloadNote> = ["programs", "patterns"]
            .iter()
            .flat_map(|one| self.notes(one))
            .collect();
        let mut table = Table::new(["fibers"]).and(names(&notes));
        for variant in [
            Variant::WasmAsyncify,
            Variant::WasmSwitch,
            Variant::WasmState,
        ] {
            let mut line = vec![way(variant).unwrap_or(NONE).to_owned()];
            line.extend(notes.iter().map(|note| {
                let bytes = note.builds.get(&variant);
                bytes.map_or_else(|| NONE.to_owned(), |bytes| figures::count(*bytes as f64))
            }));
            table.push(line);
        }
        table
    }

    /// The page's tables, each with what it shows; those of which nothing was measured are
    /// left out.
    fn tables(&self) -> Vec<(&'static str, Table)> {
        let all = [
            ("Nanoseconds a resumption", self.trips("programs")),
            (
                "Nanoseconds a resumption, Kotlin's five patterns",
                self.trips("patterns"),
            ),
            (
                "Ratio to Asyncify on the same engine, with 95 % intervals",
                self.ratios(&["programs", "patterns"]),
            ),
            ("Nanoseconds a round trip, by depth", self.trips("depth")),
            (
                "Round trips over Asyncify's, by depth",
                self.ratios(&["depth"]),
            ),
            (CROSSINGS, self.crossings()),
            (
                "Nanoseconds a round trip, by suspended fibers",
                self.trips("live"),
            ),
            ("Memory of a suspended fiber", self.memory()),
            (SIZES, self.sizes()),
        ];
        // An engine, a way and something of it; the last two tables have one of these less.
        let has_something = |(title, table): &(&str, Table)| {
            let named = match *title {
                CROSSINGS | SIZES => 1,
                _ => 2,
            };
            !table.lines.is_empty() && table.head.len() > named
        };
        all.into_iter().filter(has_something).collect()
    }

    fn document(&self) -> Document {
        let mut page = Document::new(&self.campaign.header.name);
        page.say(Tone::Plain, self.head());
        for (title, table) in self.tables() {
            page.heading(title);
            page.table(table);
        }
        page.listed("Not here", absent(self.campaign));
        page.listed("Not measured", failures(self.campaign));
        page
    }

    /// What is compared, where, and how sure it is.
    pub(super) fn head(&self) -> String {
        let header = &self.campaign.header;
        let cells = self.summary.cells.iter();
        let rounds = cells.filter_map(|cell| Some(cell.times.as_ref().ok()?.rounds.len()));
        format!(
            "On {}, {}, {}, up to {}. Times of the programs' own loops, one pinned instance, medians; \
             ratios are of the same round. A resumption is a round trip, and whatever the program \
             does with it.",
            header.host.cpu_model,
            header.host.kernel,
            header.date,
            figures::plural(rounds.max().unwrap_or(0), "round"),
        )
    }

    fn csv(&self) -> String {
        let heads = "engine,strategy,backend,settings,threads,fibers,workload,category,trips,\
                        ns_a_trip,over_asyncify,low,high,module_bytes";
        let mut text = line(heads.split(','));
        for row in &self.rows {
            for note in &self.campaign.header.workloads {
                let Some(ns) = self.trip_ns(row, note) else {
                    continue;
                };
                let ratio = self.over_asyncify(row, &note.name);
                let ends = ratio.as_ref().and_then(|ratio| ratio.interval.ok());
                let bytes = note.builds.get(&row.variant).map(|bytes| *bytes as f64);
                text.push_str(&line([
                    row.sandbox.engine.clone(),
                    row.sandbox.strategy.clone(),
                    row.sandbox
                        .settings
                        .backend()
                        .unwrap_or_default()
                        .to_owned(),
                    row.sandbox.settings.for_programs(),
                    row.threads.to_string(),
                    way(row.variant).unwrap_or_default().to_owned(),
                    note.name.clone(),
                    note.category.clone().unwrap_or_default(),
                    unrounded(note.trips.map(|trips| trips as f64)),
                    unrounded(Some(ns)),
                    unrounded(ratio.map(|ratio| ratio.value)),
                    unrounded(ends.as_ref().map(|ends| ends.low)),
                    unrounded(ends.as_ref().map(|ends| ends.high)),
                    unrounded(bytes),
                ]));
            }
        }
        text
    }
}

/// The workloads' names without what they share.
fn names<'a>(notes: &'a [&WorkloadNote]) -> impl Iterator<Item = &'a str> {
    notes.iter().map(|note| {
        let mut prefixes = ["depth-", "live-"].iter();
        let numbered = prefixes.find_map(|prefix| note.name.strip_prefix(prefix));
        numbered.unwrap_or(&note.name)
    })
}

/// Three digits of nanoseconds.
fn nanoseconds(ns: Option<f64>) -> String {
    match ns {
        None => NONE.to_owned(),
        Some(ns) if ns < 10.0 => format!("{ns:.2}"),
        Some(ns) if ns < 100.0 => format!("{ns:.1}"),
        Some(ns) => figures::count(ns.round()),
    }
}

#[cfg(test)]
pub(super) mod tests;
