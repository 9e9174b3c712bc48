//! `fathom completions`: what a shell needs to complete this program's command line.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::report::print;

/// Print completions of this command line for a shell
#[derive(clap::Args)]
#[command(after_help = "\
For bash: fathom completions bash > ~/.local/share/bash-completion/completions/fathom
For zsh:  fathom completions zsh > a folder of $fpath, as _fathom
For fish: fathom completions fish > ~/.config/fish/completions/fathom.fish")]
pub struct Args {
    /// Which shell
    shell: Shell,
}

/// Prints them.
///
/// # Errors
/// Where the output cannot be written.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    generate(args.shell, &mut crate::Cli::command(), "fathom", &mut text);
    print(&String::from_utf8(text)?)?;
    Ok(ExitCode::SUCCESS)
}
