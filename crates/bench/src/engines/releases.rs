//! Releases of one engine, side by side: `NAME` the pinned one, `NAME@VERSION` beside it.
//!
//! What must stay true: a release is there when its installation is whole, which
//! `engines/install.py` says by the file that it writes last.

use std::{cmp::Reverse, fs, path::Path, path::PathBuf};

use fathom_record::release::order;
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

#[cfg(test)]
mod tests {
    use super::*;

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
