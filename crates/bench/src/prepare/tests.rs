//! What is read from the design, and what the user says instead.

use std::fs;

use super::*;
use crate::{
    experiment::Subject,
    request::{Length, Library, OwnModule},
    results::Results,
};

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

/// A user's own program, prepared to be measured into a folder.
fn prepared(out: &Path) -> Prepared {
    let own = OwnModule {
        path: PathBuf::from("/nowhere/app.wasm"),
        wasm: wat::parse_str("(module (memory (export \"memory\") 1) (func (export \"_start\")))")
            .unwrap(),
        is_made: true,
        args: Vec::new(),
        library: Library::default(),
    };
    let request = Request {
        out: Some(out.to_owned()),
        ..Request::new(Subject::module(own), PathBuf::from("/"))
    };
    prepare(&request, &["bench".to_owned()], "0").unwrap()
}

#[test]
fn of_two_campaigns_in_a_new_folder_one_begins_and_stays() {
    for is_first_to_begin in [true, false] {
        let root = tempfile::tempdir().unwrap();
        let out = root.path().join("results/r");
        // Both find no folder there.
        let [mut first, mut second] = [prepared(&out), prepared(&out)];
        first.claim().unwrap();
        second.claim().unwrap();
        fs::write(out.join("output.stdout"), "printed").unwrap();
        let (winner, loser) = match is_first_to_begin {
            true => (&mut first, &mut second),
            false => (&mut second, &mut first),
        };
        let results = winner.begin().unwrap();
        let files = || {
            let all = fs::read_dir(&out).unwrap().flatten();
            let each = all.filter(|entry| entry.path().is_file());
            let each = each.map(|entry| (entry.file_name(), fs::read(entry.path()).unwrap()));
            each.collect::<BTreeMap<_, _>>()
        };
        let before = files();
        let error = loser.begin().unwrap_err().to_string();
        assert!(error.contains("r holds a campaign already: "), "{error}");
        loser.take_away();
        assert_eq!(files(), before);
        assert!(before.len() >= 2, "{before:?}");
        drop(results);
        Results::read(&out).unwrap();
    }
}

#[test]
fn of_a_campaign_that_does_not_begin_nothing_is_left() {
    let root = tempfile::tempdir().unwrap();
    let out = root.path().join("results/r");
    let mut own = prepared(&out);
    own.claim().unwrap();
    own.take_away();
    assert!(!root.path().join("results").exists());
    // A folder that was there before stays.
    fs::create_dir_all(&out).unwrap();
    own = prepared(&out);
    own.claim().unwrap();
    own.take_away();
    assert!(out.exists());
}
