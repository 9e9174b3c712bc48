//! What is run beside a program whose time is taken apart, by its name in cells.
//!
//! Who plans these programs and who subtracts their times agree here. The program itself
//! is of its own suite; its rows come in this order:
//!
//! ```text
//!  the engine             what is taken apart
//!  the engine, unchecked  if it can be had without the instructions of its checks
//!  the format             WebAssembly without checks, if that is another row
//!  native                 if there is a native build
//! ```

/// The suite of the programs beside it.
pub const SUITE: &str = "waterfall";
/// The program itself with a `_start` that returns at once.
pub const NOT_RUN: &str = "not-run";
/// Writes once to each page of its memory.
pub const TOUCHED: &str = "touched";
/// Writes as often, to its first page.
pub const UNTOUCHED: &str = "untouched";
