//! From the bytes of the kernel's maps to what they mean.
//!
//! The layouts are those of the structures in `bpf/trace.bpf.c`: 64-bit numbers in the
//! order of their fields.

use std::collections::BTreeMap;

use fathom_sys::bpf::CallNumbers;
use serde::{Deserialize, Serialize};

use super::names;
use crate::times::Times;

/// What was asked of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// System calls, by thread and name.
    pub calls: Vec<Call>,
    /// Threads, in the order of their beginning.
    pub threads: Vec<Thread>,
    /// What there was no room for.
    pub lost: Lost,
}

/// One system call of one thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The thread's number.
    pub thread: u32,
    /// The call's name.
    pub name: String,
    /// How often it came back with an error.
    pub failed: u64,
    /// Bytes that went through it; none for calls that move none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bytes: Option<u64>,
    /// How often it moved nothing, of those that move bytes.
    #[serde(default)]
    pub empty: u64,
    /// How long it took; calls that did not come back are not among them.
    #[serde(flatten)]
    pub times: Times,
}

/// One thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Its number.
    pub thread: u32,
    /// Its process's.
    pub process: u32,
    /// From its first system call to its end, or to now.
    pub lived_ns: u64,
    /// Page faults of its own instructions.
    pub faults_user: u64,
    /// Page faults of the kernel on its behalf.
    pub faults_kernel: u64,
    /// Off the processor because it was taken from it.
    pub preempted: Waits,
    /// Off the processor in a system call.
    pub in_calls: Waits,
    /// Off the processor otherwise: for pages.
    pub in_faults: Waits,
    /// System calls that did not come back, such as `exit_group`.
    pub unfinished: u64,
    /// Whether it still ran when this was read.
    pub is_running: bool,
    /// When it began: its first system call, since that of the first thread.
    #[serde(default)]
    pub began_ns: u64,
}

/// Times off the processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    /// How often.
    pub count: u64,
    /// All together.
    pub total_ns: u64,
}

/// What was seen and not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// Threads that were not followed.
    pub tasks: u64,
    /// System calls that were not counted.
    pub calls: u64,
    /// Threads whose counts were lost at their end.
    pub threads: u64,
}

impl Lost {
    /// Whether anything was.
    pub fn any(self) -> bool {
        self != Lost::default()
    }
}

impl Kernel {
    /// System calls by name, all threads together.
    pub fn by_name(&self) -> BTreeMap<&str, Call> {
        let mut all = BTreeMap::<&str, Call>::new();
        for call in &self.calls {
            let sum = all.entry(&call.name).or_insert_with(|| Call {
                thread: 0,
                name: call.name.clone(),
                failed: 0,
                bytes: call.bytes.map(|_| 0),
                empty: 0,
                times: Times::default(),
            });
            sum.failed += call.failed;
            sum.bytes = sum.bytes.zip(call.bytes).map(|(a, b)| a + b);
            sum.empty += call.empty;
            sum.times.merge(&call.times);
        }
        all
    }

    /// Counts by name, as `strace -c` has them.
    pub fn counts(&self) -> BTreeMap<&str, u64> {
        let mut all = BTreeMap::new();
        for call in &self.calls {
            *all.entry(call.name.as_str()).or_default() += call.times.count;
        }
        all
    }
}

/// What was seen of a function that is probed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probed {
    /// How often it was entered.
    pub entered: u64,
    /// How long it took, as often as it returned and that was seen.
    pub times: Times,
}

/// `struct probe_key` and `struct call`, by the names of the numbers.
pub(super) fn probed(names: &[String], entries: &Entries) -> BTreeMap<String, Probed> {
    let mut all = BTreeMap::<String, Probed>::new();
    for (key, value) in entries {
        let number = key.get(4..8).and_then(|bytes| bytes.try_into().ok());
        let name = number.and_then(|bytes| names.get(u32::from_ne_bytes(bytes) as usize));
        let (Some(name), Some((times, [_, entered, _]))) = (name, timed(&numbers(value))) else {
            continue;
        };
        let one = all.entry(name.clone()).or_default();
        one.entered += entered;
        one.times.merge(&times);
    }
    all
}

/// The fields of `struct call`: the times, then failed, returned and empty.
fn timed(fields: &[u64]) -> Option<(Times, [u64; 3])> {
    let [
        count,
        failed,
        total_ns,
        min_ns,
        max_ns,
        returned,
        empty,
        buckets @ ..,
    ] = fields
    else {
        return None;
    };
    let used = buckets.iter().rposition(|calls| *calls > 0);
    let times = Times {
        count: *count,
        total_ns: *total_ns,
        min_ns: *min_ns,
        max_ns: *max_ns,
        buckets: buckets[..used.map_or(0, |last| last + 1)].to_vec(),
    };
    Some((times, [*failed, *returned, *empty]))
}

/// `struct control`.
pub(super) fn control(numbers: &CallNumbers, argument: u64, magic: u64) -> Vec<u8> {
    let fields = [
        magic,
        numbers.prctl,
        numbers.execve,
        numbers.execveat,
        argument,
        0,
        0,
        0,
        0,
    ];
    fields
        .iter()
        .flat_map(|field| field.to_ne_bytes())
        .collect()
}

fn numbers(bytes: &[u8]) -> Vec<u64> {
    let words = bytes.chunks_exact(8);
    words
        .map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes")))
        .collect()
}

type Entries = [(Vec<u8>, Vec<u8>)];

pub(super) fn read(control: &[u8], ended: &Entries, running: &Entries, calls: &Entries) -> Kernel {
    let control = numbers(control);
    let lost = |at: usize| control.get(at).copied().unwrap_or(0);
    const RUNS: u64 = 2;
    let ended = ended.iter().filter_map(|(_, value)| thread(value, false));
    let running = running.iter();
    let running = running.filter(|(_, value)| numbers(value)[0] & RUNS != 0);
    let mut threads: Vec<Thread> = ended
        .chain(running.filter_map(|(_, value)| thread(value, true)))
        .collect();
    threads.sort_by_key(|thread| (thread.began_ns, thread.thread));
    // One that has not called yet has begun at 0, and stays there.
    let first = threads
        .iter()
        .map(|thread| thread.began_ns)
        .find(|ns| *ns > 0);
    for thread in &mut threads {
        thread.began_ns = thread.began_ns.saturating_sub(first.unwrap_or(0));
    }
    let mut calls: Vec<Call> = calls
        .iter()
        .filter_map(|(key, value)| call(key, value))
        .collect();
    calls.sort_by(|a, b| (a.thread, &a.name).cmp(&(b.thread, &b.name)));
    Kernel {
        calls,
        threads,
        lost: Lost {
            tasks: lost(6),
            calls: lost(7),
            threads: lost(8),
        },
    }
}

/// `struct task`.
fn thread(value: &[u8], is_running: bool) -> Option<Thread> {
    let [
        _,
        ids,
        _,
        entered,
        _,
        _,
        first,
        last,
        faults_user,
        faults_kernel,
        rest @ ..,
    ] = numbers(value).try_into().ok().map(|all: [u64; 19]| all)?;
    let waits = |why: usize| Waits {
        count: rest[why],
        total_ns: rest[3 + why],
    };
    // Of a thread that still runs, the last that is known is its last call.
    let last = if is_running { entered.max(first) } else { last };
    Some(Thread {
        thread: ids as u32,
        process: (ids >> 32) as u32,
        lived_ns: if first == 0 {
            0
        } else {
            last.saturating_sub(first)
        },
        faults_user,
        faults_kernel,
        preempted: waits(0),
        in_calls: waits(1),
        in_faults: waits(2),
        unfinished: rest[6],
        is_running,
        began_ns: first,
    })
}

/// `struct call_key` and `struct call`.
fn call(key: &[u8], value: &[u8]) -> Option<Call> {
    let (thread, number) = key.split_first_chunk::<4>()?;
    let number = u32::from_ne_bytes(number.try_into().ok()?);
    let (times, [failed, returned, empty]) = timed(&numbers(value))?;
    let name = names::name(number);
    let is_transfer = names::is_transfer(&name);
    Some(Call {
        thread: u32::from_ne_bytes(*thread),
        failed,
        bytes: is_transfer.then_some(returned),
        empty: if is_transfer { empty } else { 0 },
        name,
        times,
    })
}
