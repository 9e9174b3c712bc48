//! `fathom report` and `fathom compare` as a user meets them: what they print,
//! what they write, and their exit status.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A made-up campaign that is committed beside the crate that draws it.
fn campaign() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/report/tests/data/suite.jsonl")
}

fn fathom(words: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(words)
        .env_remove("GITHUB_ACTIONS")
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A results folder with the campaign, our engine behind guard pages slower by
/// a factor.
fn results(folder: &Path, name: &str, factor: f64) {
    let mut lines = String::new();
    for line in fs::read_to_string(campaign()).unwrap().lines() {
        let mut record: Value = serde_json::from_str(line).unwrap();
        let is_ours = record["cell"]
            .as_str()
            .is_some_and(|cell| cell.starts_with("fathom/guard/speed/"));
        if let (true, Some(ns)) = (is_ours, record["kernel_ns"].as_f64()) {
            record["kernel_ns"] = Value::from((ns * factor) as u64);
        }
        lines.push_str(&record.to_string());
        lines.push('\n');
    }
    let folder = folder.join(name);
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("samples.jsonl"), lines).unwrap();
}

#[test]
fn a_report_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    results(folder.path(), "run", 1.0);
    let table = fathom(&["report", "run"], folder.path());
    assert!(table.status.success());
    let table = text(&table.stdout);
    assert!(
        table.contains("fathom guard is the fastest exact sandbox"),
        "{table}"
    );
    assert!(!table.contains('\x1b'), "colour went into a pipe");
    let page = fathom(&["report", "run", "--format", "html"], folder.path());
    assert_eq!(text(&page.stdout), "run/report.html\n");
    let written = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(written.starts_with("<!doctype html>") && written.trim_end().ends_with("</html>"));
    for format in ["markdown", "csv"] {
        let words = ["report", "run", "--format", format, "--out", "file"];
        assert!(fathom(&words, folder.path()).status.success());
        let printed = fathom(&words[..4], folder.path()).stdout;
        assert_eq!(fs::read(folder.path().join("file")).unwrap(), printed);
    }
}

/// What each experiment adds to the general report: files, and a line of one of them.
const PAGES: [(&str, &[&str], &str); 11] = [
    ("suite", &[], ""),
    ("module", &[], ""),
    (
        "growth",
        &["growth.md", "growth.html", "growth.csv"],
        "grow-256-by-16,1,fathom guard,",
    ),
    (
        "compile",
        &["compile.md", "compile.html", "compile.csv"],
        "lua,fathom guard --opt none,",
    ),
    (
        "startup",
        &["startup.md", "startup.html", "startup.csv"],
        "large-cached,1,fathom guard+pool,",
    ),
    ("bounds", &["bounds.md", "bounds.html"], "what users pay"),
    (
        "scaling",
        &["scaling.md", "scaling.html", "scaling.csv"],
        "fathom trap",
    ),
    (
        "libsodium",
        &["library.md", "library.html", "library.csv"],
        "fathom auto",
    ),
    (
        "libsodium-2023",
        &["library.md", "libsodium-runtimes-2023.md"],
        "fathom auto",
    ),
    (
        "leaps-and-bounds",
        &["leaps-and-bounds.md", "leaps-and-bounds-1.svg"],
        "not run: no copy of SPEC CPU was given",
    ),
    (
        "leaps-and-bounds-spec",
        &["leaps-and-bounds.md", "leaps-and-bounds-1.svg"],
        "525.x264_r: absent",
    ),
];

/// A folder that is no checkout and in none, with a file of format 1 of each
/// experiment, as it was written then.
#[test]
fn every_page_of_every_experiment_is_made_of_its_file_alone() {
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/record/tests/golden/old");
    for (name, files, line) in PAGES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        fs::copy(
            old.join(format!("{name}.jsonl")),
            path.join("samples.jsonl"),
        )
        .unwrap();
        let output = fathom(&["report", ".", "--pages", "--out", "pages"], path);
        assert!(output.status.success(), "{name}: {}", text(&output.stderr));
        let said = text(&output.stdout);
        let mut held = String::new();
        for file in ["report.html", "report.md", "report.csv"]
            .iter()
            .chain(files)
        {
            let written = path.join("pages").join(file);
            assert!(said.contains(&format!("pages/{file}\n")), "{said}");
            held.push_str(&fs::read_to_string(written).unwrap());
        }
        assert!(held.contains(line), "{name}: no {line} in {held}");
        assert_eq!(said.contains("leaps"), name.starts_with("leaps"), "{said}");
    }
}

#[test]
fn bad_input_is_one_line_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::create_dir(path.join("empty")).unwrap();
    fs::write(path.join("nothing"), "").unwrap();
    fs::write(
        path.join("newer"),
        "{\"record\":\"campaign\",\"format\":7}\n",
    )
    .unwrap();
    for (what, why) in [
        ("gone", "gone: No such file or directory"),
        ("empty", "no samples.jsonl in this folder"),
        ("nothing", "the file has no whole first line"),
        ("newer", "written in format 7"),
    ] {
        for words in [
            vec!["report", what, "--out", "out.html", "--format", "html"],
            vec!["compare", what, what],
        ] {
            let output = fathom(&words, path);
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{words:?}: {said}");
            assert!(said.starts_with("fathom: ") && said.contains(why), "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
    }
    assert!(!path.join("out.html").exists());
}

#[test]
fn what_a_break_left_is_reported_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(campaign()).unwrap();
    fs::write(folder.path().join("cut"), &whole[..whole.len() / 2]).unwrap();
    let output = fathom(&["report", "cut"], folder.path());
    assert!(output.status.success());
    let said = text(&output.stdout);
    assert!(said.contains("ends in an incomplete record"), "{said}");
}

#[test]
fn a_slowdown_decides_the_exit_status_and_noise_does_not() {
    let folder = tempfile::tempdir().unwrap();
    results(folder.path(), "before", 1.0);
    results(folder.path(), "slower", 1.05);
    for (words, status, last) in [
        (vec!["before", "before"], 0, "accepted"),
        // Nothing at all could not have been seen, whatever there is.
        (
            vec!["before", "before", "--threshold", "0%"],
            4,
            "too noisy to say",
        ),
        (vec!["before", "slower"], 3, "refused, unconfirmed: "),
        (vec!["before", "slower", "--no-confirm"], 1, "refused: "),
        (
            vec!["before", "slower", "--threshold", "20%"],
            0,
            "accepted",
        ),
        (vec!["slower", "before"], 0, "accepted"),
    ] {
        let words: Vec<&str> = ["compare"].into_iter().chain(words).collect();
        let output = fathom(&words, folder.path());
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {said}");
        let verdict = said.lines().last().unwrap_or_default();
        assert!(verdict.starts_with(last), "{words:?}: {verdict}");
    }
}

/// A JUnit file as a parser of XML reads it: failures and skipped cases by name, with their texts.
const READ: &str = r#"
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
for what in ("failure", "skipped"):
    cases = [case for case in root.iter("testcase") if case.find(what) is not None]
    count = {"failure": "failures"}.get(what, what)
    assert int(root.get(count)) == len(cases) == sum(int(s.get(count)) for s in root), what
    for case in cases:
        print(what, repr(case.get("name")), case.find(what).get("message"))
print(root.get("tests"), root.get("name"))
assert all(float(case.get("time", "1")) > 0 for case in root.iter("testcase"))
"#;

/// Campaigns `plain` and `odd`, which has a name that means something elsewhere; and both slower.
fn named_plainly_and_oddly() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // As JSON has it, and as ids do.
    let hostile = "]]><b>&\"'\u{1}\u{ffff}\n::error::%0A";
    let in_json = Value::from(hostile).to_string();
    let encoded = |byte: u8| match byte.is_ascii_alphanumeric() {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02x}"),
    };
    let in_ids: String = hostile.bytes().map(encoded).collect();
    for (name, factor) in [("plain", 1.0), ("plain-slower", 1.05)] {
        results(at, name, factor);
        let lines = fs::read_to_string(at.join(name).join("samples.jsonl")).unwrap();
        let other = name.replace("plain", "odd");
        fs::create_dir(at.join(&other)).unwrap();
        let lines = lines.replace("\"cholesky\"", &in_json);
        let lines = lines.replace("cholesky", &in_ids);
        fs::write(at.join(&other).join("samples.jsonl"), lines).unwrap();
    }
    folder
}

#[test]
fn a_ci_system_is_told_what_the_terminal_says_whatever_names_there_are() {
    let folder = named_plainly_and_oddly();
    let at = folder.path();
    let told = |words: &[&str], status: i32| {
        let words: Vec<&str> = ["compare", "--no-confirm", "--junit", "found.xml"]
            .iter()
            .chain(words)
            .copied()
            .collect();
        let output = fathom(&words, at);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {said}");
        let mut read = Command::new("python3");
        let read = read.args(["-c", READ, "found.xml"]).current_dir(at);
        let read = read.env("PYTHONUTF8", "1").output().unwrap();
        assert!(read.status.success(), "{}", text(&read.stderr));
        (text(&read.stdout), said, text(&output.stdout))
    };
    let (read, said, _) = told(&["plain", "plain-slower", "--annotations"], 1);
    assert!(
        read.contains("failure 'cholesky' slower, past the threshold: +"),
        "{read}"
    );
    assert!(read.contains(" plain-slower against plain"), "{read}");
    let first = said.lines().next().unwrap_or_default();
    let title = "::error title=fathom compare%3A slower::";
    assert!(first.starts_with(title) && first.contains(" %25"), "{said}");
    let (read, said, printed) = told(&["odd", "odd-slower", "--annotations", "--json"], 1);
    let name = r#"failure ']]><b>&"\'"#;
    let name = format!("{name}\u{fffd}\u{fffd} ::error::%0A");
    assert!(read.contains(&name), "{read}");
    assert!(said.lines().all(|line| line.starts_with(title)), "{said}");
    assert!(printed.starts_with('{'), "JSON stays JSON");
    let (read, said, _) = told(&["plain", "plain"], 0);
    assert!(!read.contains("failure") && said.is_empty(), "{read}{said}");
    let (read, said, _) = told(&["plain", "plain", "--threshold", "0%", "--annotations"], 4);
    assert!(
        read.contains("skipped ") && !read.contains("failure"),
        "{read}"
    );
    assert!(
        said.starts_with("::warning title=fathom compare%3A too noisy to say::"),
        "{said}"
    );
    fs::remove_file(at.join("found.xml")).unwrap();
    let output = fathom(
        &["compare", "plain", "plain", "--junit", "no/found.xml"],
        at,
    );
    let said = text(&output.stderr);
    assert_eq!(
        said,
        "fathom: --junit no/found.xml: there is no such folder\n"
    );
    assert_eq!(
        (output.status.code(), text(&output.stdout).as_str()),
        (Some(1), "")
    );
}

#[test]
fn campaigns_of_other_things_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    results(folder.path(), "before", 1.0);
    let module = campaign().with_file_name("module.jsonl");
    let words = ["compare", "before", &*module.to_string_lossy()];
    let output = fathom(&words, folder.path());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("have no cell in common"), "{said}");
    assert!(
        said.contains("polybench") && said.contains(".wasm"),
        "{said}"
    );
    assert_eq!(
        (text(&output.stdout).as_str(), said.lines().count()),
        ("", 1)
    );
}

#[test]
fn a_dash_is_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    results(folder.path(), "run", 1.0);
    for format in ["html", "markdown", "csv", "terminal"] {
        let words = ["report", "run", "--format", format, "--out", "-"];
        let output = fathom(&words, folder.path());
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(output.stdout.len() > 1000, "{format}");
        assert!(!folder.path().join("-").exists(), "{format}");
    }
    let pages = fathom(&["report", "run", "--pages", "--out", "-"], folder.path());
    assert!(!pages.status.success() && !folder.path().join("-").exists());
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(["report", "--format", "csv"])
        .arg(campaign())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn every_sample_and_where_it_comes_from_is_a_line() {
    let folder = tempfile::tempdir().unwrap();
    results(folder.path(), "run", 1.0);
    let samples = fathom(&["report", "run", "--samples", "csv"], folder.path());
    let samples = text(&samples.stdout);
    let mut lines = samples.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert!(lines.clone().count() > 1000, "{}", lines.count());
    let kernel = head.iter().position(|name| *name == "kernel_ns").unwrap();
    for line in lines {
        let field = line.split(',').nth(kernel).unwrap();
        assert!(field.parse::<u64>().is_ok(), "{line}");
    }
    let report = text(&fathom(&["report", "run", "--format", "csv"], folder.path()).stdout);
    let report_head: Vec<&str> = report.lines().next().unwrap().split(',').collect();
    let version = report_head
        .iter()
        .position(|name| *name == "engine_version");
    let ours = report
        .lines()
        .find(|line| line.starts_with("fathom/guard/"));
    let ours: Vec<&str> = ours.unwrap().split(',').collect();
    assert!(!ours[version.unwrap()].is_empty(), "{ours:?}");
    // Each column of both is explained, whatever is measured.
    let explained = text(&fathom(&["report", "--columns"], folder.path()).stdout);
    for name in head.iter().chain(&report_head) {
        let is_there = |line: &str| line.split_whitespace().next() == Some(*name);
        assert!(explained.lines().any(is_there), "{name}: {explained}");
    }
    let json = text(&fathom(&["report", "run", "--json"], folder.path()).stdout);
    let json: Value = serde_json::from_str(&json).unwrap();
    let rows = json["groups"][0]["rows"].as_array().unwrap();
    let ours = rows.iter().find(|row| row["engine"] == "fathom").unwrap();
    assert!(ours["version"].is_string(), "{ours}");
}

#[test]
fn every_sample_is_a_row_of_a_parquet_file() {
    let folder = tempfile::tempdir().unwrap();
    results(folder.path(), "run", 1.0);
    let csv = fathom(&["report", "run", "--samples", "csv"], folder.path());
    let lines = text(&csv.stdout).lines().count() - 1;
    let piped = ["report", "run", "--samples", "parquet", "--out", "-"];
    let piped = fathom(&piped, folder.path()).stdout;
    let to_file = [
        "report",
        "run",
        "--samples",
        "parquet",
        "--out",
        "s.parquet",
    ];
    assert_eq!(text(&fathom(&to_file, folder.path()).stdout), "s.parquet\n");
    let file = std::fs::read(folder.path().join("s.parquet")).unwrap();
    assert_eq!(file, piped);
    assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
    // Eight bytes of each time at least.
    assert!(file.len() > 8 * lines, "{} for {lines}", file.len());
    let nowhere = fathom(&["report", "run", "--samples", "parquet"], folder.path());
    assert_eq!(nowhere.status.code(), Some(1));
    assert_eq!(
        text(&nowhere.stderr),
        "fathom: --samples parquet is no text: name a file by --out FILE\n"
    );
}

#[test]
fn pages_have_pictures_as_files() {
    let folder = tempfile::tempdir().unwrap();
    results(folder.path(), "run", 1.0);
    let output = fathom(
        &["report", "run", "--pages", "--out", "pages"],
        folder.path(),
    );
    let written = text(&output.stdout);
    assert!(
        written.lines().any(|line| line == "pages/ratios-1.svg"),
        "{written}"
    );
    let picture = fs::read_to_string(folder.path().join("pages/ratios-1.svg")).unwrap();
    assert!(
        picture.starts_with("<svg ") && picture.contains("fathom guard"),
        "{picture}"
    );
}

#[test]
fn nothing_is_a_finding_below_five_rounds() {
    let folder = tempfile::tempdir().unwrap();
    results(folder.path(), "run", 1.0);
    let file = folder.path().join("run/samples.jsonl");
    let lines = fs::read_to_string(&file).unwrap();
    let is_early = |line: &&str| {
        let record: Value = serde_json::from_str(line).unwrap();
        record["round"].as_u64().is_none_or(|round| round < 1)
    };
    let early: Vec<&str> = lines.lines().filter(is_early).collect();
    fs::write(&file, early.join("\n") + "\n").unwrap();
    let shown = text(&fathom(&["report", "run"], folder.path()).stdout);
    let first = shown.lines().next().unwrap();
    assert!(
        first.ends_with("too few rounds to say anything; it takes 5."),
        "{first}"
    );
    for voice in [
        "What checks cost",
        "Fastest",
        "came out first",
        "is the fastest",
        "resolve",
    ] {
        assert!(!shown.contains(voice), "{voice}: {shown}");
    }
    // One line for each group of rows, and not a cell of a table each.
    assert!(shown.matches("too few").count() <= 4, "{shown}");
}

#[test]
fn one_reason_of_an_engine_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    results(folder.path(), "run", 1.0);
    let file = folder.path().join("run/samples.jsonl");
    let mut lines = fs::read_to_string(&file).unwrap();
    let header: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let cells = header["cells"].as_array().unwrap();
    assert!(cells.iter().any(|cell| cell["engine"] == "wasm3"));
    for workload in ["cholesky", "jacobi-2d"] {
        let cell = format!("wasm3/trap/speed/polybench:{workload}/wasm-simd/medium/t1");
        let record = serde_json::json!({"record": "failure", "cell": cell, "round": 1,
            "kind": "unsupported", "message": "needs garbage collection"});
        lines.push_str(&format!("{record}\n"));
    }
    fs::write(&file, lines).unwrap();
    let shown = text(&fathom(&["report", "run"], folder.path()).stdout);
    let about = shown.lines().filter(|line| line.contains("needs garbage"));
    assert_eq!(about.count(), 1, "{shown}");
    assert!(shown.contains("and 1 more cell of wasm3"), "{shown}");
}
