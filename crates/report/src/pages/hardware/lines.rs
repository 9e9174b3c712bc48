//! Each strategy of a generator over the one that checks nothing: all in one table, so that they
//! are judged together.

use fathom_record::{Campaign, Sandbox, Setting, Variant};
use fathom_stats::{Figure, Row, RowRatio, Summary, Verdict, WorkloadRatio};

use super::GENERATORS;
use crate::bounds::{mean, shown};
use crate::figures;

/// Our engine in cells, and its strategy without checks.
const OWN: &str = "fathom";
const BASELINE: &str = "none";
/// The program of figures 5.1 and 5.2, and what it is called at smaller sizes before the size.
pub(super) const KMEANS: &str = "kmeans";
const SMALLER: &str = "kmeans-";

/// How a line is set in more than its generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Set {
    /// Every access checked, no guards against speculation.
    Published,
    /// As it is for users.
    Used,
}

/// What a line is asked for by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask<'a> {
    pub strategy: &'a str,
    pub variant: Variant,
    pub codegen: &'a str,
    pub set: Set,
}

/// Which programs of a line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of<'a> {
    /// All of them, in the mean.
    All,
    /// One.
    Program(&'a str),
}

/// A strategy of ours by a generator on a width, in all suites.
#[derive(Debug)]
struct Line<'a> {
    sandbox: &'a Sandbox,
    variant: Variant,
    size: &'a str,
    rows: Vec<&'a Row>,
    /// Its times over those of what checks nothing, and its compile times; none for that itself.
    over: Option<(RowRatio, RowRatio)>,
}

/// All of a campaign.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    campaign: &'a Campaign,
    summary: &'a Summary,
    lines: Vec<Line<'a>>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(campaign: &'a Campaign, summary: &'a Summary) -> Lines<'a> {
        let mut lines: Vec<Line<'a>> = Vec::new();
        let rows = summary.rows.iter().map(|row| &row.row);
        for row in rows.filter(|row| row.sandbox.engine == OWN) {
            let is_of = |line: &&mut Line<'_>| {
                (line.sandbox, line.variant, line.size) == (&row.sandbox, row.variant, &*row.size)
            };
            match lines.iter_mut().find(is_of) {
                Some(line) => line.rows.push(row),
                None => lines.push(Line {
                    sandbox: &row.sandbox,
                    variant: row.variant,
                    size: &row.size,
                    rows: vec![row],
                    over: None,
                }),
            }
        }
        let unchecked = lines.iter().map(|line| unchecked(&lines, line));
        let pairs: Vec<Vec<(&Row, &Row)>> = unchecked
            .zip(&lines)
            .map(|(unchecked, line)| unchecked.map_or_else(Vec::new, |to| pairs(line, to)))
            .collect();
        let compared: Vec<_> = pairs
            .iter()
            .filter(|pair| !pair.is_empty())
            .cloned()
            .collect();
        let noise = summary.noise_in(Figure::Compile);
        let times = summary.table_over(summary.compared, &summary.noise, &compared);
        let compiling = summary.table_over(Figure::Compile, &noise, &compared);
        let mut ratios = times.ratios.into_iter().zip(compiling.ratios);
        for (line, pair) in lines.iter_mut().zip(&pairs) {
            if !pair.is_empty() {
                line.over = ratios.next();
            }
        }
        Lines {
            campaign,
            summary,
            lines,
        }
    }

    /// The programs at the campaign's size, in its order.
    pub(super) fn programs(&self) -> Vec<&'a str> {
        let notes = self.campaign.header.workloads.iter();
        let names = notes.map(|note| note.name.as_str());
        names.filter(|name| !name.starts_with(SMALLER)).collect()
    }

    /// The sizes of k-means, smallest first: as it is called there, and the size.
    pub(super) fn of_kmeans(&self) -> Vec<(&'a str, &'a str)> {
        let mut sizes: Vec<(&str, &str)> = Vec::new();
        for cell in &self.campaign.header.cells {
            let is_it = cell.workload == KMEANS || cell.workload.starts_with(SMALLER);
            if is_it && !sizes.iter().any(|(name, _)| *name == cell.workload) {
                sizes.push((&cell.workload, &cell.size));
            }
        }
        // Smaller ones are planned behind it.
        sizes.sort_by_key(|(name, _)| *name == KMEANS);
        sizes
    }

    /// The line that is asked for, with a program or without one that is smaller.
    fn find(&self, ask: Ask<'_>, of: Of<'_>) -> Option<&Line<'a>> {
        let has = |line: &Line<'_>| match of {
            Of::Program(name) => self.has(line, name),
            Of::All => !self.programs().is_empty() && self.has(line, self.programs()[0]),
        };
        let is_off = |line: &Line<'_>, setting| line.sandbox.settings.get(setting) == Some("off");
        let offs = |line: &Line<'_>| {
            [Setting::Spectre, Setting::Elide].map(|setting| is_off(line, setting))
        };
        let is_asked = |line: &&Line<'_>| {
            line.sandbox.strategy == ask.strategy
                && line.variant == ask.variant
                && line.sandbox.settings.value(Setting::Codegen) == ask.codegen
                && (ask.set == Set::Published || offs(line) == [false, false])
                && has(line)
        };
        self.lines
            .iter()
            .filter(is_asked)
            .max_by_key(|line| offs(line))
    }

    fn has(&self, line: &Line<'_>, workload: &str) -> bool {
        let cells = line.rows.iter();
        cells
            .copied()
            .any(|row| self.summary.cell_of(row, workload).is_some())
    }

    /// Whether there is anything of a strategy on a width, by whatever generator.
    pub(super) fn has_any(&self, strategy: &str, variant: Variant, of: Of<'_>) -> bool {
        GENERATORS.iter().any(|(codegen, _)| {
            let ask = Ask {
                strategy,
                variant,
                codegen,
                set: Set::Published,
            };
            self.find(ask, of).is_some()
        })
    }

    /// Times over no checks.
    pub(super) fn ratio(&self, ask: Ask<'_>) -> Option<&RowRatio> {
        self.ratio_of(ask, Of::All)
    }

    /// The same of the size that a program is there in.
    pub(super) fn ratio_of(&self, ask: Ask<'_>, of: Of<'_>) -> Option<&RowRatio> {
        Some(&self.find(ask, of)?.over.as_ref()?.0)
    }

    /// Compile times over no checks.
    pub(super) fn compiling(&self, ask: Ask<'_>) -> Option<&RowRatio> {
        Some(&self.find(ask, Of::All)?.over.as_ref()?.1)
    }

    /// One line over another, in the mean and by program.
    pub(super) fn one_over(&self, ask: Ask<'_>, to: Ask<'_>) -> Option<RowRatio> {
        let (line, to) = (self.find(ask, Of::All)?, self.find(to, Of::All)?);
        Some(self.summary.ratio_over(&pairs(line, to)))
    }

    /// What a figure is of each program, in the figure's unit: medians.
    pub(super) fn medians(&self, ask: Ask<'_>, figure: Figure) -> Vec<(&'a str, f64)> {
        let Some(line) = self.find(ask, Of::All) else {
            return Vec::new();
        };
        let median = |name: &&'a str| {
            let cells = line.rows.iter();
            let mut cells = cells
                .copied()
                .filter_map(|row| self.summary.cell_of(row, name));
            Some((*name, cells.next()?.estimate(figure)?.median))
        };
        self.programs().iter().filter_map(median).collect()
    }

    /// What a table shows of a line: its times over no checks, or why there are none.
    pub(super) fn entry(&self, ask: Ask<'_>, of: Of<'_>) -> String {
        let Some(line) = self.find(ask, of) else {
            return self.missing(ask);
        };
        match (&line.over, of) {
            (None, _) if line.sandbox.strategy == BASELINE => "1".to_owned(),
            (None, _) => figures::NONE.to_owned(),
            (Some((times, _)), Of::All) => mean(times),
            (Some((times, _)), Of::Program(name)) => of_program(times, name),
        }
    }

    /// The same of its compile times.
    pub(super) fn compile_entry(&self, ask: Ask<'_>) -> String {
        match self.find(ask, Of::All) {
            None => self.missing(ask),
            Some(_) => self
                .compiling(ask)
                .map_or_else(|| figures::NONE.to_owned(), mean),
        }
    }

    /// Whether a line that there is none of cannot be had here, which the page says below.
    fn missing(&self, ask: Ask<'_>) -> String {
        let form = ask.strategy.split(':').next().unwrap_or(ask.strategy);
        let names = [
            format!("{OWN} {}", ask.strategy),
            format!("{OWN} {form} {}", ask.codegen),
            format!("{OWN} {}", ask.codegen),
        ];
        let mut absent = self.campaign.header.config.absent.iter();
        let is_absent = absent.any(|one| names.contains(&one.engine));
        let text = if is_absent { "absent" } else { "not measured" };
        text.to_owned()
    }
}

/// What checks nothing and is else the same.
fn unchecked<'l, 'a>(lines: &'l [Line<'a>], line: &Line<'_>) -> Option<&'l Line<'a>> {
    let settings = line.sandbox.settings.clone().without(Setting::Elide);
    let is_it = |one: &&Line<'_>| {
        one.sandbox.strategy == BASELINE
            && one.sandbox.settings == settings
            && (one.variant, one.size) == (line.variant, line.size)
    };
    lines
        .iter()
        .find(is_it)
        .filter(|_| line.sandbox.strategy != BASELINE)
}

/// Their rows, suite by suite.
fn pairs<'a>(line: &Line<'a>, to: &Line<'a>) -> Vec<(&'a Row, &'a Row)> {
    let of_suite = |row: &'a Row| {
        let other = to
            .rows
            .iter()
            .copied()
            .find(|other| other.suite == row.suite);
        Some((row, other?))
    };
    line.rows.iter().copied().filter_map(of_suite).collect()
}

/// One program's ratio.
pub(super) fn program<'r>(ratio: &'r RowRatio, name: &str) -> Option<&'r WorkloadRatio> {
    ratio.workloads.iter().find(|one| one.workload == name)
}

fn of_program(ratio: &RowRatio, name: &str) -> String {
    let one = program(ratio, name);
    one.map_or_else(
        || figures::NONE.to_owned(),
        |one| shown(&one.ratio, one.verdict),
    )
}

/// Whether a ratio was shown to be something else than 1.
pub(super) fn is_different(ratio: &RowRatio) -> bool {
    ratio.verdict == Verdict::Different
}
