//! The page of a traced run: where its time is, call by call, and what its threads did.
//!
//! ```text
//!  all threads ██████████████████████████████████████████████████
//!  WASI, …     fd_write ████████████ fd_read ███  rest ░░░░░░░░░░    each over what it
//!  calls       writev   ████████     read    █                      is a part of
//!
//!  thread 71   ████████████▒▒▒▒░░░░                                  on one axis of time
//!  thread 72        ███▒▒▒▒▒▒▒▒▒▒▒
//! ```
//!
//! What must stay true: a part is drawn inside its whole and never longer; what is not known
//! of a time is in the rest, which has a name.

use std::fmt::Write;

use crate::chart::axis;
use crate::chart::scale::Scale;
use crate::chart::svg::{Svg, escape};
use crate::document::Document;
use crate::figures;
use crate::plain::Tone;
use crate::table::Table;

const LEVEL: u32 = 24;
const TICKS: usize = 4;
/// Below this share of the width a part has no name in the picture.
const NAMED_PERCENT: f64 = 5.0;

/// What a part of the time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All of it.
    Whole,
    /// A function of WASI.
    Wasi,
    /// A system call.
    Call,
    /// Off the processor.
    Waiting,
    /// What is left: the program's own code, and the engine's.
    Rest,
}

impl Kind {
    fn class(self) -> &'static str {
        match self {
            Kind::Whole => "bar native",
            Kind::Wasi => "bar ours",
            Kind::Call => "bar other",
            Kind::Waiting => "part instantiate",
            Kind::Rest => "part load",
        }
    }
}

/// A part of the time, and what it is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it is called.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// How long all together.
    pub ns: f64,
    /// How often, where that is known.
    pub count: Option<u64>,
    /// What is in it; what they leave is its own.
    pub parts: Vec<Part>,
}

/// A thread: where on the axis of time, and what it did there, in no order.
#[derive(Clone, Debug, PartialEq)]
pub struct Thread {
    /// What it is called.
    pub name: String,
    /// Since the first one began.
    pub began_ns: f64,
    /// From its beginning to its end.
    pub lived_ns: f64,
    /// What it did; what they leave is its own code.
    pub parts: Vec<Part>,
}

/// A traced run.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    /// What ran, and how it ended.
    pub title: String,
    /// All of its time.
    pub whole: Part,
    /// Its threads, in the order of their beginning; none where they were not seen.
    pub threads: Vec<Thread>,
    /// What must be known to read it: costs, losses, what was not seen.
    pub notes: Vec<String>,
}

/// Parts shortened, all alike, until they fit their whole.
fn fitted(whole_ns: f64, parts: &[Part]) -> Vec<(&Part, f64)> {
    let sum: f64 = parts.iter().map(|part| part.ns.max(0.0)).sum();
    let by = if sum > whole_ns { whole_ns / sum } else { 1.0 };
    let fit = |part| (part, f64::max(Part::ns(part), 0.0) * by);
    parts.iter().map(fit).collect()
}

impl Part {
    fn ns(&self) -> f64 {
        self.ns
    }

    /// It in words, as a share of `whole_ns`.
    fn meaning(&self, whole_ns: f64) -> String {
        let share = figures::percent(if whole_ns > 0.0 {
            self.ns / whole_ns
        } else {
            0.0
        });
        let each = match self.count {
            Some(count) if count > 0 => format!(
                ", {} calls of {}",
                figures::count(count as f64),
                figures::time(self.ns / count as f64)
            ),
            _ => String::new(),
        };
        format!("{}: {}, {share}{each}", self.name, figures::time(self.ns))
    }

    fn depth(&self) -> usize {
        1 + self.parts.iter().map(Part::depth).max().unwrap_or(0)
    }

    /// This part and what is in it, from `from` to `to` per cent, `level` rows down. A
    /// figure of its own each, so that each says what it is when it is pointed at.
    fn draw(&self, svg: &mut String, from: f64, to: f64, level: usize, whole_ns: f64) {
        let y = level * LEVEL as usize;
        let name = match to - from >= NAMED_PERCENT {
            true => format!("<text x=\"4\" y=\"16\">{}</text>", escape(&self.name)),
            false => String::new(),
        };
        // Writing to a String cannot fail.
        let _ = write!(
            svg,
            "<svg x=\"{from:.3}%\" y=\"{y}\" width=\"{:.3}%\" height=\"{LEVEL}\"><title>{}</title>\
             <rect class=\"{}\" width=\"100%\" height=\"{}\"/>{name}</svg>",
            to - from,
            escape(&self.meaning(whole_ns)),
            self.kind.class(),
            LEVEL - 2,
        );
        let mut at = from;
        for (part, ns) in fitted(self.ns, &self.parts) {
            let wide = if self.ns > 0.0 {
                (to - from) * ns / self.ns
            } else {
                0.0
            };
            part.draw(svg, at, at + wide, level + 1, whole_ns);
            at += wide;
        }
    }

    /// A line for each part, those within a part behind it.
    fn lines(&self, whole_ns: f64, indent: usize, table: &mut Table) {
        let count = self.count.filter(|count| *count > 0);
        let or_none = |text: Option<String>| text.unwrap_or_else(|| figures::NONE.to_owned());
        table.push([
            format!("{}{}", "\u{2003}".repeat(indent), self.name),
            figures::time(self.ns),
            figures::percent(if whole_ns > 0.0 {
                self.ns / whole_ns
            } else {
                0.0
            }),
            or_none(count.map(|count| figures::count(count as f64))),
            or_none(count.map(|count| figures::time(self.ns / count as f64))),
        ]);
        for part in &self.parts {
            part.lines(whole_ns, indent + 1, table);
        }
    }
}

/// What the colours are.
fn legend(kinds: &[(Kind, &str)]) -> String {
    let entry = |(kind, what): &(Kind, &str)| {
        format!(
            "<li><svg aria-hidden=\"true\"><rect class=\"{}\" width=\"16\" height=\"12\"/></svg>{}</li>",
            kind.class(),
            escape(what)
        )
    };
    let entries: String = kinds.iter().map(entry).collect();
    format!("<ul class=\"legend\">{entries}</ul>")
}

/// The times of the calls, each over what it is a part of.
fn breakdown(whole: &Part) -> String {
    let height = whole.depth() * LEVEL as usize;
    let mut levels = String::new();
    whole.draw(&mut levels, 0.0, 100.0, 0, whole.ns);
    format!(
        "<h3>Where the time is</h3><svg class=\"flame\" width=\"100%\" height=\"{height}\" role=\"img\" \
         aria-label=\"The time of each call over what it is a part of; the table below has the \
         numbers\">{levels}</svg>{}",
        legend(&[
            (Kind::Wasi, "WASI function, its system calls below it"),
            (Kind::Call, "system call"),
            (Kind::Rest, "rest: no call was seen"),
        ])
    )
}

/// The threads on an axis of time.
fn threads(threads: &[Thread]) -> String {
    let end = |thread: &Thread| thread.began_ns + thread.lived_ns;
    let last = threads.iter().map(end).fold(0.0, f64::max);
    let scale = Scale::linear(0.0, last.max(1.0));
    let axis = axis(&scale, TICKS, figures::time);
    let rows: String = threads.iter().map(|one| thread(one, &scale)).collect();
    format!(
        "<h3>Threads</h3><ul class=\"chart\" aria-label=\"Threads\">\
         <li class=\"top\" aria-hidden=\"true\"><span class=\"label\"></span>{}\
         <span class=\"value\"></span></li>{rows}</ul>{}<p class=\"note\">A bar is where on the \
         axis a thread lived, from its first system call to its end. Inside, its times are \
         summed, not in their order.</p>",
        axis,
        legend(&[
            (Kind::Call, "in system calls"),
            (
                Kind::Waiting,
                "off the processor: in a call, for a page, preempted"
            ),
            (Kind::Rest, "its own code"),
        ])
    )
}

fn thread(thread: &Thread, scale: &Scale) -> String {
    let height = f64::from(LEVEL);
    let parts: Vec<String> = thread
        .parts
        .iter()
        .map(|part| part.meaning(thread.lived_ns))
        .collect();
    let mut svg = Svg::new(
        "plot",
        LEVEL,
        &format!("{}: {}", thread.name, parts.join("; ")),
    );
    for tick in scale.ticks(TICKS) {
        svg.vertical("grid", tick.place, 0.0, height);
    }
    let mut at = thread.began_ns;
    let mut span = |kind: Kind, ns: f64| {
        let (from, to) = (scale.place(at), scale.place(at + ns));
        svg.span(kind.class(), from, to, 4.0, height - 8.0);
        at += ns;
    };
    for (part, ns) in fitted(thread.lived_ns, &thread.parts) {
        span(part.kind, ns);
    }
    let left = thread.began_ns + thread.lived_ns - at;
    if left > 0.0 {
        let (from, to) = (scale.place(at), scale.place(at + left));
        svg.span(Kind::Rest.class(), from, to, 4.0, height - 8.0);
    }
    format!(
        "<li><span class=\"label\"><span><b>{}</b></span></span>{}<span class=\"value\">{}</span></li>",
        escape(&thread.name),
        svg.finish(),
        escape(&figures::time(thread.lived_ns)),
    )
}

impl Traced {
    /// As a page of its own.
    pub fn html(&self) -> String {
        let mut table = Table::new(["part", "time", "share", "calls", "each"]);
        self.whole.lines(self.whole.ns, 0, &mut table);
        let mut page = Document::new("Trace");
        page.say(Tone::Plain, self.title.as_str());
        page.figure(breakdown(&self.whole));
        if !self.threads.is_empty() {
            page.figure(threads(&self.threads));
        }
        page.heading("The same in numbers");
        page.table(table);
        page.list(self.notes.iter().map(|note| (Tone::Plain, note.clone())));
        page.html()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, kind: Kind, ns: f64, parts: Vec<Part>) -> Part {
        Part {
            name: name.to_owned(),
            kind,
            ns,
            count: Some(4),
            parts,
        }
    }

    fn traced() -> Traced {
        let call = part("writev", Kind::Call, 300.0, Vec::new());
        let wasi = part("fd_<write>", Kind::Wasi, 400.0, vec![call.clone()]);
        let rest = part("rest", Kind::Rest, 600.0, Vec::new());
        Traced {
            title: "a & b".to_owned(),
            whole: part("all", Kind::Whole, 1000.0, vec![wasi, rest]),
            threads: vec![Thread {
                name: "thread 7".to_owned(),
                began_ns: 250.0,
                lived_ns: 750.0,
                parts: vec![call],
            }],
            notes: vec!["lost: nothing".to_owned()],
        }
    }

    #[test]
    fn a_part_is_drawn_inside_its_whole() {
        let page = traced().html();
        // 300 of 400 of 1000: from the left edge, 30 % of the width, two levels down.
        let call = "<svg x=\"0.000%\" y=\"48\" width=\"30.000%\" height=\"24\"><title>writev";
        assert!(page.contains(call), "{page}");
        let rest = "<svg x=\"40.000%\" y=\"24\" width=\"60.000%\" height=\"24\"><title>rest";
        assert!(page.contains(rest), "{page}");
        let whole = part("x", Kind::Whole, 10.0, Vec::new());
        let long = part("y", Kind::Call, 30.0, Vec::new());
        let both = [long.clone(), long];
        let fit = fitted(whole.ns, &both);
        let wide: Vec<f64> = fit.iter().map(|(_, ns)| *ns).collect();
        assert_eq!(wide, [5.0, 5.0]);
    }

    #[test]
    fn a_thread_stands_where_it_lived() {
        let page = traced().html();
        assert!(page.contains("<b>thread 7</b>"));
        // From a quarter on, 300 of 1000 in calls; what is left of it is its own.
        assert!(
            page.contains("<rect class=\"bar other\" x=\"25%\""),
            "{page}"
        );
        assert!(
            page.contains("<rect class=\"part load\" x=\"55%\" y=\"4\" width=\"45%\""),
            "{page}"
        );
    }

    #[test]
    fn what_came_from_outside_is_escaped_and_what_is_empty_is_drawn() {
        let page = traced().html();
        assert!(page.contains("fd_&lt;write&gt;") && !page.contains("fd_<write>"));
        assert!(page.contains("a &amp; b") && page.contains("lost: nothing"));
        let nothing = Traced {
            title: String::new(),
            whole: part(
                "all",
                Kind::Whole,
                0.0,
                vec![part("x", Kind::Wasi, 0.0, Vec::new())],
            ),
            threads: Vec::new(),
            notes: Vec::new(),
        };
        let page = nothing.html();
        assert!(
            !page.contains("NaN") && !page.contains("<h3>Threads"),
            "{page}"
        );
    }
}
