//! `fathom reproduce leaps-and-bounds --spec`, on a made-up copy in the layout that SPEC
//! documents, with programs of ours: the real sources were never built here.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use fathom_bench::results::Results;
use fathom_record::FailureKind;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Whether the compiler that makes programs of it is here.
fn has_compiler() -> bool {
    let found = Path::new(ROOT).join(".tools/zig/ziglang/zig").is_file();
    if !found {
        println!("SKIPPED: no compiler; python3 workloads/setup.py");
    }
    found
}

fn made_up_copy(at: &Path) {
    let script = Path::new(ROOT).join("workloads/checks/made_up_spec.py");
    let made = Command::new("python3").arg(script).arg(at).status();
    assert!(made.unwrap().success());
}

fn reproduce(words: &[&str], copy: &Path, out: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.env("FATHOM_HOME", ROOT);
    command.args(["reproduce", "--wait-idle", "0s"]);
    command.args(words).arg("--spec").arg(copy);
    command.arg("--out").arg(out).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_copy_is_built_run_and_held_against_what_it_says() {
    if !has_compiler() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [copy, out] = ["copy", "out"].map(|name| folder.path().join(name));
    made_up_copy(&copy);
    let wrong = "benchspec/CPU/544.nab_r/data/test/output/hkrdenq.out";
    fs::write(copy.join(wrong), "hkrdenq energy 99.0\n").unwrap();
    let words = "leaps-and-bounds --spec-size test --threads 1 --rounds 1 --no-probe \
                 --workloads 505.mcf_r,519.lbm_r,544.nab_r --engines fathom:guard,native";
    let words: Vec<&str> = words.split_whitespace().collect();
    let output = reproduce(&words, &copy, &out);
    let campaign = Results::read(&out).unwrap();
    let failures: Vec<_> = campaign.failures.iter().collect();
    assert!(!failures.is_empty(), "{}", said(&output));
    for failure in failures {
        assert_eq!(failure.kind, FailureKind::WrongAnswer, "{failure:?}");
        let says = "line 1 is `hkrdenq energy 31.6228` instead of `hkrdenq energy 99.0`";
        assert!(failure.message.contains(says), "{failure:?}");
        assert!(
            failure
                .cell
                .as_ref()
                .unwrap()
                .as_str()
                .contains("544.nab_r")
        );
    }
    let timed = |name: &str| {
        let mut samples = campaign.samples.iter();
        samples.any(|sample| sample.cell.as_str().contains(name))
    };
    assert!(timed("505.mcf_r/wasm/test") && timed("505.mcf_r/native/test"));
    assert!(timed("519.lbm_r/wasm/test") && !timed("544.nab_r"));
    let page = fs::read_to_string(out.join("leaps-and-bounds.md")).unwrap();
    for words in [
        "525.x264_r: absent: another program",
        "a SPEC result: this is none",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn what_is_no_copy_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let refused = |words: &[&str], copy: &str, says: &str| {
        let output = reproduce(words, &folder.path().join(copy), &out);
        assert_eq!(output.status.code(), Some(1));
        let text = said(&output);
        assert!(text.lines().count() == 1 && text.contains(says), "{text}");
    };
    refused(
        &["libsodium-2023"],
        "",
        "no part of SPEC CPU is built for libsodium-2023",
    );
    if !has_compiler() {
        return;
    }
    refused(&["leaps-and-bounds"], "nowhere", "no benchspec/CPU in it");
    let words = ["leaps-and-bounds", "--workloads", "500.perlbench_r"];
    refused(&words, "", "500.perlbench_r is not run here: setjmp");
    assert!(!out.exists());
}
