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

/// What there is to say of a figure.
struct Known {
    name: &'static str,
    unit: FigureUnit,
    metric: Option<Metric>,
    noun: &'static str,
    help: &'static str,
}

macro_rules! metric {
    (-) => {
        None
    };
    ($metric:ident) => {
        Some(Metric::$metric)
    };
}

/// Figures in the order of a table: the name in files, the unit last; the unit; the process
/// metric that it is as it stands, `-` for times, which are taken from phases; what sentences
/// call it, where that is not its name; a line of help.
macro_rules! figures {
    ($($figure:ident = $name:literal, $unit:ident, $metric:tt, $noun:literal, $help:literal;)*) => {
        /// One figure of a cell.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Figure {
            $(#[doc = $help] $figure,)*
        }

        impl Figure {
            /// Every figure, in the order of a table.
            pub const ALL: [Figure; [$($name),*].len()] = [$(Figure::$figure),*];

            const KNOWN: [Known; Figure::ALL.len()] = [$(Known {
                name: $name,
                unit: FigureUnit::$unit,
                metric: metric!($metric),
                noun: $noun,
                help: $help,
            }),*];
        }
    };
}

figures! {
    Kernel = "kernel_ns", Nanoseconds, -, "", "time of the workload's kernel, read by the workload";
    Run = "run_ns", Nanoseconds, -, "", "wall time of the program from its entry to its exit";
    RunCpu = "run_cpu_ns", Nanoseconds, -, "CPU time", "CPU time of the thread that ran the program";
    Start = "start_ns", Nanoseconds, -, "start-up time", "load, compile and instantiate together";
    Load = "load_ns", Nanoseconds, -, "", "reading the module's bytes";
    Compile = "compile_ns", Nanoseconds, -, "", "bytes to machine code";
    Instantiate = "instantiate_ns", Nanoseconds, -, "", "making an instance";
    Teardown = "teardown_ns", Nanoseconds, -, "", "dropping an instance";
    Instance = "instance_ns", Nanoseconds, -, "", "making, running and dropping an instance, mean of many in a row";
    Child = "child_ns", Nanoseconds, -, "time of the whole process", "the whole child process, warm-up included";
    RssPeak = "rss_peak_bytes", Bytes, RssPeakBytes, "peak memory", "largest resident set of the child";
    Virtual = "virtual_bytes", Bytes, VirtualBytes, "address space", "largest address space of the child";
    Code = "code_bytes", Bytes, CodeBytes, "machine code", "machine code of the module";
    Translate = "translate", Nanoseconds, TranslateNs, "", "part of compiling: translating what the engine does not take";
    Collections = "collections", Count, Collections, "", "collections of structures and arrays, an iteration";
    Paused = "paused_ns", Nanoseconds, PausedNs, "time of pauses", "time that collections stopped the program, an iteration";
    PauseP99 = "pause_p99_ns", Nanoseconds, PauseP99Ns, "time within which 99 % of the pauses end", "time within which 99 % of the child's pauses ended";
    Heap = "heap_bytes", Bytes, HeapBytes, "memory of structures and arrays", "memory of structures and arrays at an iteration's end";
    FaultsMinor = "faults_minor", Count, FaultsMinor, "", "page faults of the child served without I/O";
    FaultsMajor = "faults_major", Count, FaultsMajor, "", "page faults of the child that waited for I/O";
    CtxVoluntary = "ctx_voluntary", Count, CtxVoluntary, "", "context switches because a thread waited";
    CtxInvoluntary = "ctx_involuntary", Count, CtxInvoluntary, "", "context switches because the CPU was taken";
    CtxRate = "ctx_per_cpu_s", PerCpuSecond, -, "", "context switches per second of CPU time";
    CpuUseHost = "cpu_use_host", Share, -, "", "share of all CPUs' time that was not idle";
    CpuUsePinned = "cpu_use_pinned", Share, -, "", "share of the pinned CPUs' time that was not idle";
    Syscalls = "syscalls", Count, Syscalls, "", "system calls of the child";
    Cycles = "cycles", Count, Cycles, "", "CPU cycles of the child";
    Instructions = "instructions", Count, Instructions, "", "user instructions of one iteration";
    Throughput = "runs_per_s", PerSecond, -, "runs per second", "iterations of all instances that ended in a second";
    FaultsPerRun = "faults_per_run", Count, -, "", "page faults for each of those iterations";
    KernelShare = "kernel_share_pinned", Share, -, "", "share of the pinned CPUs' time that the kernel took";
    CpuUseProcess = "cpu_use_process", Share, -, "", "share of the pinned CPUs' time that the child used itself";
    RssMean = "rss_mean_bytes", Bytes, -, "mean memory", "mean resident set of the child while it was timed";
    VirtualMean = "virtual_mean_bytes", Bytes, -, "mean address space", "mean address space of the child while it was timed";
    HostMemory = "host_memory_bytes", Bytes, -, "memory of the host in use", "the host's total minus available memory meanwhile, mean";
    Answers = "answers_per_s", PerSecond, AnswersPerS, "answers per second", "requests that a server answered in a second";
    LatencyP50 = "latency_p50_ns", Nanoseconds, LatencyP50Ns, "median latency", "median time until an answer";
    LatencyP90 = "latency_p90_ns", Nanoseconds, LatencyP90Ns, "latency of 90 %", "time within which 90 % of the answers came";
    LatencyP99 = "latency_p99_ns", Nanoseconds, LatencyP99Ns, "latency of 99 %", "time within which 99 % of the answers came";
    LatencyP999 = "latency_p999_ns", Nanoseconds, LatencyP999Ns, "latency of 99.9 %", "time within which 99.9 % of the answers came";
    LatencyMax = "latency_max_ns", Nanoseconds, LatencyMaxNs, "longest latency", "longest time until an answer";
    AnswerUser = "answer_user_ns", Nanoseconds, AnswerUserNs, "user time an answer", "processor time of the server in user mode, an answer";
    AnswerSystem = "answer_system_ns", Nanoseconds, AnswerSystemNs, "kernel time an answer", "processor time of the server in the kernel, an answer";
}

impl Figure {
    fn known(self) -> &'static Known {
        &Figure::KNOWN[self as usize]
    }

    /// Its name in files, its unit last.
    pub fn name(self) -> &'static str {
        self.known().name
    }

    /// Its name without the unit, as options take it, too.
    pub fn bare_name(self) -> &'static str {
        let name = self.name();
        let name = name.strip_suffix("_ns").unwrap_or(name);
        name.strip_suffix("_bytes").unwrap_or(name)
    }

    /// What sentences call it: `compile time`, `peak memory`.
    pub fn noun(self) -> String {
        match (self.known().noun, self.unit()) {
            ("", FigureUnit::Nanoseconds) => format!("{} time", self.bare_name()),
            ("", _) => self.bare_name().replace('_', " "),
            (noun, _) => noun.to_owned(),
        }
    }

    /// One line of help.
    pub fn help(self) -> &'static str {
        self.known().help
    }

    /// What it is measured in.
    pub fn unit(self) -> FigureUnit {
        self.known().unit
    }

    /// The figure that is a process metric as it stands; `None` for times,
    /// which are taken from phases.
    pub fn of_metric(metric: Metric) -> Option<Figure> {
        let is_it = |figure: &Figure| figure.known().metric == Some(metric);
        Figure::ALL.into_iter().find(is_it)
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

#[cfg(test)]
mod tests {
    use fathom_record::Unit;

    use super::*;

    #[test]
    fn figures_have_names_people_say() {
        assert_eq!(Figure::Compile.noun(), "compile time");
        assert_eq!(Figure::RssPeak.noun(), "peak memory");
        assert_eq!(Figure::CtxVoluntary.noun(), "ctx voluntary");
        assert_eq!(Figure::RssPeak.bare_name(), "rss_peak");
    }

    #[test]
    fn every_metric_of_a_process_is_a_figure_of_its_unit() {
        for &metric in Metric::ALL {
            let of_phases = [Metric::WallNs, Metric::ThreadCpuNs, Metric::KernelNs];
            let figure = Figure::of_metric(metric);
            assert_eq!(figure.is_none(), of_phases.contains(&metric), "{metric}");
            let Some(figure) = figure else { continue };
            let unit = match metric.unit() {
                Unit::Nanoseconds => FigureUnit::Nanoseconds,
                Unit::Bytes => FigureUnit::Bytes,
                Unit::Count => FigureUnit::Count,
                Unit::PerSecond => FigureUnit::PerSecond,
            };
            assert_eq!(figure.unit(), unit, "{metric}");
        }
    }
}
