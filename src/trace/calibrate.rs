//! What looking costs on this machine: measured in front of each trace.
//!
//! ```text
//!  fathom trace --calls N   N times getppid: nanoseconds a call
//!     once as it is, once traced by a tracer of its own: the difference is the cost
//!  between them as often a function of this program, which is probed
//! ```

use std::process::{Command, ExitCode};
use std::time::Instant;

use fathom_trace::kernel::Tracer;
use fathom_trace::symbols::{Ends, Found};
use fathom_trace::trace::Cost;

/// Calls of one measurement, in batches; a batch that was disturbed is left out by taking
/// the least.
const CALLS: u32 = 20_000;
const BATCHES: u32 = 10;

/// What is probed to find out what that costs. It calls another, so that, optimized, it
/// begins with `push` as most functions do, which the kernel need not step over.
#[inline(never)]
extern "C" fn trace_probed(value: u64) -> u64 {
    std::hint::black_box(behind(value) + 1)
}

#[inline(never)]
extern "C" fn behind(value: u64) -> u64 {
    std::hint::black_box(value)
}

/// Where a function of this program is in its file, by where it is in memory: also if its
/// symbols are stripped.
fn in_file(function: usize) -> Option<u64> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |word: &str| u64::from_str_radix(word, 16).ok();
        let (start, end) = words.first()?.split_once('-')?;
        let range = number(start)?..number(end)?;
        let function = function as u64;
        let is_in = range.contains(&function);
        is_in.then_some(number(words.get(2)?)? + function - range.start)
    })
}

/// Makes so many calls and prints what one took, nanoseconds: of a system call, and of a
/// function.
pub fn calls(count: u32) -> ExitCode {
    let batch = (count / BATCHES).max(1);
    let least = |call: &dyn Fn()| {
        let times = (0..BATCHES).map(|_| {
            let start = Instant::now();
            for _ in 0..batch {
                call();
            }
            start.elapsed().as_nanos() as f64 / f64::from(batch)
        });
        times.fold(f64::INFINITY, f64::min)
    };
    let system = least(&|| {
        std::hint::black_box(rustix::process::getppid());
    });
    let function = least(&|| {
        std::hint::black_box(trace_probed(std::hint::black_box(1)));
    });
    println!("{system:.1} {function:.1}");
    ExitCode::SUCCESS
}

/// What it costs that a function is probed; none where that cannot be found out. Nothing
/// else may be traced meanwhile.
pub fn probe(ends: Ends) -> Option<Cost> {
    let file = std::env::current_exe().ok()?;
    let offset = in_file(trace_probed as *const () as usize)?;
    let plain = took()?[1];
    let mut tracer = Tracer::attach().ok()?;
    let found = Found {
        file,
        functions: vec![("f".to_owned(), offset)],
        ends,
    };
    tracer.probe(&found).ok()?;
    tracer.follow();
    let traced = took()?[1];
    let probed = tracer.probed().ok()?;
    Some(Cost {
        call_ns: (traced - plain).max(0.0),
        least_ns: probed.get("f")?.times.mean_ns(),
        plain_ns: Some(plain),
    })
}

/// What it costs that a system call is traced; none where that cannot be found out. Nothing
/// else may be traced meanwhile.
pub fn kernel() -> Option<Cost> {
    let plain = took()?[0];
    let tracer = Tracer::attach().ok()?;
    tracer.follow();
    let traced = took()?[0];
    let kernel = tracer.answer().ok()?;
    let least_ns = kernel.by_name().get("getppid")?.times.mean_ns();
    Some(Cost {
        call_ns: (traced - plain).max(0.0),
        least_ns,
        plain_ns: Some(plain),
    })
}

/// What a system call and a function take.
fn took() -> Option<[f64; 2]> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    let output = command
        .args(["trace", "--calls", &CALLS.to_string()])
        .output();
    let text = String::from_utf8(output.ok()?.stdout).ok()?;
    let numbers = text.split_whitespace().map(|word| word.parse().ok());
    numbers.collect::<Option<Vec<f64>>>()?.try_into().ok()
}
