//! Which processors a thread may run on.
//!
//! A measured thread stays on one processor, so that the scheduler's
//! migrations are not taken for differences between engines (Szewczyk et al.,
//! "Leaps and bounds", section 3.5).

use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The processors this thread may run on, in ascending order.
///
/// This is the *allowed* set (it respects `taskset`, cgroup cpusets and
/// containers), which may be smaller than what the machine has.
///
/// # Errors
/// What `sched_getaffinity(2)` reports.
pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .collect())
}

/// Keeps the calling thread on one processor from now on.
///
/// # Errors
/// `InvalidInput` for a number no mask can hold; otherwise what
/// `sched_setaffinity(2)` reports, above all `EINVAL` for a processor that is
/// absent or not allowed.
pub fn pin_thread(cpu: usize) -> io::Result<()> {
    pin_thread_to(&[cpu])
}

/// Keeps the calling thread, and what it starts, on some processors from now on.
///
/// # Errors
/// As [`pin_thread`]; `EINVAL` also for none.
pub fn pin_thread_to(cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= CpuSet::MAX_CPU {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("processor {cpu} is beyond what a mask can hold"),
            ));
        }
        set.set(cpu);
    }
    sched_setaffinity(None, &set)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_is_allowed_one_processor() {
        let first = allowed_cpus().unwrap()[0];
        // In a thread of its own: the mask outlives the test otherwise.
        let seen = std::thread::spawn(move || {
            pin_thread(first).unwrap();
            allowed_cpus().unwrap()
        })
        .join()
        .unwrap();
        assert_eq!(seen, [first]);
    }

    #[test]
    fn an_absent_processor_is_an_error_and_no_panic() {
        assert!(pin_thread(CpuSet::MAX_CPU - 1).is_err());
        assert!(pin_thread(usize::MAX).is_err());
        assert!(pin_thread_to(&[]).is_err());
    }
}
