//! The page of a campaign of applications, and what it says of earlier ones: from files made up
//! for this, against committed pages.

mod common;

use common::{data, golden};
use fathom_report::pages::Printed;
use fathom_report::{Format, Report, Style, against};

#[test]
fn who_is_first_and_whether_other_suites_say_so() {
    let report = Report::open(&data("web")).unwrap();
    for (name, text) in &report.output.files {
        golden(&format!("web/{name}"), text.as_bytes());
    }
    let Printed::Behind(text) = &report.output.printed else {
        panic!("{:?}", report.output.printed);
    };
    golden("web/web.txt", text.as_bytes());
    let all = report.render(Format::Terminal, Style::default()).unwrap();
    assert!(all.ends_with(text), "{all}");
}

#[test]
fn a_row_that_says_auto_has_its_place_where_another_campaign_names_the_strategy() {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(data("web")).unwrap() {
        let entry = entry.unwrap();
        let mut text = std::fs::read_to_string(entry.path()).unwrap();
        if entry.file_name() == "against-polybench-medium.jsonl" {
            text = text.replace("fathom/auto/", "fathom/guard/");
            text = text.replace(r#""strategy":"auto""#, r#""strategy":"guard""#);
        }
        std::fs::write(folder.path().join(entry.file_name()), text).unwrap();
    }
    let report = Report::open(folder.path()).unwrap();
    let page = |name: &str| {
        &report
            .output
            .files
            .iter()
            .find(|(one, _)| one == name)
            .unwrap()
            .1
    };
    let golden = std::fs::read_to_string(data("web/web.md")).unwrap();
    assert_eq!(page("web.md"), &golden);
}

#[test]
fn an_earlier_campaign_is_kept_once_and_only_where_it_is_of_use() {
    let folder = tempfile::tempdir().unwrap();
    let copies = || {
        let names = std::fs::read_dir(folder.path()).unwrap();
        names.count()
    };
    let header = |path: &str| {
        let results = fathom_report::Results::find(&data(path)).unwrap();
        results.header().unwrap()
    };
    let earlier = against::read(&[data("suite.jsonl"), data("web")]).unwrap();
    for _ in 0..2 {
        against::keep(&earlier, &header("web"), folder.path()).unwrap();
        assert_eq!(copies(), 2);
    }
    let other = against::read(&[data("web/against-polybench-medium.jsonl")]).unwrap();
    against::keep(&other, &header("web"), folder.path()).unwrap();
    assert_eq!(against::all(folder.path()).unwrap().len(), 3);
    assert!(
        folder
            .path()
            .join("against-polybench-medium-2.jsonl")
            .exists()
    );
    let refused = against::keep(&other, &header("suite.jsonl"), folder.path()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "--against: a campaign of `suite` is not set beside others"
    );
    std::fs::write(folder.path().join("against-x.jsonl"), "no campaign\n").unwrap();
    let broken = against::all(folder.path()).unwrap_err().to_string();
    assert!(
        broken.contains("against-x.jsonl: not a campaign"),
        "{broken}"
    );
}
