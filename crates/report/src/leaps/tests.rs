//! The page, from a campaign made of formulas.

use fathom_record::Experiment;

use super::*;
use crate::formula;
use crate::scaling::tests::campaign;

fn page() -> Vec<(String, String)> {
    formula::output(&campaign(), Experiment::LeapsAndBounds).paper
}

#[test]
fn what_the_paper_states_is_data_that_can_be_read() {
    let paper: Publication = toml::from_str(DATA).unwrap();
    assert!(paper.statement.len() > 10 && !paper.gap.is_empty());
    assert!(paper.statement.iter().all(|one| !one.place.is_empty()));
}

#[test]
fn every_statement_is_answered_or_said_to_be_missing() {
    let files = page();
    let (name, text) = &files[0];
    assert_eq!(name, "leaps-and-bounds.md");
    let paper: Publication = toml::from_str(DATA).unwrap();
    for one in &paper.statement {
        let line = text.lines().find(|line| line.contains(&one.what)).unwrap();
        assert!(line.contains(&one.published), "{line}");
    }
    assert!(text.contains("not in this campaign"), "no wasm3 there");
    assert!(
        text.contains("| fathom uffd: 1.00 ×") || text.contains("| fathom guard: 1.00 ×"),
        "{text}"
    );
    assert!(text.contains("4 at once: crash: out of memory"), "{text}");
}

#[test]
fn every_picture_the_page_shows_is_there() {
    let files = page();
    let shown = files[0].1.matches("](leaps-and-bounds-").count();
    assert_eq!(shown, files.len() - 1);
    assert!(shown >= 3, "{}", files[0].1);
    for (name, svg) in &files[1..] {
        assert!(files[0].1.contains(&format!("]({name})")));
        assert!(svg.starts_with("<svg") && !svg.contains("NaN"), "{name}");
    }
}
