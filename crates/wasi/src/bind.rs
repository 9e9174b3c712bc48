//! The calls as imports of the engine: the only file but `threads.rs` that
//! knows it.
//!
//! A row of `table.rs` names a call, its arguments and what kind of binding it has.
//! The binding finds the caller's memory, reads the ranges that the kernel will touch
//! and makes them present, and makes an `i32` of the outcome. What ends the guest
//! instead (no memory, [`ProcExit`]) is an error of the engine.
//!
//! What must stay true: ranges are made present here and nowhere else
//! ([`CallersPages`] is the only [`Pages`]), so a call that takes [`Present`] ranges
//! cannot be bound as one that does not, nor the other way round.

use crate::calls::{Call, random};
use crate::ctx::WasiCtx;
use crate::errno::Errno;
use crate::memory::{GuestMemory, SharedBytes};
use crate::ranges::{Checked, Iovecs, Pages, Place, Present, SHORT, Stopped};
use crate::types::Snapshot;
use crate::watch::{Around, Watch};
use crate::{MissingMemory, ProcExit};
use fathom_engine::{Caller, Error, Interrupt, Linker, Memory, SharedMemory};

mod table;

pub(crate) use table::NAMES;

/// The modules that the functions are imported from.
const MODULES: [(&str, Snapshot); 2] = [
    ("wasi_snapshot_preview1", Snapshot::One),
    ("wasi_unstable", Snapshot::Zero),
];

/// 128 plus the number of SIGPIPE.
const BROKEN_PIPE: ProcExit = ProcExit(141);

/// Defines the functions of `wasi_snapshot_preview1` and of `wasi_unstable`
/// in `linker`. `get` finds the guest's state in the store's data.
///
/// # Errors
/// One of them is defined already, see [`Linker::allow_shadowing`].
pub fn add_to_linker<T: 'static>(
    linker: &mut Linker<T>,
    get: impl Fn(&mut T) -> &mut WasiCtx + Copy + Send + Sync + 'static,
) -> Result<(), Error> {
    define(linker, get, ())
}

/// Whether [`add_to_linker`] defines a function of this name: known without an engine, before
/// anything is compiled.
#[must_use]
pub fn defines(module: &str, name: &str) -> bool {
    MODULES.iter().any(|(known, _)| *known == module) && NAMES.contains(&name)
}

/// As [`add_to_linker`]; `watch` sees every call, which takes some 50 ns longer.
///
/// # Errors
/// As [`add_to_linker`].
pub fn add_to_linker_watched<T: 'static>(
    linker: &mut Linker<T>,
    get: impl Fn(&mut T) -> &mut WasiCtx + Copy + Send + Sync + 'static,
    watch: &Watch,
) -> Result<(), Error> {
    define(linker, get, watch.clone())
}

fn define<T: 'static>(
    linker: &mut Linker<T>,
    get: impl Fn(&mut T) -> &mut WasiCtx + Copy + Send + Sync + 'static,
    around: impl Around,
) -> Result<(), Error> {
    for (module, snapshot) in MODULES {
        table::define(linker, module, snapshot, get, around.clone())?;
    }
    Ok(())
}

/// A call over the guest's state and its memory.
fn plain<T>(
    caller: &mut Caller<'_, T>,
    get: impl Fn(&mut T) -> &mut WasiCtx,
    call: impl FnOnce(&mut WasiCtx, &mut GuestMemory) -> Call,
) -> Result<u32, Error> {
    let memory = memory_of(caller)?;
    let (mut bytes, data) = parts(caller, memory);
    Ok(status(call(get(data), &mut bytes)))
}

/// A call that may take long, and asks whether it is to stop.
fn stoppable<T>(
    caller: &mut Caller<'_, T>,
    get: impl Fn(&mut T) -> &mut WasiCtx,
    call: impl FnOnce(&mut WasiCtx, &mut GuestMemory, Stopped) -> Call,
) -> Result<u32, Error> {
    let stopped = stopped(caller);
    plain(caller, get, |ctx, mem| call(ctx, mem, &stopped))
}

/// A call on the descriptor `fd` and the list of `count` ranges at `ptr`, which are
/// read and made present before.
#[inline]
fn transfer<T>(
    caller: &mut Caller<'_, T>,
    get: impl Fn(&mut T) -> &mut WasiCtx,
    fd: u32,
    ptr: u32,
    count: u32,
    call: impl FnOnce(&mut WasiCtx, &mut GuestMemory, &Present<Iovecs>) -> Call,
) -> Result<u32, Error> {
    let memory = memory_of(caller)?;
    let mut place = Place::new();
    let ranges = match ranges(caller, memory, ptr, count, &mut place) {
        Ok(ranges) => ranges,
        Err(error) => return Ok(error as u32),
    };
    let (mut bytes, data) = parts(caller, memory);
    let ctx = get(data);
    let outcome = call(ctx, &mut bytes, ranges);
    // The guest is ended rather than told: many programs write on for ever.
    if let Err(error) = outcome
        && ctx.ends_on(fd, error)
    {
        return Err(Error::host(BROKEN_PIPE));
    }
    Ok(status(outcome))
}

fn status(outcome: Call) -> u32 {
    match outcome {
        Ok(()) => Errno::Success as u32,
        Err(error) => error as u32,
    }
}

/// The memory of the instance that calls.
fn memory_of<T>(caller: &Caller<'_, T>) -> Result<Memory, Error> {
    caller.memory().ok_or_else(|| Error::host(MissingMemory))
}

/// The caller's memory and the host's data.
#[inline(always)]
fn parts<'a, T>(caller: &'a mut Caller<'_, T>, memory: Memory) -> (GuestMemory<'a>, &'a mut T) {
    match memory.as_shared(&*caller) {
        Some(shared) => (GuestMemory::shared(Box::new(shared)), caller.data_mut()),
        None => {
            let (bytes, data) = memory.data_and_store_mut(caller);
            (GuestMemory::new(bytes), data)
        }
    }
}

/// A number in the memory of the instance that calls.
pub(crate) fn read_u32<T>(caller: &mut Caller<'_, T>, ptr: u32) -> Option<u32> {
    let memory = memory_of(caller).ok()?;
    let (bytes, _) = parts(caller, memory);
    let number = bytes.slice(ptr, 4).ok()?;
    Some(u32::from_le_bytes(number.as_ref().try_into().ok()?))
}

impl SharedBytes for SharedMemory {
    fn len(&self) -> usize {
        self.data_size()
    }

    fn read(&self, start: usize, into: &mut [u8]) -> bool {
        SharedMemory::read(self, start as u64, into).is_ok()
    }

    fn write(&self, start: usize, from: &[u8]) -> bool {
        SharedMemory::write(self, start as u64, from).is_ok()
    }
}

/// The pages of the caller's memory.
struct CallersPages<'a, 'c, T> {
    caller: &'a Caller<'c, T>,
    memory: Memory,
}

impl<T> Pages for CallersPages<'_, '_, T> {
    #[inline(always)]
    fn populate(&self, range: Checked) -> Call {
        let (start, len) = (u64::from(range.ptr()), u64::from(range.len()));
        let populated = self.memory.populate(self.caller, start, len);
        // The guest cannot tell memory that the host has not from memory that it
        // has not itself; nor would the kernel.
        populated.map_err(|_| Errno::Fault)
    }
}

/// Reads ranges and makes their pages present, so that the kernel can work on
/// them.
#[inline(always)]
fn ranges<'p, T>(
    caller: &mut Caller<'_, T>,
    memory: Memory,
    ptr: u32,
    count: u32,
    place: &'p mut Place,
) -> Result<&'p Present<Iovecs>, Errno> {
    match count {
        0..=SHORT => place.read_short(&parts(caller, memory).0, ptr, count)?,
        _ => {
            let stopped = stopped(caller);
            place.read(&parts(caller, memory).0, ptr, count, &stopped)?;
        }
    }
    place.present(&CallersPages { caller, memory })
}

/// Asks whether the guest has been told to stop.
fn stopped<T>(caller: &Caller<'_, T>) -> impl Fn() -> bool + use<T> {
    let interrupt = caller.interrupt().cloned();
    move || interrupt.as_ref().is_some_and(Interrupt::is_raised)
}

/// `random_get`, piece by piece: the host's generator takes seconds for a
/// large memory, and takes no notice of being interrupted.
fn random_get<T>(
    caller: &mut Caller<'_, T>,
    get: impl Fn(&mut T) -> &mut WasiCtx,
    ptr: u32,
    len: u32,
) -> Result<u32, Error> {
    let memory = memory_of(caller)?;
    let stopped = stopped(caller);
    let mut fill = || {
        for piece in parts(caller, memory).0.checked(ptr, len)?.pieces() {
            let piece = piece.present(&CallersPages { caller, memory })?;
            let (mut bytes, data) = parts(caller, memory);
            random::random_get(get(data), &mut bytes, &piece)?;
            if stopped() {
                return Err(Errno::Intr);
            }
        }
        Ok(())
    };
    Ok(status(fill()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_engine::{Config, Engine};

    /// The functions of `wasi_snapshot_preview1.witx`, in its order.
    const FUNCTIONS: [&str; 46] = [
        "args_get",
        "args_sizes_get",
        "environ_get",
        "environ_sizes_get",
        "clock_res_get",
        "clock_time_get",
        "fd_advise",
        "fd_allocate",
        "fd_close",
        "fd_datasync",
        "fd_fdstat_get",
        "fd_fdstat_set_flags",
        "fd_fdstat_set_rights",
        "fd_filestat_get",
        "fd_filestat_set_size",
        "fd_filestat_set_times",
        "fd_pread",
        "fd_prestat_get",
        "fd_prestat_dir_name",
        "fd_pwrite",
        "fd_read",
        "fd_readdir",
        "fd_renumber",
        "fd_seek",
        "fd_sync",
        "fd_tell",
        "fd_write",
        "path_create_directory",
        "path_filestat_get",
        "path_filestat_set_times",
        "path_link",
        "path_open",
        "path_readlink",
        "path_remove_directory",
        "path_rename",
        "path_symlink",
        "path_unlink_file",
        "poll_oneoff",
        "proc_exit",
        "proc_raise",
        "sched_yield",
        "random_get",
        "sock_accept",
        "sock_recv",
        "sock_send",
        "sock_shutdown",
    ];

    #[test]
    fn every_function_is_defined() {
        let engine = Engine::new(&Config::new()).unwrap();
        let mut linker = Linker::new(&engine);
        add_to_linker(&mut linker, |ctx: &mut WasiCtx| ctx).unwrap();
        for module in ["wasi_snapshot_preview1", "wasi_unstable"] {
            for name in FUNCTIONS {
                assert!(linker.defines(module, name), "{module} {name}");
            }
        }
    }

    #[test]
    fn the_table_has_each_function_once() {
        let mut names = NAMES.to_vec();
        names.sort_unstable();
        let mut functions = FUNCTIONS;
        functions.sort_unstable();
        assert_eq!(names, functions);
    }
}
