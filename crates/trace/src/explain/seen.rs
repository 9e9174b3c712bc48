//! What one trace says, as numbers that rules can ask for.

use std::collections::{BTreeMap, BTreeSet};

use crate::kernel::Kernel;
use crate::trace::Trace;

/// The name of native code among engines.
pub const NATIVE: &str = "native";

/// WASI functions that move bytes.
const WASI_TRANSFERS: [&str; 6] = [
    "fd_read",
    "fd_pread",
    "fd_write",
    "fd_pwrite",
    "sock_recv",
    "sock_send",
];
/// System calls that move bytes to or from a descriptor.
const TRANSFERS: [&str; 14] = [
    "read", "write", "pread64", "pwrite64", "readv", "writev", "preadv", "pwritev", "preadv2",
    "pwritev2", "sendto", "recvfrom", "sendmsg", "recvmsg",
];

/// One run, in numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Who ran it.
    pub engine: String,
    /// The program with its arguments but the last, if that is a size.
    pub family: String,
    /// The last argument, if it is a number.
    pub size: Option<f64>,
    /// From start to end.
    pub wall_ns: f64,
    /// WASI calls by name.
    pub wasi: BTreeMap<String, f64>,
    /// WASI calls that said "again".
    pub again: f64,
    /// WASI calls that move bytes, and the bytes.
    pub asked: Moved,
    /// System calls by name.
    pub calls: BTreeMap<String, f64>,
    /// System calls that move bytes, and the bytes.
    pub moved: Moved,
    /// Of those, the ones that moved nothing.
    pub empty: f64,
    /// Time in system calls.
    pub calls_ns: f64,
    /// What is seen of a system call that does nothing.
    pub least_ns: f64,
    /// Waits in system calls.
    pub waits: f64,
    /// Time off the processor because others had it.
    pub preempted_ns: f64,
    /// Page faults.
    pub faults: f64,
    /// How long threads of other processes lived that the engine started.
    pub helpers_ns: f64,
    /// Whether the kernel was asked at all.
    pub has_kernel: bool,
}

/// Calls and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moved {
    /// Calls.
    pub calls: f64,
    /// Bytes.
    pub bytes: f64,
}

impl Moved {
    /// Bytes of a call; 0 without one.
    pub fn each(self) -> f64 {
        per(self.bytes, self.calls)
    }
}

/// A part of something that may be nothing.
pub fn per(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl Seen {
    /// The numbers of a trace.
    pub fn of(trace: &Trace) -> Seen {
        let (family, size) = named(trace);
        let mut seen = Seen {
            engine: trace.engine.clone().unwrap_or_else(|| NATIVE.to_owned()),
            family,
            size,
            wall_ns: trace.wall_ns as f64,
            least_ns: trace.kernel_cost.map_or(0.0, |cost| cost.least_ns),
            ..Seen::default()
        };
        seen.take_wasi(trace);
        seen.take_kernel(trace);
        seen
    }

    fn take_wasi(&mut self, trace: &Trace) {
        const AGAIN: usize = 1;
        for (name, function) in trace.wasi.iter().flat_map(|wasi| &wasi.functions) {
            let count = function.calls.count() as f64;
            self.wasi.insert(name.clone(), count);
            self.again += function.calls.results[AGAIN] as f64;
            if WASI_TRANSFERS.contains(&name.as_str()) {
                self.asked.calls += count;
                self.asked.bytes += function.calls.bytes as f64;
            }
        }
    }

    fn take_kernel(&mut self, trace: &Trace) {
        let Some(kernel) = &trace.kernel else { return };
        self.has_kernel = true;
        let own = threads_of_the_guest(kernel, self.asked.calls);
        for call in kernel
            .calls
            .iter()
            .filter(|call| own.contains(&call.thread))
        {
            let count = call.times.count as f64;
            *self.calls.entry(call.name.clone()).or_default() += count;
            self.calls_ns += call.times.total_ns as f64;
            if TRANSFERS.contains(&call.name.as_str()) {
                self.moved.calls += count;
                self.moved.bytes += call.bytes.unwrap_or(0) as f64;
                self.empty += call.empty as f64;
            }
        }
        for thread in kernel.threads.iter().filter(|t| own.contains(&t.thread)) {
            self.waits += thread.in_calls.count as f64;
            self.preempted_ns += thread.preempted.total_ns as f64;
            self.faults += (thread.faults_user + thread.faults_kernel) as f64;
        }
        let helpers = kernel.threads.iter().filter(|t| !own.contains(&t.thread));
        self.helpers_ns = helpers.map(|thread| thread.lived_ns as f64).sum();
    }

    /// All WASI calls.
    pub fn wasi_calls(&self) -> f64 {
        self.wasi.values().sum()
    }

    /// WASI calls of these names.
    pub fn of_wasi(&self, names: &[&str]) -> f64 {
        let all = names.iter().filter_map(|name| self.wasi.get(*name));
        all.sum()
    }

    /// System calls of these names.
    pub fn of_kernel(&self, names: &[&str]) -> f64 {
        let all = names.iter().filter_map(|name| self.calls.get(*name));
        all.sum()
    }

    /// Whether it is no module.
    pub fn is_native(&self) -> bool {
        self.engine == NATIVE
    }
}

/// The threads of the guest's process: the first, if it makes as many transfers as were
/// asked for, else that which makes most. The others are helpers of the engine, such as the C
/// compiler that wasm2c asks.
fn threads_of_the_guest(kernel: &Kernel, asked: f64) -> BTreeSet<u32> {
    let of = |thread: u32| kernel.threads.iter().find(|t| t.thread == thread);
    let mut moves = BTreeMap::<u32, u64>::new();
    for call in &kernel.calls {
        let process = of(call.thread).map_or(0, |thread| thread.process);
        let is_transfer = TRANSFERS.contains(&call.name.as_str());
        *moves.entry(process).or_default() += if is_transfer { call.times.count } else { 0 };
    }
    let first = kernel.threads.first().map(|thread| thread.process);
    let is_enough = |process: &u32| moves.get(process).is_some_and(|n| *n as f64 >= asked);
    let most = moves.iter().max_by_key(|(_, count)| **count);
    let guest = first
        .filter(is_enough)
        .or(most.map(|(process, _)| *process));
    let own = kernel.threads.iter().filter(|t| Some(t.process) == guest);
    own.map(|thread| thread.thread).collect()
}

/// Family and size of a run.
fn named(trace: &Trace) -> (String, Option<f64>) {
    let module = trace.module.clone().unwrap_or_default();
    let file = module.rsplit('/').next().unwrap_or_default();
    let name = file.split('.').next().unwrap_or_default().to_owned();
    let size = trace.args.last().and_then(|last| last.parse().ok());
    let rest = trace.args.len() - usize::from(size.is_some());
    let words = std::iter::once(name).chain(trace.args[..rest].iter().cloned());
    (words.collect::<Vec<_>>().join(" "), size)
}
