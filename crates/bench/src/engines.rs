//! Outside engines, described by one `engine.toml` each:
//!
//! ```toml
//! name = "node"                                  # as in cells and --engines
//! display = "V8 (Node)"                          # as people call it
//! command = ["node", "{dir}/runner.mjs"]         # speaks the runner protocol
//! check = ["node", "{dir}/runner.mjs", "--check"]  # succeeds if installed
//! strategies = ["guard", "trap"]                 # the first is its default
//! backends = ["optimising", "baseline"]          # likewise; may be left out
//! variants = ["wasm-mvp"]                        # builds it takes; all if left out
//! components = true                              # it takes them; not if left out
//! program = "{engine}/bin/node"                  # what a build of one's own takes the place of
//! versions = "npm:node-linux-{npm}"             # where other releases are; may be left out
//! uncounted = "it reserves 1 TiB"                # why callgrind cannot run it; it can if absent
//! absent = "install Node 20 or newer"            # how to get it
//! ```
//!
//! `{dir}` is the description's folder, `{root}` the home, `{tools}` its
//! `.tools`, `{engine}` where the engine is installed: `{tools}/engines/NAME`, or
//! `…/NAME@VERSION` for a release beside the pinned one. An engine which is described but not installed is listed as
//! absent with how to get it; it is never left out in silence.

mod build;
mod releases;

pub(crate) use build::MODULE;

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::Duration,
};

use fathom_record::{Sandbox, Variant, release};
use fathom_sys::regular;
use fathom_sys::usage::Ended;
use serde::{Deserialize, Serialize};

use crate::{
    driver::{
        ProcessDriver,
        child::{Limit, supervise},
        family::End,
        one_line,
    },
    home::Home,
};

/// How long an engine may take to say that it is there.
const CHECK_LIMIT: Duration = Duration::from_secs(20);

/// What describes an engine, in its folder.
const DESCRIPTION: &str = "engine.toml";

/// Why a description cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {message}", path.display())]
pub struct EngineError {
    /// The file at fault.
    pub path: PathBuf,
    /// What is wrong, in one line.
    pub message: String,
}

/// An outside engine as its file describes it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct EngineSpec {
    /// Its name in cells and on the command line.
    pub name: String,
    /// What people call it.
    pub display: String,
    /// The runner: program and arguments.
    pub command: Vec<String>,
    /// Succeeds where the engine can run; prints what would be in force.
    pub check: Vec<String>,
    /// The bounds-check strategies it can be asked for, its default first.
    pub strategies: Vec<String>,
    /// The code generators it can be asked for, its default first.
    #[serde(default)]
    pub backends: Vec<String>,
    /// The builds that it takes of a program that comes in several; none named: all
    /// there are.
    #[serde(default)]
    pub variants: Vec<Variant>,
    /// Whether it takes components.
    #[serde(default)]
    pub components: bool,
    /// Where releases beside the pinned one come from, `REGISTRY:PACKAGE`; it is had in
    /// one version if absent.
    #[serde(default)]
    pub versions: Option<String>,
    /// Where its program stands in `command` and `check`, if a build of the user's own may
    /// take its place.
    #[serde(default)]
    pub program: Option<String>,
    /// Why its instructions cannot be counted in software, if they cannot.
    #[serde(default)]
    pub uncounted: Option<String>,
    /// What it needs, for people.
    #[serde(default)]
    pub needs: String,
    /// How to get it, said where it is absent.
    pub absent: String,
    /// What else a reader of its figures should know.
    #[serde(default)]
    pub note: String,
    /// The release that was named; none where whatever is installed was.
    #[serde(skip)]
    pub version: Option<String>,
    /// Where it is installed; what it writes while it runs goes to `cache` in it.
    #[serde(skip)]
    pub folder: PathBuf,
    /// Where its description is.
    #[serde(skip)]
    pub dir: PathBuf,
    /// The user's own build that it is.
    #[serde(skip)]
    pub build: Option<String>,
    /// Why the release that was named cannot be here.
    #[serde(skip)]
    pub missing: Option<String>,
}

/// An engine that cannot be had, so that nobody looks for it.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Unavailable {
    /// The name it would have.
    pub name: String,
    /// What people call it.
    pub display: String,
    /// The reason, in one line.
    pub why: String,
}

/// Whether an engine can be measured here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Yes; what its check printed.
    Installed {
        /// The first line of it.
        says: String,
    },
    /// No.
    Absent {
        /// What the check came to.
        why: String,
    },
}

impl EngineSpec {
    /// Reads one description.
    ///
    /// # Errors
    /// [`EngineError`], naming the file and what is wrong with it.
    pub fn load(path: &Path, home: &Home) -> Result<Self, EngineError> {
        let spec = Self::read(path)?;
        let folder = installed(home).join(&spec.name);
        Ok(spec.placed(path, home, folder))
    }

    fn read(path: &Path) -> Result<Self, EngineError> {
        let fail = |message: String| EngineError {
            path: path.to_owned(),
            message: one_line(&message),
        };
        let text = regular::read_to_string(path).map_err(|error| fail(error.to_string()))?;
        let spec: Self = toml::from_str(&text).map_err(|error| fail(error.to_string()))?;
        if spec.command.is_empty() || spec.check.is_empty() || spec.strategies.is_empty() {
            return Err(fail(
                "command, check and strategies must not be empty".into(),
            ));
        }
        Ok(spec)
    }

    /// Installed in this folder: every place is filled in.
    fn placed(mut self, path: &Path, home: &Home, folder: PathBuf) -> Self {
        let dir = path.parent().unwrap_or(Path::new("."));
        let places = [
            ("{dir}", dir.to_owned()),
            ("{root}", home.root().to_owned()),
            ("{tools}", home.tools()),
            ("{engine}", folder.clone()),
        ];
        let words = self.command.iter_mut().chain(&mut self.check);
        for word in words.chain(&mut self.program) {
            for (name, place) in &places {
                *word = word.replace(name, &place.to_string_lossy());
            }
        }
        let dir = dir.to_owned();
        Self {
            folder,
            dir,
            ..self
        }
    }

    /// The release that these words name: the newest installed one of them.
    ///
    /// # Errors
    /// One line: it is had in one version, or its description cannot be read.
    pub fn release(&self, asked: &str, home: &Home) -> Result<Self, String> {
        if self.versions.is_none() {
            return Err(format!("{} is had in one version", self.name));
        }
        let path = home.engines().join(&self.name).join(DESCRIPTION);
        let spec = Self::read(&path).map_err(|error| error.to_string())?;
        let there = releases::installed(&installed(home), &self.name);
        let found = release::newest(asked, there.iter().map(|(version, _)| version.as_str()));
        let version = found.unwrap_or(asked).to_owned();
        let folder = there
            .iter()
            .find(|(other, _)| *other == version)
            .map(|(_, folder)| folder.clone());
        let missing = folder.is_none().then(|| match &there[..] {
            [] => "there is none".to_owned(),
            there => {
                let versions: Vec<_> = there.iter().map(|(version, _)| &**version).collect();
                format!("there is {}", versions.join(", "))
            }
        });
        let folder = folder.unwrap_or_else(|| installed(home).join(named(&self.name, Some(asked))));
        let absent = format!("fathom engines install {}@{version}", self.name);
        Ok(Self {
            version: Some(version),
            missing,
            absent,
            ..spec.placed(&path, home, folder)
        })
    }

    /// That it cannot be measured here, and what to do about it.
    pub fn not_here(&self, why: &str) -> String {
        match &self.build {
            None => format!("not installed ({why}): {}", self.absent),
            Some(build) => format!("this build does not work ({why}): {build}"),
        }
    }

    /// The releases that are installed, the newest first.
    pub fn installed(&self, home: &Home) -> Vec<String> {
        let there = releases::installed(&installed(home), &self.name);
        there.into_iter().map(|(version, _)| version).collect()
    }

    /// What it is called where releases of one engine are told apart.
    pub fn id(&self) -> String {
        named(&self.name, self.version.as_deref())
    }

    /// A driver which starts its runner.
    pub fn driver(&self) -> ProcessDriver {
        ProcessDriver::new(&self.command[0], &self.command[1..])
    }

    /// Asks the engine whether it is there.
    pub fn presence(&self) -> Presence {
        if let Some(why) = &self.missing {
            return Presence::Absent { why: why.clone() };
        }
        let mut command = ProcessDriver::new(&self.check[0], &self.check[1..]).to_command();
        let first_line = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            text.lines()
                .find(|line| !line.trim().is_empty())
                .map(one_line)
                .unwrap_or_default()
        };
        match supervise(
            &mut command,
            b"",
            Limit::Whole(CHECK_LIMIT),
            &AtomicBool::new(false),
        ) {
            Err(error) => Presence::Absent {
                why: format!("{}: {error}", self.check[0]),
            },
            Ok(remains) => match remains.end {
                End::Own(Ended::Exited(0)) => Presence::Installed {
                    says: first_line(&remains.stdout_tail),
                },
                End::TimedOut => Presence::Absent {
                    why: "its check did not end".into(),
                },
                _ => {
                    let said = first_line(&remains.stderr_tail);
                    let why = if said.is_empty() {
                        "its check failed".into()
                    } else {
                        said
                    };
                    Presence::Absent { why }
                }
            },
        }
    }
}

/// An engine and one of its releases in a word, as `--engines` takes it.
pub fn named(engine: &str, version: Option<&str>) -> String {
    match version {
        Some(version) => format!("{engine}@{version}"),
        None => engine.to_owned(),
    }
}

/// What a sandbox runs on, as campaigns name it.
pub fn of(sandbox: &Sandbox) -> String {
    named(&sandbox.engine, sandbox.version.as_deref())
}

/// Where engines are installed.
fn installed(home: &Home) -> PathBuf {
    home.tools().join("engines")
}

/// Every engine described in the home, by name; descriptions which cannot be
/// read are returned beside them, so that the others can still be used.
pub fn all(home: &Home) -> (Vec<EngineSpec>, Vec<EngineError>) {
    let mut folders: Vec<_> = fs::read_dir(home.engines())
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join(DESCRIPTION))
        .filter(|path| path.is_file())
        .collect();
    folders.sort();
    let (mut specs, mut errors) = (Vec::new(), Vec::new());
    for path in folders {
        match EngineSpec::load(&path, home) {
            Ok(spec) => specs.push(spec),
            Err(error) => errors.push(error),
        }
    }
    (specs, errors)
}

/// The engines that no package registry holds, as `engines/unavailable.toml`
/// names them; none where there is no such file.
///
/// # Errors
/// [`EngineError`] for a file that cannot be read.
pub fn unavailable(home: &Home) -> Result<Vec<Unavailable>, EngineError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Listed {
        #[serde(default)]
        engine: Vec<Unavailable>,
    }
    let path = home.engines().join("unavailable.toml");
    let text = match regular::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            let message = error.to_string();
            return Err(EngineError { path, message });
        }
    };
    match toml::from_str::<Listed>(&text) {
        Ok(listed) => Ok(listed.engine),
        Err(error) => {
            let message = one_line(&error.to_string());
            Err(EngineError { path, message })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home_with(engines: &[(&str, &str)]) -> (tempfile::TempDir, Home) {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("workloads")).unwrap();
        fs::create_dir(root.path().join("engines")).unwrap();
        for (name, text) in engines {
            let dir = root.path().join("engines").join(name);
            fs::create_dir(&dir).unwrap();
            fs::write(dir.join("engine.toml"), text).unwrap();
        }
        let home = Home::at(root.path()).unwrap();
        (root, home)
    }

    fn described(check: &str) -> String {
        format!(
            "name = \"x\"\ndisplay = \"X\"\ncommand = [\"sh\", \"{{dir}}/run\"]\ncheck = {check}\n\
             strategies = [\"guard\"]\nabsent = \"get X\"\n"
        )
    }

    #[test]
    fn places_are_filled_in() {
        let (root, home) = home_with(&[("x", &described("[\"{tools}/x\", \"{root}\"]"))]);
        let (specs, errors) = all(&home);
        assert!(errors.is_empty());
        let run = root.path().join("engines/x/run");
        assert_eq!(specs[0].command[1], run.to_string_lossy());
        assert_eq!(
            specs[0].check[0],
            root.path().join(".tools/x").to_string_lossy()
        );
        assert!(matches!(specs[0].presence(), Presence::Absent { why } if why.contains("/x: ")));
    }

    #[test]
    fn presence_is_what_the_check_says() {
        let presence = |script: &str| {
            let check = format!("[\"sh\", \"-c\", \"{script}\"]");
            let (_root, home) = home_with(&[("x", &described(&check))]);
            all(&home).0[0].presence()
        };
        let installed = Presence::Installed {
            says: "X 1.2".into(),
        };
        assert_eq!(presence("echo X 1.2; echo more"), installed);
        assert_eq!(
            presence("echo no disk >&2; exit 1"),
            Presence::Absent {
                why: "no disk".into()
            }
        );
        assert_eq!(
            presence("exit 1"),
            Presence::Absent {
                why: "its check failed".into()
            }
        );
    }

    #[test]
    fn the_homes_own_descriptions_are_understood() {
        let home = Home::at(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap();
        let (specs, errors) = all(&home);
        assert!(errors.is_empty(), "{errors:?}");
        assert!(!specs.is_empty());
        let none = unavailable(&home).unwrap();
        assert!(none.iter().any(|engine| engine.name == "wavm"));
    }

    #[test]
    fn a_bad_description_does_not_hide_the_good_ones() {
        let good = described("[\"true\"]");
        let (_root, home) = home_with(&[("a", "name = 3"), ("b", &good), ("c", "")]);
        let (specs, errors) = all(&home);
        assert_eq!((specs.len(), errors.len()), (1, 2));
        assert!(!errors[0].to_string().contains('\n'), "{}", errors[0]);
    }
}
