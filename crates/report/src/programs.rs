//! Did two campaigns measure the same programs? A change between two programs is no change of
//! an engine, and whoever reads it must know that first.

use std::collections::BTreeMap;

use fathom_record::campaign::{ModuleNote, WorkloadNote};
use fathom_record::{Header, Variant};

use crate::figures::count;

/// What differs between the programs of an earlier and a later campaign, a line each.
pub fn differences(before: &Header, after: &Header) -> Vec<String> {
    let mut lines = Vec::new();
    if let (Some(was), Some(is)) = (&before.config.module, &after.config.module) {
        lines.extend(modules(was, is));
    }
    let known: BTreeMap<(&str, &str), &WorkloadNote> = (before.workloads.iter())
        .map(|one| ((one.suite.as_str(), one.name.as_str()), one))
        .collect();
    let mut others = Vec::new();
    for is in &after.workloads {
        let was = known.get(&(is.suite.as_str(), is.name.as_str()));
        let how = was.and_then(|was| workload(was, is));
        others.extend(how.map(|how| format!("{} ({how})", is.name)));
    }
    match &others[..] {
        [] => {}
        [one] => lines.push(format!("another program in the later campaign: {one}")),
        [first, rest @ ..] => lines.push(format!(
            "other programs in the later campaign: {first} and {} more",
            rest.len()
        )),
    }
    lines
}

fn modules(was: &ModuleNote, is: &ModuleNote) -> Vec<String> {
    let mut lines = Vec::new();
    let name = is.path.file_name().unwrap_or_default().to_string_lossy();
    if was.digest != is.digest {
        lines.push(format!(
            "another program in the later campaign: {name} has {} ({}), it had {} ({})",
            bytes(is.bytes),
            short(&is.digest),
            bytes(was.bytes),
            short(&was.digest)
        ));
    }
    if was.args != is.args {
        lines.push(format!(
            "other arguments in the later campaign: {}, they were {}",
            words(&is.args),
            words(&was.args)
        ));
    }
    lines
}

/// How a workload is another than it was: its answer, or a build of it.
fn workload(was: &WorkloadNote, is: &WorkloadNote) -> Option<String> {
    if was.answer.is_some() && is.answer.is_some() && was.answer != is.answer {
        return Some("another answer is expected".to_owned());
    }
    let other = |(variant, size): (&Variant, &u64)| {
        let was = was.builds.get(variant).filter(|was| *was != size)?;
        Some(format!(
            "{variant} has {}, it had {}",
            bytes(*size),
            bytes(*was)
        ))
    };
    is.builds.iter().find_map(other)
}

fn bytes(number: u64) -> String {
    format!("{} bytes", count(number as f64))
}

fn words(args: &[String]) -> String {
    match args {
        [] => "none".to_owned(),
        args => format!("`{}`", args.join(" ")),
    }
}

/// As much of a digest as tells two apart.
fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(digest: &str, args: &[&str]) -> ModuleNote {
        ModuleNote {
            path: "/home/app.wasm".into(),
            bytes: 1000,
            digest: digest.to_owned(),
            args: args.iter().map(|&word| word.to_owned()).collect(),
        }
    }

    #[test]
    fn another_module_and_other_arguments_are_told() {
        let one = module("0123456789abcdef", &["5"]);
        assert!(modules(&one, &one).is_empty());
        let lines = modules(&one, &module("fedcba9876543210", &[]));
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(
            lines[0].contains("app.wasm has 1,000 bytes (fedcba987654)"),
            "{lines:?}"
        );
        assert!(lines[1].ends_with("none, they were `5`"), "{lines:?}");
    }

    #[test]
    fn another_build_of_a_workload_is_told() {
        let note = |bytes, answer: &str| WorkloadNote {
            suite: "s".to_owned(),
            name: "w".to_owned(),
            why: String::new(),
            answer: Some(answer.to_owned()),
            category: None,
            bytes: None,
            trips: None,
            builds: BTreeMap::from([(Variant::Wasm, bytes)]),
        };
        assert_eq!(workload(&note(5, "a"), &note(5, "a")), None);
        let how = workload(&note(5, "a"), &note(6, "a")).unwrap();
        assert!(how.contains("it had 5"), "{how}");
        let how = workload(&note(5, "a"), &note(5, "b")).unwrap();
        assert!(how.contains("answer"), "{how}");
    }
}
