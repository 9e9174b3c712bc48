//! `fathom compare` looks again: a slowdown counts where a run of its own finds it too.
//!
//! What is measured is an engine made for these tests, whose times are read from a file:
//! a verdict here depends on no machine. How well times are told apart where they are real
//! is simulated (docs/METHODOLOGY.md).

#[path = "common/prints.rs"]
mod prints;

use std::{fs, path::Path, process::Command, process::Output, process::Stdio};

use prints::prints;
use serde_json::Value;

/// A runner whose runs take as long as the file `ns` beside it says, but for what a quiet
/// machine varies by.
const RUNNER: &str = r#"
field() { printf %s "$request" | sed "s/.*\"$1\":\"\{0,1\}\([^\",]*\).*/\1/"; }
request=$(cat)
scratch=$(field scratch) warmup=$(field warmup) iterations=$(field iterations)
off=$(( $(field seed | sed 's/.*\(.\)$/\1/') - 4 ))
say() { printf '%s\n' "$1" >&3; }
say '{"event":"hello","engine":"steady","version":"1"}'
say '{"event":"phase","phase":"compile","wall_ns":5,"cpu_ns":5}'
echo hello > "$scratch/out"
ns=$(cat "${0%/*}/ns")
index=0
while [ $index -lt $((warmup + iterations)) ]; do
  counted=true; [ $index -ge $warmup ] || counted=false
  took=$((ns + ns / 1000 * off + ns / 2000 * (index % 3)))
  say '{"event":"iteration","thread":0,"index":'$index',"counted":'$counted',"exit":0,"phases":{"run":{"wall_ns":'$took',"cpu_ns":'$took'}},"stdout":"'$scratch'/out"}'
  index=$((index + 1))
done
say '{"event":"done"}'
"#;

/// What a run took that was measured.
const NS: u64 = 10_000_000;

/// A folder with a program, and a home with one engine, whose runs take [`NS`].
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let engine = folder.path().join("home/engines/steady");
    fs::create_dir_all(&engine).unwrap();
    fs::create_dir_all(folder.path().join("home/workloads")).unwrap();
    let spec = r#"
name = "steady"
display = "Steady"
command = ["sh", "{dir}/run.sh"]
check = ["echo", "steady 1"]
strategies = ["guard"]
absent = "it is there"
"#;
    fs::write(engine.join("engine.toml"), spec).unwrap();
    fs::write(engine.join("run.sh"), RUNNER).unwrap();
    fs::write(engine.join("ns"), NS.to_string()).unwrap();
    fs::write(folder.path().join("work.wat"), prints("hello")).unwrap();
    folder
}

fn fathom(words: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(words)
        .env("FATHOM_HOME", folder.join("home"))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The campaign `measured`, in which all runs took a time of our choice, but for what a
/// quiet machine varies by.
fn took(folder: &Path, name: &str, ns: f64) {
    let mut lines = String::new();
    let measured = fs::read_to_string(folder.join("measured/samples.jsonl")).unwrap();
    for (at, line) in measured.lines().enumerate() {
        let mut record: Value = serde_json::from_str(line).unwrap();
        if let Some(run) = record.pointer_mut("/phases/run/wall_ns") {
            let off = [0.0, 0.004, -0.002, 0.001, -0.003, 0.002, -0.001][at % 7];
            *run = Value::from((ns * (1.0 + off)) as u64);
        }
        lines.push_str(&record.to_string());
        lines.push('\n');
    }
    fs::create_dir(folder.join(name)).unwrap();
    fs::write(folder.join(name).join("samples.jsonl"), lines).unwrap();
}

/// A campaign's lines as another build of our engine would have written them.
fn of_another_build(lines: &str) -> String {
    let (header, rest) = lines.split_once('\n').unwrap();
    let mut header: Value = serde_json::from_str(header).unwrap();
    header["config"]["engines"]["steady"] = Value::from("0123");
    format!("{header}\n{rest}")
}

/// The status of a comparison and all that it says.
fn compare(words: &[&str], at: &Path) -> (Option<i32>, String) {
    let words: Vec<&str> = ["compare"].iter().chain(words).copied().collect();
    let output = fathom(&words, at);
    let said = String::from_utf8(output.stdout).unwrap();
    let code = output.status.code();
    (code, said + &String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_slowdown_is_confirmed_refuted_or_left_unconfirmed() {
    let folder = folder();
    let at = folder.path();
    let bench = "bench work.wat --engines steady --rounds 8 --iterations 7 --no-probe \
                 --wait-idle 0s --out measured";
    let output = fathom(&bench.split(' ').collect::<Vec<_>>(), at);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let ns = NS as f64;
    took(at, "usual", ns * 2.0);
    took(at, "slower", ns * 100.0);
    took(at, "faster", ns / 100.0);
    let check = |words: &[&str], status: i32, parts: &[&str]| {
        let (code, said) = compare(&[words, &["--junit", "found.xml"]].concat(), at);
        assert_eq!(code, Some(status), "{words:?}: {said}");
        // What the exit status does not count is no failure there either.
        let xml = fs::read_to_string(at.join("found.xml")).unwrap();
        assert_eq!(xml.contains("<failure"), status != 0, "{words:?}: {xml}");
        let told = match status {
            0 => "not confirmed by a second measurement: ",
            3 => "it could not be measured again: ",
            _ => "slower, past the threshold: ",
        };
        assert!(xml.contains(told), "{words:?}: no {told} in {xml}");
        for part in parts {
            assert!(said.contains(part), "{words:?}: no {part} in {said}");
        }
    };
    // What is slow on paper alone does not come again; what really is as it was does.
    let refuted = ["to be confirmed: ", "accepted: not confirmed by a second"];
    check(&["usual", "slower"], 0, &refuted);
    assert!(at.join("slower/confirmation-1/samples.jsonl").exists());
    check(
        &["faster", "measured"],
        1,
        &["refused: a second measurement confirmed 2 of 2"],
    );
    check(
        &["usual", "slower", "--no-confirm"],
        1,
        &["refused: 2 slowdowns past"],
    );
    assert!(!at.join("slower/confirmation-2").exists());
    // Nor does another build of the engine.
    let file = at.join("slower/samples.jsonl");
    let lines = fs::read_to_string(&file).unwrap();
    fs::write(&file, of_another_build(&lines)).unwrap();
    let unconfirmed = ["another build of steady", "refused, unconfirmed: "];
    check(&["usual", "slower"], 3, &unconfirmed);
    fs::write(&file, lines).unwrap();
    // Another module says nothing of this one.
    fs::write(at.join("work.wat"), prints("hallo")).unwrap();
    let unconfirmed = ["the module has changed", "refused, unconfirmed: "];
    check(&["usual", "slower"], 3, &unconfirmed);
    assert!(
        !at.join("slower/confirmation-2").exists(),
        "nothing was left behind"
    );
    // Nor does what is in the file when nothing can be compared.
    let (code, said) = compare(&["usual", "gone", "--junit", "found.xml"], at);
    assert_eq!(code, Some(1), "{said}");
    assert!(!at.join("found.xml").exists());
}

/// A campaign of its own folder, whose lines are those of another, changed.
fn changed(folder: &Path, from: &str, name: &str, change: impl Fn(&mut Value) -> bool) {
    let lines = fs::read_to_string(folder.join(from).join("samples.jsonl")).unwrap();
    let mut text = String::new();
    for line in lines.lines() {
        let mut record: Value = serde_json::from_str(line).unwrap();
        if change(&mut record) {
            text.push_str(&record.to_string());
            text.push('\n');
        }
    }
    fs::create_dir(folder.join(name)).unwrap();
    fs::write(folder.join(name).join("samples.jsonl"), text).unwrap();
}

fn is_header(record: &Value) -> bool {
    record["record"] == "campaign"
}

/// A folder with the campaigns that are compared: `usual`, and what is odd about others.
fn odd_campaigns() -> tempfile::TempDir {
    let folder = folder();
    let at = folder.path();
    let bench = "bench work.wat --engines steady --rounds 6 --iterations 2 --no-probe \
                 --wait-idle 0s --out measured";
    assert!(
        fathom(&bench.split(' ').collect::<Vec<_>>(), at)
            .status
            .success()
    );
    took(at, "usual", 1e7);
    // Rounds that differ by a factor say nothing of 2 %.
    changed(at, "usual", "noisy", |record| {
        let round = record["round"].as_u64().unwrap_or(0);
        if let Some(run) = record.pointer_mut("/phases/run/wall_ns") {
            *run = Value::from(run.as_u64().unwrap() * [1, 2, 3, 1, 3, 2][round as usize % 6]);
        }
        true
    });
    changed(at, "usual", "uncontrolled", |record| {
        let cell = record["cell"].as_str().unwrap_or_default();
        !cell.ends_with("/control")
    });
    // What failed has no time any more.
    changed(at, "usual", "wrong", |record| {
        let cell = record["cell"].as_str().unwrap_or_default().to_owned();
        let is_of_cell = cell.starts_with("steady/") && !cell.ends_with("/control");
        if is_of_cell && record["record"] == "sample" {
            *record = serde_json::json!({
                "record": "failure", "cell": cell, "round": record["round"],
                "kind": "wrong_answer", "message": "answer 1, expected 2",
            });
        }
        !(is_of_cell && record["record"] == "process")
    });
    changed(at, "usual", "other", |record| {
        if is_header(record) {
            record["config"]["module"]["digest"] = Value::from("0123456789abcdef");
            record["config"]["module"]["args"] = Value::from(vec!["5"]);
        }
        true
    });
    let lines = fs::read_to_string(at.join("usual/samples.jsonl")).unwrap();
    let lines = lines.replace("\"steady/", "\"node/");
    let (header, rest) = lines.split_once('\n').unwrap();
    let header = header.replace("\"engine\":\"steady\"", "\"engine\":\"node\"");
    fs::create_dir(at.join("node")).unwrap();
    fs::write(at.join("node/samples.jsonl"), format!("{header}\n{rest}")).unwrap();
    folder
}

#[test]
fn what_cannot_be_seen_or_compared_is_no_pass() {
    let folder = odd_campaigns();
    let compare = |words: &str| {
        let words = format!("compare --no-confirm {words}");
        let output = fathom(&words.split(' ').collect::<Vec<_>>(), folder.path());
        let said = String::from_utf8(output.stdout).unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said + &error)
    };
    let check = |words: &str, status: i32, part: &str| {
        let (code, said) = compare(words);
        assert_eq!(code, Some(status), "{words}: {said}");
        assert!(said.contains(part), "{words}: no {part} in {said}");
        said
    };
    check(
        "usual usual --threshold 20%",
        0,
        "accepted: no slowdown past 20",
    );
    let said = check("noisy noisy", 4, "too noisy to say: no slowdown past 2");
    assert!(said.contains("found; could only have seen "), "{said}");
    let said = check(
        "usual wrong --threshold 20%",
        1,
        "was measured before, not now: ",
    );
    assert!(said.contains("refused: 1 cell not measured"), "{said}");
    let json = check("noisy noisy --json", 4, "\"outcome\": \"too-noisy\"");
    assert!(json.contains("\"other_programs\": []"), "{json}");
    let said = compare("usual uncontrolled --threshold 20%").1;
    assert!(!said.contains("measured before, not now"), "{said}");
    let said = check(
        "usual other --threshold 20%",
        0,
        "another program in the later",
    );
    let mut top = said.lines().skip(1);
    assert!(top.next().unwrap().contains("work.wat has"), "{said}");
    assert_eq!(
        top.next().unwrap(),
        "other arguments in the later campaign: `5`, they were none"
    );
    check("node usual", 1, "no cell in common");
    let mapped = "node usual --threshold 20% --map node=steady";
    check(mapped, 0, "accepted: no slowdown");
    check(
        "usual node --map bun=node",
        1,
        "--map bun: the earlier campaign has no such row",
    );
}
