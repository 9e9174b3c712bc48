//! What is read from the design, and what the user says instead.

use super::*;
use crate::{experiment::Subject, request::Length};

fn request(word: &str, duration: Length) -> Request {
    Request {
        duration,
        ..Request::new(Subject::word(word), PathBuf::from("/"))
    }
}

#[test]
fn a_budget_is_the_designs_unless_something_else_is_said() {
    let of = |word: &str, duration: Length| pace(&request(word, duration));
    let (suite, growth) = (
        of("polybench", Length::default()),
        of("growth", Length::default()),
    );
    assert_eq!(suite.budget, Some(Duration::from_secs(660)));
    assert_eq!(growth.budget, Some(Duration::from_secs(240)));
    assert_eq!((suite.iterations_max, growth.iterations_max), (5, 1000));
    let rounds = Length {
        rounds: Some(2),
        iterations: Some(1),
        ..Length::default()
    };
    let few = of("growth", rounds);
    assert_eq!((few.budget, few.cell_target), (None, None));
    let both = Length {
        budget: Some(Duration::from_secs(5)),
        ..rounds
    };
    assert_eq!(of("growth", both).budget, Some(Duration::from_secs(5)));
    let quick = Length {
        is_quick: true,
        ..Length::default()
    };
    assert_eq!(of("polybench", quick).budget, Some(BUDGET_QUICK));
}
