//! The inside of a runner process: one request in, events out.
//!
//! What every runner written in Rust does in the same way, ours and those of
//! outside engines: it is small and knows no engine.
//!
//! ```text
//! run_engine   for an engine in a program of its own: --check, or serve
//!  serve       reads the request, ends the events with done or error
//!   measure    load, compile, the measured threads, the process's totals
//!    cycle     pinned threads which make, run and drop instances
//!   probe      calls of one instance, in order
//!   evidence   what is in force, observed
//! ```
//!
//! ```
//! use std::io::{self, Write};
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! use fathom_runner::cycle::{Laps, Program, RunEnd, Streams, cycle};
//!
//! struct Hello;
//!
//! impl Program for Hello {
//!     type World = Streams;
//!     type Instance = Streams;
//!     type Error = io::Error;
//!
//!     fn enter(&self, streams: Streams) -> io::Result<Streams> {
//!         Ok(streams)
//!     }
//!
//!     fn instantiate(&self, streams: Streams) -> io::Result<Streams> {
//!         Ok(streams)
//!     }
//!
//!     fn run(&self, streams: &mut Streams) -> io::Result<RunEnd> {
//!         writeln!(streams.stdout, "hello")?;
//!         Ok(RunEnd { exit: 0, cpu_ns: None })
//!     }
//!
//!     fn teardown(&self, _: Streams) {}
//! }
//!
//! # let scratch = std::env::temp_dir().join(format!("hello-{}", std::process::id()));
//! # std::fs::create_dir_all(&scratch)?;
//! let laps = Laps {
//!     threads: 2,
//!     cpus: Vec::new(),
//!     warmup: 1,
//!     iterations: 3,
//!     stdin: None,
//!     scratch: scratch.clone(),
//!     cycle: false,
//! };
//! let counted = AtomicU32::new(0);
//! let count = |iteration: fathom_runner::record::protocol::Iteration| {
//!     counted.fetch_add(iteration.counted.into(), Ordering::Relaxed);
//! };
//! cycle(&Hello, &laps, count).expect("nothing fails");
//! assert_eq!(counted.into_inner(), 2 * 3);
//! # std::fs::remove_dir_all(&scratch)?;
//! # Ok::<(), io::Error>(())
//! ```

pub mod cycle;
mod engine;
mod events;
pub mod evidence;
mod measure;
mod probe;

pub use engine::{Engine, EngineRequest, run_engine};
pub use events::{Emitter, Refusal, serve};
pub use fathom_record as record;
pub use measure::{arguments_of, measure_module, measure_program, metrics_of};
pub use probe::{Probed, probe_module};
