//! What "Performance of WebAssembly runtimes in 2023" states beside our figures.
//!
//! ```text
//!  data/libsodium-2023.toml: what the 2023 study states ─┬▶ page, pictures
//!  Library: what a campaign found ─────────────────┘
//! ```
//!
//! What must stay true: what the 2023 study states is in that file alone, and what a
//! campaign does not hold is said to be missing.

use std::collections::BTreeMap;
use std::fmt::Write;

use fathom_record::Variant;
use fathom_stats::times::Round;
use fathom_stats::{
    Against, Estimate, Figure, GroupRatio, Pairing, Row, Times, Verdict, order::median,
};
use serde::Deserialize;

use super::{Group, Library, Line, charts::To};
use crate::about::{absent, failures};
use crate::chart::horizontal_bars::{Bar, HorizontalBars, Kind};
use crate::publications::{self, listed};
use crate::table::Table;
use crate::view::{Interval, Judged, with_ends};
use crate::{ReportError, figures};

/// The page's file and its pictures' folder.
const PAGE: &str = "libsodium-runtimes-2023.md";
const PICTURES: &str = "libsodium-2023";
/// What writes the page.
const NAME: &str = "libsodium-2023";
const DATA: &str = include_str!("../../data/libsodium-2023.toml");
/// Programs that the 2023 study leaves out of its comparison with native code, which has
/// instructions for them.
const AES: &str = "aead_aegis";
/// What is divided where the 2023 study has a number.
const FASTEST_OVER_TUNED: &str =
    "the fastest engine of each program over native code for this machine";

/// What the 2023 study states.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Publication {
    title: String,
    paper: String,
    number: Vec<Number>,
    statement: Vec<Statement>,
    cause: Vec<Cause>,
    difference: Vec<Difference>,
}

/// Why engines differ in some programs, as it was seen in the code they make.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cause {
    of: String,
    why: String,
}

/// One of its numbers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Number {
    says: String,
    published: String,
    of: Programs,
}

/// The programs that a number is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum Programs {
    #[serde(rename = "AES")]
    Aes,
    #[serde(rename = "others")]
    Others,
}

/// Something that the 2023 study says, and the ratio that would show it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Statement {
    says: String,
    of: Who,
    to: Other,
    /// A group; all programs for none.
    #[serde(default)]
    group: String,
}

/// An engine in a statement: its name, a word of its code generator's, and the strategy
/// that it had in the 2023 study, of rows that differ in that alone.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
struct Who {
    engine: String,
    generator: String,
    strategy: String,
}

impl From<String> for Who {
    fn from(words: String) -> Who {
        let mut words = words.split(' ');
        let mut next = || words.next().unwrap_or_default().to_owned();
        Who {
            engine: next(),
            generator: next(),
            strategy: next(),
        }
    }
}

/// The other side of a statement.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
enum Other {
    Engine(Who),
    Median,
    Fastest,
}

impl From<String> for Other {
    fn from(words: String) -> Other {
        match words.as_str() {
            "median" => Other::Median,
            "fastest" => Other::Fastest,
            _ => Other::Engine(words.into()),
        }
    }
}

/// What was not as the 2023 study had it, and why.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Difference {
    what: String,
    how: String,
    /// Of all campaigns if absent.
    only: Option<Only>,
}

/// Campaigns that a difference is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum Only {
    #[serde(rename = "with wasm-opt")]
    WithOptimiser,
    #[serde(rename = "without wasm-opt")]
    WithoutOptimiser,
}

/// The fastest engine of a program over native code for this machine.
struct OverTuned {
    name: String,
    /// Of the medians of rounds.
    ratio: f64,
    by_round: BTreeMap<u32, f64>,
}

impl Publication {
    /// What the data file says.
    pub(super) fn read() -> Result<Publication, ReportError> {
        publications::read(PICTURES, DATA)
    }
}

impl Library<'_> {
    /// The page and its pictures.
    pub(super) fn publication_files(&self, publication: &Publication) -> Vec<(String, String)> {
        let mut files = Vec::new();
        let mut pictures = String::new();
        let by_program = self.by_program();
        let drawings = self.drawings(To::Median).into_iter();
        for (name, drawing) in drawings.chain(by_program) {
            let path = format!("{PICTURES}/{name}.svg");
            let _ = write!(pictures, "![{name}]({path})\n\n");
            files.push((path, drawing));
        }
        files.insert(
            0,
            (
                PAGE.to_owned(),
                self.publication_page(publication, &pictures),
            ),
        );
        files
    }

    fn publication_page(&self, publication: &Publication, pictures: &str) -> String {
        let Publication { title, paper, .. } = publication;
        let mut text = publications::head(self.campaign, NAME, title, paper, &self.head());
        let _ = write!(
            text,
            "\n## What the 2023 study says, and what was measured here\n\n{}",
            self.statements(publication).source()
        );
        text.push_str(
            "\nThe study's other figures are pictures without numbers. A ratio below 1 means that \
             the first engine is faster.\n",
        );
        for (title, table) in self.tables() {
            let _ = write!(text, "\n## {title}\n\n{}", table.source());
        }
        text.push_str("\n## Why\n\nAs seen in the code that engines make, on the host and in the versions above.\n\n");
        for cause in &publication.cause {
            let _ = writeln!(text, "- **{}.** {}", cause.of, cause.why);
        }
        let _ = write!(text, "\n## Pictures in the 2023 study's form\n\n{pictures}");
        text.push_str(&self.differences(publication));
        text.push_str(&listed("Not here", absent(self.campaign)));
        text.push_str(&listed("Not measured", failures(self.campaign)));
        text
    }

    fn differences(&self, publication: &Publication) -> String {
        let only = match self.has_optimised() {
            true => Only::WithOptimiser,
            false => Only::WithoutOptimiser,
        };
        let mut text = "## What is not as the 2023 study had it\n\n".to_owned();
        let holds = |one: &&Difference| one.only.is_none_or(|have| have == only);
        for one in publication.difference.iter().filter(holds) {
            let _ = writeln!(text, "- **{}.** {}", one.what, one.how);
        }
        text
    }

    fn statements(&self, publication: &Publication) -> Table {
        let mut table = Table::new(["the 2023 study", "its figure", "ours", "what is divided"]);
        for number in &publication.number {
            table.push(self.number(number));
        }
        // All are judged together.
        let pairings = publication.statement.iter().map(|one| self.pairing(one));
        let pairings: Vec<Option<Pairing<'_>>> = pairings.collect();
        let made: Vec<Pairing<'_>> = pairings.iter().flatten().cloned().collect();
        let mut judged = self.summary.judged(&made).into_iter();
        for (statement, pairing) in publication.statement.iter().zip(&pairings) {
            let ours = pairing.as_ref().and_then(|_| judged.next());
            table.push(self.statement(statement, ours));
        }
        table
    }

    /// The median over programs of each round, which has an interval from five rounds on.
    fn number(&self, number: &Number) -> Vec<String> {
        let by_program = self.fastest_over_tuned();
        let by_program: Vec<&BTreeMap<u32, f64>> = by_program
            .iter()
            .filter(|one| one.name.starts_with(AES) == (number.of == Programs::Aes))
            .map(|one| &one.by_round)
            .collect();
        let rounds = by_program.first().map_or(Vec::new(), |one| {
            let all = |round: &&u32| by_program.iter().all(|other| other.contains_key(*round));
            one.keys().filter(all).copied().collect()
        });
        let of_round = |round: &u32| {
            let values: Vec<f64> = by_program.iter().map(|one| one[round]).collect();
            median(&values)
        };
        let values: Vec<f64> = rounds.iter().filter_map(of_round).collect();
        let ours = Estimate::of(&values).map_or(figures::NONE.to_owned(), |estimate| {
            let ends = estimate.interval().map(|all| (all.low, all.high)).ok();
            let value = estimate.median;
            with_ends(&Interval { value, ends })
        });
        let line = [&number.says, &number.published, &ours, FASTEST_OVER_TUNED];
        line.map(str::to_owned).to_vec()
    }

    /// What a statement compares, where the campaign has both sides.
    fn pairing(&self, statement: &Statement) -> Option<Pairing<'_>> {
        let of = self.line(&statement.of)?;
        let against = match &statement.to {
            Other::Engine(who) => Against::Row(&self.line(who)?.row),
            Other::Fastest => Against::Row(&self.fastest()?.row),
            Other::Median => Against::Median(&self.ranked),
        };
        let groups = match self.group(statement) {
            Some(group) => std::slice::from_ref(group),
            None => &self.groups[..],
        };
        let names = groups.iter().flat_map(|group| &group.workloads);
        Some((&of.row, against, names.map(String::as_str).collect()))
    }

    fn statement(&self, statement: &Statement, ours: Option<(GroupRatio, Verdict)>) -> Vec<String> {
        let named = |line: Option<&Line>, who: &Who| {
            let absent = || match (&who.engine, who.generator.as_str()) {
                (engine, "") => format!("{engine} (not here)"),
                (engine, generator) => format!("{engine} {generator} (not here)"),
            };
            line.map_or_else(absent, |line| line.name.clone())
        };
        let divided = match &statement.to {
            Other::Median => "the median".to_owned(),
            Other::Fastest => {
                let fastest = self.fastest();
                fastest.map_or(String::new(), |line| format!("the fastest, {}", line.name))
            }
            Other::Engine(who) => named(self.line(who), who),
        };
        let of = named(self.line(&statement.of), &statement.of);
        let what = match self.group(statement) {
            Some(group) => format!("{of} over {divided}, {}", group.name),
            None => format!("{of} over {divided}"),
        };
        let ours = ours.and_then(|(ratio, verdict)| {
            let ratio = Interval::from(ratio.geomean.as_ref().ok()?);
            Some(Judged { ratio, verdict }.words())
        });
        let ours = ours.unwrap_or_else(|| figures::NONE.to_owned());
        vec![statement.says.clone(), "a picture".to_owned(), ours, what]
    }

    /// The group that a statement is about; none for all programs.
    fn group(&self, statement: &Statement) -> Option<&Group> {
        let mut groups = self.groups.iter();
        groups.find(|group| group.name == statement.group)
    }

    fn fastest(&self) -> Option<&Line> {
        self.lines.iter().find(|line| line.is_ranked)
    }

    /// An engine's row; of several that differ in their strategy alone the one that is
    /// named, else the fastest.
    fn line(&self, who: &Who) -> Option<&Line> {
        let is_it = |line: &&Line| {
            let sandbox = &line.row.sandbox;
            let backend = sandbox.settings.backend().unwrap_or_default();
            sandbox.engine == who.engine && backend.contains(&who.generator) && line.is_ranked
        };
        let is_named = |line: &&Line| line.row.sandbox.strategy == who.strategy;
        let mut lines = self.lines.iter().filter(is_it);
        lines.clone().find(is_named).or_else(|| lines.next())
    }

    /// Of each program the fastest engine's time over that of native code which has
    /// what the library knows of this machine.
    fn fastest_over_tuned(&self) -> Vec<OverTuned> {
        let Some(tuned) = self.native(Variant::NativeTuned) else {
            return Vec::new();
        };
        let times = |row: &Row, name: &str| self.summary.cell_of(row, name)?.times.as_ref().ok();
        let time = |times: &Times| Some(times.estimate(Figure::Kernel)?.median);
        let of = |name: &String| {
            let ranked = self.ranked.iter().filter_map(|row| times(row, name));
            let fastest = ranked
                .filter_map(|one| Some((one, time(one)?)))
                .min_by(|one, other| one.1.total_cmp(&other.1))?;
            let tuned = times(tuned, name)?;
            let pair = |(round, values): (&u32, &Round)| {
                let theirs = tuned.rounds.get(round)?.get(&Figure::Kernel)?;
                Some((*round, values.get(&Figure::Kernel)? / theirs))
            };
            Some(OverTuned {
                name: name.clone(),
                ratio: fastest.1 / time(tuned)?,
                by_round: fastest.0.rounds.iter().filter_map(pair).collect(),
            })
        };
        let workloads = self.groups.iter().flat_map(|group| &group.workloads);
        workloads.filter_map(of).collect()
    }

    fn by_program(&self) -> Option<(String, String)> {
        let mut ratios = self.fastest_over_tuned();
        ratios.retain(|one| !one.name.starts_with(AES));
        ratios.sort_by(|one, other| one.ratio.total_cmp(&other.ratio));
        let bar = |one: OverTuned| Bar {
            name: one.name,
            value: one.ratio,
            ends: None,
            shown: figures::ratio_bare(one.ratio),
            kind: Kind::Other,
        };
        let drawing = HorizontalBars {
            title: "The fastest engine over native code for this machine, by program".to_owned(),
            axis: "times as long as native code, less is better".to_owned(),
            bars: ratios.into_iter().map(bar).collect(),
        };
        Some(("native".to_owned(), drawing.render()?))
    }
}
