//! `fathom reproduce hardware-bounds-checking` on suites made here: what it measures, how it goes
//! on, and what it says of what is not here.

mod common;
#[path = "common/prints.rs"]
mod prints;

use std::{collections::BTreeSet, fs, process::Output};

use common::Home;
use fathom_record::{Setting, Variant};
use prints::answers;

impl Home {
    /// With a workload of each suite at two sizes, and no compiler of LLVM's.
    fn new() -> Home {
        let home = Home::bare();
        for (suite, workload) in [("polybench", "heat-3d"), ("pointers", "kmeans")] {
            for (variant, index) in [("wasm32", "i32"), ("wasm64", "i64")] {
                let wasm = wat::parse_str(answers("00000000000000a1", index)).unwrap();
                for size in ["small", "medium"] {
                    let built = format!("workloads/{suite}/build/{variant}/{size}/{workload}.wasm");
                    home.write(&built, &wasm);
                }
            }
            let described = format!(
                "name = \"{suite}\"\n[[workload]]\nname = \"{workload}\"\nwhy = \"for this test\"\n\
                 [workload.answers]\nsmall = \"00000000000000a1\"\nmedium = \"00000000000000a1\"\n"
            );
            home.write(&format!("workloads/{suite}/suite.toml"), described);
        }
        home
    }

    fn reproduce(&self, more: &[&str]) -> Output {
        let words = "reproduce hardware-bounds-checking --no-probe --wait-idle 0s --out r";
        let words: Vec<&str> = words.split(' ').chain(more.iter().copied()).collect();
        let mut command = self.command(&words);
        command.env("FATHOM_CLANG", "/nowhere/clang");
        command.output().unwrap()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_thesis_is_measured_gone_on_with_and_written_down() {
    let home = Home::new();
    let output = home.reproduce(&["--rounds", "2"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let whole = home.campaign("r");
    assert!(whole.failures.is_empty(), "{:?}", whole.failures);
    let cells = &whole.header.cells;
    let strategies = |workload: &str, variant| -> BTreeSet<&str> {
        let of = cells.iter().filter(|cell| cell.workload == workload);
        of.filter(|cell| cell.variant == variant)
            .map(|cell| cell.sandbox.strategy.as_str())
            .collect()
    };
    let narrow = strategies("heat-3d", Variant::Wasm32);
    let narrow: Vec<&str> = narrow.into_iter().filter(|name| *name != "pkeys").collect();
    let expected = ["guard", "none", "shadow", "shadow-compressed", "trap"];
    assert_eq!(narrow, expected);
    let wide = strategies("kmeans", Variant::Wasm64);
    assert!(
        wide.contains("debug") && wide.contains("shadow:test"),
        "{wide:?}"
    );
    assert!(!strategies("heat-3d", Variant::Wasm64).contains("debug"));
    assert!(cells.iter().any(|cell| cell.workload == "kmeans-small"));
    let generators: BTreeSet<&str> = cells
        .iter()
        .map(|cell| cell.sandbox.settings.value(Setting::Codegen))
        .collect();
    assert!(generators.contains("cranelift") && !generators.contains("llvm"));

    let page = home.path("r/hardware-bounds-checking.md");
    let text = fs::read_to_string(&page).unwrap();
    for part in [
        "- fathom llvm: absent: cannot run /nowhere/clang",
        "`guard64`, 64-bit",
        "Too few rounds to find anything here: 2 of",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("## Not measured"), "{text}");

    // The last round is taken away, as if it had been stopped before it.
    let samples = home.path("r/samples.jsonl");
    let lines = fs::read_to_string(&samples).unwrap();
    let kept = lines.lines().filter(|line| !line.contains("\"round\":1"));
    fs::write(&samples, kept.collect::<Vec<_>>().join("\n") + "\n").unwrap();
    let output = home.reproduce(&["--rounds", "2"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(home.campaign("r").processes.len(), whole.processes.len());
    let output = home.reproduce(&["--page-only", "--page", "docs"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(home.path("docs/hardware-bounds-checking.md").exists());
}

#[test]
fn what_cannot_be_measured_is_one_line() {
    let home = Home::new();
    for (words, part) in [
        (
            &["--workloads", "gem"][..],
            "no workload `gem`; there are: kmeans heat-3d",
        ),
        (&["--size", "huge"], "has no answer for size huge"),
        (
            &["--spec", "."],
            "no part of SPEC CPU is built for hardware-bounds-checking",
        ),
    ] {
        let output = home.reproduce(words);
        let said = stderr(&output);
        assert!(!output.status.success() && said.contains(part), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    fs::remove_dir_all(home.path("workloads/pointers/build")).unwrap();
    let said = stderr(&home.reproduce(&[]));
    assert!(said.contains("build it with"), "{said}");
}
