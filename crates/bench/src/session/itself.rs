//! Is a wrong output another engine's, or another each time? An engine that differs from
//! itself shows that the program's output cannot be compared, and says nothing of an engine.

use std::{
    path::Path,
    sync::atomic::AtomicBool,
    time::{Duration, SystemTime},
};

use fathom_record::FailureKind;

use crate::{
    check::{Expected, check_output},
    driver::{Conversation, DriveError, Driver},
    plan::{Plan, Task},
    trial,
};

/// What is said besides of a program that is given folders.
const FOLDERS: &str =
    "where that may be, as with the order of a folder's files, --any-output compares no output";

/// What was asked of a driver, and its answer.
pub struct Answered<'a> {
    /// How long it might take.
    pub limit: Duration,
    /// Whether the user wants to stop.
    pub stop: &'a AtomicBool,
    /// When it was asked.
    pub begun: SystemTime,
    /// What it said.
    pub conversation: &'a Conversation,
}

/// The failure of a cell whose output is not the first engine's: that one, or, where the same
/// engine prints something else in another second, that the output changes from run to run.
pub fn or_varies(
    plan: &Plan,
    task: &Task,
    driver: &mut dyn Driver,
    asked: Answered<'_>,
    wrong: DriveError,
) -> DriveError {
    let is_wrong = matches!(
        wrong,
        DriveError::Failed {
            kind: FailureKind::WrongAnswer,
            ..
        }
    );
    let is_compared = matches!(task.expected, Expected::SameAs(_));
    let printed = asked.conversation.iterations.iter();
    let mut printed = printed.filter_map(|one| one.stdout.clone());
    let Some(own) = printed.next().filter(|_| is_wrong && is_compared) else {
        return wrong;
    };
    let same_as_own = Expected::SameAs(own);
    let differs = |path: &Path| check_output(path, &same_as_own).is_err();
    let differs = printed.any(|path| differs(&path))
        || match trial::again(plan, task, driver, asked.begun, asked.limit, asked.stop) {
            Ok(Some((later, _scratch))) => later.iter().any(|path| differs(path)),
            Ok(None) | Err(DriveError::Failed { .. }) => false,
            Err(DriveError::Stopped) => return DriveError::Stopped,
        };
    if !differs {
        let may_list = plan.config.module.is_some() && !plan.input.dirs.is_empty();
        return match wrong {
            DriveError::Failed { kind, message } if may_list => {
                DriveError::failed(kind, format!("{message}; {FOLDERS}"))
            }
            other => other,
        };
    }
    let remedy = match plan.config.module {
        Some(_) => "measure it with --any-output, which does not compare outputs",
        None => "outputs of such a program cannot be compared",
    };
    let message = format!("its output changes from run to run: {remedy}");
    DriveError::failed(FailureKind::WrongAnswer, message)
}
