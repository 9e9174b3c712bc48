//! The WebAssembly engine: validation by wasmparser, our own translation to
//! Cranelift, our own memory strategies, code arena, traps and host interface.
//!
//! ```text
//!  bytes ─► module (decode, cache) ─► compile ─► translate ─► bounds
//!                │                                   (checks emitted)
//!                ▼
//!  Store ◄─ instance (link, init) ─► entry ─► code arena   traps ─► Error
//!    ▲           │
//!  linker,    memory, table, runtime (libcalls), host functions
//!  func, externs: what an embedder uses
//! ```
//!
//! The public names are those that users of other engines know: [`Engine`],
//! [`Module`], [`Linker`], [`Store`], [`Instance`], [`Func`], [`Memory`].
//!
//! What must stay true: the engine does not know that it is measured; every
//! decision about a memory's safety is in its [`bounds::MemoryPlan`].
//!
//! ```
//! use fathom_engine::{Config, Engine, Linker, Module, Store};
//!
//! # fn main() -> fathom_engine::Result<()> {
//! let engine = Engine::new(&Config::new())?;
//! // (module (func (export "add") (param i32 i32) (result i32)
//! //   local.get 0  local.get 1  i32.add))
//! let wasm = b"\0asm\x01\0\0\0\x01\x07\x01\x60\x02\x7f\x7f\x01\x7f\x03\x02\x01\0\
//!              \x07\x07\x01\x03add\0\0\x0a\x09\x01\x07\0\x20\0\x20\x01\x6a\x0b";
//! let module = Module::new(&engine, wasm)?;
//! let mut store = Store::new(&engine, ());
//! let instance = Linker::new(&engine).instantiate(&mut store, &module)?;
//! let add = instance.get_func(&store, "add").expect("exported");
//! let add = add.typed::<(i32, i32), i32>(&store)?;
//! assert_eq!(add.call(&mut store, (2, 3))?, 5);
//! # Ok(())
//! # }
//! ```

pub mod bounds;
mod bytes;
mod code;
mod compile;
mod config;
mod count;
mod elide;
mod engine;
mod entry;
mod error;
mod exception;
mod externs;
mod features;
mod fuel;
mod func;
mod handle;
mod host;
mod image;
mod in_force;
mod init;
mod instance;
mod interrupt;
pub mod libcall;
mod limits;
mod link;
mod linker;
mod memory;
mod module;
mod parking;
mod pool;
mod quota;
mod racy;
mod recycle;
mod refusal;
mod runtime;
mod shared;
mod store;
mod table;
mod thrown;
mod translate;
pub mod trap;
mod types;
mod values;
pub mod vmctx;
mod wait;

pub use bounds::{Bounds, BoundsChoice, Guarantee};
pub use compile::{
    CodeCost, CodeLine, CompileBudget, Elide, Listing, Opt, OverBudget, UnknownCompileBudget,
    WasmLine,
};
pub use config::Config;
pub use count::CheckSites;
pub use engine::Engine;
pub use error::{Error, ErrorKind, Result};
pub use externs::{DataPtr, Extern, Global, Memory, Table, Tag};
pub use features::{Feature, Features, UnknownFeature};
pub use func::{Func, TypedFunc, WasmParams, WasmResults};
pub use handle::Module;
pub use host::{Caller, HostReturn, IntoHostFunc};
pub use instance::Instance;
pub use interrupt::Interrupt;
pub use limits::{Allowance, ResourceLimiter, StoreLimits, StoreLimitsBuilder};
pub use linker::Linker;
pub use memory::OutOfBounds;
pub use module::{ModuleInfo, NoSuchFunc};
pub use parking::Waited;
pub use pool::{Pool, PoolLimits, Pooled, PooledFunc};
pub use quota::{LimitError, Quota, Resource};
pub use shared::SharedMemory;
pub use store::{AsContext, AsContextMut, Store};
pub use table::MAX_TABLE_ELEMENTS;
pub use thrown::{ExnRef, Uncaught};
pub use trap::{Frame, Trap, TrapCode};
pub use types::{
    ExternType, FuncType, GlobalType, HeapType, MemoryType, RefType, TableType, TagType, TypeId,
    ValType,
};
pub use values::{ExternRef, Val, WasmTy};
pub use vmctx::Counts;
