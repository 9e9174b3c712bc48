//! Lines over sizes, a drawing which a Markdown page can show.
//!
//! ```text
//!   1 s ┤                ╱  wasmtime
//!       ┤        ╱────╱     fathom      both axes logarithmic: what grows with the size
//!  1 ms ┤ ──╱─╱             native      is a line as steep as every other
//!       └─1 MB──────64 MB─
//! ```
//!
//! What must stay true: each engine has its colour and its name at its line's end; what is
//! no more than nothing, which a logarithmic axis has no place for, is left out.

use std::fmt::Write;

use fathom_stats::interval::Interval;

use crate::chart::scale::Scale;
use crate::chart::svg::{begin_alone, escape, tick_alone};
use crate::figures;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 130.0;
const TOP: f64 = 36.0;
const HEIGHT: f64 = 260.0;
const TICKS: usize = 5;
/// Names at the lines' ends are so far apart.
const APART: f64 = 13.0;
/// Told apart by those who confuse red and green too (Okabe, Ito).
const COLOURS: [&str; 7] = [
    "#1a1d22", "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9",
];

/// A drawing.
pub(super) struct Lines {
    pub(super) title: String,
    pub(super) lines: Vec<Trend>,
}

/// A line.
pub(super) struct Trend {
    pub(super) name: String,
    pub(super) points: Vec<Point>,
}

/// A time at a size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) bytes: f64,
    pub(super) ns: f64,
    /// Where it is known.
    pub(super) interval: Option<Interval>,
}

impl Lines {
    /// As SVG; none where no line has two points.
    pub(super) fn render(&self) -> Option<String> {
        let shown = |line: &Trend| Trend {
            name: line.name.clone(),
            points: line.points.iter().copied().filter(|p| p.ns > 0.0).collect(),
        };
        let lines: Vec<Trend> = self.lines.iter().map(shown).collect();
        if !lines.iter().any(|line| line.points.len() > 1) {
            return None;
        }
        let points = || lines.iter().flat_map(|line| &line.points);
        let (x, y) = (
            ends(points().map(|p| p.bytes)),
            ends(points().map(|p| p.ns)),
        );
        // Room for points at the edge.
        let (x, y) = (
            Scale::log(x.0 / 1.2, x.1 * 1.2),
            Scale::log(y.0 / 1.5, y.1 * 1.5),
        );
        let foot = TOP + HEIGHT;
        let mut text = begin_alone(&self.title, WIDTH, foot + 24.0);
        let place = Place { x, y };
        let mut sizes: Vec<f64> = points().map(|p| p.bytes).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        for bytes in sizes {
            let label = figures::bytes(bytes);
            text.push_str(&tick_alone(place.x(bytes), (TOP, foot), &label));
        }
        for tick in place.y.ticks(TICKS) {
            // Writing to a String cannot fail.
            let _ = write!(
                text,
                "<line class=\"g\" x1=\"{LEFT}\" x2=\"{0}\" y1=\"{1:.1}\" y2=\"{1:.1}\"/>\
                 <text class=\"s\" x=\"{2}\" y=\"{3:.1}\" text-anchor=\"end\">{4}</text>",
                WIDTH - RIGHT,
                place.y(tick.value),
                LEFT - 6.0,
                place.y(tick.value) + 4.0,
                escape(&figures::time(tick.value)),
            );
        }
        for (line, colour) in lines.iter().zip(COLOURS.into_iter().cycle()) {
            draw(&mut text, line, colour, &place);
        }
        names(&mut text, &lines, &place);
        text.push_str("</svg>\n");
        Some(text)
    }
}

/// The axes.
struct Place {
    x: Scale,
    y: Scale,
}

impl Place {
    fn x(&self, bytes: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * self.x.place(bytes) / 100.0
    }

    fn y(&self, ns: f64) -> f64 {
        TOP + HEIGHT * (1.0 - self.y.place(ns) / 100.0)
    }
}

/// The least and the most.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, 0.0), |(low, high), value| {
        (value.min(low), value.max(high))
    })
}

fn draw(text: &mut String, line: &Trend, colour: &str, place: &Place) {
    let at = |p: &Point| format!("{:.1},{:.1}", place.x(p.bytes), place.y(p.ns));
    let path: Vec<String> = line.points.iter().map(at).collect();
    let _ = write!(
        text,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>",
        path.join(" ")
    );
    for point in &line.points {
        let (x, y) = (place.x(point.bytes), place.y(point.ns));
        if let Some(ends) = point.interval {
            let _ = write!(
                text,
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"/>",
                place.y(ends.low),
                place.y(ends.high)
            );
        }
        let meaning = format!(
            "{}, {}: {}",
            line.name,
            figures::bytes(point.bytes),
            figures::time(point.ns)
        );
        let _ = write!(
            text,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"><title>{}</title></circle>",
            escape(&meaning)
        );
    }
}

/// Names beside the lines' ends, as near as others leave room.
fn names(text: &mut String, lines: &[Trend], place: &Place) {
    let ends = lines.iter().zip(COLOURS.into_iter().cycle());
    let ends =
        ends.filter_map(|(line, colour)| Some((line, colour, place.y(line.points.last()?.ns))));
    let mut ends: Vec<_> = ends.collect();
    ends.sort_by(|a, b| a.2.total_cmp(&b.2));
    let below = APART * (ends.len().saturating_sub(1)) as f64;
    let mut free = TOP + 4.0;
    for (number, (line, colour, y)) in ends.into_iter().enumerate() {
        // The ones after it need room, too.
        let last = TOP + HEIGHT - below + APART * number as f64;
        let y = (y + 4.0).min(last).max(free);
        free = y + APART;
        let _ = write!(
            text,
            "<text x=\"{:.1}\" y=\"{y:.1}\" style=\"fill:{colour}\">{}</text>",
            WIDTH - RIGHT + 8.0,
            escape(&line.name)
        );
    }
}
