//! How many descriptors a server under load and its generator may have: a connection is one in
//! each of them.
//!
//! What must stay true: the soft limit is raised, which any process may do, and the hard one is
//! left as it is; whoever plans asks for the same number as whoever runs.

use fathom_record::FailureKind;
use fathom_runner::Refusal;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What a server and its generator have open beside connections, and a little more.
const OTHERS: u32 = 64;

/// As many as it takes.
pub(crate) fn needed(connections: u32) -> u32 {
    connections.saturating_add(OTHERS)
}

/// Why this process may not have so many connections; one line.
pub(crate) fn lacks(connections: u32) -> Option<String> {
    lacks_under(getrlimit(Resource::Nofile).maximum, connections)
}

fn lacks_under(hard: Option<u64>, connections: u32) -> Option<String> {
    let (needed, hard) = (u64::from(needed(connections)), hard?);
    (hard < needed).then(|| {
        format!(
            "{connections} connections take {needed} descriptors, and this process may have \
             {hard} (the hard limit: ulimit -Hn)"
        )
    })
}

/// Raises this process's limit, and that of all that it starts, if it is too low.
///
/// # Errors
/// It may not be raised so far.
pub(super) fn raise(connections: u32) -> Result<(), Refusal> {
    let refused = |message| Refusal::new(FailureKind::Unsupported, message);
    if let Some(why) = lacks(connections) {
        return Err(refused(why));
    }
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let needed = u64::from(needed(connections));
    if current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let raised = Rlimit {
        current: Some(needed),
        maximum,
    };
    setrlimit(Resource::Nofile, raised).map_err(|error| {
        refused(format!(
            "the limit of descriptors cannot be raised: {error}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_hard_limit_is_too_low_for_is_told_in_a_line() {
        assert_eq!(lacks_under(None, u32::MAX), None);
        assert_eq!(lacks_under(Some(1064), 1000), None);
        let why = lacks_under(Some(1063), 1000).unwrap();
        assert!(
            why.starts_with("1000 connections take 1064 descriptors"),
            "{why}"
        );
        assert!(why.contains("may have 1063"), "{why}");
    }
}
