//! `fathom engines`: which outside engines there are, getting them, removing
//! them, and whether those that are here work.
//!
//! What there is stands in `engines/*/engine.toml`; what is installed is known
//! by `engines/install.py` alone, which this command drives with Python 3: a
//! build of several languages is a script's work, and its recipes are used
//! without this program too (`make tools`). To install and to remove, this
//! process becomes the script's: its signals, its output and its exit status
//! need nobody in between.

pub mod doctor;
mod list;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, bail, ensure};
use fathom_bench::engines::{self, EngineSpec};
use fathom_bench::home::Home;
use fathom_bench::mistyped::did_you_mean;
use serde::{Deserialize, Serialize};

use crate::invocation::Invocation;

/// Stands for every engine that can be installed.
const ALL: &str = "all";

/// List, install, remove and check the engines that Fathom is compared with
#[derive(clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Engines are installed from package registries, in pinned versions, into .tools/engines of the \
checkout, or of your data folder outside a checkout. Nothing else is changed. Installing needs \
Python 3.11 or newer as python3; further needs of an engine are named if they are missing."
)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List every engine with version, state, disk use, strategies and backends, and those
    /// that are not available, with the reason
    List {
        /// Ask the registries which releases they offer, of the engines that are had in several
        #[arg(long)]
        versions: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Install engines, and show the time and disk that each took
    Install {
        /// Engines in their pinned versions, or in others as NAME@VERSION, side by side; or `all`;
        /// by default those that install quickly
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Remove installed engines
    Remove {
        /// Engines, as NAME or NAME@VERSION, or `all`
        #[arg(value_name = "NAME", required = true)]
        names: Vec<String>,
    },
    /// Check that each installed engine works: its version, and the tier and checks in force
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Engines, as NAME or NAME@VERSION; all by default
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
}

/// What `install.py --list --json` says of an engine.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct State {
    /// The engine's, as NAME@VERSION for a release beside the pinned one.
    pub name: String,
    version: String,
    installed: bool,
    /// Installed once, from a recipe that has changed.
    outdated: bool,
    #[serde(default)]
    seconds: Option<f64>,
    #[serde(default)]
    bytes: Option<u64>,
    /// Why its recipe cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Carries out what was asked for.
///
/// # Errors
/// One that a user understands, where it cannot be done.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let home = invocation.home()?.context(
        "there is no checkout of fathom around this folder or this program, and no data folder \
         of yours: set HOME or XDG_DATA_HOME to a folder that you may write to, or name a \
         checkout by --root or in FATHOM_HOME",
    )?;
    match args.action {
        Action::List {
            versions: true,
            json,
        } => {
            let options = ["--releases", "--json"];
            become_installer(&home, &options[..1 + usize::from(json)], &[])
        }
        Action::List { json, .. } => list::run(&home, json),
        Action::Install { names } => become_installer(&home, &[], &names),
        Action::Remove { names } => become_installer(&home, &["--remove"], &names),
        Action::Doctor { names, json } => doctor::run(&home, &names, json),
    }
}

/// The descriptions; complaints about unreadable ones go to standard error.
fn described(home: &Home) -> Vec<EngineSpec> {
    let (specs, errors) = engines::all(home);
    for error in errors {
        say!("fathom: {error}");
    }
    specs
}

fn installer(home: &Home) -> anyhow::Result<Command> {
    let script = home.engines().join("install.py");
    if !script.is_file() {
        bail!("{}: there is no installer of engines", script.display());
    }
    let mut command = Command::new("python3");
    command.arg(script);
    Ok(command)
}

/// Says what to do where Python cannot be started.
fn no_python(error: std::io::Error) -> anyhow::Error {
    anyhow::Error::new(error)
        .context("python3 cannot be started, and installing engines needs it (3.11 or newer)")
}

/// Refuses a name without a recipe before anything happens.
fn check_names(home: &Home, what: &str, names: &[String]) -> anyhow::Result<()> {
    let known = recipes(&home.engines());
    match names
        .iter()
        .find(|name| *name != ALL && !known.contains(engine_of(name)))
    {
        None => Ok(()),
        Some(name) => {
            let meant = did_you_mean(engine_of(name), known.iter().map(String::as_str));
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            bail!("there is no engine {name:?} to {what}: there is {known}{meant}")
        }
    }
}

/// The engine that NAME or NAME@VERSION is of.
fn engine_of(name: &str) -> &str {
    name.split_once('@').map_or(name, |(engine, _)| engine)
}

/// The names of the engines that have a recipe.
fn recipes(engines: &Path) -> BTreeSet<String> {
    fs::read_dir(engines)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().join("recipe.py").is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}

fn become_installer(home: &Home, options: &[&str], names: &[String]) -> anyhow::Result<ExitCode> {
    let what = match options {
        ["--remove"] => "remove",
        _ => "install",
    };
    check_names(home, what, names)?;
    let mut command = installer(home)?;
    Err(no_python(
        command.args(options).arg("--").args(names).exec(),
    ))
}

/// The releases of an engine that are installed, the newest first.
///
/// # Errors
/// There is no such engine.
pub fn installed(home: &Home, name: &str) -> anyhow::Result<Vec<String>> {
    let specs = described(home);
    let spec = specs.iter().find(|spec| spec.name == name);
    let spec = spec.with_context(|| unknown(&specs, name))?;
    Ok(spec.installed(home))
}

/// The releases of an engine that its registry offers, the newest first.
///
/// # Errors
/// There is none, or the registry does not answer.
pub fn offered(home: &Home, name: &str) -> anyhow::Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Answer {
        engines: Vec<Offer>,
    }
    #[derive(Deserialize)]
    struct Offer {
        versions: Vec<String>,
        error: Option<String>,
    }
    let specs = described(home);
    let spec = specs.iter().find(|spec| spec.name == name);
    let spec = spec.with_context(|| unknown(&specs, name))?;
    ensure!(spec.versions.is_some(), "{name} is had in one version");
    let output = installer(home)?
        .args(["--releases", "--json", "--", name])
        .output()
        .map_err(no_python)?;
    let answer: Answer = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("engines/install.py: {}", last_line(&output.stderr)))?;
    match answer.engines.into_iter().next() {
        Some(Offer {
            error: None,
            versions,
        }) => Ok(versions),
        Some(Offer {
            error: Some(error), ..
        }) => bail!("{name}: {error}"),
        None => bail!("{name} is had in one version"),
    }
}

/// Installs an engine, or finds that it is; why it cannot be, in one line.
pub fn install_one(home: &Home, name: &str) -> Result<(), String> {
    let mut command = installer(home).map_err(|error| format!("{error:#}"))?;
    let output = command.args(["--", name]).output();
    let output = output.map_err(|error| format!("{:#}", no_python(error)))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(last_line(&output.stderr)),
    }
}

fn last_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    last.unwrap_or("it failed without a word").to_owned()
}

fn unknown(specs: &[EngineSpec], name: &str) -> String {
    let known: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    let meant = did_you_mean(name, known.iter().copied());
    format!(
        "there is no engine {name:?}: there is {}{meant}",
        known.join(", ")
    )
}

/// What is installed.
///
/// # Errors
/// No Python, or a recipe that it cannot read.
pub fn states(home: &Home) -> anyhow::Result<Vec<State>> {
    let output = installer(home)?
        .args(["--list", "--json"])
        .output()
        .map_err(no_python)?;
    if !output.status.success() {
        bail!("engines/install.py: {}", last_line(&output.stderr));
    }
    serde_json::from_slice(&output.stdout).context("engines/install.py: what it lists")
}
