//! What a component is, known from its first level: whether it is a command, and whether it
//! imports no more than commands are given.
//!
//! What must stay true: what is refused here no engine that takes components would run; names
//! inside of a component are not its own.

use wasmparser::{Parser, Payload};

use super::outline::Outline;
use crate::one_line::clipped;

/// What a command exports: an interface without its version.
const RUN: &str = "wasi:cli/run";

/// Packages of the world that commands are given, `wasi:cli/command` of WASI 0.2.
const GIVEN: [&str; 6] = [
    "wasi:cli",
    "wasi:clocks",
    "wasi:filesystem",
    "wasi:io",
    "wasi:random",
    "wasi:sockets",
];

/// The version of WASI that engines are asked for.
const VERSION: &str = "0.2";

/// Whether any engine that takes components could run it, as far as its names tell.
///
/// # Errors
/// One line: what it imports that no command is given, or that it is none.
pub fn check(component: &[u8]) -> Result<(), String> {
    if let Some(cut) = Outline::of(component).cut {
        return Err(cut.to_string());
    }
    // The engine says what is wrong with it.
    let Some(Names { imports, exports }) = names(component) else {
        return Ok(());
    };
    if let Some(name) = imports.iter().find(|name| !is_given(name)) {
        return Err(format!(
            "a component that imports '{}': commands are given WASI {VERSION} (wasi:cli/command), \
             and no more",
            clipped(name)
        ));
    }
    if exports.iter().any(|name| interface(name) == Some(RUN)) {
        return Ok(());
    }
    let there: Vec<String> = exports.iter().map(|name| clipped(name)).collect();
    Err(format!(
        "a component, but no command: it exports no {RUN}@{VERSION} ({})",
        match &there[..] {
            [] => "it exports nothing".to_owned(),
            [first] => format!("there is {first}"),
            [first, ..] => format!("there are {}: {first}, …", there.len()),
        }
    ))
}

/// Names of the outermost component.
#[derive(Default)]
struct Names<'a> {
    imports: Vec<&'a str>,
    exports: Vec<&'a str>,
}

/// None where it is malformed.
fn names(component: &[u8]) -> Option<Names<'_>> {
    let mut names = Names::default();
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(component) {
        match payload.ok()? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    names.imports.push(import.ok()?.name.name);
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    names.exports.push(export.ok()?.name.name);
                }
            }
            _ => {}
        }
    }
    Some(names)
}

fn is_given(import: &str) -> bool {
    let package = interface(import).and_then(|interface| interface.split_once('/'));
    package.is_some_and(|(package, _)| GIVEN.contains(&package))
}

/// An interface without its version, which is one of those that engines are asked for.
fn interface(name: &str) -> Option<&str> {
    let (interface, version) = name.split_once('@')?;
    let patch = version.strip_prefix(VERSION)?;
    (patch.is_empty() || patch.starts_with('.')).then_some(interface)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Result<(), String> {
        check(&wat::parse_str(text).unwrap())
    }

    #[test]
    fn a_command_of_this_wasi_is_let_through() {
        let command = r#"(component
            (import "wasi:cli/stdout@0.2.3" (instance))
            (instance $run)
            (export "wasi:cli/run@0.2.0" (instance $run)))"#;
        said(command).unwrap();
        let newer = command.replace("run@0.2.0", "run@0.3.0");
        assert!(
            said(&newer)
                .unwrap_err()
                .contains("exports no wasi:cli/run@0.2 (there is wasi:cli/run@0.3.0)")
        );
        let others = command.replace("wasi:cli/stdout@0.2.3", "wasi:http/types@0.2.0");
        assert!(
            said(&others)
                .unwrap_err()
                .contains("imports 'wasi:http/types@0.2.0'")
        );
        let nearly = command.replace("wasi:cli/stdout@0.2.3", "wasi:clix/stdout@0.2.3");
        assert!(said(&nearly).is_err());
    }

    #[test]
    fn one_that_is_cut_short_or_empty_is_refused() {
        assert!(
            said("(component)")
                .unwrap_err()
                .contains("it exports nothing")
        );
        let whole = wat::parse_str("(component (core module (func)))").unwrap();
        let error = check(&whole[..whole.len() - 1]).unwrap_err();
        assert!(!error.contains("exports"), "{error}");
    }

    #[test]
    fn names_inside_of_it_are_not_its_own() {
        let inner = r#"(component (component
            (instance $run) (export "wasi:cli/run@0.2.0" (instance $run))))"#;
        assert!(said(inner).is_err());
    }
}
