//! What tests of whole campaigns share: a home of their own, and the program in it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use fathom_bench::results::Results;
use fathom_record::Campaign;

/// A home without engines and suites, in which commands are given.
pub struct Home(tempfile::TempDir);

impl Home {
    pub fn bare() -> Home {
        let home = Home(tempfile::tempdir().unwrap());
        for folder in ["engines", "workloads"] {
            fs::create_dir(home.path(folder)).unwrap();
        }
        home
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, and the folders that it is in.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Writes a file that can be run.
    #[allow(dead_code, reason = "not all that share this have programs")]
    pub fn program(&self, name: &str, text: &str) {
        self.write(name, text);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        command.env("FATHOM_HOME", self.0.path());
        command.current_dir(self.0.path()).stdin(Stdio::null());
        command.args(words);
        command
    }

    #[allow(dead_code, reason = "not all that share this need no environment")]
    pub fn fathom(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    pub fn campaign(&self, folder: &str) -> Campaign {
        Results::read(&self.path(folder)).unwrap()
    }
}
