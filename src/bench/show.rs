//! How far a campaign is, on stderr: a bar with the time left on a terminal, a
//! line per round otherwise. Failures are said when they happen, once per
//! kind and engine; the report lists them all.

use std::{collections::BTreeSet, io::IsTerminal, time::Duration};

use fathom_bench::{
    choose::Absent,
    prepare::Prepared,
    request::RequestError,
    session::{Note, Observer, Outlook},
};
use fathom_record::{Cell, FailureKind, Names};
use fathom_report::figures::{percent, plural};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::one_line::{printable, say};

/// Says what is about to happen.
pub fn announce(prepared: &Prepared) {
    for warning in &prepared.warnings {
        say(warning);
    }
    let (cells, rows) = (prepared.plan.tasks.len(), prepared.rows.len());
    say!(
        "{}: {}, {} a round → {}",
        prepared.header.name,
        plural(rows, "row"),
        plural(cells, "cell"),
        prepared.folder.display()
    );
    if let Some(wanted) = prepared.pace.detect {
        let most = prepared
            .pace
            .budget
            .map_or(String::new(), |most| format!(", or for {}", rough(most)));
        say!(
            "measuring until a difference of {} would be found (80 % power){most}; what that takes \
             is said after three rounds",
            percent(wanted)
        );
    }
    for line in absent_lines(&prepared.absent) {
        say(&line);
    }
}

/// What a program that does not run printed on its standard error: the line about it
/// follows.
pub fn last_words(error: &RequestError) {
    if let RequestError::Trial(broken) = error {
        for line in &broken.stderr {
            say(&format!("  | {line}"));
        }
    }
}

/// What is not measured: all that the installer gets in one line, with the command that
/// gets it, and each of the others with its reason.
fn absent_lines(absent: &[Absent]) -> Vec<String> {
    let mut missing: Vec<&str> = Vec::new();
    for name in absent.iter().filter_map(|one| one.install.as_deref()) {
        if !missing.contains(&name) {
            missing.push(name);
        }
    }
    let mut lines = Vec::new();
    if !missing.is_empty() {
        lines.push(format!(
            "not installed: {}; get them: fathom engines install {}",
            missing.join(", "),
            missing.join(" ")
        ));
    }
    let others = absent.iter().filter(|one| one.install.is_none());
    lines.extend(others.map(|one| format!("absent: {}: {}", one.engine, one.why)));
    lines
}

/// Shows a campaign's notes.
pub struct Shown {
    bar: ProgressBar,
    is_terminal: bool,
    said: BTreeSet<(String, String)>,
    left: String,
}

impl Shown {
    pub fn new() -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let target = if is_terminal {
            ProgressDrawTarget::stderr_with_hz(4)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        let template = "{prefix} {bar:24} {pos}/{len} {wide_msg}";
        bar.set_style(
            ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("━╸─"),
        );
        Self {
            bar,
            is_terminal,
            said: BTreeSet::new(),
            left: String::new(),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn say(&self, line: &str) {
        if self.is_terminal {
            self.bar.suspend(|| say(line));
        } else {
            say(line);
        }
    }

    fn begin(&mut self, cell: &Cell, left: Option<Duration>) {
        if let Some(left) = left {
            self.left = format!("about {} left · ", rough(left));
        }
        self.bar
            .set_message(format!("{}{}", self.left, printable(&describe(cell))));
    }
}

impl Observer for Shown {
    fn note(&mut self, note: Note<'_>) {
        match note {
            Note::Round {
                round,
                rounds,
                cells,
            } => {
                self.bar.set_length(cells as u64);
                self.bar.set_position(0);
                self.bar
                    .set_prefix(format!("round {} (≤ {rounds})", round + 1));
                if !self.is_terminal {
                    say!("round {} of at most {rounds}: {cells} cells", round + 1);
                }
            }
            Note::Excluded { sandbox, round } => self.say(&format!(
                "{sandbox} is left out of later rounds: it takes {:.0} s a round, which would leave \
                 too few rounds for any verdict; a longer --budget measures it",
                round.as_secs_f64()
            )),
            Note::Outlook(outlook) => self.say(&in_words(&outlook)),
            Note::Begin { cell, left } => self.begin(cell, left),
            Note::Done { .. } => self.bar.inc(1),
            Note::Failed {
                cell,
                kind,
                message,
            } => {
                self.bar.inc(1);
                // Thirty kernels which fail for one reason are one line.
                if self
                    .said
                    .insert((cell.sandbox.engine.clone(), message.to_owned()))
                {
                    let cell = describe(cell);
                    self.say(&match kind {
                        FailureKind::Lacking => format!("absent: {cell}: {message}"),
                        kind => format!("failed: {cell}: {kind}: {message}"),
                    });
                }
            }
        }
    }
}

/// A cell in a reader's words.
pub fn describe(cell: &Cell) -> String {
    let engine = Names::one(&cell.sandbox, cell.variant);
    let threads = if cell.threads == 1 {
        String::new()
    } else {
        format!(" × {}", cell.threads)
    };
    format!("{engine} {}{threads}", cell.workload)
}

/// What is still to be measured, judging by the rounds so far.
fn in_words(outlook: &Outlook) -> String {
    let Outlook { round, rounds, .. } = outlook;
    let (seen, wanted) = (percent(outlook.seen), percent(outlook.wanted));
    let left = rough(outlook.left);
    if let Some(limit) = outlook.limit {
        return format!(
            "no number of rounds finds a difference of {wanted} (80 % power), only one of {}, since \
             a code layout is the same in all of them (docs/METHODOLOGY.md): it ends after {rounds}",
            percent(limit)
        );
    }
    match outlook.is_enough() {
        true => format!(
            "judging by {round} rounds, it takes about {rounds} in all, {left} more, until a \
             difference of {wanted} would be found (80 % power)"
        ),
        false => format!(
            "judging by {round} rounds, there is time for about {rounds} in all, {left} more, by \
             which a difference of {seen} would be found (80 % power), and not {wanted}: that takes \
             a longer --budget, or a quieter machine"
        ),
    }
}

/// A time to wait, rounded as one says it.
pub fn rough(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..90 => format!("{seconds} s"),
        seconds => format!("{} min", (seconds + 30) / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_engines_are_one_line_with_the_command_that_gets_them() {
        let absent = |engine: &str, install: Option<&str>| Absent {
            engine: engine.to_owned(),
            why: format!("no {engine}"),
            is_wanted: false,
            install: install.map(str::to_owned),
        };
        let all = [
            absent("node", Some("node")),
            absent("fathom pkeys", None),
            absent("wasmi", Some("wasmi")),
            absent("node", Some("node")),
        ];
        assert_eq!(
            absent_lines(&all),
            [
                "not installed: node, wasmi; get them: fathom engines install node wasmi",
                "absent: fathom pkeys: no fathom pkeys",
            ]
        );
        assert!(absent_lines(&[]).is_empty());
    }
}
