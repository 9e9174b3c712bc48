//! Where things are: the folder with `engines/`, `workloads/` and `.tools/`.
//!
//! ```text
//!  --root, FATHOM_HOME ─▶ exactly that folder
//!  else a checkout around the working folder, or around this executable,
//!       if this user may write there
//!  else the user's data folder, into which what this program carries is unpacked
//! ```
//!
//! What must stay true: a folder that was named is that one or an error; nothing is
//! unpacked unless a command needs engines or suites.

mod kit;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat};

pub use kit::{Kit, KitError};

/// Names the folder when it is not to be found by looking around.
pub const HOME_ENV: &str = "FATHOM_HOME";

/// The folder Fathom's data lives in; every other path is made from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
    is_of_user: bool,
}

/// Where a home is looked for.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The folder that is it, where one was named.
    pub named: Option<PathBuf>,
    /// What the program carries for where there is none.
    pub kit: Option<Kit>,
    /// The folder of the user's data.
    pub data: Option<PathBuf>,
}

/// A home that was found, and what the user should know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The home.
    pub home: Home,
    /// A line each.
    pub warnings: Vec<String>,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// A folder was named that is none.
    #[error("{}: not a checkout of Fathom: it has no engines/ and workloads/", .0.display())]
    NotOne(PathBuf),
    /// The data folder cannot be used.
    #[error(transparent)]
    Kit(#[from] KitError),
}

impl Search {
    /// As the environment has it: [`HOME_ENV`] unless a folder is named, and the data
    /// folder of the XDG base directories.
    pub fn new(named: Option<PathBuf>, kit: Option<Kit>) -> Search {
        let root = || env::var_os(HOME_ENV).filter(|root| !root.is_empty());
        Search {
            named: named.or_else(|| root().map(PathBuf::from)),
            kit,
            data: data_folder(env::var_os("XDG_DATA_HOME"), env::var_os("HOME")),
        }
    }

    /// Looks for a home for a command given in this folder. None where there is nothing
    /// around and no data folder: engines and suites are then not to be had, but everything
    /// else works.
    ///
    /// # Errors
    /// [`HomeError`], one line.
    pub fn from(&self, folder: &Path) -> Result<Option<Found>, HomeError> {
        if let Some(named) = &self.named {
            let root = folder.join(named);
            let home = Home::at(&root).ok_or(HomeError::NotOne(root))?;
            return Ok(Some(Found {
                home,
                warnings: Vec::new(),
            }));
        }
        let beside = || Home::above(&env::current_exe().ok()?);
        let around = Home::above(folder).or_else(beside);
        let mut warnings = Vec::new();
        match around {
            Some(home) if is_writable(home.root()) => Ok(Some(Found { home, warnings })),
            Some(home) => {
                let found = match self.unpacked() {
                    Ok(Some(found)) => found,
                    // Neither is the data folder: what is installed here can be run.
                    Ok(None) | Err(HomeError::Kit(KitError::System { .. })) => {
                        return Ok(Some(Found { home, warnings }));
                    }
                    Err(error) => return Err(error),
                };
                warnings.push(format!(
                    "fathom: {} is not yours to write to: engines and workloads are those in {}",
                    home.root().display(),
                    found.home.root().display()
                ));
                warnings.extend(found.warnings);
                Ok(Some(Found { warnings, ..found }))
            }
            None => self.unpacked(),
        }
    }

    /// The home in the data folder, with what the program carries.
    fn unpacked(&self) -> Result<Option<Found>, HomeError> {
        let (Some(kit), Some(data)) = (&self.kit, &self.data) else {
            return Ok(None);
        };
        let (root, warning) = kit.unpacked(data)?;
        Ok(Some(Found {
            home: Home {
                root,
                is_of_user: true,
            },
            warnings: warning.into_iter().collect(),
        }))
    }
}

impl Home {
    /// The home at exactly this folder, if it is one.
    pub fn at(root: &Path) -> Option<Self> {
        let is_home = root.join("engines").is_dir() && root.join("workloads").is_dir();
        is_home.then(|| Self {
            root: root.to_owned(),
            is_of_user: false,
        })
    }

    fn above(start: &Path) -> Option<Self> {
        start.ancestors().find_map(Self::at)
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether it is the one in the user's data folder: what is missing there is fetched
    /// and built without a checkout's `make`.
    pub fn is_of_user(&self) -> bool {
        self.is_of_user
    }

    /// One folder per outside engine.
    pub fn engines(&self) -> PathBuf {
        self.root.join("engines")
    }

    /// The folder of a suite, which holds its `suite.toml`.
    pub fn suite(&self, name: &str) -> PathBuf {
        self.root.join("workloads").join(name)
    }

    /// The names of its suites, in order.
    pub fn suites(&self) -> Vec<String> {
        let folders = std::fs::read_dir(self.root.join("workloads"));
        let folders = folders.into_iter().flatten().flatten();
        let suites = folders.filter(|folder| folder.path().join("suite.toml").is_file());
        let names = suites.filter_map(|folder| folder.file_name().into_string().ok());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// What was installed for the project alone.
    pub fn tools(&self) -> PathBuf {
        self.root.join(".tools")
    }
}

/// Where campaigns are kept that are measured from this folder: in the checkout around
/// it, or else in the folder itself; where neither may be written to, in the data folder.
pub fn results(home: Option<&Home>, folder: &Path, data: Option<&Path>) -> PathBuf {
    const RESULTS: &str = "results";
    let around = home.filter(|home| folder.starts_with(home.root()));
    let usual = around.map_or(folder, Home::root).join(RESULTS);
    match data {
        Some(data) if !is_writable(&usual) => data.join(RESULTS),
        _ => usual,
    }
}

/// The data folder of the XDG base directories for Fathom; none where the user
/// has no folder.
fn data_folder(xdg: Option<OsString>, user: Option<OsString>) -> Option<PathBuf> {
    // A relative one is to be ignored (basedir-spec).
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let base = xdg
        .and_then(absolute)
        .or_else(|| Some(user.and_then(absolute)?.join(".local/share")))?;
    Some(base.join("fathom"))
}

/// Whether this user may make files in a folder, or make the folder.
fn is_writable(folder: &Path) -> bool {
    let there = folder.ancestors().find(|folder| folder.exists());
    there.is_some_and(|folder| {
        accessat(
            CWD,
            folder,
            Access::WRITE_OK | Access::EXEC_OK,
            AtFlags::EACCESS,
        )
        .is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkout() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for folder in ["engines/node", "workloads/polybench"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        root
    }

    #[test]
    fn a_home_is_found_from_any_folder_in_it() {
        let nowhere = tempfile::tempdir().unwrap();
        assert_eq!(Home::above(nowhere.path()), None);
        let root = checkout();
        let found = Home::above(&root.path().join("workloads/polybench")).unwrap();
        assert_eq!(found.root(), root.path());
        assert_eq!(
            found.suite("polybench"),
            root.path().join("workloads/polybench")
        );
    }

    #[test]
    fn a_named_folder_is_that_one_or_an_error() {
        let (root, other) = (checkout(), tempfile::tempdir().unwrap());
        let search = |named: &Path| Search {
            named: Some(named.to_owned()),
            ..Search::default()
        };
        let found = search(root.path()).from(other.path()).unwrap().unwrap();
        assert_eq!(found.home.root(), root.path());
        let error = search(other.path()).from(root.path()).unwrap_err();
        assert!(error.to_string().contains("not a checkout"), "{error}");
    }

    #[test]
    fn outside_of_every_checkout_the_kit_is_unpacked_once() {
        let (nowhere, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let kit = Kit::packed("1.0", &[("engines/x", b"X"), ("workloads/y", b"Y")]);
        let search = Search {
            named: None,
            kit: Some(kit),
            data: Some(data.path().join("fathom")),
        };
        let found = search.unpacked().unwrap().unwrap();
        assert!(found.home.is_of_user());
        assert!(
            found.warnings[0].contains("unpacked"),
            "{:?}",
            found.warnings
        );
        assert_eq!(std::fs::read(found.home.engines().join("x")).unwrap(), b"X");
        assert!(found.home.tools().is_dir());
        let again = search.unpacked().unwrap().unwrap();
        assert_eq!((again.home, again.warnings.len()), (found.home, 0));
        // Results are where the command was given.
        let home = Some(&search.unpacked().unwrap().unwrap().home).cloned();
        let here = results(home.as_ref(), nowhere.path(), search.data.as_deref());
        assert_eq!(here, nowhere.path().join("results"));
    }

    #[test]
    fn results_are_in_the_checkout_around_the_folder() {
        let root = checkout();
        let home = Home::at(root.path()).unwrap();
        let inside = root.path().join("workloads");
        assert_eq!(
            results(Some(&home), &inside, None),
            root.path().join("results")
        );
        let elsewhere = Path::new("/elsewhere");
        assert_eq!(
            results(Some(&home), elsewhere, None),
            elsewhere.join("results")
        );
    }

    #[test]
    fn the_data_folder_is_xdgs() {
        let os = |text: &str| Some(OsString::from(text));
        let fathom = |text: &str| Some(PathBuf::from(text));
        assert_eq!(data_folder(os("/d"), os("/h")), fathom("/d/fathom"));
        let usual = fathom("/h/.local/share/fathom");
        assert_eq!(data_folder(os("relative"), os("/h")), usual);
        assert_eq!(data_folder(None, os("/h")), usual);
        assert_eq!(data_folder(None, None), None);
    }
}
