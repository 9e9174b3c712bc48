//! docs/EMBEDDING.md says what is so: its programs are those of `examples`, which run, and
//! a program written for wasmtime is ported by the lines that it names.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../examples/hello.rs"]
mod hello;
#[path = "../examples/host_functions.rs"]
mod host_functions;
#[path = "../examples/limits.rs"]
mod limits;
#[path = "../examples/pool.rs"]
mod pool;
#[path = "draft/fathom.rs"]
mod ported;
#[path = "../examples/wasi_output.rs"]
mod wasi_output;

/// Lines of a program for wasmtime that may have to change.
const CHANGED_MAX: usize = 5;

#[test]
fn the_programs_run() {
    hello::main().unwrap();
    host_functions::main().unwrap();
    wasi_output::main().unwrap();
    limits::main().unwrap();
    pool::main().unwrap();
}

#[test]
fn the_ported_draft_runs() {
    ported::main().unwrap();
}

fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = here().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The blocks of a language, with what comes behind its name.
fn blocks<'p>(page: &'p str, language: &str) -> Vec<(&'p str, &'p str)> {
    let start = format!("\n```{language}");
    let mut found = Vec::new();
    let mut rest = page;
    while let Some((_, behind)) = rest.split_once(&start) {
        let (head, body) = behind.split_once('\n').expect("a line ends");
        let (body, end) = body.split_once("\n```").expect("a block ends");
        found.push((head.trim(), body));
        rest = end;
    }
    found
}

/// Each program of the folder is on the page as it is, and no other.
#[test]
fn the_page_has_the_programs() {
    let page = read("../../docs/EMBEDDING.md");
    let blocks = blocks(&page, "rust");
    let mut names: Vec<String> = fs::read_dir(here().join("examples"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut shown: Vec<&str> = blocks.iter().map(|(name, _)| *name).collect();
    shown.sort_unstable();
    let expected: Vec<String> = names
        .iter()
        .map(|name| format!("crates/wasi/examples/{name}"))
        .collect();
    assert_eq!(shown, expected);
    for (name, body) in blocks {
        let file = read(Path::new("../..").join(name));
        assert_eq!(body, file.trim_end(), "{name} and the page differ");
    }
}

/// The same number of lines, few of them others, and those are on the page.
#[test]
fn a_draft_for_wasmtime_is_ported_by_a_few_lines() {
    let [draft, ported] = ["wasmtime", "fathom"].map(|name| read(format!("tests/draft/{name}.rs")));
    assert_eq!(draft.lines().count(), ported.lines().count());
    let pairs = draft.lines().zip(ported.lines());
    let changed: Vec<_> = pairs.filter(|(before, after)| before != after).collect();
    assert!(changed.len() <= CHANGED_MAX, "{changed:#?}");
    let lines = changed
        .iter()
        .flat_map(|(before, after)| [format!("-{before}"), format!("+{after}")]);
    let diff: Vec<String> = lines.collect();
    let page = read("../../docs/EMBEDDING.md");
    let blocks = blocks(&page, "diff");
    assert_eq!(blocks.len(), 1);
    assert_eq!(blocks[0].1, diff.join("\n"));
    for name in [
        "Engine",
        "Module",
        "Linker",
        "Store",
        "Caller",
        "Val",
        "typed_func",
        "WasiCtxBuilder",
    ] {
        assert!(draft.contains(name), "the draft has no {name}");
    }
}
