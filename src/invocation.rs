//! What a command is given besides its own options: where engines and suites are, and
//! the words that a campaign records.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fathom_bench::home::{self, Home, HomeError, Kit, KitError, Search};
use fathom_bench::request::Request;

use crate::one_line::{one_line, say};

/// What this program carries for where there is no checkout (`build.rs`).
const KIT: Kit = Kit::new(
    env!("CARGO_PKG_VERSION"),
    include_bytes!(concat!(env!("OUT_DIR"), "/kit")),
);

/// How this program was called.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The words after its name, with what `fathom.toml` adds behind the command's and
    /// without `--root`: a campaign is the same wherever its engines are.
    pub words: Vec<String>,
    search: Search,
}

impl Invocation {
    /// From all words, what `fathom.toml` adds, and what `--root` among them said.
    pub fn new(
        words: &[OsString],
        added: impl Iterator<Item = String>,
        root: Option<PathBuf>,
    ) -> Invocation {
        let mut words = without_root(words);
        let behind_command = words.len().min(1);
        words.splice(behind_command..behind_command, added);
        Invocation {
            words,
            search: Search::new(root, Some(KIT)),
        }
    }

    /// The home for a command given in this folder, if there is any; what there is to say
    /// of it goes to standard error, as does why the data folder cannot be one.
    ///
    /// # Errors
    /// A folder that was named and is none.
    pub fn home_from(&self, folder: &Path) -> anyhow::Result<Option<Home>> {
        let found = match self.search.from(folder) {
            // As where there is no data folder: who needs one says so.
            Err(HomeError::Kit(error @ KitError::System { .. })) => {
                say(&one_line(&error.into()));
                None
            }
            found => found?,
        };
        let Some(found) = found else {
            return Ok(None);
        };
        for warning in &found.warnings {
            say!("{warning}");
        }
        Ok(Some(found.home))
    }

    /// The same for the working folder.
    ///
    /// # Errors
    /// As [`Invocation::home_from`].
    pub fn home(&self) -> anyhow::Result<Option<Home>> {
        self.home_from(&std::env::current_dir()?)
    }

    /// Where campaigns are kept that are measured from this folder.
    pub fn results(&self, home: Option<&Home>, folder: &Path) -> PathBuf {
        home::results(home, folder, self.search.data.as_deref())
    }

    /// What is asked for, with where its engines and suites are.
    ///
    /// # Errors
    /// As [`Invocation::home_from`].
    pub fn placed(&self, request: Request) -> anyhow::Result<Request> {
        let home = self.home_from(&request.folder)?;
        Ok(Request {
            results: self.results(home.as_ref(), &request.folder),
            home,
            ..request
        })
    }
}

/// The words after the program's name, but for `--root` and its folder.
fn without_root(words: &[OsString]) -> Vec<String> {
    let mut left = Vec::new();
    let mut words = words.iter().skip(1).map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        match &*word {
            "--" => {
                left.push(word.into_owned());
                break;
            }
            "--root" => drop(words.next()),
            word if word.starts_with("--root=") => {}
            word => left.push(word.to_owned()),
        }
    }
    left.extend(words.map(|word| word.into_owned()));
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_no_part_of_what_is_recorded() {
        let words = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            without_root(&words).join(" ")
        };
        assert_eq!(words("fathom --root /x bench a --quick"), "bench a --quick");
        assert_eq!(words("fathom bench --root=/x a"), "bench a");
        let own = "bench a -- --root /x";
        assert_eq!(words(&format!("fathom {own}")), own);
    }
}
