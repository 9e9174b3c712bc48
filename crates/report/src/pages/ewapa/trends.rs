//! Times over sizes: figures 2, 3 and 5.
//!
//! A program is there at the size that was asked for, by its own name, and at smaller ones as
//! `NAME-of-BYTES`.

use std::fmt::Write;

use fathom_stats::Figure;
use fathom_stats::waterfall::Value;

use super::lines::{Lines, Point, Trend};
use super::tables::moves;
use super::{Io, Line, NAME, Page, shown};
use crate::figures::{self, NONE};
use crate::table::Table;

/// Between a program's name and its bytes.
const OF: &str = "-of-";

/// A figure of the study: its number there, what it is of, its file, what is said of it.
struct Kind {
    figure: u32,
    title: &'static str,
    file: &'static str,
    words: &'static str,
    time: fn(&Page<'_>, &Line<'_>, &str) -> Option<Time>,
}

const KINDS: [Kind; 3] = [
    Kind {
        figure: 2,
        title: "time in system calls",
        file: "calls",
        words: "System calls that move what the program is about, together.",
        time: system,
    },
    Kind {
        figure: 3,
        title: "time in WASI",
        file: "wasi",
        words: "Calls of WASI that do, system calls included. The study has `fread` and `fwrite` \
                themselves for native code.",
        time: wasi,
    },
    Kind {
        figure: 5,
        title: "whole time",
        file: "whole",
        words: "Of the process, start-up and all; medians of the rounds.",
        time: whole,
    },
];

/// A time as it is written and as it is drawn.
struct Time {
    ns: f64,
    interval: Option<fathom_stats::interval::Interval>,
    shown: String,
}

impl Time {
    fn of(value: &Value) -> Time {
        Time {
            ns: value.ns,
            interval: value.interval.ok(),
            shown: shown(value),
        }
    }
}

fn system(page: &Page<'_>, line: &Line<'_>, program: &str) -> Option<Time> {
    let calls = page.tracing(line, program)?.system(moves(program))?;
    calls.total.as_ref().map(Time::of)
}

fn wasi(page: &Page<'_>, line: &Line<'_>, program: &str) -> Option<Time> {
    if line.is_native() {
        return None;
    }
    let calls = page.tracing(line, program)?.functions(moves(program))?;
    calls.total.as_ref().map(Time::of)
}

fn whole(page: &Page<'_>, line: &Line<'_>, program: &str) -> Option<Time> {
    let cell = page.summary.cell_of(line.row, program)?;
    let ns = cell.estimate(Figure::Child)?.median;
    Some(Time {
        ns,
        interval: None,
        shown: figures::time(ns),
    })
}

/// Whether a program is another one at a smaller size.
pub(super) fn is_smaller(program: &str) -> bool {
    program.contains(OF)
}

impl Page<'_> {
    /// The figures of both programs; nothing of a campaign with one size.
    pub(super) fn trends(&self, io: &[Io]) -> (String, Vec<(String, String)>) {
        let (mut text, mut pictures) = (String::new(), Vec::new());
        for kind in &KINDS {
            let mut part = String::new();
            for io in io {
                let (one, picture) = self.trend(kind, io);
                part.push_str(&one);
                pictures.extend(picture);
            }
            if !part.is_empty() {
                let Kind {
                    figure,
                    title,
                    words,
                    ..
                } = kind;
                let _ = write!(text, "\n### Figure {figure}: {title}\n\n{words}\n{part}");
            }
        }
        if !text.is_empty() {
            let words = "The study's files have up to 100 GB, and its axes are linear. Both are logarithmic here: \
                         a time in proportion to the file's size has the same slope everywhere, and a factor \
                         between engines is the same distance.";
            text.insert_str(
                0,
                &format!("\n## Times by size (figures 2, 3 and 5)\n\n{words}\n"),
            );
        }
        (text, pictures)
    }

    fn trend(&self, kind: &Kind, io: &Io) -> (String, Option<(String, String)>) {
        let sizes = self.sizes(&io.workload);
        if sizes.len() < 2 {
            return (String::new(), None);
        }
        let bytes = sizes.iter().map(|(bytes, _)| figures::bytes(*bytes));
        let mut table = Table::new(["engine"]).and(bytes);
        let mut lines = Vec::new();
        for line in &self.lines {
            let (mut fields, mut points) = (vec![line.name.clone()], Vec::new());
            for (bytes, program) in &sizes {
                let time = (kind.time)(self, line, program);
                fields.push(
                    time.as_ref()
                        .map_or(NONE.to_owned(), |time| time.shown.clone()),
                );
                points.extend(time.map(|Time { ns, interval, .. }| Point {
                    bytes: *bytes,
                    ns,
                    interval,
                }));
            }
            table.push(fields);
            lines.push(Trend {
                name: line.name.clone(),
                points,
            });
        }
        let title = format!("{}: {} by size", io.workload, kind.title);
        let drawing = Lines { title, lines };
        let Some(svg) = drawing.render() else {
            return (String::new(), None);
        };
        let file = format!("{NAME}-{}-{}.svg", kind.file, io.call);
        let text = format!("\n![{}]({file})\n\n{}", drawing.title, table.source());
        (text, Some((file, svg)))
    }

    /// The sizes at which a program was run, in bytes, and its name there.
    fn sizes(&self, program: &str) -> Vec<(f64, &str)> {
        let notes = self.campaign.header.workloads.iter();
        let mut sizes: Vec<(f64, &str)> = notes
            .filter(|note| {
                let rest = note.name.strip_prefix(program);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(OF))
            })
            .filter_map(|note| {
                // Each call moves as many as the name says.
                let each: f64 = program.rsplit('-').next()?.parse().ok()?;
                Some((each * note.trips? as f64, note.name.as_str()))
            })
            .collect();
        sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
        sizes
    }
}
