//! `fathom record`: what a program asks of its host, recorded once.
//!
//! ```text
//!  fathom record -- node app.js
//!     │  NODE_OPTIONS=--require …/preload.cjs       src/record/*.cjs, unpacked for the time
//!     ▼
//!  a file of events and a note for each instance ─▶ the one that ran longest ─▶ FILE, FILE.wasm
//! ```
//!
//! What must stay true: what is written was checked against its module, as whoever reads it
//! will check it; nothing is left behind where nothing was recorded.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use fathom_replay::program::replay;
use fathom_replay::record::check::{Checked, check};
use fathom_replay::record::{EVENT_BYTES_MAX, Given, Record, Sized, Value};
use fathom_rewrite::shape::Shape;
use serde::Deserialize;

use fathom_bench::scratch::Scratch;
use fathom_sys::handed;
use fathom_sys::spawn::ends_with_us;

use crate::inputs;
use crate::invocation::Invocation;
use crate::one_line::say;

/// How long a program has to end that was told to.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often is looked whether it has.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What is loaded in front of the program.
const RECORDER: [(&str, &str); 7] = [
    ("preload.cjs", include_str!("record/preload.cjs")),
    ("environment.cjs", include_str!("record/environment.cjs")),
    ("instance.cjs", include_str!("record/instance.cjs")),
    ("memory.cjs", include_str!("record/memory.cjs")),
    ("shape.cjs", include_str!("record/shape.cjs")),
    ("stream.cjs", include_str!("record/stream.cjs")),
    ("tables.cjs", include_str!("record/tables.cjs")),
];

/// Record what a module asks of its JavaScript host, for `fathom replay`
#[derive(clap::Args)]
pub struct Args {
    /// File for the record; its module goes beside it, as FILE.wasm
    #[arg(short, long, value_name = "FILE", default_value = "app.record")]
    output: PathBuf,
    /// Which instance, by the number it is listed under [default: the one that ran longest]
    #[arg(long, value_name = "N")]
    instance: Option<usize>,
    /// Which bytes of a memory are compared at each call
    #[arg(long, value_enum, default_value = "auto", value_name = "WHICH")]
    compare: Compare,
    /// The program: node and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// How what the host wrote is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Compare {
    /// All of a memory until that has taken long, then those near what was ever written
    Auto,
    /// Those near what was ever written, and all of a memory now and then
    Near,
    /// All of a memory, at each call
    All,
}

/// What the recorder says of an instance.
#[derive(Debug, Deserialize)]
struct Note {
    module: PathBuf,
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
    let words = || args.command.iter().map(Path::new);
    for output in [args.output.clone(), beside(&args.output)] {
        inputs::spare(&output, words())?;
    }
    let folder = Scratch::new()?;
    let ended = execute(&args, folder.path(), invocation)?;
    let notes = notes(folder.path())?;
    if let (true, Some(signal)) = (notes.is_empty(), handed::last()) {
        return Ok(ExitCode::from((128 + signal) as u8));
    }
    let chosen = choose(&notes, args.instance)?;
    let (record, wasm) = record_of(&notes[chosen])?;
    let checked = check(&record, &Shape::of(&wasm)?).context("the recorder made a wrong record")?;
    try_out(&record, &wasm, folder.path())?;
    let module = beside(&args.output);
    fs::write(&args.output, record.to_bytes()?)
        .with_context(|| args.output.display().to_string())?;
    fs::write(&module, &wasm).with_context(|| module.display().to_string())?;
    tell(&args.output, &notes, chosen, &record, &checked);
    if !ended.success() {
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
fn try_out(record: &Record, wasm: &[u8], folder: &Path) -> anyhow::Result<()> {
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
    bail!(
        "what was recorded does not replay ({said}): the host did what was not seen; \
         try --compare all"
    );
}

/// The program, with the recorder in front of it.
fn execute(args: &Args, folder: &Path, invocation: &Invocation) -> anyhow::Result<ExitStatus> {
    let compare = match args.compare {
        Compare::Auto => "auto",
        Compare::Near => "near",
        Compare::All => "all",
    };
    let (program, args) = args.command.split_first().context("no program to record")?;
    let name = Path::new(program).file_stem().unwrap_or_default();
    if ["deno", "bun", "chromium", "firefox"]
        .iter()
        .any(|other| name == *other)
    {
        bail!("{}: programs are recorded in node only", name.display());
    }
    let recorder = folder.join("recorder");
    fs::create_dir(&recorder)?;
    for (file, text) in RECORDER {
        fs::write(recorder.join(file), text)?;
    }
    let own_options = std::env::var_os("NODE_OPTIONS");
    let mut options = own_options.clone().unwrap_or_default();
    options.push(format!(
        " --require \"{}\"",
        // Node takes a backslash in quotes for an escape.
        (recorder.join("preload.cjs").display().to_string())
            .replace('\\', r"\\")
            .replace('"', "\\\"")
    ));
    let (path, first) = match name == "node" && program == OsStr::new("node") {
        true => (node(invocation)?, deeper_stack()),
        false => (program.clone(), None),
    };
    handed::listen().context("signals")?;
    let mut command = Command::new(&path);
    command
        .arg0(program)
        .args(first)
        .args(args)
        .env("NODE_OPTIONS", options)
        .env("FATHOM_RECORD_FOLDER", folder)
        .env("FATHOM_RECORD_COMPARE", compare)
        .envs(own_options.map(|own| ("FATHOM_RECORD_NODE_OPTIONS", own)));
    let at = || path.display().to_string();
    let mut child = ends_with_us(&mut command).spawn().with_context(at)?;
    let told = handed::to(child.id());
    let ended = waited(&mut child).with_context(at);
    drop(told);
    ended
}

/// Waits for the program. One that was told to end and is busy, or does not care, is killed.
fn waited(child: &mut Child) -> io::Result<ExitStatus> {
    let mut told = None;
    loop {
        if let Some(ended) = child.try_wait()? {
            return Ok(ended);
        }
        if handed::last().is_some() && told.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            say("fathom: the program goes on after a signal: killing it");
            child.kill()?;
            return child.wait();
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// A call goes through functions of the recorder, so that it takes more of the stack: what
/// node is told to use, where the process has it.
fn deeper_stack() -> Option<&'static str> {
    const NEEDED_BYTES: u64 = 8 << 20;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Stack);
    let has_it = limit.current.is_none_or(|bytes| bytes >= NEEDED_BYTES);
    has_it.then_some("--stack-size=3900")
}

/// The node that is measured, where it is installed; the machine's otherwise.
fn node(invocation: &Invocation) -> anyhow::Result<OsString> {
    let home = invocation.home()?;
    let installed = home.map(|home| home.tools().join("engines/node/bin/node"));
    let installed = installed.filter(|node| node.is_file());
    Ok(installed.map_or(OsString::from("node"), PathBuf::into_os_string))
}

/// What was said of instances, in the order in which they were made.
fn notes(folder: &Path) -> anyhow::Result<Vec<Note>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    files.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    let read = |path: &PathBuf| Ok(serde_json::from_slice(&fs::read(path)?)?);
    files.iter().map(read).collect()
}

/// The instance that is meant.
fn choose(notes: &[Note], asked: Option<usize>) -> anyhow::Result<usize> {
    ensure!(
        !notes.is_empty(),
        "nothing was recorded: the program instantiated no module, or was killed"
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
    match (best, notes.iter().find_map(|note| note.refused.as_ref())) {
        (Some(best), _) => Ok(best),
        (None, Some(why)) => bail!("nothing was recorded: {why}"),
        (None, None) => bail!("nothing was recorded: no function of a module was called"),
    }
}

/// The record and its module.
fn record_of(note: &Note) -> anyhow::Result<(Record, Vec<u8>)> {
    let wasm = fs::read(&note.module)?;
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
        "fathom: {output}: {} calls in, {} out, {} bytes written by the host; {} bytes of events, beside {output}.wasm",
        checked.calls, checked.imports, checked.bytes_written, record.header.events.bytes,
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
