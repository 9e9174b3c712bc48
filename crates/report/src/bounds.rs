//! What strategies cost on 32-bit and 64-bit memories: the page of a campaign of
//! `fathom suite bounds`.
//!
//! ```text
//!  Side    an engine in one configuration, with one width: a row in each suite
//!  Line    one side over another: a mean for each suite, one for all, the worst
//! ```
//!
//! What must stay true: nothing is estimated here (a ratio comes from
//! [`Summary`]); a workload that one of the two sides has no time for is named,
//! for a mean over fewer workloads is another mean; a mean that was not shown
//! to differ from 1 is marked.

use std::fmt::Write;

use fathom_record::{Campaign, Names, Sandbox, Setting, Variant};
use fathom_stats::{Ratio, Row, RowRatio, Summary, Verdict};

use crate::about::{self, failures};
use crate::document::Document;
use crate::figures;
use crate::pages::{Context, PageOutput};
use crate::plain::Tone;
use crate::table::Table;

/// Our engine in cells, its strategy without checks, and the one that users get.
const OWN: &str = "fathom";
const BASELINE: &str = "none";
const DEFAULT: &str = "auto";
/// What `auto` takes for a 32-bit memory: what 64 bits are held against.
const DEFAULT_32: &str = "guard";
/// Workloads that are named where some are missing.
const NAMED_MAX: usize = 3;

/// What the experiment adds: its page in the place of the general report.
pub fn output(context: &Context<'_>) -> PageOutput {
    let page = document(context.campaign, context.summary);
    PageOutput::instead("bounds", context.campaign, page, None)
}

/// The page.
fn document(campaign: &Campaign, summary: &Summary) -> Document {
    const WIDTHS: [Variant; 2] = [Variant::Wasm64, Variant::Wasm32];
    let page = Page { summary };
    let mut text = Document::new(format!("Bounds checks: {}", campaign.header.name));
    text.say(Tone::Plain, page.head(campaign));
    for variant in WIDTHS {
        let title = format!("{} memories: each strategy over `none`", words(variant));
        page.section(&mut text, &title, &page.strategies(variant));
    }
    for variant in WIDTHS {
        let title = format!(
            "{} memories: code generators, over Cranelift's optimised code",
            words(variant)
        );
        page.section(&mut text, &title, &page.generators(variant));
    }
    let title = "64 bits over 32 bits of the same program";
    page.section(&mut text, title, &page.widths());
    let title = "Our `auto` over other engines, 64-bit memories";
    page.section(&mut text, title, &page.peers());
    for variant in WIDTHS {
        let title = format!(
            "{} memories: checks left out, over none left out",
            words(variant)
        );
        page.section(&mut text, &title, &page.elision(variant));
    }
    for variant in WIDTHS {
        let title = format!("{} memories, workload by workload", words(variant));
        for (over, lines) in [
            (", over `none`", page.strategies(variant)),
            (
                ": checks left out, over none left out",
                page.elision(variant),
            ),
        ] {
            page.by_workload(&mut text, format!("{title}{over}"), variant, &lines);
        }
    }
    text.listed("Not measured", failures(campaign));
    text
}

/// The settings that decide how code is made, whatever its checks are.
const CODE: [Setting; 2] = [Setting::Opt, Setting::Codegen];

struct Page<'a> {
    summary: &'a Summary,
}

/// An engine in one configuration on one width, over all suites.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Side {
    sandbox: Sandbox,
    variant: Variant,
}

impl Side {
    /// The same with nothing named of a setting.
    fn without(&self, setting: Setting) -> Side {
        let mut other = self.clone();
        other.sandbox.settings = other.sandbox.settings.without(setting);
        other
    }
}

/// One side over another.
struct Line {
    name: String,
    /// By suite, in the campaign's order.
    suites: Vec<RowRatio>,
    all: RowRatio,
}

impl Page<'_> {
    /// What is compared, and how sure it is.
    fn head(&self, campaign: &Campaign) -> String {
        format!(
            "{} on {}. Times of the kernels; ratios paired by round, geometric means with 95 % \
             intervals. Noise floor of the means: {}; a ratio marked ~ was not shown to \
             differ from 1. Both widths are made of one source by one compiler.",
            campaign.header.date,
            campaign.header.host.cpu_model,
            about::floor(self.summary),
        )
    }

    /// The suites, in the campaign's order.
    fn suites(&self) -> Vec<&str> {
        let mut suites = Vec::new();
        for row in &self.summary.rows {
            if !suites.contains(&row.row.suite.as_str()) {
                suites.push(row.row.suite.as_str());
            }
        }
        suites
    }

    /// The sides of a width, in the campaign's order.
    fn sides(&self, variant: Variant) -> Vec<Side> {
        let mut sides = Vec::new();
        for row in self.summary.rows.iter().map(|row| &row.row) {
            let side = Side {
                sandbox: row.sandbox.clone(),
                variant,
            };
            if row.variant == variant && !sides.contains(&side) {
                sides.push(side);
            }
        }
        sides
    }

    /// Our engine with a strategy, as it is by default.
    fn own(&self, strategy: &str, variant: Variant) -> Option<Side> {
        let sides = self.sides(variant).into_iter();
        let mut own = sides.filter(|side| is_own(side, strategy));
        let plain = own.clone().find(|side| has_default_code(&side.sandbox));
        plain.or_else(|| own.next())
    }

    /// What a side of ours checks nothing with: the same code generator, as hard.
    fn unchecked(&self, side: &Side) -> Option<Side> {
        let sides = self.sides(side.variant).into_iter();
        let mut unchecked = sides.filter(|one| is_own(one, BASELINE));
        unchecked.find(|one| has_same_code(&one.sandbox, &side.sandbox))
    }

    fn row(&self, side: &Side, suite: &str) -> Option<&Row> {
        let rows = self.summary.rows.iter().map(|row| &row.row);
        rows.into_iter().find(|row| {
            row.suite == suite && row.variant == side.variant && row.sandbox == side.sandbox
        })
    }

    fn line(&self, name: String, side: &Side, to: &Side) -> Line {
        let pairs: Vec<(&Row, &Row)> = self
            .suites()
            .into_iter()
            .filter_map(|suite| Some((self.row(side, suite)?, self.row(to, suite)?)))
            .collect();
        Line {
            name,
            suites: pairs
                .iter()
                .map(|pair| self.summary.ratio_over(std::slice::from_ref(pair)))
                .collect(),
            all: self.summary.ratio_over(&pairs),
        }
    }

    /// Every strategy of ours over the one that checks nothing, of the same code
    /// generator.
    fn strategies(&self, variant: Variant) -> Vec<Line> {
        let sides = self.sides(variant);
        let own = sides.iter().filter(|side| {
            side.sandbox.engine == OWN && side.sandbox.settings.get(Setting::Elide).is_none()
        });
        let pairs = own.filter_map(|side| Some((side, self.unchecked(side)?)));
        pairs
            .filter(|(side, unchecked)| *side != unchecked)
            .map(|(side, unchecked)| self.line(name(side), side, &unchecked))
            .collect()
    }

    /// Each strategy with another code generator, or compiled less hard, over itself.
    fn generators(&self, variant: Variant) -> Vec<Line> {
        let sides = self.sides(variant);
        let own = sides.iter().filter(|side| side.sandbox.engine == OWN);
        let others = own.filter(|side| !has_default_code(&side.sandbox));
        let usual = |side: &Side| {
            let settings = side.sandbox.settings.clone();
            let usual = Side {
                sandbox: Sandbox {
                    settings: CODE
                        .iter()
                        .fold(settings, |settings, one| settings.without(*one)),
                    ..side.sandbox.clone()
                },
                ..side.clone()
            };
            sides.contains(&usual).then_some(usual)
        };
        let pairs = others.filter_map(|side| Some((side, usual(side)?)));
        pairs
            .map(|(side, usual)| self.line(name(side), side, &usual))
            .collect()
    }

    /// Each strategy of which some checks were kept that are left out by default:
    /// as many left out as may be, over none.
    fn elision(&self, variant: Variant) -> Vec<Line> {
        let sides = self.sides(variant);
        let kept = sides
            .iter()
            .filter(|side| side.sandbox.settings.get(Setting::Elide) == Some("off"));
        let mut lines = Vec::new();
        for off in kept {
            let others = sides
                .iter()
                .filter(|side| *side != off && is_but_for_elision(side, off));
            for side in others {
                let choice = side.sandbox.settings.value(Setting::Elide);
                let without = name(&side.without(Setting::Elide));
                lines.push(self.line(format!("{without}: {choice} over off"), side, off));
            }
        }
        lines
    }

    /// What a program costs more with 64 bits than with 32.
    fn widths(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        let (wide, narrow) = (Variant::Wasm64, Variant::Wasm32);
        let mut compare = |what: String, side: Option<Side>, to: Option<Side>| {
            if let (Some(side), Some(to)) = (side, to) {
                lines.push(self.line(what, &side, &to));
            }
        };
        compare(
            format!("{OWN} {BASELINE} over {BASELINE}: what the width costs"),
            self.own(BASELINE, wide),
            self.own(BASELINE, narrow),
        );
        let to = self.own(DEFAULT_32, narrow);
        compare(
            format!("{OWN} {DEFAULT} over {DEFAULT_32}: what users pay"),
            self.own(DEFAULT, wide),
            to.or_else(|| self.own(DEFAULT, narrow)),
        );
        for side in self.outside() {
            let to = Side {
                variant: narrow,
                ..side.clone()
            };
            let has_narrow = self.sides(narrow).contains(&to);
            compare(
                format!("{} over itself", name(&side)),
                Some(side),
                has_narrow.then_some(to),
            );
        }
        lines
    }

    /// Other engines, with 64 bits.
    fn outside(&self) -> Vec<Side> {
        let mut sides = self.sides(Variant::Wasm64);
        sides.retain(|side| side.sandbox.engine != OWN);
        sides
    }

    /// What users of our engine get, over what users of others get.
    fn peers(&self) -> Vec<Line> {
        let Some(own) = self.own(DEFAULT, Variant::Wasm64) else {
            return Vec::new();
        };
        let over = |side: &Side| self.line(format!("over {}", name(side)), &own, side);
        self.outside().iter().map(over).collect()
    }

    fn section(&self, text: &mut Document, title: &str, lines: &[Line]) {
        if lines.is_empty() {
            return;
        }
        let suites = self.suites();
        let has_all = suites.len() > 1;
        let mut table = Table::new([""])
            .and(suites.iter().copied())
            .and(has_all.then_some("all"))
            .and(["worst workload"]);
        for line in lines {
            let mut fields = vec![line.name.clone()];
            fields.extend(line.suites.iter().map(mean));
            fields.resize(suites.len() + 1, figures::NONE.to_owned());
            fields.extend(has_all.then(|| mean(&line.all)));
            fields.push(worst(&line.all));
            table.push(fields);
        }
        text.heading(title);
        text.table(table);
    }

    /// Each workload in each of these lines.
    fn by_workload(&self, text: &mut Document, title: String, variant: Variant, lines: &[Line]) {
        if lines.is_empty() {
            return;
        }
        let mut names: Vec<&str> = Vec::new();
        for suite in self.suites() {
            let rows = self.sides(variant);
            let row = rows.iter().find_map(|side| self.row(side, suite));
            names.extend(
                row.into_iter()
                    .flat_map(|row| self.summary.workloads_of(row)),
            );
        }
        let mut table = Table::new(["workload"]).and(lines.iter().map(|line| &line.name));
        for workload in names {
            let fields = lines.iter().map(|line| of_workload(&line.all, workload));
            table.push(std::iter::once(workload.to_owned()).chain(fields));
        }
        text.heading(title);
        text.table(table);
    }
}

/// Whether a side is of our engine with a strategy and no other choice but its code
/// generator.
fn is_own(side: &Side, strategy: &str) -> bool {
    let sandbox = &side.sandbox;
    let is_default = sandbox.settings.are_default_but(&CODE);
    sandbox.engine == OWN && sandbox.strategy == strategy && is_default
}

/// Whether code is made by the same generator, as hard.
fn has_same_code(one: &Sandbox, other: &Sandbox) -> bool {
    let is_same = |setting: &Setting| one.settings.get(*setting) == other.settings.get(*setting);
    CODE.iter().all(is_same)
}

/// Whether code is made as it is unless something else is asked for.
fn has_default_code(sandbox: &Sandbox) -> bool {
    let is_default = |setting: &Setting| sandbox.settings.get(*setting).is_none();
    CODE.iter().all(is_default)
}

/// Whether two sides differ in nothing but which checks are left out.
fn is_but_for_elision(one: &Side, other: &Side) -> bool {
    one.without(Setting::Elide) == other.without(Setting::Elide)
}

fn words(variant: Variant) -> &'static str {
    if variant.has_memory64() {
        "64-bit"
    } else {
        "32-bit"
    }
}

/// A side in a reader's words; of our engine all but its name, which the page has.
fn name(side: &Side) -> String {
    let sandbox = &side.sandbox;
    let names = Names::of([(sandbox, None)]);
    match names.engine_and_detail(sandbox, None) {
        (engine, detail) if engine == OWN => detail,
        _ => names.name(sandbox, None),
    }
}

/// A ratio with a mark where no difference was shown.
fn marked(value: f64, verdict: Verdict) -> String {
    let mark = if verdict == Verdict::Different {
        ""
    } else {
        "~"
    };
    format!("{mark}{value:.3}")
}

/// A ratio with its mark and its interval.
pub(crate) fn shown(ratio: &Ratio, verdict: Verdict) -> String {
    let mut text = marked(ratio.value, verdict);
    if let Ok(interval) = ratio.interval {
        let _ = write!(text, " ({})", figures::ends(interval.low, interval.high));
    }
    text
}

/// A mean with its interval, and how many workloads it lacks.
pub(crate) fn mean(ratio: &RowRatio) -> String {
    let Ok(mean) = &ratio.geomean else {
        return figures::NONE.to_owned();
    };
    let mut text = shown(mean, ratio.verdict);
    if !ratio.missing.is_empty() {
        let named: Vec<&str> = ratio
            .missing
            .iter()
            .take(NAMED_MAX)
            .map(String::as_str)
            .collect();
        let more = match ratio.missing.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let _ = write!(text, ", without {}{more}", named.join(", "));
    }
    text
}

/// The workload with the highest ratio.
fn worst(ratio: &RowRatio) -> String {
    let highest = ratio
        .workloads
        .iter()
        .max_by(|one, other| one.ratio.value.total_cmp(&other.ratio.value));
    highest.map_or_else(
        || figures::NONE.to_owned(),
        |one| format!("{} {}", marked(one.ratio.value, one.verdict), one.workload),
    )
}

fn of_workload(ratio: &RowRatio, workload: &str) -> String {
    let found = ratio.workloads.iter().find(|one| one.workload == workload);
    found.map_or_else(
        || figures::NONE.to_owned(),
        |one| marked(one.ratio.value, one.verdict),
    )
}

#[cfg(test)]
mod tests;
