//! The closed sets of the measurement: phases, metrics, variants, checks,
//! guarantees, failures.
//!
//! Each is an enum with `ALL`, a `name()` that is also its wire form, and a
//! one-line `help()`. Names never change their meaning; docs/GLOSSARY.md says
//! what each one means at length.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A name that is none of a closed set's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} '{name}' (one of: {known})")]
pub struct UnknownName {
    /// The set that was asked.
    pub what: &'static str,
    /// The name it does not hold.
    pub name: String,
    /// The names it holds.
    pub known: String,
}

/// Declares a closed set whose wire form, `name()`, `FromStr` and `Display` are
/// one list.
macro_rules! closed_set {
    ($(#[$meta:meta])* $set:ident, $what:literal {
        $($(#[$doc:meta])* $variant:ident = $name:literal, $help:literal;)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $set {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)+
        }

        impl $set {
            /// Every member, in declared order.
            pub const ALL: &'static [$set] = &[$($set::$variant),+];

            /// The name on the wire and on the command line.
            pub fn name(self) -> &'static str {
                match self { $($set::$variant => $name,)+ }
            }

            /// One line of help.
            pub fn help(self) -> &'static str {
                match self { $($set::$variant => $help,)+ }
            }
        }

        impl fmt::Display for $set {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $set {
            type Err = UnknownName;

            fn from_str(name: &str) -> Result<$set, UnknownName> {
                $set::ALL.iter().copied().find(|one| one.name() == name).ok_or_else(|| UnknownName {
                    what: $what,
                    name: name.to_owned(),
                    known: $set::ALL.iter().map(|one| one.name()).collect::<Vec<_>>().join(", "),
                })
            }
        }
    };
}

pub(crate) use closed_set;

closed_set! {
    /// A stretch of a module's life that is timed on its own.
    Phase, "phase" {
        /// Reading the module's bytes, once per process.
        Load = "load", "reading the module's bytes";
        /// Bytes to machine code, once per process; the engine's own start is in it where it cannot be told apart.
        Compile = "compile", "validation, translation and code generation";
        /// A fresh instance, once per iteration.
        Instantiate = "instantiate", "making an instance: memories, imports, segments, start function";
        /// The program, from its first instruction to its exit.
        Run = "run", "the program itself, from its entry to its exit";
        /// Giving the instance back.
        Teardown = "teardown", "dropping the instance and its memory";
        /// [`INSTANCES_PER_CYCLE`] instances, each run, under one clock: where one is too
        /// short for the clock.
        Cycle = "cycle", "making, running and dropping 1000 instances, one after the other";
    }
}

/// Instances that are made, run and dropped in one [`Phase::Cycle`].
pub const INSTANCES_PER_CYCLE: u32 = 1000;

closed_set! {
    /// Something counted or timed, with its unit last in the name.
    Metric, "metric" {
        /// Wall-clock time of a phase.
        WallNs = "wall_ns", "wall-clock time";
        /// CPU time of the thread that ran a phase.
        ThreadCpuNs = "thread_cpu_ns", "CPU time of the thread";
        /// The time a workload takes of its own kernel, read inside it.
        KernelNs = "kernel_ns", "time of the workload's kernel, read by the workload";
        /// Page faults served without I/O.
        FaultsMinor = "faults_minor", "page faults served without I/O";
        /// Page faults that waited for I/O.
        FaultsMajor = "faults_major", "page faults that waited for I/O";
        /// Switches because a thread waited.
        CtxVoluntary = "ctx_voluntary", "context switches because a thread waited";
        /// Switches because the scheduler took the CPU.
        CtxInvoluntary = "ctx_involuntary", "context switches because the CPU was taken";
        /// Peak resident set.
        RssPeakBytes = "rss_peak_bytes", "largest resident set";
        /// Peak address space.
        VirtualBytes = "virtual_bytes", "largest address space";
        /// Machine code made of the module.
        CodeBytes = "code_bytes", "machine code of the module";
        /// Of the phase compile: making what the engine takes of what it does not.
        TranslateNs = "translate_ns", "part of compiling: translating what the engine does not take";
        /// Collections of structures and arrays, by iteration.
        Collections = "collections", "collections of structures and arrays, an iteration";
        /// The time that the program waited for them, by iteration.
        PausedNs = "paused_ns", "time that collections stopped the program, an iteration";
        /// What 99 of a hundred pauses of the process took at most.
        PauseP99Ns = "pause_p99_ns", "time within which 99 % of the collectors' pauses ended";
        /// What structures and arrays took when an iteration had ended, at most.
        HeapBytes = "heap_bytes", "memory of structures and arrays at an iteration's end";
        /// System calls of the process.
        Syscalls = "syscalls", "system calls";
        /// CPU cycles, where the host has a PMU.
        Cycles = "cycles", "CPU cycles (needs a PMU)";
        /// Instructions that one iteration retires in user mode, of all its processes.
        Instructions = "instructions", "user instructions of one iteration";
        /// Requests that a server under load answered in a second.
        AnswersPerS = "answers_per_s", "requests that a server answered in a second";
        /// What half of its answers took at most.
        LatencyP50Ns = "latency_p50_ns", "median time until an answer";
        /// What nine of ten took at most.
        LatencyP90Ns = "latency_p90_ns", "time within which 90 % of the answers came";
        /// What 99 of a hundred took at most.
        LatencyP99Ns = "latency_p99_ns", "time within which 99 % of the answers came";
        /// What 999 of a thousand took at most.
        LatencyP999Ns = "latency_p999_ns", "time within which 99.9 % of the answers came";
        /// What none exceeded.
        LatencyMaxNs = "latency_max_ns", "longest time until an answer";
        /// Processor time of the server's own code for an answer, without compiling and start.
        AnswerUserNs = "answer_user_ns", "processor time of the server in user mode, an answer";
        /// Processor time of the kernel for an answer, as the server's.
        AnswerSystemNs = "answer_system_ns", "processor time of the server in the kernel, an answer";
    }
}

closed_set! {
    /// What a metric counts.
    Unit, "unit" {
        /// Nanoseconds.
        Nanoseconds = "ns", "nanoseconds";
        /// Bytes.
        Bytes = "bytes", "bytes";
        /// A plain count.
        Count = "count", "a plain count";
        /// A count in a second.
        PerSecond = "per_s", "a count in a second";
    }
}

impl Metric {
    /// The unit its values are in, which ends its name.
    pub fn unit(self) -> Unit {
        let units = [Unit::Nanoseconds, Unit::Bytes, Unit::PerSecond];
        let ends = |unit: &Unit| {
            let front = self.name().strip_suffix(unit.name());
            front.is_some_and(|front| front.ends_with('_'))
        };
        units.into_iter().find(ends).unwrap_or(Unit::Count)
    }
}

closed_set! {
    /// What a workload's source was compiled to.
    Variant, "variant" {
        /// WebAssembly without SIMD instructions.
        Wasm = "wasm", "WebAssembly without SIMD";
        /// WebAssembly with SIMD.
        WasmSimd = "wasm-simd", "WebAssembly with SIMD";
        /// WebAssembly 1.0.
        WasmMvp = "wasm-mvp", "WebAssembly 1.0, for engines that know nothing newer";
        /// The modules of `wasm` after Binaryen's optimiser.
        WasmOpt = "wasm-opt", "the modules of wasm after Binaryen's wasm-opt -O4";
        /// WebAssembly with 32-bit memories, for comparing with 64-bit ones.
        Wasm32 = "wasm32", "WebAssembly with 32-bit memories, as wasm64 but for the width";
        /// WebAssembly with 64-bit memories, for comparing with 32-bit ones.
        Wasm64 = "wasm64", "WebAssembly with 64-bit memories, as wasm32 but for the width";
        /// Fibers by Asyncify.
        WasmAsyncify = "wasm-asyncify", "WebAssembly whose fibers are Asyncify's";
        /// Fibers by stack switching.
        WasmSwitch = "wasm-switch", "WebAssembly whose fibers are the engine's stacks";
        /// State machines written by hand in the place of fibers.
        WasmState = "wasm-state", "WebAssembly with state machines in the place of fibers";
        /// A component of WASI 0.2.
        WasmComponent = "wasm-component", "a component of WASI 0.2, for engines that take them";
        /// Native code, same compiler and flags.
        Native = "native", "native code, same compiler and flags";
        /// Native code for exactly this CPU: a limit, for information.
        NativeTuned = "native-tuned", "native code with -march=native, for information";
        /// Native code by this machine's GCC with the same flags.
        NativeGcc = "native-gcc", "native code by this machine's gcc, same flags";
        /// Native code with state machines in the place of fibers.
        NativeState = "native-state", "native code with state machines in the place of fibers";
    }
}

impl Variant {
    /// What a name says of it beside the engine: always, or where rows differ in it.
    pub(crate) fn aside(self, differs: bool) -> &'static str {
        match self {
            Variant::NativeTuned => "tuned for this CPU",
            Variant::NativeGcc => "gcc",
            Variant::NativeState | Variant::WasmState => "state machines",
            // Whatever it is beside: nobody takes it for what the compiler made.
            Variant::WasmOpt => "wasm-opt -O4",
            Variant::WasmAsyncify => "Asyncify",
            Variant::WasmSwitch => "stack switching",
            Variant::WasmComponent => "component",
            Variant::Wasm if differs => "no SIMD",
            Variant::WasmSimd if differs => "SIMD",
            Variant::WasmMvp if differs => "WebAssembly 1.0",
            Variant::Wasm32 if differs => "32-bit",
            Variant::Wasm64 if differs => "64-bit",
            Variant::Native
            | Variant::Wasm
            | Variant::WasmSimd
            | Variant::WasmMvp
            | Variant::Wasm32
            | Variant::Wasm64 => "",
        }
    }

    /// Whether it is a module or a component of WebAssembly.
    pub fn is_wasm(self) -> bool {
        match self {
            Variant::Wasm
            | Variant::WasmSimd
            | Variant::WasmMvp
            | Variant::WasmOpt
            | Variant::Wasm32
            | Variant::Wasm64
            | Variant::WasmAsyncify
            | Variant::WasmSwitch
            | Variant::WasmState
            | Variant::WasmComponent => true,
            Variant::Native | Variant::NativeTuned | Variant::NativeGcc | Variant::NativeState => {
                false
            }
        }
    }

    /// Whether its memories have 64-bit addresses.
    pub fn has_memory64(self) -> bool {
        self == Variant::Wasm64
    }
}

closed_set! {
    /// How hard a code generator is asked to try.
    #[derive(Default)]
    Opt, "optimisation level" {
        /// Fast code.
        #[default]
        Speed = "speed", "optimise for fast code";
        /// Fast compilation.
        None = "none", "compile as fast as possible";
    }
}

closed_set! {
    /// How an engine kept accesses inside memory, as found in force.
    #[derive(Default)]
    Checks, "kind of check" {
        /// Inaccessible pages around the memory.
        GuardPages = "guard pages", "inaccessible pages around the memory";
        /// A comparison at each access.
        Explicit = "explicit", "a comparison at each access";
        /// Nothing.
        None = "none", "nothing";
        /// Pages supplied by userfaultfd.
        Userfaultfd = "userfaultfd", "pages supplied on demand by userfaultfd";
        /// Addresses redirected to the memory's end.
        Clamp = "clamp", "addresses redirected to the memory's end";
        /// The host locked by protection keys.
        ProtectionKeys = "protection keys", "the host locked by protection keys while Wasm runs";
        /// A read of shadow memory in front of each access.
        Shadow = "shadow memory", "a read of shadow memory in front of each access";
        /// The runner cannot tell. Never a guess.
        #[default]
        Unknown = "unknown", "the runner cannot tell";
    }
}

closed_set! {
    /// What a strategy promises, or what a probe saw of it; the order is by
    /// strength, weakest first.
    Guarantee, "guarantee" {
        /// None at all.
        Unchecked = "unchecked", "no promise";
        /// Faults outside the memory but for what the strategy names.
        Partial = "partial", "faults outside the memory, with named exceptions";
        /// Never leaves the memory, but may go on where the specification traps.
        Contained = "contained", "never leaves the memory, may continue where it should trap";
        /// Traps exactly where the specification says.
        Exact = "exact", "traps exactly where the specification says";
    }
}

closed_set! {
    /// What is compared between cells.
    #[derive(Default)]
    Compared, "compared time" {
        /// The kernel's own time: suite workloads.
        #[default]
        Kernel = "kernel", "the time the workload reports of its kernel";
        /// Wall time of the run phase: a user's own module.
        Run = "run", "wall time of the run phase";
        /// Instructions of an iteration, counted.
        Instructions = "instructions", "the user instructions of one iteration";
    }
}

impl Compared {
    /// Whether it is counted: then no time is taken, since who counts slows programs down.
    pub fn is_count(self) -> bool {
        match self {
            Compared::Kernel | Compared::Run => false,
            Compared::Instructions => true,
        }
    }
}

closed_set! {
    /// What cells are measured by, where there is a choice.
    #[derive(Default)]
    Yardstick, "metric" {
        /// How long they take.
        #[default]
        Time = "time", "how long programs take";
        /// How many instructions they are.
        Instructions = "instructions", "how many user instructions programs retire";
    }
}

impl Yardstick {
    /// Whether it is what everybody means who says nothing.
    pub fn is_time(&self) -> bool {
        *self == Yardstick::Time
    }
}

closed_set! {
    /// What the rounds of a cell come to.
    #[derive(Default)]
    Estimator, "estimator" {
        /// The mean over all of them: campaigns before there was a choice.
        #[default]
        Mean = "mean", "the mean of all rounds";
        /// The mean over the half in which the cell was fastest.
        FasterHalf = "faster-half", "the mean of the faster half of the rounds";
    }
}

closed_set! {
    /// Why a round of a cell has no samples.
    FailureKind, "kind of failure" {
        /// The answer is not the expected one, or output differs from the first engine's.
        WrongAnswer = "wrong_answer", "the answer is wrong";
        /// The probe saw an access its strategy promises to stop.
        Unsound = "unsound", "the probe saw a forbidden access succeed";
        /// The time limit of a cell passed.
        Timeout = "timeout", "the time limit passed";
        /// The runner died of a signal.
        Crash = "crash", "the runner died";
        /// The program trapped.
        Trap = "trap", "the program trapped";
        /// The program ended with a status that is not zero.
        Exit = "exit", "the program ended with a non-zero status";
        /// The engine refuses the module.
        Invalid = "invalid", "the engine refuses the module";
        /// The engine or this machine lacks something that was asked for.
        Unsupported = "unsupported", "not available in this engine or on this machine";
        /// The engine does not know a feature of WebAssembly that the module uses.
        Lacking = "lacking", "the engine lacks a feature that the module uses";
        /// An import is missing or of another type.
        Link = "link", "an import is missing or of another type";
        /// Reading or writing failed.
        Io = "io", "reading or writing failed";
        /// The runner did not speak the protocol.
        Protocol = "protocol", "the runner did not speak the protocol";
        /// A fault of the runner's own.
        Internal = "internal", "a fault of the runner";
    }
}

impl FailureKind {
    /// Whether one such failure takes every time of its cell away.
    ///
    /// A workload is deterministic, so one wrong answer, trap, crash or odd
    /// exit makes the others suspect; and to drop only the rounds that ran into
    /// the time limit would keep the fast ones (a censored sample).
    pub fn voids_cell(self) -> bool {
        match self {
            FailureKind::WrongAnswer
            | FailureKind::Unsound
            | FailureKind::Timeout
            | FailureKind::Crash
            | FailureKind::Trap
            | FailureKind::Exit => true,
            FailureKind::Invalid
            | FailureKind::Unsupported
            | FailureKind::Lacking
            | FailureKind::Link
            | FailureKind::Io
            | FailureKind::Protocol
            | FailureKind::Internal => false,
        }
    }
}

/// The time one phase took once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Wall-clock nanoseconds.
    pub wall_ns: u64,
    /// CPU nanoseconds of the thread, where the runner can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
}
