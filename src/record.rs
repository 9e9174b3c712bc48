//! `fathom record`: what a program asks of its host, recorded once.
//!
//! ```text
//!  fathom record -- node app.js      record/process.rs: the recorder, src/record/*.cjs, is
//!  fathom record PAGE.html           record/page.rs     loaded in front of the program
//!     ▼
//!  a file of events and a note for each instance ─▶ the one that ran longest ─▶ FILE, FILE.wasm
//! ```
//!
//! What must stay true: what is written was checked against its module, as whoever reads it
//! will check it; nothing is left behind where nothing was recorded.

mod devtools;
mod page;
mod process;
mod site;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use fathom_replay::program::replay;
use fathom_replay::record::check::{Checked, check};
use fathom_replay::record::{EVENT_BYTES_MAX, Given, Record, Sized, Value};
use fathom_report::figures::plural;
use fathom_rewrite::shape::Shape;
use serde::Deserialize;

use fathom_bench::scratch::Scratch;
use fathom_sys::usage::Ended;
use fathom_sys::{handed, regular};

use crate::bench::args::duration;
use crate::inputs;
use crate::invocation::Invocation;
use crate::one_line::say;

/// How long a program has to end that was told to.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often is looked whether it is over.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What is loaded in front of the program, but for what says where that runs.
const MODULES: [(&str, &str); 6] = [
    ("preload.cjs", include_str!("record/preload.cjs")),
    ("instance.cjs", include_str!("record/instance.cjs")),
    ("memory.cjs", include_str!("record/memory.cjs")),
    ("shape.cjs", include_str!("record/shape.cjs")),
    ("stream.cjs", include_str!("record/stream.cjs")),
    ("tables.cjs", include_str!("record/tables.cjs")),
];

/// Record what a module asks of its JavaScript host, for `fathom replay`
#[derive(clap::Args)]
#[command(
    override_usage = "fathom record [OPTIONS] <PAGE>\n       fathom record [OPTIONS] -- <COMMAND>..."
)]
pub struct Args {
    /// File for the record; its module goes beside it, as FILE.wasm
    #[arg(
        short,
        long = "out",
        alias = "output",
        value_name = "FILE",
        default_value = "app.record"
    )]
    output: PathBuf,
    /// Which instance, by the number it is listed under [default: the one that ran longest]
    #[arg(long, value_name = "N")]
    instance: Option<usize>,
    /// Which bytes of a memory are compared at each call
    #[arg(long, value_enum, default_value = "auto", value_name = "WHICH")]
    compare: Compare,
    /// Record a page for so long, once it is loaded [default: until nothing runs for 3 s, 10 min at most]
    #[arg(long = "for", value_name = "TIME", value_parser = duration, requires = "page")]
    time: Option<Duration>,
    /// Show the page in a browser without its sandbox, as root must
    #[arg(long, requires = "page")]
    no_sandbox: bool,
    /// A page (.html) or its address, which Chromium shows
    #[arg(value_name = "PAGE", required_unless_present = "command")]
    page: Option<PathBuf>,
    /// The program: node, deno or bun, and its arguments
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "page")]
    command: Vec<OsString>,
}

/// How what the host wrote is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Compare {
    /// All of a memory until that has taken long, then those near what was ever written, then those near
    /// what was written lately
    Auto,
    /// Those near what was ever written, and all of a memory now and then
    Near,
    /// Those near what was written lately, and all of a memory now and then
    Lately,
    /// All of a memory, at each call
    All,
}

impl Compare {
    /// What the recorder is told.
    fn name(self) -> &'static str {
        match self {
            Compare::Auto => "auto",
            Compare::Near => "near",
            Compare::Lately => "lately",
            Compare::All => "all",
        }
    }

    /// What helps where it did not see all.
    fn remedy(self) -> &'static str {
        match self {
            Compare::Auto | Compare::Lately => "; try --compare near, or all",
            Compare::Near => "; try --compare all",
            Compare::All => "",
        }
    }
}

/// What the recorder says of an instance; names of files are those in its folder.
#[derive(Debug, Deserialize)]
struct Note {
    module: Option<PathBuf>,
    events: Option<PathBuf>,
    host: String,
    #[serde(default)]
    given: NotedGiven,
    count: u64,
    calls: u64,
    guest_ms: f64,
    refused: Option<String>,
    lost: Vec<String>,
}

/// What an instance was given.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NotedGiven {
    memories: Vec<Sized>,
    tables: Vec<Sized>,
    globals: Vec<NotedGlobal>,
    functions: Vec<u32>,
}

/// A global; JavaScript has no numbers for all of its bits.
#[derive(Debug, Deserialize)]
struct NotedGlobal {
    index: u32,
    bits: String,
}

/// Runs the program, and keeps what was recorded of one instance.
///
/// # Errors
/// A program that cannot be run, or of which nothing was recorded.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let words = || {
        args.command
            .iter()
            .map(Path::new)
            .chain(args.page.as_deref())
    };
    for output in [args.output.clone(), beside(&args.output)] {
        inputs::spare(&output, words())?;
        inputs::has_place(&output)?;
    }
    let folder = Scratch::new()?;
    let (compare, remedy) = (args.compare.name(), args.compare.remedy());
    let ended = match &args.page {
        Some(page) => {
            let options = page::Options {
                compare,
                time: args.time,
                has_sandbox: !args.no_sandbox,
            };
            page::execute(page, folder.path(), &options)?;
            None
        }
        None => Some(process::execute(
            &args.command,
            compare,
            folder.path(),
            invocation,
        )?),
    };
    let notes = notes(folder.path())?;
    if let (true, Some(signal)) = (notes.is_empty(), handed::last()) {
        return Ok(ExitCode::from((128 + signal) as u8));
    }
    let chosen = choose(&notes, args.instance)?;
    let (record, wasm) = record_of(&notes[chosen])?;
    let checked = check(&record, &Shape::of(&wasm)?).context("the recorder made a wrong record")?;
    try_out(&record, &wasm, folder.path(), remedy)?;
    let module = beside(&args.output);
    regular::write_output(&args.output, &record.to_bytes()?)
        .with_context(|| args.output.display().to_string())?;
    regular::write_output(&module, &wasm).with_context(|| module.display().to_string())?;
    tell(&args.output, &notes, chosen, &record, &checked);
    if let Some(ended) = ended.filter(|ended| *ended != Ended::Exited(0)) {
        say(&format!("fathom: the program ended with {ended}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Where the module of a record is.
pub fn beside(record: &Path) -> PathBuf {
    let mut name = record.as_os_str().to_owned();
    name.push(".wasm");
    PathBuf::from(name)
}

/// Replays what was recorded on our engine: what the recorder did not see shows there.
fn try_out(record: &Record, wasm: &[u8], folder: &Path, remedy: &str) -> anyhow::Result<()> {
    let made = replay(record, wasm)?;
    let module = folder.join("replay.wasm");
    fs::write(&module, &made.wasm)?;
    let ran = Command::new(std::env::current_exe()?)
        .arg("run")
        .arg(&module)
        .stdin(Stdio::null())
        .output()?;
    if ran.status.success() && ran.stdout == made.answer.as_bytes() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    let said = said.lines().next().unwrap_or_default();
    bail!("what was recorded does not replay ({said}): the host did what was not seen{remedy}");
}

/// What was said of instances, in the order in which they were made: by processes in the folder,
/// by each frame and worker of a page in one of its own.
fn notes(folder: &Path) -> anyhow::Result<Vec<Note>> {
    let in_order = |mut paths: Vec<PathBuf>| {
        paths.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
        paths
    };
    let inside = |folder: &Path| -> io::Result<Vec<PathBuf>> {
        fs::read_dir(folder)?
            .map(|entry| Ok(entry?.path()))
            .collect()
    };
    let all = in_order(inside(folder)?);
    let is_page = |path: &&PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("page")) && path.is_dir()
    };
    let mut notes = Vec::new();
    for folder in all
        .iter()
        .filter(is_page)
        .map(PathBuf::as_path)
        .chain([folder])
    {
        let files = in_order(inside(folder)?);
        let is_note = |path: &&PathBuf| path.extension().is_some_and(|it| it == "json");
        for file in files.iter().filter(is_note) {
            let mut note: Note = serde_json::from_slice(&fs::read(file)?)?;
            note.module = note.module.map(|module| folder.join(module));
            note.events = note.events.map(|events| folder.join(events));
            notes.push(note);
        }
    }
    Ok(notes)
}

/// The instance that is meant.
fn choose(notes: &[Note], asked: Option<usize>) -> anyhow::Result<usize> {
    ensure!(
        !notes.is_empty(),
        "nothing was recorded: the program instantiated no module, or what did was killed: a worker \
         is recorded where it ends by itself"
    );
    if let Some(asked) = asked {
        let note = asked.checked_sub(1).and_then(|at| notes.get(at));
        let note =
            note.with_context(|| format!("no instance {asked}: there were {}", notes.len()))?;
        return match &note.refused {
            Some(why) => bail!("instance {asked} cannot be recorded: {why}"),
            None => Ok(asked - 1),
        };
    }
    let can_be = |note: &Note| note.refused.is_none() && note.calls > 0;
    let best = (0..notes.len())
        .filter(|at| can_be(&notes[*at]))
        .max_by(|one, other| notes[*one].guest_ms.total_cmp(&notes[*other].guest_ms));
    // Beside an application there are small modules of its glue.
    let bytes = |note: &&Note| {
        let module = note.module.as_ref();
        module.and_then(|path| Some(fs::metadata(path).ok()?.len()))
    };
    let refused = notes.iter().filter(|note| note.refused.is_some());
    let largest = refused.max_by_key(bytes);
    match (best, largest.and_then(|note| note.refused.as_ref())) {
        (Some(best), _) => Ok(best),
        (None, Some(why)) => bail!("nothing was recorded: {why}"),
        (None, None) => bail!("nothing was recorded: no function of a module was called"),
    }
}

/// The record and its module.
fn record_of(note: &Note) -> anyhow::Result<(Record, Vec<u8>)> {
    let module = note.module.as_ref().context("its module is not known")?;
    let wasm = fs::read(module)?;
    let events = note.events.as_ref().context("nothing was recorded of it")?;
    let bytes = fs::metadata(events)?.len();
    ensure!(
        bytes <= EVENT_BYTES_MAX,
        "its host did more than a record can have ({bytes} bytes)"
    );
    let mut globals = Vec::new();
    for NotedGlobal { index, bits } in &note.given.globals {
        globals.push(Value {
            index: *index,
            bits: bits.parse()?,
        });
    }
    let given = Given {
        memories: note.given.memories.clone(),
        tables: note.given.tables.clone(),
        globals,
        functions: note.given.functions.clone(),
    };
    let events = fs::read(events)?;
    let mut record = Record::new(&wasm, note.host.clone(), given, events, note.count);
    record.header.lost = note.lost.clone();
    Ok((record, wasm))
}

/// What was recorded, and what else there was.
fn tell(output: &Path, notes: &[Note], chosen: usize, record: &Record, checked: &Checked) {
    let output = output.display();
    say(&format!(
        "fathom: {output}: {} in, {} out, {} bytes written by the host; {} bytes of events, beside {output}.wasm",
        plural(checked.calls as usize, "call"),
        checked.imports,
        checked.bytes_written,
        record.header.events.bytes,
    ));
    if notes.len() > 1 {
        say(&format!(
            "fathom: of {} instances this is {}, which ran longest or was asked for:",
            notes.len(),
            chosen + 1
        ));
        for (number, note) in (1..).zip(notes) {
            let what = match &note.refused {
                Some(why) => format!("cannot be recorded: {why}"),
                None => format!(
                    "{} calls, {:.1} ms in the module",
                    note.calls, note.guest_ms
                ),
            };
            say(&format!("  {number:>3}: {what}"));
        }
    }
    for lost in &record.header.lost {
        say(&format!("fathom: lost: {lost}"));
    }
}
