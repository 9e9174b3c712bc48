//! `fathom probe` on engines that lie, die or decline: what the user sees, and
//! the exit status. Runners are small scripts that speak the protocol badly.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A home with one engine, whose runner is the Python `script`; in it, `calls`
/// is how many calls were asked for, and `tell(text)` sends a line of events.
fn home(script: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let engine = home.path().join("engines/liar");
    fs::create_dir_all(&engine).unwrap();
    fs::create_dir_all(home.path().join("workloads")).unwrap();
    let prelude = "import json, os, signal, sys\n\
        events = os.fdopen(int(os.environ['FATHOM_EVENTS_FD']), 'w')\n\
        calls = len(json.load(sys.stdin)['calls'])\n\
        def tell(text): events.write(text + '\\n'); events.flush()\n\
        tell('{\"event\":\"hello\",\"engine\":\"liar\"}')\n";
    fs::write(engine.join("runner.py"), format!("{prelude}{script}")).unwrap();
    let description = "name = \"liar\"\ndisplay = \"Liar\"\n\
        command = [\"python3\", \"{dir}/runner.py\"]\ncheck = [\"true\"]\n\
        strategies = [\"guard\"]\nabsent = \"build one\"\n";
    fs::write(engine.join("engine.toml"), description).unwrap();
    home
}

fn probe(home: &Path, options: &[&str]) -> (Output, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(["probe", "--engines", "liar"])
        .args(options)
        .env("FATHOM_HOME", home)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    (output, out, err)
}

#[test]
fn an_engine_that_never_traps_fails() {
    let home = home(
        "for i in range(calls): tell('{\"event\":\"call\",\"index\":%d,\"result\":[]}' % i)\n\
         tell('{\"event\":\"done\"}')\n",
    );
    let (output, out, _) = probe(home.path(), &[]);
    assert_eq!(output.status.code(), Some(1), "{out}");
    assert!(out.starts_with("✗ liar/guard/speed "), "{out}");
    assert!(out.contains("DOES NOT KEEP ITS PROMISE"), "{out}");
    let example = "i32.load offset=0 at address 0x0, memory of 0 pages: expected trap, went on";
    assert!(out.contains(example), "{out}");

    let (output, out, _) = probe(home.path(), &["--json"]);
    assert_eq!(output.status.code(), Some(1));
    let line: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&line["kept"], &line["trapped"]),
        (&false.into(), &0.into())
    );
    assert!(line["violations"].as_u64().unwrap() > 10_000);
}

#[test]
fn an_unsound_engine_fails_a_campaign_that_names_it() {
    let home = home(
        "for i in range(calls): tell('{\"event\":\"call\",\"index\":%d,\"result\":[]}' % i)\n\
         tell('{\"event\":\"done\"}')\n",
    );
    let module = home.path().join("app.wat");
    fs::write(&module, r#"(module (memory 1) (func (export "_start")))"#).unwrap();
    for (names, status) in [(&[][..], 0), (&["--engines", "fathom,liar"], 1)] {
        let results = home.path().join(format!("results-{status}"));
        let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
            .arg("bench")
            .arg(&module)
            .args([
                "--rounds",
                "1",
                "--bounds",
                "guard",
                "--wait-idle",
                "0s",
                "--out",
            ])
            .arg(&results)
            .args(names)
            .env("FATHOM_HOME", home.path())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("liar"), "{text}");
        assert!(text.contains("unsound: not exact: "), "{text}");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{text}{err}");
    }
}

#[test]
fn an_engine_that_dies_on_the_way_fails() {
    let home = home(
        "tell('{\"event\":\"call\",\"index\":0,\"result\":[\"i32:0\"]}')\n\
         os.kill(os.getpid(), signal.SIGSEGV)\n",
    );
    let (output, out, _) = probe(home.path(), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(out.contains("died of signal 11"), "{out}");
}

#[test]
fn an_engine_that_declines_is_not_judged_but_that_is_no_success() {
    let home =
        home("tell('{\"event\":\"error\",\"kind\":\"unsupported\",\"message\":\"no SIMD\"}')\n");
    let (output, out, _) = probe(home.path(), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(out, "? liar/guard/speed: not probed: no SIMD\n");
}

#[test]
fn an_engine_that_does_not_speak_the_protocol_is_not_judged() {
    let home = home("tell('hello there')\n");
    let (output, out, _) = probe(home.path(), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        out.contains("not probed: does not speak the protocol: "),
        "{out}"
    );
    assert_eq!(out.lines().count(), 1);
}

#[test]
fn a_name_that_means_nothing_is_one_line() {
    let home = home("");
    let (output, out, err) = probe(home.path(), &["--engines", "moon"]);
    assert_eq!((output.status.code(), out.as_str()), (Some(1), ""));
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(err.contains("moon"), "{err}");
}
