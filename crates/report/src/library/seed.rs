//! What "Performance of WebAssembly runtimes in 2023" states beside our figures.
//!
//! ```text
//!  data/libsodium-2023.toml: what the 2023 study states ─┬▶ page, pictures
//!  Library: what a campaign found ─────────────────┘
//! ```
//!
//! What must stay true: what the 2023 study states is in that file alone, and what a
//! campaign does not hold is said to be missing.

use std::fmt::Write;

use fathom_record::Variant;
use fathom_stats::{Against, Figure, Row, order::median};
use serde::Deserialize;

use super::{Library, Line, charts::To, value};
use crate::bounds::{failures, markdown};
use crate::chart::lying::{Bar, Kind, Lying};
use crate::{ReportError, figures, stated};

/// The page's file and its pictures' folder.
const PAGE: &str = "libsodium-runtimes-2023.md";
const PICTURES: &str = "libsodium-2023";
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
pub(super) struct Seed {
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

/// An engine in a statement: its name, and a word of its code generator's.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
struct Who {
    engine: String,
    generator: String,
}

impl From<String> for Who {
    fn from(words: String) -> Who {
        let (engine, generator) = words.split_once(' ').unwrap_or((&words, ""));
        Who {
            engine: engine.to_owned(),
            generator: generator.to_owned(),
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

impl Seed {
    /// What the data file says.
    pub(super) fn read() -> Result<Seed, ReportError> {
        stated::read(PICTURES, DATA)
    }
}

impl Library<'_> {
    /// The page and its pictures.
    pub(super) fn seed_files(&self, seed: &Seed) -> Vec<(String, String)> {
        let mut files = Vec::new();
        let mut pictures = String::new();
        let by_program = self.by_program();
        let drawings = self.drawings(To::Median).into_iter();
        for (name, drawing) in drawings.chain(by_program) {
            let path = format!("{PICTURES}/{name}.svg");
            let _ = write!(pictures, "![{name}]({path})\n\n");
            files.push((path, drawing));
        }
        files.insert(0, (PAGE.to_owned(), self.seed_page(seed, &pictures)));
        files
    }

    fn seed_page(&self, seed: &Seed, pictures: &str) -> String {
        let mut text = format!("# {}\n\n{}\n\n{}\n", seed.title, seed.paper, self.head());
        let _ = write!(
            text,
            "\n## What the 2023 study says, and what was measured here\n\n{}",
            markdown(&self.statements(seed))
        );
        text.push_str(
            "\nThe study's other figures are pictures without numbers. A ratio below 1 means that \
             the first engine is faster.\n",
        );
        for (title, table) in self.tables() {
            let _ = write!(text, "\n## {title}\n\n{}", markdown(&table));
        }
        text.push_str("\n## Why\n\nAs seen in the code that engines make, on the host and in the versions above.\n\n");
        for cause in &seed.cause {
            let _ = writeln!(text, "- **{}.** {}", cause.of, cause.why);
        }
        let _ = write!(text, "\n## Pictures in the 2023 study's form\n\n{pictures}");
        text.push_str(&self.differences(seed));
        text.push_str(&self.absent());
        text.push_str(&failures(self.campaign));
        text
    }

    fn differences(&self, seed: &Seed) -> String {
        let only = match self.has_optimised() {
            true => Only::WithOptimiser,
            false => Only::WithoutOptimiser,
        };
        let mut text = "## What is not as the 2023 study had it\n\n".to_owned();
        let holds = |one: &&Difference| one.only.is_none_or(|have| have == only);
        for one in seed.difference.iter().filter(holds) {
            let _ = writeln!(text, "- **{}.** {}", one.what, one.how);
        }
        text
    }

    fn statements(&self, seed: &Seed) -> Vec<Vec<String>> {
        let head = ["the 2023 study", "its figure", "ours", "what is divided"];
        let mut table = vec![head.map(str::to_owned).to_vec()];
        table.extend(seed.number.iter().map(|number| self.number(number)));
        table.extend(seed.statement.iter().map(|one| self.statement(one)));
        table
    }

    fn number(&self, number: &Number) -> Vec<String> {
        let values: Vec<f64> = self
            .fastest_over_tuned()
            .into_iter()
            .filter(|(name, _)| name.starts_with(AES) == (number.of == Programs::Aes))
            .map(|(_, value)| value)
            .collect();
        let ours = median(&values).map_or(figures::NONE.to_owned(), figures::ratio_bare);
        let line = [&number.says, &number.published, &ours, FASTEST_OVER_TUNED];
        line.map(str::to_owned).to_vec()
    }

    fn statement(&self, statement: &Statement) -> Vec<String> {
        let group = self
            .groups
            .iter()
            .position(|group| group.name == statement.group);
        let number = group.map_or(0, |group| group + 1);
        let of = self.line(&statement.of);
        let to = match &statement.to {
            Other::Engine(who) => self.line(who),
            Other::Fastest => self.lines.iter().find(|line| line.is_ranked),
            Other::Median => None,
        };
        let shown = match (of, &statement.to, to) {
            (Some(of), Other::Median, _) => value(of.to_median.get(number)),
            (Some(of), _, Some(to)) => self.between(&of.row, &to.row, number),
            _ => None,
        };
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
                to.map_or(String::new(), |line| format!("the fastest, {}", line.name))
            }
            Other::Engine(who) => named(to, who),
        };
        let what = match group {
            Some(_) => format!(
                "{} over {divided}, {}",
                named(of, &statement.of),
                statement.group
            ),
            None => format!("{} over {divided}", named(of, &statement.of)),
        };
        let ours = shown.map_or(figures::NONE.to_owned(), figures::ratio_bare);
        vec![statement.says.clone(), "a picture".to_owned(), ours, what]
    }

    fn line(&self, who: &Who) -> Option<&Line> {
        self.lines.iter().find(|line| {
            let sandbox = &line.row.sandbox;
            let backend = sandbox.backend.as_deref().unwrap_or_default();
            sandbox.engine == who.engine && backend.contains(&who.generator) && line.is_ranked
        })
    }

    fn between(&self, row: &Row, to: &Row, number: usize) -> Option<f64> {
        let groups = match number.checked_sub(1) {
            Some(group) => &self.groups[group..=group],
            None => &self.groups[..],
        };
        let names = groups.iter().flat_map(|group| &group.workloads);
        let names: Vec<&str> = names.map(String::as_str).collect();
        value(Some(&self.summary.over(row, Against::Row(to), &names)))
    }

    /// Of each program the fastest engine's time over that of native code which has
    /// what the library knows of this machine.
    fn fastest_over_tuned(&self) -> Vec<(String, f64)> {
        let Some(tuned) = self.native(Variant::NativeTuned) else {
            return Vec::new();
        };
        let time = |row: &Row, workload: &str| {
            let cell = self.summary.cell_of(row, workload)?;
            Some(cell.estimate(Figure::Kernel)?.median)
        };
        let ranked = || self.lines.iter().filter(|line| line.is_ranked);
        let ratio = |workload: &String| {
            let times = ranked().filter_map(|line| time(&line.row, workload));
            let fastest = times.min_by(f64::total_cmp)?;
            Some((workload.clone(), fastest / time(tuned, workload)?))
        };
        let workloads = self.groups.iter().flat_map(|group| &group.workloads);
        workloads.filter_map(ratio).collect()
    }

    fn by_program(&self) -> Option<(String, String)> {
        let mut ratios = self.fastest_over_tuned();
        ratios.retain(|(name, _)| !name.starts_with(AES));
        ratios.sort_by(|one, other| one.1.total_cmp(&other.1));
        let bar = |(name, value): (String, f64)| Bar {
            name,
            value,
            ends: None,
            shown: figures::ratio_bare(value),
            kind: Kind::Other,
        };
        let drawing = Lying {
            title: "The fastest engine over native code for this machine, by program".to_owned(),
            axis: "times as long as native code, less is better".to_owned(),
            bars: ratios.into_iter().map(bar).collect(),
        };
        Some(("native".to_owned(), drawing.render()?))
    }
}
