//! A first look at a program nobody told us anything about.
//!
//! Two runs answer what a campaign must know before it begins: does it run,
//! does it print the same each time (else outputs cannot be compared), does it
//! state a kernel time, and how long does it take.

use std::{path::Path, sync::atomic::AtomicBool, time::Duration};

use fathom_record::{FailureKind, Phase, protocol::Request};

use crate::{
    check::{Expected, check_output},
    driver::{DriveError, Driver},
    plan::{Plan, Task},
};

/// What the first look showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Whether both runs printed the same; the reference then holds it.
    pub is_repeatable: bool,
    /// Whether it states the time of its kernel.
    pub states_kernel: bool,
    /// What the second run took, nanoseconds.
    pub run_ns: u64,
}

/// Runs a task's program twice and keeps its output as `reference`.
///
/// # Errors
/// Why it does not run.
pub fn look(
    plan: &Plan,
    task: &Task,
    driver: &mut dyn Driver,
    reference: &Path,
    limit: Duration,
    stop: &AtomicBool,
) -> Result<Trial, DriveError> {
    let io = |error: std::io::Error| DriveError::failed(FailureKind::Io, error.to_string());
    let scratch = crate::session::scratch()?;
    let request: Request = plan.request(task, 0, 2, scratch.path());
    let conversation = driver.ask(&request, limit, stop)?;
    let counted: Vec<_> = conversation
        .iterations
        .iter()
        .filter(|one| one.counted)
        .collect();
    let [first, second] = &counted[..] else {
        let message = format!("counted {} iterations instead of 2", counted.len());
        return Err(DriveError::failed(FailureKind::Protocol, message));
    };
    let (Some(one), Some(other)) = (&first.stdout, &second.stdout) else {
        return Err(DriveError::failed(
            FailureKind::Protocol,
            "named no output to check",
        ));
    };
    // Under a name of its own until it is known to be worth keeping.
    let kept = scratch.path().join("reference");
    let same_as = Expected::SameAs(kept.clone());
    let wrong = |why| DriveError::failed(FailureKind::Io, why);
    let kernel_ns = check_output(one, &same_as).map_err(wrong)?;
    let is_repeatable = check_output(other, &same_as).is_ok();
    if is_repeatable {
        std::fs::copy(&kept, reference).map_err(io)?;
    }
    let run = second.phases.get(&Phase::Run);
    Ok(Trial {
        is_repeatable,
        states_kernel: kernel_ns.is_some(),
        run_ns: run.map_or(0, |span| span.wall_ns),
    })
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
        protocol::{Iteration, Job},
    };

    fn look_at(printed: [&'static str; 2]) -> (Result<Trial, DriveError>, bool) {
        let plan = plan(&["a"]);
        let folder = tempfile::tempdir().unwrap();
        let reference = folder.path().join("output");
        let mut driver = MockDriver::new(|request| {
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
            Ok(conversation)
        });
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
}
