//! Random sequences of WASI calls, and the same by native system calls.
//!
//! ```text
//!  seed ─ dice ─► call ─┬─ guest.rs: our engine, crates/wasi ─► ours/root
//!                       └─ native.rs: the kernel ─────────────► twin/root
//!            error numbers, every byte of the memory, at the end both folders
//! ```
//!
//! What must stay true: a difference is a difference of `crates/wasi`. What the
//! interface leaves open (inode numbers, times, the order of entries) is not
//! compared; where the kernel itself has no one answer (a slash behind a link), that
//! both fail is enough.

mod dice;
mod files;
mod guest;
mod native;
mod paths;

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use dice::Dice;
use guest::{Guest, MEMORY_BYTES};
use native::{Answer, Expected, Native, errno};

pub use guest::Forwarder;

/// Calls of a sequence.
pub const CALLS: u32 = 400;

/// Where a call's inputs are: two paths, a list, data.
const PATHS: [u32; 2] = [0x1000, 0x3000];
const LIST: u32 = 0x5000;
const DATA: u32 = 0x1_0000;

/// What a sequence did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ran {
    pub calls: u64,
    /// Of which so many were answered without an error.
    pub succeeded: u64,
}

/// Runs the sequence of `seed`.
///
/// # Errors
/// The first difference.
pub fn sequence(forwarder: &Forwarder, seed: u64) -> Result<Ran, String> {
    let temp = tempfile::tempdir().map_err(|error| error.to_string())?;
    let sides = ["ours", "twin"].map(|side| temp.path().join(side));
    for side in &sides {
        furnish(side).map_err(|error| error.to_string())?;
    }
    let before = canaries(&sides);
    let mut pair = Pair {
        dice: Dice::new(seed),
        guest: Guest::new(forwarder, &sides[0].join("root")),
        native: Native::new(&sides[1].join("root")),
        memory: vec![0; MEMORY_BYTES],
        ran: Ran::default(),
        last: String::new(),
    };
    for number in 0..CALLS {
        let outcome = pair.any_call();
        outcome.map_err(|what| format!("call {number}, {}: {what}", pair.last))?;
    }
    let ran = pair.ran;
    drop(pair);
    let [ours, twin] = sides.each_ref().map(|side| tree(&side.join("root")));
    if ours != twin {
        return Err(format!("at the end {}", difference(&ours, &twin)));
    }
    match canaries(&sides) == before {
        true => Ok(ran),
        false => Err("what is beside the folder was changed".to_owned()),
    }
}

/// The folder, and one beside it that links lead to.
fn furnish(side: &Path) -> std::io::Result<()> {
    let (root, outside) = (side.join("root"), side.join("outside"));
    std::fs::create_dir_all(root.join("d"))?;
    std::fs::create_dir_all(outside.join("d"))?;
    std::fs::write(outside.join("canary"), "alive")?;
    std::fs::write(outside.join("a"), "alive too")?;
    std::fs::write(root.join("a"), "some text to read")?;
    symlink(&outside, root.join("absolute"))?;
    symlink("../outside", root.join("up"))?;
    symlink("../../outside/a", root.join("d/link"))?;
    symlink("d", root.join("link"))?;
    symlink("loop", root.join("loop"))?;
    symlink("nowhere", root.join("dangling"))
}

/// What is outside: names, contents, times.
fn canaries(sides: &[std::path::PathBuf; 2]) -> Vec<BTreeMap<String, String>> {
    let outside = |side: &std::path::PathBuf| {
        let mut all = tree(&side.join("outside"));
        for (name, what) in &mut all {
            let meta = std::fs::symlink_metadata(side.join("outside").join(name));
            *what += &format!("{:?}", meta.and_then(|meta| meta.modified()).ok());
        }
        all
    };
    sides.iter().map(outside).collect()
}

/// Names, types, sizes, links and the beginnings of files.
fn tree(folder: &Path) -> BTreeMap<String, String> {
    fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(meta) = entry.metadata() else { continue };
            let shown = if meta.is_symlink() {
                format!(
                    "link to {:?}",
                    in_side(&std::fs::read_link(&path).unwrap_or_default())
                )
            } else if meta.is_dir() {
                walk(root, &path, found);
                "folder".to_owned()
            } else {
                let (size, names) = (meta.size(), meta.nlink());
                format!("{size} bytes, {names} names, {:?}", beginning(&path))
            };
            let name = path.strip_prefix(root).unwrap_or(&path);
            found.insert(format!("{name:?}"), shown);
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    found
}

/// An absolute link differs between the sides by the side's name alone.
fn in_side(link: &Path) -> std::path::PathBuf {
    match link.is_absolute() {
        true => link.components().rev().take(1).collect(),
        false => link.to_owned(),
    }
}

fn beginning(path: &Path) -> Vec<u8> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    if let Ok(file) = std::fs::File::open(path) {
        // What cannot be read, has no beginning on either side.
        let _ = file.take(1 << 16).read_to_end(&mut bytes);
    }
    bytes
}

fn difference(ours: &BTreeMap<String, String>, twin: &BTreeMap<String, String>) -> String {
    let names = ours.keys().chain(twin.keys());
    let mut differing = names.filter(|name| ours.get(*name) != twin.get(*name));
    let name = differing.next().cloned().unwrap_or_default();
    format!("{name} is {:?}, not {:?}", ours.get(&name), twin.get(&name))
}

/// A guest and its twin, in step.
struct Pair {
    dice: Dice,
    guest: Guest,
    native: Native,
    /// What the guest's memory has to be.
    memory: Vec<u8>,
    ran: Ran,
    /// The call in hand, for the report.
    last: String,
}

type Outcome = Result<(), String>;

impl Pair {
    fn any_call(&mut self) -> Outcome {
        const ON_FILES: &[fn(&mut Pair) -> Outcome] = &[
            Pair::close,
            Pair::renumber,
            Pair::read,
            Pair::write,
            Pair::read,
            Pair::write,
            Pair::seek,
            Pair::tell,
            Pair::allocate,
            Pair::set_size,
            Pair::set_times,
            Pair::advise,
            Pair::sync,
            Pair::fdstat,
            Pair::set_flags,
            Pair::set_rights,
            Pair::filestat,
            Pair::prestat,
            Pair::poll,
            Pair::host,
            Pair::socket,
        ];
        const ON_PATHS: &[fn(&mut Pair) -> Outcome] = &[
            Pair::open,
            Pair::open,
            Pair::open,
            Pair::open,
            Pair::make_or_remove,
            Pair::make_or_remove,
            Pair::rename,
            Pair::link,
            Pair::symlink,
            Pair::read_link,
            Pair::path_stat,
            Pair::path_set_times,
            Pair::list,
        ];
        let some = match self.dice.once_in(2) {
            true => ON_FILES,
            false => ON_PATHS,
        };
        let call = self.dice.pick(some);
        call(self)
    }

    /// Calls the guest and compares: its answer, and its memory but for the ranges
    /// whose contents are its own affair. Whether it succeeded.
    fn check(
        &mut self,
        name: &str,
        args: &[u64],
        expected: Expected,
        own: &[(u32, u32)],
    ) -> Result<bool, String> {
        self.last = format!("{name}{args:?}");
        let got = self.guest.call(name, args)?;
        if !expected.allows(got) {
            return Err(format!("answered {got}, expected {expected:?}"));
        }
        let theirs = self.guest.memory();
        for &(ptr, len) in own {
            if fits(ptr, len).is_ok() {
                let range = ptr as usize..ptr as usize + len as usize;
                self.memory[range.clone()].copy_from_slice(&theirs[range]);
            }
        }
        if *theirs != *self.memory {
            let at = (0..MEMORY_BYTES).find(|&at| theirs[at] != self.memory[at]);
            return Err(format!("answered {got}, and its memory differs at {at:?}"));
        }
        self.ran.calls += 1;
        self.ran.succeeded += u64::from(got == 0);
        Ok(got == 0)
    }

    /// A descriptor, mostly of a file.
    fn file_fd(&mut self) -> u32 {
        self.open_fd(false)
    }

    /// A descriptor, mostly of a folder.
    fn dir_fd(&mut self) -> u32 {
        self.open_fd(true)
    }

    fn open_fd(&mut self, dir: bool) -> u32 {
        let fitting = self.native.numbers(dir);
        match fitting.is_empty() || self.dice.once_in(6) {
            true => self.dice.fd(),
            false => self.dice.pick(&fitting),
        }
    }

    /// Puts an input into both memories.
    fn put(&mut self, at: u32, bytes: &[u8]) {
        let range = at as usize..at as usize + bytes.len();
        self.guest.memory()[range.clone()].copy_from_slice(bytes);
        self.memory[range].copy_from_slice(bytes);
    }

    /// What the call should write to the guest's memory.
    fn store(&mut self, ptr: u32, bytes: &[u8]) -> Answer {
        fits(ptr, bytes.len() as u32)?;
        self.memory[ptr as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    /// A place for a result of `len` bytes: seldom one at an edge, or beyond.
    fn out(&mut self, len: u32) -> u32 {
        let end = MEMORY_BYTES as u32;
        let near = 0x100 + self.dice.below(0x200) as u32;
        match self.dice.once_in(30) {
            true => self
                .dice
                .pick(&[end - len, end - len + 1, end, u32::MAX, u32::MAX - 7, 0]),
            false => near,
        }
    }
}

/// Whether a range is inside the memory.
fn fits(ptr: u32, len: u32) -> Answer {
    match u64::from(ptr) + u64::from(len) <= MEMORY_BYTES as u64 {
        true => Ok(()),
        false => Err(errno::FAULT),
    }
}
