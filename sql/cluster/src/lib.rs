//! Functions in WebAssembly in a Ballista cluster: our scheduler and our executors, which know
//! them, and a session whose queries run there.
//!
//! ```text
//!  Session ─logical plan─► scheduler ─stages─► executor, executor, …
//!     │ CREATE FUNCTION        │                   │
//!     └ its statement and its module, with their hash, in each plan: `Functions`
//! ```
//!
//! What must stay true: what has a hash is compiled once in a process, however many tasks bring
//! it; a module whose bytes are not those of its hash is refused.

mod codec;
mod functions;
pub mod node;

use std::path::PathBuf;

use ballista_core::extension::{SessionConfigExt, SessionStateExt};
use datafusion::{
    common::{DataFusionError, Result},
    prelude::SessionConfig,
};
use fathom_sql::{Session, session};

pub use functions::Functions;

/// A session whose queries run in the cluster of a scheduler; modules are looked for in `folder`
/// of this machine. Files that are selected from are to be found under the same name on all.
///
/// # Errors
/// DataFusion cannot be set up.
pub fn remote(scheduler: &str, config: SessionConfig, folder: PathBuf) -> Result<Session> {
    // The other planner of Ballista 55.0 can wait for ever for a stage that was begun anew because
    // an executor was lost.
    let config = config
        .upgrade_for_ballista()
        .with_ballista_adaptive_query_planner(false)
        .with_ballista_grpc_client_max_message_size(node::PLAN_BYTES_MAX);
    let config = codec::within(config, &Functions::new(1));
    let state = session::state(config)?.upgrade_for_ballista(format!("http://{scheduler}"))?;
    let session = Session::over(state, folder)?;
    Ok(session.with_module_bytes_max(functions::MODULE_BYTES_MAX))
}

/// An error in one line. Where a function failed in an executor, the line is what it is on one
/// machine, without what Ballista says of the job and the task.
pub fn in_a_line(error: &DataFusionError) -> String {
    let line = session::in_a_line(error);
    of_a_function(&line).map_or(line.clone(), str::to_owned)
}

/// `function f, …` of `Job 1 failed: …(External(function f, …))`.
fn of_a_function(line: &str) -> Option<&str> {
    const BEFORE: &str = "External(";
    let at = line.find(&format!("{BEFORE}function "))? + BEFORE.len();
    let (before, mut rest) = line.split_at(at);
    let count = |bracket| before.matches(bracket).count();
    for _ in count(')')..count('(') {
        rest = rest.strip_suffix(')')?;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_told_as_on_one_machine() {
        for (line, expected) in [
            (
                "Execution error: Job 1 failed: Task failed due to runtime execution error: \
                 DataFusionError(External(function f, row 7: it reports: a) (b))",
                Some("function f, row 7: it reports: a) (b"),
            ),
            (
                "Job (1) failed: DataFusionError(Context(\"a\", Shared(External(function f, row 7: trap)))",
                None,
            ),
            (
                "Job (1) failed: DataFusionError(Context(\"a\", Shared(External(function f, row 7: trap))))",
                Some("function f, row 7: trap"),
            ),
            ("Job 1 failed: External(other)", None),
            ("function f, row 7: trap", None),
        ] {
            assert_eq!(of_a_function(line), expected, "{line}");
        }
    }
}
