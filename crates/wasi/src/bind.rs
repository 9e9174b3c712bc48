//! The calls as imports of the engine: the only file but `threads.rs` that
//! knows it.
//!
//! A binding finds the caller's memory, reads and populates the ranges that the
//! kernel will touch, and makes an `i32` of the outcome. What ends the guest
//! instead (no memory, [`ProcExit`]) is an error of the engine.

use crate::calls::open::OpenArgs;
use crate::calls::paths::GuestPath;
use crate::calls::{Call, args, clock, dirs, file, io, open, paths, poll, process, random, sock};
use crate::ctx::WasiCtx;
use crate::errno::Errno;
use crate::memory::{GuestMemory, Iovecs, SharedBytes, pieces};
use crate::types::{Snapshot, Whence};
use crate::{MissingMemory, ProcExit};
use fathom_engine::{Caller, Error, Interrupt, Linker, Memory, SharedMemory};

/// 128 plus the number of SIGPIPE.
const BROKEN_PIPE: ProcExit = ProcExit(141);

/// Defines the functions of `wasi_snapshot_preview1` and of `wasi_unstable`
/// in `linker`. `get` finds the guest's state in the store's data.
pub fn add_to_linker<T: 'static>(
    linker: &mut Linker<T>,
    get: impl Fn(&mut T) -> &mut WasiCtx + Copy + Send + Sync + 'static,
) {
    for (module, snapshot) in [
        ("wasi_snapshot_preview1", Snapshot::One),
        ("wasi_unstable", Snapshot::Zero),
    ] {
        let mut binder = Binder {
            linker,
            get,
            module,
            snapshot,
            data: std::marker::PhantomData,
        };
        binder.process();
        binder.transfers();
        binder.files();
        binder.directories();
        binder.paths();
        binder.sockets();
    }
}

struct Binder<'a, T, G> {
    linker: &'a mut Linker<T>,
    get: G,
    module: &'static str,
    snapshot: Snapshot,
    data: std::marker::PhantomData<fn(T)>,
}

/// Defines a call over the guest's state and its memory.
macro_rules! bind {
    ($binder:ident, $name:literal, |$ctx:pat_param, $mem:pat_param $(, $arg:ident: $ty:ty)*| $body:expr) => {{
        let get = $binder.get;
        $binder.linker.func_wrap(
            $binder.module,
            $name,
            move |mut caller: Caller<'_, T> $(, $arg: $ty)*| -> Result<u32, Error> {
                let memory = memory_of(&caller)?;
                let (mut bytes, data) = parts(&mut caller, memory);
                let ($ctx, $mem) = (get(data), &mut bytes);
                Ok(status($body))
            },
        );
    }};
}

/// Defines a call that may take long, and asks whether it is to stop.
macro_rules! bind_stoppable {
    ($binder:ident, $name:literal, |$ctx:ident, $mem:ident, $stopped:ident $(, $arg:ident: $ty:ty)*| $body:expr) => {{
        let get = $binder.get;
        $binder.linker.func_wrap(
            $binder.module,
            $name,
            move |mut caller: Caller<'_, T> $(, $arg: $ty)*| -> Result<u32, Error> {
                let memory = memory_of(&caller)?;
                let $stopped = &stopped(&caller);
                let (mut bytes, data) = parts(&mut caller, memory);
                let ($ctx, $mem) = (get(data), &mut bytes);
                Ok(status($body))
            },
        );
    }};
}

/// Defines a call on a descriptor and a list of ranges, which are its first
/// arguments.
macro_rules! bind_ranges {
    ($binder:ident, $name:literal,
     |$ctx:ident, $mem:ident, $ranges:ident, $fd:ident: u32 $(, $arg:ident: $ty:ty)*| $body:expr) => {{
        let get = $binder.get;
        $binder.linker.func_wrap(
            $binder.module,
            $name,
            move |mut caller: Caller<'_, T>, $fd: u32, ptr: u32, len: u32 $(, $arg: $ty)*|
                -> Result<u32, Error> {
                let memory = memory_of(&caller)?;
                let $ranges = &match ranges(&mut caller, memory, ptr, len) {
                    Ok(ranges) => ranges,
                    Err(error) => return Ok(error as u32),
                };
                let (mut bytes, data) = parts(&mut caller, memory);
                let ($ctx, $mem) = (get(data), &mut bytes);
                let outcome: Call = $body;
                if let Err(error) = outcome
                    && $ctx.ends_on($fd, error)
                {
                    return Err(Error::host(BROKEN_PIPE));
                }
                Ok(status(outcome))
            },
        );
    }};
}

fn status(outcome: Call) -> u32 {
    match outcome {
        Ok(()) => Errno::Success as u32,
        Err(error) => error as u32,
    }
}

/// The memory of the instance that calls.
fn memory_of<T>(caller: &Caller<'_, T>) -> Result<Memory, Error> {
    caller
        .get_export("memory")
        .and_then(|export| export.into_memory())
        .ok_or_else(|| Error::host(MissingMemory))
}

/// The caller's memory and the host's data.
fn parts<'a, T>(caller: &'a mut Caller<'_, T>, memory: Memory) -> (GuestMemory<'a>, &'a mut T) {
    match memory.as_shared(&*caller) {
        Some(shared) => (GuestMemory::shared(Box::new(shared)), caller.data_mut()),
        None => {
            let (bytes, data) = memory.data_and_store_mut(caller);
            (GuestMemory::new(bytes), data)
        }
    }
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

/// Reads ranges and makes their pages present, so that the kernel can work on
/// them.
fn ranges<T>(
    caller: &mut Caller<'_, T>,
    memory: Memory,
    ptr: u32,
    len: u32,
) -> Result<Iovecs, Errno> {
    let stopped = stopped(caller);
    let ranges = Iovecs::read(&parts(caller, memory).0, ptr, len, &stopped)?;
    for &(start, len) in ranges.ranges() {
        populate(caller, memory, start, len)?;
    }
    Ok(ranges)
}

fn populate<T>(caller: &Caller<'_, T>, memory: Memory, start: u32, len: u32) -> Call {
    memory
        .populate(caller, u64::from(start), u64::from(len))
        .map_err(|_| Errno::Fault)
}

/// Asks whether the guest has been told to stop.
fn stopped<T>(caller: &Caller<'_, T>) -> impl Fn() -> bool + use<T> {
    let interrupt = caller.interrupt().cloned();
    move || interrupt.as_ref().is_some_and(Interrupt::is_raised)
}

/// `random_get`, piece by piece: the host's generator takes seconds for a
/// large memory, and takes no notice of being interrupted.
fn random_get<T>(caller: &mut Caller<'_, T>, memory: Memory, ptr: u32, len: u32) -> Call {
    parts(caller, memory).0.check(ptr, len)?;
    for (start, len) in pieces(ptr, len) {
        populate(caller, memory, start, len)?;
        random::random_get(&mut parts(caller, memory).0, start, len)?;
        if caller.interrupt().is_some_and(Interrupt::is_raised) {
            return Err(Errno::Intr);
        }
    }
    Ok(())
}

impl<T, G> Binder<'_, T, G>
where
    T: 'static,
    G: Fn(&mut T) -> &mut WasiCtx + Copy + Send + Sync + 'static,
{
    fn process(&mut self) {
        let snapshot = self.snapshot;
        bind!(self, "args_get", |ctx, mem, argv: u32, buf: u32| {
            args::args_get(ctx, mem, argv, buf)
        });
        bind!(self, "args_sizes_get", |ctx, mem, argc: u32, size: u32| {
            args::args_sizes_get(ctx, mem, argc, size)
        });
        bind!(self, "environ_get", |ctx, mem, environ: u32, buf: u32| {
            args::environ_get(ctx, mem, environ, buf)
        });
        bind!(
            self,
            "environ_sizes_get",
            |ctx, mem, count: u32, size: u32| args::environ_sizes_get(ctx, mem, count, size)
        );
        bind!(self, "clock_res_get", |_, mem, id: u32, out: u32| {
            clock::clock_res_get(mem, id, out)
        });
        bind!(
            self,
            "clock_time_get",
            |_, mem, id: u32, precision: u64, out: u32| {
                clock::clock_time_get(mem, id, precision, out)
            }
        );
        bind_stoppable!(
            self,
            "poll_oneoff",
            |ctx, mem, stopped, input: u32, output: u32, count: u32, nevents: u32| {
                let args = poll::PollArgs {
                    input,
                    output,
                    count,
                    nevents,
                };
                poll::poll_oneoff(ctx, mem, args, snapshot, stopped)
            }
        );
        let module = self.module;
        self.linker
            .func_wrap(module, "proc_exit", |_: Caller<'_, T>, code: u32| {
                Err::<(), Error>(Error::host(ProcExit(code)))
            })
            .func_wrap(module, "proc_raise", |_: Caller<'_, T>, signal: u32| {
                process::proc_raise(signal).map(status).map_err(Error::host)
            })
            .func_wrap(module, "sched_yield", |_: Caller<'_, T>| {
                process::sched_yield();
                Errno::Success as u32
            })
            .func_wrap(
                module,
                "random_get",
                |mut caller: Caller<'_, T>, ptr: u32, len: u32| -> Result<u32, Error> {
                    let memory = memory_of(&caller)?;
                    Ok(status(random_get(&mut caller, memory, ptr, len)))
                },
            );
    }

    fn transfers(&mut self) {
        bind_ranges!(self, "fd_read", |ctx, mem, ranges, fd: u32, out: u32| {
            io::fd_read(ctx, mem, fd, ranges, out)
        });
        bind_ranges!(
            self,
            "fd_pread",
            |ctx, mem, ranges, fd: u32, offset: u64, out: u32| {
                io::fd_pread(ctx, mem, fd, ranges, offset, out)
            }
        );
        bind_ranges!(self, "fd_write", |ctx, mem, ranges, fd: u32, out: u32| {
            io::fd_write(ctx, mem, fd, ranges, out)
        });
        bind_ranges!(
            self,
            "fd_pwrite",
            |ctx, mem, ranges, fd: u32, offset: u64, out: u32| {
                io::fd_pwrite(ctx, mem, fd, ranges, offset, out)
            }
        );
    }

    fn files(&mut self) {
        let snapshot = self.snapshot;
        bind!(
            self,
            "fd_advise",
            |ctx, _, fd: u32, offset: u64, len: u64, advice: u32| {
                file::fd_advise(ctx, fd, offset, len, advice)
            }
        );
        bind!(
            self,
            "fd_allocate",
            |ctx, _, fd: u32, offset: u64, len: u64| file::fd_allocate(ctx, fd, offset, len)
        );
        bind!(self, "fd_close", |ctx, _, fd: u32| file::fd_close(ctx, fd));
        bind!(self, "fd_datasync", |ctx, _, fd: u32| file::fd_datasync(
            ctx, fd
        ));
        bind!(self, "fd_sync", |ctx, _, fd: u32| file::fd_sync(ctx, fd));
        bind!(self, "fd_fdstat_get", |ctx, mem, fd: u32, out: u32| {
            file::fd_fdstat_get(ctx, mem, fd, out)
        });
        bind!(
            self,
            "fd_fdstat_set_flags",
            |ctx, _, fd: u32, flags: u32| file::fd_fdstat_set_flags(ctx, fd, flags)
        );
        bind!(
            self,
            "fd_fdstat_set_rights",
            |ctx, _, fd: u32, base: u64, inheriting: u64| {
                file::fd_fdstat_set_rights(ctx, fd, base, inheriting)
            }
        );
        bind!(self, "fd_filestat_get", |ctx, mem, fd: u32, out: u32| {
            file::fd_filestat_get(ctx, mem, fd, out, snapshot)
        });
        bind!(
            self,
            "fd_filestat_set_size",
            |ctx, _, fd: u32, size: u64| file::fd_filestat_set_size(ctx, fd, size)
        );
        bind!(
            self,
            "fd_filestat_set_times",
            |ctx, _, fd: u32, atim: u64, mtim: u64, flags: u32| {
                file::fd_filestat_set_times(ctx, fd, atim, mtim, flags)
            }
        );
        bind!(self, "fd_renumber", |ctx, _, from: u32, to: u32| {
            file::fd_renumber(ctx, from, to)
        });
        bind!(self, "fd_seek", |ctx,
                                mem,
                                fd: u32,
                                delta: i64,
                                whence: u32,
                                out: u32| {
            Whence::decode(whence, snapshot)
                .and_then(|whence| file::fd_seek(ctx, mem, fd, delta, whence, out))
        });
        bind!(self, "fd_tell", |ctx, mem, fd: u32, out: u32| {
            file::fd_tell(ctx, mem, fd, out)
        });
    }

    fn directories(&mut self) {
        bind!(self, "fd_prestat_get", |ctx, mem, fd: u32, out: u32| {
            dirs::fd_prestat_get(ctx, mem, fd, out)
        });
        bind!(
            self,
            "fd_prestat_dir_name",
            |ctx, mem, fd: u32, ptr: u32, len: u32| {
                dirs::fd_prestat_dir_name(ctx, mem, fd, ptr, len)
            }
        );
        bind_stoppable!(
            self,
            "fd_readdir",
            |ctx, mem, stopped, fd: u32, ptr: u32, len: u32, cookie: u64, out: u32| {
                dirs::fd_readdir(ctx, mem, fd, (ptr, len), cookie, out, stopped)
            }
        );
    }

    fn paths(&mut self) {
        let snapshot = self.snapshot;
        bind!(
            self,
            "path_open",
            |ctx,
             mem,
             fd: u32,
             lookup: u32,
             path: u32,
             path_len: u32,
             oflags: u32,
             base: u64,
             inheriting: u64,
             fdflags: u32,
             out: u32| {
                let args = OpenArgs {
                    fd,
                    lookup,
                    path,
                    path_len,
                    oflags,
                    base,
                    inheriting,
                    fdflags,
                };
                open::path_open(ctx, mem, args, out)
            }
        );
        bind!(
            self,
            "path_create_directory",
            |ctx, mem, fd: u32, ptr: u32, len: u32| {
                paths::path_create_directory(ctx, mem, GuestPath { fd, ptr, len })
            }
        );
        bind!(
            self,
            "path_remove_directory",
            |ctx, mem, fd: u32, ptr: u32, len: u32| {
                paths::path_remove_directory(ctx, mem, GuestPath { fd, ptr, len })
            }
        );
        bind!(
            self,
            "path_unlink_file",
            |ctx, mem, fd: u32, ptr: u32, len: u32| {
                paths::path_unlink_file(ctx, mem, GuestPath { fd, ptr, len })
            }
        );
        bind!(
            self,
            "path_filestat_get",
            |ctx, mem, fd: u32, flags: u32, ptr: u32, len: u32, out: u32| {
                paths::path_filestat_get(ctx, mem, flags, GuestPath { fd, ptr, len }, out, snapshot)
            }
        );
        bind!(
            self,
            "path_filestat_set_times",
            |ctx, mem, fd: u32, flags: u32, ptr: u32, len: u32, atim: u64, mtim: u64, set: u32| {
                let at = GuestPath { fd, ptr, len };
                paths::path_filestat_set_times(ctx, mem, flags, at, (atim, mtim, set))
            }
        );
        self.links();
    }

    fn links(&mut self) {
        bind!(
            self,
            "path_link",
            |ctx,
             mem,
             fd: u32,
             flags: u32,
             ptr: u32,
             len: u32,
             new_fd: u32,
             new_ptr: u32,
             new_len: u32| {
                let new = GuestPath {
                    fd: new_fd,
                    ptr: new_ptr,
                    len: new_len,
                };
                paths::path_link(ctx, mem, flags, GuestPath { fd, ptr, len }, new)
            }
        );
        bind!(
            self,
            "path_rename",
            |ctx, mem, fd: u32, ptr: u32, len: u32, new_fd: u32, new_ptr: u32, new_len: u32| {
                let new = GuestPath {
                    fd: new_fd,
                    ptr: new_ptr,
                    len: new_len,
                };
                paths::path_rename(ctx, mem, GuestPath { fd, ptr, len }, new)
            }
        );
        bind!(
            self,
            "path_symlink",
            |ctx, mem, target: u32, target_len: u32, fd: u32, ptr: u32, len: u32| {
                paths::path_symlink(ctx, mem, (target, target_len), GuestPath { fd, ptr, len })
            }
        );
        bind!(
            self,
            "path_readlink",
            |ctx, mem, fd: u32, ptr: u32, len: u32, buf: u32, buf_len: u32, out: u32| {
                let at = GuestPath { fd, ptr, len };
                paths::path_readlink(ctx, mem, at, (buf, buf_len), out)
            }
        );
    }

    fn sockets(&mut self) {
        bind!(
            self,
            "sock_accept",
            |ctx, mem, fd: u32, flags: u32, out: u32| {
                sock::sock_accept(ctx, mem, fd, flags, out)
            }
        );
        bind_ranges!(
            self,
            "sock_recv",
            |ctx, mem, ranges, fd: u32, flags: u32, out: u32, flags_out: u32| {
                sock::sock_recv(ctx, mem, fd, ranges, flags, (out, flags_out))
            }
        );
        bind_ranges!(
            self,
            "sock_send",
            |ctx, mem, ranges, fd: u32, flags: u32, out: u32| {
                sock::sock_send(ctx, mem, fd, ranges, flags, out)
            }
        );
        bind!(self, "sock_shutdown", |ctx, _, fd: u32, how: u32| {
            sock::sock_shutdown(ctx, fd, how)
        });
    }
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
        add_to_linker(&mut linker, |ctx: &mut WasiCtx| ctx);
        for module in ["wasi_snapshot_preview1", "wasi_unstable"] {
            for name in FUNCTIONS {
                assert!(linker.defines(module, name), "{module} {name}");
            }
        }
    }
}
