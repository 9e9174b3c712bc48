//! Running: what an embedder holds, and what stands behind it.
//!
//! ```text
//!  engine, config, handle    a configuration; modules, compiled or out of the cache
//!  code ◄─ lazy              the arena that machine code is in; functions compiled late
//!  store ─► instance (link, init, image) ─► entry ─► machine code
//!    │                                        └► runtime, host: what it calls
//!    ├► memory, table, externs, func, values  what is in it
//!    ├► exception, references ◄─ marks        what Wasm refers to, collected
//!    ├► stacks                                continuations
//!    ├► limits, fuel, interrupt               what it may have, and when it ends
//!    └► pool, recycle                         leases, one after the other
//! ```
//!
//! What must stay true: a store is one thread's; what a handle can name is not freed before
//! it is.

pub(crate) mod code;
pub(crate) mod config;
pub(crate) mod engine;
pub(crate) mod entry;
pub(crate) mod exception;
pub(crate) mod externs;
pub(crate) mod fuel;
pub(crate) mod func;
pub(crate) mod handle;
pub(crate) mod heap;
pub(crate) mod host;
pub(crate) mod image;
pub(crate) mod in_force;
pub(crate) mod init;
pub(crate) mod instance;
pub(crate) mod interrupt;
pub(crate) mod lazy;
pub(crate) mod limits;
pub(crate) mod link;
pub(crate) mod linker;
pub(crate) mod marks;
pub(crate) mod memory;
pub(crate) mod parking;
pub(crate) mod perf_map;
pub(crate) mod pool;
pub(crate) mod racy;
pub(crate) mod recycle;
pub(crate) mod references;
pub(crate) mod refusal;
pub(crate) mod runtime;
pub(crate) mod shared;
pub(crate) mod stacks;
pub(crate) mod store;
pub(crate) mod table;
pub(crate) mod values;
pub(crate) mod wait;
