//! What system calls are called.

/// `NUMBER NAME` lines of this instruction set.
const TABLE: &str = match () {
    #[cfg(target_arch = "x86_64")]
    () => include_str!("calls_x86_64.txt"),
    #[cfg(target_arch = "aarch64")]
    () => include_str!("calls_aarch64.txt"),
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    () => include_str!("calls_riscv64.txt"),
};

/// Calls whose positive result is a number of bytes that went through them.
const TRANSFERS: [&str; 21] = [
    "read",
    "write",
    "pread64",
    "pwrite64",
    "readv",
    "writev",
    "preadv",
    "pwritev",
    "preadv2",
    "pwritev2",
    "sendto",
    "recvfrom",
    "sendmsg",
    "recvmsg",
    "sendfile",
    "splice",
    "tee",
    "vmsplice",
    "copy_file_range",
    "getrandom",
    "getdents64",
];

/// The name of a system call; its number where it is newer than the table.
pub fn name(number: u32) -> String {
    let named = TABLE.lines().find_map(|line| {
        let (of, name) = line.split_once(' ')?;
        (of.parse::<u32>().ok()? == number).then_some(name)
    });
    named.map_or_else(|| format!("syscall_{number:#x}"), str::to_owned)
}

/// Whether a call's result is a number of bytes.
pub fn is_transfer(name: &str) -> bool {
    TRANSFERS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_their_names() {
        let all: Vec<String> = (0..470).map(name).collect();
        for known in TRANSFERS {
            let there = all.iter().any(|name| name == known);
            assert!(there, "{known}");
        }
        assert_eq!(name(99_999), "syscall_0x1869f");
        #[cfg(target_arch = "x86_64")]
        assert_eq!((name(0), name(231)), ("read".into(), "exit_group".into()));
    }
}
