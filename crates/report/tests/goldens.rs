//! Every format against a committed file.

mod common;

use common::{data, golden};
use fathom_report::{Format, Report, Style};
use fathom_stats::{Basis, Figure, compare};

#[test]
fn every_format_of_the_campaigns_made_here() {
    golden("suite.jsonl", &common::suite());
    golden("module.jsonl", &common::module());
    let style = Style::default();
    let ascii = Style {
        is_ascii: true,
        width: Some(80),
        ..style
    };
    for (name, format, style, file) in [
        ("suite", Format::Terminal, style, "suite.txt"),
        ("module", Format::Terminal, style, "module.txt"),
        ("module", Format::Terminal, ascii, "module-ascii.txt"),
        ("suite", Format::Markdown, style, "suite.md"),
        ("module", Format::Csv, style, "module.csv"),
        ("module", Format::Html, style, "module.html"),
    ] {
        golden(file, open(name).render(format, style).unwrap().as_bytes());
    }
}

/// A report whose paths are the same on every machine.
fn open(name: &str) -> Report {
    let mut report = Report::open(&data(&format!("{name}.jsonl"))).unwrap();
    report.view.samples_file = format!("results/{name}/samples.jsonl");
    report.view.resume = format!("fathom bench --resume results/{name}");
    report
}

#[test]
fn any_figure_can_be_compared_by() {
    let open = |figure| Report::open_by(&data("suite.jsonl"), Some(figure), None).unwrap();
    let compile = open(Figure::Compile);
    assert_eq!(
        compile.view.headline,
        "On 4 polybench workloads (medium), fathom guard --opt none has the shortest compile time: \
         typically 1.59 ms; bun takes 3.89 × as long (95 %: 3.856–3.922). A difference of 2.1 % \
         would have been found."
    );
    let text = compile.render(Format::Terminal, Style::default()).unwrap();
    assert!(text.contains("compared by compile time"), "{text}");
    let memory = open(Figure::RssPeak);
    assert!(memory.view.subject.ends_with("compared by peak memory"));
    for report in [compile, memory] {
        for format in Format::ALL {
            report.render(format, Style::default()).unwrap();
        }
    }
}

#[test]
fn ascii_is_ascii() {
    let style = Style {
        is_ascii: true,
        has_colour: true,
        width: None,
    };
    let text = open("suite").render(Format::Terminal, style).unwrap();
    assert!(text.is_ascii());
    assert!(text.contains("\x1b[1m"), "colour was asked for");
    let plain = open("suite")
        .render(Format::Terminal, Style::default())
        .unwrap();
    assert!(!plain.contains('\x1b'), "no colour was asked for");
}

#[test]
fn nothing_is_shown_of_what_has_no_time() {
    let report = open("suite");
    let group = &report.view.groups[0];
    let leaky = group
        .rows
        .iter()
        .find(|row| row.engine.starts_with("leaky"));
    let leaky = leaky.expect("the unsound row is shown");
    assert!(!leaky.is_ranked() && leaky.to_baseline.is_none());
    assert!(leaky.cells.iter().all(Option::is_none) && leaky.costs.is_empty());
    let node = group.rows.iter().find(|row| row.engine.starts_with("node"));
    let node = node.expect("the failing row is shown");
    assert!(
        !node.is_ranked(),
        "a mean over fewer workloads has no place"
    );
    assert_eq!(report.view.failures.len(), 2);
    let text = report.render(Format::Terminal, Style::default()).unwrap();
    assert!(text.contains("probe ✗ leaky/fast/speed violates its guarantee"));
}

#[test]
fn markup_in_names_is_text() {
    let report = open("module");
    let page = report.render(Format::Html, Style::default()).unwrap();
    assert!(!page.contains("<b>&\"x"), "a name became markup");
    assert!(!page.contains("outside <memory>"));
    for forbidden in ["<script", "http://", "https://", "src=", "@import"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn a_slowdown_is_refused_and_noise_is_not() {
    let summary = |bytes: &[u8]| {
        let campaign = fathom_record::campaign::parse(bytes).unwrap();
        fathom_stats::Summary::from_campaign(&campaign)
    };
    let before = summary(&common::suite());
    let said = |after: &[u8], threshold: f64| {
        let after = summary(after);
        let basis = Basis::of(&before, &after);
        let found = compare(&before, &after, threshold, basis);
        let text = fathom_report::compare::render(
            &found,
            "before",
            "after",
            &["another program".to_owned()][..usize::from(threshold > 0.5)],
            fathom_report::compare::Standing::Last,
            Style::default(),
        );
        let cases = fathom_report::cases::cases(&found, &after, None);
        let has_failed = cases.iter().any(|case| case.found.is_failure());
        assert_eq!(has_failed, found.is_refused(), "{text}");
        let xml = fathom_report::cases::junit::render("after against before", &cases);
        (found.is_refused(), text, xml)
    };
    let slower = common::suite_again(7, 1.05);
    let (is_refused, text, xml) = said(&slower, 0.02);
    assert!(is_refused, "{text}");
    golden("compare-slower.txt", text.as_bytes());
    golden("compare-slower.xml", xml.as_bytes());
    assert!(!said(&slower, 0.1).0, "within the threshold");
    let (is_refused, text, _) = said(&common::suite_again(99, 1.0), 0.0);
    assert!(!is_refused, "noise is no slowdown: {text}");
    golden("compare-same.txt", text.as_bytes());
    // A slowdown past nothing at all could not have been seen; one past a half could.
    assert!(
        text.contains("too noisy to say: no slowdown past 0"),
        "{text}"
    );
    let (_, text, xml) = said(&common::suite_again(99, 1.0), 0.9);
    assert!(text.contains("accepted: no slowdown past 90"), "{text}");
    assert!(!xml.contains("<skipped"), "{xml}");
    assert!(
        text.lines().nth(1).unwrap().ends_with("another program"),
        "{text}"
    );
}
