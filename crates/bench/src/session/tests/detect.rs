//! Rounds that go on until a difference would be found.

use super::*;

/// What is said of what is still to be measured.
#[derive(Default)]
struct Looked(Vec<Outlook>);

impl Observer for Looked {
    fn note(&mut self, note: Note<'_>) {
        if let Note::Outlook(outlook) = note {
            self.0.push(outlook);
        }
    }
}

#[test]
fn rounds_go_on_until_a_difference_would_be_found_and_that_is_said_before() {
    let mut bench = Bench::new(&["a"]);
    (bench.pace.detect, bench.pace.rounds_wanted) = (Some(0.02), 5);
    bench.stopping.seen = Some(0.06);
    bench.plan.config.rounds = 20;
    let mut looked = Looked::default();
    // 0.06 / √9 is enough, and is so in three rounds.
    let ended = bench.run_before(good, &mut looked);
    assert_eq!(ended, Ended::Detectable { rounds: 11 });
    let told = looked.0.iter().map(|one| (one.round, one.rounds));
    assert_eq!(told.collect::<Vec<_>>(), [(3, 11), (6, 11)]);
    assert!(looked.0.iter().all(Outlook::is_enough));
    // Where there are too few rounds, what is found by then is said.
    let mut bench = Bench::new(&["a"]);
    (bench.pace.detect, bench.pace.rounds_wanted) = (Some(0.02), 5);
    bench.stopping.seen = Some(0.06);
    bench.plan.config.rounds = 7;
    let mut looked = Looked::default();
    assert_eq!(bench.run_before(good, &mut looked), Ended::Complete);
    assert_eq!((looked.0[0].rounds, looked.0[0].limit), (7, None));
    assert!(!looked.0[0].is_enough() && looked.0[0].seen > 0.02);
    // What no round helps against ends it.
    let mut bench = Bench::new(&["a"]);
    (bench.pace.detect, bench.pace.rounds_wanted) = (Some(0.02), 5);
    (bench.stopping.seen, bench.stopping.limit) = (Some(0.06), 0.05);
    bench.plan.config.rounds = 40;
    let mut looked = Looked::default();
    let ended = bench.run_before(good, &mut looked);
    assert_eq!(ended, Ended::Limited { rounds: 5 });
    assert_eq!((looked.0[0].rounds, looked.0[0].limit), (5, Some(0.05)));
    // Nor is it said what nobody knows.
    bench.stopping.seen = None;
    let mut looked = Looked::default();
    bench.run_before(good, &mut looked);
    assert!(looked.0.is_empty());
}
