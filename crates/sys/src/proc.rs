//! What machine this is: the facts a measurement is meaningless without.
//!
//! Each fact is a [`Fact`]: its value, or why it is not to be had here. A fact
//! is read where the kernel states it or found by trying; none is guessed.

use std::{fs, path::Path};

use rustix::mm::UserfaultfdFlags;

/// A value, or the reason for its absence, in one line each.
pub type Fact = Result<String, String>;

/// The processor's name as it gives it.
pub fn cpu_model() -> Fact {
    let info = read("/proc/cpuinfo")?;
    // x86 says "model name", some RISC-V and Arm boards "uarch" or "Model".
    ["model name", "uarch", "Model"]
        .iter()
        .find_map(|key| field(&info, key))
        .map(str::to_owned)
        .ok_or_else(|| "/proc/cpuinfo names no model".into())
}

/// Which processor it is, where its name leaves that open: `AuthenticAMD family 25 model
/// 17 stepping 1`.
pub fn cpu_kind() -> Fact {
    kind_in(&read("/proc/cpuinfo")?).ok_or_else(|| "/proc/cpuinfo names no family".into())
}

fn kind_in(info: &str) -> Option<String> {
    let x86 = [
        ("", "vendor_id"),
        ("family ", "cpu family"),
        ("model ", "model"),
        ("stepping ", "stepping"),
    ];
    let arm = [
        ("implementer ", "CPU implementer"),
        ("part ", "CPU part"),
        ("variant ", "CPU variant"),
        ("revision ", "CPU revision"),
    ];
    let named = |(what, key): (&str, &str)| Some(format!("{what}{}", field(info, key)?));
    let all = |fields: [(&'static str, &'static str); 4]| -> Option<Vec<String>> {
        fields.into_iter().map(named).collect()
    };
    Some(all(x86).or_else(|| all(arm))?.join(" "))
}

/// What the processor and the kernel offer, by the names of `/proc/cpuinfo`, in the order of
/// the alphabet.
pub fn cpu_flags() -> Fact {
    let info = read("/proc/cpuinfo")?;
    let flags = field(&info, "flags").or_else(|| field(&info, "Features"));
    let flags = flags.ok_or_else(|| "/proc/cpuinfo has no flags".to_owned())?;
    let mut flags: Vec<&str> = flags.split_whitespace().collect();
    flags.sort_unstable();
    Ok(flags.join(" "))
}

/// Whether the processor and kernel offer a feature, by its `/proc/cpuinfo`
/// flag, such as `ospke` or `avx2`.
pub fn cpu_has_flag(flag: &str) -> bool {
    read("/proc/cpuinfo").is_ok_and(|info| {
        field(&info, "flags")
            .or_else(|| field(&info, "Features"))
            .is_some_and(|flags| flags.split_whitespace().any(|have| have == flag))
    })
}

/// The kernel's release, such as `6.18.4`.
pub fn kernel_release() -> Fact {
    read("/proc/sys/kernel/osrelease").map(|text| text.trim().to_owned())
}

/// Bytes of main memory the kernel manages.
///
/// # Errors
/// A sentence which says why it is unknown.
pub fn memory_total_bytes() -> Result<u64, String> {
    let info = read("/proc/meminfo")?;
    field(&info, "MemTotal")
        .and_then(|value| value.strip_suffix("kB"))
        .and_then(|kib| kib.trim().parse::<u64>().ok())
        .map(|kib| kib * 1024)
        .ok_or_else(|| "/proc/meminfo has no MemTotal".into())
}

/// Load averages over 1, 5 and 15 minutes.
///
/// # Errors
/// A sentence which says why they are unknown.
pub fn load_average() -> Result<[f64; 3], String> {
    let text = read("/proc/loadavg")?;
    let mut numbers = text.split_whitespace().map_while(|word| word.parse().ok());
    match (numbers.next(), numbers.next(), numbers.next()) {
        (Some(one), Some(five), Some(fifteen)) => Ok([one, five, fifteen]),
        _ => Err("/proc/loadavg is not three numbers".into()),
    }
}

/// Which processor faults the kernel works around, and how: pairs of a name
/// and the kernel's own words, only those the processor is affected by.
pub fn mitigations() -> Result<Vec<(String, String)>, String> {
    let folder = "/sys/devices/system/cpu/vulnerabilities";
    let entries = fs::read_dir(folder).map_err(|error| format!("{folder}: {error}"))?;
    let mut found: Vec<_> = entries
        .flatten()
        .filter_map(|entry| {
            let state = fs::read_to_string(entry.path()).ok()?;
            let state = state.trim();
            (state != "Not affected").then(|| {
                (
                    entry.file_name().to_string_lossy().into_owned(),
                    state.to_owned(),
                )
            })
        })
        .collect();
    found.sort();
    Ok(found)
}

/// How the processor's frequency is chosen.
pub fn governor() -> Fact {
    let path = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    if !Path::new(path).exists() {
        return Err("no frequency control is visible (usual in a virtual machine)".into());
    }
    read(path).map(|text| text.trim().to_owned())
}

/// When the kernel backs memory with huge pages: `always`, `madvise` or `never`.
pub fn transparent_huge_pages() -> Fact {
    let text = read("/sys/kernel/mm/transparent_hugepage/enabled")?;
    // The choice in force stands in brackets.
    text.split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'))
        .map(|(chosen, _)| chosen.to_owned())
        .ok_or_else(|| format!("not understood: {}", text.trim()))
}

/// A number the kernel keeps under `/proc/sys`, such as `vm/max_map_count`.
///
/// # Errors
/// A sentence which says why it is unknown.
pub fn sysctl(name: &str) -> Result<u64, String> {
    let path = format!("/proc/sys/{name}");
    let text = read(&path)?;
    text.trim()
        .parse()
        .map_err(|_| format!("{path} is not a number"))
}

/// The kernel's clock source, such as `tsc`.
pub fn clock_source() -> Fact {
    read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        .map(|text| text.trim().to_owned())
}

/// The distribution's name for itself.
pub fn os_name() -> Fact {
    let text = read("/etc/os-release")?;
    text.lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .map(|name| name.trim_matches('"').to_owned())
        .ok_or_else(|| "/etc/os-release has no PRETTY_NAME".into())
}

/// The processor's microcode revision.
pub fn microcode() -> Fact {
    let info = read("/proc/cpuinfo")?;
    let found = field(&info, "microcode").map(str::to_owned);
    found.ok_or_else(|| "/proc/cpuinfo has no microcode revision".into())
}

/// Whether the processor says that it is a virtual machine's, and whose.
pub fn hypervisor() -> Fact {
    if !cpu_has_flag("hypervisor") {
        return if cfg!(target_arch = "x86_64") {
            Ok("none".into())
        } else {
            Err("this processor does not tell".into())
        };
    }
    let name = ["/sys/hypervisor/type", "/sys/class/dmi/id/sys_vendor"]
        .iter()
        .find_map(|path| read(path).ok());
    Ok(name.map_or("a virtual machine".into(), |name| name.trim().to_owned()))
}

/// Whether the processor may go beyond its nominal frequency.
pub fn turbo() -> Fact {
    let off_if = |path: &str, off: &str| {
        read(path)
            .ok()
            .map(|text| if text.trim() == off { "off" } else { "on" }.to_owned())
    };
    off_if("/sys/devices/system/cpu/intel_pstate/no_turbo", "1")
        .or_else(|| off_if("/sys/devices/system/cpu/cpufreq/boost", "0"))
        .ok_or_else(|| "no frequency control is visible (usual in a virtual machine)".into())
}

/// Packages and physical cores, counted from `/proc/cpuinfo`.
///
/// # Errors
/// A sentence which says why they are unknown.
pub fn sockets_and_cores() -> Result<(u32, u32), String> {
    let info = read("/proc/cpuinfo")?;
    let mut cores = std::collections::BTreeSet::new();
    for block in info.split("\n\n") {
        let number = |key| field(block, key)?.parse::<u32>().ok();
        if let (Some(package), Some(core)) = (number("physical id"), number("core id")) {
            cores.insert((package, core));
        }
    }
    if cores.is_empty() {
        return Err("/proc/cpuinfo has no core ids".into());
    }
    let sockets: std::collections::BTreeSet<_> = cores.iter().map(|(package, _)| package).collect();
    Ok((sockets.len() as u32, cores.len() as u32))
}

/// Whether hyper-threading is on.
pub fn simultaneous_multithreading() -> Fact {
    read("/sys/devices/system/cpu/smt/control").map(|text| text.trim().to_owned())
}

/// Whether missing pages can be handled in user space, found by opening a
/// descriptor: with all rights, or for faults from user mode only.
pub fn userfaultfd() -> Fact {
    // UFFD_USER_MODE_ONLY; rustix 1 has no name for it.
    let user_only = UserfaultfdFlags::from_bits_retain(1);
    match open_userfaultfd(UserfaultfdFlags::CLOEXEC) {
        Ok(()) => Ok("with kernel-mode faults".into()),
        Err(_) => match open_userfaultfd(UserfaultfdFlags::CLOEXEC | user_only) {
            Ok(()) => Ok("user-mode faults only".into()),
            Err(error) => Err(format!("userfaultfd: {error}")),
        },
    }
}

#[allow(unsafe_code)]
fn open_userfaultfd(flags: UserfaultfdFlags) -> rustix::io::Result<()> {
    // SAFETY: the descriptor is closed at once; no memory is registered on it.
    unsafe { rustix::mm::userfaultfd(flags) }.map(drop)
}

/// Whether memory protection keys can be used.
pub fn protection_keys() -> Fact {
    if cpu_has_flag("ospke") {
        Ok("16 keys".into())
    } else if cpu_has_flag("pku") {
        Err("the processor has them, the kernel has them off".into())
    } else {
        Err("the processor shows none".into())
    }
}

/// Whether programs can be loaded into the kernel to trace (type information
/// and the right to do so); a statement of means, not a loaded program.
pub fn bpf_tracing() -> Fact {
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return Err("the kernel has no type information (BTF)".into());
    }
    const CAP_SYS_ADMIN: u64 = 1 << 21;
    const CAP_PERFMON: u64 = 1 << 38;
    const CAP_BPF: u64 = 1 << 39;
    let status = read("/proc/self/status")?;
    let held = field(&status, "CapEff")
        .and_then(|hex| u64::from_str_radix(hex, 16).ok())
        .ok_or("/proc/self/status has no CapEff")?;
    if held & CAP_SYS_ADMIN != 0 || held & (CAP_BPF | CAP_PERFMON) == CAP_BPF | CAP_PERFMON {
        Ok("type information and the capabilities for it".into())
    } else {
        Err("needs CAP_BPF and CAP_PERFMON".into())
    }
}

fn read(path: &str) -> Fact {
    fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))
}

/// The value of the first `key : value` line, trimmed.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "cpu family\t: 6\nmodel\t\t: 207\nmodel name\t: Fast One\n";
        assert_eq!(field(text, "model name"), Some("Fast One"));
        assert_eq!(field(text, "model"), Some("207"));
        assert_eq!(field(text, "mode"), None);
    }

    #[test]
    fn a_processor_is_known_by_its_family_or_its_part() {
        let x86 = "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\nstepping\t: 2\n";
        assert_eq!(
            kind_in(x86).unwrap(),
            "GenuineIntel family 6 model 207 stepping 2"
        );
        let arm =
            "CPU implementer\t: 0x41\nCPU variant\t: 0x1\nCPU part\t: 0xd40\nCPU revision\t: 1\n";
        assert_eq!(
            kind_in(arm).unwrap(),
            "implementer 0x41 part 0xd40 variant 0x1 revision 1"
        );
        assert_eq!(kind_in("model name\t: Fast One\n"), None);
    }

    #[test]
    fn every_fact_is_a_line_or_a_reason() {
        for fact in [
            cpu_model(),
            cpu_kind(),
            cpu_flags(),
            kernel_release(),
            governor(),
            transparent_huge_pages(),
            simultaneous_multithreading(),
            userfaultfd(),
            protection_keys(),
            bpf_tracing(),
            clock_source(),
            os_name(),
            microcode(),
            hypervisor(),
            turbo(),
        ] {
            let line = fact.unwrap_or_else(|why| why);
            assert!(!line.is_empty() && !line.contains('\n'), "{line:?}");
        }
    }

    #[test]
    fn the_machine_has_memory_and_a_load() {
        assert!(memory_total_bytes().unwrap() > 1 << 20);
        assert!(load_average().unwrap().iter().all(|&load| load >= 0.0));
        assert!(!cpu_has_flag("no-such-flag"));
        mitigations().unwrap();
        assert!(sysctl("vm/max_map_count").unwrap() > 0);
        assert!(sysctl("no/such").is_err());
        if let Ok((sockets, cores)) = sockets_and_cores() {
            assert!(1 <= sockets && sockets <= cores);
        }
    }
}
