//! Headers of earlier formats, as they would be written today.
//!
//! Format 1 kept in one map of remarks what a campaign was about (`selection`,
//! `figure`, `spec`), what was absent, and notes for readers. Each goes to its field;
//! what nobody ever read stays a remark.

use std::path::PathBuf;

use super::{AbsentNote, Header};
use crate::experiment::{Experiment, Format1};

/// In front of what was absent, in a remark's name.
const ABSENT: &str = "absent ";
/// In front of a module's file, in the name of the remark on its length.
const BYTES: &str = "bytes ";
/// Behind a workload's name where it was found in the cache.
const CACHED: &str = "-cached";

/// Brings the header of a file of format 1 to what is written today. Its number
/// stays: it is what the file says of itself.
pub(super) fn from_format_1(header: &mut Header) {
    let config = &mut header.config;
    let mut take = |name: &str| config.other.remove(name);
    let (selection, figure, spec) = (take("selection"), take("figure"), take("spec"));
    config.any_output = take("output").is_some();
    config.folder = take("folder").map(PathBuf::from);
    config.uncounted = take("syscalls");
    config.budget_ms = take("budget").and_then(|text| {
        let seconds: f64 = text.trim_end_matches(" s").parse().ok()?;
        Some((seconds * 1000.0) as u64)
    });
    config.experiment = Experiment::of_format_1(&Format1 {
        selection: selection.as_deref(),
        figure: figure.as_deref(),
        has_spec: spec.is_some(),
        has_module: config.module.is_some(),
        name: &header.name,
    });
    let remarks = std::mem::take(&mut config.other);
    for (name, text) in remarks {
        if let Some(engine) = name.strip_prefix(ABSENT) {
            config.absent.push(AbsentNote {
                engine: engine.to_owned(),
                why: text,
                install: None,
            });
        } else if let (Some(file), Ok(bytes)) = (name.strip_prefix(BYTES), text.parse()) {
            let module = file.trim_end_matches(".wasm");
            for note in &mut header.workloads {
                if note.name.trim_end_matches(CACHED) == module {
                    note.bytes = Some(bytes);
                }
            }
        } else {
            config.other.insert(name, text);
        }
    }
}
