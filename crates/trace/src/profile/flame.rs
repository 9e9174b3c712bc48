//! A profile as a picture (SVG): who called whom, from below, as wide as the time that it
//! took with all it called. In colours: the program's functions, those of files, code
//! without a name, the kernel.
//!
//! What must stay true: a function is drawn inside its caller and is never wider; names are
//! text, whatever is in them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Frame, Origin, Profile};

const WIDTH: f64 = 1200.0;
const LEVEL: f64 = 18.0;
const HEAD: f64 = 40.0;
/// Narrower ones are left out, in pixels.
const WIDTH_MIN: f64 = 0.4;
/// A letter, in pixels.
const LETTER: f64 = 7.0;
/// Levels that are drawn.
const LEVELS_MAX: usize = 100;

/// A function below its callers.
#[derive(Default)]
struct Node<'a> {
    samples: u64,
    called: BTreeMap<&'a Frame, Node<'a>>,
}

/// The picture.
pub fn svg(title: &str, profile: &Profile) -> String {
    let mut root = Node::default();
    let mut levels = 1;
    for (stack, count) in &profile.stacks {
        root.samples += count;
        let mut node = &mut root;
        for frame in stack.iter().take(LEVELS_MAX) {
            node = node.called.entry(frame).or_default();
            node.samples += count;
        }
        levels = levels.max(1 + stack.len().min(LEVELS_MAX));
    }
    let height = HEAD + LEVEL * levels as f64 + 10.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" font-family=\"monospace\" font-size=\"11\">\n\
         <style>rect{{stroke:#fff;stroke-width:.5}}.program{{fill:#e8804a}}.file{{fill:#8fb3d9}}\
         .unnamed{{fill:#c9c9c9}}.kernel{{fill:#b79ac8}}.all{{fill:#e6e0d0}}\
         g:hover rect{{stroke:#000}}</style>\n\
         <rect width=\"100%\" height=\"100%\" style=\"fill:#fff\"/>\n\
         <text x=\"8\" y=\"22\" font-size=\"14\">{}</text>\n",
        escape(title)
    );
    let mut canvas = Canvas {
        svg: &mut svg,
        per_sample: (WIDTH - 16.0) / root.samples.max(1) as f64,
        all: root.samples.max(1),
        ground: height - 10.0 - LEVEL,
        period_ns: profile.period_ns,
    };
    canvas.draw("all", "all", &root, 8.0, 0);
    svg += "</svg>\n";
    svg
}

struct Canvas<'a> {
    svg: &'a mut String,
    per_sample: f64,
    all: u64,
    ground: f64,
    period_ns: u64,
}

impl Canvas<'_> {
    fn draw(&mut self, name: &str, class: &str, node: &Node<'_>, x: f64, level: usize) {
        let width = node.samples as f64 * self.per_sample;
        if width < WIDTH_MIN {
            return;
        }
        let y = self.ground - LEVEL * level as f64;
        let ms = (node.samples * self.period_ns) as f64 / 1e6;
        let percent = 100.0 * node.samples as f64 / self.all as f64;
        let _ = write!(
            self.svg,
            "<g><title>{}: {ms:.1} ms, {percent:.1} %</title>\
             <rect class=\"{class}\" x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{LEVEL}\"/>",
            escape(name)
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
        *self.svg += "</g>\n";
        let mut x = x;
        for (frame, called) in &node.called {
            self.draw(&frame.name, class_of(frame), called, x, level + 1);
            x += called.samples as f64 * self.per_sample;
        }
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
    use super::super::speedscope::tests::example;
    use super::*;

    #[test]
    fn callers_hold_what_they_call() {
        let picture = svg("a & b", &example());
        assert!(picture.contains("a &amp; b"));
        let rect = |name: &str| {
            let title = format!("<title>{name}: ");
            let line = picture.lines().find(|line| line.contains(&title)).unwrap();
            let field = |field: &str| -> f64 {
                let (_, rest) = line.split_once(&format!(" {field}=\"")).unwrap();
                rest.split_once('"').unwrap().0.parse().unwrap()
            };
            (field("x"), field("y"), field("width"))
        };
        let (all, main) = (rect("all"), rect("main"));
        let (hot, copy) = (rect("hot&lt;T&gt;"), rect("memcpy"));
        assert_eq!((all.0, all.2), (main.0, main.2));
        assert!(hot.1 < main.1 && main.1 < all.1);
        assert!((hot.2 - 3.0 * copy.2).abs() < 0.1, "{hot:?} {copy:?}");
        assert!((hot.0 + hot.2 - copy.0).abs() < 0.1 || (copy.0 + copy.2 - hot.0).abs() < 0.1);
        assert!(picture.contains("0.0 ms, 75.0 %"));
    }

    #[test]
    fn nothing_is_a_picture_too_and_names_are_text() {
        assert!(svg("", &Profile::default()).ends_with("</svg>\n"));
        assert_eq!(escape("<\u{1b}\"&"), "&lt;\u{fffd}&quot;&amp;");
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(shortened("abcd", 4), "abcd");
    }
}
