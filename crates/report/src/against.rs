//! Earlier campaigns that one is set beside: copies of their samples in its folder, so that its
//! page can be made again wherever the folder is.
//!
//! What must stay true: what is kept was read as a campaign before; it is copied as it is.

use std::fs;
use std::path::{Path, PathBuf};

use fathom_record::{Campaign, Header};
use fathom_stats::Summary;

use crate::file::{LoadError, Results, write_whole};
use crate::{ReportError, pages};

/// What the names of copies begin and end with.
const BEGINS: &str = "against-";
const ENDS: &str = ".jsonl";

/// An earlier campaign.
#[derive(Clone, Debug)]
pub struct Against {
    /// Its records.
    pub campaign: Campaign,
    /// Its estimates.
    pub summary: Summary,
}

/// A file of samples, by the name of its campaign.
#[derive(Clone, Debug)]
pub struct Samples {
    name: String,
    bytes: Vec<u8>,
}

/// The samples in folders of results, each read as a campaign.
///
/// # Errors
/// [`LoadError`] of the first that is none.
pub fn read(folders: &[PathBuf]) -> Result<Vec<Samples>, LoadError> {
    let one = |folder: &PathBuf| {
        let results = Results::find(folder)?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let name = results.load()?.header.name;
        let bytes = fs::read(&results.samples).map_err(|error| LoadError::Open {
            path: results.samples,
            error,
        })?;
        Ok(Samples {
            name: name.replace(|c| !is_plain(c), "-"),
            bytes,
        })
    };
    folders.iter().map(one).collect()
}

/// Whether the page of a campaign says anything of them.
///
/// # Errors
/// [`ReportError::Alone`] if it does not, and there are some.
pub fn is_of_use(all: &[Samples], header: &Header) -> Result<(), ReportError> {
    let experiment = header.config.experiment;
    match all.is_empty() || pages::of(experiment).takes_against {
        true => Ok(()),
        false => Err(ReportError::Alone { experiment }),
    }
}

/// Copies them into a campaign's folder, each once.
///
/// # Errors
/// As [`is_of_use`]; [`ReportError::Write`] for the first that cannot be written.
pub fn keep(all: &[Samples], header: &Header, folder: &Path) -> Result<(), ReportError> {
    is_of_use(all, header)?;
    for Samples { name, bytes } in all {
        let numbered = (2..).map(|number| format!("{BEGINS}{name}-{number}{ENDS}"));
        let names = std::iter::once(format!("{BEGINS}{name}{ENDS}")).chain(numbered);
        for path in names.map(|name| folder.join(name)) {
            match fs::read(&path) {
                Ok(known) if known != *bytes => continue,
                Ok(_) => break,
                Err(_) => {
                    write_whole(&path, bytes)
                        .map_err(|error| ReportError::Write { path, error })?;
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Those that a campaign's folder holds, by name.
///
/// # Errors
/// If the folder or a copy cannot be read.
pub fn all(folder: &Path) -> Result<Vec<Against>, LoadError> {
    let failed = |error| LoadError::Open {
        path: folder.to_owned(),
        error,
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(BEGINS) && name.ends_with(ENDS) {
            paths.push(folder.join(&*name));
        }
    }
    paths.sort();
    let one = |path: &PathBuf| {
        let campaign = Results::find(path)?.load()?;
        let summary = Summary::from_campaign(&campaign);
        Ok(Against { campaign, summary })
    };
    paths.iter().map(one).collect()
}
