//! The thesis's figures as tables: what it states, and ours by each code generator.

use std::fmt::Write;

use fathom_record::Variant;
use fathom_stats::Figure;

use super::lines::{Ask, KMEANS, Of, Set};
use super::{Form, GENERATORS, Method, Page, Thesis};
use crate::figures;
use crate::table::Table;

/// 64-bit memories first: the thesis is about them.
const WIDTHS: [(Variant, &str); 2] = [(Variant::Wasm64, "64-bit"), (Variant::Wasm32, "32-bit")];
/// The points of k-means by size, as its source has them.
pub(super) const POINTS: [(&str, u32); 5] = [
    ("mini", 300),
    ("small", 10_000),
    ("medium", 400_000),
    ("large", 1_500_000),
    ("extralarge", 6_000_000),
];
/// What shows how figure 5.2's lines run.
const BY_POINTS: [&str; 4] = ["guard64", "shadow", "shadow-compressed", "trap"];
/// What figure 5.6 is about.
const PKEYS: &str = "pkeys";

impl Page<'_> {
    pub(super) fn figure_5_1(&self, thesis: &Thesis) -> String {
        let mut table = generators(["method", "here", "published, LLVM"]);
        let each = thesis.method.iter();
        let each = each.flat_map(|method| WIDTHS.map(|width| (method, width)));
        for (method, (variant, width)) in
            each.filter(|(method, width)| self.is_shown(method, *width, Of::Program(KMEANS)))
        {
            let ask = |codegen| published(&method.strategy, variant, codegen);
            let mut fields = vec![
                method.of.clone(),
                format!("`{}`, {width}", method.strategy),
                method.kmeans.clone(),
            ];
            fields.extend(by_generator(|codegen| {
                self.lines.entry(ask(codegen), Of::Program(KMEANS))
            }));
            table.push(fields);
        }
        format!(
            "\n## Figure 5.1: k-means\n\nTime over no checks. The thesis's is of 32-bit addresses, extended with \
             zeros, and the mean over all numbers of points (page 36). {}\n\n{}",
            self.points_here(),
            table.source()
        )
    }

    /// Whether a method has a line of a width: what is for it, and protection keys once.
    fn is_shown(&self, method: &Method, (variant, _): (Variant, &str), of: Of<'_>) -> bool {
        let is_wide = variant == Variant::Wasm64;
        (method.strategy == PKEYS && is_wide) || self.lines.has_any(&method.strategy, variant, of)
    }

    /// How many points the campaign's own size has.
    fn points_here(&self) -> String {
        let sizes = self.lines.of_kmeans();
        let size = sizes.iter().find(|(name, _)| *name == KMEANS);
        size.map_or_else(String::new, |(_, size)| {
            format!("Here: {} points.", points(size))
        })
    }

    pub(super) fn figure_5_2(&self, thesis: &Thesis) -> String {
        let sizes = self.lines.of_kmeans();
        if sizes.len() < 2 {
            return String::new();
        }
        let mut table = generators(["method", "points"]);
        let methods = thesis.method.iter();
        for method in methods.filter(|method| BY_POINTS.contains(&&*method.strategy)) {
            for (name, size) in &sizes {
                let ask = |codegen| published(&method.strategy, Variant::Wasm64, codegen);
                let mut fields = vec![
                    format!("{} (`{}`)", method.of, method.strategy),
                    points(size),
                ];
                fields.extend(by_generator(|codegen| {
                    self.lines.entry(ask(codegen), Of::Program(name))
                }));
                table.push(fields);
            }
        }
        format!(
            "\n## Figure 5.2: k-means by number of points\n\nTime over no checks, 64-bit memories. The thesis has \
             10,000 to 20,000,000 points (page 36).\n\n{}",
            table.source()
        )
    }

    pub(super) fn figure_5_3(&self, thesis: &Thesis) -> String {
        let programs = self.lines.programs();
        let mut text = format!(
            "\n## Figure 5.3: programs\n\nTime over no checks; *all* is the geometric mean of {} (page 38).\n",
            figures::plural(programs.len(), "program")
        );
        for (codegen, name) in GENERATORS {
            let mut table = Table::new(["method", "here"])
                .and(programs.iter().copied())
                .and(["all"]);
            for (method, (variant, width)) in self.in_mean(thesis) {
                let ask = published(&method.strategy, variant, codegen);
                let mut fields = vec![method.of.clone(), format!("`{}`, {width}", method.strategy)];
                let each = programs.iter();
                fields.extend(each.map(|name| self.lines.entry(ask, Of::Program(name))));
                fields.push(self.lines.entry(ask, Of::All));
                table.push(fields);
            }
            let _ = write!(text, "\n### {name}\n\n{}", table.source());
        }
        text
    }

    /// The methods that are measured on all programs, by width.
    fn in_mean<'t>(&self, thesis: &'t Thesis) -> Vec<(&'t Method, (Variant, &'static str))> {
        let all = thesis.method.iter();
        let all = all.flat_map(|method| WIDTHS.map(|width| (method, width)));
        all.filter(|(method, width)| self.is_shown(method, *width, Of::All))
            .collect()
    }

    /// All programs in the mean, for a terminal.
    pub(super) fn by_method(&self, thesis: &Thesis) -> String {
        let mut table = generators(["method", "here"]);
        for (method, (variant, width)) in self.in_mean(thesis) {
            let ask = |codegen| published(&method.strategy, variant, codegen);
            let mut fields = vec![method.of.clone(), format!("{}, {width}", method.strategy)];
            fields.extend(by_generator(|codegen| {
                self.lines.entry(ask(codegen), Of::All)
            }));
            table.push(fields);
        }
        format!(
            "Time over no checks, geometric mean of {}\n\n{}",
            self.lines.programs().join(", "),
            table.source()
        )
    }

    pub(super) fn figure_5_4(&self, thesis: &Thesis) -> String {
        let mut table = generators(["method", "here"]);
        for (variant, width) in WIDTHS {
            let mut fields = vec!["None".to_owned(), format!("`none`, {width}")];
            fields.extend(by_generator(|codegen| {
                let ask = published("none", variant, codegen);
                self.range(ask, Figure::Compile)
                    .unwrap_or_else(|| figures::NONE.to_owned())
            }));
            table.push(fields);
        }
        for (method, (variant, width)) in self.in_mean(thesis) {
            let ask = |codegen| published(&method.strategy, variant, codegen);
            let mut fields = vec![method.of.clone(), format!("`{}`, {width}", method.strategy)];
            fields.extend(by_generator(|codegen| {
                self.lines.compile_entry(ask(codegen))
            }));
            table.push(fields);
        }
        format!(
            "\n## Figure 5.4: compile time\n\nWithout checks, from the program that takes the shortest to the one that \
             takes the longest, medians of wall time; below, compile time over that without checks, geometric means. \
             The thesis shows LLVM's (page 39).\n\n{}",
            table.source()
        )
    }

    /// From the least to the most of the programs.
    pub(super) fn range(&self, ask: Ask<'_>, figure: Figure) -> Option<String> {
        let values = self.lines.medians(ask, figure);
        let values = values.iter().map(|(_, value)| *value);
        let least = values.clone().reduce(f64::min)?;
        let most = values.reduce(f64::max)?;
        Some(format!(
            "{} to {}",
            figures::time(least),
            figures::time(most)
        ))
    }

    pub(super) fn figure_5_6(&self, thesis: &Thesis) -> String {
        let mut table = Table::new([
            "program",
            "WRPKRU executed, published",
            "cycles each, published",
        ]);
        for one in &thesis.program {
            table.push(vec![one.of.clone(), one.wrpkru.clone(), one.cycles.clone()]);
        }
        let absent = self.campaign.header.config.absent.iter();
        let has_none = absent
            .clone()
            .any(|one| one.engine == format!("fathom {PKEYS}"));
        let here = match has_none {
            true => "This machine has no protection keys, so nothing of ours stands beside.",
            false => {
                "`fathom run --count --bounds pkeys` prints how often ours writes the register."
            }
        };
        format!(
            "\n## Figure 5.6: writes to the register of protection keys\n\nBy the thesis, LLVM (page 40). Ours writes it \
             twice a call of the host and not at indirect calls, where the thesis's wrote it twice. {here}\n\n{}",
            table.source()
        )
    }

    /// Figures A.4 to A.6.
    pub(super) fn form(&self, form: &Form) -> String {
        let mut table = generators(["instruction", "here"]);
        for (instruction, strategy) in &form.line {
            let ask = |codegen| published(strategy, Variant::Wasm64, codegen);
            let mut fields = vec![instruction.clone(), format!("`{strategy}`")];
            fields.extend(by_generator(|codegen| {
                self.lines.entry(ask(codegen), Of::All)
            }));
            table.push(fields);
        }
        format!(
            "\n## Figure {}: which instruction, {}\n\nPublished: {} ({}). Here, time over no checks, 64-bit memories, \
             all programs:\n\n{}",
            form.figure,
            form.of,
            form.published,
            form.place,
            table.source()
        )
    }

    /// What users get, who name neither setting.
    pub(super) fn as_used(&self, thesis: &Thesis) -> String {
        let mut table = generators(["method", "here"]);
        for method in &thesis.method {
            let ask = |codegen| Ask {
                set: Set::Used,
                ..published(&method.strategy, Variant::Wasm64, codegen)
            };
            if GENERATORS
                .iter()
                .any(|(codegen, _)| self.lines.ratio(ask(codegen)).is_some())
            {
                let mut fields = vec![method.of.clone(), format!("`{}`", method.strategy)];
                fields.extend(by_generator(|codegen| {
                    self.lines.entry(ask(codegen), Of::All)
                }));
                table.push(fields);
            }
        }
        if table.lines.is_empty() {
            return String::new();
        }
        format!(
            "\n## Beyond the thesis: what users get\n\nTime over no checks, 64-bit memories, all programs. Checks that \
             another one covers are left out, but for one pass, and what is checked is guarded against speculation: a \
             ratio holds both.\n\n{}",
            table.source()
        )
    }
}

/// A line as published.
pub(super) fn published<'a>(strategy: &'a str, variant: Variant, codegen: &'a str) -> Ask<'a> {
    Ask {
        strategy,
        variant,
        codegen,
        set: Set::Published,
    }
}

/// A table with these columns, and one for each of our generators.
fn generators<const N: usize>(heads: [&str; N]) -> Table {
    Table::new(heads).and(GENERATORS.iter().map(|(_, name)| *name))
}

fn by_generator(entry: impl Fn(&'static str) -> String) -> Vec<String> {
    GENERATORS
        .iter()
        .map(|(codegen, _)| entry(codegen))
        .collect()
}

/// How many points k-means has at a size.
pub(super) fn points(size: &str) -> String {
    let known = POINTS.iter().find(|(name, _)| *name == size);
    known.map_or_else(
        || size.to_owned(),
        |(_, points)| figures::count(f64::from(*points)),
    )
}
