//! `fathom sql`: hands over to a program in `sql/`, a workspace of its own, for Apache DataFusion is
//! larger than everything else together. In a checkout it is built first.

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

/// The program of that workspace, and its package.
const PROGRAM: &str = "fathom-sql";

/// Becomes that program.
///
/// # Errors
/// There is none, and no checkout to build it from.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let home = invocation.home()?;
    let folder = home.map(|home| home.root().join("sql"));
    let program = match folder.filter(|folder| folder.join("Cargo.toml").is_file()) {
        Some(folder) => built(&folder)?,
        None => beside()?,
    };
    let error = Command::new(&program).args(&args.args).exec();
    Err(error).with_context(|| program.display().to_string())
}

/// The program of a checkout, after it was built.
fn built(folder: &Path) -> anyhow::Result<PathBuf> {
    let target = match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => absolute(target)?,
        None => folder.join("target"),
    };
    let program = target.join("release").join(PROGRAM);
    if !program.is_file() {
        say!(
            "fathom: building {} with Apache DataFusion, once: this takes long",
            folder.display()
        );
    }
    // In its folder, where the toolchain is said.
    let status = Command::new("cargo")
        .args(["build", "--release", "--locked", "--quiet"])
        .args(["--package", PROGRAM])
        .arg("--target-dir")
        .arg(&target)
        .current_dir(folder)
        .status()
        .context("cargo, which builds the program for SQL")?;
    if !status.success() {
        bail!("the program for SQL was not built: {status}");
    }
    Ok(program)
}

/// The program in the folder of this one.
fn beside() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("where this program is")?;
    let program = own.with_file_name(PROGRAM);
    if !program.is_file() {
        bail!(
            "no program for SQL: there is no {}, and this is no checkout to build it from (--root names one)",
            program.display()
        );
    }
    Ok(program)
}
