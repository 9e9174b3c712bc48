//! Suites: programs with a known answer, described by a `suite.toml`.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use fathom_record::Variant;
use fathom_sys::regular;
use serde::Deserialize;

/// Why a suite cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// The description is not there or not readable.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file asked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The description is not what it should be.
    #[error("{}: {message}", path.display())]
    Malformed {
        /// The file at fault.
        path: PathBuf,
        /// What is wrong, in one line.
        message: String,
    },
    /// No such workload.
    #[error("suite {suite} has no workload `{name}`; it has: {known}")]
    Unknown {
        /// The suite's name.
        suite: String,
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
}

/// A set of workloads with one way to build and check them.
#[derive(Clone, Debug, Deserialize)]
pub struct Suite {
    /// Its name, which is also its folder's.
    pub name: String,
    /// Its programs, in the order they are shown.
    #[serde(rename = "workload", default)]
    pub workloads: Vec<Workload>,
    /// What its programs are built as, modules and native code, where that is not what
    /// the programs of most suites are.
    #[serde(default)]
    pub variants: Vec<Variant>,
    /// What it could have and has not.
    #[serde(default)]
    pub absent: Vec<LeftOut>,
    /// The folder it was read from.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// A program with an answer per problem size.
#[derive(Clone, Debug, Deserialize)]
pub struct Workload {
    /// Its name, which is also its file's.
    pub name: String,
    /// Why it is in the suite, one line.
    pub why: String,
    /// The group it is in.
    #[serde(default)]
    pub category: Option<String>,
    /// Size → the hexadecimal answer it must print.
    #[serde(default)]
    pub answers: BTreeMap<String, String>,
    /// Size → its argument, for a program that is built once: how often it passes
    /// through its work. The answer is the same for all unless `answers` has others.
    #[serde(default)]
    pub passes: BTreeMap<String, u64>,
    /// The answer of such a program.
    pub answer: Option<String>,
    /// Size → how often a run resumes a fiber.
    #[serde(default)]
    pub trips: BTreeMap<String, u64>,
    /// Bytes that the stack of a continuation must have at least, where those that engines
    /// have by default may be too small.
    pub stack_bytes: Option<u64>,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// What it must print, for a program without an answer.
    pub stdout: Option<String>,
    /// The executable's name, where several workloads are runs of one program.
    pub program: Option<String>,
    /// What it must print, in a file, where numbers may differ a little.
    pub output: Option<Output>,
    /// Whether it writes: it is given an empty folder as its working one.
    #[serde(default)]
    pub writes: bool,
    /// A folder below the suite's with what it reads, its working one.
    pub inputs: Option<PathBuf>,
}

/// A file that says what a program must print.
#[derive(Clone, Debug, Deserialize)]
pub struct Output {
    /// Below the suite's folder.
    pub file: PathBuf,
    /// What numbers may differ by.
    #[serde(default)]
    pub absolute: f64,
    /// What they may differ by as a share of the expected one.
    #[serde(default)]
    pub relative: f64,
}

/// A workload that the suite could have and has not.
#[derive(Clone, Debug, Deserialize)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// Why, one line.
    pub why: String,
}

impl Workload {
    /// Whether there is a way to know that it ran right.
    pub fn is_checked(&self) -> bool {
        !self.answers.is_empty()
            || self.answer.is_some()
            || self.stdout.is_some()
            || self.output.is_some()
    }

    /// The answer it must print at a size, if it is known there.
    pub fn answer_at(&self, size: &str) -> Option<&str> {
        let own = self.answers.get(size).map(String::as_str);
        match self.passes.contains_key(size) {
            true => own.or(self.answer.as_deref()),
            false => own,
        }
    }

    /// Its arguments at a size.
    pub fn args_at(&self, size: &str) -> Vec<String> {
        let passes = self.passes.get(size).map(u64::to_string);
        self.args.iter().cloned().chain(passes).collect()
    }
}

impl Suite {
    /// Reads `suite.toml` in a folder.
    ///
    /// # Errors
    /// [`SuiteError`], naming the file and what is wrong with it.
    pub fn load(folder: &Path) -> Result<Self, SuiteError> {
        let path = folder.join("suite.toml");
        let text = regular::read_to_string(&path).map_err(|source| SuiteError::Read {
            path: path.clone(),
            source,
        })?;
        let malformed = |message: String| SuiteError::Malformed {
            path: path.clone(),
            message,
        };
        let mut suite: Self = toml::from_str(&text)
            .map_err(|error| malformed(error.to_string().replace('\n', " ")))?;
        if suite.workloads.is_empty() {
            return Err(malformed("has no [[workload]]".into()));
        }
        suite.folder = folder.to_owned();
        Ok(suite)
    }

    /// The workloads named, in the suite's order; all that can be checked for
    /// no names.
    ///
    /// # Errors
    /// [`SuiteError::Unknown`] for the first name it does not have.
    pub fn select(&self, names: &[String]) -> Result<Vec<&Workload>, SuiteError> {
        let known = |name: &String| self.workloads.iter().any(|workload| workload.name == *name);
        if let Some(name) = names.iter().find(|name| !known(name)) {
            return Err(SuiteError::Unknown {
                suite: self.name.clone(),
                name: name.clone(),
                known: self.names().join(" "),
            });
        }
        let chosen = |workload: &&Workload| match names {
            [] => workload.is_checked(),
            names => names.contains(&workload.name),
        };
        Ok(self.workloads.iter().filter(chosen).collect())
    }

    fn names(&self) -> Vec<&str> {
        self.workloads
            .iter()
            .map(|workload| workload.name.as_str())
            .collect()
    }

    /// Whether its programs are built in sizes, and answer by size.
    pub fn has_sizes(&self) -> bool {
        self.workloads
            .iter()
            .any(|workload| !workload.answers.is_empty() || !workload.passes.is_empty())
    }

    /// Whether a size is an argument instead of a build.
    fn has_one_build(&self) -> bool {
        let mut workloads = self.workloads.iter();
        workloads.any(|workload| !workload.passes.is_empty())
    }

    /// Where a workload's executable is, once built: a module for the `wasm`
    /// variants, a program of the host otherwise. `size` is empty in a suite
    /// without sizes.
    pub fn artifact(&self, variant: &str, size: &str, workload: &str) -> PathBuf {
        let size = if self.has_one_build() { "" } else { size };
        let folder = self.folder.join("build").join(variant).join(size);
        if variant.starts_with("wasm") {
            folder.join(format!("{workload}.wasm"))
        } else {
            folder.join(workload)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn suite(text: &str) -> Result<Suite, SuiteError> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("suite.toml"), text).unwrap();
        Suite::load(folder.path())
    }

    const TWO: &str = "name = \"s\"\n[[workload]]\nname = \"a\"\nwhy = \"x\"\n\
        [workload.answers]\nmini = \"0f\"\n[[workload]]\nname = \"b\"\nwhy = \"y\"\n\
        args = [\"4\"]\nstdout = \"x\"\n[[workload]]\nname = \"unchecked\"\nwhy = \"z\"\n";

    #[test]
    fn workloads_are_selected_in_the_suites_order() {
        let suite = suite(TWO).unwrap();
        let names = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
            let chosen = suite.select(&names);
            chosen.map(|list| list.iter().map(|w| w.name.clone()).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap(), ["a", "b"]);
        assert_eq!(names(&["b", "a"]).unwrap(), ["a", "b"]);
        let error = names(&["c"]).unwrap_err().to_string();
        assert_eq!(error, "suite s has no workload `c`; it has: a b unchecked");
        assert_eq!(suite.workloads[0].answers["mini"], "0f");
    }

    #[test]
    fn artifacts_are_modules_or_programs() {
        let suite = suite(TWO).unwrap();
        assert!(
            suite
                .artifact("wasm-simd", "mini", "a")
                .ends_with("build/wasm-simd/mini/a.wasm")
        );
        assert!(
            suite
                .artifact("native", "mini", "a")
                .ends_with("build/native/mini/a")
        );
    }

    #[test]
    fn a_size_may_be_an_argument() {
        let suite = suite(
            "name = \"s\"\n[[workload]]\nname = \"a\"\nwhy = \"x\"\nanswer = \"0f\"\n\
             passes = { mini = 1, medium = 20 }\n",
        )
        .unwrap();
        let workload = suite.select(&[]).unwrap()[0];
        assert!(suite.has_sizes());
        assert_eq!(workload.answer_at("medium"), Some("0f"));
        assert_eq!(workload.answer_at("large"), None);
        assert_eq!(workload.args_at("medium"), ["20"]);
        let artifact = suite.artifact("wasm-mvp", "medium", "a");
        assert!(artifact.ends_with("build/wasm-mvp/a.wasm"), "{artifact:?}");
    }

    #[test]
    fn errors_are_one_line_and_name_the_file() {
        for text in [
            "",
            "name = 1",
            "name = \"s\"",
            "name = \"s\"\n[[workload]]\n",
        ] {
            let error = suite(text).unwrap_err().to_string();
            assert!(
                error.contains("suite.toml") && !error.contains('\n'),
                "{error}"
            );
        }
        assert!(matches!(
            Suite::load(Path::new("/no/such")),
            Err(SuiteError::Read { .. })
        ));
    }
}
