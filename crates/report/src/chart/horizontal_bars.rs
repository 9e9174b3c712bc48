//! Pictures as the 2023 study prints them: a lying bar for each
//! engine, in a drawing of its own which a Markdown page can show.
//!
//! ```text
//!  wasmtime ████████████│ 0.98
//!  wazero   ████████████│███████ 1.61      │ the median, or native code
//! ```
//!
//! What must stay true: the drawing loads nothing and runs nothing; text passes
//! through [`escape`]; each bar has its value beside it, so that nothing rests on
//! colour or length alone; a bar that is too long is cut and says so.

use super::scale::Scale;
use super::svg::{begin_alone, escape, push, tick_alone};

/// A drawing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HorizontalBars {
    /// What it shows.
    pub title: String,
    /// The axis below.
    pub axis: String,
    /// From above.
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Whose it is.
    pub name: String,
    /// How long.
    pub value: f64,
    /// Its 95 % interval.
    pub ends: Option<(f64, f64)>,
    /// The value as text.
    pub shown: String,
    /// Ours, another's, or native code.
    pub kind: Kind,
}

/// Whose a bar is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Our engine's.
    Ours,
    /// Another engine's.
    Other,
    /// Native code's.
    Native,
}

const WIDTH: f64 = 760.0;
const LEFT: f64 = 210.0;
const RIGHT: f64 = 60.0;
const TOP: f64 = 34.0;
const STEP: f64 = 22.0;
const TICKS: usize = 6;
/// A bar this many times as long as three quarters of them are is cut.
const CUT: f64 = 2.5;

impl HorizontalBars {
    /// The drawing, or nothing where there is no bar.
    pub fn render(&self) -> Option<String> {
        let scale = self.scale()?;
        let foot = TOP + STEP * self.bars.len() as f64;
        let height = foot + 40.0;
        let mut text = begin_alone(&self.title, WIDTH, height);
        for tick in scale.ticks(TICKS) {
            let (x, label) = (place(&scale, tick.value), trimmed(tick.value));
            text.push_str(&tick_alone(x, (TOP, foot), &label));
        }
        push(
            &mut text,
            format_args!(
                "<text class=\"s\" x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>",
                (LEFT + WIDTH - RIGHT) / 2.0,
                foot + 32.0,
                escape(&self.axis)
            ),
        );
        for (number, bar) in self.bars.iter().enumerate() {
            draw(bar, &scale, TOP + STEP * number as f64, &mut text);
        }
        let one = place(&scale, 1.0);
        push(
            &mut text,
            format_args!(
                "<line class=\"l\" x1=\"{one:.1}\" x2=\"{one:.1}\" y1=\"{TOP}\" y2=\"{foot}\"/></svg>\n"
            ),
        );
        Some(text)
    }

    fn scale(&self) -> Option<Scale> {
        let mut values: Vec<f64> = self.bars.iter().map(|bar| bar.value).collect();
        values.retain(|value| value.is_finite());
        values.sort_by(f64::total_cmp);
        let quarter = *values.get(values.len().checked_sub(1)? * 3 / 4)?;
        let high = values.last()?.min(quarter.max(1.0) * CUT);
        Some(Scale::linear(0.0, high.max(1.0) * 1.04))
    }
}

fn draw(bar: &Bar, scale: &Scale, top: f64, text: &mut String) {
    let middle = top + STEP / 2.0;
    let end = place(scale, bar.value);
    let is_cut = scale.is_beyond(bar.value);
    let shown = format!("{}{}", bar.shown, if is_cut { " »" } else { "" });
    push(
        text,
        format_args!(
            "<text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
         <rect x=\"{LEFT}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{}\" fill=\"{}\"><title>{}: {}</title></rect>",
            LEFT - 8.0,
            middle + 4.0,
            escape(&bar.name),
            top + 3.0,
            (end - LEFT).max(0.5),
            STEP - 6.0,
            colour(bar.kind),
            escape(&bar.name),
            escape(&bar.shown),
        ),
    );
    let mut after = end;
    if let (Some((low, high)), false) = (bar.ends, is_cut) {
        let (low, high) = (place(scale, low), place(scale, high));
        push(
            text,
            format_args!(
                "<line class=\"w\" x1=\"{low:.1}\" x2=\"{high:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\"/>"
            ),
        );
        after = after.max(high);
    }
    push(
        text,
        format_args!(
            "<text class=\"s\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            after + 5.0,
            middle + 4.0,
            escape(&shown)
        ),
    );
}

/// Told apart by those who confuse red and green too (Okabe, Ito).
fn colour(kind: Kind) -> &'static str {
    match kind {
        Kind::Ours => "#009e73",
        Kind::Other => "#0072b2",
        Kind::Native => "#8a8a8a",
    }
}

fn place(scale: &Scale, value: f64) -> f64 {
    LEFT + (WIDTH - LEFT - RIGHT) * scale.place(value) / 100.0
}

/// A tick's value with as many digits as it has.
fn trimmed(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(name: &str, value: f64) -> Bar {
        Bar {
            name: name.to_owned(),
            value,
            ends: Some((value * 0.9, value * 1.1)),
            shown: format!("{value}"),
            kind: Kind::Other,
        }
    }

    #[test]
    fn every_bar_has_its_value_and_no_text_is_markup() {
        let bars = vec![
            bar("a < b", 1.0),
            bar("c", 1.5),
            bar("slow", 90.0),
            bar("odd", f64::NAN),
        ];
        let drawing = HorizontalBars {
            title: "x & y".to_owned(),
            axis: "times the median".to_owned(),
            bars,
        };
        let text = drawing.render().unwrap();
        assert!(
            text.contains("a &lt; b") && text.contains("x &amp; y"),
            "{text}"
        );
        assert!(text.contains(">90 »<"), "{text}");
        assert!(!text.contains("=\"NaN"), "{text}");
    }

    #[test]
    fn without_bars_there_is_no_drawing() {
        assert_eq!(HorizontalBars::default().render(), None);
        let only_nan = HorizontalBars {
            bars: vec![bar("x", f64::NAN)],
            ..HorizontalBars::default()
        };
        assert_eq!(only_nan.render(), None);
    }
}
