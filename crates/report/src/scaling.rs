//! Instances side by side: the page of a campaign of `fathom suite scaling`.
//!
//! ```text
//!  Part    a suite at a size: short programs, long ones
//!   └ Line    an engine in one configuration
//!      └ Point   so many instances at once: throughput, and what it cost
//! ```
//!
//! What must stay true: throughput is what was seen to end in a second, not a
//! quotient of medians; more instances than processors are marked wherever they
//! are shown; what was not measured is a dash, and what failed is named.

use std::collections::BTreeMap;

use fathom_record::{Campaign, CellId};
use fathom_stats::{Figure, FigureUnit, NoiseFloor, Row as Key, Summary, Verdict};

use crate::about::failures;
use crate::chart::grouped_bars::{Bar, Group as Bars, GroupedBars};
use crate::document::Document;
use crate::figures::{self, NONE};
use crate::pages::{Context, PageOutput};
use crate::plain::Tone;
use crate::table::Table;
use crate::view::{Group, Interval, Judged, Row, View};

mod csv;

/// What marks more instances than processors.
const OVER: &str = "*";
/// System calls in the order of a table.
const CALLS: [&str; 5] = ["mprotect", "mmap", "munmap", "madvise", "ioctl"];
/// Figures of a point beside its throughput, with their headings.
const COSTS: [(&str, Figure); 9] = [
    ("CPU use", Figure::CpuUsePinned),
    ("its own", Figure::CpuUseProcess),
    ("in kernel", Figure::KernelShare),
    ("switches / CPU s", Figure::CtxRate),
    ("faults / run", Figure::FaultsPerRun),
    ("memory", Figure::RssMean),
    ("peak", Figure::RssPeak),
    ("address space", Figure::VirtualMean),
    ("host memory", Figure::HostMemory),
];

/// What the experiment adds: its page in the place of the general report.
pub fn output(context: &Context<'_>) -> PageOutput {
    let scaling = of(context);
    PageOutput::instead(
        "scaling",
        context.campaign,
        scaling.document(),
        Some(scaling.csv()),
    )
}

/// A campaign's instances side by side.
#[derive(Clone, Debug)]
pub struct Scaling {
    /// The campaign's name.
    pub title: String,
    /// When, where, and what the marks mean.
    pub head: String,
    /// By suite and size.
    pub parts: Vec<Part>,
    /// Processors that instances were pinned to.
    pub processors: usize,
    /// How system calls were counted, if they were.
    pub counted: Option<String>,
    /// What has no time.
    pub failures: Vec<String>,
}

/// One suite at one size.
#[derive(Clone, Debug)]
pub struct Part {
    /// Suite and size.
    pub title: String,
    /// Its workloads.
    pub workloads: Vec<String>,
    /// Numbers of instances, smallest first.
    pub threads: Vec<u32>,
    /// The engines.
    pub lines: Vec<Line>,
    /// What relative throughputs of one and the same differ by.
    pub floor: Option<f64>,
}

/// An engine in one configuration.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its name.
    pub label: String,
    /// What it is, with the smallest number of instances.
    pub key: Key,
    /// By number of instances, in the part's order; none without a time.
    pub points: Vec<Option<Point>>,
}

/// So many instances at once.
#[derive(Clone, Debug)]
pub struct Point {
    /// How many.
    pub threads: u32,
    /// Whether they are more than processors.
    pub is_over: bool,
    /// Iterations of all of them in a second: geometric mean over workloads.
    pub runs_per_s: Option<f64>,
    /// The same over that of the fewest instances.
    pub relative: Option<Judged>,
    /// Other figures.
    pub costs: BTreeMap<Figure, f64>,
    /// System calls for each instance, by name: mean over workloads.
    pub calls: BTreeMap<String, f64>,
}

/// What a campaign says of instances side by side.
pub fn of(context: &Context<'_>) -> Scaling {
    let Context {
        campaign,
        summary,
        view,
        ..
    } = *context;
    let processors = campaign.header.config.cpus.len();
    let maker = Maker {
        campaign,
        summary,
        view,
        processors,
        noise: summary.noise_in(Figure::Throughput),
    };
    let header = &campaign.header;
    let head = format!(
        "{} on {}, {}. Throughput is what was seen to end in a second between the first and the \
         last counted iteration; means over workloads are geometric, ratios paired by round with \
         95 % intervals, and ~ marks what was not shown to differ. {OVER} marks more instances than \
         the {} they were pinned to. CPU use is (us + sys + hi + si) / (us + sys + hi + si + id) of \
         these processors, whoever uses them; its own is the process's share of the same. Switches are \
         of the process's whole life. An iteration makes, runs and drops an instance, and V8 has no \
         way to drop one but a full collection. The kernel counts no faults that userfaultfd answers. Memory \
         is the process's; host memory is total minus available, whoever uses it.",
        header.date,
        header.host.cpu_model,
        header.host.kernel,
        figures::plural(processors, "processor"),
    );
    let how = campaign.counts.first().map(|counts| counts.how.clone());
    Scaling {
        title: header.name.clone(),
        head,
        parts: maker.parts(),
        processors,
        counted: how.or_else(|| header.config.uncounted.clone()),
        failures: failures(campaign),
    }
}

struct Maker<'a> {
    campaign: &'a Campaign,
    summary: &'a Summary,
    view: &'a View,
    processors: usize,
    noise: NoiseFloor,
}

impl Maker<'_> {
    fn parts(&self) -> Vec<Part> {
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for group in &self.view.groups {
            let suite = (group.suite.as_str(), group.size.as_str());
            if !seen.contains(&suite) {
                seen.push(suite);
            }
        }
        seen.into_iter().map(|suite| self.part(suite)).collect()
    }

    fn part(&self, (suite, size): (&str, &str)) -> Part {
        let is_of = |group: &&Group| group.suite == suite && group.size == size;
        let mut groups: Vec<&Group> = self.view.groups.iter().filter(is_of).collect();
        groups.sort_by_key(|group| group.threads);
        let first = groups[0];
        // In the campaign's order: strategies stand as they were asked for.
        let in_order = self.summary.rows.iter().filter_map(|row| {
            let found = first.rows.iter().find(|shown| shown.key == row.row);
            found.filter(|shown| shown.key.threads == first.threads)
        });
        Part {
            title: format!("{suite} {size}").trim_end().to_owned(),
            workloads: first.workloads.iter().map(|one| one.name.clone()).collect(),
            threads: groups.iter().map(|group| group.threads).collect(),
            lines: in_order.map(|row| self.line(row, &groups)).collect(),
            floor: groups
                .iter()
                .filter_map(|group| self.noise.geomean(group.threads))
                .map(|floor| floor.relative())
                .reduce(f64::max),
        }
    }

    fn line(&self, row: &Row, groups: &[&Group]) -> Line {
        let point = |group: &&Group| {
            let key = Key {
                threads: group.threads,
                ..row.key.clone()
            };
            let shown = group.rows.iter().find(|other| other.key == key)?;
            let has_time = shown.cells.iter().any(Option::is_some);
            has_time.then(|| self.point(shown, &row.key))
        };
        Line {
            label: row.label(),
            key: row.key.clone(),
            points: groups.iter().map(point).collect(),
        }
    }

    fn point(&self, row: &Row, alone: &Key) -> Point {
        let relative = (row.key.threads > alone.threads).then(|| {
            self.summary
                .ratio_in(Figure::Throughput, &self.noise, &row.key, alone)
        });
        let mut costs = row.costs.clone();
        if !row.key.variant.is_wasm() {
            // Of the program that starts the programs: says nothing of them.
            costs.remove(&Figure::RssMean);
            costs.remove(&Figure::VirtualMean);
        }
        Point {
            threads: row.key.threads,
            is_over: row.key.threads as usize > self.processors,
            runs_per_s: self.summary.typical(&row.key, Figure::Throughput),
            relative: relative.and_then(|ratio| {
                let mean = ratio.geomean.ok()?;
                Some(Judged {
                    ratio: Interval::from(&mean),
                    verdict: ratio.verdict,
                })
            }),
            costs,
            calls: self.calls(row),
        }
    }

    fn calls(&self, row: &Row) -> BTreeMap<String, f64> {
        let cells: Vec<&CellId> = row.cells.iter().flatten().map(|cell| &cell.id).collect();
        let counts = self.campaign.counts.iter();
        let counts: Vec<_> = counts
            .filter(|counts| counts.instances > 0 && cells.contains(&&counts.cell))
            .collect();
        let mut calls = BTreeMap::new();
        for one in &counts {
            for (name, count) in &one.calls {
                let each = *count as f64 / one.instances as f64 / counts.len() as f64;
                *calls.entry(name.clone()).or_default() += each;
            }
        }
        calls
    }
}

/// `16*`.
pub fn instances(threads: u32, is_over: bool) -> String {
    let mark = if is_over { OVER } else { "" };
    format!("{threads}{mark}")
}

/// A ratio with its interval, marked where no difference was shown.
fn relative(Judged { ratio, verdict }: &Judged) -> String {
    let mark = if *verdict == Verdict::Different {
        ""
    } else {
        "~"
    };
    let ends = ratio.ends.map_or_else(String::new, |(low, high)| {
        format!(" ({})", figures::ends(low, high))
    });
    format!("{mark}{} ×{ends}", figures::ratio_bare(ratio.value))
}

impl Point {
    fn cost(&self, figure: Figure) -> String {
        let value = self.costs.get(&figure);
        value.map_or_else(
            || NONE.to_owned(),
            |value| figures::quantity(*value, figure.unit()),
        )
    }
}

impl Scaling {
    /// The page.
    fn document(&self) -> Document {
        let mut page = Document::new(format!("Instances side by side: {}", self.title));
        page.say(Tone::Faint, self.head.as_str());
        for part in &self.parts {
            page.heading(format!("{}: throughput", part.title));
            page.say(Tone::Plain, part.about());
            for picture in part.pictures() {
                page.figure(picture);
            }
            page.table(part.throughput_table(self.processors));
            page.heading(format!("{}: what it costs", part.title));
            page.table(part.cost_table());
        }
        if let Some(how) = &self.counted {
            page.say(Tone::Faint, format!("System calls: {how}."));
        }
        page.listed("Not measured", self.failures.clone());
        page
    }

    /// A line for each part, engine and number of instances.
    fn csv(&self) -> String {
        csv::render(self)
    }
}

impl Part {
    fn about(&self) -> String {
        let floor = self.floor.map_or_else(
            || "Noise floor unknown: no control, or too few rounds of it.".to_owned(),
            |floor| format!("Noise floor {}.", figures::percent(floor)),
        );
        format!("Over {}. {floor}", self.workloads.join(", "))
    }

    /// Throughput with the fewest instances, and what more of them make of it.
    pub(crate) fn throughput_table(&self, processors: usize) -> Table {
        let heads = self.threads.iter().enumerate().map(|(place, threads)| {
            let over = instances(*threads, *threads as usize > processors);
            match place {
                0 => format!("{over} (runs/s)"),
                _ => over,
            }
        });
        let mut table = Table::new([""]).and(heads);
        for line in &self.lines {
            let mut fields = vec![line.label.clone()];
            for (place, point) in line.points.iter().enumerate() {
                let field = point.as_ref().and_then(|point| match place {
                    0 => point.runs_per_s.map(figures::count),
                    _ => point.relative.as_ref().map(relative),
                });
                fields.push(field.unwrap_or_else(|| NONE.to_owned()));
            }
            table.push(fields);
        }
        table
    }

    /// Everything else, a line for each engine and number of instances.
    pub(crate) fn cost_table(&self) -> Table {
        let has_calls = self.points().any(|(_, point)| !point.calls.is_empty());
        let calls: &[&str] = if has_calls { &CALLS } else { &[] };
        let mut table = Table::new(["", "instances", "runs/s"])
            .and(COSTS.iter().map(|(name, _)| *name))
            .and(calls.iter().copied());
        for (line, point) in self.points() {
            let mut fields = vec![
                line.label.clone(),
                instances(point.threads, point.is_over),
                point
                    .runs_per_s
                    .map_or_else(|| NONE.to_owned(), figures::count),
            ];
            fields.extend(COSTS.iter().map(|(_, figure)| point.cost(*figure)));
            fields.extend(calls.iter().map(|name| {
                let count = point.calls.get(*name);
                count.map_or_else(|| NONE.to_owned(), |count| figures::count(*count))
            }));
            table.push(fields);
        }
        table
    }

    fn points(&self) -> impl Iterator<Item = (&Line, &Point)> {
        self.lines
            .iter()
            .flat_map(|line| line.points.iter().flatten().map(move |point| (line, point)))
    }

    /// The pictures, each whole.
    pub fn pictures(&self) -> Vec<String> {
        let by_figure = |title: &str, figure: Figure, is_log: bool| GroupedBars {
            is_log,
            ..self.picture(title, figure)
        };
        let papers = [
            self.throughput_picture(),
            by_figure("CPU use", Figure::CpuUsePinned, false),
            by_figure("Context switches per CPU second", Figure::CtxRate, true),
            by_figure("Page faults per run", Figure::FaultsPerRun, true),
            by_figure("Memory of the process, mean", Figure::RssMean, true),
        ];
        papers.iter().filter_map(GroupedBars::render).collect()
    }

    /// Throughput relative to the fewest instances.
    pub fn throughput_picture(&self) -> GroupedBars {
        let fewest = self.threads.first().copied().unwrap_or(1);
        let mut paper = self.paper(
            &format!("Throughput over that of {fewest}"),
            "× of one instance",
            |point| {
                let ratio = &point.relative.as_ref()?.ratio;
                Some((ratio.value, ratio.ends, figures::ratio_bare(ratio.value)))
            },
        );
        // The first has nothing to be compared with but itself.
        for group in &mut paper.groups {
            group.bars.drain(..group.bars.len().min(1));
        }
        paper.series.drain(..paper.series.len().min(1));
        paper.line = Some((1.0, "one instance".to_owned()));
        paper
    }

    /// One figure of every point.
    pub fn picture(&self, title: &str, figure: Figure) -> GroupedBars {
        let axis = match figure.unit() {
            FigureUnit::Share => "share of the time",
            FigureUnit::PerCpuSecond => "a second of CPU time",
            FigureUnit::Bytes => "bytes",
            FigureUnit::Count | FigureUnit::Nanoseconds | FigureUnit::PerSecond => "",
        };
        let paper = self.paper(title, axis, |point| {
            let value = *point.costs.get(&figure)?;
            let shown = match figure.unit() {
                FigureUnit::PerCpuSecond => figures::count(value),
                unit => figures::quantity(value, unit),
            };
            Some((value, None, shown))
        });
        GroupedBars {
            unit: Some(figure.unit()),
            ..paper
        }
    }

    fn paper(
        &self,
        title: &str,
        axis: &str,
        of: impl Fn(&Point) -> Option<(f64, Option<(f64, f64)>, String)>,
    ) -> GroupedBars {
        let bar = |point: &Option<Point>| {
            let point = point.as_ref()?;
            let (value, ends, shown) = of(point)?;
            Some(Bar {
                value,
                ends,
                shown,
                is_apart: point.is_over,
            })
        };
        let groups = self.lines.iter().map(|line| Bars {
            label: line.label.clone(),
            bars: line.points.iter().map(bar).collect(),
        });
        let is_over = self.points().any(|(_, point)| point.is_over);
        let apart = "more instances than processors";
        GroupedBars {
            title: format!("{title} · {}", self.title),
            axis: axis.to_owned(),
            series: self
                .threads
                .iter()
                .map(|threads| match threads {
                    1 => "1 instance".to_owned(),
                    more => format!("{more} instances"),
                })
                .collect(),
            groups: groups.collect(),
            apart: if is_over {
                apart.to_owned()
            } else {
                String::new()
            },
            ..GroupedBars::default()
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
