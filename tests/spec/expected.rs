//! Failures that are a strategy's nature, or beyond the engine, kept as files
//! with a reason each: `GROUP/FILE:LINE  reason`, `#` for comments. What comes on
//! top on one instruction set stands in `STRATEGY-ARCH.txt`, and in a machine that
//! is named by `FATHOM_SPEC_MACHINE` in `STRATEGY-MACHINE.txt`, both written by hand.
//! `STRATEGY-either.txt`, by hand too, has accesses out of bounds that trap or go on by what else is
//! mapped where they are.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use fathom_engine::Bounds;
use fathom_engine::Guarantee;

use crate::run::{Cause, Outcome, Report};

/// The file of what the engine leaves out, under every strategy.
const BEYOND: &str = "beyond";

/// The failures that one file lists, by `GROUP/FILE:LINE`.
pub struct Expected(BTreeMap<String, String>);

impl Expected {
    /// What the strategy's file lists, and those of this instruction set and of this
    /// machine beside it; nothing for exact strategies, which have none.
    pub fn of(bounds: Bounds) -> Expected {
        let mut expected = Expected(BTreeMap::new());
        if bounds.guarantee() != Guarantee::Exact {
            expected.0.extend(Expected::read(bounds.name()).0);
            let machine = std::env::var("FATHOM_SPEC_MACHINE").ok();
            let here = [Some(std::env::consts::ARCH.to_owned()), machine];
            for word in here.into_iter().flatten() {
                expected
                    .0
                    .extend(Expected::read(&format!("{bounds}-{word}")).0);
            }
        }
        expected
    }

    /// What a strategy fulfils or not by chance.
    pub fn either(bounds: Bounds) -> Expected {
        match bounds.guarantee() {
            Guarantee::Exact => Expected(BTreeMap::new()),
            _ => Expected::read(&format!("{bounds}-either")),
        }
    }

    /// What the engine leaves out, everywhere and on this instruction set: that is about
    /// stack switching, so it does not count for a strategy without.
    pub fn beyond(bounds: Bounds) -> Expected {
        let mut expected = Expected::read(BEYOND);
        if switches_stacks(bounds) {
            let here = format!("{BEYOND}-{}", std::env::consts::ARCH);
            expected.0.extend(Expected::read(&here).0);
        }
        expected
    }

    /// What a file lists, with its reasons.
    pub fn read(name: &str) -> Expected {
        let text = std::fs::read_to_string(path(name)).unwrap_or_default();
        let mut listed = BTreeMap::new();
        for line in text
            .lines()
            .filter(|l| !l.is_empty() && !l.starts_with('#'))
        {
            let (place, reason) = line.split_once("  ").unwrap_or((line, ""));
            assert!(!reason.trim().is_empty(), "no reason is given: {line}");
            listed.insert(place.to_owned(), reason.trim().to_owned());
        }
        Expected(listed)
    }

    /// Whether the directive there is expected to fail.
    pub fn contains(&self, place: &str) -> bool {
        self.0.contains_key(place)
    }

    /// The places listed.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// Whether there is stack switching under a strategy.
pub fn switches_stacks(bounds: Bounds) -> bool {
    bounds != Bounds::Pkeys
}

fn path(name: &str) -> PathBuf {
    crate::root()
        .join("tests/spec/expected")
        .join(format!("{name}.txt"))
}

/// Rewrite the file of a strategy that is not exact with what it did, but only
/// where it may: going on at an access out of bounds, and what follows from
/// that in the same script.
pub fn bless(bounds: Bounds, reports: &[Report<'_>]) {
    if bounds.guarantee() == Guarantee::Exact {
        return;
    }
    let head = format!(
        "# Directives of the official suite that strategy '{bounds}' does not fulfil, because\n\
         # it is {}: {}.\n",
        bounds.guarantee(),
        bounds.help(),
    );
    write(bounds.name(), head, reports, Cause::Inexact, inexact_reason);
}

fn write(
    name: &str,
    head: String,
    reports: &[Report<'_>],
    cause: Cause,
    reason: fn(&str) -> String,
) {
    let mut text = head;
    text.push_str("# Written by `FATHOM_BLESS=1 cargo test --test spec`.\n");
    for report in reports {
        for (line, outcome) in &report.outcomes {
            if let Outcome::Failed(failure) = outcome
                && failure.cause == cause
            {
                let script = &report.script.name;
                let _ = writeln!(text, "{script}:{line}  {}", reason(&failure.message));
            }
        }
    }
    std::fs::write(path(name), text).expect("the expected-failures file");
}

fn inexact_reason(message: &str) -> String {
    match message.strip_prefix("went on instead of: ") {
        Some(trap) => format!("{trap}: does not trap"),
        None => "sees what an access out of bounds did before".to_owned(),
    }
}
