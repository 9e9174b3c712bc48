//! The most memory that this process has had, as Linux tells it (`proc_pid_status(5)`).

use std::fs;

/// Begins anew: what it has had before does not count.
pub fn forget_peak() {
    // Where it cannot be forgotten, more is told, and not less.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// Prints it, where it can be read.
pub fn tell_peak() {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(kib) = peak_kib(&status) {
        let mib = kib.div_ceil(1024);
        println!("The process had {mib} MiB at most, points and results of all cells included.\n");
    }
}

fn peak_kib(status: &str) -> Option<u64> {
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_a_line_of_status() {
        let status = "VmPeak:\t  9000 kB\nVmHWM:\t  1234 kB\n";
        assert_eq!(peak_kib(status), Some(1234));
        assert_eq!(peak_kib("VmPeak: 1 kB"), None);
    }
}
