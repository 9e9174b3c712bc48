//! `fathom suite web` on applications made here: what is recorded is measured, the rest is said,
//! and earlier campaigns are set beside.

mod common;
#[path = "common/prints.rs"]
mod prints;

use std::{fs, process::Output};

use common::Home;
use prints::prints;

const RECORDS: &str = "python3 workloads/build.py --suite web";

/// A home with a suite of two applications, of which these are recorded.
fn home(recorded: &[&str]) -> Home {
    let home = Home::bare();
    let mut described = "name = \"web\"\nvariants = [\"wasm\"]\n".to_owned();
    for name in ["jq", "gofmt"] {
        described.push_str(&format!(
            "[[workload]]\nname = \"{name}\"\nwhy = \"{name} for this test\"\n\
             stdout = \"fathom replay: {name}\\n\"\n"
        ));
    }
    home.write("workloads/web/suite.toml", described);
    for name in recorded {
        let wasm = wat::parse_str(prints(&format!("fathom replay: {name}"))).unwrap();
        home.write(&format!("workloads/web/build/wasm/{name}.wasm"), wasm);
    }
    home
}

fn measure(home: &Home, words: &[&str]) -> Output {
    let fixed = ["suite", "web", "--wait-idle", "0s", "--no-probe"];
    home.fathom(&[&fixed, words].concat())
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Refused in one line with this in it.
fn refused(output: &Output, part: &str) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains(part), "{said}");
}

#[test]
fn where_nothing_is_recorded_it_says_what_records() {
    let home = home(&[]);
    for words in [&[][..], &["--quick"], &["--workloads", "gofmt"]] {
        refused(&measure(&home, words), RECORDS);
    }
}

#[test]
fn what_is_recorded_is_measured_and_the_rest_is_said() {
    let home = home(&["jq"]);
    let output = measure(&home, &["--rounds", "1", "--out", "r"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let campaign = home.campaign("r");
    let cells = campaign.header.cells.iter();
    let mut rows: Vec<String> = cells.map(|cell| cell.id().as_str().to_owned()).collect();
    rows.sort();
    assert_eq!(
        rows,
        [
            "fathom/auto/speed/web:jq/wasm//t1",
            "fathom/auto/speed/web:jq/wasm//t1/control",
            "fathom/auto/speed:tiered/web:jq/wasm//t1",
        ]
    );
    let page = fs::read_to_string(home.path("r/web.md")).unwrap();
    for part in [
        "| jq          | jq for this test | too few rounds to say |",
        &format!("- gofmt: not recorded: {RECORDS} --kernel gofmt\n"),
        "- fathom llvm: clang takes minutes",
        "Whether other suites predict this order is said by",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("  jq  too few rounds to say"), "{printed}");
    // By name there is no way around it.
    let named = measure(&home, &["--workloads", "jq,gofmt", "--out", "s"]);
    refused(&named, RECORDS);
}

#[test]
fn earlier_campaigns_are_set_beside_and_go_where_the_results_go() {
    let home = home(&["jq", "gofmt"]);
    let few = ["--rounds", "1", "--engines", "fathom:trap", "--out"];
    assert!(
        measure(&home, &[&few[..], &["earlier"]].concat())
            .status
            .success()
    );
    let beside = measure(&home, &[&few[..], &["r", "--against", "earlier"]].concat());
    assert!(beside.status.success(), "{}", stderr(&beside));
    let kept = fs::read(home.path("r/against-web.jsonl")).unwrap();
    assert_eq!(kept, fs::read(home.path("earlier/samples.jsonl")).unwrap());
    // One round is too few to be in an order.
    let says = "says nothing of the applications: 0 rows in both campaigns with 5 rounds";
    let page = || fs::read_to_string(home.path("r/web.md")).unwrap();
    assert!(page().contains(says), "{}", page());
    // The same of a campaign that is over, and from its folder alone.
    fs::remove_file(home.path("r/against-web.jsonl")).unwrap();
    let report = |words: &[&str]| home.fathom(&[&["report"], words].concat());
    for words in [
        &["r", "--pages", "--against", "earlier"][..],
        &["r", "--pages"],
    ] {
        fs::remove_file(home.path("r/web.md")).unwrap();
        let output = report(words);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(page().contains(says), "{}", page());
    }
    refused(
        &measure(&home, &["--against", "nowhere"]),
        "nowhere: No such file",
    );
    refused(
        &measure(&home, &["--against", "workloads"]),
        "is it a results folder?",
    );
    assert!(measure(&home, &["--resume", "r"]).status.code() == Some(2));
    let resumed = home.fathom(&[
        "suite",
        "--resume",
        "r",
        "--rounds",
        "2",
        "--wait-idle",
        "0s",
    ]);
    assert!(resumed.status.success(), "{}", stderr(&resumed));
    assert!(page().contains(says), "{}", page());
    // Nothing else has such a page.
    let bench = [
        "bench",
        "web",
        "--engines",
        "fathom:trap",
        "--rounds",
        "1",
        "--no-probe",
    ];
    assert!(
        home.fathom(&[&bench[..], &["--wait-idle", "0s", "--out", "b"]].concat())
            .status
            .success()
    );
    let said = report(&["b", "--against", "earlier"]);
    refused(
        &said,
        "--against: a campaign of `suite` is not set beside others",
    );
}
