//! Modules that are small and dear to compile (`shapes.rs`): each is compiled,
//! or refused in one line, within a bound of processor time and of memory.
//!
//! Each is compiled in a process of its own, whose time on the processor and
//! memory the kernel counts: neither depends on what else the machine does. The
//! bounds are generous, for a debug build verifies all that it compiles; what they
//! tell apart is work that grows with the length and work that grows with its
//! square.

mod encode;
mod shapes;

use std::process::Command;

use fathom_engine::*;

/// The child's work: shape, bytes and optimisation level.
const WORK: &str = "FATHOM_TEST_BOMB";

/// What one child may take.
const SECONDS_MAX: u32 = 20;
const BYTES_MAX: u64 = 512 << 20;

/// What compiling came to.
struct Cost {
    seconds: f64,
    bytes: u64,
    said: String,
}

/// Compiles a shape in a process of its own, which the kernel ends where it takes
/// far too long.
fn cost(name: &str, bytes: usize, opt: Opt) -> Cost {
    let limited = format!(
        "ulimit -t {}; exec \"$0\" --exact child --nocapture",
        SECONDS_MAX * 2
    );
    let mut command = Command::new("sh");
    command.arg("-c").arg(limited);
    command.arg(std::env::current_exe().unwrap());
    command.env(WORK, format!("{name} {bytes} {opt}"));
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.split_once("cost: "));
    let (_, line) = line.unwrap_or_else(|| panic!("{name}, {bytes} bytes, {opt}: {output:?}"));
    let mut fields = line.splitn(3, ' ');
    let mut field = || fields.next().unwrap().to_owned();
    Cost {
        seconds: field().parse().unwrap(),
        bytes: field().parse().unwrap(),
        said: field(),
    }
}

/// The work of the other tests' children; nothing without it.
#[test]
fn child() {
    let Ok(work) = std::env::var(WORK) else {
        return;
    };
    let mut fields = work.split(' ');
    let mut field = || fields.next().unwrap();
    let (name, bytes, opt) = (field(), field().parse().unwrap(), field());
    let shape = shapes::ALL.iter().find(|shape| shape.name == name).unwrap();
    let wasm = (shape.make)(bytes);
    let engine = Engine::new(&Config::new().opt(opt.parse().unwrap())).unwrap();
    let before = seconds();
    let said = match Module::new(&engine, &wasm) {
        Ok(module) => format!("{} bytes of code", module.code_bytes()),
        Err(error) => error.to_string(),
    };
    assert!(!said.contains('\n'), "{said}");
    println!("cost: {} {} {said}", seconds() - before, resident_most());
}

/// Processor time of this process, in seconds.
fn seconds() -> f64 {
    /// Linux tells programs so many ticks a second, whatever it uses itself.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, behind_name) = stat.rsplit_once(") ").unwrap();
    let field = |at| {
        behind_name
            .split(' ')
            .nth(at)
            .unwrap()
            .parse::<f64>()
            .unwrap()
    };
    (field(11) + field(12)) / TICKS
}

/// The most memory that this process had, in bytes.
fn resident_most() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let kilobytes: u64 = line.trim().split(' ').next().unwrap().parse().unwrap();
    kilobytes * 1024
}

/// A bound holds of a shape of so many bytes.
fn is_bounded(name: &str, bytes: usize, opt: Opt) {
    let cost = cost(name, bytes, opt);
    let Cost {
        seconds,
        bytes: peak,
        said,
    } = &cost;
    let megabytes = peak >> 20;
    println!("{name}, {bytes} bytes, {opt}: {seconds:.2} s, {megabytes} MiB: {said}");
    assert!(
        *seconds < f64::from(SECONDS_MAX) && *peak < BYTES_MAX,
        "{name}, {bytes} bytes, {opt}"
    );
}

/// 10 to the 10 steps where each use walks the chain.
#[test]
fn globals_that_are_one_another() {
    is_bounded("chain_of_globals", 2_000_000, Opt::None);
}

/// A table has as many entries as it has, however many frames are open.
#[test]
fn tables_in_many_frames() {
    is_bounded("small_tables_in_many_frames", 300_000, Opt::None);
}
