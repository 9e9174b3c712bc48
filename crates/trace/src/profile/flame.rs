//! A profile as a picture (SVG): who called whom, from below, as wide as the time that it
//! took with all it called. In colours: the program's functions, those of files, code
//! without a name, the kernel; or else what takes longer, or shorter, than in another profile.
//!
//! What must stay true: a function is drawn inside its caller and is never wider; names are
//! text, whatever is in them; a colour of a difference is only where the counts tell one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::difference::{ALL, Compared, Difference, SIGMAS};
use super::{Frame, Of, Origin};

const WIDTH: f64 = 1200.0;
const LEVEL: f64 = 18.0;
const HEAD: f64 = 40.0;
/// What explains the colours of differences.
const LEGEND: f64 = 56.0;
/// Narrower ones are left out, in pixels.
const WIDTH_MIN: f64 = 0.4;
/// A letter, in pixels.
const LETTER: f64 = 7.0;
/// A letter of the title.
const TITLE_LETTER: f64 = 8.6;
/// Levels that are drawn.
const LEVELS_MAX: usize = 100;

/// A function below its callers.
#[derive(Default)]
struct Node<'a> {
    samples: u64,
    /// By which it is compared.
    path: Option<usize>,
    called: BTreeMap<&'a Frame, Node<'a>>,
}

/// The picture of a module's profile; in colours the difference from another, if there is one.
pub fn svg(module: &str, of: Of<'_>, from: Option<Of<'_>>) -> String {
    let mut difference = from.map(|from| Difference::new(of.profile, from.profile));
    let mut root = Node {
        path: difference.is_some().then_some(ALL),
        ..Node::default()
    };
    let mut levels = 1;
    for (stack, count) in &of.profile.stacks {
        let paths = difference.as_mut().map(|difference| difference.of(stack));
        let paths = paths.unwrap_or_else(|| vec![None; stack.len()]);
        root.samples += count;
        let mut node = &mut root;
        for (frame, path) in stack.iter().zip(paths).take(LEVELS_MAX) {
            node = node.called.entry(frame).or_default();
            node.samples += count;
            node.path = path;
        }
        levels = levels.max(1 + stack.len().min(LEVELS_MAX));
    }
    let head = HEAD + from.map_or(0.0, |_| LEGEND);
    let height = head + LEVEL * levels as f64 + 10.0;
    let title = match from {
        Some(from) => format!("{module} on {}, difference from {}", of.name, from.name),
        None => format!("{module} on {}", of.name),
    };
    let mut canvas = Canvas {
        svg: opening(height, &title),
        per_sample: (WIDTH - 16.0) / root.samples.max(1) as f64,
        all: root.samples.max(1),
        ground: height - 10.0 - LEVEL,
        period_ns: of.profile.period_ns,
        colours: difference
            .zip(from)
            .map(|(difference, from)| Colours::new(difference, from.name)),
    };
    canvas.legend(of.name, &root);
    canvas.draw("all", "all", &root, 8.0, 0);
    canvas.svg + "</svg>\n"
}

fn opening(height: f64, title: &str) -> String {
    let letters = ((WIDTH - 16.0) / TITLE_LETTER) as usize;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" font-family=\"monospace\" font-size=\"11\">\n\
         <style>rect{{stroke:#fff;stroke-width:.5}}.program{{fill:#e8804a}}.file{{fill:#8fb3d9}}\
         .unnamed{{fill:#c9c9c9}}.kernel{{fill:#b79ac8}}.all{{fill:#e6e0d0}}\
         .more2{{fill:#f0503c}}.more1{{fill:#fc9f80}}.more0{{fill:#fdd5c4}}\
         .less2{{fill:#5b9bd0}}.less1{{fill:#9cc8e4}}.less0{{fill:#d3e5f3}}\
         .alike{{fill:#efece2}}.alone{{fill:#c4c4c4}}\
         g:hover rect{{stroke:#000}}</style>\n\
         <rect width=\"100%\" height=\"100%\" style=\"fill:#fff\"/>\n\
         <text x=\"8\" y=\"22\" font-size=\"14\">{}</text>\n",
        escape(&shortened(title, letters))
    )
}

/// How differences are shown.
struct Colours<'a> {
    difference: Difference<'a>,
    from: &'a str,
    /// Milliseconds, a power of ten: from here on they have the strongest colour, and from a
    /// tenth of it on the middle one.
    strong_ms: f64,
}

impl<'a> Colours<'a> {
    fn new(difference: Difference<'a>, from: &'a str) -> Colours<'a> {
        let largest_ms = difference.largest_ns() / 1e6;
        let strong_ms = match largest_ms > 0.0 {
            true => 10_f64.powf(largest_ms.log10().floor()),
            false => 1.0,
        };
        Colours {
            difference,
            from,
            strong_ms,
        }
    }

    fn class(&self, path: Option<usize>) -> &'static str {
        let ms = match path.map(|path| self.difference.compared(path)) {
            Some(Compared::Differs { ns }) => ns / 1e6,
            Some(Compared::Alike) => return "alike",
            Some(Compared::Alone) | None => return "alone",
        };
        let of = |far: f64| ms.abs() >= self.strong_ms * far;
        match (ms > 0.0, of(1.0), of(0.1)) {
            (true, true, _) => "more2",
            (true, false, true) => "more1",
            (true, false, false) => "more0",
            (false, true, _) => "less2",
            (false, false, true) => "less1",
            (false, false, false) => "less0",
        }
    }

    /// What is said of a function besides.
    fn told(&self, path: Option<usize>, ms: f64) -> String {
        let Some(path) = path else {
            return format!("; not in {}, or without a name", self.from);
        };
        let other = self.difference.other_ns(path) as f64 / 1e6;
        let from = self.from;
        match self.difference.compared(path) {
            Compared::Differs { ns } => format!("; {from} {other:.1} ms: {:+.1} ms", ns / 1e6),
            Compared::Alike => format!("; {from} {other:.1} ms: too few samples to tell"),
            Compared::Alone => format!("; {ms:.1} ms on a path that {from} does not have"),
        }
    }
}

struct Canvas<'a> {
    svg: String,
    per_sample: f64,
    all: u64,
    ground: f64,
    period_ns: u64,
    colours: Option<Colours<'a>>,
}

impl Canvas<'_> {
    /// Says what widths and colours of a difference are.
    fn legend(&mut self, name: &str, root: &Node<'_>) {
        let Some(colours) = &self.colours else {
            return;
        };
        let ms = |ns: u64| ns as f64 / 1e6;
        let (from, difference) = (colours.from, &colours.difference);
        let lines = [
            format!(
                "width: time on {name}, {:.1} ms in all",
                ms(root.samples * self.period_ns)
            ),
            format!(
                "colour: a function's time with what it calls, less that on the same path of {from} \
                 ({:.1} ms in all, {:.1} ms of it in functions on paths that are not here)",
                ms(difference.other_ns(ALL)),
                ms(difference.missing_ns())
            ),
        ];
        let (strong, middle) = (time(colours.strong_ms), time(colours.strong_ms / 10.0));
        let kinds = [
            ("less2", format!("{strong} less or beyond")),
            ("less1", format!("{middle} less")),
            ("less0", "less".to_owned()),
            ("alike", format!("within {SIGMAS} \u{3c3} of the counts")),
            ("more0", "more".to_owned()),
            ("more1", format!("{middle} more")),
            ("more2", format!("{strong} more or beyond")),
            ("alone", "path only here, or no name".to_owned()),
        ];
        for (line, text) in lines.iter().enumerate() {
            let y = 40 + 16 * line;
            let text = shortened(text, ((WIDTH - 16.0) / LETTER) as usize);
            let _ = writeln!(self.svg, "<text x=\"8\" y=\"{y}\">{}</text>", escape(&text));
        }
        let mut x = 8.0;
        for (class, text) in kinds {
            let _ = writeln!(
                self.svg,
                "<rect class=\"{class}\" x=\"{x}\" y=\"64\" width=\"14\" height=\"14\"/>\
                 <text x=\"{}\" y=\"75\">{text}</text>",
                x + 18.0
            );
            x += 34.0 + LETTER * text.chars().count() as f64;
        }
    }

    fn draw(&mut self, name: &str, class: &str, node: &Node<'_>, x: f64, level: usize) {
        let width = node.samples as f64 * self.per_sample;
        if width < WIDTH_MIN {
            return;
        }
        let y = self.ground - LEVEL * level as f64;
        let ms = (node.samples * self.period_ns) as f64 / 1e6;
        let percent = 100.0 * node.samples as f64 / self.all as f64;
        let colours = self.colours.as_ref();
        let (class, told) = match colours {
            Some(colours) => (colours.class(node.path), colours.told(node.path, ms)),
            None => (class, String::new()),
        };
        let _ = write!(
            self.svg,
            "<g><title>{}: {ms:.1} ms, {percent:.1} %{}</title>\
             <rect class=\"{class}\" x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{LEVEL}\"/>",
            escape(name),
            escape(&told)
        );
        let letters = ((width - 6.0) / LETTER).max(0.0) as usize;
        if letters >= 3 {
            let shown = shortened(name, letters);
            let (x, y) = (x + 3.0, y + 13.0);
            let _ = write!(
                self.svg,
                "<text x=\"{x:.2}\" y=\"{y:.1}\">{}</text>",
                escape(&shown)
            );
        }
        self.svg += "</g>\n";
        let mut x = x;
        for (frame, called) in &node.called {
            self.draw(&frame.name, class_of(frame), called, x, level + 1);
            x += called.samples as f64 * self.per_sample;
        }
    }
}

/// Milliseconds, of which there is a power of ten.
fn time(ms: f64) -> String {
    match ms >= 1000.0 {
        true => format!("{} s", ms / 1000.0),
        false => format!("{ms} ms"),
    }
}

fn class_of(frame: &Frame) -> &'static str {
    match frame.origin {
        Origin::Program => "program",
        Origin::Made | Origin::File { .. } => "file",
        Origin::Unnamed => "unnamed",
        Origin::Kernel => "kernel",
    }
}

fn shortened(name: &str, letters: usize) -> String {
    match name.char_indices().nth(letters) {
        None => name.to_owned(),
        Some(_) => name.chars().take(letters - 1).chain(['…']).collect(),
    }
}

/// As text of XML: what it does not allow is replaced.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}');
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::super::Profile;
    use super::super::difference::tests::profile;
    use super::super::speedscope::tests::{example, of};
    use super::*;

    /// The line of a function, and a field of its rectangle.
    fn line<'a>(picture: &'a str, name: &str) -> &'a str {
        let title = format!("<title>{name}: ");
        let mut lines = picture.lines();
        lines.find(|line| line.contains(&title)).unwrap()
    }

    fn field<'a>(line: &'a str, field: &str) -> &'a str {
        let (_, rest) = line.split_once(&format!(" {field}=\"")).unwrap();
        rest.split_once('"').unwrap().0
    }

    #[test]
    fn callers_hold_what_they_call() {
        let picture = svg("a & b", of("c", &example()), None);
        assert!(picture.contains("a &amp; b on c<"));
        let rect = |name: &str| {
            let line = line(&picture, name);
            let number = |name| -> f64 { field(line, name).parse().unwrap() };
            (number("x"), number("y"), number("width"))
        };
        let (all, main) = (rect("all"), rect("main"));
        let (hot, copy) = (rect("hot&lt;T&gt;"), rect("memcpy"));
        assert_eq!((all.0, all.2), (main.0, main.2));
        assert!(hot.1 < main.1 && main.1 < all.1);
        assert!((hot.2 - 3.0 * copy.2).abs() < 0.1, "{hot:?} {copy:?}");
        assert!((hot.0 + hot.2 - copy.0).abs() < 0.1 || (copy.0 + copy.2 - hot.0).abs() < 0.1);
        assert!(picture.contains("0.0 ms, 75.0 %"));
    }

    /// Widths are those of the one; colours say how it is beside the other.
    #[test]
    fn differences_have_colours_where_the_counts_tell_one() {
        let here = profile(&[
            ("main slow", 900),
            ("main quick", 30),
            ("main same", 100),
            ("main new", 200),
            ("main less", 80),
        ]);
        let there = profile(&[
            ("main slow", 400),
            ("main quick", 60),
            ("main same", 110),
            ("main less", 280),
            ("main gone", 33),
        ]);
        let picture = svg("m", of("a", &here), Some(of("b", &there)));
        for (name, class, told) in [
            ("slow", "more2", "900.0 ms, 68.7 %; b 400.0 ms: +500.0 ms"),
            ("quick", "less1", "b 60.0 ms: -30.0 ms"),
            ("same", "alike", "b 110.0 ms: too few samples to tell"),
            ("new", "alone", "; not in b"),
            ("less", "less2", "b 280.0 ms: -200.0 ms"),
            ("all", "more2", "b 883.0 ms: +427.0 ms"),
        ] {
            let line = line(&picture, name);
            assert_eq!(field(line, "class"), class, "{line}");
            assert!(line.contains(told), "{line}");
        }
        let of_legend = [
            "m on a, difference from b",
            "width: time on a, 1310.0 ms in all",
            "same path of b (883.0 ms in all, 33.0 ms of it in functions on paths that are not here)",
            "100 ms more or beyond",
            "within 2 \u{3c3} of the counts",
        ];
        for text in of_legend {
            assert!(picture.contains(text), "no {text}: {picture}");
        }
    }

    #[test]
    fn nothing_is_a_picture_too_and_names_are_text() {
        let nothing = Profile::default();
        for from in [None, Some(of("", &nothing))] {
            assert!(svg("", of("", &nothing), from).ends_with("</svg>\n"));
        }
        assert_eq!(escape("<\u{1b}\"&"), "&lt;\u{fffd}&quot;&amp;");
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(shortened("abcd", 4), "abcd");
        assert_eq!((time(0.1), time(1000.0)), ("0.1 ms".into(), "1 s".into()));
    }
}
