//! The talk's page, from campaigns made of formulas.

use fathom_stats::Summary;

use super::*;
use crate::pages::fibers::tests::campaign;

fn text() -> String {
    let talk: Publication = publications::read(NAME, DATA).unwrap();
    let campaign = campaign();
    let summary = Summary::from_campaign(&campaign);
    page(&talk, &Fibers::of(&campaign, &summary))
}

#[test]
fn what_the_talk_states_is_data_that_can_be_read() {
    let talk: Publication = publications::read(NAME, DATA).unwrap();
    assert_eq!(talk.benchmark.len(), 5);
    for (number, one) in talk.benchmark.iter().enumerate() {
        let lines = if one.workload == "c10m" { 4 } else { 3 };
        assert_eq!(one.line.len(), lines, "{number}");
    }
    assert_eq!(talk.server.len(), 4);
}

#[test]
fn published_lines_are_called_so_and_ours_stand_beside() {
    let text = text();
    assert!(text.contains("| published: WasmFX (base)"), "{text}");
    let sieve = text
        .split("## ")
        .find(|part| part.starts_with("Prime sieve"))
        .unwrap();
    let line = |begins: &str| sieve.lines().find(|line| line.contains(begins)).unwrap();
    assert!(
        line("| fathom stack switching").contains("1.43 ("),
        "{sieve}"
    );
    assert!(
        line("| fathom Asyncify").contains("1.33 (40.0 kB)"),
        "{sieve}"
    );
}

#[test]
fn what_the_campaign_does_not_hold_is_not_measured() {
    let text = text();
    let skynet = text
        .split("## ")
        .find(|part| part.starts_with("Skynet"))
        .unwrap();
    let ours = skynet.lines().filter(|line| line.contains("| fathom "));
    assert!(
        ours.clone().count() == 2 && ours.clone().all(|line| line.contains("not measured yet")),
        "{skynet}"
    );
}

#[test]
fn of_a_failure_a_table_has_the_last_cause() {
    let message = "error while executing at wasm backtrace: 0: 0x3c3 - linked!_start: Cannot allocate memory (os error 12)";
    assert_eq!(cause(message), "Cannot allocate memory (os error 12)");
    assert_eq!(cause("killed"), "killed");
}
