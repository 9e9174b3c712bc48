//! Two campaigns in, a judgement out.

mod common;

use common::{campaign, campaign_of, failure, header, true_ratio};
use fathom_record::{Campaign, Cell, Fact, FailureKind};
use fathom_stats::{Basis, Comparison, Summary, Verdict, compare};

fn judged(before: &Campaign, after: &Campaign, threshold: f64) -> Comparison {
    let (before, after) = (
        Summary::from_campaign(before),
        Summary::from_campaign(after),
    );
    let basis = Basis::of(&before, &after);
    compare(&before, &after, threshold, basis)
}

fn slower(factor: f64) -> impl Fn(&Cell) -> f64 {
    move |cell| {
        true_ratio(cell)
            * if cell.sandbox.strategy == "trap" {
                factor
            } else {
                1.0
            }
    }
}

#[test]
fn a_campaign_against_itself_is_never_refused() {
    let campaign = campaign(3, 1, 5, 0.02, 1);
    let comparison = judged(&campaign, &campaign, 0.0);
    assert!(!comparison.is_refused());
    assert_eq!(comparison.rows.len(), 4);
    for row in &comparison.rows {
        let change = row.geomean.unwrap();
        assert_ne!(change.verdict, Verdict::Different);
        assert!((change.ratio.value - 1.0).abs() < 1e-12);
    }
}

#[test]
fn noise_alone_is_not_refused_even_without_a_threshold() {
    let mut refused = 0;
    for seed in 0..20 {
        let (one, other) = (
            campaign(6, 1, 5, 0.01, 2 * seed),
            campaign(6, 1, 5, 0.01, 2 * seed + 1),
        );
        refused += u32::from(judged(&one, &other, 0.0).is_refused());
    }
    // Each comparison judges 4 means and 24 workloads.
    assert!(refused <= 2, "{refused} of 20");
}

#[test]
fn a_real_slowdown_past_the_threshold_is_refused() {
    let before = campaign(6, 1, 5, 0.002, 1);
    let after = campaign_of(header(6, 1), 5, 0.002, 2, slower(1.10));
    let comparison = judged(&before, &after, 0.05);
    assert!(comparison.is_refused());
    assert!(
        comparison
            .regressions()
            .all(|(row, ..)| row.sandbox.strategy == "trap")
    );
    let (_, workload, change) = comparison.regressions().next().unwrap();
    assert!(workload.is_none() && (change.ratio.value - 1.10).abs() < 0.02);
    assert!(
        !judged(&before, &after, 0.20).is_refused(),
        "below the threshold"
    );
    assert!(
        !judged(&after, &before, 0.05).is_refused(),
        "faster is welcome"
    );
}

#[test]
fn a_slower_machine_is_drift_and_no_slowdown() {
    let before = campaign(6, 1, 5, 0.002, 1);
    let mut after = campaign_of(header(6, 1), 5, 0.002, 2, |cell| 1.2 * true_ratio(cell));
    let comparison = judged(&before, &after, 0.05);
    assert_eq!(comparison.basis, Basis::Time);
    assert!((comparison.drift[&1].value - 1.2).abs() < 0.02);
    assert!(!comparison.is_refused());
    // On another host only ratios to native are compared.
    after.header.host.kernel = Fact::Known("another".to_owned());
    let comparison = judged(&before, &after, 0.05);
    assert_eq!(
        (comparison.basis, comparison.is_same_host),
        (Basis::ToBaseline, false)
    );
    assert!(!comparison.is_refused());
    assert!((comparison.rows[3].geomean.unwrap().ratio.value - 1.0).abs() < 0.01);
}

#[test]
fn a_time_that_was_lost_is_refused() {
    let before = campaign(2, 1, 3, 0.002, 1);
    let mut after = campaign(2, 1, 3, 0.002, 2);
    let id = after.header.cells[1].id();
    after.push(failure(Some(&id), None, FailureKind::Crash));
    let comparison = judged(&before, &after, 1.0);
    assert!(comparison.is_refused());
    assert_eq!(comparison.lost[0].0, id);
    assert_eq!(comparison.lost[0].1.to_string(), "the runner died: because");
}

#[test]
fn what_only_one_has_is_told() {
    let (large, small) = (campaign(3, 1, 3, 0.002, 1), campaign(2, 1, 3, 0.002, 2));
    let comparison = judged(&large, &small, 0.05);
    assert_eq!(
        (comparison.only_before.len(), comparison.only_after.len()),
        (5, 0)
    );
    assert!(comparison.rows.iter().all(|row| row.workloads.len() == 2));
    let nothing = judged(&large, &Campaign::new(header(0, 1)), 0.05);
    assert!(nothing.rows.is_empty() && !nothing.is_refused());
}

#[test]
fn without_a_control_in_both_nothing_is_refused() {
    let before = campaign(3, 1, 5, 0.002, 1);
    let mut bare = header(3, 1);
    bare.cells.retain(|cell| !cell.is_control());
    let comparison = judged(&before, &campaign_of(bare, 5, 0.002, 2, slower(2.0)), 0.05);
    assert!(!comparison.is_refused());
    assert_eq!(
        comparison.rows[3].geomean.unwrap().verdict,
        Verdict::Uncontrolled
    );
}
