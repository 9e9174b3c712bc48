//! What the checks of our engine cost: the first thing that is asked of it.
//!
//! What must stay true: a ratio stands with its interval, so that nobody takes noise for a
//! price.

use fathom_record::campaign::Header;

use super::commands::shell;
use super::{Group, Interval, Row};
use crate::figures;

/// Our engine's name in rows.
const OWN: &str = "fathom";

/// Two sentences, or none where our engine has no time: the price of each strategy over
/// no checks at all, and how to see where it goes.
pub fn lines(header: &Header, groups: &[Group]) -> Vec<String> {
    let is_ours = |row: &&Row| row.key.sandbox.engine == OWN && !row.costs.is_empty();
    let Some(group) = groups
        .iter()
        .find(|group| group.rows.iter().any(|row| is_ours(&row)))
    else {
        return Vec::new();
    };
    let mut priced: Vec<(&Row, Interval)> = group
        .rows
        .iter()
        .filter(is_ours)
        .filter_map(|row| Some((row, row.to_unchecked?)))
        .collect();
    let all = priced.len();
    // Of fewer rounds no price is said; the headline says why.
    priced.retain(|(_, ratio)| ratio.ends.is_some());
    if priced.is_empty() && all > 0 {
        return Vec::new();
    }
    if priced.is_empty() {
        let why = "What checks cost is not known: fathom was not measured without checks \
                   (`--bounds all` does).";
        return vec![why.to_owned()];
    }
    priced.sort_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
    let each: Vec<String> = priced
        .iter()
        .map(|(row, ratio)| price(row, *ratio))
        .collect();
    let dearest = priced
        .last()
        .map_or("trap", |(row, _)| row.key.sandbox.strategy.as_str());
    vec![
        format!(
            "What checks cost, relative to fathom without checks: {}.",
            each.join(", ")
        ),
        why(header, dearest),
    ]
}

fn price(row: &Row, ratio: Interval) -> String {
    let name = row.name.strip_prefix(OWN).unwrap_or(&row.name).trim_start();
    let name = if name.is_empty() {
        row.detail.as_str()
    } else {
        name
    };
    let ends = ratio.ends.map_or_else(String::new, |(low, high)| {
        format!(" ({})", figures::ends(low, high))
    });
    format!("{name} {}{ends}", figures::ratio(ratio.value))
}

/// The commands that show where it goes.
fn why(header: &Header, strategy: &str) -> String {
    let file = match &header.config.module {
        Some(module) => shell(&[module.path.to_string_lossy()]),
        None => "FILE".to_owned(),
    };
    let strategy = shell(&[strategy.trim_end_matches("+pool")]);
    format!(
        "Where the time goes: `fathom objdump --bounds {strategy} {file}` shows the check \
         instructions, `fathom run --count {file}` how many accesses are checked."
    )
}
