//! Libraries measured: a program is made of them that any engine runs, and says what they
//! returned.

use std::path::Path;
use std::process::{Command, Output};

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
