//! Counts against what programs are known to do. Where the kernel cannot be asked, each
//! test says so.

use std::process::{Command, Stdio};

use super::*;

fn traced(script: &str) -> Option<Kernel> {
    let tracer = match Tracer::attach() {
        Ok(tracer) => tracer,
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            return None;
        }
    };
    tracer.follow();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]).stdout(Stdio::null());
    assert!(command.status().unwrap().success());
    Some(tracer.answer().unwrap())
}

#[test]
fn a_process_and_what_it_starts_are_counted_from_their_execution_on() {
    let Some(kernel) = traced("/bin/true; /bin/true; echo a >/dev/null; (exit 0)") else {
        return;
    };
    let counts = kernel.counts();
    assert_eq!(counts["execve"], 3, "{counts:?}");
    assert_eq!(counts["write"], 1, "{counts:?}");
    assert_eq!(counts.get("exit_group"), None, "it does not come back");
    let ended: u64 = kernel.threads.iter().map(|thread| thread.unfinished).sum();
    assert_eq!((kernel.threads.len(), ended), (4, 4));
    assert!(kernel.threads.iter().all(|thread| !thread.is_running));
    assert!(kernel.threads.iter().all(|thread| thread.faults_user > 0));
    assert!(!kernel.lost.any(), "{:?}", kernel.lost);
    let write = &kernel.by_name()["write"];
    assert_eq!((write.bytes, write.failed), (Some(2), 0));
    for call in &kernel.calls {
        let times = &call.times;
        assert_eq!(times.buckets.iter().sum::<u64>(), times.count, "{call:?}");
        assert!(times.min_ns <= times.max_ns && times.max_ns <= times.total_ns);
    }
}

#[test]
fn calls_that_fail_and_time_that_is_waited_are_told() {
    let Some(kernel) = traced("cat /nonexistent/x 2>/dev/null; sleep 0.05; true") else {
        return;
    };
    let calls = kernel.by_name();
    let opened = calls.get("openat").or(calls.get("open")).unwrap();
    assert!(opened.failed >= 1, "{opened:?}");
    let slept = calls["clock_nanosleep"].times.total_ns;
    assert!(slept >= 50_000_000, "{slept}");
    let waited: u64 = kernel.threads.iter().map(|t| t.in_calls.total_ns).sum();
    assert!(waited >= 50_000_000, "{waited}");
}

#[test]
fn a_call_that_its_thread_does_not_survive_is_not_counted() {
    let script = "sleep 9 & sleep 0.2; kill -9 $!; wait $!; true";
    let Some(kernel) = traced(script) else {
        return;
    };
    assert_eq!(kernel.counts()["clock_nanosleep"], 1);
    let unfinished: u64 = kernel.threads.iter().map(|thread| thread.unfinished).sum();
    assert_eq!((kernel.threads.len(), unfinished), (3, 3));
    // One that is cut short and goes on is.
    let script = "trap : USR1; (sleep 0.2; kill -USR1 $$) & wait; true";
    let Some(kernel) = traced(script) else {
        return;
    };
    assert!(kernel.by_name()["wait4"].failed >= 1, "{:?}", kernel.calls);
}

#[test]
fn two_traces_at_once_see_their_own() {
    let [one, two] = ["echo a >/dev/null", "echo b >/dev/null; echo c >/dev/null"];
    let (one, two) = std::thread::scope(|scope| {
        let one = scope.spawn(|| traced(one));
        let two = scope.spawn(|| traced(two));
        (one.join().unwrap(), two.join().unwrap())
    });
    let (Some(one), Some(two)) = (one, two) else {
        return;
    };
    assert_eq!((one.counts()["write"], two.counts()["write"]), (1, 2));
}

#[test]
fn who_is_not_followed_is_not_counted() {
    let Ok(tracer) = Tracer::attach() else {
        return eprintln!("SKIPPED: no privilege");
    };
    assert!(Command::new("/bin/true").status().unwrap().success());
    assert_eq!(tracer.answer().unwrap(), Kernel::default());
}
