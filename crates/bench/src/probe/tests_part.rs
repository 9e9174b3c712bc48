//! A probe that has less time than it takes.

use super::*;

/// Answers the scenarios that it has, all right.
struct Right<'a> {
    plans: std::slice::Iter<'a, Scenario>,
}

impl Subject for Right<'_> {
    fn call_all(&mut self, _module: &[u8], calls: Vec<Call>) -> Result<Answers, SubjectError> {
        let plan = self.plans.next().expect("a scenario that was asked for");
        let outcomes = plan.steps.iter().map(|step| outcome_of(&step.wanted));
        Ok(Answers {
            outcomes: outcomes.take(calls.len()).collect(),
            ending: Ending::Done,
        })
    }
}

#[test]
fn who_is_slow_is_probed_in_part_and_said_to_be() {
    let first = [plan::scenario(specified, 0, Instructions::All)];
    let mut right = Right {
        plans: first.iter(),
    };
    let extent = Extent {
        narrow: true,
        wide: false,
        random: 0,
        seed: 0,
        examples: Extent::EXAMPLES,
        until: Some(Instant::now()),
    };
    let findings = probe(&mut right, extent, Guarantee::Exact, &mut |_| {}).unwrap();
    assert!(findings.accesses > 0, "the first is always tried");
    assert!(findings.part_percent.is_some_and(|part| part < 100));
    assert!(findings.is_kept());
    let record = findings.record(&sandbox("other"));
    assert!(record.part_percent.is_some() && !record.is_unsound());
}
