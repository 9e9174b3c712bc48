//! A trace as a picture: whose system calls are whose, and what its threads did.
//!
//! What must stay true: the tracer does not see which call of WASI made which system call.
//! They are matched by name and, for each name, no more of them than there were calls; a
//! function has no more time in system calls than it took itself.

use std::collections::BTreeMap;

use fathom_report::figures;
use fathom_report::traced::{Kind, Part, Thread, Traced};
use fathom_trace::kernel::{Call, Kernel};
use fathom_trace::trace::{Trace, Wasi};

/// System calls that functions of WASI are made of, on one engine or another.
const MADE_OF: &[(&str, &[&str])] = &[
    ("clock_res_get", &["clock_getres"]),
    ("clock_time_get", &["clock_gettime"]),
    ("fd_advise", &["fadvise64"]),
    ("fd_allocate", &["fallocate"]),
    ("fd_close", &["close"]),
    ("fd_datasync", &["fdatasync"]),
    ("fd_fdstat_get", &["fcntl", "fstat"]),
    ("fd_filestat_get", &["fstat", "newfstatat", "statx"]),
    ("fd_filestat_set_size", &["ftruncate"]),
    ("fd_pread", &["pread64", "preadv", "preadv2"]),
    ("fd_pwrite", &["pwrite64", "pwritev", "pwritev2"]),
    ("fd_read", &["read", "readv"]),
    ("fd_readdir", &["getdents64"]),
    ("fd_seek", &["lseek"]),
    ("fd_sync", &["fsync"]),
    ("fd_tell", &["lseek"]),
    ("fd_write", &["write", "writev", "sendmsg"]),
    ("path_create_directory", &["mkdirat"]),
    ("path_filestat_get", &["newfstatat", "statx"]),
    ("path_link", &["linkat"]),
    ("path_open", &["openat2", "openat"]),
    ("path_readlink", &["readlinkat"]),
    ("path_remove_directory", &["unlinkat"]),
    ("path_rename", &["renameat", "renameat2"]),
    ("path_symlink", &["symlinkat"]),
    ("path_unlink_file", &["unlinkat"]),
    (
        "poll_oneoff",
        &["poll", "ppoll", "clock_nanosleep", "epoll_wait"],
    ),
    ("random_get", &["getrandom"]),
    ("sched_yield", &["sched_yield"]),
];

/// The picture of a trace.
pub fn of(trace: &Trace) -> Traced {
    let kernel = trace.kernel.as_ref();
    let wall_ns = trace.wall_ns as f64;
    // More than the wall clock's where several threads lived at once.
    let lived = kernel.map_or(0, |kernel| kernel.threads.iter().map(|t| t.lived_ns).sum());
    let ns = wall_ns.max(lived as f64);
    let mut calls = Calls::of(kernel);
    let mut parts: Vec<Part> = Vec::new();
    if let Some(wasi) = &trace.wasi {
        parts.extend(functions(wasi, &mut calls));
    }
    parts.extend(calls.left());
    parts.sort_by(|a, b| b.ns.total_cmp(&a.ns));
    let known: f64 = parts.iter().map(|part| part.ns).sum();
    parts.push(part("rest", Kind::Rest, ns - known.min(ns), None));
    Traced {
        title: format!(
            "{} · {} · exit status {}",
            trace.command.join(" "),
            figures::time(wall_ns),
            trace.status
        ),
        whole: Part {
            name: if kernel.is_some() {
                "all threads"
            } else {
                "all"
            }
            .to_owned(),
            kind: Kind::Whole,
            ns,
            count: None,
            parts,
        },
        threads: kernel.map_or_else(Vec::new, threads),
        notes: notes(trace),
    }
}

fn part(name: &str, kind: Kind, ns: f64, count: Option<u64>) -> Part {
    Part {
        name: name.to_owned(),
        kind,
        ns,
        count,
        parts: Vec::new(),
    }
}

/// System calls that nobody was found for yet: how many, and what one takes.
struct Calls(BTreeMap<String, (u64, f64)>);

impl Calls {
    fn of(kernel: Option<&Kernel>) -> Calls {
        let by_name = kernel.map(Kernel::by_name).unwrap_or_default();
        let one = |(name, call): (&str, Call)| {
            (name.to_owned(), (call.times.count, call.times.mean_ns()))
        };
        Calls(by_name.into_iter().map(one).collect())
    }

    /// Takes at most so many of a name.
    fn take(&mut self, name: &str, most: u64) -> Option<Part> {
        let (count, each_ns) = self.0.get_mut(name)?;
        let taken = most.min(*count);
        *count -= taken;
        (taken > 0).then(|| part(name, Kind::Call, taken as f64 * *each_ns, Some(taken)))
    }

    /// Those that are left.
    fn left(self) -> impl Iterator<Item = Part> {
        let left = self.0.into_iter().filter(|(_, (count, _))| *count > 0);
        left.map(|(name, (count, each_ns))| {
            part(&name, Kind::Call, count as f64 * each_ns, Some(count))
        })
    }
}

/// Functions whose time was seen, with their system calls.
fn functions(wasi: &Wasi, calls: &mut Calls) -> Vec<Part> {
    let mut parts = Vec::new();
    for (name, function) in &wasi.functions {
        let count = function.calls.count();
        let (Some(all_ns), true) = (function.all_ns(), count > 0) else {
            continue;
        };
        let mut own = part(name, Kind::Wasi, all_ns as f64, Some(count));
        let made_of = MADE_OF.iter().find(|(of, _)| of == name);
        let mut most = count;
        for call in made_of.map_or(&[][..], |(_, calls)| calls) {
            let taken = calls.take(call, most);
            most -= taken.as_ref().and_then(|taken| taken.count).unwrap_or(0);
            own.parts.extend(taken);
        }
        let inside: f64 = own.parts.iter().map(|part| part.ns).sum();
        if inside > own.ns && inside > 0.0 {
            let by = own.ns / inside;
            own.parts.iter_mut().for_each(|part| part.ns *= by);
        }
        parts.push(own);
    }
    parts
}

fn threads(kernel: &Kernel) -> Vec<Thread> {
    let with = |thread: &fathom_trace::kernel::Thread| {
        let calls = kernel
            .calls
            .iter()
            .filter(|call| call.thread == thread.thread);
        let (count, in_calls_ns) = calls.fold((0, 0), |(count, ns), call| {
            (count + call.times.count, ns + call.times.total_ns)
        });
        // What it waited in calls is a part of what they took.
        let running_ns = in_calls_ns.saturating_sub(thread.in_calls.total_ns);
        let waits = [
            ("waiting in calls", thread.in_calls),
            ("waiting for pages", thread.in_faults),
            ("preempted", thread.preempted),
        ];
        let mut parts = vec![part(
            "in system calls",
            Kind::Call,
            running_ns as f64,
            Some(count),
        )];
        parts.extend(
            waits.map(|(name, of)| part(name, Kind::Waiting, of.total_ns as f64, Some(of.count))),
        );
        Thread {
            name: format!("{} of process {}", thread.thread, thread.process),
            began_ns: thread.began_ns as f64,
            lived_ns: thread.lived_ns as f64,
            parts,
        }
    };
    kernel.threads.iter().map(with).collect()
}

fn notes(trace: &Trace) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(wasi) = &trace.wasi {
        notes.push(format!("WASI calls were {}.", wasi.words()));
        if wasi.total_ns().is_none() {
            notes.push("What WASI calls took was not seen, so they are not drawn.".to_owned());
        }
    }
    for (what, cost) in [
        ("WASI call", trace.wasi.as_ref().and_then(|wasi| wasi.cost)),
        ("system call", trace.kernel_cost),
    ] {
        let Some(cost) = cost else { continue };
        notes.push(format!(
            "Looking makes a {what} take {} longer, of which {} is in its time.",
            figures::time(cost.call_ns),
            figures::time(cost.least_ns)
        ));
    }
    if trace.wasi.is_some() && trace.kernel.is_some() {
        notes.push(
            "System calls are matched to functions of WASI by their names, no more than there \
             were calls of the function; the tracer does not see which made which."
                .to_owned(),
        );
    }
    match &trace.kernel {
        Some(kernel) if kernel.lost.any() => {}
        Some(_) => notes.push("No event was lost.".to_owned()),
        None => notes.push("System calls and threads were not traced.".to_owned()),
    }
    notes.extend(
        trace
            .missing
            .iter()
            .map(|line| format!("Not seen: {line}.")),
    );
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_trace::times::Times;

    fn call(name: &str, count: u64, each_ns: u64) -> Call {
        let mut times = Times::default();
        (0..count).for_each(|_| times.add(each_ns));
        Call {
            thread: 1,
            name: name.to_owned(),
            failed: 0,
            bytes: None,
            empty: 0,
            times,
        }
    }

    fn wasi(name: &str, count: u64, each_ns: u64) -> Wasi {
        let mut wasi = Wasi::in_process();
        wasi.add(name, &[(0, count)], 0, &call("", count, each_ns).times);
        wasi
    }

    fn kernel(calls: Vec<Call>) -> Kernel {
        Kernel {
            calls,
            ..Kernel::default()
        }
    }

    #[test]
    fn no_more_system_calls_are_a_functions_than_it_had_calls() {
        let kernel = kernel(vec![call("close", 30, 10), call("futex", 1, 5)]);
        let mut calls = Calls::of(Some(&kernel));
        let parts = functions(&wasi("fd_close", 20, 50), &mut calls);
        let inside = &parts[0].parts[0];
        assert_eq!((inside.count, inside.ns), (Some(20), 200.0));
        let left: Vec<_> = calls.left().map(|part| (part.name, part.count)).collect();
        let expected = [("close", 10), ("futex", 1)];
        assert_eq!(left, expected.map(|(name, n)| (name.to_owned(), Some(n))));
    }

    #[test]
    fn system_calls_take_no_longer_than_their_function() {
        let kernel = kernel(vec![call("read", 4, 100), call("readv", 4, 100)]);
        let mut calls = Calls::of(Some(&kernel));
        let parts = functions(&wasi("fd_read", 4, 60), &mut calls);
        assert_eq!(parts[0].parts.len(), 1, "four in all, of the first name");
        assert_eq!(parts[0].parts[0].ns, parts[0].ns);
        assert_eq!(
            calls.left().map(|part| part.count).collect::<Vec<_>>(),
            [Some(4)]
        );
    }

    #[test]
    fn names_are_there_once_and_sorted() {
        assert!(MADE_OF.is_sorted_by(|a, b| a.0 < b.0));
    }
}
