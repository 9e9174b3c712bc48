//! `fathom replay`: a record and its module made one module that any engine runs.

use std::fs::File;
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
    #[arg(short, long = "out", alias = "output", value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes the module.
///
/// # Errors
/// A record that is damaged or of another module; a module that is not replayed.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let read = read(&args.record, args.module, args.output, "replay.wasm")?;
    let output = &read.output;
    let made =
        replay(&read.record, &read.wasm).with_context(|| args.record.display().to_string())?;
    regular::write_output(output, &made.wasm).with_context(|| output.display().to_string())?;
    tell(output, &read.record, &made);
    Ok(ExitCode::SUCCESS)
}

/// What was recorded, and where what is made of it goes.
pub struct Recording {
    pub record: Record,
    /// The module.
    pub wasm: Vec<u8>,
    pub output: PathBuf,
}

/// Reads a record and its module, which is beside it where none is named, as what is made of
/// them is, with an extension.
///
/// # Errors
/// What is no record, is cut off or was changed; an output that is one of the inputs.
pub fn read(
    record: &Path,
    module: Option<PathBuf>,
    output: Option<PathBuf>,
    extension: &str,
) -> anyhow::Result<Recording> {
    let module = module.unwrap_or_else(|| beside(record));
    let output = output.unwrap_or_else(|| record.with_extension(extension));
    inputs::spare(&output, [record, &module])?;
    let whole = recorded(record).with_context(|| record.display().to_string())?;
    Ok(Recording {
        record: whole,
        wasm: load::read(&module)?,
        output,
    })
}

/// The record in a file.
fn recorded(path: &Path) -> anyhow::Result<Record> {
    let file: File = regular::open(path)?;
    let bytes = file.metadata()?.len();
    Ok(Record::read(BufReader::new(file), bytes)?)
}

fn tell(output: &Path, record: &Record, made: &Replay) {
    say(&format!(
        "fathom: {}: {} bytes, {} of them the record; it prints '{}'",
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
