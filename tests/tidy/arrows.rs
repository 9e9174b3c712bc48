//! Which of our crates may use which: those of the workspace, and those outside.

use std::fs;

use super::{none_wrong, root, sources};

/// Which of our crates each crate may use.
const ARROWS: [(&str, &[&str]); 13] = [
    ("sys", &[]),
    ("record", &[]),
    ("rewrite", &[]),
    ("engine", &["sys"]),
    ("wasi", &["engine"]),
    ("generated", &["engine", "wasi"]),
    ("stats", &["record"]),
    ("report", &["stats", "record"]),
    ("runner", &["sys", "record"]),
    ("replay", &["rewrite"]),
    ("trace", &["sys", "rewrite"]),
    ("bench", &["engine", "wasi", "sys", "record", "runner"]),
    (
        ".",
        &[
            "sys", "engine", "wasi", "record", "bench", "stats", "report", "trace", "rewrite",
            "replay",
        ],
    ),
];

#[test]
fn crates_use_only_what_the_map_allows() {
    let mut wrong = Vec::new();
    let folders = fs::read_dir(root().join("crates"))
        .expect("crates")
        .flatten();
    let mut names: Vec<String> = folders
        .map(|f| f.file_name().to_string_lossy().into_owned())
        .collect();
    names.push(".".into());
    for name in names {
        let Some((_, allowed)) = ARROWS.iter().find(|(n, _)| *n == name) else {
            wrong.push(format!("crates/{name}: not on the map"));
            continue;
        };
        let folder = if name == "." {
            root()
        } else {
            root().join("crates").join(&name)
        };
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        for used in used_crates(&manifest) {
            if !allowed.contains(&used.as_str()) {
                wrong.push(format!("{name} → {used}"));
            }
        }
        if !manifest.contains("[lints]\nworkspace = true") {
            wrong.push(format!("{name}: does not take the workspace's lints"));
        }
    }
    none_wrong("arrows between crates", &wrong);
}

/// The same of the workspaces that are outside, by their folders.
const OUTSIDE: [(&str, &[&str]); 9] = [
    (
        "fuzz",
        &["engine", "generated", "record", "replay", "trace"],
    ),
    ("sql", &["engine", "guest"]),
    ("sql/guest", &["engine"]),
    ("sql/cluster", &["sql"]),
    ("sql/suite", &["bench", "guest", "runner", "sql", "stats"]),
    ("engines/wasmer", &["runner"]),
    ("engines/wasmi", &["runner"]),
    ("engines/wasmtime48", &["runner"]),
    ("engines/wasmtime/beside", &["engine"]),
];

#[test]
fn workspaces_outside_use_only_what_the_map_allows() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for manifest in sources(&["toml"]) {
        let Some(folder) = manifest.path.strip_suffix("/Cargo.toml") else {
            continue;
        };
        let used = used_crates(&manifest.text);
        let is_outside = ["fuzz", "sql", "engines"]
            .iter()
            .any(|module| folder.starts_with(module));
        let allowed = OUTSIDE.iter().find(|(own, _)| *own == folder);
        seen += usize::from(allowed.is_some());
        match allowed {
            Some((_, allowed)) => {
                let others = used.iter().filter(|used| !allowed.contains(&used.as_str()));
                wrong.extend(others.map(|used| format!("{folder} → {used}")));
            }
            None if is_outside && !used.is_empty() => {
                wrong.push(format!("{folder}: not on the map"));
            }
            None => {}
        }
        if folder == "sql/guest" && manifest.text.contains("datafusion") {
            wrong.push("sql/guest → a query engine".to_owned());
        }
    }
    assert_eq!(
        seen,
        OUTSIDE.len(),
        "a workspace is not where the map has it"
    );
    none_wrong("arrows from outside", &wrong);
}

/// Our crates in the `[dependencies]` of a manifest, without their prefix.
pub(super) fn used_crates(manifest: &str) -> Vec<String> {
    let mut inside = false;
    let mut used = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line == "[dependencies]";
        } else if let Some(rest) = line.strip_prefix("fathom-").filter(|_| inside) {
            used.push(rest.chars().take_while(|c| c.is_alphanumeric()).collect());
        }
    }
    used
}
