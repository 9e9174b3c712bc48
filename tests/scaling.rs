//! `fathom suite scaling` and `fathom reproduce leaps-and-bounds` on a suite and
//! engines made here: what misbehaves has a line, the others go on, and nothing is
//! left running.

mod common;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    process::Output,
    time::{Duration, Instant},
};

use common::Home;
use fathom_record::FailureKind;

const ANSWER: &str = "00000000000000a1";

/// Speaks the protocol for as many workers as it is asked for.
const RUNNER: &str = r#"
request=$(cat)
scratch=$(printf %s "$request" | sed 's/.*"scratch":"\([^"]*\)".*/\1/')
threads=$(printf %s "$request" | sed 's/.*"threads":\([0-9]*\).*/\1/')
iterations=$(printf %s "$request" | sed 's/.*"iterations":\([0-9]*\).*/\1/')
answer() {
  echo '{"event":"hello","engine":"fake"}' >&3
  echo "fathom: answer=00000000000000a1 kernel_ns=9" > "$scratch/out"
  thread=0
  while [ $thread -lt $threads ]; do
    index=0
    while [ $index -lt $iterations ]; do
      echo '{"event":"iteration","thread":'$thread',"index":'$index',"counted":true,"exit":0,"phases":{"run":{"wall_ns":20000000,"cpu_ns":10}},"stdout":"'$scratch'/out"}' >&3
      index=$((index + 1))
    done
    thread=$((thread + 1))
  done
  echo '{"event":"done"}' >&3
}
"#;

/// What a row without a time says.
type Failure = (FailureKind, &'static str);

/// Name, what it does, and the failure it comes to with its words.
const ENGINES: [(&str, &str, Option<Failure>); 6] = [
    ("good", "answer", None),
    (
        "crasher",
        "[ $threads = 1 ] || kill -SEGV $$; answer",
        Some((FailureKind::Crash, "segmentation fault")),
    ),
    (
        "hanger",
        "[ $threads = 1 ] || while :; do sleep 1; done; answer",
        Some((FailureKind::Timeout, "did not end within")),
    ),
    (
        "pinless",
        r#"echo '{"event":"error","kind":"unsupported","message":"cannot pin a thread to processor 1"}' >&3; exit 1"#,
        Some((FailureKind::Unsupported, "cannot pin a thread")),
    ),
    ("noisy", "seq 1 50000; answer; seq 1 50000 >&2", None),
    (
        "leaver",
        "(sleep 300 & echo $! >> PIDS; setsid sleep 300 & echo $! >> PIDS; sleep 0.1); answer",
        None,
    ),
];

impl Home {
    /// With one kernel and the engines above.
    fn new() -> Home {
        let home = Home::bare();
        for size in ["small", "medium"] {
            let built = format!("workloads/polybench/build/wasm/{size}/gemm.wasm");
            home.write(&built, module());
        }
        let described = format!(
            "name = \"polybench\"\n[[workload]]\nname = \"gemm\"\nwhy = \"for this test\"\n\
             [workload.answers]\nsmall = \"{ANSWER}\"\nmedium = \"{ANSWER}\"\n"
        );
        home.write("workloads/polybench/suite.toml", described);
        for (name, script, _) in ENGINES {
            let script = script.replace("PIDS", &home.path("pids").to_string_lossy());
            home.write(
                &format!("engines/{name}/run"),
                format!("{RUNNER}\n{script}"),
            );
            let described = format!(
                "name = \"{name}\"\ndisplay = \"{name}\"\ncommand = [\"sh\", \"{{dir}}/run\"]\n\
                 check = [\"true\"]\nstrategies = [\"guard\"]\nabsent = \"get it\"\n"
            );
            home.write(&format!("engines/{name}/engine.toml"), described);
        }
        home
    }

    fn measured(&self, words: &[&str]) -> Output {
        self.fathom(&[words, &["--wait-idle", "0s"]].concat())
    }
}

/// Prints the contract's line.
fn module() -> Vec<u8> {
    let line = format!("fathom: answer={ANSWER} kernel_ns=1000\\n");
    let bytes = line.len() - 1;
    let text = format!(
        "(module
          (import \"wasi_snapshot_preview1\" \"fd_write\"
            (func $write (param i32 i32 i32 i32) (result i32)))
          (memory (export \"memory\") 1)
          (data (i32.const 0) \"\\10\\00\\00\\00\\{bytes:02x}\\00\\00\\00\")
          (data (i32.const 16) \"{line}\")
          (func (export \"_start\")
            (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"
    );
    wat::parse_str(text).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_misbehaves_has_a_line_and_the_others_go_on() {
    let home = Home::new();
    let engines = "fathom:guard,good,crasher,hanger,pinless,noisy,leaver";
    let output = home.measured(&[
        "suite",
        "scaling",
        "--workloads",
        "gemm",
        "--size",
        "small",
        "--threads",
        "1,2",
        "--rounds",
        "1",
        "--iterations",
        "3",
        "--warmup",
        "0",
        "--time-limit",
        "4s",
        "--no-probe",
        "--engines",
        engines,
        "--out",
        "r",
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let campaign = home.campaign("r");
    for (name, _, failure) in ENGINES {
        let prefix = format!("{name}/");
        let of_engine = |id: &str| id.starts_with(&prefix);
        let found = campaign.failures.iter().find(|one| {
            let cell = one.cell.as_ref();
            cell.is_some_and(|cell| of_engine(cell.as_str()) && cell.as_str().ends_with("/t2"))
        });
        match failure {
            None => assert!(found.is_none(), "{name}: {found:?}"),
            Some((kind, words)) => {
                let found = found.unwrap_or_else(|| panic!("{name} did not fail"));
                assert_eq!(found.kind, kind, "{}", found.message);
                assert!(found.message.contains(words), "{}", found.message);
            }
        }
        let alone = campaign
            .processes
            .iter()
            .any(|one| of_engine(one.cell.as_str()) && one.cell.as_str().ends_with("/t1"));
        assert_eq!(alone, name != "pinless", "{name} alone");
    }
    let page = fs::read_to_string(home.path("r/scaling.md")).unwrap();
    assert!(
        page.contains("crasher guard, wasm, 2 at once: crash"),
        "{page}"
    );
    assert!(home.path("r/scaling.html").exists() && home.path("r/scaling.csv").exists());
    nothing_is_left(&fs::read_to_string(home.path("pids")).unwrap());
}

fn nothing_is_left(pids: &str) {
    let runs = |pid: &str| {
        fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
    };
    assert!(pids.lines().count() >= 4, "{pids}");
    let deadline = Instant::now() + Duration::from_secs(10);
    while pids.lines().any(runs) {
        assert!(Instant::now() < deadline, "still running: {pids}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_paper_is_measured_gone_on_with_and_written_down() {
    let home = Home::new();
    let words = [
        "reproduce",
        "leaps-and-bounds",
        "--workloads",
        "gemm",
        "--threads",
        "1",
        "--engines",
        "fathom,good",
        "--no-probe",
        "--rounds",
        "5",
        "--out",
        "r",
    ];
    let output = home.measured(&words);
    assert!(output.status.success(), "{}", stderr(&output));
    let whole = home.campaign("r").processes.len();
    let page = fs::read_to_string(home.path("r/leaps-and-bounds.md")).unwrap();
    assert!(
        page.contains("| fathom: 1.0") && page.contains("WAVM"),
        "{page}"
    );
    // The last rounds are taken away, as if it had been stopped before them.
    let samples = home.path("r/samples.jsonl");
    let text = fs::read_to_string(&samples).unwrap();
    let kept = text.lines().filter(|line| !line.contains("\"round\":4"));
    fs::write(&samples, kept.collect::<Vec<_>>().join("\n") + "\n").unwrap();
    assert!(home.measured(&words).status.success());
    assert_eq!(home.campaign("r").processes.len(), whole);
    let output = home.measured(&[&words[..], &["--page-only", "--page", "docs"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(home.path("docs/leaps-and-bounds-2.svg").exists());
    assert_eq!(home.campaign("r").processes.len(), whole);
}

#[test]
fn an_engine_of_the_paper_that_is_not_here_is_no_failure() {
    let home = Home::new();
    let folder = home.path("engines/wasm3");
    fs::create_dir(&folder).unwrap();
    let described = "name = \"wasm3\"\ndisplay = \"wasm3\"\ncommand = [\"false\"]\n\
                     check = [\"false\"]\nstrategies = [\"trap\"]\n\
                     absent = \"fathom engines install wasm3\"\n";
    fs::write(folder.join("engine.toml"), described).unwrap();
    let native = home.path("workloads/polybench/build/native/medium");
    fs::create_dir_all(&native).unwrap();
    let script = format!("#!/bin/sh\necho 'fathom: answer={ANSWER} kernel_ns=1000'\n");
    fs::write(native.join("gemm"), script).unwrap();
    fs::set_permissions(native.join("gemm"), fs::Permissions::from_mode(0o755)).unwrap();
    let words =
        "reproduce leaps-and-bounds --workloads gemm --threads 1 --no-probe --rounds 1 --out r";
    let words: Vec<&str> = words.split_whitespace().collect();
    let get = "fathom engines install wasm3";
    let output = home.measured(&words);
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches(get).count(), 1, "{said}");
    // One that was asked for by name is.
    let words = words
        .iter()
        .map(|word| if *word == "r" { "s" } else { word });
    let words: Vec<&str> = words.chain(["--engines", "fathom,wasm3"]).collect();
    let output = home.measured(&words);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let last = said.lines().last().unwrap();
    assert!(
        last.starts_with("requested but not measured: wasm3: ") && last.ends_with(get),
        "{said}"
    );
}

#[test]
fn a_page_of_nothing_is_refused_in_one_line() {
    let home = Home::new();
    let words = ["reproduce", "leaps-and-bounds", "--out", "r", "--page-only"];
    let output = home.measured(&words);
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains("nothing was measured there"), "{text}");
}
