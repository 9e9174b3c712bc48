//! `fathom manual`: the manual's pages, for man(1).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::report::print;

/// Print a manual page for man(1), or write all of them
#[derive(clap::Args)]
#[command(after_help = "\
To read one:     fathom manual bench | man -l -
To install all:  fathom manual --out ~/.local/share/man/man1, then man fathom-bench")]
pub struct Args {
    /// The command; by default the page of the program
    #[arg(value_name = "COMMAND")]
    of: Option<String>,
    /// Write every page into this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "of")]
    out: Option<PathBuf>,
}

/// Prints a page, or writes all.
///
/// # Errors
/// A command that there is not; where a page cannot be written.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut program = crate::Cli::command();
    program.build();
    if let Some(folder) = &args.out {
        return write_all(&program, folder);
    }
    let (name, command) = match &args.of {
        None => ("fathom".to_owned(), program),
        Some(of) => {
            let found = pages(&program).find(|command| command.get_name() == of);
            let names: Vec<&str> = pages(&program).map(Command::get_name).collect();
            let found = found
                .with_context(|| format!("no command `{of}`: there is {}", names.join(", ")))?;
            (format!("fathom-{of}"), found.clone())
        }
    };
    print(&page(&name, command)?)?;
    Ok(ExitCode::SUCCESS)
}

fn write_all(program: &Command, folder: &Path) -> anyhow::Result<ExitCode> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let each = pages(program).map(|command| (format!("fathom-{}", command.get_name()), command));
    for (name, command) in each.chain([("fathom".to_owned(), program)]) {
        let path = folder.join(format!("{name}.1"));
        fs::write(&path, page(&name, command.clone())?)
            .with_context(|| path.display().to_string())?;
        print(&format!("{}\n", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The commands that a user is told of.
fn pages(program: &Command) -> impl Iterator<Item = &Command> {
    let shown = |command: &&Command| !command.is_hide_set() && command.get_name() != "help";
    program.get_subcommands().filter(shown)
}

fn page(name: &str, command: Command) -> anyhow::Result<String> {
    let mut text = Vec::new();
    // Names are kept by reference for as long as there is a command.
    let name: &'static str = name.to_owned().leak();
    Man::new(command.name(name)).render(&mut text)?;
    Ok(String::from_utf8(text)?)
}
