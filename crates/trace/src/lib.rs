//! Where the time goes between WebAssembly and the kernel.
//!
//! ```text
//!  rewrite   a module that counts its own WASI calls, on any engine
//!   └ counts   what it hands out at its end
//!  explain   what stands out among traces, and why
//!  kernel    what processes ask of the kernel, by eBPF
//!  code      machine code that others made: jitdump, a program's file
//!  profile   where processes spend their time, by function
//!   └ elf     functions of a file, by its symbol tables; of symbols, too
//!  symbols   which functions of an engine are WASI's, for the kernel to count
//!  trace     both, of one run, as a file has them
//!  times     how long: totals, extremes, histograms
//! ```
//!
//! What must stay true: a traced program does what it does untraced; what cannot be
//! seen is said, never guessed.
//!
//! ```
//! use fathom_trace::rewrite::{Seen, Stream, counting};
//!
//! let module = wat::parse_str(r#"(module
//!   (import "wasi_snapshot_preview1" "sched_yield" (func $yield (result i32)))
//!   (memory (export "memory") 1)
//!   (func (export "_start") (drop (call $yield))))"#)?;
//! // Run on any engine, it writes one line more to standard error at its end.
//! let counting = counting(&module, Stream::Stderr, Seen::Counts)?;
//! assert!(counting.len() > module.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod code;
pub mod counts;
mod elf;
pub mod explain;
pub mod kernel;
pub mod profile;
pub mod rewrite;
pub mod symbols;
pub mod times;
pub mod trace;
