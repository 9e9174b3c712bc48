//! What stands behind a module is the program's: `--` is put in front of it.
//!
//! ```text
//!  fathom run --bounds trap app.wasm --version
//!  fathom run --bounds trap app.wasm -- --version
//! ```
//!
//! What must stay true: this is done before anybody else reads the words, so that no option
//! of the program's is taken for one of ours, by whatever reads them. A word that is not
//! understood leaves them as they are, for clap to say what is wrong.

use std::ffi::OsString;

use clap::{Arg, Command};

/// Commands that run a program, and take its arguments behind it.
const COMMANDS: [&str; 2] = ["run", "trace"];

/// Ends the options.
const ESCAPE: &str = "--";

/// The words of the command line, the program's apart from ours.
pub fn marked(mut words: Vec<OsString>, cli: &Command) -> Vec<OsString> {
    let Some(at) = first_name(cli, &words, 1) else {
        return words;
    };
    let name = words[at].to_str().filter(|name| COMMANDS.contains(name));
    let Some(command) = name.and_then(|name| cli.find_subcommand(name)) else {
        return words;
    };
    let Some(module) = first_name_of([command, cli], &words, at + 1) else {
        return words;
    };
    let rest = words.get(module + 1);
    if rest.is_some_and(|word| word != ESCAPE) {
        words.insert(module + 1, OsString::from(ESCAPE));
    }
    words
}

fn first_name(command: &Command, words: &[OsString], from: usize) -> Option<usize> {
    first_name_of([command, command], words, from)
}

/// Where the first word is that is neither an option of these commands nor the value of one.
fn first_name_of(commands: [&Command; 2], words: &[OsString], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let word = words.get(at)?.to_str().unwrap_or_default();
        at += match word.strip_prefix('-') {
            // Everything behind it is a name already.
            Some("-") => return None,
            Some(option) if !option.is_empty() => words_of(commands, option)?,
            _ => return Some(at),
        };
    }
}

/// How many words an option takes, itself and its value; none if there is no such option.
fn words_of(commands: [&Command; 2], option: &str) -> Option<usize> {
    let find = |is: &dyn Fn(&Arg) -> bool| {
        let mut args = commands.into_iter().flat_map(Command::get_arguments);
        args.find(|arg| is(arg))
    };
    let Some(long) = option.strip_prefix('-') else {
        // Of several letters the last may have a value, and all of these have none.
        let last = option.chars().last()?;
        let is_help = matches!(last, 'h' | 'V');
        return match find(&|arg| arg.get_short() == Some(last)) {
            Some(arg) => Some(1 + usize::from(takes_next(arg))),
            None => is_help.then_some(1),
        };
    };
    let (name, has_value) = match long.split_once('=') {
        Some((name, _)) => (name, true),
        None => (long, false),
    };
    match find(&|arg| arg.get_long() == Some(name)) {
        Some(arg) => Some(1 + usize::from(!has_value && takes_next(arg))),
        None => matches!(name, "help" | "version").then_some(1),
    }
}

/// Whether the word behind an option is its value.
fn takes_next(arg: &Arg) -> bool {
    let range = arg.get_num_args().unwrap_or_default();
    arg.get_action().takes_values() && range.min_values() > 0 && !arg.is_require_equals_set()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn line(text: &str) -> String {
        let words = text.split(' ').map(OsString::from).collect();
        let mut cli = crate::Cli::command();
        cli.build();
        let words = marked(words, &cli);
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }

    #[test]
    fn what_is_behind_the_module_is_the_programs() {
        for (given, expected) in [
            (
                "fathom run a.wasm --version",
                "fathom run a.wasm -- --version",
            ),
            ("fathom run a.wasm -h x", "fathom run a.wasm -- -h x"),
            (
                "fathom run -v a.wasm --bounds trap",
                "fathom run -v a.wasm -- --bounds trap",
            ),
            (
                "fathom run --bounds trap a.wasm 1",
                "fathom run --bounds trap a.wasm -- 1",
            ),
            (
                "fathom run --bounds=trap a.wasm 1",
                "fathom run --bounds=trap a.wasm -- 1",
            ),
            (
                "fathom run --count a.wasm 1",
                "fathom run --count a.wasm -- 1",
            ),
            (
                "fathom run --count=json a.wasm 1",
                "fathom run --count=json a.wasm -- 1",
            ),
            (
                "fathom --root x run --root y a.wasm -- 1",
                "fathom --root x run --root y a.wasm -- 1",
            ),
            (
                "fathom run --features -simd a.wasm -x",
                "fathom run --features -simd a.wasm -- -x",
            ),
            ("fathom trace a.wasm 1", "fathom trace a.wasm -- 1"),
            (
                "fathom trace --by kernel a.wasm --out x",
                "fathom trace --by kernel a.wasm -- --out x",
            ),
        ] {
            assert_eq!(line(given), expected);
        }
    }

    #[test]
    fn other_lines_are_left_as_they_are() {
        for same in [
            "fathom run a.wasm",
            "fathom run a.wasm -- --version",
            "fathom run -- a.wasm --version",
            "fathom run --version",
            "fathom run --nonsense a.wasm --version",
            "fathom trace -- ls -l",
            "fathom bench a.wasm --rounds 1",
            "fathom help run",
            "fathom --version",
            "fathom",
        ] {
            assert_eq!(line(same), same);
        }
    }
}
