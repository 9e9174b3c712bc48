//! `fathom sql` and `fathom suite sql`: hand over to programs in `sql/`, a workspace of its own, for
//! Apache DataFusion is larger than everything else together. In a checkout they are built first.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf, absolute};
use std::process::{Command, ExitCode};

use anyhow::{Context, bail};

use crate::invocation::Invocation;

/// Run SQL with functions in WebAssembly; a checkout builds the program for it
#[derive(clap::Args)]
#[command(after_help = "\
In a checkout the program is built when it is first asked for, which takes long, and again when
its sources have changed. What it takes: fathom sql -- --help; what it does: docs/SQL.md")]
pub struct Args {
    /// Handed over as they are, such as -c 'SELECT 1'
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// A program of that workspace.
pub struct Program {
    /// Its name, and its package's.
    pub name: &'static str,
    /// What it is for.
    pub what: &'static str,
    /// What building it for the first time comes with, and how long that takes.
    pub first: &'static str,
    /// Features of its package.
    pub features: &'static [&'static str],
}

const SQL: Program = Program {
    name: "fathom-sql",
    what: "SQL",
    first: "with Apache DataFusion, once: this takes long",
    features: &[],
};

/// Becomes that program.
///
/// # Errors
/// There is none, and no checkout to build it from.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    SQL.become_it(&args.args, invocation)
}

impl Program {
    /// Becomes this program, with these words.
    ///
    /// # Errors
    /// There is none, and no checkout to build it from.
    pub fn become_it(
        &self,
        words: &[OsString],
        invocation: &Invocation,
    ) -> anyhow::Result<ExitCode> {
        let home = invocation.home()?;
        let folder = home.map(|home| home.root().join("sql"));
        let program = match folder.filter(|folder| folder.join("Cargo.toml").is_file()) {
            Some(folder) => self.built(&folder)?,
            None => self.beside()?,
        };
        let error = Command::new(&program).args(words).exec();
        Err(error).with_context(|| program.display().to_string())
    }

    /// The program of a checkout, after it was built.
    fn built(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(target) => absolute(target)?,
            None => folder.join("target"),
        };
        let program = target.join("release").join(self.name);
        if !program.is_file() {
            eprintln!("fathom: building {} {}", folder.display(), self.first);
        }
        // In its folder, where the toolchain is said.
        let status = Command::new("cargo")
            .args(["build", "--release", "--locked", "--quiet"])
            .args(["--package", self.name])
            .args(self.features.iter().flat_map(|name| ["--features", name]))
            .arg("--target-dir")
            .arg(&target)
            .current_dir(folder)
            .status()
            .with_context(|| format!("cargo, which builds the program for {}", self.what))?;
        if !status.success() {
            bail!("the program for {} was not built: {status}", self.what);
        }
        Ok(program)
    }

    /// The program in the folder of this one.
    fn beside(&self) -> anyhow::Result<PathBuf> {
        let own = std::env::current_exe().context("where this program is")?;
        let program = own.with_file_name(self.name);
        if !program.is_file() {
            bail!(
                "no program for {}: there is no {}, and this is no checkout to build it from (--root names one)",
                self.what,
                program.display()
            );
        }
        Ok(program)
    }
}
