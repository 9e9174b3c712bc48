//! The compiler of LLVM IR: a program, looked for at run time.
//!
//! Asked for is clang 20, as itself or as `zig clang`: what is relied on of it was tested
//! with no other.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use super::child::{self, Ended, Limit};
use super::identity;
use crate::compile::Opt;
use crate::facts::error::{Error, ErrorKind, Result};

/// The version that is known to do.
const MAJOR: u32 = 20;

/// Names that it is looked for by.
const NAMES: [&str; 3] = ["clang-20", "clang", "zig"];

/// The variable that names it.
const VARIABLE: &str = "FATHOM_CLANG";

/// What it may use to say which it is.
const ASKING: Limit = Limit {
    cpu: Duration::from_secs(10),
    wall: Duration::from_secs(60),
    bytes: 1 << 30,
};

/// What compilers have said of themselves, kept from one program to the next: to ask one takes
/// as long as starting it.
pub(crate) trait Versions {
    /// What the one of this identity has said.
    fn recall(&self, identity: &str) -> Option<String>;

    /// Keeps it, as far as that can be done.
    fn keep(&self, identity: &str, version: &str);
}

/// A compiler that was found.
#[derive(Clone, Debug)]
pub(crate) struct Clang {
    path: PathBuf,
    /// Whether it is called as `zig clang`.
    is_zig: bool,
    /// The first line that it says of itself.
    version: String,
}

impl Clang {
    /// The one at `path`; else the one that `FATHOM_CLANG` names; else the first in `PATH`
    /// of the right version.
    ///
    /// # Errors
    /// `Config` where there is none, or one of another version.
    pub(crate) fn find(path: Option<&Path>, versions: &dyn Versions) -> Result<Clang> {
        let named = path.map(Path::to_path_buf);
        let named = named.or_else(|| std::env::var_os(VARIABLE).map(PathBuf::from));
        if let Some(path) = named {
            return Clang::at(path, versions).map_err(config);
        }
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
        for name in NAMES {
            for folder in folders.iter().filter(|folder| folder.is_absolute()) {
                let path = folder.join(name);
                if path.is_file()
                    && let Ok(clang) = Clang::at(path, versions)
                {
                    return Ok(clang);
                }
            }
        }
        Err(config(format!(
            "code generator 'llvm' needs clang {MAJOR}, or zig 0.15, which has it: name it in \
             {VARIABLE} or put it into PATH"
        )))
    }

    /// The one at a path, or why it will not do.
    fn at(path: PathBuf, versions: &dyn Versions) -> Result<Clang, String> {
        let is_zig = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().contains("zig"));
        let mut clang = Clang {
            path,
            is_zig,
            version: String::new(),
        };
        let identity = identity::of(&clang.path);
        let known = identity.as_ref().and_then(|of| versions.recall(of));
        let is_known = known.is_some();
        let first = known.map_or_else(|| clang.ask(), Ok)?;
        let found = first.split_once("clang version ");
        let found = found.and_then(|(_, rest)| rest.split('.').next()?.parse::<u32>().ok());
        if found != Some(MAJOR) {
            return Err(format!(
                "code generator 'llvm' needs clang {MAJOR}: {} says '{first}'",
                clang.path.display()
            ));
        }
        // Of the file that was asked, if it has not become another one meanwhile.
        if let Some(identity) = identity.filter(|_| !is_known)
            && identity::of(&clang.path).as_ref() == Some(&identity)
        {
            versions.keep(&identity, &first);
        }
        clang.version = first;
        Ok(clang)
    }

    /// The first line that it says of itself.
    fn ask(&self) -> Result<String, String> {
        let outcome = child::run(self.command().arg("--version"), b"", Some(&ASKING));
        let outcome = outcome.map_err(|error| format!("cannot run {}: {error}", self.shown()))?;
        if let Ended::Late(time) = outcome.ended {
            let time = time.as_secs();
            return Err(format!(
                "{} --version took longer than {time} s",
                self.shown()
            ));
        }
        let said = String::from_utf8_lossy(&outcome.out);
        Ok(said.lines().next().unwrap_or_default().to_owned())
    }

    fn shown(&self) -> std::path::Display<'_> {
        self.path.display()
    }

    /// What changes with the compiler: for cache keys.
    pub(crate) fn fingerprint(&self) -> &str {
        &self.version
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        if self.is_zig {
            command.arg("clang");
        }
        command
    }

    /// Compiles a module to an object, within a limit.
    pub(super) fn compile(
        &self,
        text: &str,
        opt: Opt,
        limit: Option<&Limit>,
    ) -> Result<Vec<u8>, Trouble> {
        let mut command = self.command();
        command.args(arguments(opt));
        let outcome = child::run(&mut command, text.as_bytes(), limit);
        let outcome = outcome
            .map_err(|error| Trouble::Host(format!("cannot run {}: {error}", self.shown())))?;
        match outcome.ended {
            Ended::Late(time) => Err(Trouble::Late(format!(
                "clang took longer than {} s",
                time.as_secs_f64().ceil()
            ))),
            Ended::With(status) if !status.success() => {
                Err(Trouble::Text(first_error(status, &outcome.said)))
            }
            Ended::With(_) if outcome.out.is_empty() => {
                Err(Trouble::Text("clang left no object".to_owned()))
            }
            Ended::With(_) => Ok(outcome.out),
        }
    }
}

/// Why there is no object, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It could not be started: nor could it with another text.
    Host(String),
    /// It does not do with this text.
    Text(String),
    /// It took longer than it may.
    Late(String),
}

/// How it is called.
fn arguments(opt: Opt) -> Vec<&'static str> {
    let level = match opt {
        Opt::Speed => "-O3",
        Opt::None => "-O1",
    };
    vec![
        "-c",
        level,
        "-fPIC",
        // The text says what it is for; the driver's idea differs in the C library.
        "-Wno-override-module",
        // It starts nothing itself.
        "-fintegrated-cc1",
        "-fintegrated-as",
        "-ffunction-sections",
        "-fno-addrsig",
        // Frames are chained before anything can trap.
        "-mllvm",
        "-enable-shrink-wrap=false",
        // Two accesses that became one would have the site of neither.
        "-mllvm",
        "-hoist-common-insts=false",
        "-mllvm",
        "-sink-common-insts=false",
        "-mllvm",
        "-enable-tail-merge=false",
        // Loops that a compiler unrolled before are better taken apart by the vectoriser of
        // straight code than by shuffles of what is loaded.
        "-mllvm",
        "-enable-interleaved-mem-accesses=false",
        // What is read from a table of constants has no site.
        "-mllvm",
        "-switch-to-lookup=false",
        // From memory into memory.
        "-o",
        "-",
        "-x",
        "ir",
        "-",
    ]
}

/// How much of a line is repeated.
const LINE_MAX: usize = 200;

/// The first line that says what is wrong.
fn first_error(status: ExitStatus, said: &str) -> String {
    let is_error = |line: &&str| line.contains("error") || line.contains("ERROR");
    let line = said.lines().find(is_error);
    let line = line.or_else(|| said.lines().next()).unwrap_or_default();
    let line: String = line.chars().take(LINE_MAX).collect();
    match line.is_empty() {
        true => format!("clang: {status}"),
        false => format!("clang: {status}: {line}"),
    }
}

fn config(message: String) -> Error {
    ErrorKind::Config(message).into()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::Instant;

    use super::*;

    /// What was kept.
    #[derive(Default)]
    struct Kept(RefCell<BTreeMap<String, String>>);

    impl Versions for Kept {
        fn recall(&self, identity: &str) -> Option<String> {
            self.0.borrow().get(identity).cloned()
        }

        fn keep(&self, identity: &str, version: &str) {
            let (identity, version) = (identity.to_owned(), version.to_owned());
            self.0.borrow_mut().insert(identity, version);
        }
    }

    /// A compiler that does this, whatever it is given.
    fn doing(script: &str) -> (tempfile::TempDir, Clang) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clang");
        let says = "[ \"$1\" = --version ] && echo clang version 20.1.2 && exit";
        std::fs::write(&path, format!("#!/bin/sh\n{says}\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        // A script that was just written may still be open in another test's child.
        for _ in 0..100 {
            match Clang::at(path.clone(), &Kept::default()) {
                Ok(clang) => return (folder, clang),
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
        panic!("{} does not start", path.display());
    }

    fn came_to(script: &str) -> Trouble {
        let (_folder, clang) = doing(script);
        let limit = Limit {
            cpu: Duration::from_secs(1),
            wall: Duration::from_millis(300),
            bytes: 1 << 30,
        };
        clang.compile("", Opt::Speed, Some(&limit)).unwrap_err()
    }

    #[test]
    fn what_hangs_is_killed() {
        let began = Instant::now();
        let trouble = came_to("exec sleep 60");
        assert_eq!(trouble, Trouble::Late("clang took longer than 1 s".into()));
        assert!(began.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn what_computes_for_too_long_is_killed() {
        let (_folder, clang) = doing("while :; do :; done");
        let limit = Limit {
            cpu: Duration::from_secs(1),
            wall: Duration::from_secs(120),
            bytes: 1 << 30,
        };
        let trouble = clang.compile("", Opt::Speed, Some(&limit)).unwrap_err();
        assert_eq!(trouble, Trouble::Late("clang took longer than 1 s".into()));
    }

    #[test]
    fn it_has_so_much_memory() {
        let (_folder, clang) = doing("ulimit -d >&2; exit 1");
        let limit = Limit {
            cpu: Duration::from_secs(10),
            wall: Duration::from_secs(120),
            bytes: 1 << 30,
        };
        let trouble = clang.compile("", Opt::Speed, Some(&limit)).unwrap_err();
        let said = "clang: exit status: 1: 1048576".to_owned();
        assert_eq!(trouble, Trouble::Text(said));
    }

    #[test]
    fn what_goes_wrong_is_a_line() {
        let text = |line: &str| Trouble::Text(line.to_owned());
        let said = came_to("echo; echo in.ll:3: error: no such type >&2; echo more >&2; exit 1");
        assert_eq!(
            said,
            text("clang: exit status: 1: in.ll:3: error: no such type")
        );
        let killed = came_to("kill -9 $$");
        assert_eq!(killed, text("clang: signal: 9 (SIGKILL)"));
        let absent = came_to("exit 0");
        assert_eq!(absent, text("clang left no object"));
    }

    #[test]
    fn what_is_gone_by_then_is_the_hosts_fault() {
        let (folder, clang) = doing("exit 0");
        drop(folder);
        let trouble = clang.compile("", Opt::Speed, None).unwrap_err();
        assert!(matches!(trouble, Trouble::Host(line) if line.starts_with("cannot run")));
    }

    #[test]
    fn what_is_known_is_not_asked_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clang");
        // Nobody could start it.
        let program = identity::tests::program(object::elf::PT_LOAD);
        std::fs::write(&path, &program).unwrap();
        let began = Instant::now();
        let identity = loop {
            match identity::of(&path) {
                Some(identity) => break identity,
                None => std::thread::sleep(Duration::from_millis(50)),
            }
            assert!(began.elapsed() < Duration::from_secs(30));
        };
        let kept = Kept::default();
        let at = |kept: &Kept| Clang::at(path.clone(), kept).map(|clang| clang.version);
        assert!(at(&kept).unwrap_err().starts_with("cannot run"));
        kept.keep(&identity, "clang version 20.1.2");
        assert_eq!(at(&kept).unwrap(), "clang version 20.1.2");
        kept.keep(&identity, "clang version 21.1.2");
        assert!(
            at(&kept)
                .unwrap_err()
                .ends_with("says 'clang version 21.1.2'")
        );
        kept.keep(&identity, "clang version 20.1.2");
        std::fs::write(&path, program).unwrap();
        assert!(at(&kept).unwrap_err().starts_with("cannot run"));
    }

    #[test]
    fn what_was_asked_is_known() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/zig/ziglang/zig");
        if !path.is_file() {
            eprintln!("SKIPPED: no .tools/zig: make setup");
            return;
        }
        let kept = Kept::default();
        let asked = Clang::at(path.clone(), &kept).unwrap();
        let all: Vec<String> = kept.0.borrow().values().cloned().collect();
        assert_eq!(all.join(", "), asked.version);
        assert_eq!(Clang::at(path, &kept).unwrap().version, asked.version);
    }
}
