//! What a campaign answers to the study's statements.

use fathom_stats::Tracing;
use fathom_stats::tracing::Calls;

use super::tables::{moves, over_native};
use super::{Line, Page};
use crate::figures;

/// Two requests, or none, for one.
const DOUBLED: f64 = 1.5;
/// So many calls of `futex` for a transfer hand it over.
const HANDED: f64 = 0.5;
/// Transfers below which a start's calls are not to be told from them.
const MANY: f64 = 500.0;

impl Page<'_> {
    /// The answer to a statement; `None` where the campaign has none.
    pub(super) fn here(&self, question: &str) -> Option<String> {
        let words: Vec<&str> = question.split(' ').collect();
        match words.as_slice() {
            ["gathered", program] => self.gathered(program),
            ["doubled"] => self.doubled(),
            ["handed", "over"] => self.handed_over(),
            ["calls", "over", "native", program] => self.calls_over_native(program),
            ["time", "over", "native", program] => self.time_over_native(program),
            ["start-up"] => self.starts_in_order(),
            _ => None,
        }
    }

    /// Calls of the C library for one of WASI and of the kernel; engines that agree are
    /// named together.
    fn gathered(&self, program: &str) -> Option<String> {
        let library = self.library_calls(program)? as f64;
        let mut named: Vec<(String, Vec<&str>)> = Vec::new();
        for line in &self.lines {
            let Some(tracing) = self.tracing(line, program) else {
                continue;
            };
            let system = many(tracing.system(moves(program)));
            let wasi = match line.is_native() {
                true => None,
                false => many(tracing.functions(moves(program))),
            };
            let text = match (line.is_native(), wasi, system) {
                (true, _, Some(system)) => {
                    format!(
                        "{} : 1 (of a system call)",
                        figures::ratio_bare(library / system)
                    )
                }
                (false, Some(wasi), Some(system)) => format!(
                    "{} : 1 : {}",
                    figures::ratio_bare(library / wasi),
                    digit(system / wasi)
                ),
                (false, Some(wasi), None) => {
                    format!("{} : 1 : not seen", figures::ratio_bare(library / wasi))
                }
                _ => continue,
            };
            add(&mut named, text, &line.name);
        }
        listed(&named)
    }

    /// Engines with twice as many calls as the middle of the engines, or as their own WASI
    /// calls.
    fn doubled(&self) -> Option<String> {
        let mut named = Vec::new();
        for program in ["freads-4096", "fwrites-60"] {
            let wasi: Vec<(&Line<'_>, f64, f64)> = self
                .engines()
                .filter_map(|line| {
                    let tracing = self.tracing(line, program)?;
                    let wasi = many(tracing.functions(moves(program)))?;
                    Some((line, wasi, many(tracing.system(moves(program)))?))
                })
                .collect();
            let least = wasi.iter().map(|one| one.1).fold(f64::INFINITY, f64::min);
            for (line, wasi, system) in wasi {
                let (asked, made) = (wasi / least, system / wasi);
                if asked >= DOUBLED {
                    let text = format!("{program}: {} × the WASI calls", digit(asked));
                    add(&mut named, text, &line.name);
                }
                if made >= DOUBLED {
                    let text = format!("{program}: {} system calls a WASI call", digit(made));
                    add(&mut named, text, &line.name);
                }
            }
        }
        listed(&named).or_else(|| self.has_traces().then(|| "none".to_owned()))
    }

    fn handed_over(&self) -> Option<String> {
        let program = "fwrites-60";
        let mut named = Vec::new();
        for line in self.engines() {
            let Some(tracing) = self.tracing(line, program) else {
                continue;
            };
            let futexes = tracing.system(|name| name == "futex");
            let transfers = many(tracing.functions(moves(program)));
            let (Some(futexes), Some(transfers)) = (futexes, transfers) else {
                continue;
            };
            let each = futexes.count.middle() / transfers;
            if each >= HANDED {
                let text = format!("{} calls of futex for each WASI transfer", digit(each));
                add(&mut named, text, &line.name);
            }
        }
        listed(&named).or_else(|| self.has_traces().then(|| "none".to_owned()))
    }

    fn has_traces(&self) -> bool {
        let mut traced = self.campaign.traced.iter();
        traced.any(|one| one.threads.is_some())
    }

    /// How the engines' time in transferring system calls stands to native code's.
    fn calls_over_native(&self, program: &str) -> Option<String> {
        let native = self.tracing(self.native()?, program)?;
        let ratio = |tracing: Tracing<'_>| tracing.system_over(&native, moves(program)).ok();
        let (mut more, mut less, mut open) = (Vec::new(), Vec::new(), Vec::new());
        for line in self.engines() {
            let Some(ratio) = self.tracing(line, program).and_then(ratio) else {
                continue;
            };
            let words = format!("{} {}", line.name, figures::ratio(ratio.value));
            match ratio.interval {
                Ok(ends) if ends.low > 1.0 => more.push(words),
                Ok(ends) if ends.high < 1.0 => less.push(words),
                _ => open.push(words),
            }
        }
        let kinds = [
            ("longer", more),
            ("shorter", less),
            ("not told apart", open),
        ];
        let texts = kinds.into_iter().filter(|(_, list)| !list.is_empty());
        let texts: Vec<String> = texts
            .map(|(kind, list)| format!("{kind}: {}", list.join(", ")))
            .collect();
        (!texts.is_empty()).then(|| texts.join("; "))
    }

    fn time_over_native(&self, program: &str) -> Option<String> {
        let mut lines: Vec<(f64, String)> = self
            .engines()
            .filter_map(|line| {
                let ratio = super::of_program(line, program)?.ratio.value;
                Some((
                    ratio,
                    format!("{} {}", line.name, over_native(line, program)),
                ))
            })
            .collect();
        lines.sort_by(|one, other| one.0.total_cmp(&other.0));
        let texts: Vec<String> = lines.into_iter().map(|(_, text)| text).collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    }

    fn starts_in_order(&self) -> Option<String> {
        let mut starts: Vec<(f64, &str)> = self
            .starts
            .iter()
            .map(|(cell, start)| (start.whole.ns, cell.sandbox.engine.as_str()))
            .collect();
        starts.sort_by(|one, other| one.0.total_cmp(&other.0));
        let texts: Vec<String> = starts
            .iter()
            .map(|(ns, engine)| format!("{engine} {}", figures::time(*ns)))
            .collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    }
}

/// How many, where there are enough to tell them from those of a start.
fn many(calls: Option<Calls>) -> Option<f64> {
    let count = calls?.count.middle();
    (count >= MANY).then_some(count)
}

/// A ratio of counts: a start's calls do not show in one digit.
fn digit(ratio: f64) -> String {
    match ratio < 9.95 {
        true => format!("{ratio:.1}"),
        false => figures::count(ratio.round()),
    }
}

fn add<'n>(named: &mut Vec<(String, Vec<&'n str>)>, text: String, name: &'n str) {
    match named.iter_mut().find(|(known, _)| *known == text) {
        Some((_, names)) => names.push(name),
        None => named.push((text, vec![name])),
    }
}

fn listed(named: &[(String, Vec<&str>)]) -> Option<String> {
    let texts = named
        .iter()
        .map(|(text, names)| format!("{}: {text}", names.join(", ")));
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}
