//! `fathom replay`: a record and its module made one module that any engine runs.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use fathom_replay::program::{Replay, replay};
use fathom_replay::record::Record;
use fathom_replay::record::check::Cut;
use fathom_sys::regular;

use crate::inputs;
use crate::one_line::say;
use crate::record::beside;
use crate::run::load;

/// Make of a record one module that any engine runs, without its host
#[derive(clap::Args)]
#[command(after_help = "\
The module calls its own exports from _start, in the order of the record; its imports are \
functions that answer as recorded. It compares what it passes to them, prints an answer and \
exits with status 0, or says where it first passed something else and exits with status 1. \
docs/REPLAY.md says what that may be used to say.")]
pub struct Args {
    /// A record, of `fathom record`
    record: PathBuf,
    /// The module that was recorded [default: RECORD.wasm]
    #[arg(long, value_name = "FILE")]
    module: Option<PathBuf>,
    /// File for the new module [default: RECORD with the extension .replay.wasm]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes the module.
///
/// # Errors
/// A record that is damaged or of another module; a module that is not replayed.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let word = args.record.display().to_string();
    let module = args.module.unwrap_or_else(|| beside(&args.record));
    let output = args
        .output
        .unwrap_or_else(|| args.record.with_extension("replay.wasm"));
    inputs::spare(&output, [args.record.as_path(), &module])?;
    let record = read(&args.record).with_context(|| word.clone())?;
    let wasm = load::read(&module)?;
    let made = replay(&record, &wasm).with_context(|| word.clone())?;
    fs::write(&output, &made.wasm).with_context(|| output.display().to_string())?;
    tell(&output, &record, &made, wasm.len());
    Ok(ExitCode::SUCCESS)
}

/// The record in a file.
///
/// # Errors
/// What is none, is cut off or was changed.
pub fn read(path: &Path) -> anyhow::Result<Record> {
    let file: File = regular::open(path)?;
    let bytes = file.metadata()?.len();
    Ok(Record::read(BufReader::new(file), bytes)?)
}

fn tell(output: &Path, record: &Record, made: &Replay, bytes: usize) {
    say(&format!(
        "fathom: {}: {} bytes, {bytes} of them the module, {} the record; it prints '{}'",
        output.display(),
        made.wasm.len(),
        made.script_bytes,
        made.answer.trim_end(),
    ));
    match made.checked.cut {
        Some(Cut::Trapped) => say(&format!(
            "fathom: it ends in front of a call that trapped (event {} of {}): a module cannot catch that",
            made.checked.stop, record.header.count,
        )),
        Some(Cut::Threw) | None => {}
    }
    for lost in &record.header.lost {
        say(&format!("fathom: not in the record: {lost}"));
    }
}
