//! `fathom suite bounds` on suites made here: what it measures, prints and keeps,
//! and how it goes on.

mod common;
#[path = "common/prints.rs"]
mod prints;

use std::{
    fs,
    process::{Command, Output},
};

use common::Home;
use fathom_engine::Bounds;
use fathom_record::Variant;
use prints::answers;

impl Home {
    /// With both suites of the selection, a workload each, and no engines.
    fn new(answer: &str) -> Home {
        let home = Home::bare();
        for (suite, workload) in [("polybench", "gemm"), ("pointers", "graph")] {
            for (variant, index) in [("wasm32", "i32"), ("wasm64", "i64")] {
                let wasm = wat::parse_str(answers(answer, index)).unwrap();
                let built = format!("workloads/{suite}/build/{variant}/mini/{workload}.wasm");
                home.write(&built, wasm);
            }
            let described = format!(
                "name = \"{suite}\"\n[[workload]]\nname = \"{workload}\"\nwhy = \"for this test\"\n\
                 [workload.answers]\nmini = \"00000000000000a1\"\n"
            );
            home.write(&format!("workloads/{suite}/suite.toml"), described);
        }
        home
    }

    fn suite(&self, words: &[&str]) -> Output {
        self.fathom(&[&["suite", "--wait-idle", "0s"], words].concat())
    }

    fn measure(&self, words: &[&str]) -> Output {
        let fixed = ["bounds", "--size", "mini", "--no-probe", "--warmup", "0"];
        self.suite(&[&fixed, words].concat())
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn every_strategy_meets_the_width_it_is_for_and_is_compared() {
    let home = Home::new("00000000000000a1");
    let output = home.measure(&["--rounds", "3", "--out", "r"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let campaign = home.campaign("r");
    assert!(campaign.failures.is_empty(), "{:?}", campaign.failures);
    let cells = &campaign.header.cells;
    for cell in cells {
        assert!(matches!(cell.variant, Variant::Wasm32 | Variant::Wasm64));
        if let Ok(bounds) = cell.sandbox.strategy.parse::<Bounds>() {
            assert!(
                bounds.supports(cell.variant.has_memory64()),
                "{}",
                cell.id()
            );
        }
    }
    // One for each suite and width.
    assert_eq!(cells.iter().filter(|cell| cell.is_control()).count(), 4);
    let table = String::from_utf8_lossy(&output.stdout);
    for part in [
        "64-bit memories: each strategy over `none`",
        "32-bit memories: each strategy over `none`",
        "fathom auto over guard: what users pay",
        "64-bit memories, workload by workload",
        "| guard64 ",
    ] {
        assert!(table.contains(part), "{part} in {table}");
    }
    let kept = fs::read_to_string(home.path("r/bounds.md")).unwrap();
    assert_eq!(kept, table);
    let report = |by: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        let output = command.arg("report").arg(home.path("r")).args(by).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    assert!(report(&[]).contains("each strategy over `none`"));
    assert!(report(&["--by", "compile"]).contains("compared by compile time"));
}

#[test]
fn it_goes_on_where_it_was_stopped() {
    let home = Home::new("00000000000000a1");
    let few = ["--bounds", "trap", "--rounds", "2", "--out", "r"];
    assert!(home.measure(&few).status.success());
    let whole = home.campaign("r");
    // The second round is taken away, as if it had been stopped before it.
    let samples = home.path("r/samples.jsonl");
    let text = fs::read_to_string(&samples).unwrap();
    let kept: Vec<&str> = text
        .lines()
        .filter(|line| !line.contains("\"round\":1"))
        .collect();
    fs::write(&samples, kept.join("\n") + "\n").unwrap();
    let output = home.suite(&["--resume", "r"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(home.campaign("r").processes.len(), whole.processes.len());
}

#[test]
fn a_wrong_answer_has_no_time_and_is_said() {
    let home = Home::new("00000000000000a2");
    let output = home.measure(&["--bounds", "trap", "--rounds", "1", "--out", "r"]);
    assert!(!output.status.success());
    assert!(stderr(&output).contains("wrong"), "{}", stderr(&output));
}

#[test]
fn an_engine_that_is_not_here_is_said_with_how_to_get_it() {
    let home = Home::new("00000000000000a1");
    let folder = home.path("engines/other");
    fs::create_dir(&folder).unwrap();
    let described = "name = \"other\"\ndisplay = \"Other\"\ncommand = [\"false\"]\n\
                     check = [\"false\"]\nstrategies = [\"guard\"]\n\
                     absent = \"fathom engines install other\"\n";
    fs::write(folder.join("engine.toml"), described).unwrap();
    let get = "fathom engines install other";
    let few = ["--bounds", "trap", "--rounds", "1"];
    // Nobody asked for it: one line, and no failure.
    let output = home.measure(&[&few[..], &["--out", "r"]].concat());
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches(get).count(), 1, "{said}");
    let named = ["--out", "s", "--engines", "fathom,other"];
    let output = home.measure(&[&few[..], &named].concat());
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let last = said.lines().last().unwrap();
    assert!(
        last.starts_with("requested but not measured: other: ") && last.ends_with(get),
        "{said}"
    );
    let output = home.measure(&[&few[..], &["--out", "t", "--engines", "other"]].concat());
    let said = stderr(&output);
    assert_eq!(
        (output.status.code(), said.lines().count()),
        (Some(1), 1),
        "{said}"
    );
    assert!(said.contains("nothing to measure: other: not installed") && said.contains(get));
}

#[test]
fn what_cannot_be_measured_is_one_line() {
    let home = Home::new("00000000000000a1");
    for (words, part) in [
        (
            &["--size", "mini", "--workloads", "gem"][..],
            "no workload `gem`; there are: gemm graph",
        ),
        (&["--size", "huge"], "gemm has no answer for size huge"),
    ] {
        let output = home.suite(&[&["bounds"], words].concat());
        let said = stderr(&output);
        assert!(!output.status.success() && said.contains(part), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    fs::remove_dir_all(home.path("workloads/pointers/build")).unwrap();
    let said = stderr(&home.measure(&[]));
    assert!(said.contains("build it with"), "{said}");
}
