//! The rules of the project, as tests.
//!
//! What can be said about the sources without compiling them is checked here:
//! sizes, heads, where `unsafe` may stand, which crate may use which,
//! words that must not stay, links that must resolve. Exceptions are data:
//! `tidy/exceptions.txt`, one line and one reason each, and an exception that
//! is no longer needed is an error.

#[path = "tidy/arrows.rs"]
mod arrows;
#[path = "tidy/modules.rs"]
mod modules;
#[path = "tidy/pages.rs"]
mod pages;
#[path = "tidy/strategies.rs"]
mod strategies;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fathom_engine::Bounds;

#[path = "tidy/experiments.rs"]
mod experiments;
#[path = "tidy/settings.rs"]
mod settings;

/// Lines a file may have.
const FILE_LINES_MAX: usize = 600;
/// Lines a function may have, its signature and closing brace included.
const FUNCTION_LINES_MAX: usize = 70;
/// Lines that fit on the one page the map is allowed.
const MAP_LINES_MAX: usize = 120;

/// Folders that are built, fetched or measured, not written.
const NOT_OURS: [&str; 8] = [
    ".git",
    ".tools",
    "target",
    "build",
    "node_modules",
    "results",
    "corpus",
    "artifacts",
];

/// What stands beside the folders.
const AT_THE_ROOT: [&str; 16] = [
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "Makefile",
    "README.md",
    "SECURITY.md",
    "build.rs",
    "deny.toml",
    "pyproject.toml",
    "rust-toolchain.toml",
];

/// A file of the project.
struct Source {
    /// Path from the project's folder, with `/`.
    path: String,
    text: String,
}

impl Source {
    fn extension(&self) -> &str {
        Path::new(&self.path)
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default()
    }

    /// The lines that are code, with their numbers from 1.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(i, line)| (i + 1, line))
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources(extensions: &[&str]) -> Vec<Source> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder)
            .expect("a folder of the project")
            .flatten()
        {
            let name = entry.file_name();
            if NOT_OURS.iter().any(|not| name == *not) {
                continue;
            }
            let path = entry.path();
            match entry.file_type().expect("a type").is_dir() {
                true => walk(&path, found),
                false => found.push(path),
            }
        }
    }
    let mut paths = Vec::new();
    walk(&root(), &mut paths);
    paths.sort();
    paths
        .into_iter()
        .filter(|p| {
            p.extension()
                .is_some_and(|e| extensions.iter().any(|x| e == *x))
        })
        .filter_map(|p| {
            let path = p.strip_prefix(root()).ok()?.to_str()?.to_owned();
            Some(Source {
                path,
                text: fs::read_to_string(p).ok()?,
            })
        })
        .collect()
}

/// The named exceptions from one rule: what is excepted, each used once.
struct Exceptions {
    rule: &'static str,
    listed: BTreeSet<String>,
    used: BTreeSet<String>,
}

impl Exceptions {
    fn of(rule: &'static str) -> Exceptions {
        let text = fs::read_to_string(root().join("tests/tidy/exceptions.txt")).expect("the file");
        let mut listed = BTreeSet::new();
        for line in text
            .lines()
            .filter(|l| !l.is_empty() && !l.starts_with('#'))
        {
            let (what, reason) = line.split_once("  ").unwrap_or((line, ""));
            assert!(
                !reason.trim().is_empty(),
                "an exception without a reason: {line}"
            );
            if let Some(what) = what.strip_prefix(rule).and_then(|w| w.strip_prefix(' ')) {
                listed.insert(what.to_owned());
            }
        }
        Exceptions {
            rule,
            listed,
            used: BTreeSet::new(),
        }
    }

    fn allow(&mut self, what: &str) -> bool {
        let allowed = self.listed.contains(what);
        if allowed {
            self.used.insert(what.to_owned());
        }
        allowed
    }

    fn check(self, mut wrong: Vec<String>) {
        let unused = self.listed.difference(&self.used);
        wrong.extend(unused.map(|what| format!("{what}: an exception nothing needs")));
        assert!(
            wrong.is_empty(),
            "rule '{}':\n  {}",
            self.rule,
            wrong.join("\n  ")
        );
    }
}

fn none_wrong(rule: &str, wrong: &[String]) {
    assert!(wrong.is_empty(), "rule '{rule}':\n  {}", wrong.join("\n  "));
}

#[test]
fn files_are_small_rooms() {
    let mut exceptions = Exceptions::of("file");
    let mut wrong = Vec::new();
    for source in sources(&["rs", "py", "c", "h", "mjs"]) {
        let lines = source.text.lines().count();
        if lines > FILE_LINES_MAX && !exceptions.allow(&source.path) {
            wrong.push(format!("{}: {lines} lines", source.path));
        }
    }
    exceptions.check(wrong);
}

#[test]
fn nothing_strays_into_the_root() {
    // A copy below a checkout (`make walks` makes one) is not the checkout: its
    // prefix is not empty, and git lists none of its files.
    let Some("\n") = git(&["rev-parse", "--show-prefix"]).as_deref() else {
        return println!("SKIPPED: not the root of a checkout of git");
    };
    let listed = git(&["ls-files", "--", ":(glob)*"]).expect("git lists what it has");
    let found: Vec<&str> = listed.lines().collect();
    assert_eq!(found, AT_THE_ROOT, "files beside the folders");
}

/// What git prints, run at the root; `None` when it fails or is not there.
fn git(arguments: &[&str]) -> Option<String> {
    let root = env!("CARGO_MANIFEST_DIR");
    let output = Command::new("git")
        .args(arguments)
        .current_dir(root)
        .output();
    let output = output.ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).expect("names in UTF-8"))
}

#[test]
fn functions_are_small() {
    let mut exceptions = Exceptions::of("function");
    let mut wrong = Vec::new();
    for source in sources(&["rs"]) {
        for (name, line, lines) in functions(&source.text) {
            let what = format!("{}::{name}", source.path);
            if lines > FUNCTION_LINES_MAX && !exceptions.allow(&what) {
                wrong.push(format!("{what} (line {line}): {lines} lines"));
            }
        }
    }
    exceptions.check(wrong);
}

/// Name, first line and number of lines of each function with a body. Relies
/// on rustfmt: a body ends at a brace in its function's own column.
fn functions(text: &str) -> Vec<(String, usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else {
            continue;
        };
        if line.ends_with('}') || line.ends_with(';') {
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        // A declaration without a body ends with a semicolon in that column.
        let end = lines[start + 1..].iter().position(|later| {
            later
                .strip_prefix(indent)
                .is_some_and(|rest| rest == "}" || !rest.starts_with(' ') && rest.ends_with(';'))
        });
        if let Some(end) = end
            && lines[start + 1 + end].ends_with('}')
        {
            found.push((name, start + 1, end + 2));
        }
    }
    found
}

fn function_name(line: &str) -> Option<String> {
    let (before, after) = line.trim_start().split_once("fn ")?;
    let qualifiers = [
        "pub", "const", "async", "unsafe", "extern", "default", "\"C\"",
    ];
    let plain = before
        .split_whitespace()
        .all(|word| qualifiers.contains(&word) || word.starts_with("pub("));
    let name: String = after
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    (plain && !name.is_empty()).then_some(name)
}

#[test]
fn every_file_has_a_head() {
    let mut wrong = Vec::new();
    for source in sources(&["rs", "py", "c", "h", "mjs"]) {
        let head = source
            .text
            .lines()
            .find(|l| !l.starts_with("#!") && !l.is_empty());
        let head = head.unwrap_or_default();
        let good = match source.extension() {
            "rs" => head.starts_with("//!"),
            "py" => head.starts_with("\"\"\""),
            _ => head.starts_with("/*") || head.starts_with("//"),
        };
        if !good {
            wrong.push(format!("{}: begins with {head:?}", source.path));
        }
    }
    none_wrong("a file says what it is", &wrong);
}

#[test]
fn a_module_stands_beside_its_folder() {
    let mut exceptions = Exceptions::of("mod");
    let mut wrong = Vec::new();
    for source in sources(&["rs"]) {
        let Some(folder) = source.path.strip_suffix("/mod.rs") else {
            continue;
        };
        // What tests share is no test, which a file beside them would be.
        if !folder.ends_with("tests/common") && !exceptions.allow(&source.path) {
            wrong.push(format!("{}: is {folder}.rs", source.path));
        }
    }
    exceptions.check(wrong);
}

#[test]
fn unsafe_stands_only_where_it_may() {
    let mut exceptions = Exceptions::of("unsafe");
    let mut wrong = Vec::new();
    for source in sources(&["rs"]) {
        let allows = source.text.contains(concat!("allow(", "unsafe_code)"));
        let is_free = source.path.starts_with("crates/sys/");
        if allows && !is_free && !exceptions.allow(&source.path) {
            wrong.push(format!("{}: allows unsafe code", source.path));
        }
    }
    exceptions.check(wrong);
}

#[test]
fn every_unsafe_block_says_why_it_is_sound() {
    /// Lines above a block in which its argument may begin.
    const NEAR: usize = 12;
    let mut wrong = Vec::new();
    for source in sources(&["rs"])
        .iter()
        .filter(|s| s.path != "tests/tidy.rs")
    {
        let lines: Vec<&str> = source.text.lines().collect();
        for (number, line) in source.code() {
            if !line.contains("unsafe {") && !line.contains("unsafe impl") {
                continue;
            }
            let near = &lines[number.saturating_sub(NEAR)..number];
            if !near.iter().any(|l| l.contains("SAFETY:")) {
                wrong.push(format!("{}:{number}", source.path));
            }
        }
    }
    none_wrong("each unsafe block has a SAFETY argument", &wrong);
    let workspace = fs::read_to_string(root().join("Cargo.toml")).expect("Cargo.toml");
    for lint in [
        "unsafe_code = \"deny\"",
        "undocumented_unsafe_blocks = \"warn\"",
    ] {
        assert!(
            workspace.contains(lint),
            "the workspace has lost its lint {lint}"
        );
    }
}

#[test]
fn a_comment_names_its_thing() {
    let words = [
        "Which", "How", "What", "Where", "Who", "Whose", "Why", "When",
    ];
    let mut wrong = Vec::new();
    for source in sources(&["rs"]) {
        for (number, line) in source.text.lines().enumerate() {
            let comment = line.trim_start().strip_prefix("/// ");
            let word = comment.and_then(|comment| comment.strip_suffix('.'));
            if word.is_some_and(|word| words.contains(&word)) {
                wrong.push(format!("{}:{}: {line}", source.path, number + 1));
            }
        }
    }
    none_wrong("a comment of one word names nothing", &wrong);
}

#[test]
fn nothing_is_left_for_later() {
    let mut exceptions = Exceptions::of("word");
    let words = [
        "TODO",
        "FIXME",
        "XXX",
        "todo!(",
        "unimplemented!(",
        "dbg!(",
        "#[ignore",
    ];
    let mut wrong = Vec::new();
    for source in sources(&["rs", "py", "c", "h", "mjs", "md", "toml", "sh"]) {
        if source.path == "tests/tidy.rs" {
            continue;
        }
        for (number, line) in source.text.lines().enumerate() {
            let what = |word: &str| format!("{} {word}", source.path);
            if let Some(word) = words.iter().find(|word| line.contains(**word))
                && !exceptions.allow(&what(word))
            {
                wrong.push(format!("{}:{}: {word}", source.path, number + 1));
            }
        }
    }
    exceptions.check(wrong);
}

#[test]
fn packages_are_named_and_not_addressed() {
    let hosts = [
        concat!("crates", ".io"),
        concat!("pypi", ".org"),
        concat!("python", "hosted"),
        concat!("npm", "js.org"),
        concat!("npm", "js.com"),
        concat!("deb.", "debian.org"),
        concat!("proxy.", "golang.org"),
        concat!("repo1.", "maven"),
    ];
    let mut wrong = Vec::new();
    for source in sources(&["rs", "py", "c", "h", "mjs", "md", "toml", "sh", "txt"]) {
        for (number, line) in source.text.lines().enumerate() {
            if let Some(host) = hosts.iter().find(|host| line.contains(**host)) {
                wrong.push(format!("{}:{}: {host}", source.path, number + 1));
            }
        }
    }
    none_wrong("packages are named, not addressed", &wrong);
}

#[test]
fn the_documents_are_there() {
    for path in [
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "docs/GLOSSARY.md",
        "docs/RATIONALE.md",
    ] {
        assert!(root().join(path).is_file(), "{path} is missing");
    }
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let lines = map.lines().count();
    assert!(
        lines <= MAP_LINES_MAX,
        "ARCHITECTURE.md is one page: {lines} lines"
    );
}

#[test]
fn every_strategy_has_one_file_and_a_line_of_documentation() {
    let text = fs::read_to_string(root().join("docs/STRATEGIES.md")).expect("docs/STRATEGIES.md");
    for bounds in Bounds::ALL {
        let file = bounds.name().replace('-', "_");
        let file = root().join(format!("crates/engine/src/bounds/{file}.rs"));
        assert!(file.is_file(), "{} is missing", file.display());
        let row = format!("| `{bounds}` |");
        let rows = text.matches(&row).count();
        assert_eq!(rows, 1, "docs/STRATEGIES.md has {rows} rows for '{bounds}'");
    }
}

#[test]
fn the_engine_does_not_know_that_it_is_measured() {
    let mut wrong = Vec::new();
    for source in sources(&["rs"])
        .iter()
        .filter(|s| s.path.starts_with("crates/engine/src/"))
    {
        for (number, line) in source.code() {
            if line.contains("bench") || line.contains("FATHOM_EVENTS") {
                wrong.push(format!("{}:{number}: {line}", source.path));
            }
        }
    }
    none_wrong("the engine does not know that it is measured", &wrong);
}

#[test]
fn the_wrong_check_is_built_for_its_test_alone() {
    let sets = concat!("rustc-cfg=", "thesis_formula");
    let who: Vec<String> = sources(&["rs", "toml", "sh", "py", "yml"])
        .into_iter()
        .filter(|source| source.text.contains(sets))
        .map(|source| source.path)
        .collect();
    assert_eq!(who, ["tests/thesis/build.rs"]);
    let engine = fs::read_to_string(root().join("crates/engine/Cargo.toml")).expect("a manifest");
    assert!(
        !engine.contains("[features]"),
        "what one package turns on, all of a build have"
    );
}

#[test]
fn every_mutation_can_be_applied() {
    let mut wrong = Vec::new();
    let rows = sources(&["toml"]).into_iter();
    for row in rows.filter(|s| s.path.starts_with("tests/mutations/")) {
        let table: toml::Table = row.text.parse().expect("a row is TOML");
        let of = |key: &str| table.get(key).and_then(|v| v.as_str()).unwrap_or_default();
        let file = fs::read_to_string(root().join(of("file"))).unwrap_or_default();
        let times = file.matches(of("from")).count();
        if of("from").is_empty() || times != 1 || of("from") == of("to") {
            wrong.push(format!("{}: `from` stands {times} times", row.path));
        }
    }
    none_wrong("a mutation changes one place", &wrong);
}

#[test]
fn the_rules_see_what_they_are_about() {
    let text = "fn a() {\n    b();\n}\n\ntrait T {\n    fn long(\n    ) -> u8;\n    fn c() {}\n}\n";
    assert_eq!(functions(text), [("a".to_owned(), 1, 3)]);
    assert_eq!(
        function_name("    pub(crate) unsafe fn x<T>() {").as_deref(),
        Some("x")
    );
    assert_eq!(function_name("let f = fn (u8)"), None);
    let manifest =
        "[dependencies]\nfathom-sys.workspace = true\n[dev-dependencies]\nfathom-x = 1\n";
    assert_eq!(arrows::used_crates(manifest), ["sys"]);
}
