//! Which campaigns there are in some folders.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fathom_record::Header;
use fathom_record::campaign::FILE_NAME;

use super::HistoryError;
use crate::file::{LoadError, Results};

/// A campaign that is there. Its samples are not read yet: those of a year do not fit into memory.
#[derive(Debug)]
pub struct Found {
    /// Where it is.
    pub results: Results,
    /// Its first line.
    pub header: Header,
}

/// Finds the campaigns of folders, each a results folder or one that holds some, the earliest
/// first. A folder that is named twice counts once.
///
/// # Errors
/// A folder without a campaign, one that cannot be read, one campaign in two places.
pub fn find(folders: &[PathBuf]) -> Result<Vec<Found>, HistoryError> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for folder in folders {
        for results in inside(folder)? {
            let path = fs::canonicalize(&results.samples);
            if seen.insert(path.unwrap_or_else(|_| results.samples.clone())) {
                let header = results.header()?;
                all.push(Found { results, header });
            }
        }
    }
    // The same second on two machines: by what is always the same.
    all.sort_by_key(|one| identity(&one.header));
    for alike in all.chunk_by(|one, other| identity(&one.header) == identity(&other.header)) {
        if let Some((one, other)) = twins(alike)? {
            return Err(HistoryError::Twice {
                one: one.results.folder.display().to_string(),
                other: other.results.folder.display().to_string(),
                name: one.header.name.clone(),
                date: one.header.date.clone(),
            });
        }
    }
    Ok(all)
}

/// Two of them that are one campaign. Their headers do not tell: a campaign of a line ends within
/// the second in which the next one begins. Samples are only ever appended to, so a copy, also an
/// older one, is how the file begins.
fn twins(alike: &[Found]) -> Result<Option<(&Found, &Found)>, HistoryError> {
    for (at, other) in alike.iter().enumerate() {
        for one in &alike[..at] {
            if one.results.begins_as(&other.results)? {
                return Ok(Some((one, other)));
            }
        }
    }
    Ok(None)
}

/// When, where and by which orders a campaign measured what.
fn identity(header: &Header) -> (String, String, u64, String, Option<u32>) {
    (
        header.date.clone(),
        header.host.fingerprint(),
        header.config.seed,
        header.name.clone(),
        header.config.shard.as_ref().map(|shard| shard.index),
    )
}

/// The campaign of a folder or a file, or those of the folders in it, by name.
fn inside(folder: &Path) -> Result<Vec<Results>, HistoryError> {
    let open = |error| LoadError::Open {
        path: folder.to_owned(),
        error,
    };
    match Results::find(folder) {
        Err(LoadError::NoSamples { .. }) => {}
        found => return Ok(vec![found?]),
    }
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(open)? {
        let path = entry.map_err(open)?.path();
        // What is there but no file is told by `find`.
        if fs::symlink_metadata(path.join(FILE_NAME)).is_ok() {
            paths.push(path);
        }
    }
    paths.sort();
    let all: Vec<Results> = paths
        .iter()
        .map(|path| Results::find(path))
        .collect::<Result<_, _>>()?;
    match all.is_empty() {
        true => Err(HistoryError::Empty {
            folder: folder.display().to_string(),
        }),
        false => Ok(all),
    }
}
