//! The 46 functions of the interface: a row each.
//!
//! ```text
//!  kind       arguments                     the call sees
//!  plain      as the guest gives them       ctx, mem
//!  stoppable  as the guest gives them       ctx, mem, stopped
//!  transfer   fd, a list of ranges, others  ctx, mem, fd, ranges
//!  own        as the guest gives them       caller: it needs no memory, or its pages
//! ```
//!
//! What must stay true: the arguments of a row are those of the function in
//! `wasi_snapshot_preview1.witx`, in its order; they are the type of the import. A kind
//! gives a call what it may have, and only `transfer` makes ranges present: a row of
//! the wrong kind does not compile.

use super::{plain, random_get, status, stoppable, transfer};
use crate::ProcExit;
use crate::calls::open::OpenArgs;
use crate::calls::paths::GuestPath;
use crate::calls::{args, clock, dirs, file, io, open, paths, poll, process, sock};
use crate::ctx::WasiCtx;
use crate::errno::Errno;
use crate::types::{Snapshot, Whence};
use crate::watch::Around;
use fathom_engine::{Caller, Error, Linker};

/// One row as a function for the linker. `$get` finds the guest's state; `$around`
/// stands around the call of the function of number `$at`.
macro_rules! row {
    (plain, $get:ident, $around:ident, $at:ident, ($ctx:ident, $mem:ident $($_:tt)*),
     ($($arg:ident: $ty:ty),*), u32, $call:expr) => {
        move |mut caller: Caller<'_, T> $(, $arg: $ty)*| -> Result<u32, Error> {
            $around.around($at, &mut caller, &[$($arg as u64),*], |caller| {
                // Some calls need one of both.
                plain(caller, $get, |#[allow(unused)] $ctx, #[allow(unused)] $mem| $call)
            })
        }
    };
    (stoppable, $get:ident, $around:ident, $at:ident,
     ($ctx:ident, $mem:ident, $stopped:ident $($_:tt)*), ($($arg:ident: $ty:ty),*), u32,
     $call:expr) => {
        move |mut caller: Caller<'_, T> $(, $arg: $ty)*| -> Result<u32, Error> {
            $around.around($at, &mut caller, &[$($arg as u64),*], |caller| {
                stoppable(caller, $get, |$ctx, $mem, $stopped| $call)
            })
        }
    };
    (transfer, $get:ident, $around:ident, $at:ident,
     ($ctx:ident, $mem:ident, $stopped:ident, $ranges:ident $($_:tt)*),
     ($fd:ident: u32, $iovs:ident: u32, $count:ident: u32 $(, $arg:ident: $ty:ty)*), u32,
     $call:expr) => {
        move |mut caller: Caller<'_, T>, $fd: u32, $iovs: u32, $count: u32 $(, $arg: $ty)*|
            -> Result<u32, Error> {
            let args = [$fd as u64, $iovs as u64, $count as u64 $(, $arg as u64)*];
            $around.around($at, &mut caller, &args, |caller| {
                transfer(caller, $get, $fd, $iovs, $count, |$ctx, $mem, $ranges| $call)
            })
        }
    };
    (own, $get:ident, $around:ident, $at:ident,
     ($ctx:ident, $mem:ident, $stopped:ident, $ranges:ident, $caller:ident),
     ($($arg:ident: $ty:ty),*), $result:ty, $call:expr) => {
        move |mut caller: Caller<'_, T> $(, $arg: $ty)*| -> Result<$result, Error> {
            // Some calls need none of it.
            $around.around($at, &mut caller, &[$($arg as u64),*], |#[allow(unused)] $caller| {
                $call
            })
        }
    };
}

/// Makes of the rows the function that defines them and the list of their names. The
/// head gives names to what the calls see.
macro_rules! table {
    ($snapshot:ident $get:ident $sees:tt $($kind:ident $name:ident $args:tt $result:tt => $call:expr;)*) => {
        /// The functions by name, in the order of the rows: that is their number.
        pub(crate) const NAMES: &[&str] = &[$(stringify!($name)),*];

        /// Defines every function in `linker`, as members of `module`.
        pub(super) fn define<T: 'static>(
            linker: &mut Linker<T>,
            module: &str,
            $snapshot: Snapshot,
            $get: impl Fn(&mut T) -> &mut WasiCtx + Copy + Send + Sync + 'static,
            around: impl Around,
        ) -> Result<(), Error> {
            let mut numbers = 0..;
            $(
                let around_this = around.clone();
                let at: usize = numbers.next().expect("there is no last number");
                linker.func_wrap(
                    module,
                    stringify!($name),
                    row!($kind, $get, around_this, at, $sees, $args, $result, $call),
                )?;
            )*
            Ok(())
        }
    };
}

table! { snapshot get (ctx, mem, stopped, ranges, caller)

plain args_get(argv: u32, buf: u32) u32 =>
    args::args_get(ctx, mem, argv, buf);
plain args_sizes_get(argc: u32, size: u32) u32 =>
    args::args_sizes_get(ctx, mem, argc, size);
plain environ_get(environ: u32, buf: u32) u32 =>
    args::environ_get(ctx, mem, environ, buf);
plain environ_sizes_get(count: u32, size: u32) u32 =>
    args::environ_sizes_get(ctx, mem, count, size);

plain clock_res_get(id: u32, out: u32) u32 =>
    clock::clock_res_get(ctx, mem, id, out);
plain clock_time_get(id: u32, precision: u64, out: u32) u32 =>
    clock::clock_time_get(ctx, mem, id, precision, out);

plain fd_advise(fd: u32, offset: u64, len: u64, advice: u32) u32 =>
    file::fd_advise(ctx, fd, offset, len, advice);
plain fd_allocate(fd: u32, offset: u64, len: u64) u32 =>
    file::fd_allocate(ctx, fd, offset, len);
plain fd_close(fd: u32) u32 =>
    file::fd_close(ctx, fd);
plain fd_datasync(fd: u32) u32 =>
    file::fd_datasync(ctx, fd);
plain fd_sync(fd: u32) u32 =>
    file::fd_sync(ctx, fd);
plain fd_fdstat_get(fd: u32, out: u32) u32 =>
    file::fd_fdstat_get(ctx, mem, fd, out);
plain fd_fdstat_set_flags(fd: u32, flags: u32) u32 =>
    file::fd_fdstat_set_flags(ctx, fd, flags);
plain fd_fdstat_set_rights(fd: u32, base: u64, inheriting: u64) u32 =>
    file::fd_fdstat_set_rights(ctx, fd, base, inheriting);
plain fd_filestat_get(fd: u32, out: u32) u32 =>
    file::fd_filestat_get(ctx, mem, fd, out, snapshot);
plain fd_filestat_set_size(fd: u32, size: u64) u32 =>
    file::fd_filestat_set_size(ctx, fd, size);
plain fd_filestat_set_times(fd: u32, atim: u64, mtim: u64, flags: u32) u32 =>
    file::fd_filestat_set_times(ctx, fd, atim, mtim, flags);
plain fd_renumber(from: u32, to: u32) u32 =>
    file::fd_renumber(ctx, from, to);
plain fd_seek(fd: u32, delta: i64, whence: u32, out: u32) u32 =>
    // The numbers of the three ways changed places between the snapshots.
    Whence::decode(whence, snapshot)
        .and_then(|whence| file::fd_seek(ctx, mem, fd, delta, whence, out));
plain fd_tell(fd: u32, out: u32) u32 =>
    file::fd_tell(ctx, mem, fd, out);

transfer fd_read(fd: u32, iovs: u32, count: u32, out: u32) u32 =>
    io::fd_read(ctx, mem, fd, ranges, out);
transfer fd_pread(fd: u32, iovs: u32, count: u32, offset: u64, out: u32) u32 =>
    io::fd_pread(ctx, mem, fd, ranges, offset, out);
transfer fd_write(fd: u32, iovs: u32, count: u32, out: u32) u32 =>
    io::fd_write(ctx, mem, fd, ranges, out);
transfer fd_pwrite(fd: u32, iovs: u32, count: u32, offset: u64, out: u32) u32 =>
    io::fd_pwrite(ctx, mem, fd, ranges, offset, out);

plain fd_prestat_get(fd: u32, out: u32) u32 =>
    dirs::fd_prestat_get(ctx, mem, fd, out);
plain fd_prestat_dir_name(fd: u32, ptr: u32, len: u32) u32 =>
    dirs::fd_prestat_dir_name(ctx, mem, fd, ptr, len);
stoppable fd_readdir(fd: u32, ptr: u32, len: u32, cookie: u64, out: u32) u32 =>
    dirs::fd_readdir(ctx, mem, fd, (ptr, len), cookie, out, stopped);

plain path_open(
    fd: u32, lookup: u32, path: u32, path_len: u32, oflags: u32, base: u64, inheriting: u64,
    fdflags: u32, out: u32
) u32 => {
    let args = OpenArgs { fd, lookup, path, path_len, oflags, base, inheriting, fdflags };
    open::path_open(ctx, mem, args, out)
};
plain path_create_directory(fd: u32, ptr: u32, len: u32) u32 =>
    paths::path_create_directory(ctx, mem, GuestPath { fd, ptr, len });
plain path_remove_directory(fd: u32, ptr: u32, len: u32) u32 =>
    paths::path_remove_directory(ctx, mem, GuestPath { fd, ptr, len });
plain path_unlink_file(fd: u32, ptr: u32, len: u32) u32 =>
    paths::path_unlink_file(ctx, mem, GuestPath { fd, ptr, len });
plain path_filestat_get(fd: u32, flags: u32, ptr: u32, len: u32, out: u32) u32 =>
    paths::path_filestat_get(ctx, mem, flags, GuestPath { fd, ptr, len }, out, snapshot);
plain path_filestat_set_times(
    fd: u32, flags: u32, ptr: u32, len: u32, atim: u64, mtim: u64, set: u32
) u32 =>
    paths::path_filestat_set_times(ctx, mem, flags, GuestPath { fd, ptr, len }, (atim, mtim, set));
plain path_link(
    fd: u32, flags: u32, ptr: u32, len: u32, new_fd: u32, new_ptr: u32, new_len: u32
) u32 => {
    let new = GuestPath { fd: new_fd, ptr: new_ptr, len: new_len };
    paths::path_link(ctx, mem, flags, GuestPath { fd, ptr, len }, new)
};
plain path_rename(fd: u32, ptr: u32, len: u32, new_fd: u32, new_ptr: u32, new_len: u32) u32 => {
    let new = GuestPath { fd: new_fd, ptr: new_ptr, len: new_len };
    paths::path_rename(ctx, mem, GuestPath { fd, ptr, len }, new)
};
plain path_symlink(target: u32, target_len: u32, fd: u32, ptr: u32, len: u32) u32 =>
    paths::path_symlink(ctx, mem, (target, target_len), GuestPath { fd, ptr, len });
plain path_readlink(fd: u32, ptr: u32, len: u32, buf: u32, buf_len: u32, out: u32) u32 =>
    paths::path_readlink(ctx, mem, GuestPath { fd, ptr, len }, (buf, buf_len), out);

stoppable poll_oneoff(input: u32, output: u32, count: u32, nevents: u32) u32 => {
    let args = poll::PollArgs { input, output, count, nevents };
    poll::poll_oneoff(ctx, mem, args, snapshot, stopped)
};

// Not `plain`: a module without a memory may call these.
own proc_exit(code: u32) () => Err(Error::host(ProcExit(code)));
own proc_raise(signal: u32) u32 =>
    process::proc_raise(signal).map(status).map_err(Error::host);
own sched_yield() u32 => {
    process::sched_yield();
    Ok(Errno::Success as u32)
};
own random_get(ptr: u32, len: u32) u32 => random_get(caller, get, ptr, len);

plain sock_accept(fd: u32, flags: u32, out: u32) u32 =>
    sock::sock_accept(ctx, mem, fd, flags, out);
transfer sock_recv(fd: u32, iovs: u32, count: u32, flags: u32, out: u32, flags_out: u32) u32 =>
    sock::sock_recv(ctx, mem, fd, ranges, flags, (out, flags_out));
transfer sock_send(fd: u32, iovs: u32, count: u32, flags: u32, out: u32) u32 =>
    sock::sock_send(ctx, mem, fd, ranges, flags, out);
plain sock_shutdown(fd: u32, how: u32) u32 =>
    sock::sock_shutdown(ctx, fd, how);
}
