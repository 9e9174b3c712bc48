//! Bars of parts, a drawing which a Markdown page can show.
//!
//! ```text
//!  fathom     ██████▒▒▒░░░░░░░░░   412 ms
//!  wasmtime   ███▒▒▒▒▒▒▒▒▒▒▒▒▒▒»   1.31 s   cut at the edge
//! ```
//!
//! What must stay true: one long bar does not make all others look alike; a bar that is cut
//! says so, and its number stands beside it.

use std::fmt::Write;

use crate::chart::scale::Scale;
use crate::chart::svg::{begin_alone, escape, tick_alone};

const WIDTH: f64 = 760.0;
const LEFT: f64 = 120.0;
const RIGHT: f64 = 90.0;
const TOP: f64 = 58.0;
const STEP: f64 = 24.0;
const TICKS: usize = 5;
/// A bar this many times as long as three quarters of them are is cut.
const CUT: f64 = 3.0;
/// Told apart by those who confuse red and green too (Okabe, Ito).
const COLOURS: [&str; 3] = ["#0072b2", "#e69f00", "#bbbbbb"];

/// A drawing.
pub(super) struct Parts {
    pub(super) title: String,
    /// What each part is called.
    pub(super) names: Vec<String>,
    pub(super) bars: Vec<Bar>,
    /// How a value is written.
    pub(super) format: fn(f64) -> String,
}

/// A bar from 0 on.
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) parts: Vec<f64>,
    /// Beside it.
    pub(super) shown: String,
}

impl Bar {
    fn whole(&self) -> f64 {
        self.parts.iter().map(|part| part.max(0.0)).sum()
    }
}

impl Parts {
    /// Where the axis ends.
    fn high(&self) -> Option<f64> {
        let mut wholes: Vec<f64> = self.bars.iter().map(Bar::whole).collect();
        wholes.sort_by(f64::total_cmp);
        let longest = *wholes.last()?;
        let most = wholes[(wholes.len() - 1) * 3 / 4];
        let high = longest.min(most * CUT);
        (high.is_finite() && high > 0.0).then_some(high)
    }

    /// As SVG; none of nothing.
    pub(super) fn render(&self) -> Option<String> {
        let high = self.high()?;
        let scale = Scale::linear(0.0, high * 1.001);
        let x = |value: f64| LEFT + (WIDTH - LEFT - RIGHT) * scale.place(value) / 100.0;
        let foot = TOP + STEP * self.bars.len() as f64;
        let height = foot + 24.0;
        let mut text = begin_alone(&self.title, WIDTH, height);
        self.legend(&mut text);
        for tick in scale.ticks(TICKS) {
            let label = (self.format)(tick.value);
            text.push_str(&tick_alone(x(tick.value), (TOP, foot), &label));
        }
        for (number, bar) in self.bars.iter().enumerate() {
            self.bar(&mut text, bar, TOP + STEP * number as f64, (&x, high));
        }
        text.push_str("</svg>\n");
        Some(text)
    }

    fn legend(&self, text: &mut String) {
        let mut at = LEFT;
        for (name, colour) in self.names.iter().zip(COLOURS) {
            let _ = write!(
                text,
                "<rect x=\"{at:.0}\" y=\"32\" width=\"12\" height=\"12\" fill=\"{colour}\"/>\
                 <text class=\"s\" x=\"{:.0}\" y=\"42\">{}</text>",
                at + 17.0,
                escape(name)
            );
            at += 40.0 + 6.5 * name.chars().count() as f64;
        }
    }

    fn bar(&self, text: &mut String, bar: &Bar, top: f64, (x, high): (&dyn Fn(f64) -> f64, f64)) {
        let middle = top + STEP / 2.0;
        let _ = write!(
            text,
            "<text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            middle + 4.0,
            escape(&bar.name)
        );
        let mut from = 0.0;
        for ((part, name), colour) in bar.parts.iter().zip(&self.names).zip(COLOURS) {
            let to = from + part.max(0.0);
            let (left, right) = (x(from.min(high)), x(to.min(high)));
            let meaning = format!("{}, {name}: {}", bar.name, (self.format)(*part));
            let _ = write!(
                text,
                "<rect x=\"{left:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{}\" fill=\"{colour}\">\
                 <title>{}</title></rect>",
                top + 3.0,
                right - left,
                STEP - 6.0,
                escape(&meaning)
            );
            from = to;
        }
        let cut = if bar.whole() > high * 1.001 {
            "» "
        } else {
            ""
        };
        let _ = write!(
            text,
            "<text class=\"s\" x=\"{:.1}\" y=\"{:.1}\">{cut}{}</text>",
            x(bar.whole().min(high)) + 6.0,
            middle + 4.0,
            escape(&bar.shown)
        );
    }
}
