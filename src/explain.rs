//! `fathom explain`: what stands out among traces, and why.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use fathom_report::figures::plural;
use fathom_sys::regular;
use fathom_trace::explain::{Finding, explain};
use fathom_trace::trace::Trace;
use serde::Serialize;

use crate::one_line::say;
use crate::report::print;

/// Find what is unusual about an engine in traces of several, and why
#[derive(clap::Args)]
pub struct Args {
    /// Files written by `fathom trace --out`, or folders of them
    #[arg(required = true, value_name = "TRACES")]
    traces: Vec<PathBuf>,

    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// Reads the traces and explains.
///
/// # Errors
/// A file that cannot be read, or is no trace; a folder without any.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut traces = Vec::new();
    for path in &args.traces {
        let found = traces.len();
        match path.is_dir() {
            true => read_folder(path, &mut traces)?,
            false => traces.push(read(path)?),
        }
        if traces.len() == found {
            bail!("{}: no trace in it (`fathom trace --out`)", path.display());
        }
    }
    let findings = explain(&traces);
    let text = match args.json {
        true => serde_json::to_string_pretty(&json(&findings))? + "\n",
        false => text(&traces, &findings),
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> anyhow::Result<Trace> {
    let text = regular::read_to_string(path).with_context(|| path.display().to_string())?;
    Trace::parse(&text).with_context(|| path.display().to_string())
}

/// The traces in a folder, by name. What is JSON and no trace is said and passed over; other
/// files are none of ours.
fn read_folder(folder: &Path, traces: &mut Vec<Trace>) -> anyhow::Result<()> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "json"));
    files.sort();
    for file in &files {
        match read(file) {
            Ok(trace) => traces.push(trace),
            Err(error) => say(&format!("passed over: {error:#}")),
        }
    }
    Ok(())
}

/// A finding as programs read it.
#[derive(Serialize)]
struct Found<'a> {
    program: &'a str,
    size: Option<f64>,
    /// None: all of them.
    engine: Option<&'a str>,
    symptoms: &'a [String],
    causes: Vec<Cause<'a>>,
}

#[derive(Serialize)]
struct Cause<'a> {
    name: &'a str,
    meaning: &'a str,
    evidence: &'a str,
}

fn json(findings: &[Finding]) -> Vec<Found<'_>> {
    let found = findings.iter().map(|finding| Found {
        program: &finding.family,
        size: finding.size,
        engine: finding.engine.as_deref(),
        symptoms: &finding.symptoms,
        causes: (finding.causes.iter())
            .map(|cause| Cause {
                name: cause.name,
                meaning: cause.words,
                evidence: &cause.evidence,
            })
            .collect(),
    });
    found.collect()
}

fn text(traces: &[Trace], findings: &[Finding]) -> String {
    let mut engines: Vec<&str> = traces.iter().filter_map(|t| t.engine.as_deref()).collect();
    engines.sort_unstable();
    engines.dedup();
    let mut text = format!(
        "{} on {}: {}\n",
        plural(traces.len(), "trace"),
        plural(engines.len(), "engine"),
        match findings.len() {
            0 => "nothing stands out".to_owned(),
            1 => "1 finding".to_owned(),
            more => format!("{more} findings"),
        }
    );
    for finding in findings {
        let size = finding
            .size
            .map_or(String::new(), |size| format!(" {size}"));
        let engine = finding.engine.as_deref().unwrap_or("every engine");
        text += &format!("\n{}{size} · {engine}\n", finding.family);
        for symptom in &finding.symptoms {
            text += &format!("  seen    {symptom}\n");
        }
        for cause in &finding.causes {
            text += &format!("  cause   {}: {}\n", cause.name, cause.words);
            text += &format!("          {}\n", cause.evidence);
        }
        if finding.causes.is_empty() {
            text += "  cause   unexplained\n";
        }
    }
    text
}
