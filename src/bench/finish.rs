//! After the last cell: the table, the reports, and what to do next.

use std::process::ExitCode;

use fathom_bench::{results::Results, session::Ended};

use super::{how_it_ended, prepare::Prepared};

/// Reports on a campaign; failure where a cell failed or an engine that was
/// asked for is absent.
pub fn finish(prepared: &Prepared, results: &Results, ended: Ended) -> anyhow::Result<ExitCode> {
    let folder = results.folder().display();
    if let Some(how) = how_it_ended(ended) {
        eprintln!("{how}; go on with: fathom bench --resume {folder}");
    }
    println!("samples: {folder}/samples.jsonl");
    let failures = results.campaign().failures.len();
    let missing = prepared
        .absent
        .iter()
        .filter(|absent| absent.is_wanted)
        .count();
    Ok(match (failures + missing, ended) {
        (_, Ended::Stopped) => ExitCode::from(130),
        (0, _) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}
