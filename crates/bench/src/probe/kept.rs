//! Verdicts of earlier probes, which hold until anything that they depend on changes.
//!
//! ```text
//!  $XDG_CACHE_HOME/fathom/probes/KEY.json   {"key": …, "record": …}
//!  KEY   hash of: this program, the engine, its configuration, what is tried,
//!        the kernel, the processor
//! ```
//!
//! What must stay true: a verdict is only used where its whole key is the same, not its
//! hash alone; a folder that others may write to is not used; what cannot be kept costs a
//! probe the next time, and nothing else.

use std::{
    env, fs, io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use fathom_record::{Fact, Host, Sandbox, campaign::ProbeRecord};
use fathom_sys::regular;
use serde::{Deserialize, Serialize};

use super::Extent;
use crate::{engines::EngineSpec, engines::Presence, home::Home};

/// Verdicts that nobody wanted for so long are thrown away.
const LIFE: Duration = Duration::from_secs(60 * 24 * 3600);
/// What an engine's folder holds that its runner is not made of.
const NOT_SOURCES: [&str; 4] = ["target", "build", "node_modules", "__pycache__"];

/// Where an engine may write while it runs, directly below where it is installed: no part of what
/// was installed, and another after each run.
const WRITTEN: &str = "cache";

/// What a verdict depends on.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
struct Key {
    /// This program, which asks and judges: its hash.
    fathom: String,
    /// The engine: a hash of what it is started from.
    engine: String,
    /// The configuration, and what was tried of it.
    sandbox: String,
    extent: String,
    kernel: String,
    processor: String,
}

#[derive(Deserialize, Serialize)]
struct Entry {
    key: Key,
    record: ProbeRecord,
}

/// The user's folder of verdicts, on this host and with this program.
#[derive(Clone, Debug)]
pub struct Verdicts {
    folder: PathBuf,
    fathom: String,
    kernel: String,
    processor: String,
}

impl Verdicts {
    /// Those in the user's cache folder (XDG base directories); none where there is no
    /// such folder, or where what the host is cannot be told.
    pub fn of_user(host: &Host) -> Option<Verdicts> {
        let absolute = |name: &str| {
            let path = PathBuf::from(env::var_os(name)?);
            path.is_absolute().then_some(path)
        };
        let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
        Verdicts::at(cache?.join("fathom/probes"), &this_program()?, host)
    }

    fn at(folder: PathBuf, fathom: &str, host: &Host) -> Option<Verdicts> {
        let microcode = host.microcode.known().map_or("", String::as_str);
        let features = [&host.features.pku, &host.features.userfaultfd];
        let features = features.map(|fact: &Fact<String>| fact.known().is_some());
        Some(Verdicts {
            folder,
            fathom: fathom.to_owned(),
            kernel: host.kernel.known()?.clone(),
            processor: format!("{} {microcode} {features:?}", host.cpu_model.known()?),
        })
    }

    fn key(&self, sandbox: &Sandbox, engine: &str) -> Key {
        Key {
            fathom: self.fathom.clone(),
            engine: engine.to_owned(),
            sandbox: sandbox.id().to_string(),
            extent: format!("{:?}", Extent::of(sandbox)),
            kernel: self.kernel.clone(),
            processor: self.processor.clone(),
        }
    }

    fn file(&self, key: &Key) -> PathBuf {
        let text = serde_json::to_vec(key).unwrap_or_default();
        self.folder
            .join(format!("{}.json", blake3::hash(&text).to_hex()))
    }

    /// The verdict on a sandbox of an engine, if one is kept and nothing has changed.
    pub fn find(&self, sandbox: &Sandbox, engine: &str) -> Option<ProbeRecord> {
        is_ours(&self.folder).then_some(())?;
        let key = self.key(sandbox, engine);
        let text = regular::read(&self.file(&key)).ok()?;
        let entry: Entry = serde_json::from_slice(&text).ok()?;
        (entry.key == key && entry.record.sandbox == sandbox.id()).then_some(entry.record)
    }

    /// Keeps a verdict.
    ///
    /// # Errors
    /// Where it cannot be written; nothing depends on it.
    pub fn keep(&self, sandbox: &Sandbox, engine: &str, record: &ProbeRecord) -> io::Result<()> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)?;
        if !is_ours(&self.folder) {
            return Err(io::Error::other("others may write to it"));
        }
        self.forget_the_old();
        let key = self.key(sandbox, engine);
        let to = self.file(&key);
        let entry = Entry {
            key,
            record: record.clone(),
        };
        let file = tempfile::NamedTempFile::new_in(&self.folder)?;
        serde_json::to_writer(&file, &entry)?;
        file.persist(to).map_err(|error| error.error)?;
        Ok(())
    }

    fn forget_the_old(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let made = entry.metadata().and_then(|data| data.modified());
            let age = made.map(|made| SystemTime::now().duration_since(made));
            if age.is_ok_and(|age| age.is_ok_and(|age| age > LIFE)) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Whether nobody else may put verdicts there.
fn is_ours(folder: &Path) -> bool {
    let us = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(folder)
        .is_ok_and(|data| data.is_dir() && data.uid() == us && data.mode() & 0o022 == 0)
}

/// A hash of this program; none where its file cannot be read.
pub fn this_program() -> Option<String> {
    hash(&env::current_exe().ok()?)
}

/// A hash of a file.
pub fn hash(file: &Path) -> Option<String> {
    let bytes = fs::read(file).ok()?;
    Some(blake3::hash(&bytes).to_hex().to_string())
}

/// A hash of what an outside engine is started from: its description and runner, what
/// runners share, what was installed (by name, length and time; its `cache` is what it writes
/// itself), the programs that its command names, and what it says of itself.
pub fn engine(spec: &EngineSpec, presence: &Presence, home: &Home) -> String {
    let mut hash = blake3::Hasher::new();
    let mut add = |part: &[u8]| {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    add(format!("{presence:?}").as_bytes());
    for word in &spec.command {
        add(word.as_bytes());
        add(&program(word)
            .and_then(|path| regular::read(&path).ok())
            .unwrap_or_default());
    }
    let mut sources = vec![spec.dir.clone()];
    let shared = fs::read_dir(home.engines()).into_iter().flatten().flatten();
    let shared = shared.filter(|entry| entry.file_name().to_string_lossy().starts_with("common"));
    sources.extend(shared.map(|entry| entry.path()));
    sources.sort();
    for path in sources.iter().flat_map(|folder| files(folder)) {
        add(path.as_os_str().as_encoded_bytes());
        add(&regular::read(&path).unwrap_or_default());
    }
    let written = spec.folder.join(WRITTEN);
    let installed = files(&spec.folder).into_iter();
    for path in installed.filter(|path| !path.starts_with(&written)) {
        add(path.as_os_str().as_encoded_bytes());
        if let Ok(data) = fs::symlink_metadata(&path) {
            let what = (data.len(), data.mtime(), data.mtime_nsec());
            add(format!("{what:?}").as_bytes());
        }
    }
    hash.finalize().to_hex().to_string()
}

/// The file that a word of a command names, as a path or on the user's own.
fn program(word: &str) -> Option<PathBuf> {
    if word.contains('/') {
        return Some(PathBuf::from(word));
    }
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .map(|folder| folder.join(word))
        .find(|path| path.is_file())
}

/// Every file below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = Vec::new();
    let mut inner: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .collect();
    inner.sort_by_key(fs::DirEntry::file_name);
    for entry in inner {
        let is_left_out = NOT_SOURCES.iter().any(|name| entry.file_name() == *name);
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !is_left_out => all.extend(files(&entry.path())),
            Ok(kind) if !kind.is_dir() => all.push(entry.path()),
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::probe::Findings;
    use fathom_record::Guarantee;

    fn sandbox(strategy: &str) -> Sandbox {
        Sandbox::new("x", strategy)
    }

    fn host(kernel: &str, cpu: &str) -> Host {
        Host {
            kernel: Fact::Known(kernel.to_owned()),
            cpu_model: Fact::Known(cpu.to_owned()),
            ..Host::default()
        }
    }

    #[test]
    fn a_verdict_holds_until_anything_changes() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("cache/probes");
        let at = |program, host: &Host| Verdicts::at(folder.clone(), program, host).unwrap();
        let guard = sandbox("guard");
        let record = Findings::new(Guarantee::Exact, 8).record(&guard);
        let here = at("p", &host("Linux 6", "cpu"));
        assert_eq!(here.find(&guard, "e"), None);
        here.keep(&guard, "e", &record).unwrap();
        assert_eq!(here.find(&guard, "e"), Some(record.clone()));
        assert!(record.date.is_some(), "it says when it was found");
        assert_eq!(here.find(&guard, "another"), None);
        assert_eq!(here.find(&sandbox("trap"), "e"), None);
        for (program, host) in [
            ("another", host("Linux 6", "cpu")),
            ("p", host("Linux 7", "cpu")),
            ("p", host("Linux 6", "another")),
        ] {
            assert_eq!(at(program, &host).find(&guard, "e"), None);
        }
        // Under the right name, but of something else.
        let file = here.file(&here.key(&guard, "e"));
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace("Linux 6", "Linux 5")).unwrap();
        assert_eq!(here.find(&guard, "e"), None);
        fs::write(&file, text).unwrap();
        assert!(here.find(&guard, "e").is_some());
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(here.find(&guard, "e"), None, "anybody may have written it");
        assert!(here.keep(&guard, "e", &record).is_err());
    }

    #[test]
    fn a_host_that_cannot_be_told_from_others_has_none() {
        let unknown = Host {
            kernel: Fact::Known("Linux 6".to_owned()),
            ..Host::default()
        };
        assert!(Verdicts::at(PathBuf::from("/x"), "p", &unknown).is_none());
    }

    #[test]
    fn an_engine_is_another_when_anything_it_is_started_from_changes() {
        let root = tempfile::tempdir().unwrap();
        for folder in [
            "workloads",
            "engines/x",
            "engines/common-js",
            ".tools/engines/x",
        ] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let home = Home::at(root.path()).unwrap();
        let runner = root.path().join("engines/x/runner");
        fs::write(&runner, "1").unwrap();
        let spec = EngineSpec {
            name: "x".to_owned(),
            display: "X".to_owned(),
            command: vec!["sh".to_owned(), runner.display().to_string()],
            check: vec!["true".to_owned()],
            strategies: vec!["guard".to_owned()],
            folder: home.tools().join("engines/x"),
            dir: home.engines().join("x"),
            ..EngineSpec::default()
        };
        let says = |says: &str| Presence::Installed {
            says: says.to_owned(),
        };
        let mut seen = vec![engine(&spec, &says("1"), &home)];
        assert_eq!(engine(&spec, &says("1"), &home), seen[0]);
        seen.push(engine(&spec, &says("2"), &home));
        for path in [
            "engines/x/runner",
            "engines/common-js/wasi.mjs",
            ".tools/engines/x/libx.so",
        ] {
            fs::write(root.path().join(path), "2").unwrap();
            seen.push(engine(&spec, &says("1"), &home));
        }
        // What it writes while it runs is no part of it; what was installed is, by any name.
        let installed = root.path().join(".tools/engines/x");
        for folder in ["cache/gen", "lib/cache"] {
            fs::create_dir_all(installed.join(folder)).unwrap();
        }
        fs::write(installed.join("cache/gen/analysis_v2"), "1").unwrap();
        fs::write(installed.join("cache/index"), "1").unwrap();
        assert_eq!(engine(&spec, &says("1"), &home), seen[seen.len() - 1]);
        fs::write(installed.join("cache/index"), "another").unwrap();
        assert_eq!(engine(&spec, &says("1"), &home), seen[seen.len() - 1]);
        fs::write(installed.join("lib/cache/x"), "1").unwrap();
        seen.push(engine(&spec, &says("1"), &home));
        let different: std::collections::BTreeSet<_> = seen.iter().collect();
        assert_eq!(different.len(), seen.len(), "{seen:?}");
    }
}
