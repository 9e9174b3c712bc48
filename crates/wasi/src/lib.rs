//! WASI preview 1 for the engine.
//!
//! ```text
//!  WasiCtxBuilder ──build──► WasiCtx (in the store's data)
//!                               │ table.rs: guest number → host file + rights
//!  bind.rs: Linker ──────► calls/*.rs: one function a call, over (WasiCtx, GuestMemory)
//!   └ table.rs: a row a call       │ path.rs: resolution beneath a directory
//!      └ watch.rs: counts, times   │
//!  threads.rs: a store a thread    │ memory.rs: the guest's bytes
//!   (these know the engine)        └ ranges.rs: ranges of them, checked, present
//! ```
//!
//! What must stay true:
//! - No guest path leads out of a preopened directory (`path.rs`), nor to the
//!   kernel's interfaces in it (`kernel_files.rs`).
//! - Nothing is changed in a folder that was given to read only (`perms.rs`).
//! - A guest range is checked, and present where the kernel will touch it, before it
//!   is used: types see to it (`ranges.rs`). A wrong pointer is an errno, never a panic.
//! - `fd_read`, `fd_write` and their kin make one transferring system call and
//!   copy nothing: the kernel works on guest memory itself. Only the bytes of a
//!   shared memory, which other threads may change meanwhile, go through a buffer.
//! - The table of descriptors is locked while a call looks something up in it,
//!   never while it waits.
//! - What a call holds of the host's memory is bounded (`memory.rs`), as are the
//!   descriptors of a guest; a call that works long asks whether it is to stop.
//! - A guest changes nothing that other processes share through an inherited
//!   stream, and ends only itself ([`ProcExit`]).
//!
//! Linux only: the sandbox rests on `openat2`, with cap-std where it is missing.
//!
//! ```
//! use fathom_engine::{Config, Engine, Linker, Module, Store};
//! use fathom_wasi::{ProcExit, WasiCtx, WasiCtxBuilder, add_to_linker};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::new(&Config::new())?;
//! let module = Module::new(&engine, &wat::parse_str(r#"(module
//!   (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
//!   (func (export "_start") (call $exit (i32.const 3))))"#)?)?;
//! let mut linker = Linker::new(&engine);
//! add_to_linker(&mut linker, |ctx: &mut WasiCtx| ctx)?;
//!
//! let ctx = WasiCtxBuilder::new().inherit_stdio().arg("program")?.build()?;
//! let mut store = Store::new(&engine, ctx);
//! let program = linker.instantiate(&mut store, &module)?;
//! let start = program.get_func(&store, "_start").expect("exported");
//! let ended = start.call(&mut store, &[], &mut []).unwrap_err();
//! assert_eq!(ended.downcast_ref(), Some(&ProcExit(3)));
//! # Ok(())
//! # }
//! ```

mod bind;
mod calls;
mod ctx;
mod dir;
mod errno;
mod given;
mod held;
mod kernel_files;
mod memory;
mod path;
mod perms;
mod pipes;
mod ranges;
mod table;
mod threads;
mod types;
mod watch;

#[cfg(test)]
mod tests;

pub use bind::{add_to_linker, add_to_linker_watched, defines};
pub use calls::process::ProcExit;
pub use ctx::{
    BuildError, DESCRIPTORS_MAX, HostDir, SUBSCRIPTIONS_MAX, Stream, WasiCtx, WasiCtxBuilder,
};
pub use errno::Errno;
pub use given::{HostMonotonicClock, HostWallClock};
pub use perms::{DirPerms, FilePerms};
pub use pipes::{MemoryInputPipe, MemoryOutputPipe};
pub use threads::{THREADS_MAX, ThreadError, ThreadOptions, run_with_threads, uses_threads};
pub use watch::{WATCH_BUCKETS, Watch, WatchedCalls};

/// The names that the crate `wasmtime-wasi` has for preview 1, of what is the same here.
pub mod p1 {
    pub use crate::{WasiCtx as WasiP1Ctx, add_to_linker as add_to_linker_sync};
}

/// A module that calls the interface exports no memory named `memory`, so the
/// call has nothing to work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the module exports no memory named \"memory\", which its WASI calls need")]
pub struct MissingMemory;
