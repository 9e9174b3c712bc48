//! What is shown while a campaign waits for other programs.

use std::io::IsTerminal;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fathom_bench::idle::{self, Demand, Waited};
use fathom_bench::plan::Task;
use fathom_bench::prepare::Prepared;
use fathom_bench::steadiness::{self, Steadiness};
use indicatif::ProgressBar;

use super::show::rough;

/// Waits until the processors that a campaign needs are idle, as long as it may.
pub fn wait_for(prepared: &Prepared, stop: &AtomicBool) {
    // Counts are the same on a busy machine: nothing to warn of.
    if prepared.counter.is_some() && prepared.wait_idle.is_zero() {
        return;
    }
    let needed = prepared.plan.tasks.iter().map(Task::processors);
    wait(needed.max().unwrap_or(1), prepared.wait_idle, stop);
}

/// Waits until so many processors are idle, for `limit` at most, and says so.
fn wait(needed: u32, limit: Duration, stop: &AtomicBool) {
    let is_terminal = std::io::stderr().is_terminal();
    let spinner = ProgressBar::no_length();
    let mut has_said = false;
    let waited = idle::wait(needed, limit, stop, |demand, waited| {
        let line = waiting(demand, limit.saturating_sub(waited));
        if is_terminal {
            spinner.set_message(line);
            spinner.tick();
        } else if !has_said {
            say!("{line}");
        }
        has_said = true;
    });
    spinner.finish_and_clear();
    match waited {
        Waited::Idle(time) if has_said => {
            say!("waited {} for other programs", rough(time));
        }
        Waited::Busy(demand) => say!("{}", busy(demand)),
        Waited::Idle(_) | Waited::Stopped => {}
    }
    // Nobody who measures at once is kept; what is busy was said.
    if matches!(waited, Waited::Idle(_)) && !limit.is_zero() {
        let seen = Steadiness::measure(steadiness::PERIOD);
        if seen.is_disturbed() {
            say!("{}", disturbed(seen));
        }
    }
}

fn disturbed(seen: Steadiness) -> String {
    format!(
        "warning: processors are idle, and yet most laps of a loop take {:.1} times the fastest: \
         something outside this machine slows it, and intervals will be wide (later, elsewhere, \
         or with a longer --budget they are narrower)",
        seen.factor()
    )
}

fn waiting(demand: Demand, left: Duration) -> String {
    format!(
        "{}; waiting up to {} (--wait-idle 0s measures at once)",
        in_words(demand),
        rough(left)
    )
}

fn busy(demand: Demand) -> String {
    let used = in_words(demand);
    format!("warning: {used}: times will be noisier than they need be")
}

fn in_words(demand: Demand) -> String {
    let Demand { used, cpus, .. } = demand;
    format!("machine busy: {used:.0} of {cpus} CPUs in use")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_is_told_for_what_and_how_long() {
        let demand = |used, needed| Demand {
            used,
            needed,
            cpus: 2,
        };
        assert_eq!(
            waiting(demand(1.94, 1), Duration::from_secs(59)),
            "machine busy: 2 of 2 CPUs in use; waiting up to 59 s (--wait-idle 0s measures at once)"
        );
        assert_eq!(
            busy(demand(1.0, 16)),
            "warning: machine busy: 1 of 2 CPUs in use: times will be noisier than they need be"
        );
        let seen = Steadiness {
            fastest_ns: 250_000,
            median_ns: 580_000,
        };
        assert!(disturbed(seen).contains(" take 2.3 times the fastest: "));
    }
}
