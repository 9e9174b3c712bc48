//! What a campaign is about: the closed list of experiments.
//!
//! A header names its experiment; `fathom-bench` has a design for each (what is
//! measured, and how), `fathom-report` a page for each that has one of its own.
//!
//! What must stay true: a name never changes its meaning, for files carry it; nobody
//! but those two lists asks which experiment it is (`tests/tidy.rs`).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::vocabulary::{UnknownName, closed_set};

closed_set! {
    /// What a campaign is about.
    #[derive(Default)]
    Experiment, "experiment" {
        /// How long the programs of a suite run.
        #[default]
        Suite = "suite", "how long the programs of a suite run";
        /// How long a program of the user's own runs.
        Module = "module", "how long a program of one's own runs";
        /// What instances cost that are made, grown and dropped in a loop.
        Growth = "growth", "instances that are made, grown and dropped in a loop";
        /// What compiling costs.
        Compile = "compile", "compilation alone";
        /// How long it takes to the first instruction, and from instance to instance.
        Startup = "startup", "the way to the first instruction and from instance to instance";
        /// What a call costs.
        Calls = "calls", "what a call costs, of a function, through a table and of the host";
        /// One program's time on an engine, in parts.
        Waterfall = "waterfall", "the time of one program on one engine, in parts";
        /// What bounds checks cost.
        Bounds = "bounds", "what bounds checks cost, on 32-bit and 64-bit memories";
        /// What instances cost that run side by side.
        Scaling = "scaling", "what instances cost that run side by side";
        /// What coroutines cost, by how they are made.
        Fibers = "fibers", "what coroutines cost, by how they are made";
        /// How many requests an HTTP server on fibers serves, and how fast.
        Http = "http", "how many requests an HTTP server on fibers serves, and how fast";
        /// What functions and operators in SQL take beside native ones.
        Sql = "sql", "functions and operators in SQL beside native ones";
        /// What a call of a function in SQL costs.
        SqlCalls = "sql-calls", "what a call, a row and an instance of each function in SQL cost";
        /// What libsodium's own programs take, by group.
        Libsodium = "libsodium", "what libsodium's own programs take, by group";
        /// What applications of npm take, and whether other suites say who is first.
        Web = "web", "what applications of npm take, and whether other suites say who is first";
        /// What "Leaps and bounds" measured of PolyBench.
        LeapsAndBounds = "leaps-and-bounds", "what \"Leaps and bounds\" measured of PolyBench";
        /// What "Leaps and bounds" measured of SPEC CPU, of a user's copy.
        LeapsAndBoundsSpec = "leaps-and-bounds-spec", "what \"Leaps and bounds\" measured of SPEC CPU";
        /// What "Performance of WebAssembly runtimes in 2023" measured.
        Libsodium2023 = "libsodium-2023", "what \"Performance of WebAssembly runtimes in 2023\" measured";
        /// What the eWAPA study measured of WASI.
        Ewapa = "ewapa", "what the eWAPA study measured of WASI";
        /// What "Benchmarking WasmFX" measured.
        BenchmarkingWasmfx = "benchmarking-wasmfx", "what \"Benchmarking WasmFX\" measured";
        /// What "Hardware-Accelerated Bounds Checking for WebAssembly" measured.
        HardwareBoundsChecking = "hardware-bounds-checking", "what \"Hardware-Accelerated Bounds Checking for WebAssembly\" measured";
    }
}

/// What a header of format 1 says of itself in remarks and otherwise.
pub(crate) struct Format1<'a> {
    /// The remark `selection`.
    pub selection: Option<&'a str>,
    /// The remark `figure`.
    pub figure: Option<&'a str>,
    /// Whether there is a remark `spec`.
    pub has_spec: bool,
    /// Whether a user's own module was measured.
    pub has_module: bool,
    /// The campaign's name.
    pub name: &'a str,
}

impl Experiment {
    /// What a campaign of format 1 is about, which did not say it.
    pub(crate) fn of_format_1(old: &Format1<'_>) -> Experiment {
        let selection = old.selection.and_then(|name| name.parse().ok());
        match (selection, old.figure) {
            (Some(Experiment::LeapsAndBounds), _) if old.has_spec => Experiment::LeapsAndBoundsSpec,
            (Some(experiment), _) => experiment,
            (None, Some("compile_ns")) => Experiment::Compile,
            (None, Some("instance_ns")) => Experiment::Startup,
            (None, _) if old.has_module => Experiment::Module,
            // Its campaigns had one name, and no suite has that.
            (None, _) if old.name == "growth" => Experiment::Growth,
            (None, _) => Experiment::Suite,
        }
    }
}
