//! The general report's pictures as files of their own, for whoever writes about a campaign.

use crate::chart::horizontal_bars::{Bar, HorizontalBars, Kind};
use crate::figures;
use crate::view::{Group, Row, View};

/// A picture for each group that compares rows: what each costs over the baseline.
pub fn files(view: &View) -> Vec<(String, String)> {
    let each = view.groups.iter().enumerate();
    each.filter_map(|(at, group)| Some((format!("ratios-{}.svg", at + 1), ratios(group)?)))
        .collect()
}

fn ratios(group: &Group) -> Option<String> {
    let bars: Vec<Bar> = group.rows.iter().filter_map(bar).collect();
    let drawing = HorizontalBars {
        title: group.title.clone(),
        axis: format!("× {} (95 % interval)", group.baseline),
        bars,
    };
    // Below five rounds nothing is said, and nothing is drawn.
    (drawing.bars.len() > 1).then(|| drawing.render()).flatten()
}

fn bar(row: &Row) -> Option<Bar> {
    let ratio = row.to_baseline?;
    let kind = match (row.key.variant.is_wasm(), row.key.sandbox.engine.as_str()) {
        (false, _) => Kind::Native,
        (true, "fathom") => Kind::Ours,
        (true, _) => Kind::Other,
    };
    Some(Bar {
        name: row.name.clone(),
        value: ratio.value,
        ends: Some(ratio.ends?),
        shown: figures::ratio(ratio.value),
        kind,
    })
}
