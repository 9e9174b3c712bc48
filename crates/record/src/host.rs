//! Where a campaign ran: the host's fingerprint.
//!
//! Whatever could not be read is [`Fact::Absent`] with the reason; nothing is
//! left out and nothing is guessed.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Something about the host, or why it is not known or not there.
///
/// On the wire a known fact is its plain value, an absent one
/// `{"absent":"why"}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Fact<T> {
    /// Not known or not there.
    Absent {
        /// Why, in one line.
        absent: String,
    },
    /// The value.
    Known(T),
}

impl<T> Fact<T> {
    /// An absent fact.
    pub fn absent(why: impl Into<String>) -> Fact<T> {
        Fact::Absent { absent: why.into() }
    }

    /// The value, if known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Fact::Known(value) => Some(value),
            Fact::Absent { .. } => None,
        }
    }
}

impl<T> Default for Fact<T> {
    fn default() -> Fact<T> {
        Fact::absent("not recorded")
    }
}

impl<T, E: fmt::Display> From<Result<T, E>> for Fact<T> {
    fn from(result: Result<T, E>) -> Fact<T> {
        match result {
            Ok(value) => Fact::Known(value),
            Err(error) => Fact::absent(error.to_string()),
        }
    }
}

impl<T: fmt::Display> fmt::Display for Fact<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fact::Known(value) => write!(f, "{value}"),
            Fact::Absent { absent } => write!(f, "absent: {absent}"),
        }
    }
}

/// What the host offers that a measurement or a strategy may need. Known facts
/// hold a short detail (`yes`, a mode, a count); absent ones the reason.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Features {
    /// Memory protection keys.
    pub pku: Fact<String>,
    /// Hardware performance counters.
    pub pmu: Fact<String>,
    /// userfaultfd with the SIGBUS feature.
    pub userfaultfd: Fact<String>,
    /// Loading eBPF programs.
    pub bpf: Fact<String>,
    /// Transparent huge pages: the mode in force.
    pub thp: Fact<String>,
}

impl Features {
    /// The features by name, for listing.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Fact<String>)> {
        [
            ("pku", &self.pku),
            ("pmu", &self.pmu),
            ("userfaultfd", &self.userfaultfd),
            ("bpf", &self.bpf),
            ("thp", &self.thp),
        ]
        .into_iter()
    }
}

/// The machine a campaign ran on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Host {
    /// The CPU's own name for itself.
    pub cpu_model: Fact<String>,
    /// Which it is: vendor, family, model and stepping, or an Arm's parts.
    pub cpu_kind: Fact<String>,
    /// What it and the kernel offer, by the names of `/proc/cpuinfo`.
    pub cpu_flags: Fact<String>,
    /// Instruction set: `x86_64`, `aarch64`…
    pub arch: Fact<String>,
    /// Logical CPUs this process may use.
    pub cpus_logical: Fact<u32>,
    /// Physical cores behind them.
    pub cores_physical: Fact<u32>,
    /// Packages.
    pub sockets: Fact<u32>,
    /// Kernel name and release.
    pub kernel: Fact<String>,
    /// The distribution's name for itself.
    pub os: Fact<String>,
    /// Installed memory in bytes.
    pub memory_bytes: Fact<u64>,
    /// Bytes of a page.
    pub page_bytes: Fact<u64>,
    /// The hypervisor, or `none` on bare metal.
    pub hypervisor: Fact<String>,
    /// Microcode revision.
    pub microcode: Fact<String>,
    /// Frequency governor of the CPUs measured on.
    pub governor: Fact<String>,
    /// Whether opportunistic frequencies are allowed.
    pub turbo: Fact<String>,
    /// The kernel's clock source.
    pub clock_source: Fact<String>,
    /// `vm.max_map_count`, mappings a process may have.
    pub map_count_max: Fact<u64>,
    /// Mitigations of CPU vulnerabilities by name.
    pub mitigations: Fact<BTreeMap<String, String>>,
    /// What the host offers.
    pub features: Features,
    /// Load averages over 1, 5 and 15 minutes when the campaign began.
    pub load_average: Fact<[f64; 3]>,
}

impl Host {
    /// Sixteen hexadecimal digits that are equal for campaigns on the same kind
    /// of machine and kernel, and say nothing else. FNV-1a over the facts that
    /// bear on time and do not change from minute to minute.
    pub fn fingerprint(&self) -> String {
        let parts = [
            self.cpu_model.to_string(),
            self.cpu_kind.to_string(),
            self.cpu_flags.to_string(),
            self.arch.to_string(),
            self.cpus_logical.to_string(),
            self.kernel.to_string(),
            self.memory_bytes.to_string(),
            self.microcode.to_string(),
            self.hypervisor.to_string(),
            self.features.thp.to_string(),
        ];
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in parts.join("\n").bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        format!("{hash:016x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_facts_keep_their_reason() {
        let host = Host {
            cpus_logical: Fact::Known(2),
            load_average: Fact::Known([0.5, 0.25, 0.0]),
            features: Features {
                pku: Fact::absent("pkey_alloc: EINVAL"),
                ..Features::default()
            },
            mitigations: Fact::Known(BTreeMap::from([(
                "meltdown".to_owned(),
                "Not affected".to_owned(),
            )])),
            ..Host::default()
        };
        let json = serde_json::to_string(&host).unwrap();
        assert!(
            json.contains(r#""pku":{"absent":"pkey_alloc: EINVAL"}"#),
            "{json}"
        );
        assert_eq!(serde_json::from_str::<Host>(&json).unwrap(), host);
    }

    #[test]
    fn the_fingerprint_ignores_what_changes_by_the_minute() {
        let quiet = Host {
            load_average: Fact::Known([0.0; 3]),
            ..Host::default()
        };
        let busy = Host {
            load_average: Fact::Known([9.0; 3]),
            ..Host::default()
        };
        let other = Host {
            kernel: Fact::Known("Linux 6.18".to_owned()),
            ..Host::default()
        };
        assert_eq!(quiet.fingerprint(), busy.fingerprint());
        assert_ne!(quiet.fingerprint(), other.fingerprint());
    }
}
