//! The figures of a cell: everything a report can show of it.
//!
//! A [`Metric`] is what a runner counts; a figure is what one round of a cell
//! comes to, some of them made of several metrics or phases.

use std::fmt;

use fathom_record::{Compared, Metric};

/// What a figure is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FigureUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// A plain count.
    Count,
    /// A count per second of CPU time.
    PerCpuSecond,
    /// A share from 0 to 1.
    Share,
    /// A count per second of wall time.
    PerSecond,
}

/// One figure of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Figure {
    /// The kernel's own time.
    Kernel,
    /// Wall time of the run phase.
    Run,
    /// CPU time of the run phase, of the thread that ran it.
    RunCpu,
    /// Load, compile and instantiate together: from bytes to a first instruction.
    Start,
    /// Wall time of loading.
    Load,
    /// Wall time of compiling.
    Compile,
    /// Wall time of instantiating.
    Instantiate,
    /// Wall time of the teardown.
    Teardown,
    /// Wall time of making, running and dropping one instance of many in a row.
    Instance,
    /// Wall time of the whole child, warm-up and all.
    Child,
    /// Peak resident set of the child.
    RssPeak,
    /// Peak address space of the child.
    Virtual,
    /// Machine code of the module.
    Code,
    /// What of compiling was translating for an engine that takes something else.
    Translate,
    /// Collections of structures and arrays, by iteration.
    Collections,
    /// The time of all of them, by iteration.
    Paused,
    /// What 99 of a hundred of the child's pauses took at most.
    PauseP99,
    /// Memory of structures and arrays at an iteration's end.
    Heap,
    /// Minor page faults of the child.
    FaultsMinor,
    /// Major page faults of the child.
    FaultsMajor,
    /// Voluntary context switches of the child.
    CtxVoluntary,
    /// Involuntary context switches of the child.
    CtxInvoluntary,
    /// Context switches of both kinds per second of the child's CPU time.
    CtxRate,
    /// Utilisation of all CPUs of the host while counted iterations ran; of the
    /// child's whole life where that was too short to be watched.
    CpuUseHost,
    /// Utilisation of the CPUs the child was pinned to.
    CpuUsePinned,
    /// System calls of the child.
    Syscalls,
    /// CPU cycles of the child.
    Cycles,
    /// User instructions of one iteration.
    Instructions,
    /// Iterations of all workers that ended in a second of wall time.
    Throughput,
    /// Page faults for each of those iterations.
    FaultsPerRun,
    /// Share of the pinned CPUs' time that the kernel took.
    KernelShare,
    /// Share of the pinned CPUs' time that the child used itself.
    CpuUseProcess,
    /// Resident set of the child, mean while counted iterations ran.
    RssMean,
    /// Address space of the child, mean while counted iterations ran.
    VirtualMean,
    /// Memory of the host in use, mean while counted iterations ran.
    HostMemory,
    /// Requests that a server under load answered in a second.
    Answers,
    /// What half of its answers took at most.
    LatencyP50,
    /// What nine of ten took at most.
    LatencyP90,
    /// What 99 of a hundred took at most.
    LatencyP99,
    /// What 999 of a thousand took at most.
    LatencyP999,
    /// What none exceeded.
    LatencyMax,
    /// Processor time of a server in user mode for an answer.
    AnswerUser,
    /// Processor time of a server in the kernel for an answer.
    AnswerSystem,
}

impl Figure {
    /// Every figure, in the order of a table.
    pub const ALL: [Figure; 43] = [
        Figure::Kernel,
        Figure::Run,
        Figure::RunCpu,
        Figure::Start,
        Figure::Load,
        Figure::Compile,
        Figure::Instantiate,
        Figure::Teardown,
        Figure::Instance,
        Figure::Child,
        Figure::RssPeak,
        Figure::Virtual,
        Figure::Code,
        Figure::Translate,
        Figure::Collections,
        Figure::Paused,
        Figure::PauseP99,
        Figure::Heap,
        Figure::FaultsMinor,
        Figure::FaultsMajor,
        Figure::CtxVoluntary,
        Figure::CtxInvoluntary,
        Figure::CtxRate,
        Figure::CpuUseHost,
        Figure::CpuUsePinned,
        Figure::Syscalls,
        Figure::Cycles,
        Figure::Instructions,
        Figure::Throughput,
        Figure::FaultsPerRun,
        Figure::KernelShare,
        Figure::CpuUseProcess,
        Figure::RssMean,
        Figure::VirtualMean,
        Figure::HostMemory,
        Figure::Answers,
        Figure::LatencyP50,
        Figure::LatencyP90,
        Figure::LatencyP99,
        Figure::LatencyP999,
        Figure::LatencyMax,
        Figure::AnswerUser,
        Figure::AnswerSystem,
    ];

    /// Its name in files, its unit last.
    pub fn name(self) -> &'static str {
        match self {
            Figure::Kernel => "kernel_ns",
            Figure::Run => "run_ns",
            Figure::RunCpu => "run_cpu_ns",
            Figure::Start => "start_ns",
            Figure::Load => "load_ns",
            Figure::Compile => "compile_ns",
            Figure::Instantiate => "instantiate_ns",
            Figure::Teardown => "teardown_ns",
            Figure::Instance => "instance_ns",
            Figure::Child => "child_ns",
            Figure::RssPeak => "rss_peak_bytes",
            Figure::Virtual => "virtual_bytes",
            Figure::Code => "code_bytes",
            Figure::Translate => "translate",
            Figure::Collections => "collections",
            Figure::Paused => "paused_ns",
            Figure::PauseP99 => "pause_p99_ns",
            Figure::Heap => "heap_bytes",
            Figure::FaultsMinor => "faults_minor",
            Figure::FaultsMajor => "faults_major",
            Figure::CtxVoluntary => "ctx_voluntary",
            Figure::CtxInvoluntary => "ctx_involuntary",
            Figure::CtxRate => "ctx_per_cpu_s",
            Figure::CpuUseHost => "cpu_use_host",
            Figure::CpuUsePinned => "cpu_use_pinned",
            Figure::Syscalls => "syscalls",
            Figure::Cycles => "cycles",
            Figure::Instructions => "instructions",
            Figure::Throughput => "runs_per_s",
            Figure::FaultsPerRun => "faults_per_run",
            Figure::KernelShare => "kernel_share_pinned",
            Figure::CpuUseProcess => "cpu_use_process",
            Figure::RssMean => "rss_mean_bytes",
            Figure::VirtualMean => "virtual_mean_bytes",
            Figure::HostMemory => "host_memory_bytes",
            Figure::Answers => "answers_per_s",
            Figure::LatencyP50 => "latency_p50_ns",
            Figure::LatencyP90 => "latency_p90_ns",
            Figure::LatencyP99 => "latency_p99_ns",
            Figure::LatencyP999 => "latency_p999_ns",
            Figure::LatencyMax => "latency_max_ns",
            Figure::AnswerUser => "answer_user_ns",
            Figure::AnswerSystem => "answer_system_ns",
        }
    }

    /// One line of help.
    pub fn help(self) -> &'static str {
        match self {
            Figure::Kernel => "time of the workload's kernel, read by the workload",
            Figure::Run => "wall time of the program from its entry to its exit",
            Figure::RunCpu => "CPU time of the thread that ran the program",
            Figure::Start => "load, compile and instantiate together",
            Figure::Load => "reading the module's bytes",
            Figure::Compile => "bytes to machine code",
            Figure::Instantiate => "making an instance",
            Figure::Teardown => "dropping an instance",
            Figure::Instance => "making, running and dropping an instance, mean of many in a row",
            Figure::Child => "the whole child process, warm-up included",
            Figure::RssPeak => "largest resident set of the child",
            Figure::Virtual => "largest address space of the child",
            Figure::Code => "machine code of the module",
            Figure::Translate => "part of compiling: translating what the engine does not take",
            Figure::Collections => "collections of structures and arrays, an iteration",
            Figure::Paused => "time that collections stopped the program, an iteration",
            Figure::PauseP99 => "time within which 99 % of the child's pauses ended",
            Figure::Heap => "memory of structures and arrays at an iteration's end",
            Figure::FaultsMinor => "page faults of the child served without I/O",
            Figure::FaultsMajor => "page faults of the child that waited for I/O",
            Figure::CtxVoluntary => "context switches because a thread waited",
            Figure::CtxInvoluntary => "context switches because the CPU was taken",
            Figure::CtxRate => "context switches per second of CPU time",
            Figure::CpuUseHost => "share of all CPUs' time that was not idle",
            Figure::CpuUsePinned => "share of the pinned CPUs' time that was not idle",
            Figure::Syscalls => "system calls of the child",
            Figure::Cycles => "CPU cycles of the child",
            Figure::Instructions => "user instructions of one iteration",
            Figure::Throughput => "iterations of all instances that ended in a second",
            Figure::FaultsPerRun => "page faults for each of those iterations",
            Figure::KernelShare => "share of the pinned CPUs' time that the kernel took",
            Figure::CpuUseProcess => "share of the pinned CPUs' time that the child used itself",
            Figure::RssMean => "mean resident set of the child while it was timed",
            Figure::VirtualMean => "mean address space of the child while it was timed",
            Figure::HostMemory => "the host's total minus available memory meanwhile, mean",
            Figure::Answers => "requests that a server answered in a second",
            Figure::LatencyP50 => "median time until an answer",
            Figure::LatencyP90 => "time within which 90 % of the answers came",
            Figure::LatencyP99 => "time within which 99 % of the answers came",
            Figure::LatencyP999 => "time within which 99.9 % of the answers came",
            Figure::LatencyMax => "longest time until an answer",
            Figure::AnswerUser => "processor time of the server in user mode, an answer",
            Figure::AnswerSystem => "processor time of the server in the kernel, an answer",
        }
    }

    /// What it is measured in.
    pub fn unit(self) -> FigureUnit {
        match self {
            Figure::Kernel
            | Figure::Run
            | Figure::RunCpu
            | Figure::Start
            | Figure::Load
            | Figure::Compile
            | Figure::Instantiate
            | Figure::Teardown
            | Figure::Instance
            | Figure::Child
            | Figure::Translate
            | Figure::Paused
            | Figure::PauseP99
            | Figure::LatencyP50
            | Figure::LatencyP90
            | Figure::LatencyP99
            | Figure::LatencyP999
            | Figure::LatencyMax
            | Figure::AnswerUser
            | Figure::AnswerSystem => FigureUnit::Nanoseconds,
            Figure::RssPeak
            | Figure::Virtual
            | Figure::Code
            | Figure::Heap
            | Figure::RssMean
            | Figure::VirtualMean
            | Figure::HostMemory => FigureUnit::Bytes,
            Figure::FaultsMinor
            | Figure::FaultsMajor
            | Figure::CtxVoluntary
            | Figure::CtxInvoluntary
            | Figure::Collections
            | Figure::Syscalls
            | Figure::Cycles
            | Figure::Instructions
            | Figure::FaultsPerRun => FigureUnit::Count,
            Figure::CtxRate => FigureUnit::PerCpuSecond,
            Figure::CpuUseHost
            | Figure::CpuUsePinned
            | Figure::KernelShare
            | Figure::CpuUseProcess => FigureUnit::Share,
            Figure::Throughput | Figure::Answers => FigureUnit::PerSecond,
        }
    }

    /// The figure that is a process metric as it stands; `None` for times,
    /// which are taken from phases.
    pub fn of_metric(metric: Metric) -> Option<Figure> {
        match metric {
            Metric::WallNs | Metric::ThreadCpuNs | Metric::KernelNs => None,
            Metric::FaultsMinor => Some(Figure::FaultsMinor),
            Metric::FaultsMajor => Some(Figure::FaultsMajor),
            Metric::CtxVoluntary => Some(Figure::CtxVoluntary),
            Metric::CtxInvoluntary => Some(Figure::CtxInvoluntary),
            Metric::RssPeakBytes => Some(Figure::RssPeak),
            Metric::VirtualBytes => Some(Figure::Virtual),
            Metric::CodeBytes => Some(Figure::Code),
            Metric::TranslateNs => Some(Figure::Translate),
            Metric::Collections => Some(Figure::Collections),
            Metric::PausedNs => Some(Figure::Paused),
            Metric::PauseP99Ns => Some(Figure::PauseP99),
            Metric::HeapBytes => Some(Figure::Heap),
            Metric::Syscalls => Some(Figure::Syscalls),
            Metric::Cycles => Some(Figure::Cycles),
            Metric::Instructions => Some(Figure::Instructions),
            Metric::AnswersPerS => Some(Figure::Answers),
            Metric::LatencyP50Ns => Some(Figure::LatencyP50),
            Metric::LatencyP90Ns => Some(Figure::LatencyP90),
            Metric::LatencyP99Ns => Some(Figure::LatencyP99),
            Metric::LatencyP999Ns => Some(Figure::LatencyP999),
            Metric::LatencyMaxNs => Some(Figure::LatencyMax),
            Metric::AnswerUserNs => Some(Figure::AnswerUser),
            Metric::AnswerSystemNs => Some(Figure::AnswerSystem),
        }
    }

    /// The figure by which cells are compared.
    pub fn of_compared(compared: Compared) -> Figure {
        match compared {
            Compared::Kernel => Figure::Kernel,
            Compared::Run => Figure::Run,
            Compared::Instructions => Figure::Instructions,
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
