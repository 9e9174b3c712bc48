//! The compiler of LLVM IR: a program, looked for at run time.
//!
//! Asked for is clang 20, as itself or as `zig clang`: what is relied on of it was tested
//! with no other.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::compile::Opt;
use crate::facts::error::{Error, ErrorKind, Result};

/// The version that is known to do.
const MAJOR: u32 = 20;

/// Names that it is looked for by.
const NAMES: [&str; 3] = ["clang-20", "clang", "zig"];

/// The variable that names it.
const VARIABLE: &str = "FATHOM_CLANG";

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
    pub(crate) fn find(path: Option<&Path>) -> Result<Clang> {
        let named = path.map(Path::to_path_buf);
        let named = named.or_else(|| std::env::var_os(VARIABLE).map(PathBuf::from));
        if let Some(path) = named {
            return Clang::at(path).map_err(config);
        }
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
        for name in NAMES {
            for folder in folders.iter().filter(|folder| folder.is_absolute()) {
                let path = folder.join(name);
                if path.is_file()
                    && let Ok(clang) = Clang::at(path)
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
    fn at(path: PathBuf) -> Result<Clang, String> {
        let is_zig = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().contains("zig"));
        let mut clang = Clang {
            path,
            is_zig,
            version: String::new(),
        };
        let shown = clang.path.display().to_string();
        let output = clang.command().arg("--version").output();
        let output = output.map_err(|error| format!("cannot run {shown}: {error}"))?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let first = said.lines().next().unwrap_or_default();
        let found = first.split_once("clang version ");
        let found = found.and_then(|(_, rest)| rest.split('.').next()?.parse::<u32>().ok());
        if found != Some(MAJOR) {
            return Err(format!(
                "code generator 'llvm' needs clang {MAJOR}: {shown} says '{first}'"
            ));
        }
        clang.version = first.to_owned();
        Ok(clang)
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
        command.stdin(Stdio::null());
        command
    }

    /// Compiles a module to an object; what went wrong, in one line.
    pub(super) fn compile(&self, text: &str, opt: Opt) -> Result<Vec<u8>, String> {
        let folder = Folder::new().map_err(|error| format!("no temporary folder: {error}"))?;
        let (input, object) = (folder.0.join("in.ll"), folder.0.join("out.o"));
        let wrote =
            std::fs::File::create_new(&input).and_then(|mut file| file.write_all(text.as_bytes()));
        wrote.map_err(|error| format!("cannot write {}: {error}", input.display()))?;
        let output = self
            .command()
            .args(arguments(opt))
            .args([OsString::from("-o"), object.clone().into(), input.into()])
            .output()
            .map_err(|error| format!("cannot run {}: {error}", self.path.display()))?;
        if !output.status.success() {
            return Err(first_error(&output));
        }
        std::fs::read(&object).map_err(|error| format!("clang left no object: {error}"))
    }
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
        "-ffunction-sections",
        "-fstack-size-section",
        "-fno-addrsig",
        // Frames are chained before anything can trap.
        "-mllvm",
        "-enable-shrink-wrap=false",
    ]
}

/// The first line that says what is wrong.
fn first_error(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().find(|line| line.contains("error"));
    let line = line.or_else(|| said.lines().next()).unwrap_or_default();
    format!("clang: {}: {line}", output.status)
}

/// A folder that goes away with this.
struct Folder(PathBuf);

impl Folder {
    fn new() -> std::io::Result<Folder> {
        use std::os::unix::fs::DirBuilderExt as _;
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let process = std::process::id();
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("fathom-llvm-{process}-{number}"));
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Folder(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left of it is the system's to clear.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn config(message: String) -> Error {
    ErrorKind::Config(message).into()
}
