//! Where it was measured.

use std::fs;

/// The processor, the kernel and the load of the last minute, as far as they can be read.
pub fn line() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let mut lines = cpu.lines().filter_map(|line| line.split_once(':'));
        let found = lines.find(|(field, _)| field.trim() == name);
        found.map_or("unknown", |(_, value)| value.trim())
    };
    let (name, family, model) = (field("model name"), field("cpu family"), field("model"));
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "{name} (family {family}, model {model}), {threads} threads, Linux {}, load {load}",
        kernel.trim()
    )
}
