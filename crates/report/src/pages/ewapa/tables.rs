//! The study's tables, and one of all programs.

use std::fmt::Write;

use fathom_stats::Verdict;
use fathom_stats::tracing::{Calls, Range};

use super::draw::{Bar, Parts};
use super::{Each, Io, Line, NAME, Page, of_program, shown};
use crate::figures::{self, NONE};
use crate::table::Table;

const NOT_MEASURED: &str = "not measured";

/// What moves bytes one way, of WASI and of the kernel.
const READS: [&str; 7] = [
    "fd_read", "fd_pread", "read", "readv", "pread64", "preadv", "preadv2",
];
const WRITES: [&str; 7] = [
    "fd_write",
    "fd_pwrite",
    "write",
    "writev",
    "pwrite64",
    "pwritev",
    "pwritev2",
];

/// Whether a call moves what a program is about: one that reads had to write its file
/// before, which is no part of what is counted.
pub(super) fn moves(program: &str) -> impl Fn(&str) -> bool + Copy {
    let (reads, writes) = (program.contains("reads"), program.contains("writes"));
    move |name: &str| (!writes && READS.contains(&name)) || (!reads && WRITES.contains(&name))
}

fn of(text: &str) -> String {
    format!("published: {text}")
}

fn strings<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

/// A count that all runs have, or the least and the most.
pub(super) fn range(range: Range) -> String {
    let count = |count: u64| figures::count(count as f64);
    match range.low == range.high {
        true => count(range.low),
        false => format!("{}–{}", count(range.low), count(range.high)),
    }
}

impl Page<'_> {
    /// Table II and figure 4, with the picture.
    pub(super) fn start_up(&self) -> (String, Option<(String, String)>) {
        let mut table = Table::new([
            "engine",
            "all",
            "process",
            "reading and compiling",
            "instance",
        ]);
        let mut bars = Vec::new();
        for (cell, start) in &self.starts {
            let line = self
                .engines()
                .find(|line| line.row.sandbox == cell.sandbox && line.row.variant == cell.variant);
            let Some(line) = line else { continue };
            let parts = [&start.process, &start.compile, &start.instance];
            let mut fields = vec![line.name.clone(), shown(&start.whole)];
            fields.extend(parts.iter().map(|value| shown(value)));
            table.push(fields);
            bars.push(Bar {
                name: line.name.clone(),
                parts: parts.map(|value| value.ns).to_vec(),
                shown: figures::time(start.whole.ns),
            });
        }
        let words = "From the start of the engine's process to its end, for a program of the suite whose start \
                     returns at once. The study's start-up ends where the engine begins to load the module, which \
                     is in the process's part here.";
        let drawing = Parts {
            title: "Start-up by engine".to_owned(),
            names: strings(["process", "reading and compiling", "instance"]),
            bars,
            format: figures::time,
        };
        let file = format!("{NAME}-start.svg");
        let picture = drawing.render().map(|svg| (file.clone(), svg));
        let shown = match &picture {
            Some(_) => format!("\n![Start-up by engine]({file})\n\n"),
            None => "\n".to_owned(),
        };
        let text = format!(
            "\n## Start-up (table II, figure 4)\n\n{words}\n{shown}{}",
            table.source()
        );
        (text, picture)
    }

    /// Tables IV and V.
    pub(super) fn functions(&self, each: &Each) -> String {
        let names = each.calls.iter().zip(&each.functions);
        let names = names.map(|(call, function)| format!("`{call}`: `{function}`"));
        let mut table = Table::new([""]).and(names);
        for line in &each.line {
            let fields = line.is.iter().map(|seconds| format!("{seconds} s"));
            table.push(std::iter::once(of(&line.of)).chain(fields));
        }
        for line in &self.lines {
            let tracing = self.tracing(line, &each.workload);
            let names = each.functions.iter().zip(&each.system);
            let fields = names.map(|(function, system)| {
                let Some(tracing) = &tracing else {
                    return NOT_MEASURED.to_owned();
                };
                let (calls, name) = match line.is_native() {
                    true => (tracing.system(|name| name == system), Some(system)),
                    false => (tracing.functions(|name| name == function), None),
                };
                let each = calls.and_then(|calls| calls.each);
                let time = each.map_or_else(|| NONE.to_owned(), |value| shown(&value));
                match name {
                    Some(name) => format!("`{name}`: {time}"),
                    None => time,
                }
            });
            table.push(std::iter::once(line.name.clone()).chain(fields));
        }
        format!("\n## {}\n\n{}\n\n{}", each.table, each.what, table.source())
    }

    /// Tables VI and VII.
    pub(super) fn io(&self, io: &Io) -> String {
        let mut table = Table::new([
            "",
            "WASI time",
            "WASI calls",
            "mean",
            "system calls' time",
            "system calls",
            "mean",
            "their time over native's",
        ]);
        for line in &io.line {
            let fields = [
                &line.wasi,
                &line.wasi_count,
                &line.wasi_each,
                &line.calls,
                &line.calls_count,
                &line.calls_each,
            ];
            let mut fields: Vec<String> = fields.map(String::clone).to_vec();
            fields.insert(0, of(&line.of));
            fields.push(NONE.to_owned());
            table.push(fields);
        }
        for line in &self.lines {
            table.push(self.io_line(io, line));
        }
        let calls = self.library_calls(&io.workload).map_or_else(String::new, |calls| {
            let calls = figures::count(calls as f64);
            format!(
                " Here: {calls} calls of `{}`; native code's are in its first count, and were not timed.",
                io.call
            )
        });
        format!(
            "\n## {}\n\n{}{calls} Calls that {} alone.\n\n{}",
            io.table,
            io.what,
            io.call.trim_start_matches('f'),
            table.source()
        )
    }

    fn io_line(&self, io: &Io, line: &Line<'_>) -> Vec<String> {
        let mut fields = vec![line.name.clone()];
        let Some(tracing) = self.tracing(line, &io.workload) else {
            fields.extend(std::iter::repeat_n(NOT_MEASURED.to_owned(), 7));
            return fields;
        };
        match line.is_native() {
            true => {
                let calls = self.library_calls(&io.workload);
                let calls = calls.map_or_else(|| NONE.to_owned(), |one| figures::count(one as f64));
                fields.extend([NONE.to_owned(), calls, NONE.to_owned()]);
            }
            false => fields.extend(three(tracing.functions(moves(&io.workload)))),
        }
        fields.extend(three(tracing.system(moves(&io.workload))));
        let native = self.native().filter(|_| !line.is_native());
        let native = native.and_then(|native| self.tracing(native, &io.workload));
        let over = native.and_then(|native| tracing.system_over(&native, moves(&io.workload)).ok());
        fields.push(over.map_or_else(|| NONE.to_owned(), |ratio| figures::ratio_between(&ratio)));
        fields
    }

    /// Figure 6 of one program: what of its time is WASI's and the kernel's.
    pub(super) fn share(&self, io: &Io) -> (String, Option<(String, String)>) {
        let mut table = Table::new([
            "engine",
            "whole",
            "system calls",
            "WASI outside them",
            "rest",
        ]);
        let mut bars = Vec::new();
        for line in &self.lines {
            let Some(share) = self.share_of(line, &io.workload) else {
                continue;
            };
            let Share {
                whole_ns,
                parts,
                has_wasi,
            } = share;
            let mut fields = vec![line.name.clone(), figures::time(whole_ns)];
            let percent = parts.map(|ns| figures::percent(ns / whole_ns));
            fields.extend(percent);
            if !has_wasi {
                fields[3] = NONE.to_owned();
            }
            table.push(fields);
            bars.push(Bar {
                name: line.name.clone(),
                parts: parts.map(|ns| ns / whole_ns).to_vec(),
                shown: figures::time(whole_ns),
            });
        }
        let title = format!("Shares of the time: {}", io.workload);
        let drawing = Parts {
            title: title.clone(),
            names: strings(["system calls", "WASI outside them", "rest"]),
            bars,
            format: figures::percent,
        };
        let file = format!("{NAME}-share-{}.svg", io.call);
        let Some(svg) = drawing.render() else {
            return (String::new(), None);
        };
        let words = "Of the process's whole time, start-up and all, median of the rounds. Time in WASI is not \
                     told from the rest where it was not seen; for native code it is the C library's. Calls that \
                     another thread makes meanwhile can take longer than the call of WASI that waits for them.";
        let text = format!(
            "\n### Figure 6: {}\n\n{words}\n\n![{title}]({file})\n\n{}",
            io.workload,
            table.source()
        );
        (text, Some((file, svg)))
    }

    fn share_of(&self, line: &Line<'_>, program: &str) -> Option<Share> {
        let tracing = self.tracing(line, program)?;
        let cell = self.summary.cell_of(line.row, program)?;
        let whole_ns = cell.estimate(fathom_stats::Figure::Child)?.median;
        let total = |calls: Option<Calls>| Some(calls?.total?.ns.max(0.0));
        let system = total(tracing.system(moves(program)))?.min(whole_ns);
        let wasi = match line.is_native() {
            true => None,
            false => total(tracing.functions(moves(program))),
        };
        let outside = wasi.map_or(0.0, |wasi| (wasi - system).clamp(0.0, whole_ns - system));
        Some(Share {
            whole_ns,
            parts: [system, outside, whole_ns - system - outside],
            has_wasi: wasi.is_some(),
        })
    }

    /// A line for each program and engine: times over native code's, and counts.
    pub(super) fn all_programs(&self) -> String {
        let mut table = Table::new([
            "program",
            "engine",
            "time",
            "× native",
            "WASI transfers",
            "transferring system calls",
            "`futex`",
            "waits",
            "all system calls",
        ]);
        for program in self.programs() {
            let mut name = program.to_owned();
            for line in &self.lines {
                let mut fields = vec![std::mem::take(&mut name), line.name.clone()];
                fields.extend(self.program_on(line, program));
                table.push(fields);
            }
        }
        table.source()
    }

    fn program_on(&self, line: &Line<'_>, program: &str) -> Vec<String> {
        let cell = self.summary.cell_of(line.row, program);
        let time = cell.and_then(|cell| cell.estimate(self.summary.compared));
        let Some(time) = time else {
            let mut fields = vec![NOT_MEASURED.to_owned()];
            fields.resize(7, NONE.to_owned());
            return fields;
        };
        let mut fields = vec![figures::time(time.median), over_native(line, program)];
        let tracing = self.tracing(line, program);
        let tracing = tracing.as_ref();
        let wanted = moves(program);
        let counts = [
            tracing.and_then(|one| Some(one.functions(wanted)?.count)),
            tracing.and_then(|one| Some(one.system(wanted)?.count)),
            tracing.and_then(|one| Some(one.system(|name| name == "futex")?.count)),
            tracing.and_then(fathom_stats::Tracing::waits),
            tracing.and_then(|one| Some(one.system(|_| true)?.count)),
        ];
        fields.extend(counts.map(|count| count.map_or_else(|| NONE.to_owned(), range)));
        fields
    }
}

/// Times of one program in parts.
struct Share {
    whole_ns: f64,
    parts: [f64; 3],
    has_wasi: bool,
}

/// Time, count and mean.
fn three(calls: Option<Calls>) -> [String; 3] {
    let Some(calls) = calls else {
        return [NOT_MEASURED; 3].map(str::to_owned);
    };
    let time = |value: Option<fathom_stats::waterfall::Value>| {
        value.map_or_else(|| NONE.to_owned(), |value| shown(&value))
    };
    [time(calls.total), range(calls.count), time(calls.each)]
}

/// A ratio, its interval, and what it is worth.
pub(super) fn over_native(line: &Line<'_>, program: &str) -> String {
    let Some(one) = of_program(line, program) else {
        return NONE.to_owned();
    };
    let mut text = figures::ratio_between(&one.ratio);
    if matches!(one.verdict, Verdict::Different | Verdict::Equivalent) {
        let _ = write!(text, " {}", one.verdict.name());
    }
    text
}
