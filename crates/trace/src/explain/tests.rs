//! Seeded anomalies, each found with its cause and no other; clean sets, in which nothing
//! is found.

use std::collections::BTreeMap;

use super::*;
use crate::kernel::{Call, Kernel, Thread, Waits};
use crate::times::Times;
use crate::trace::{Cost, KIND, VERSION, Wasi};

const SIZES: [u64; 3] = [2_000, 20_000, 200_000];
const ENGINES: [&str; 5] = ["fathom", "one", "two", "three", "four"];
/// The engine that is odd in the seeded sets.
const ODD: &str = "two";

/// Numbers without order, the same every time.
struct Noise(u64);

impl Noise {
    /// Between the two.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        low + (high - low) * ((self.0 >> 11) as f64 / (1u64 << 53) as f64)
    }
}

/// What a run is made of.
struct Made {
    engine: String,
    program: &'static str,
    size: u64,
    wall_ns: f64,
    /// WASI: successes, "again", bytes.
    wasi: BTreeMap<&'static str, (u64, u64, u64)>,
    /// System calls: count, bytes, empty, mean time.
    calls: BTreeMap<&'static str, (u64, u64, u64, u64)>,
    waits: u64,
    preempted_ns: u64,
    faults: u64,
}

impl Made {
    /// `size` requests of 4096 bytes, one system call each, after a start.
    fn usual(engine: &str, program: &'static str, size: u64, noise: &mut Noise) -> Made {
        let mut some = |high: f64| noise.between(0.0, high) as u64;
        let calls = BTreeMap::from([
            ("mmap", (20 + some(40.0), 0, 0, 2000)),
            ("mprotect", (some(200.0), 0, 0, 2000)),
            ("read", (5 + some(20.0), 4000, 2, 1000)),
            ("openat", (5 + some(20.0), 0, 0, 1500)),
            ("newfstatat", (some(20.0), 0, 0, 900)),
            ("futex", (some(40.0), 0, 0, 900)),
            ("writev", (size, 4096 * size, 0, 700)),
        ]);
        let wasi = BTreeMap::from([
            ("fd_write", (size, 0, 4096 * size)),
            ("path_open", (1, 0, 0)),
            ("fd_close", (1, 0, 0)),
        ]);
        let (waits, faults) = (some(40.0), 200 + some(400.0));
        let start_ns = noise.between(4e6, 6e6);
        Made {
            engine: engine.to_owned(),
            program,
            size,
            wall_ns: (start_ns + 2000.0 * size as f64) * noise.between(0.9, 1.1),
            wasi,
            calls,
            waits,
            preempted_ns: 0,
            faults,
        }
    }

    /// Adds system calls: so many for each request.
    fn each(&mut self, name: &'static str, times: f64) {
        let count = (self.size as f64 * times) as u64;
        let call = self.calls.entry(name).or_insert((0, 0, 0, 300));
        call.0 += count;
        self.wall_ns += 300.0 * count as f64;
    }

    /// The bytes go through this call, in so many for each request.
    fn through(&mut self, name: &'static str, times: f64) {
        let (count, bytes, ..) = self.calls.remove("writev").unwrap();
        let call = (((count as f64) * times) as u64, bytes, 0, 700);
        self.calls.insert(name, call);
    }

    fn trace(&self) -> Trace {
        let mut wasi = Wasi::in_process();
        for (name, (ok, again, bytes)) in &self.wasi {
            wasi.add(name, &[(0, *ok), (6, *again)], *bytes, &Times::default());
        }
        let call = |(name, made): (&&str, &(u64, u64, u64, u64))| Call {
            thread: 1,
            name: (*name).to_owned(),
            failed: 0,
            bytes: crate::kernel::names::is_transfer(name).then_some(made.1),
            empty: made.2,
            times: Times {
                count: made.0,
                total_ns: made.0 * made.3,
                min_ns: made.3,
                max_ns: made.3,
                buckets: Vec::new(),
            },
        };
        let waits = |count, total_ns| Waits { count, total_ns };
        let thread = Thread {
            thread: 1,
            process: 1,
            in_calls: waits(self.waits, 0),
            preempted: waits(9, self.preempted_ns),
            faults_user: self.faults,
            ..Thread::default()
        };
        let is_native = self.engine == NATIVE;
        Trace {
            fathom: KIND.into(),
            version: VERSION,
            command: Vec::new(),
            engine: Some(self.engine.clone()),
            module: Some(format!("/x/{}.wasm", self.program)),
            args: vec!["4096".into(), self.size.to_string()],
            status: 0,
            wall_ns: self.wall_ns as u64,
            wasi: (!is_native).then_some(wasi),
            kernel: Some(Kernel {
                calls: self.calls.iter().map(call).collect(),
                threads: vec![thread],
                ..Kernel::default()
            }),
            kernel_cost: Some(Cost {
                call_ns: 250.0,
                least_ns: 150.0,
                plain_ns: None,
            }),
            missing: Vec::new(),
        }
    }
}

/// A set of runs on all engines at all sizes, each as `edit` leaves it.
fn set(seed: u64, edit: impl Fn(&mut Made)) -> Vec<Trace> {
    let mut noise = Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
    let mut all = Vec::new();
    for engine in ENGINES.iter().chain([&NATIVE]) {
        for size in SIZES {
            let mut made = Made::usual(engine, "program", size, &mut noise);
            edit(&mut made);
            all.push(made.trace());
        }
    }
    all
}

type Edit = fn(&mut Made);

/// What is done to one engine's runs, and the causes that are to be found.
const SEEDED: [(&str, Edit, &[&str]); 24] = [
    (
        "two writes",
        |m| m.through("write", 2.0),
        &["split vectors"],
    ),
    (
        "two pwrites",
        |m| m.through("pwrite64", 2.0),
        &["split vectors"],
    ),
    (
        "four writes",
        |m| m.through("write", 4.0),
        &["split vectors"],
    ),
    ("half of each request", first_half, &["first range only"]),
    (
        "a futex each and back",
        |m| {
            m.each("futex", 2.0);
            m.waits += 2 * m.size;
            m.wall_ns *= 4.0;
        },
        &["handed to another thread"],
    ),
    (
        "a wait each",
        |m| {
            m.waits += m.size;
            m.wall_ns *= 3.0;
        },
        &["handed to another thread"],
    ),
    (
        "an asynchronous engine",
        |m| {
            first_half(m);
            m.each("futex", 3.0);
            m.waits += 4 * m.size;
        },
        &["first range only", "handed to another thread"],
    ),
    (
        "positions asked",
        |m| m.each("lseek", 1.0),
        &["extra position calls"],
    ),
    (
        "positions asked twice",
        |m| m.each("lseek", 2.0),
        &["extra position calls"],
    ),
    (
        "status asked",
        |m| m.each("fstat", 1.0),
        &["extra status calls"],
    ),
    (
        "status asked by path",
        |m| m.each("newfstatat", 1.0),
        &["extra status calls"],
    ),
    (
        "new status asked",
        |m| m.each("statx", 0.8),
        &["extra status calls"],
    ),
    (
        "flags asked",
        |m| m.each("fcntl", 1.0),
        &["extra flag calls"],
    ),
    (
        "ranges of no length",
        |m| {
            m.calls
                .insert("write", (m.size, 0, m.size, 200))
                .map_or((), |_| ())
        },
        &["empty requests"],
    ),
    (
        "a buffer mapped for each",
        |m| {
            m.each("mmap", 1.0);
            m.each("munmap", 1.0);
        },
        &["memory for each call"],
    ),
    (
        "the heap moved for each",
        |m| m.each("brk", 2.0),
        &["memory for each call"],
    ),
    (
        "pages given back",
        |m| m.each("madvise", 1.0),
        &["memory for each call"],
    ),
    (
        "a new page for each",
        |m| m.faults += 2 * m.size,
        &["page faults"],
    ),
    (
        "a descriptor that does not wait",
        |m| m.wasi.get_mut("fd_write").unwrap().1 = m.size / 4,
        &["tried again"],
    ),
    (
        "processors of others",
        |m| {
            m.preempted_ns = (2.0 * m.wall_ns) as u64;
            m.wall_ns *= 3.0;
        },
        &["busy machine"],
    ),
    ("a long start", |m| m.wall_ns += 500e6, &["start-up"]),
    ("slow, and nothing seen", |m| m.wall_ns *= 3.0, &[]),
    (
        "grows as the square",
        |m| m.wall_ns += 5e-2 * (m.size as f64).powi(2),
        &[],
    ),
    (
        "slow system calls",
        |m| {
            m.calls.get_mut("writev").unwrap().3 = 9_000;
            m.wall_ns += 8_300.0 * m.size as f64;
        },
        &[],
    ),
];

/// The engine moves half of each request, and the guest asks again.
fn first_half(m: &mut Made) {
    m.through("pwrite64", 2.0);
    m.wasi.get_mut("fd_write").unwrap().0 *= 2;
}

#[test]
fn each_seeded_anomaly_is_found_with_its_cause_and_no_other() {
    for (seed, (what, edit, causes)) in SEEDED.iter().enumerate() {
        let traces = set(seed as u64, |made| {
            if made.engine == ODD {
                edit(made);
            }
        });
        let findings = explain(&traces);
        assert!(!findings.is_empty(), "{what}: nothing found");
        for finding in &findings {
            assert_eq!(finding.engine.as_deref(), Some(ODD), "{what}: {finding:?}");
            for cause in &finding.causes {
                assert!(causes.contains(&cause.name), "{what}: {cause:?}");
                assert!(!cause.evidence.is_empty());
            }
        }
        let largest = findings
            .iter()
            .max_by(|a, b| a.size.partial_cmp(&b.size).unwrap());
        let largest = largest.unwrap();
        for cause in *causes {
            assert!(largest.has(cause), "{what}: no {cause}: {largest:?}");
        }
        let is_unexplained = largest.causes.is_empty();
        assert_eq!(is_unexplained, causes.is_empty(), "{what}: {largest:?}");
        assert!(!is_unexplained || !largest.symptoms.is_empty(), "{what}");
    }
}

#[test]
fn nothing_is_found_in_twenty_clean_sets() {
    for seed in 100..120 {
        let findings = explain(&set(seed, |_| {}));
        assert!(findings.is_empty(), "{seed}: {findings:#?}");
    }
}

#[test]
fn a_buffer_that_is_smaller_than_native_is_said_once_for_all_engines() {
    // The paper's first case: 1037 bytes a request where native code gathers 4096.
    let traces = set(7, |made| match made.engine.as_str() {
        NATIVE => {}
        _ => {
            made.calls.get_mut("writev").unwrap().1 = 1037 * made.size;
            made.wasi.get_mut("fd_write").unwrap().2 = 1037 * made.size;
        }
    });
    let findings = explain(&traces);
    assert_eq!(findings.len(), SIZES.len(), "{findings:#?}");
    for finding in &findings {
        assert_eq!(finding.engine, None);
        assert!(finding.has("smaller buffer than native"), "{finding:?}");
    }
}

#[test]
fn what_is_about_other_calls_than_transfers_is_found() {
    // Paths: five calls for each that is opened, where others make one.
    let paths = set(8, |made| {
        made.wasi.insert("path_open", (made.size, 0, 0));
        made.each("openat2", 1.0);
        if made.engine == ODD {
            made.each("openat", 2.0);
            made.each("readlinkat", 2.0);
        }
    });
    let findings = explain(&paths);
    let is_odd = |f: &&Finding| f.engine.as_deref() == Some(ODD);
    assert!(
        findings
            .iter()
            .all(|f| is_odd(&f) && f.has("path walked in steps")),
        "{findings:#?}"
    );
    assert_eq!(findings.len(), SIZES.len());
    // Data that is to reach the disk, and does not.
    let syncs = set(9, |made| {
        made.wasi.insert("fd_sync", (50, 0, 0));
        if made.engine != ODD {
            made.calls.insert("fsync", (50, 0, 0, 2_000));
        }
    });
    let findings = explain(&syncs);
    assert!(
        findings
            .iter()
            .all(|f| is_odd(&f) && f.has("sync left out")),
        "{findings:#?}"
    );
    assert_eq!(findings.len(), SIZES.len());
    // So many calls that looking at them takes the time.
    let probed = set(10, |made| {
        if made.engine == ODD {
            made.each("clock_gettime", 20.0);
        }
    });
    let findings = explain(&probed);
    let largest = findings.last().unwrap();
    assert!(
        is_odd(&largest) && largest.has("probe cost"),
        "{findings:#?}"
    );
}

#[test]
fn what_helpers_of_an_engine_call_is_not_the_guests() {
    let mut traces = set(11, |_| {});
    for trace in &mut traces {
        let kernel = trace.kernel.as_mut().unwrap();
        let mut compiler = kernel.calls[0].clone();
        (compiler.thread, compiler.name) = (2, "lseek".into());
        compiler.times.count = 50_000;
        kernel.calls.push(compiler);
        kernel.threads.push(Thread {
            thread: 2,
            process: 2,
            faults_user: 1_000_000,
            ..Thread::default()
        });
        if trace.engine.as_deref() != Some(ODD) {
            let kernel = trace.kernel.as_mut().unwrap();
            kernel.calls.pop();
            kernel.threads.pop();
        }
    }
    assert!(explain(&traces).is_empty());
}

#[test]
fn an_engine_that_asks_a_compiler_is_slow_for_it() {
    let mut traces = set(12, |made| {
        if made.engine == ODD {
            made.wall_ns *= 10.0;
        }
    });
    for trace in traces
        .iter_mut()
        .filter(|t| t.engine.as_deref() == Some(ODD))
    {
        let lived_ns = trace.wall_ns * 9 / 10;
        trace.kernel.as_mut().unwrap().threads.push(Thread {
            thread: 2,
            process: 2,
            lived_ns,
            ..Thread::default()
        });
    }
    let findings = explain(&traces);
    assert_eq!(findings.len(), SIZES.len(), "{findings:#?}");
    assert!(findings.iter().all(|f| f.has("helper processes")));
}

#[test]
fn few_runs_or_none_say_nothing_that_they_cannot() {
    assert!(explain(&[]).is_empty());
    let mut noise = Noise(3);
    let mut one = Made::usual("one", "program", 2000, &mut noise);
    one.wall_ns *= 100.0;
    assert!(
        explain(&[one.trace()]).is_empty(),
        "there is nothing to compare with"
    );
    one.through("write", 2.0);
    let findings = explain(&[one.trace()]);
    assert!(
        findings[0].has("split vectors"),
        "but what it does itself is seen"
    );
}

#[test]
fn causes_have_names_of_their_own() {
    for (at, cause) in CAUSES.iter().enumerate() {
        assert!(CAUSES[..at].iter().all(|other| other.name != cause.name));
        assert!(
            !cause.words.ends_with('.') && !cause.words.is_empty(),
            "{}",
            cause.name
        );
    }
}
