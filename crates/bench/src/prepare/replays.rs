//! Whether what is measured are replays of records, which the report says.
//!
//! A replay is told by the names that `fathom replay` gives its own functions.

use std::{collections::BTreeSet, fs};

use wasmparser::{KnownCustom, Name, Parser, Payload};

use crate::plan::Plan;

/// The function that ends a replay where a call is not the recorded one.
const DIFFER: &str = "replay.differ";

/// Whether one of the modules is a replay.
pub(super) fn any(plan: &Plan) -> bool {
    let modules = plan.tasks.iter().filter(|task| task.cell.variant.is_wasm());
    let modules: BTreeSet<_> = modules.map(|task| &task.artifact).collect();
    let mut read = modules.into_iter().filter_map(|path| fs::read(path).ok());
    read.any(|module| is_replay(&module))
}

/// Whether a function of a module has the name; no for what is no module.
fn is_replay(module: &[u8]) -> bool {
    let payloads = Parser::new(0).parse_all(module).map_while(Result::ok);
    let mut names = payloads.filter_map(|payload| match payload {
        Payload::CustomSection(section) => match section.as_known() {
            KnownCustom::Name(names) => Some(names),
            _ => None,
        },
        _ => None,
    });
    names.any(|names| names.into_iter().map_while(Result::ok).any(has_name))
}

fn has_name(names: Name<'_>) -> bool {
    match names {
        Name::Function(functions) => {
            (functions.into_iter().map_while(Result::ok)).any(|function| function.name == DIFFER)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_is_told_by_a_name_of_its_functions() {
        let module = |name: &str| {
            wat::parse_str(format!("(module (func ${name}))")).expect("it is well-formed")
        };
        assert!(is_replay(&module("replay.differ")));
        assert!(!is_replay(&module("differ")));
        assert!(!is_replay(b"\0asm"));
        assert!(!is_replay(b""));
    }
}
