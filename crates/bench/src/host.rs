//! The host's fingerprint, collected.

use std::collections::BTreeMap;

use fathom_record::{Fact, Host, host::Features};
use fathom_sys::{perf, pin, proc};

/// Reads what this machine says of itself; what it does not say is absent with
/// the reason.
pub fn collect() -> Host {
    let topology = proc::sockets_and_cores();
    let allowed = pin::allowed_cpus().map_err(|error| error.to_string());
    Host {
        cpu_model: proc::cpu_model().into(),
        cpu_kind: proc::cpu_kind().into(),
        cpu_flags: proc::cpu_flags().into(),
        arch: Fact::Known(std::env::consts::ARCH.to_owned()),
        cpus_logical: allowed.map(|cpus| cpus.len() as u32).into(),
        cores_physical: topology.clone().map(|(_, cores)| cores).into(),
        sockets: topology.map(|(sockets, _)| sockets).into(),
        kernel: proc::kernel_release()
            .map(|release| format!("Linux {release}"))
            .into(),
        os: proc::os_name().into(),
        memory_bytes: proc::memory_total_bytes().into(),
        page_bytes: Fact::Known(rustix::param::page_size() as u64),
        hypervisor: proc::hypervisor().into(),
        microcode: proc::microcode().into(),
        governor: proc::governor().into(),
        turbo: proc::turbo().into(),
        clock_source: proc::clock_source().into(),
        map_count_max: proc::sysctl("vm/max_map_count").into(),
        mitigations: proc::mitigations().map(BTreeMap::from_iter).into(),
        features: Features {
            pku: proc::protection_keys().into(),
            pmu: perf::hardware_counters()
                .map(|()| "cycles and instructions".to_owned())
                .into(),
            userfaultfd: proc::userfaultfd().into(),
            bpf: proc::bpf_tracing().into(),
            thp: proc::transparent_huge_pages().into(),
        },
        load_average: proc::load_average().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_is_stable_and_survives_its_file() {
        let host = collect();
        assert_eq!(host.fingerprint(), collect().fingerprint());
        let json = serde_json::to_string(&host).unwrap();
        let back: Host = serde_json::from_str(&json).unwrap();
        assert_eq!(back.fingerprint(), host.fingerprint());
        assert!(host.memory_bytes.known().is_some());
    }
}
