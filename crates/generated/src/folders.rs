//! The cache of compiled modules under attack: whatever is in its folder, a module does
//! what its bytes say, and nothing panics or waits.
//!
//! ```text
//!  folder ◄── damage, swaps, links, pipes, modes, owners, other engines' entries
//!    ▲  └──── writers that write at the same time
//!    └── Module::new ─► answer(): the module's own number, each time
//! ```

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fathom_engine::{Bounds, BoundsChoice, Config, Engine, Instance, Module, Opt, Store};

use crate::generate::Below;

/// What the changes of a seed met, for the summary at the end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Modules that were asked for.
    pub asked: u64,
    /// Those that were found.
    pub found: u64,
    /// Those of which something in the folder was refused, and that was said.
    pub refused: u64,
    /// What was done to the folder.
    pub attacks: u64,
}

/// Different modules.
const MODULES: usize = 4;
/// Threads that write at once.
const WRITERS: usize = 3;
/// Bytes that the folder may hold: a few entries.
const BYTES_MAX: u64 = 4000;

/// Answers its number, after a trip through memory.
fn module(number: usize) -> Vec<u8> {
    let text = format!(
        r#"(module (memory 1) (func (export "answer") (result i32)
             (i32.store (i32.const 8) (i32.const {number}))
             (i32.load (i32.const 8))))"#
    );
    wat::parse_str(text).expect("a module")
}

/// Who asks: engines of different configurations, in one folder.
fn engines(folder: &Path) -> Vec<Engine> {
    let config = || {
        let config = Config::new().cache_dir(Some(folder.to_owned()));
        config.cache_bytes_max(BYTES_MAX).opt(Opt::None)
    };
    let with = |config: Config| Engine::new(&config).expect("an engine");
    vec![
        with(config()),
        with(config().bounds(BoundsChoice::Named(Bounds::Trap))),
        with(config().layout_seed(Some(7))),
    ]
}

/// A folder of its own, attacked and used.
///
/// # Errors
/// A module that does what another's bytes say, or an engine that does not answer.
pub fn check(folder: &Path, below: Below<'_>) -> Result<Seen, String> {
    let engines = engines(folder);
    let modules: Vec<Vec<u8>> = (0..MODULES).map(module).collect();
    let mut seen = Seen::default();
    for _ in 0..4 + below(8) {
        let (engine, number) = (&engines[below(engines.len())], below(MODULES));
        match below(5) {
            0 => together(engine, &modules, below)?,
            1 | 2 => {
                ask(engine, &modules[number], number, &mut seen)?;
            }
            _ => {
                seen.attacks += 1;
                attack(folder, below);
            }
        }
        ask(engine, &modules[number], number, &mut seen)?;
    }
    make_good(folder);
    for engine in &engines {
        for (number, module) in modules.iter().enumerate() {
            ask(engine, module, number, &mut seen)?;
            let mut again = Seen::default();
            ask(engine, module, number, &mut again)?;
            if again.found == 0 {
                return Err(format!(
                    "module {number} is not kept though nothing is amiss"
                ));
            }
        }
    }
    bounded(folder).map(|()| seen)
}

fn ask(engine: &Engine, wasm: &[u8], number: usize, seen: &mut Seen) -> Result<(), String> {
    let module = Module::new(engine, wasm).map_err(|error| error.to_string())?;
    seen.asked += 1;
    seen.found += u64::from(module.from_cache());
    seen.refused += u64::from(module.cache_trouble().is_some());
    let answer = answer(engine, &module).map_err(|error| error.to_string())?;
    match answer == number as i32 {
        true => Ok(()),
        false => Err(format!(
            "module {number} answers {answer}, from the cache: {}",
            module.from_cache()
        )),
    }
}

fn answer(engine: &Engine, module: &Module) -> fathom_engine::Result<i32> {
    let mut store = Store::new(engine, ());
    let instance = Instance::new(&mut store, module, &[])?;
    let func = instance.get_func(&store, "answer").expect("it is exported");
    func.typed::<(), i32>(&store)?.call(&mut store, ())
}

/// Several threads ask for the same modules while a file is spoiled.
fn together(engine: &Engine, modules: &[Vec<u8>], below: Below<'_>) -> Result<(), String> {
    let numbers: Vec<usize> = (0..WRITERS).map(|_| below(MODULES)).collect();
    std::thread::scope(|scope| {
        let work = |number: usize| {
            move || {
                let mut seen = Seen::default();
                (0..3).try_for_each(|_| ask(engine, &modules[number], number, &mut seen))
            }
        };
        let writers: Vec<_> = numbers.into_iter().map(|n| scope.spawn(work(n))).collect();
        let mut ended = writers.into_iter().map(|writer| writer.join());
        let panicked = || Err("a writer panicked".to_owned());
        ended.try_for_each(|ended| ended.unwrap_or_else(|_| panicked()))
    })
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = files.map(|file| file.path()).collect();
    files.sort();
    files
}

/// One thing that is done to the folder; where it cannot be done, nothing is.
fn attack(folder: &Path, below: Below<'_>) {
    let files = files(folder);
    let Some(file) = files.get(below(files.len().max(1))) else {
        return;
    };
    let other = &files[below(files.len())];
    let _ = match below(16) {
        0..4 if is_small_file(file) => spoil(file, below),
        4 if is_small_file(file) && is_small_file(other) => fs::copy(file, other).map(drop),
        0..5 => Ok(()),
        5 => swap(file, other),
        6 => fs::rename(file, other),
        7 => fs::remove_file(file),
        8 => fs::remove_file(file).and_then(|()| symlink(other, file)),
        9 => fs::remove_file(file).and_then(|()| fs::hard_link(other, file)),
        10 => fs::remove_file(file).and_then(|()| fs::create_dir(file)),
        11 => fs::remove_file(file).map(|()| pipe(file)),
        12 => set_mode(file, below(0o1000) as u32),
        13 => chown(file, Some([0, 4711][below(2)]), None),
        14 => set_mode(folder, [0o700, 0o755, 0o777, 0o1777, 0o720][below(5)]),
        _ if is_small_file(file) => age(file, below(100_000) as u64),
        _ => Ok(()),
    };
}

/// What can be opened without waiting and copied without end.
fn is_small_file(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|stat| stat.is_file() && stat.len() < 1 << 20)
}

/// Other bytes, fewer or more.
fn spoil(file: &Path, below: Below<'_>) -> std::io::Result<()> {
    let open = fs::OpenOptions::new().write(true).open(file)?;
    let len = open.metadata()?.len() as usize;
    match below(4) {
        0 => open.set_len(below(len + 1) as u64),
        1 => open.set_len((len + below(10_000)) as u64),
        2 => open.set_len(1 << 40),
        _ => {
            let bytes: Vec<u8> = (0..1 + below(40)).map(|_| below(256) as u8).collect();
            open.write_all_at(&bytes, below(len + 1) as u64)
        }
    }
}

fn swap(one: &Path, other: &Path) -> std::io::Result<()> {
    let aside = one.with_extension("aside");
    fs::rename(one, &aside)?;
    fs::rename(other, one)?;
    fs::rename(aside, other)
}

fn pipe(at: &Path) {
    let _ = std::process::Command::new("mkfifo").arg(at).status();
}

fn set_mode(at: &Path, mode: u32) -> std::io::Result<()> {
    fs::set_permissions(at, PermissionsExt::from_mode(mode))
}

fn age(file: &Path, seconds: u64) -> std::io::Result<()> {
    let open = fs::OpenOptions::new().write(true).open(file)?;
    open.set_modified(SystemTime::now() - Duration::from_secs(seconds))
}

/// No more is kept than may be, where only writers were at work.
fn bounded(folder: &Path) -> Result<(), String> {
    let sizes = files(folder).into_iter().map(|file| {
        let stat = fs::symlink_metadata(&file);
        stat.map_or(0, |stat| stat.len())
    });
    let sum: u64 = sizes.sum();
    match sum <= BYTES_MAX {
        true => Ok(()),
        false => Err(format!("{sum} bytes are kept of at most {BYTES_MAX}")),
    }
}

/// Take away what an attack left that no writer may take away: folders in an entry's
/// place, a folder that is not to be trusted.
fn make_good(folder: &Path) {
    let _ = set_mode(folder, 0o700);
    for file in files(folder) {
        let _ = fs::remove_dir(&file).or_else(|_| fs::remove_file(&file));
    }
}
