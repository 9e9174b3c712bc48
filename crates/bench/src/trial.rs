//! A trial run of a program nobody told us anything about.
//!
//! Two runs, in each thread that there is, answer what a campaign must know before it begins:
//! does it run, does it print the same each time (else outputs cannot be compared), does it
//! state a kernel time, and how long does it take. A program that reads the clock
//! may print the same in two runs of one second, and is run again in another one.
//! A program that does not run is not measured: what it said of that, and what may
//! help, is a [`Broken`].

use std::{
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::{Duration, SystemTime},
};

use fathom_record::{FailureKind, Phase, protocol::Iteration};
use fathom_sys::regular;

use crate::{
    check::{Expected, check_output},
    driver::{DriveError, Driver, one_line},
    plan::{Plan, Task},
    scratch::Scratch,
    session::lacking,
};

/// What the first look showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Whether all runs printed the same; the reference then holds it.
    pub is_repeatable: bool,
    /// Whether it states the time of its kernel.
    pub states_kernel: bool,
    /// What the last run took, nanoseconds.
    pub run_ns: u64,
}

/// A program that does not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("trial run failed: {engine}: {kind}: {message}{}", remedy.as_ref().map(|text| format!("; {text}")).unwrap_or_default())]
pub struct Broken {
    /// The engine it was tried on.
    pub engine: String,
    /// What kind of failure.
    pub kind: FailureKind,
    /// What became of it, in one line.
    pub message: String,
    /// The end of what it printed on standard error, a line each.
    pub stderr: Vec<String>,
    /// What is likely to help.
    pub remedy: Option<String>,
}

/// Lines of standard error that are shown at most.
const STDERR_LINES_MAX: usize = 12;

/// From one run to another that sees the clock say another second.
const ANOTHER_SECOND: Duration = Duration::from_millis(1_010);

/// Runs a task's program twice and keeps its output as `reference`.
///
/// # Errors
/// Why it does not run; nothing of that if it was stopped.
pub fn look(
    plan: &Plan,
    task: &Task,
    driver: &mut dyn Driver,
    reference: &Path,
    limit: Duration,
    stop: &AtomicBool,
) -> Result<Trial, Option<Box<Broken>>> {
    let broken = |error: DriveError, scratch: Option<&Path>| {
        let DriveError::Failed { kind, message } = error else {
            return None;
        };
        let stderr = scratch.map_or_else(Vec::new, last_words);
        Some(Box::new(Broken {
            engine: task.cell.sandbox.engine.clone(),
            kind,
            remedy: remedy(kind, &message, &stderr, plan, task),
            message,
            stderr,
        }))
    };
    let scratch = crate::session::scratch().map_err(|error| broken(error, None))?;
    let at = scratch.path();
    run_twice(plan, task, driver, at, reference, limit, stop)
        .map_err(|error| {
            let mut asked = lacking::Known::default();
            lacking::or_lacks(plan, task, driver, limit, stop, &mut asked, error)
        })
        .map_err(|error| broken(error, Some(at)))
}

/// Said of an output that takes much room where it is kept, to be compared with.
pub fn much_kept(reference: &Path) -> Option<String> {
    const MUCH_MB: u64 = 10;
    let mb = std::fs::metadata(reference).ok()?.len() / 1_000_000;
    (mb >= MUCH_MB).then(|| {
        format!(
            "it prints {mb} MB, which are kept in {} to compare with: --any-output keeps nothing",
            reference.display()
        )
    })
}

/// The end of what the program printed on standard error, in its last run.
fn last_words(scratch: &Path) -> Vec<String> {
    let files = std::fs::read_dir(scratch).into_iter().flatten().flatten();
    let mut files: Vec<_> = files
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("stderr")
        })
        .collect();
    files.sort();
    let written = files
        .iter()
        .rev()
        .filter_map(|path| regular::read(path).ok());
    let Some(bytes) = written.into_iter().find(|bytes| !bytes.is_empty()) else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let lines: Vec<String> = lines.map(one_line).collect();
    let from = lines.len().saturating_sub(STDERR_LINES_MAX);
    lines[from..].to_vec()
}

/// What programs say where a file is not theirs to open.
const NO_FILE: [&str; 7] = [
    "no such file",
    "not found",
    "pre-opened",
    "preopen",
    "bad file descriptor",
    "cannot open",
    "permission denied",
];

/// What is likely to help.
fn remedy(
    kind: FailureKind,
    message: &str,
    stderr: &[String],
    plan: &Plan,
    task: &Task,
) -> Option<String> {
    let said = stderr.join(" ").to_lowercase();
    let mut ways: Vec<&str> = Vec::new();
    match kind {
        FailureKind::Exit | FailureKind::Trap => {
            if kind == FailureKind::Exit {
                ways.push("`--allow-exit N` if it is to end so");
            }
            if plan.input.dirs.is_empty() && NO_FILE.iter().any(|words| said.contains(words)) {
                ways.push("`--dir HOST::GUEST` gives it a folder");
            }
            if task.args.is_empty() && kind == FailureKind::Exit {
                ways.push("its arguments go after `--`");
            }
            if plan.input.stdin.is_none() && kind == FailureKind::Exit {
                ways.push("`--stdin FILE` gives it input");
            }
        }
        FailureKind::Link if message.contains("_start") => {
            ways.push("build it as a command, not as a library");
        }
        FailureKind::Link => {
            ways.push("build it for wasm32-wasip1: only WASI preview 1 is provided");
        }
        FailureKind::Unsupported | FailureKind::Lacking => {
            ways.push("build it without that feature")
        }
        _ => {}
    }
    (!ways.is_empty()).then(|| ways.join(", "))
}

fn run_twice(
    plan: &Plan,
    task: &Task,
    driver: &mut dyn Driver,
    scratch: &Path,
    reference: &Path,
    limit: Duration,
    stop: &AtomicBool,
) -> Result<Trial, DriveError> {
    let io = |error: std::io::Error| DriveError::failed(FailureKind::Io, error.to_string());
    let request = plan.first_request(task, plan.laps(2), scratch);
    let began = SystemTime::now();
    let conversation = driver.ask(&request, limit, stop)?;
    let counted: Vec<_> = conversation
        .iterations
        .iter()
        .filter(|one| one.counted)
        .collect();
    if let Some(bad) = (conversation.iterations.iter()).find(|one| !plan.allows(one.exit)) {
        let message = format!("it ended with status {}", bad.exit);
        return Err(DriveError::failed(FailureKind::Exit, message));
    }
    let threads = task.cell.threads.max(1);
    let (first, others) = match &counted[..] {
        [first, others @ ..] if counted.len() == 2 * threads as usize => (first, others),
        _ => {
            let message = format!(
                "counted {} iterations instead of 2 in each of {threads} threads",
                counted.len()
            );
            return Err(DriveError::failed(FailureKind::Protocol, message));
        }
    };
    let printed = |one: &Iteration| {
        let nothing = || DriveError::failed(FailureKind::Protocol, "named no output to check");
        one.stdout.clone().ok_or_else(nothing)
    };
    // Under a name of its own until it is known to be worth keeping.
    let kept = scratch.join("reference");
    let same_as = Expected::SameAs(kept.clone());
    let wrong = |why| DriveError::failed(FailureKind::Io, why);
    let kernel_ns = check_output(&printed(first)?, &same_as).map_err(wrong)?;
    let mut is_repeatable = true;
    for other in others {
        is_repeatable &= check_output(&printed(other)?, &same_as).is_ok();
    }
    if is_repeatable && reads_clock(&task.artifact) {
        let again = again(plan, task, driver, began, limit, stop)?;
        is_repeatable = again.is_some_and(|(later, _scratch)| {
            let mut printed = later.iter();
            printed.all(|path| check_output(path, &same_as).is_ok())
        });
    }
    if is_repeatable && task.expected != Expected::Anything {
        keep(&kept, reference).map_err(io)?;
    }
    let last = others.last().unwrap_or(first);
    let run = last.phases.get(&Phase::Run);
    Ok(Trial {
        is_repeatable,
        states_kernel: kernel_ns.is_some(),
        run_ns: run.map_or(0, |span| span.wall_ns),
    })
}

/// Copies what was printed to where it is kept, at once: another process that wants the same
/// folder may compare with it already.
fn keep(printed: &Path, reference: &Path) -> std::io::Result<()> {
    let partial = reference.with_extension(format!("{}.partial", std::process::id()));
    let kept = std::fs::copy(printed, &partial).and_then(|_| std::fs::rename(&partial, reference));
    if kept.is_err() {
        let _ = std::fs::remove_file(&partial);
    }
    kept
}

/// Whether a module can ask what time it is: the name of the import stands in it.
fn reads_clock(module: &Path) -> bool {
    const NAME: &[u8] = b"clock_time_get";
    let bytes = regular::read(module).unwrap_or_default();
    bytes.windows(NAME.len()).any(|part| part == NAME)
}

/// What a task prints in a second of the clock that begins after `before`, in a process of its
/// own, and the folder where that is; nothing where it ends otherwise than it may.
///
/// # Errors
/// It does not run.
pub(crate) fn again(
    plan: &Plan,
    task: &Task,
    driver: &mut dyn Driver,
    before: SystemTime,
    limit: Duration,
    stop: &AtomicBool,
) -> Result<Option<(Vec<PathBuf>, Scratch)>, DriveError> {
    let io = |error: std::io::Error| DriveError::failed(FailureKind::Io, error.to_string());
    // A little more than a second: then the number of seconds is another.
    let passed = before.elapsed().unwrap_or_default();
    std::thread::sleep(ANOTHER_SECOND.saturating_sub(passed));
    let scratch = crate::session::scratch()?;
    let request = plan
        .request(task, 0, plan.laps(1), scratch.path())
        .map_err(io)?;
    let conversation = driver.ask(&request, limit, stop)?;
    let iterations = conversation.iterations.into_iter();
    let printed: Vec<PathBuf> = iterations
        .filter(|one| plan.allows(one.exit))
        .filter_map(|one| one.stdout)
        .collect();
    Ok((!printed.is_empty()).then_some((printed, scratch)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        driver::{Conversation, mock::MockDriver},
        plan::tests::plan,
    };
    use fathom_record::{
        Span,
        protocol::{Job, Request},
    };

    /// A whole answer whose iterations printed these.
    fn printing(request: &Request, printed: &[&str]) -> Conversation {
        let Job::Measure(measure) = &request.job else {
            panic!()
        };
        let mut conversation = Conversation::default();
        for (index, text) in printed.iter().enumerate() {
            let stdout = measure.scratch.join(index.to_string());
            std::fs::write(&stdout, text).unwrap();
            conversation.iterations.push(Iteration {
                thread: 0,
                index: index as u32,
                counted: true,
                phases: [(
                    Phase::Run,
                    Span {
                        wall_ns: 9,
                        cpu_ns: None,
                    },
                )]
                .into(),
                exit: 0,
                stdout: Some(stdout),
            });
        }
        conversation
    }

    fn look_at(printed: [&'static str; 2]) -> (Result<Trial, Option<Box<Broken>>>, bool) {
        let plan = plan(&["a"]);
        let folder = tempfile::tempdir().unwrap();
        let reference = folder.path().join("output");
        let mut driver = MockDriver::new(|request| Ok(printing(request, &printed)));
        let stop = AtomicBool::new(false);
        let limit = Duration::from_secs(1);
        let trial = look(&plan, &plan.tasks[0], &mut driver, &reference, limit, &stop);
        (trial, reference.exists())
    }

    #[test]
    fn what_a_program_is_like_is_seen() {
        let trial = |is_repeatable, states_kernel| Trial {
            is_repeatable,
            states_kernel,
            run_ns: 9,
        };
        assert_eq!(look_at(["x\n", "x\n"]), (Ok(trial(true, false)), true));
        assert_eq!(
            look_at(["at 1\n", "at 2\n"]),
            (Ok(trial(false, false)), false)
        );
        let kernel = [
            "fathom: answer=1 kernel_ns=5\n",
            "fathom: answer=1 kernel_ns=6\n",
        ];
        assert_eq!(look_at(kernel), (Ok(trial(true, true)), true));
    }

    #[test]
    fn every_thread_runs_a_program_twice() {
        let folder = tempfile::tempdir().unwrap();
        let reference = folder.path().join("output");
        let look_at = |threads: u32, printed: &[&str]| {
            let mut plan = plan(&["a"]);
            plan.tasks[0].cell.threads = threads;
            let mut driver = MockDriver::new(|request| Ok(printing(request, printed)));
            let (limit, stop) = (Duration::from_secs(1), AtomicBool::new(false));
            look(&plan, &plan.tasks[0], &mut driver, &reference, limit, &stop)
        };
        assert!(look_at(2, &["x\n"; 4]).unwrap().is_repeatable);
        assert!(look_at(100, &["x\n"; 200]).unwrap().is_repeatable);
        let one_differs = ["x\n", "x\n", "y\n", "x\n"];
        assert!(!look_at(2, &one_differs).unwrap().is_repeatable);
        for few in [1, 2, 3] {
            let error = look_at(2, &["x\n"; 4][..few]).unwrap_err().unwrap();
            let said = format!("counted {few} iterations instead of 2 in each of 2 threads");
            assert_eq!(error.message, said);
        }
    }

    #[test]
    fn much_output_that_is_kept_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("output");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(9_999_999).unwrap();
        assert_eq!(much_kept(&path), None);
        file.set_len(100_000_000).unwrap();
        let said = much_kept(&path).unwrap();
        assert!(
            said.starts_with("it prints 100 MB, which are kept in /"),
            "{said}"
        );
        assert_eq!(much_kept(&folder.path().join("gone")), None);
    }

    #[test]
    fn what_reads_the_clock_is_looked_at_in_another_second() {
        let folder = tempfile::tempdir().unwrap();
        for (imports, is_same, is_repeatable) in [
            ("clock_time_get", false, false),
            ("clock_time_get", true, true),
            ("random_get", false, true),
        ] {
            let mut plan = plan(&["a"]);
            let artifact = folder.path().join("a.wasm");
            std::fs::write(&artifact, format!("\0asm {imports} ")).unwrap();
            plan.tasks[0].artifact = artifact;
            // What a process prints: the number of whole seconds, or always the same.
            let mut asked = Vec::new();
            let mut driver = MockDriver::new(|request| {
                asked.push(std::time::Instant::now());
                let text = if is_same { 0 } else { asked.len() };
                Ok(printing(request, &[format!("{text}\n").as_str(); 2]))
            });
            let reference = folder.path().join("output");
            let stop = AtomicBool::new(false);
            let limit = Duration::from_secs(1);
            let trial = look(&plan, &plan.tasks[0], &mut driver, &reference, limit, &stop);
            assert_eq!(trial.unwrap().is_repeatable, is_repeatable, "{imports}");
            if imports == "clock_time_get" {
                drop(driver);
                assert!(asked[1] - asked[0] >= Duration::from_secs(1));
            }
        }
    }

    /// What is said of a program that ended like this and wrote that.
    fn broken(kind: FailureKind, message: &'static str, stderr: &'static str) -> Broken {
        let plan = plan(&["a"]);
        let mut driver = MockDriver::new(move |request| {
            let Job::Measure(measure) = &request.job else {
                panic!()
            };
            std::fs::write(measure.scratch.join("stderr.0.0"), stderr).unwrap();
            Err(DriveError::failed(kind, message))
        });
        let stop = AtomicBool::new(false);
        let (limit, nowhere) = (Duration::from_secs(1), Path::new("/nowhere"));
        let looked = look(&plan, &plan.tasks[0], &mut driver, nowhere, limit, &stop);
        *looked.unwrap_err().unwrap()
    }

    #[test]
    fn a_program_that_does_not_run_says_why_and_what_may_help() {
        let said = "reading\n\nin.txt: No such file or directory\n";
        let found = broken(FailureKind::Exit, "status 1", said);
        assert_eq!(
            found.stderr,
            ["reading", "in.txt: No such file or directory"]
        );
        let text = found.to_string();
        assert!(text.starts_with("trial run failed: fathom: "), "{text}");
        for part in ["status 1", "`--dir HOST::GUEST`", "after `--`"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        for (kind, message, part) in [
            (
                FailureKind::Link,
                "unknown import wasi:cli",
                "wasm32-wasip1",
            ),
            (
                FailureKind::Link,
                "no function _start to run",
                "as a command",
            ),
            (
                FailureKind::Unsupported,
                "gc is turned off",
                "without that feature",
            ),
        ] {
            let text = broken(kind, message, "").to_string();
            assert!(text.contains(part) && !text.contains("--dir"), "{text}");
        }
        let many = "x\n".repeat(100).leak();
        let found = broken(FailureKind::Trap, "unreachable", many);
        assert_eq!(found.stderr.len(), STDERR_LINES_MAX);
    }
}
