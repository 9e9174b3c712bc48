//! Where it was measured.

use std::fs;

/// The processor and the kernel, as far as they can be read.
pub fn line() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("unknown processor", |rest| {
        rest.trim_start_matches([' ', '\t', ':'])
    });
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{model}, {threads} threads, Linux {}", kernel.trim())
}
