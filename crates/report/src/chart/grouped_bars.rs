//! Pictures as papers print them: groups of upright bars in a drawing of its own,
//! which a Markdown page can show.
//!
//! ```text
//!  ┤        ▆ ▒            legend: one colour a series, in the order of the bars
//!  ┤  ▃     █ ▒ ▂
//!  ┼──█─▂─▁─█─▒─█──
//!    group    group        ▒ set apart, by a hatch as well as by words
//! ```
//!
//! What must stay true: the drawing loads nothing and runs nothing; text passes
//! through [`escape`]; what a bar shows stands in its title in words, so that
//! nothing rests on colour alone.

use fathom_stats::FigureUnit;

use super::scale::Scale;
use super::svg::{ALONE_STYLE, escape, push};
use crate::figures;

/// A drawing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupedBars {
    /// What it shows.
    pub title: String,
    /// The upright axis.
    pub axis: String,
    /// One colour each.
    pub series: Vec<String>,
    /// From left to right.
    pub groups: Vec<Group>,
    /// Whether heights are proportional to ratios.
    pub is_log: bool,
    /// Where bars begin, but for logarithmic heights.
    pub from: f64,
    /// A line across, with a word: native code, one instance.
    pub line: Option<(f64, String)>,
    /// What a hatched bar means; empty if none is.
    pub apart: String,
    /// What values are in, where ticks have a unit.
    pub unit: Option<FigureUnit>,
}

/// Bars that stand together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Its label.
    pub label: String,
    /// By series; none where there is no value.
    pub bars: Vec<Option<Bar>>,
}

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// How high.
    pub value: f64,
    /// Its 95 % interval.
    pub ends: Option<(f64, f64)>,
    /// The value as text.
    pub shown: String,
    /// Whether it is hatched.
    pub is_apart: bool,
}

const WIDTH: f64 = 960.0;
const PLOT_HEIGHT: f64 = 260.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const LEGEND_LINE: f64 = 18.0;
/// Width of a character, near enough to part legends and labels.
const CHARACTER: f64 = 6.6;
const TICKS: usize = 5;
/// The same of the small type above bars.
const SMALL_CHARACTER: f64 = 5.3;
/// Colours that those who confuse red and green can tell apart (Okabe, Ito).
const COLOURS: [&str; 8] = [
    "#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#8a8a8a", "#3b3b3b",
];
/// Beside what all drawings have: values above bars, axes.
const STYLE: &str = ".v{font-size:9.5px;fill:#30353d}.a{stroke:#565e6b}";

impl GroupedBars {
    /// The drawing, or nothing where there is no bar.
    pub fn render(&self) -> Option<String> {
        let bars = || {
            self.groups
                .iter()
                .flat_map(|group| group.bars.iter().flatten())
        };
        bars().next()?;
        let scale = self.scale();
        let legend = self.legend();
        let top = 30.0 + LEGEND_LINE * legend.lines as f64;
        let bottom = self.label_room();
        let height = top + PLOT_HEIGHT + bottom;
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" \
             role=\"img\" aria-label=\"{0}\"><title>{0}</title><style>{ALONE_STYLE}{STYLE}</style>\
             <rect width=\"{WIDTH}\" height=\"{height:.0}\" fill=\"#fff\"/>{1}\
             <text class=\"t\" x=\"{LEFT}\" y=\"18\">{0}</text>{2}",
            escape(&self.title),
            self.hatches(),
            legend.text,
        );
        let place = Place { scale, top };
        self.axis(&place, &mut text);
        let step = (WIDTH - LEFT - RIGHT) / self.groups.len() as f64;
        let with_values = self.has_room_for_values(step);
        for (number, group) in self.groups.iter().enumerate() {
            let left = LEFT + step * number as f64;
            self.group(group, left, step, &place, with_values, &mut text);
        }
        if let Some((value, word)) = &self.line {
            let y = place.y(*value);
            push(
                &mut text,
                format_args!(
                    "<line class=\"l\" x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{y:.1}\" y2=\"{y:.1}\">\
                     <title>{}</title></line>",
                    WIDTH - RIGHT,
                    escape(word)
                ),
            );
        }
        text.push_str("</svg>\n");
        Some(text)
    }

    /// To the highest bar and a little more. An interval that noise made many
    /// times as wide leaves the drawing; all others would vanish beside it.
    fn scale(&self) -> Scale {
        let bars = || {
            self.groups
                .iter()
                .flat_map(|group| group.bars.iter().flatten())
        };
        let values: Vec<f64> = bars()
            .map(|bar| bar.value)
            .filter(|value| value.is_finite())
            .collect();
        let line = self.line.as_ref().map(|(value, _)| *value);
        let most = values.iter().copied().chain(line).fold(f64::MIN, f64::max);
        let ends = bars().filter_map(|bar| bar.ends).map(|(_, high)| high);
        let high = ends.filter(|end| end.is_finite()).fold(most, f64::max);
        if self.is_log {
            let positive = values.iter().copied().filter(|value| *value > 0.0);
            let low = positive.fold(most, f64::min);
            Scale::log(low / 1.6, high.min(most * 4.0) * 1.3)
        } else {
            let high = high.min(self.from + (most - self.from) * 1.3);
            Scale::linear(self.from, self.from + (high - self.from) * 1.1)
        }
    }

    fn axis(&self, place: &Place, text: &mut String) {
        for tick in place.scale.ticks(TICKS) {
            let y = place.y(tick.value);
            push(
                text,
                format_args!(
                    "<line class=\"g\" x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text class=\"s\" x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                    WIDTH - RIGHT,
                    LEFT - 6.0,
                    y + 4.0,
                    self.tick(tick.value)
                ),
            );
        }
        let middle = place.top + PLOT_HEIGHT / 2.0;
        let foot = place.top + PLOT_HEIGHT;
        push(
            text,
            format_args!(
                "<text class=\"s\" transform=\"translate(13 {middle:.0}) rotate(-90)\" \
             text-anchor=\"middle\">{}</text>\
             <line class=\"a\" x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{foot}\" y2=\"{foot}\"/>",
                escape(&self.axis),
                WIDTH - RIGHT
            ),
        );
    }

    fn group(
        &self,
        group: &Group,
        left: f64,
        step: f64,
        place: &Place,
        with_values: bool,
        text: &mut String,
    ) {
        let width = step * 0.86 / self.series.len().max(1) as f64;
        for (index, bar) in group.bars.iter().enumerate() {
            let Some(bar) = bar else { continue };
            let x = left + step * 0.07 + width * index as f64;
            let series = self.series.get(index).map_or("", String::as_str);
            let apart = if bar.is_apart { &self.apart } else { "" };
            let words = format!("{} {series}: {} {apart}", group.label, bar.shown);
            draw(
                bar,
                index % COLOURS.len(),
                x,
                width - 1.0,
                place,
                &words,
                text,
            );
            if with_values {
                let y = place.y(bar.value);
                let above = bar.ends.map_or(y, |(_, high)| place.y(high).min(y));
                push(
                    text,
                    format_args!(
                        "<text class=\"v\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                        x + (width - 1.0) / 2.0,
                        above - 3.0,
                        escape(&bar.shown)
                    ),
                );
            }
        }
        self.label(group, left + step / 2.0, place, text);
    }

    fn label(&self, group: &Group, middle: f64, place: &Place, text: &mut String) {
        let foot = place.top + PLOT_HEIGHT;
        let label = escape(&group.label);
        let (at, class) = match self.is_slanted() {
            false => (
                format!(
                    "x=\"{middle:.1}\" y=\"{:.0}\" text-anchor=\"middle\"",
                    foot + 17.0
                ),
                "",
            ),
            true => (
                format!(
                    "transform=\"translate({middle:.1} {:.0}) rotate(-38)\" text-anchor=\"end\"",
                    foot + 13.0
                ),
                "s",
            ),
        };
        push(
            text,
            format_args!("<text class=\"{class}\" {at}>{label}</text>"),
        );
    }

    fn tick(&self, value: f64) -> String {
        match self.unit {
            Some(unit @ (FigureUnit::Bytes | FigureUnit::Share)) => figures::quantity(value, unit),
            _ => number(value),
        }
    }

    /// Whether values fit above their bars, beside each other.
    fn has_room_for_values(&self, step: f64) -> bool {
        let bars = self
            .groups
            .iter()
            .flat_map(|group| group.bars.iter().flatten());
        let longest = bars.map(|bar| bar.shown.chars().count()).max().unwrap_or(0);
        longest as f64 * SMALL_CHARACTER <= step * 0.86 / self.series.len().max(1) as f64
    }

    fn longest_label(&self) -> f64 {
        let lengths = self.groups.iter().map(|group| group.label.chars().count());
        lengths.max().unwrap_or(0) as f64 * CHARACTER
    }

    /// Whether labels are too long to stand beside each other.
    fn is_slanted(&self) -> bool {
        self.longest_label() > (WIDTH - LEFT - RIGHT) / self.groups.len() as f64
    }

    fn label_room(&self) -> f64 {
        match self.is_slanted() {
            true => 22.0 + self.longest_label() * 0.62,
            false => 28.0,
        }
    }

    fn hatches(&self) -> String {
        if self.apart.is_empty() {
            return String::new();
        }
        let mut text = String::from("<defs>");
        for (index, colour) in COLOURS.iter().enumerate().take(self.series.len()) {
            push(
                &mut text,
                format_args!(
                    "<pattern id=\"h{index}\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" \
                 patternTransform=\"rotate(45)\"><rect width=\"5\" height=\"5\" fill=\"#fff\"/>\
                 <path d=\"M0 0V5\" stroke=\"{colour}\" stroke-width=\"5\"/></pattern>"
                ),
            );
        }
        text.push_str("</defs>");
        text
    }

    fn legend(&self) -> Legend {
        let mut legend = Legend {
            text: String::new(),
            lines: 1,
        };
        let mut x = LEFT;
        let mut entries: Vec<(String, &str)> = self
            .series
            .iter()
            .enumerate()
            .map(|(index, name)| (COLOURS[index % COLOURS.len()].to_owned(), name.as_str()))
            .collect();
        if !self.apart.is_empty() {
            entries.push(("url(#h0)".to_owned(), &self.apart));
        }
        for (fill, name) in entries {
            let width = 30.0 + name.chars().count() as f64 * CHARACTER;
            if x + width > WIDTH - RIGHT && x > LEFT {
                x = LEFT;
                legend.lines += 1;
            }
            let y = 14.0 + LEGEND_LINE * legend.lines as f64;
            push(
                &mut legend.text,
                format_args!(
                    "<rect x=\"{x:.0}\" y=\"{:.0}\" width=\"11\" height=\"11\" fill=\"{fill}\" \
                 stroke=\"#565e6b\" stroke-width=\".5\"/><text x=\"{:.0}\" y=\"{y:.0}\">{}</text>",
                    y - 10.0,
                    x + 16.0,
                    escape(name)
                ),
            );
            x += width;
        }
        legend
    }
}

struct Legend {
    text: String,
    lines: usize,
}

/// Where a value is, in the drawing's pixels.
struct Place {
    scale: Scale,
    top: f64,
}

impl Place {
    fn y(&self, value: f64) -> f64 {
        self.top + PLOT_HEIGHT * (1.0 - self.scale.place(value) / 100.0)
    }
}

/// A bar with its interval and its words.
fn draw(
    bar: &Bar,
    colour: usize,
    x: f64,
    width: f64,
    place: &Place,
    words: &str,
    text: &mut String,
) {
    let y = place.y(bar.value);
    let fill = match bar.is_apart {
        true => format!("url(#h{colour})"),
        false => COLOURS[colour].to_owned(),
    };
    push(
        text,
        format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{fill}\" \
             stroke=\"{}\"><title>{}</title></rect>",
            width.max(0.8),
            (place.top + PLOT_HEIGHT - y).max(0.0),
            COLOURS[colour],
            escape(words.trim())
        ),
    );
    if let Some((low, high)) = bar.ends {
        let middle = x + width / 2.0;
        push(
            text,
            format_args!(
                "<line class=\"w\" x1=\"{middle:.1}\" x2=\"{middle:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>",
                place.y(low),
                place.y(high)
            ),
        );
    }
}

/// A tick's value with as many digits as it has.
fn number(value: f64) -> String {
    if value.abs() >= 1000.0 {
        return figures::count(value);
    }
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(value: f64, is_apart: bool) -> Option<Bar> {
        Some(Bar {
            value,
            ends: Some((value * 0.9, value * 1.1)),
            shown: format!("{value}"),
            is_apart,
        })
    }

    fn drawing() -> GroupedBars {
        GroupedBars {
            title: "a < b".to_owned(),
            axis: "times".to_owned(),
            series: vec!["1".to_owned(), "16".to_owned()],
            groups: vec![
                Group {
                    label: "x & y".to_owned(),
                    bars: vec![bar(1.0, false), bar(2.0, true)],
                },
                Group {
                    label: "z".to_owned(),
                    bars: vec![None, bar(f64::INFINITY, false)],
                },
            ],
            apart: "more than processors".to_owned(),
            line: Some((1.0, "one".to_owned())),
            ..GroupedBars::default()
        }
    }

    #[test]
    fn every_bar_has_words_and_no_text_is_markup() {
        let text = drawing().render().unwrap();
        assert!(
            text.contains("<title>x &amp; y 16: 2 more than processors</title>"),
            "{text}"
        );
        assert!(text.contains("a &lt; b") && text.contains("url(#h1)"));
        assert_eq!(text.matches("<rect").count(), 3 + 1 + 3 + 2);
        assert!(!text.contains("NaN") && !text.contains("inf\""), "{text}");
    }

    #[test]
    fn a_drawing_without_bars_is_none_and_logs_take_zeros() {
        assert_eq!(GroupedBars::default().render(), None);
        let mut log = drawing();
        log.is_log = true;
        log.groups[0].bars[0] = bar(0.0, false);
        assert!(!log.render().unwrap().contains("NaN"));
    }

    #[test]
    fn long_labels_are_slanted() {
        let mut many = drawing();
        assert!(!many.is_slanted());
        many.groups = vec![many.groups[0].clone(); 30];
        many.groups[0].label = "a-long-name".to_owned();
        assert!(many.is_slanted() && many.render().unwrap().contains("rotate(-38)"));
    }
}
