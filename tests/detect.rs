//! `fathom bench --detect`: rounds go on until a difference of a size would be found.
//!
//! What is measured are two engines made for these tests, whose times scatter by about a
//! per cent, as their seeds say: no verdict depends on a machine.

#[path = "common/prints.rs"]
mod prints;

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use prints::prints;

/// Two functions, which can be in either order, so that layouts vary.
const WORK: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\06\00\00\00")
  (data (i32.const 16) "hello\n")
  (func $say
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))
  (func (export "_start") (call $say)))"#;

/// A runner whose runs take 10 ms and, by the seed, up to 2 % less or more.
const RUNNER: &str = r#"
field() { printf %s "$request" | sed "s/.*\"$1\":\"\{0,1\}\([^\",]*\).*/\1/"; }
request=$(cat)
scratch=$(field scratch) warmup=$(field warmup) iterations=$(field iterations)
off=$(( $(printf %s "$(field seed)" | cksum | sed 's/ .*//') % 41 - 20 ))
say() { printf '%s\n' "$1" >&3; }
say '{"event":"hello","engine":"'$1'","version":"1"}'
say '{"event":"phase","phase":"compile","wall_ns":5,"cpu_ns":5}'
echo hello > "$scratch/out"
index=0
while [ $index -lt $((warmup + iterations)) ]; do
  counted=true; [ $index -ge $warmup ] || counted=false
  took=$((10000000 + 10000 * off))
  say '{"event":"iteration","thread":0,"index":'$index',"counted":'$counted',"exit":0,"phases":{"run":{"wall_ns":'$took',"cpu_ns":'$took'}},"stdout":"'$scratch'/out"}'
  index=$((index + 1))
done
say '{"event":"done"}'
"#;

/// A folder with a program, and a home with two engines.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("home/workloads")).unwrap();
    for name in ["one", "two"] {
        let engine = folder.path().join("home/engines").join(name);
        fs::create_dir_all(&engine).unwrap();
        let spec = format!(
            "name = \"{name}\"\ndisplay = \"{name}\"\n\
             command = [\"sh\", \"{{dir}}/run.sh\", \"{name}\"]\ncheck = [\"echo\", \"{name} 1\"]\n\
             strategies = [\"guard\"]\nabsent = \"it is there\"\n"
        );
        fs::write(engine.join("engine.toml"), spec).unwrap();
        fs::write(engine.join("run.sh"), RUNNER).unwrap();
    }
    fs::write(folder.path().join("work.wat"), WORK).unwrap();
    folder
}

fn fathom(words: &str, folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(words.split(' '))
        .env("FATHOM_HOME", folder.join("home"))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A campaign of the two, its status 0: the report, and what was said meanwhile.
fn bench(words: &str, folder: &Path) -> (String, String) {
    let output = fathom(&format!("bench {words} --no-probe --wait-idle 0s"), folder);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{words}: {said}");
    (text(&output.stdout), said)
}

/// The number between two texts.
fn between(text: &str, before: &str, after: &str) -> f64 {
    let (_, rest) = text
        .split_once(before)
        .unwrap_or_else(|| panic!("no {before} in {text}"));
    let (number, _) = rest.split_once(after).unwrap();
    number
        .trim()
        .parse()
        .unwrap_or_else(|_| panic!("{number} in {text}"))
}

const TWO: &str = "work.wat --engines one,two --iterations 1 --warmup 0 --seed 5";

#[test]
fn rounds_end_where_the_report_could_have_seen_what_was_asked_for() {
    let folder = folder();
    let at = folder.path();
    let (report, said) = bench(&format!("{TWO} --detect 2% --out found"), at);
    assert!(
        said.contains("measuring until a difference of 2.0 % would be found"),
        "{said}"
    );
    let forecast = between(&said, "judging by 3 rounds, it takes about ", " in all");
    let rounds = between(&said, "enough after ", " rounds");
    assert!(
        rounds >= 5.0 && forecast >= 5.0 && forecast < 8.0 * rounds,
        "{said}"
    );
    // It is the report's own figure, and one round fewer was not enough.
    let seen = between(
        &report,
        "Smallest detectable difference (80 % power): ",
        " %",
    );
    assert!(seen <= 2.0, "{report}");
    let told = format!("a difference of {seen:.1} % would have been found (80 % power), 2.0 %");
    assert!(said.contains(&told), "{told}: {said}");
    // A campaign that is there goes on to more.
    let finer = fathom("bench --resume found --detect 1.5% --wait-idle 0s", at);
    let said = text(&finer.stderr);
    assert!(
        between(&said, "enough after ", " rounds") > rounds,
        "{said}"
    );
}

#[test]
fn time_that_is_up_is_said_with_what_could_have_been_found() {
    let folder = folder();
    let (report, said) = bench(
        &format!("{TWO} --detect 0.01% --budget 8s --out short"),
        folder.path(),
    );
    assert!(
        said.contains("% would be found (80 % power), and not 0.01 %"),
        "{said}"
    );
    assert!(said.contains("time was up after "), "{said}");
    let seen = between(
        &report,
        "Smallest detectable difference (80 % power): ",
        " %",
    );
    let told =
        format!("a difference of {seen:.1} % would have been found (80 % power), not the 0.01 %");
    assert!(said.contains(&told), "{told}: {said}");
}

#[test]
fn a_layout_that_is_fixed_is_said_to_be_what_no_round_helps_against() {
    let folder = folder();
    fs::write(folder.path().join("work.wat"), prints("hello")).unwrap();
    let (_, said) = bench(&format!("{TWO} --detect 2% --out fixed"), folder.path());
    assert!(
        said.contains("no number of rounds finds a difference of 2.0 %"),
        "{said}"
    );
    assert!(
        said.contains("ended after 5 rounds, as no number of them is enough"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_detected_is_one_line() {
    let folder = folder();
    for (words, status, part) in [
        (
            "--detect 0%",
            2,
            "a difference is more than 0 % and less than 100 %",
        ),
        (
            "--detect 150%",
            2,
            "a difference is more than 0 % and less than 100 %",
        ),
        (
            "--detect much",
            2,
            "invalid value 'much' for '--detect <PERCENT>'",
        ),
        (
            "--detect 2% --rounds 9",
            2,
            "cannot be used with '--rounds <ROUNDS>'",
        ),
        (
            "--detect 2% --width 1%",
            2,
            "cannot be used with '--width <PERCENT>'",
        ),
        (
            "--detect 2% --engines one",
            1,
            "fathom: --detect: there is one row alone",
        ),
    ] {
        let output = fathom(&format!("bench work.wat {words} --no-probe"), folder.path());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{words}: {said}");
        assert!(said.contains(part), "{words}: {said}");
    }
    let output = fathom("bench startup --detect 2% --no-probe", folder.path());
    let said = text(&output.stderr);
    assert!(
        said.contains("--detect: `startup` compares nothing"),
        "{said}"
    );
    assert!(!folder.path().join("results").exists(), "nothing was begun");
}
