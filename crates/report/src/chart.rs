//! The pictures: plain functions from the view to figures of inline SVG.
//!
//! ```text
//!  Chart ─┬─ axis     the ticks, once above the rows
//!         └─ ChartRow  label │ figure │ value, one for each row of the view
//! ```
//!
//! A chart is a list of rows, each with a figure of its own, not one drawing:
//! on a phone the label stands above its bar, on a desk beside it, and text is
//! never scaled. What must stay true: every figure says in words what it
//! shows, and no meaning rests on colour alone.

pub mod bars;
pub mod grouped_bars;
pub mod heat;
pub mod horizontal_bars;
pub mod samples;
pub mod scale;
pub mod stack;
pub mod svg;
pub mod trend;

use scale::Scale;
use svg::{Anchor, Svg};

use crate::view::{Kind, Rank, Row};

/// A finished chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// The ticks: a figure.
    pub axis: String,
    /// What the axis shows and which way is better.
    pub caption: String,
    /// The rows.
    pub rows: Vec<ChartRow>,
}

/// One row of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartRow {
    /// `1`, `2`, … or a sign for what is not in the order.
    pub rank: String,
    /// Engine, in strong type.
    pub engine: String,
    /// The rest of the label.
    pub detail: String,
    /// The figure.
    pub figure: String,
    /// The number beside it.
    pub value: String,
    /// A smaller number beside that.
    pub more: String,
    /// Where the number comes from: a link.
    pub target: String,
    /// Whether it is left out of the order.
    pub is_apart: bool,
}

impl ChartRow {
    fn of(row: &Row, figure: String, value: String, more: String) -> ChartRow {
        ChartRow {
            rank: rank(row),
            engine: row.engine.clone(),
            detail: row.detail.clone(),
            figure,
            value,
            more,
            target: format!("#{}", row.anchor),
            is_apart: row.rank == Rank::Unranked,
        }
    }
}

/// The class by which the style sheet draws a kind of row.
pub fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Ours => "ours",
        Kind::Other => "other",
        Kind::Native => "native",
        Kind::Inexact => "inexact",
    }
}

/// A row's place as a reader sees it.
pub fn rank(row: &Row) -> String {
    match row.rank {
        Rank::Place {
            place,
            is_shared,
            is_doubtful,
        } => {
            let sign = match (is_doubtful, is_shared) {
                (true, _) => "?",
                (false, true) => "=",
                (false, false) => "",
            };
            format!("{place}{sign}")
        }
        Rank::Reference | Rank::Unranked => "–".to_owned(),
    }
}

/// Ticks with their labels. Labels at the ends stay inside the figure.
pub(crate) fn axis(scale: &Scale, wanted: usize, label: impl Fn(f64) -> String) -> String {
    let mut svg = Svg::decoration("axis", 18);
    for tick in scale.ticks(wanted) {
        let anchor = match tick.place {
            place if place < 4.0 => Anchor::Start,
            place if place > 96.0 => Anchor::End,
            _ => Anchor::Middle,
        };
        svg.label("tick", tick.place, 12.0, anchor, &label(tick.value));
    }
    svg.finish()
}

/// A 95 % interval as far as the axis has it; without a stop at an end that it has not.
fn whisker(svg: &mut Svg, scale: &Scale, (low, high): (f64, f64), middle: f64) {
    if scale.is_beyond(low) {
        return;
    }
    svg.horizontal("whisker", scale.place(low), scale.place(high), middle);
    for end in [low, high].into_iter().filter(|end| !scale.is_beyond(*end)) {
        svg.vertical("whisker", scale.place(end), middle - 4.0, middle + 4.0);
    }
}

/// The sign of a bar that goes on behind the edge.
fn cut(svg: &mut Svg, height: f64) {
    svg.label("cut", 99.0, height / 2.0 + 4.0, Anchor::End, "»");
}

/// The ticks' lines behind a row.
fn grid(svg: &mut Svg, scale: &Scale, wanted: usize, height: f64) {
    for tick in scale.ticks(wanted) {
        svg.vertical("grid", tick.place, 0.0, height);
    }
}
