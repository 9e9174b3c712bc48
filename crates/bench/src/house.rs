//! Where things are: the folder with `engines/`, `workloads/`, `.tools/` and
//! `results/`.

use std::path::{Path, PathBuf};

/// Names the folder when it is not found by looking around.
const HOUSE_ENV: &str = "FATHOM_HOME";

/// The folder Fathom's data lives in; every other path is made from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct House {
    root: PathBuf,
}

impl House {
    /// Looks in `FATHOM_HOME`, then upwards from the working folder, then
    /// upwards from this executable. None when there is no such folder, as for
    /// an executable which was copied elsewhere: engines and suites are then
    /// not to be had, but everything else works.
    pub fn find() -> Option<Self> {
        Self::find_from(&std::env::current_dir().unwrap_or_default())
    }

    /// As [`House::find`], as if `folder` were the working folder.
    pub fn find_from(folder: &Path) -> Option<Self> {
        if let Some(root) = std::env::var_os(HOUSE_ENV) {
            return Self::at(&folder.join(root));
        }
        Self::above(folder).or_else(|| Self::above(&std::env::current_exe().ok()?))
    }

    /// The house at exactly this folder, if it is one.
    pub fn at(root: &Path) -> Option<Self> {
        let is_house = root.join("engines").is_dir() && root.join("workloads").is_dir();
        is_house.then(|| Self {
            root: root.to_owned(),
        })
    }

    fn above(start: &Path) -> Option<Self> {
        start.ancestors().find_map(Self::at)
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// One folder per outside engine.
    pub fn engines(&self) -> PathBuf {
        self.root.join("engines")
    }

    /// The folder of a suite, which holds its `suite.toml`.
    pub fn suite(&self, name: &str) -> PathBuf {
        self.root.join("workloads").join(name)
    }

    /// What was installed for the project alone.
    pub fn tools(&self) -> PathBuf {
        self.root.join(".tools")
    }

    /// Where campaigns are kept.
    pub fn results(&self) -> PathBuf {
        self.root.join("results")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_house_is_found_from_any_folder_in_it() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(House::above(root.path()), None);
        for folder in ["engines/node", "workloads/polybench"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let found = House::above(&root.path().join("workloads/polybench")).unwrap();
        assert_eq!(found.root(), root.path());
        assert_eq!(
            found.suite("polybench"),
            root.path().join("workloads/polybench")
        );
    }
}
