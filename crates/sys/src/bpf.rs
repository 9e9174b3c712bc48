//! eBPF by the system call alone: maps, programs on tracepoints, functions of programs.
//!
//! ```text
//!  Map ◄── instructions name it ── Program ──on_tracepoint──► Attached
//!                                         └──on_functions───► of a file, by their places
//! ```
//!
//! What must stay true: whatever is made here is a descriptor, so it is gone from the
//! kernel when its owner is dropped or the process ends, however that happens.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The argument of the system call: a union, of which the kernel reads as much as it is
/// told; what a command does not use is zero.
#[repr(C, align(8))]
struct Attr([u8; Attr::BYTES]);

impl Attr {
    /// As much as the commands here use.
    const BYTES: usize = 120;

    fn new() -> Attr {
        Attr([0; Attr::BYTES])
    }

    fn u32(mut self, at: usize, value: u32) -> Attr {
        self.0[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        self
    }

    fn u64(mut self, at: usize, value: u64) -> Attr {
        self.0[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        self
    }

    fn address<T: ?Sized>(self, at: usize, value: *const T) -> Attr {
        self.u64(at, value.cast::<u8>() as u64)
    }

    fn fd(self, at: usize, fd: &impl AsRawFd) -> Attr {
        self.u32(at, fd.as_raw_fd() as u32)
    }
}

/// Commands of the system call, as `enum bpf_cmd` numbers them.
#[derive(Clone, Copy)]
enum Command {
    MapCreate = 0,
    MapLookup = 1,
    MapUpdate = 2,
    MapNextKey = 4,
    ProgramLoad = 5,
    RawTracepointOpen = 17,
    LinkCreate = 28,
}

fn bpf(command: Command, mut attr: Attr) -> io::Result<i64> {
    // SAFETY: `attr` is as long as is said. What addresses it holds is checked by the
    // callers: each points to as many bytes as the kernel reads or writes there.
    let result = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command as libc::c_int,
            attr.0.as_mut_ptr(),
            Attr::BYTES,
        )
    };
    match result {
        ..0 => Err(io::Error::last_os_error()),
        value => Ok(value),
    }
}

fn bpf_fd(command: Command, attr: Attr) -> io::Result<OwnedFd> {
    let fd = bpf(command, attr)?;
    // SAFETY: these commands return a new descriptor, which nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// What a map is, by the kernel's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapShape {
    /// `enum bpf_map_type`.
    pub kind: u32,
    /// Bytes of a key.
    pub key: u32,
    /// Bytes of a value.
    pub value: u32,
    /// Entries there is room for.
    pub entries: u32,
}

/// A map of the kernel's.
#[derive(Debug)]
pub struct Map {
    fd: OwnedFd,
    shape: MapShape,
}

impl Map {
    /// Makes one.
    ///
    /// # Errors
    /// The kernel's: usually that the privilege is missing.
    pub fn new(shape: MapShape) -> io::Result<Map> {
        let attr = Attr::new()
            .u32(0, shape.kind)
            .u32(4, shape.key)
            .u32(8, shape.value)
            .u32(12, shape.entries);
        let fd = bpf_fd(Command::MapCreate, attr)?;
        Ok(Map { fd, shape })
    }

    /// The value of a key, if it is there.
    ///
    /// # Errors
    /// The kernel's.
    ///
    /// # Panics
    /// If the key is not as long as the map's keys are.
    pub fn get(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        assert_eq!(key.len(), self.shape.key as usize);
        let mut value = vec![0; self.shape.value as usize];
        let attr = Attr::new()
            .fd(0, &self.fd)
            .address(8, key.as_ptr())
            .address(16, value.as_mut_ptr());
        match bpf(Command::MapLookup, attr) {
            Ok(_) => Ok(Some(value)),
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// The kernel's.
    ///
    /// # Panics
    /// If key or value is not as long as the map's are.
    pub fn set(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        assert_eq!(key.len(), self.shape.key as usize);
        assert_eq!(value.len(), self.shape.value as usize);
        let attr = Attr::new()
            .fd(0, &self.fd)
            .address(8, key.as_ptr())
            .address(16, value.as_ptr());
        bpf(Command::MapUpdate, attr).map(|_| ())
    }

    /// Keys and values, in no order. What is added or removed meanwhile may be missing.
    ///
    /// # Errors
    /// The kernel's.
    pub fn entries(&self) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut all = Vec::new();
        let mut last: Option<Vec<u8>> = None;
        // A map that others write to could be walked for ever.
        while all.len() < self.shape.entries as usize {
            let mut next = vec![0; self.shape.key as usize];
            let before = last.as_ref().map_or(std::ptr::null(), |key| key.as_ptr());
            let attr = Attr::new()
                .fd(0, &self.fd)
                .address(8, before)
                .address(16, next.as_mut_ptr());
            match bpf(Command::MapNextKey, attr) {
                Ok(_) => {}
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => break,
                Err(error) => return Err(error),
            }
            if let Some(value) = self.get(&next)? {
                all.push((next.clone(), value));
            }
            last = Some(next);
        }
        Ok(all)
    }
}

/// What names a map in an instruction that loads 64 bits: its source register.
const MAP_BY_FD: u64 = 1 << 12;

/// Instructions, and the maps that some of them name.
#[derive(Debug, Default)]
pub struct Code {
    words: Vec<u64>,
}

impl Code {
    /// Adds an instruction.
    pub fn push(&mut self, word: u64) {
        self.words.push(word);
    }

    /// Adds the first half of an instruction that loads a map's address; the second
    /// half follows.
    pub fn push_map(&mut self, word: u64, map: &Map) {
        let fd = u64::from(map.fd.as_raw_fd() as u32);
        self.words.push(word | MAP_BY_FD | fd << 32);
    }
}

/// Bytes of what the kernel says about a program that it refuses.
const LOG_BYTES: usize = 1 << 16;

/// What a program is attached to, as `enum bpf_prog_type` and `enum bpf_attach_type` have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Tracepoints.
    Tracepoint,
    /// Functions of files, many at once: `BPF_TRACE_UPROBE_MULTI`, Linux 6.6.
    Functions,
}

impl Kind {
    fn numbers(self) -> (u32, u32) {
        match self {
            Kind::Tracepoint => (17, 0),
            Kind::Functions => (2, UPROBE_MULTI),
        }
    }
}

/// `BPF_TRACE_UPROBE_MULTI`.
const UPROBE_MULTI: u32 = 48;
/// `BPF_F_UPROBE_MULTI_RETURN`.
const AT_RETURN: u32 = 1;

/// A function that is probed: where it begins in the file, bytes, and the number that the
/// program is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The first byte of the function.
    pub offset: u64,
    /// The number.
    pub cookie: u64,
}

/// A program that the kernel has verified.
#[derive(Debug)]
pub struct Program(OwnedFd);

/// A program that runs until this is dropped.
#[derive(Debug)]
pub struct Attached(#[expect(dead_code, reason = "it is held, and closed")] OwnedFd);

impl Program {
    /// Loads a program of a kind, with this licence.
    ///
    /// # Errors
    /// The kernel's, with the last line of what its verifier said.
    pub fn new(kind: Kind, code: &Code, licence: &str) -> io::Result<Program> {
        let licence = CString::new(licence)?;
        let (program, attach) = kind.numbers();
        let attr = || {
            Attr::new()
                .u32(0, program)
                .u32(4, code.words.len() as u32)
                .address(8, code.words.as_ptr())
                .address(16, licence.as_ptr())
                .u32(68, attach)
        };
        let error = match bpf_fd(Command::ProgramLoad, attr()) {
            Ok(fd) => return Ok(Program(fd)),
            Err(error) => error,
        };
        // Of a program that it does not like the verifier says EACCES.
        if error.raw_os_error() == Some(libc::EPERM) {
            return Err(error);
        }
        let mut log = vec![0u8; LOG_BYTES];
        let attr = (attr().u32(24, 1).u32(28, LOG_BYTES as u32)).address(32, log.as_mut_ptr());
        match bpf_fd(Command::ProgramLoad, attr) {
            Ok(fd) => Ok(Program(fd)),
            Err(_) => Err(io::Error::other(format!("{error}: {}", last_said(&log)))),
        }
    }

    /// Runs it at the entry of functions of a file, or at their return, in every process that
    /// has the file mapped, until what is returned is dropped.
    ///
    /// A probe replaces the instruction that it is on. Each place must be a function's first
    /// byte: on Linux 6.18 one on a `nop` of five bytes elsewhere becomes a call, which
    /// writes into the red zone of a leaf function. Functions of programs that move their
    /// stacks, as Go's, must not be probed at their return: it is found by an address on the
    /// stack.
    ///
    /// # Errors
    /// The kernel's: it has no such probes, or no such file.
    pub fn on_functions(
        &self,
        file: &Path,
        places: &[Place],
        is_return: bool,
    ) -> io::Result<Attached> {
        let file = CString::new(file.as_os_str().as_bytes())?;
        let offsets: Vec<u64> = places.iter().map(|place| place.offset).collect();
        let cookies: Vec<u64> = places.iter().map(|place| place.cookie).collect();
        let attr = Attr::new()
            .fd(0, &self.0)
            .u32(8, UPROBE_MULTI)
            .address(16, file.as_ptr())
            .address(24, offsets.as_ptr())
            .address(40, cookies.as_ptr())
            .u32(48, places.len() as u32)
            .u32(52, if is_return { AT_RETURN } else { 0 });
        bpf_fd(Command::LinkCreate, attr).map(Attached)
    }

    /// Runs it at every pass of a tracepoint, until what is returned is dropped.
    ///
    /// # Errors
    /// The kernel's: there is no such tracepoint, or it has fewer arguments.
    pub fn on_tracepoint(&self, name: &str) -> io::Result<Attached> {
        let name = CString::new(name)?;
        let attr = Attr::new().address(0, name.as_ptr()).fd(8, &self.0);
        bpf_fd(Command::RawTracepointOpen, attr).map(Attached)
    }
}

/// The last line but the verifier's statistics.
fn last_said(log: &[u8]) -> String {
    let text = String::from_utf8_lossy(log);
    let text = text.trim_end_matches('\0');
    let lines = text.lines().rev().filter(|line| !line.trim().is_empty());
    let said = lines.clone().find(|line| !line.starts_with("processed "));
    said.unwrap_or("the verifier said nothing")
        .trim()
        .to_owned()
}

/// An option of `prctl` that there is not; those that there are have small numbers or
/// letters of four bytes.
const ANNOUNCED: u64 = 0x7fff_ff00;

/// The first argument of the system call that [`announce`] makes.
pub fn announcement(number: u32) -> u64 {
    // The kernel takes the lower half for the option.
    u64::from(number) << 32 | ANNOUNCED
}

/// Makes a system call that does nothing but carry a number, which a program on its
/// tracepoint sees: `prctl` with an option that there is not.
pub fn announce(number: u32) {
    // SAFETY: an option that the kernel does not know is refused without effect.
    unsafe { libc::syscall(libc::SYS_prctl, announcement(number), 0, 0, 0, 0) };
}

/// Numbers of system calls that a program on their tracepoint asks about, on this
/// instruction set.
#[derive(Clone, Copy, Debug)]
pub struct CallNumbers {
    /// `prctl`.
    pub prctl: u64,
    /// `execve`.
    pub execve: u64,
    /// `execveat`.
    pub execveat: u64,
    /// Where the first argument is in `struct pt_regs`, bytes; none where it is not known.
    pub argument: Option<u64>,
}

/// Those of this machine.
pub fn call_numbers() -> CallNumbers {
    CallNumbers {
        prctl: libc::SYS_prctl as u64,
        execve: libc::SYS_execve as u64,
        execveat: libc::SYS_execveat as u64,
        argument: match std::env::consts::ARCH {
            // rdi; x0; a0.
            "x86_64" => Some(112),
            "aarch64" => Some(0),
            "riscv64" => Some(80),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: MapShape = MapShape {
        kind: 1,
        key: 4,
        value: 8,
        entries: 3,
    };

    /// `r0 = 0; exit`.
    fn trivial() -> Code {
        Code {
            words: vec![0xb7, 0x95],
        }
    }

    #[test]
    fn a_map_keeps_what_is_put_into_it() {
        let map = match Map::new(HASH) {
            Ok(map) => map,
            Err(error) => return eprintln!("SKIPPED: no maps here: {error}"),
        };
        assert_eq!(map.get(&[0; 4]).unwrap(), None);
        for n in 0..3u32 {
            map.set(&n.to_ne_bytes(), &u64::from(n).to_ne_bytes())
                .unwrap();
        }
        assert!(map.set(&[9; 4], &[0; 8]).is_err(), "it is full");
        let mut entries = map.entries().unwrap();
        entries.sort();
        assert_eq!(entries.len(), 3);
        assert_eq!(entries[2].1, 2u64.to_ne_bytes());
    }

    #[test]
    fn a_program_is_verified_and_what_is_wrong_with_it_is_said() {
        let program = match Program::new(Kind::Tracepoint, &trivial(), "GPL") {
            Ok(program) => program,
            Err(error) => return eprintln!("SKIPPED: no programs here: {error}"),
        };
        drop(program.on_tracepoint("sys_enter").unwrap());
        let error = program.on_tracepoint("no_such_tracepoint").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound, "{error}");
        // It has no end.
        let wrong = Code { words: vec![0xb7] };
        let error = Program::new(Kind::Tracepoint, &wrong, "GPL")
            .unwrap_err()
            .to_string();
        assert_eq!(error.lines().count(), 1, "{error}");
    }

    #[test]
    fn functions_of_a_file_are_probed_where_the_kernel_can() {
        let program = match Program::new(Kind::Functions, &trivial(), "GPL") {
            Ok(program) => program,
            Err(error) => return eprintln!("SKIPPED: no probes of functions here: {error}"),
        };
        let place = Place {
            offset: 0,
            cookie: 7,
        };
        let missing = Path::new("/no/such/file");
        let error = program.on_functions(missing, &[place], false).unwrap_err();
        assert!(error.raw_os_error().is_some(), "{error}");
        assert!(program.on_functions(missing, &[], true).is_err());
    }

    #[test]
    fn an_announcement_changes_nothing() {
        announce(7);
        assert_eq!(
            last_said(b"a\nb is wrong\nprocessed 3 insns\n\0\0"),
            "b is wrong"
        );
        assert_eq!(last_said(b"\0"), "the verifier said nothing");
    }
}
