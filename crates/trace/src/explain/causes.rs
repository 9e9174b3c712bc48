//! Causes, each a row: what it is called, what it means, and what must be seen for it.
//!
//! A rule asks for counts of what was done, for each request of the guest, and where that
//! can be, how the other engines did with the same program. What an engine does once, at
//! its start, is kept out by asking for many.

use super::Group;
use super::seen::{Seen, per};

/// One cause.
pub struct Cause {
    /// Its name in answers.
    pub name: &'static str,
    /// What it means, and what helps.
    pub words: &'static str,
    /// Whether it explains times only: it is asked about where one stands out.
    pub is_of_time: bool,
    /// What speaks for it, if anything does.
    pub evidence: fn(&Seen, &Group<'_>) -> Option<String>,
}

/// Fewer requests than this say nothing about each: an engine's start makes hundreds of
/// calls.
pub(super) const MANY: f64 = 500.0;
/// And fewer calls than this beyond the usual are an engine's start.
pub(super) const BEYOND: f64 = 2.0 * MANY;
/// From here on something happens for each request, or for every other one.
const EACH: f64 = 0.5;
/// From here on there are two of one.
const TWICE: f64 = 1.5;

/// All causes. Several can hold of one run.
pub const CAUSES: [Cause; 17] = [
    Cause {
        name: "split vectors",
        words: "one request with several ranges becomes a system call for each range: writev or readv would do",
        is_of_time: false,
        evidence: split_vectors,
    },
    Cause {
        name: "first range only",
        words: "the engine moves the first range of a request only, so the C library asks again for the rest",
        is_of_time: false,
        evidence: first_range,
    },
    Cause {
        name: "smaller buffer than native",
        words: "the C library of WebAssembly gathers less before it asks than the native one: setvbuf helps on both",
        is_of_time: false,
        evidence: smaller_buffer,
    },
    Cause {
        name: "handed to another thread",
        words: "each request goes to another thread and is waited for: futex calls and context switches for each",
        is_of_time: false,
        evidence: handed_over,
    },
    Cause {
        name: "empty requests",
        words: "system calls that move nothing, such as of a range of length 0 or to see an end",
        is_of_time: false,
        evidence: empty_requests,
    },
    Cause {
        name: "extra position calls",
        words: "lseek for each transfer, although the guest did not ask: the engine keeps positions itself",
        is_of_time: false,
        evidence: |seen, group| extra(seen, group, &["lseek"], &["fd_seek", "fd_tell"]),
    },
    Cause {
        name: "extra status calls",
        words: "fstat or statx for each transfer: the engine asks again what it could keep",
        is_of_time: false,
        evidence: |seen, group| {
            let calls = ["fstat", "newfstatat", "statx", "stat"];
            extra(
                seen,
                group,
                &calls,
                &["fd_filestat_get", "path_filestat_get", "path_open"],
            )
        },
    },
    Cause {
        name: "extra flag calls",
        words: "fcntl for each transfer: the engine asks for flags it could keep",
        is_of_time: false,
        evidence: |seen, group| {
            extra(
                seen,
                group,
                &["fcntl"],
                &["fd_fdstat_get", "fd_fdstat_set_flags", "path_open"],
            )
        },
    },
    Cause {
        name: "path walked in steps",
        words: "several system calls to open one path: it is resolved piece by piece where openat2 does it at once",
        is_of_time: false,
        evidence: walked_path,
    },
    Cause {
        name: "memory for each call",
        words: "memory is mapped, grown or given back for each request",
        is_of_time: false,
        evidence: memory_each,
    },
    Cause {
        name: "page faults",
        words: "pages are touched for the first time for each request: buffers are made anew instead of kept",
        is_of_time: false,
        evidence: faults_each,
    },
    Cause {
        name: "tried again",
        words: "requests come back with nothing done and are made again: a descriptor that does not wait",
        is_of_time: false,
        evidence: tried_again,
    },
    Cause {
        name: "sync left out",
        words: "the guest asks for its data to reach the disk, and no system call does so: fast, and not safe",
        is_of_time: false,
        evidence: sync_left_out,
    },
    Cause {
        name: "busy machine",
        words: "other programs used the processor: measure again on a quiet machine",
        is_of_time: true,
        evidence: busy_machine,
    },
    Cause {
        name: "helper processes",
        words: "the engine runs other programs, such as a C compiler at its start: keep what they make",
        is_of_time: true,
        evidence: helpers,
    },
    Cause {
        name: "probe cost",
        words: "the tracing itself takes much of the time: trust the counts here, and times without it",
        is_of_time: true,
        evidence: probe_cost,
    },
    Cause {
        name: "start-up",
        words: "what it takes longer is the same however much the program does: the engine's own start",
        is_of_time: true,
        evidence: start_up,
    },
];

fn split_vectors(seen: &Seen, _: &Group<'_>) -> Option<String> {
    let ratio = per(seen.moved.calls - seen.empty, seen.asked.calls);
    let same = per(seen.moved.bytes, seen.asked.bytes);
    let is_many = seen.asked.calls >= MANY && seen.moved.calls - seen.asked.calls >= BEYOND;
    (is_many && ratio >= TWICE && (0.8..1.5).contains(&same))
        .then(|| format!("{ratio:.2} system calls for each WASI call, the same bytes"))
}

fn first_range(seen: &Seen, group: &Group<'_>) -> Option<String> {
    let usual = group.median(|peer| peer.asked.calls)?;
    let ratio = per(seen.asked.calls, usual);
    let same = per(seen.asked.bytes, group.median(|peer| peer.asked.bytes)?);
    (usual >= MANY && ratio >= TWICE && (0.95..1.05).contains(&same)).then(|| {
        format!("{ratio:.2} times the WASI calls that other engines get, for the same bytes")
    })
}

fn smaller_buffer(seen: &Seen, group: &Group<'_>) -> Option<String> {
    let native = group.native()?;
    let ratio = per(native.moved.each(), seen.asked.each());
    // Where other engines are asked for more at once, it is not the library's doing.
    let usual = group.median(|peer| peer.asked.each());
    let is_usual = usual.is_none_or(|usual| usual < 1.2 * seen.asked.each());
    let is_many = seen.asked.calls >= MANY && native.moved.calls >= 10.0;
    (is_many && is_usual && ratio >= TWICE).then(|| {
        format!(
            "native code moves {:.0} bytes a system call, the guest asks for {:.0} a WASI call",
            native.moved.each(),
            seen.asked.each()
        )
    })
}

fn handed_over(seen: &Seen, group: &Group<'_>) -> Option<String> {
    let all = |seen: &Seen| seen.of_kernel(&["futex"]).max(seen.waits);
    let each = |seen: &Seen| per(all(seen), seen.wasi_calls());
    let usual = group.median(each).unwrap_or(0.0);
    let is_many = seen.wasi_calls() >= MANY && all(seen) >= BEYOND;
    (is_many && each(seen) >= EACH && each(seen) >= 4.0 * usual).then(|| {
        format!(
            "{:.2} futex calls and {:.2} waits for each WASI call",
            per(seen.of_kernel(&["futex"]), seen.wasi_calls()),
            per(seen.waits, seen.wasi_calls())
        )
    })
}

fn empty_requests(seen: &Seen, _: &Group<'_>) -> Option<String> {
    let ratio = per(seen.empty, seen.asked.calls);
    (seen.asked.calls >= MANY && ratio >= EACH)
        .then(|| format!("{ratio:.2} system calls that move nothing for each WASI call"))
}

/// System calls that the guest has not asked for, for each transfer.
fn extra(seen: &Seen, group: &Group<'_>, calls: &[&str], asked: &[&str]) -> Option<String> {
    let unasked = |seen: &Seen| (seen.of_kernel(calls) - seen.of_wasi(asked)).max(0.0);
    let each = |seen: &Seen| per(unasked(seen), seen.asked.calls);
    let usual = group.median(each).unwrap_or(0.0);
    let is_many = seen.asked.calls >= MANY && unasked(seen) >= BEYOND;
    (is_many && each(seen) >= EACH && each(seen) >= 2.0 * usual).then(|| {
        let names = calls.join(", ");
        format!(
            "{:.2} of {names} for each transfer that the guest did not ask for",
            each(seen)
        )
    })
}

fn walked_path(seen: &Seen, group: &Group<'_>) -> Option<String> {
    let calls = [
        "open",
        "openat",
        "openat2",
        "readlink",
        "readlinkat",
        "newfstatat",
        "statx",
        "lstat",
    ];
    let opens = seen.of_wasi(&["path_open"]);
    let own = |seen: &Seen| per(seen.of_kernel(&calls), seen.of_wasi(&["path_open"]));
    let usual = group.median(own).unwrap_or(1.0);
    (opens >= MANY && own(seen) >= 3.0 && own(seen) >= TWICE * usual).then(|| {
        format!(
            "{:.1} system calls about paths for each that is opened",
            own(seen)
        )
    })
}

fn memory_each(seen: &Seen, group: &Group<'_>) -> Option<String> {
    let calls = ["mmap", "munmap", "brk", "madvise", "mremap", "mprotect"];
    let each = |seen: &Seen| per(seen.of_kernel(&calls), seen.wasi_calls());
    let usual = group.median(each).unwrap_or(0.0);
    let many = seen.of_kernel(&calls) >= 4.0 * MANY;
    (many && each(seen) >= EACH && each(seen) >= 2.0 * usual)
        .then(|| format!("{:.2} calls about memory for each WASI call", each(seen)))
}

fn faults_each(seen: &Seen, group: &Group<'_>) -> Option<String> {
    let each = |seen: &Seen| per(seen.faults, seen.wasi_calls());
    let usual = group.median(each).unwrap_or(0.0);
    // Runtimes with collectors touch ten thousand pages before they begin.
    let many = seen.wasi_calls() >= 4.0 * MANY && seen.faults >= 25.0 * BEYOND;
    (many && each(seen) >= EACH && each(seen) >= 4.0 * usual)
        .then(|| format!("{:.2} page faults for each WASI call", each(seen)))
}

fn tried_again(seen: &Seen, _: &Group<'_>) -> Option<String> {
    let ratio = per(seen.again, seen.wasi_calls());
    (seen.again >= MANY / 10.0 && ratio >= 0.1).then(|| {
        format!(
            "{:.0} % of all WASI calls came back with \"again\"",
            100.0 * ratio
        )
    })
}

fn sync_left_out(seen: &Seen, _: &Group<'_>) -> Option<String> {
    let asked = seen.of_wasi(&["fd_sync", "fd_datasync"]);
    let done = seen.of_kernel(&["fsync", "fdatasync", "sync_file_range", "syncfs"]);
    (seen.has_kernel && asked >= 5.0 && done < 0.5 * asked).then(|| {
        format!("{asked:.0} times fd_sync or fd_datasync, {done:.0} system calls that sync")
    })
}

fn busy_machine(seen: &Seen, _: &Group<'_>) -> Option<String> {
    let share = per(seen.preempted_ns, seen.wall_ns);
    (share >= 0.2).then(|| {
        let percent = 100.0 * share;
        format!("its threads waited {percent:.0} % of the whole time for a processor")
    })
}

fn helpers(seen: &Seen, _: &Group<'_>) -> Option<String> {
    let share = per(seen.helpers_ns, seen.wall_ns);
    (share >= 0.3).then(|| {
        let ms = seen.helpers_ns / 1e6;
        format!(
            "other processes ran for {ms:.1} ms, {:.0} % of the whole time",
            100.0 * share
        )
    })
}

fn probe_cost(seen: &Seen, _: &Group<'_>) -> Option<String> {
    let calls: f64 = seen.calls.values().sum();
    let share = per(calls * seen.least_ns, seen.wall_ns);
    (share >= 0.3).then(|| {
        let percent = 100.0 * share;
        format!(
            "{calls:.0} system calls, of whose time {percent:.0} % of the whole are the probe's"
        )
    })
}

fn start_up(seen: &Seen, group: &Group<'_>) -> Option<String> {
    let excess = |seen: &Seen, group: &Group<'_>| {
        let usual = group.median(|peer| peer.wall_ns)?;
        Some(seen.wall_ns - usual)
    };
    let own = excess(seen, group)?;
    let mut others = group.other_sizes(seen).peekable();
    others.peek()?;
    let same = |(seen, group): (&Seen, Group<'_>)| {
        excess(seen, &group).is_some_and(|other| (0.7..1.43).contains(&per(other, own)))
    };
    (own > 0.0 && others.all(same))
        .then(|| format!("{:.1} ms more than usual, at every size", own / 1e6))
}
