//! The WebAssembly engine: validation by wasmparser, our own translation to
//! Cranelift, our own memory strategies, code arena, traps and host interface.
//!
//! ```text
//!  facts     what all agree on: layouts that compiled code sees, types, features,
//!    ▲       traps and errors, what a module declares
//!  bounds    the strategies: what keeps an access inside its memory
//!    ▲
//!  compile   a body to Cranelift IR to machine code: translate, elide, count
//!    ▲
//!  run       engine, module, store, instance, memory, entry, traps, limits: what an
//!            embedder uses
//! ```
//!
//! A module uses those above it and never one below; `tests/tidy.rs` checks it.
//!
//! The public names are those that users of other engines know: [`Engine`],
//! [`Module`], [`Linker`], [`Store`], [`Instance`], [`Func`], [`Memory`].
//!
//! What must stay true: the engine does not know that it is measured; every
//! decision about a memory's safety is in its plan (`bounds::MemoryPlan`).
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

// Its own tests are run where no check is wrong, see `bounds/thesis.rs`.
#![cfg(not(all(test, thesis_formula)))]

mod bounds;
mod compile;
mod facts;
mod run;

pub use bounds::{Bounds, BoundsChoice, Growth, Guarantee, HighBits, Probing, UnknownBounds};
pub use compile::{
    CheckSites, CodeCost, CodeLine, Codegen, Compilation, CompileBudget, CompileWork, Cpu, Elide,
    Fallback, Listing, Opt, OverBudget, UnknownCompileBudget, WasmLine,
};
pub use facts::error::{Error, ErrorKind, Result};
pub use facts::features::{Feature, Features, UnknownFeature};
pub use facts::module::{ModuleInfo, NoSuchFunc};
pub use facts::quota::{LimitError, Quota, Resource};
pub use facts::shown::is_command;
pub use facts::source::{DebugInfo, FrameSymbol, NoSymbols, Symbols};
pub use facts::thrown::{ExnRef, Uncaught};
pub use facts::trap::{AccessReport, Frame, Trap, TrapCode};
pub use facts::types::{
    ExternType, FieldType, FuncType, GlobalType, HeapType, MemoryType, RefType, Storage, TableType,
    TagType, TypeId, ValType,
};
pub use facts::vmctx::Counts;
pub use run::config::{Config, ProfilingStrategy};
pub use run::engine::Engine;
pub use run::externs::{DataPtr, Extern, Global, Memory, Table, Tag};
pub use run::func::{Func, TypedFunc, WasmParams, WasmResults};
pub use run::handle::Module;
pub use run::heap::{Collector, HeapStats, Pauses};
pub use run::host::{Caller, HostReturn, IntoHostFunc};
pub use run::instance::Instance;
pub use run::interrupt::Interrupt;
pub use run::limits::{Allowance, ResourceLimiter, StoreLimits, StoreLimitsBuilder};
pub use run::linker::{InstancePre, Linker, UnknownImportError};
pub use run::memory::OutOfBounds;
pub use run::parking::Waited;
pub use run::pool::{Pool, PoolLimits, Pooled, PooledFunc};
pub use run::shared::SharedMemory;
pub use run::store::{AsContext, AsContextMut, Store};
pub use run::table::MAX_TABLE_ELEMENTS;
pub use run::values::{AnyRef, ContRef, ExternRef, Val, WasmTy};
