//! Libraries measured: a program is made of them that any engine runs, and says what they
//! returned.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use fathom_bench::results::Results;
use fathom_record::Metric;

fn fathom(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fathom"))
        .current_dir(folder)
        .args(words)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_function_is_measured_and_its_results_are_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let module = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/library.in/host.wat");
    let words = [
        "bench",
        module,
        "--stub-imports",
        "--setup",
        "prepare",
        "--invoke",
        "sum",
        "--engines",
        "fathom:guard,fathom:trap",
        "--rounds",
        "1",
        "--no-probe",
        "--wait-idle",
        "0s",
        "--out",
        "out",
        "--",
        "2",
        "-1",
    ];
    let measured = fathom(folder.path(), &words);
    assert!(measured.status.success(), "{}", text(&measured.stderr));
    // What engines were given is there, and needs no host.
    let again = fathom(folder.path(), &["run", "out/module.wasm"]);
    assert_eq!(
        text(&again.stdout),
        "sum returned i32 0x2a\nsum returned i64 0xffffffffffffffff\nsum returned f64 0x8000000000000000\n"
    );
    let header = std::fs::read_to_string(folder.path().join("out/samples.jsonl")).unwrap();
    let options = r#""args":["--stub-imports","--setup","prepare","--invoke","sum","2","-1"]"#;
    assert!(header.contains(options));
    let resumed = fathom(
        folder.path(),
        &["bench", "--resume", "out", "--rounds", "2"],
    );
    assert!(resumed.status.success(), "{}", text(&resumed.stderr));
}

/// A library that makes arrays and lets them go.
const ARRAYS: &str = r#"(module (type $bytes (array (mut i8)))
  (func (export "garbage") (param $bytes i32) (param $times i32) (result i32) (local $sum i32)
    (loop $again
      (local.set $sum (i32.add (local.get $sum)
        (array.len (array.new_default $bytes (local.get $bytes)))))
      (br_if $again (local.tee $times (i32.sub (local.get $times) (i32.const 1)))))
    (local.get $sum)))"#;

#[test]
fn what_collecting_took_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("arrays.wat"), ARRAYS).unwrap();
    let once = [
        "--rounds",
        "1",
        "--iterations",
        "1",
        "--no-probe",
        "--wait-idle",
        "0s",
        "--out",
        "r",
    ];
    let one = ["--engines", "fathom:guard", "--invoke", "garbage"];
    let words = [
        &["bench", "arrays.wat"][..],
        &one,
        &once,
        &["--", "3000", "20000"],
    ];
    let output = fathom(folder.path(), &words.concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let campaign = Results::read(&folder.path().join("r")).unwrap();
    let metrics = &campaign.processes[0].metrics;
    let of = |metric| {
        *metrics
            .get(&metric)
            .unwrap_or_else(|| panic!("{metrics:?}"))
    };
    // 60 MB, and one for every 4 MiB.
    let count = of(Metric::Collections);
    assert!((10..20).contains(&count), "{count} collections");
    assert!(
        of(Metric::PausedNs) >= count && of(Metric::PauseP99Ns) > 0,
        "{metrics:?}"
    );
    assert!(
        (4 << 20..32 << 20).contains(&of(Metric::HeapBytes)),
        "{metrics:?}"
    );
    let report = fathom(folder.path(), &["report", "r", "--format", "markdown"]);
    // A column is as wide as what is in it.
    let page = text(&report.stdout);
    let words: Vec<&str> = page.split_whitespace().collect();
    assert!(
        words
            .join(" ")
            .contains("| collections | paused | pause of 99 % |"),
        "{page}"
    );
}
