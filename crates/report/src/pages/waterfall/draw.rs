//! The bar: in a terminal's characters, on a page, and as a drawing of its own.

use std::fmt::Write;

use fathom_stats::waterfall::Part;

use super::{Line, Page};
use crate::chart::axis;
use crate::chart::scale::Scale;
use crate::chart::svg::{Svg, begin_alone, escape, tick_alone};
use crate::figures;

/// Characters of a terminal's bar.
const BLOCKS: f64 = 32.0;
const TICKS: usize = 5;
const HEIGHT: u32 = 24;

impl Page {
    /// From the lowest to the highest end of a part.
    fn scale(&self) -> Scale {
        let ends = || {
            let lines = self.lines.iter();
            lines.flat_map(|line| [line.from_ns, line.from_ns + line.value.ns])
        };
        let low = ends().fold(0.0, f64::min);
        let high = ends().fold(0.0, f64::max);
        Scale::linear(low, high * 1.01)
    }
}

/// A line's place in characters: one below nothing is lighter.
pub(super) fn blocks(page: &Page, line: &Line) -> String {
    let scale = page.scale();
    let at = |ns: f64| (scale.place(ns) / 100.0 * BLOCKS).round() as usize;
    let (from, to) = (at(line.from_ns), at(line.from_ns + line.value.ns));
    let (left, right) = (from.min(to), from.max(to));
    let sign = match (line.value.ns < 0.0, left == right) {
        (_, true) => "▏",
        (true, false) => "░",
        (false, false) => "█",
    };
    format!("{}{}", " ".repeat(left), sign.repeat((right - left).max(1)))
}

/// The class of a line in the style sheet.
fn class(line: &Line) -> &'static str {
    match line.part {
        Some(Part::Native) => "bar native",
        Some(Part::Compile) => "part compile",
        Some(Part::Instance | Part::Start) => "part instantiate",
        Some(_) if line.value.ns < 0.0 => "part load",
        Some(_) => "bar ours",
        None if line.is_whole => "bar other",
        None => "part load",
    }
}

/// A line in words.
fn meaning(line: &Line) -> String {
    let ends = line.ends().map_or_else(String::new, |(low, high)| {
        format!(" (95 %: {} to {})", figures::time(low), figures::time(high))
    });
    format!("{}, {}: {}{ends}", line.name, line.what, line.time())
}

/// A list of rows with a figure each, as other pages have them.
pub(super) fn chart(page: &Page) -> String {
    let scale = page.scale();
    let axis = axis(&scale, TICKS, figures::time);
    let mut text = format!(
        "<ul class=\"chart\" aria-label=\"Parts\"><li class=\"top\" aria-hidden=\"true\">\
         <span class=\"label\"></span>{}<span class=\"value\"></span></li>",
        axis
    );
    for line in &page.lines {
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "<li><span class=\"label\"><span><b>{}</b> <i>{}</i></span></span>{}\
             <span class=\"value\">{} <small>{}</small></span></li>",
            escape(line.name),
            escape(&line.what),
            figure(line, &scale),
            escape(&line.time()),
            escape(&figures::percent(page.share(line))),
        );
    }
    text.push_str("</ul>");
    text
}

fn figure(line: &Line, scale: &Scale) -> String {
    let height = f64::from(HEIGHT);
    let mut svg = Svg::new("plot", HEIGHT, &meaning(line));
    for tick in scale.ticks(TICKS) {
        svg.vertical("grid", tick.place, 0.0, height);
    }
    let [from, to] = [line.from_ns, line.from_ns + line.value.ns].map(|ns| scale.place(ns));
    svg.span(class(line), from, to, 4.0, height - 8.0);
    // Where the next one begins.
    svg.vertical("base", to, 0.0, height);
    if let Some(ends) = line.ends() {
        let [low, high] = [ends.0, ends.1].map(|ns| scale.place(line.from_ns + ns));
        svg.horizontal("whisker", low, high, height / 2.0);
    }
    svg.finish()
}

const WIDTH: f64 = 760.0;
const LEFT: f64 = 120.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 34.0;
const STEP: f64 = 24.0;

/// A drawing which a Markdown page can show.
pub(super) fn alone(page: &Page) -> String {
    let scale = page.scale();
    let x = |ns: f64| LEFT + (WIDTH - LEFT - RIGHT) * scale.place(ns) / 100.0;
    let foot = TOP + STEP * page.lines.len() as f64;
    let height = foot + 24.0;
    let mut text = begin_alone(&page.title, WIDTH, height);
    for tick in scale.ticks(TICKS) {
        let label = figures::time(tick.value);
        text.push_str(&tick_alone(x(tick.value), (TOP, foot), &label));
    }
    for (number, line) in page.lines.iter().enumerate() {
        let top = TOP + STEP * number as f64;
        let middle = top + STEP / 2.0;
        let (from, to) = (x(line.from_ns), x(line.from_ns + line.value.ns));
        let _ = write!(
            text,
            "<text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{}\" fill=\"{}\">\
             <title>{}</title></rect>\
             <line class=\"w\" x1=\"{to:.1}\" x2=\"{to:.1}\" y1=\"{top}\" y2=\"{:.1}\"/>",
            LEFT - 8.0,
            middle + 4.0,
            escape(line.name),
            from.min(to),
            top + 3.0,
            (to - from).abs().max(0.5),
            STEP - 6.0,
            colour(line),
            escape(&meaning(line)),
            top + STEP,
        );
        let mut after = from.max(to);
        if let Some((low, high)) = line.ends() {
            let (low, high) = (x(line.from_ns + low), x(line.from_ns + high));
            let _ = write!(
                text,
                "<line class=\"w\" x1=\"{low:.1}\" x2=\"{high:.1}\" y1=\"{middle:.1}\" \
                 y2=\"{middle:.1}\"/>"
            );
            after = after.max(high);
        }
        let _ = write!(
            text,
            "<text class=\"s\" x=\"{:.1}\" y=\"{:.1}\">{} · {}</text>",
            after + 6.0,
            middle + 4.0,
            escape(&line.time()),
            escape(&figures::percent(page.share(line))),
        );
    }
    text.push_str("</svg>\n");
    text
}

/// Told apart by those who confuse red and green too (Okabe, Ito).
fn colour(line: &Line) -> &'static str {
    match class(line) {
        "bar native" => "#8a8a8a",
        "bar ours" => "#009e73",
        "bar other" => "#0072b2",
        "part compile" => "#cc79a7",
        "part instantiate" => "#e69f00",
        _ => "#bbbbbb",
    }
}
