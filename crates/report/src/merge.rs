//! Shards of one campaign together, as text.

use fathom_stats::merge::{Estimates, Merged};
use fathom_stats::{Ratio, Verdict};

use crate::compare::RowNames;
use crate::figures;
use crate::plain::{Style, Tone};
use crate::table::Table;
use crate::view::could_have_seen;

/// A shard as it is shown.
#[derive(Clone, Debug)]
pub struct Shard {
    /// Which it is, from 1.
    pub index: u32,
    /// Its folder as it was named.
    pub folder: String,
    /// The machine that measured it, in a few words.
    pub host: String,
}

/// What is merged.
#[derive(Clone, Debug)]
pub struct Shown<'a> {
    /// In the order of the estimates.
    pub shards: &'a [Shard],
    /// How many there should be.
    pub count: u32,
    /// Workloads that every shard has.
    pub anchors: &'a [String],
    /// What a reader should know of the shards, a line each.
    pub warnings: &'a [String],
    /// Whether each workload is listed.
    pub has_workloads: bool,
}

/// The estimates of all rows, and what the machines do to them.
pub fn render(merged: &Merged, shown: &Shown<'_>, style: Style) -> String {
    let mut text = String::new();
    let mut say = |tone: Tone, line: &str| style.say(&mut text, tone, line);
    let head = format!(
        "{} of {}, anchors: {}",
        figures::plural(shown.shards.len(), "shard"),
        shown.count,
        shown.anchors.join(", ")
    );
    say(Tone::Strong, &head);
    for Shard {
        index,
        folder,
        host,
    } in shown.shards
    {
        say(Tone::Plain, &format!("shard {index}  {folder}  {host}"));
    }
    for warning in shown.warnings {
        say(Tone::Bad, warning);
    }
    say(
        Tone::Faint,
        "Ratios of times on one machine, brought to an average of these machines; times of \
         different machines are not compared.",
    );
    say(Tone::Plain, "");
    let names = RowNames::of(merged.rows.iter().map(|row| &row.row));
    let table = means(merged, shown, &names);
    text.push_str(&table.terminal(style));
    let mut say = |tone: Tone, line: &str| style.say(&mut text, tone, line);
    say(Tone::Plain, "");
    for row in &merged.rows {
        let name = names.name(&row.row);
        if let Err(why) = &row.estimates {
            say(Tone::Bad, &format!("{name}: no estimate: {why}"));
        }
        if !row.missing.is_empty() {
            let missing = row.missing.join(", ");
            say(Tone::Bad, &format!("{name}: without a time: {missing}"));
        }
    }
    say(
        Tone::Faint,
        "A shard's column is what its machine shows of a ratio beside an average machine, * where \
         that is shown to differ; interaction is what one machine does to one workload alone, as \
         a standard deviation.",
    );
    let (mean, cell) = merged.detectable;
    if let Some(seen) = could_have_seen(mean, cell) {
        say(Tone::Faint, &seen);
    }
    if shown.has_workloads {
        say(Tone::Plain, "");
        text.push_str(&workloads(merged, shown, &names).terminal(style));
    }
    text
}

fn means(merged: &Merged, shown: &Shown<'_>, names: &RowNames) -> Table {
    let shards = shown.shards.iter();
    let mut table = Table::new(["row", "to", "ratio", "95 %", "verdict", "workloads"])
        .and(shards.map(|shard| format!("shard {}", shard.index)))
        .and(["interaction"])
        .left([1, 4]);
    for row in &merged.rows {
        let Ok(estimates) = &row.estimates else {
            continue;
        };
        let (mean, verdict) = &estimates.geomean;
        let mut fields = vec![names.name(&row.row), names.name(&row.baseline)];
        fields.extend(known(mean, *verdict));
        fields.push(figures::count(mean.workloads as f64));
        fields.extend(machines(estimates));
        fields.push(figures::percent(estimates.interaction.exp_m1()));
        table.push(fields);
    }
    table
}

/// The ratio, its interval and its verdict.
fn known(ratio: &Ratio, verdict: Verdict) -> [String; 3] {
    let ends = ratio.interval.ok();
    let ends = ends.map(|ends| figures::ends(ends.low, ends.high));
    [
        figures::ratio(ratio.value),
        ends.unwrap_or_else(|| figures::NONE.to_owned()),
        verdict.name().to_owned(),
    ]
}

fn machines(estimates: &Estimates) -> impl Iterator<Item = String> {
    estimates.machines.iter().map(|(ratio, verdict)| {
        let mark = match verdict {
            Verdict::Different => " *",
            _ => "",
        };
        format!("{}{mark}", figures::signed_percent(ratio.value - 1.0))
    })
}

fn workloads(merged: &Merged, shown: &Shown<'_>, names: &RowNames) -> Table {
    let heads = ["row", "workload", "shard", "ratio", "95 %", "verdict"];
    let mut table = Table::new(heads).left([1, 2, 5]);
    for row in &merged.rows {
        for one in row.estimates.iter().flat_map(|one| &one.workloads) {
            let shard = one.shard.and_then(|at| shown.shards.get(at));
            let shard = shard.map_or("all".to_owned(), |shard| shard.index.to_string());
            let first = [names.name(&row.row), one.workload.clone(), shard];
            table.push(first.into_iter().chain(known(&one.ratio, one.verdict)));
        }
    }
    table
}
