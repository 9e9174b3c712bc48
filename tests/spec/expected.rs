//! Failures that are a strategy's nature, kept as files with a reason each:
//! `SCRIPT:LINE  reason`, `#` for comments.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::LazyLock;

use fathom_engine::Bounds;
use fathom_engine::Guarantee;

use crate::script::{Outcome, Report};

/// The expected failures of one strategy, by `SCRIPT:LINE`.
pub struct Expected(BTreeMap<String, String>);

impl Expected {
    /// What the strategy's file lists; nothing for exact strategies, which
    /// have none.
    pub fn read(bounds: Bounds) -> Expected {
        if bounds.guarantee() == Guarantee::Exact {
            return Expected(BTreeMap::new());
        }
        Expected(read(bounds.name()))
    }

    /// Whether the directive there is expected to fail.
    pub fn contains(&self, place: &str) -> bool {
        self.0.contains_key(place)
    }

    /// How many are listed.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Whether a script as a whole is beyond WebAssembly 2.0.
pub fn beyond(script: &str) -> bool {
    static LISTED: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| read("beyond"));
    LISTED.contains_key(script)
}

/// What a file lists, with its reasons.
fn read(name: &str) -> BTreeMap<String, String> {
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
    listed
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/spec/expected")
        .join(format!("{name}.txt"))
}

/// Rewrite the file of a strategy that is not exact with what it did, but only
/// where it may: going on at an access out of bounds, and what follows from
/// that in the same script.
pub fn bless(bounds: Bounds, reports: &[Report]) {
    if bounds.guarantee() == Guarantee::Exact {
        return;
    }
    let mut text = format!(
        "# Directives of the official suite that strategy '{bounds}' does not fulfil, because\n\
         # it is {}: {}.\n\
         # Written by `FATHOM_BLESS=1 cargo test --test spec`.\n",
        bounds.guarantee(),
        bounds.help(),
    );
    for report in reports {
        for (line, outcome) in &report.outcomes {
            if let Outcome::Failed(failure) = outcome
                && failure.inexact
            {
                let _ = writeln!(
                    text,
                    "{}:{line}  {}",
                    report.script,
                    reason(&failure.message)
                );
            }
        }
    }
    std::fs::write(path(bounds.name()), text).expect("the expected-failures file");
}

fn reason(message: &str) -> String {
    match message.strip_prefix("went on instead of: ") {
        Some(trap) => format!("{trap}: does not trap"),
        None => "sees what an access out of bounds did before".to_owned(),
    }
}
