//! What is printed instead of doing anything: help, the version, and what is wrong with a
//! command line.

use std::io;
use std::process::ExitCode;

use anyhow::Context;
use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use crate::one_line::{lines, say, say_lines};

/// A wrong command line.
const USAGE: u8 = 2;

/// Prints what clap has to say instead of a command line: on standard output what was asked
/// for, on standard error what is wrong.
///
/// # Errors
/// Help that cannot be written.
pub fn tell(mut error: Error, cli: &Command) -> anyhow::Result<ExitCode> {
    if error.kind() == ErrorKind::InvalidUtf8 {
        say(
            "fathom: a word of the command line is not UTF-8, and is kept in JSON, which can only \
             have that: give the file or the folder another name, or a link with one",
        );
        return Ok(ExitCode::from(USAGE));
    }
    offer_no_hidden(&mut error, cli);
    if let Some(text) = without_commands(&error) {
        say_lines(&text);
        return Ok(ExitCode::from(USAGE));
    }
    match error.print() {
        Err(why) if why.kind() == io::ErrorKind::BrokenPipe => {}
        // Nobody reads it there, and the status says the same.
        Err(_) if error.use_stderr() => {}
        printed => printed.context("standard output")?,
    }
    // Exit statuses of clap's are 0 and 2.
    Ok(ExitCode::from(if error.use_stderr() { USAGE } else { 0 }))
}

/// What is said where a word that was mistyped is a command to the terminal: without colours.
fn without_commands(error: &Error) -> Option<String> {
    let text = error.render();
    let coloured = text.ansi().to_string();
    (lines(&coloured) != coloured).then(|| text.to_string().trim_end().to_owned())
}

/// Takes commands that are not for users from what is offered for a mistyped one.
fn offer_no_hidden(error: &mut Error, cli: &Command) {
    let kind = ContextKind::SuggestedSubcommand;
    let offered = match error.get(kind) {
        Some(ContextValue::Strings(names)) => names.clone(),
        Some(ContextValue::String(name)) => vec![name.clone()],
        _ => return,
    };
    let is_hidden = |name: &String| {
        let command = cli.find_subcommand(name);
        command.is_some_and(Command::is_hide_set)
    };
    let left: Vec<String> = offered
        .into_iter()
        .filter(|name| !is_hidden(name))
        .collect();
    match left.is_empty() {
        true => drop(error.remove(kind)),
        false => drop(error.insert(kind, ContextValue::Strings(left))),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn a_mistyped_word_is_no_command_to_a_terminal() {
        let told = |words: &[&str]| {
            let error = crate::Cli::command().try_get_matches_from(words);
            without_commands(&error.unwrap_err())
        };
        for words in [
            &["fathom", "q\x1b]0;title\x07"][..],
            &["fathom", "run", "--q\u{9b}31m"],
            &["fathom", "run", "--timeout", "q\x1b[2J", "x.wasm"],
        ] {
            let text = told(words).unwrap();
            assert!(text.starts_with("error: "), "{text}");
            assert!(!text.contains('\x1b'), "{text}");
        }
        assert_eq!(told(&["fathom", "nonsense"]), None);
    }
}
