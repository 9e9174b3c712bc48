//! The page in a real browser: on a phone and on a desk, by day and by night.
//!
//! The page runs no script, so it is looked at from outside: `look.html` holds
//! it in frames of several widths and writes down what is wrong. Without
//! Chromium the test says that it was skipped.

mod common;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use fathom_report::chart::svg::escape;
use fathom_report::history::{self, History};
use fathom_report::site::{self, SiteError};
use fathom_report::{Format, Report, Style};

/// Widths of a small phone, a phone, a tablet and a desk, in CSS pixels.
const WIDTHS: [u32; 4] = [320, 390, 768, 1280];

/// What a browser has to finish one look in.
const LIMIT: Duration = Duration::from_secs(300);

#[test]
fn the_page_holds_on_every_screen() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no chromium in PATH (Debian: apt install chromium)");
        return;
    };
    for name in ["suite", "module", "long names"] {
        let report = match name {
            "long names" => long_names(),
            name => Report::open(&common::data(&format!("{name}.jsonl"))).unwrap(),
        };
        let page = report.render(Format::Html, Style::default()).unwrap();
        for is_dark in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let seen = look(&browser, folder.path(), &page, &WIDTHS, is_dark);
            assert!(
                seen.complaints.is_empty(),
                "{name}, {}: {}",
                if is_dark { "dark" } else { "light" },
                seen.complaints.join("\n")
            );
            assert_eq!(seen.frames, WIDTHS.len(), "every frame was looked at");
        }
    }
}

/// The pages of a site of ten campaigns, in which our engine became slower.
fn site_pages(folder: &Path) -> Vec<(PathBuf, String)> {
    let results = folder.join("results");
    for night in 0..10 {
        let slowdown = if night < 5 { 1.0 } else { 1.1 };
        let text = String::from_utf8(common::suite_again(night, slowdown)).unwrap();
        let date = format!("2026-10-{:02}T", night + 1);
        let at = results.join(night.to_string());
        fs::create_dir_all(&at).unwrap();
        fs::write(
            at.join("samples.jsonl"),
            text.replacen("2026-11-20T", &date, 1),
        )
        .unwrap();
    }
    let history = History::of(history::find(&[results]).unwrap(), None).unwrap();
    let site = folder.join("site");
    fs::create_dir(&site).unwrap();
    site::write(&history, None, &site, &AtomicBool::new(false)).unwrap();
    let stopped = site::write(&history, None, &site, &AtomicBool::new(true));
    assert!(matches!(stopped, Err(SiteError::Stopped)));
    let trends = fs::read_dir(site.join("trends")).unwrap();
    let pages = trends.map(|entry| entry.unwrap().path());
    let pages = pages.chain([site.join("index.html")]);
    let read = |path: PathBuf| (path.clone(), fs::read_to_string(path).unwrap());
    pages.map(read).collect()
}

#[test]
fn the_pages_of_a_site_hold_on_every_screen() {
    let made = tempfile::tempdir().unwrap();
    let pages = site_pages(made.path());
    assert_eq!(pages.len(), 3);
    assert!(
        pages
            .iter()
            .all(|(_, page)| page.contains("fathom guard: +10"))
    );
    let Some(browser) = browser() else {
        eprintln!("skipped: no chromium in PATH (Debian: apt install chromium)");
        return;
    };
    for (path, page) in pages {
        for is_dark in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let mut seen = look(&browser, folder.path(), &page, &WIDTHS, is_dark);
            // In its frame the page is alone; what its links lead to is beside the file.
            seen.complaints.retain(|line| !is_beside(&path, line));
            // Nor are there samples: they are in the campaigns' reports.
            let samples = "no number leads to its samples";
            seen.complaints.retain(|line| !line.ends_with(samples));
            let name = path.display();
            let complaints = seen.complaints.join("\n");
            assert!(
                complaints.is_empty(),
                "{name}, dark {is_dark}: {complaints}"
            );
            assert_eq!(seen.frames, WIDTHS.len());
        }
    }
}

/// Whether a link that is complained of leads to a file, by a page's place.
fn is_beside(page: &Path, complaint: &str) -> bool {
    let link = complaint
        .split_once(" leads nowhere: ")
        .map(|(_, link)| link);
    let file = link.map(|link| link.split('#').next().unwrap_or_default());
    let file = file.filter(|file| !file.is_empty());
    file.is_some_and(|file| page.parent().unwrap().join(file).is_file())
}

/// What a sheet of A4 has between the margins that browsers leave, in CSS pixels.
const SHEET: u32 = 718;

#[test]
fn tables_fit_a_printed_page() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no chromium in PATH (Debian: apt install chromium)");
        return;
    };
    for name in ["suite", "module"] {
        let report = Report::open(&common::data(&format!("{name}.jsonl"))).unwrap();
        let page = report.render(Format::Html, Style::default()).unwrap();
        assert_eq!(page.matches("@media print").count(), 1);
        let printed = page.replace("@media print", "@media all");
        let folder = tempfile::tempdir().unwrap();
        let seen = look(&browser, folder.path(), &printed, &[SHEET], false);
        assert_eq!(seen.frames, 1);
        // Type is smaller in print, and raw samples are left out.
        let wide = |line: &&String| line.contains("overflows");
        let wide: Vec<&String> = seen.complaints.iter().filter(wide).collect();
        assert!(wide.is_empty(), "{name}: {wide:?}");
    }
}

/// A report in which everything a user can name is long and has no spaces.
fn long_names() -> Report {
    let mut report = Report::open(&common::data("suite.jsonl")).unwrap();
    let long = "x".repeat(300);
    let view = &mut report.view;
    for text in [
        &mut view.title,
        &mut view.headline,
        &mut view.command,
        &mut view.samples_file,
        &mut view.host_line,
    ] {
        text.clone_from(&long);
    }
    view.notes.push(long.clone());
    for fact in view.host.iter_mut().chain(&mut view.config) {
        fact.value.clone_from(&long);
    }
    for failure in &mut view.failures {
        failure.what.clone_from(&long);
        failure.message.clone_from(&long);
    }
    for row in &mut view.in_force {
        row.evidence.clone_from(&long);
        row.version.clone_from(&long);
    }
    for group in &mut view.groups {
        group.title.clone_from(&long);
        group.advice.push(long.clone());
        for workload in &mut group.workloads {
            workload.name.clone_from(&long);
            workload.why.clone_from(&long);
        }
        for row in &mut group.rows {
            row.engine.clone_from(&long);
            row.detail.clone_from(&long);
            row.caveats.push(long.clone());
        }
    }
    report
}

/// What a browser saw.
struct Seen {
    frames: usize,
    complaints: Vec<String>,
}

fn look(browser: &Path, folder: &Path, page: &str, widths: &[u32], is_dark: bool) -> Seen {
    let frames: String = widths
        .iter()
        .map(|width| {
            format!(
                "<iframe style=\"width:{width}px;height:900px;border:0\" srcdoc=\"{}\"></iframe>",
                escape_page(page)
            )
        })
        .collect();
    let outside = include_str!("look.html")
        .replace("FRAMES", &frames)
        .replace("SCHEME", if is_dark { "dark" } else { "light" });
    let file = folder.join("look.html");
    fs::write(&file, outside).unwrap();
    let (dom, log) = (folder.join("dom"), folder.join("log"));
    let scheme = if is_dark { 0 } else { 1 };
    let mut child = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--enable-logging=stderr",
            "--window-size=1400,1000",
            "--virtual-time-budget=5000",
            "--dump-dom",
        ])
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .arg(format!("file://{}", file.display()))
        .stdin(Stdio::null())
        .stdout(File::create(&dom).unwrap())
        .stderr(File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let end = Instant::now() + LIMIT;
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if Instant::now() > end => {
                let _ = child.kill();
                break child.wait().unwrap();
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    let log = fs::read_to_string(&log).unwrap_or_default();
    assert!(status.success(), "the browser failed: {status}\n{log}");
    let dom = fs::read_to_string(&dom).unwrap();
    let mut seen = verdict(&dom);
    let console = log.lines().filter(|line| line.contains("CONSOLE"));
    seen.complaints.extend(console.map(str::to_owned));
    seen
}

/// A page as the value of an attribute, line breaks and all.
fn escape_page(page: &str) -> String {
    page.split('\n').map(escape).collect::<Vec<_>>().join("\n")
}

/// Reads what `look.html` wrote down: a line for each frame, a line for each
/// complaint.
fn verdict(dom: &str) -> Seen {
    let written = dom
        .split_once("<pre id=\"verdict\">")
        .and_then(|(_, rest)| rest.split_once("</pre>"))
        .map(|(written, _)| written)
        .unwrap_or_else(|| panic!("nothing was written down"));
    let lines = || written.lines().filter(|line| !line.is_empty());
    Seen {
        frames: lines().filter(|line| line.starts_with("frame ")).count(),
        complaints: lines()
            .filter(|line| !line.starts_with("frame "))
            .map(str::to_owned)
            .collect(),
    }
}

fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)))
        .find(|file| file.is_file())
}
