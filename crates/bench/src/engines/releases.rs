//! Releases of one engine, side by side: `NAME` the pinned one, `NAME@VERSION` beside it.
//!
//! What must stay true: a release is there when its installation is whole, which
//! `engines/install.py` says by the file that it writes last.

use std::{cmp::Reverse, fs, path::Path, path::PathBuf};

use serde::Deserialize;

/// Written last into an installation.
const STAMP: &str = "installed";
/// What an installation says of itself.
const RECORD: &str = "record.json";

/// The releases of an engine below a folder of installations, the newest first.
pub(super) fn installed(folder: &Path, engine: &str) -> Vec<(String, PathBuf)> {
    let beside = fs::read_dir(folder).into_iter().flatten().flatten();
    let beside = beside.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let version = name.strip_prefix(engine)?.strip_prefix('@')?;
        Some((version.to_owned(), entry.path()))
    });
    let pinned = folder.join(engine);
    let pinned = pinned_version(&pinned).map(|version| (version, pinned));
    let is_whole = |(_, folder): &(String, PathBuf)| folder.join(STAMP).is_file();
    let mut all: Vec<_> = pinned.into_iter().chain(beside).filter(is_whole).collect();
    all.sort_by_cached_key(|(version, _)| Reverse(order(version)));
    all
}

/// The release that is installed without one in its name.
fn pinned_version(folder: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Record {
        version: String,
    }
    let record = fs::read(folder.join(RECORD)).ok()?;
    let record: Record = serde_json::from_slice(&record).ok()?;
    Some(record.version)
}

/// The newest release that `asked` names, which may be the first numbers of it. What is not
/// final is only meant where it is named in full.
pub fn newest<'a>(asked: &str, versions: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let exact = versions.clone().find(|version| *version == asked);
    let is_one = |version: &&str| {
        let rest = version.strip_prefix(asked);
        rest.is_some_and(|rest| rest.starts_with('.')) && is_final(version)
    };
    exact.or_else(|| versions.filter(is_one).max_by_key(|version| order(version)))
}

/// Whether a release is a final one: numbers alone.
pub fn is_final(version: &str) -> bool {
    version.split('.').all(|part| part.parse::<u64>().is_ok())
}

/// Numbers as numbers, and what is not final before what is.
fn order(version: &str) -> (Vec<u64>, bool, String) {
    let end = version.find(|c: char| c != '.' && !c.is_ascii_digit());
    let (numbers, rest) = version.split_at(end.unwrap_or(version.len()));
    let numbers = numbers.split('.').map_while(|part| part.parse().ok());
    (numbers.collect(), rest.is_empty(), rest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_name_the_newest_and_what_is_not_final_is_named_in_full() {
        let there = [
            "4.9.1",
            "48.0.0",
            "48.0.10",
            "48.0.9",
            "48.1.0-rc.1",
            "50.0.1",
        ];
        for (asked, found) in [
            ("48", Some("48.0.10")),
            ("48.0", Some("48.0.10")),
            ("48.0.9", Some("48.0.9")),
            ("48.1.0-rc.1", Some("48.1.0-rc.1")),
            ("48.1", None),
            ("4", Some("4.9.1")),
            ("5", None),
            ("", None),
        ] {
            assert_eq!(newest(asked, there.into_iter()), found, "{asked}");
        }
    }

    #[test]
    fn what_is_not_whole_is_not_there() {
        let temp = tempfile::tempdir().unwrap();
        for (name, is_whole) in [
            ("x", true),
            ("x@1.0", true),
            ("x@2.0", false),
            ("xy@3", true),
        ] {
            let folder = temp.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join(RECORD), "{\"version\": \"1.5\"}").unwrap();
            if is_whole {
                fs::write(folder.join(STAMP), "").unwrap();
            }
        }
        let found = installed(temp.path(), "x");
        let versions: Vec<_> = found.iter().map(|(version, _)| version.as_str()).collect();
        assert_eq!(versions, ["1.5", "1.0"]);
        assert_eq!(found[0].1, temp.path().join("x"));
    }
}
