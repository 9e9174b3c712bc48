//! What is told where something is not as it should be: the cause, the place, the status.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn fathom(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command
        .args(words)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null());
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_full_disk_is_named_with_what_was_written() {
    let answers = [
        &["--help"][..],
        &["run", "--help"],
        &["--version"],
        &["help", "bench"],
        &["doctor"],
        &["completions", "bash"],
        &["manual", "run"],
        &["objdump", "docs/examples/add.wat"],
        &["run", "--invoke", "add", "docs/examples/add.wat", "1", "2"],
        &["run", "docs/examples/add.wat", "--help"],
    ];
    let (program, answers) = answers.split_last().unwrap();
    for words in answers {
        let full = File::create("/dev/full").unwrap();
        let output = fathom(words).stdout(full).output().unwrap();
        let line = said(&output);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {line}");
        assert!(
            line.contains("standard output: No space left"),
            "{words:?}: {line}"
        );
        assert_eq!(line.lines().count(), 1, "{line}");
    }
    // Help behind the module is the program's.
    let output = fathom(program).output().unwrap();
    assert!(said(&output).contains("no function _start"), "{output:?}");
    let trace = [
        "trace",
        "--by",
        "process",
        "--out",
        "/dev/full",
        "docs/examples/hello.wat",
    ];
    let output = fathom(&trace).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("/dev/full: No space left"),
        "{output:?}"
    );
}

#[test]
fn a_mistyped_name_is_answered_by_the_one_that_was_meant() {
    for (words, meant) in [
        (&["bench", "polybnech"][..], "did you mean polybench?"),
        (&["bench", "startpu"], "did you mean startup?"),
        (&["waterfall", "polybnech:gemm"], "did you mean polybench?"),
        (&["bench", "--engines", "nodee"], "did you mean node"),
        (&["probe", "--engines", "wasmtme"], "did you mean wasmtime"),
        (&["engines", "install", "wasmtme"], "did you mean wasmtime"),
        (&["engines", "doctor", "wasmtme"], "did you mean wasmtime"),
        (
            &["trace", "--engine", "wasmtme", "docs/examples/hello.wat"],
            "did you mean wasmtime",
        ),
        (&["dcotor"], "'doctor'"),
    ] {
        let output = fathom(words).output().unwrap();
        let line = said(&output);
        assert!(
            !output.status.success() && line.contains(meant),
            "{words:?}: {line}"
        );
    }
    // Not one that is none for users.
    let output = fathom(&["runer"]).output().unwrap();
    let line = said(&output);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        line.contains("'run'") && !line.contains("'runner'"),
        "{line}"
    );
}

#[test]
fn what_json_cannot_carry_is_refused_in_a_line() {
    let name = OsStr::from_bytes(b"app\xff.wasm");
    let output = fathom(&["bench"]).arg(name).output().unwrap();
    let line = said(&output);
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert!(
        line.contains("not UTF-8") && line.lines().count() == 1,
        "{line}"
    );
    // A program traced in our engine may have any.
    let folder = tempfile::tempdir().unwrap();
    let module = folder.path().join(name);
    fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/examples/hello.wat"),
        &module,
    )
    .unwrap();
    let output = fathom(&["trace", "--by", "process", "--out", "-"])
        .args([module.as_os_str(), OsStr::from_bytes(b"\xfe")])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (own, json) = text.split_once('\n').unwrap();
    assert_eq!(own, "hello, deep water", "{text}");
    assert!(json.starts_with('{') && json.ends_with("}\n"), "{json}");
    assert!(!Path::new("-").exists());
}

#[test]
fn doctor_and_the_list_of_engines_agree() {
    let list = fathom(&["engines", "list", "--json"]).output().unwrap();
    if !list.status.success() {
        return println!("SKIPPED: {}", said(&list));
    }
    let list: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
    let doctor = fathom(&["doctor", "--json"]).output().unwrap();
    let doctor: serde_json::Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let findings = doctor["findings"].as_array().unwrap();
    for engine in list["engines"].as_array().unwrap() {
        let (name, state) = (&engine["name"], &engine["state"]);
        let found = findings
            .iter()
            .find(|found| found["name"] == *name)
            .unwrap();
        let detail = found["detail"].as_str().unwrap();
        let is_absent = detail.starts_with("not installed");
        if state["installed"] == false && state["outdated"] == false {
            assert_ne!(is_absent, engine["found"].is_string(), "{name}: {detail}");
            assert!(is_absent || found["state"] == "yes", "{name}: {detail}");
        }
        assert!(!is_absent || state["installed"] != true, "{name}: {detail}");
        assert!(
            !is_absent || !detail.contains("os error"),
            "{name}: {detail}"
        );
    }
}

#[test]
fn no_name_of_a_file_is_a_command_to_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let module = folder.path().join("q\x1b[31m.wat");
    fs::copy("docs/examples/hello.wat", &module).unwrap();
    let (module, out) = (module.to_str().unwrap(), folder.path().join("o\x1b[31m"));
    let out = out.to_str().unwrap();
    let other = folder.path().join("waterfall");
    let other = other.to_str().unwrap();
    let short =
        "--rounds 1 --iterations 1 --warmup 0 --no-probe --wait-idle 0s --engines fathom:guard";
    let bench: Vec<&str> = ["bench", module, "--out", out]
        .into_iter()
        .chain(short.split(' '))
        .collect();
    let commands = [
        &bench[..],
        &["bench", "--resume", out, "--wait-idle", "0s"],
        &["waterfall", module, "--out", other],
        &["trace", "--by", "process", module],
        &["objdump", module, "--func", "nope"],
    ];
    for words in commands {
        let output = fathom(words).output().unwrap();
        assert!(!output.stderr.is_empty(), "{words:?}");
        assert!(
            !said(&output).contains('\x1b'),
            "{words:?}: {}",
            said(&output)
        );
    }
}

/// Signals are the program's while it runs; nobody is waited for behind it.
#[test]
fn a_pipe_that_nobody_reads_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    let pipe = pipe.to_str().unwrap();
    let module = "docs/examples/hello.wat";
    for words in [
        &["trace", "--by", "process", "--out", pipe, module][..],
        &["trace", "--rewrite", pipe, module],
    ] {
        let output = fathom(words).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        let line = said(&output);
        assert!(line.ends_with("pipe: a pipe that nobody reads\n"), "{line}");
    }
}

#[test]
fn what_is_no_program_of_this_version_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let short = "--rounds 1 --iterations 1 --no-probe --wait-idle 0s --engines fathom:guard";
    let takes = r#"(module (func (export "_start") (param i32)))"#;
    let gives = r#"(module (func (export "_start") (result i32) (i32.const 1)))"#;
    for (name, bytes, reason) in [
        ("second.wasm", &b"\0asm\x02\0\0\0"[..], "version"),
        ("old.wasm", b"\0asm\x0a\0\x01\0", "version"),
        (
            "takes.wat",
            takes.as_bytes(),
            "_start takes or gives values",
        ),
        (
            "gives.wat",
            gives.as_bytes(),
            "_start takes or gives values",
        ),
    ] {
        let module = folder.path().join(name);
        fs::write(&module, bytes).unwrap();
        let out = folder.path().join(format!("{name}.results"));
        for words in ["run", "bench"] {
            let mut command = fathom(&[words]);
            if words == "bench" {
                command.args(short.split(' ')).arg("--out").arg(&out);
            }
            let output = command.arg(&module).output().unwrap();
            let line = said(&output);
            assert_eq!(output.status.code(), Some(1), "{words} {name}");
            assert!(line.contains(reason), "{words} {name}: {line}");
        }
    }
}

#[test]
fn without_a_home_what_is_missing_is_named() {
    // Away from the checkout, which is found by where the program is.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("fathom");
    fs::copy(env!("CARGO_BIN_EXE_fathom"), &program).unwrap();
    let away = |words: &[&str]| {
        let mut command = Command::new(&program);
        command
            .args(words)
            .current_dir(folder.path())
            .stdin(Stdio::null());
        for name in ["HOME", "XDG_DATA_HOME", "FATHOM_HOME"] {
            command.env_remove(name);
        }
        command.output().unwrap()
    };
    for words in [&["engines", "list"][..], &["bench", "polybench"]] {
        let output = away(words);
        let line = said(&output);
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert!(line.contains("HOME") && line.contains("--root"), "{line}");
        assert_eq!(line.lines().count(), 1, "{line}");
    }
    let output = away(&["doctor"]);
    assert!(output.status.success(), "{output:?}");
    // One that nobody may write to, as in a container, is as good as none.
    let words = ["probe", "--bounds", "guard"];
    for (words, status) in [(&["doctor"][..], 0), (&words, 0), (&["engines", "list"], 1)] {
        let mut command = Command::new(&program);
        for name in ["XDG_DATA_HOME", "FATHOM_HOME"] {
            command.env_remove(name);
        }
        let output = command
            .args(words)
            .env("HOME", "/proc")
            .current_dir(folder.path())
            .output()
            .unwrap();
        let lines = said(&output);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {lines}");
        let note = "fathom: /proc/.local/share/fathom/";
        assert!(lines.starts_with(note), "{words:?}: {lines}");
    }
}

#[test]
fn names_in_a_backtrace_tell_a_terminal_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let module = folder.path().join("names.wat");
    let text = r#"(module $"\1b]0;module\07" (func $"\1b[31mred\c2\9b2J\nline" (export "_start") unreachable))"#;
    fs::write(&module, text).unwrap();
    for words in [
        &["run"][..],
        &["run", "-v"],
        &["objdump"],
        &["objdump", "--func", "0"],
    ] {
        let output = fathom(words).arg(&module).output().unwrap();
        let all = [output.stdout, output.stderr].concat();
        let all = String::from_utf8(all).unwrap();
        let is_clean = !all.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t'));
        assert!(is_clean && all.contains("[31mred"), "{words:?}: {all:?}");
        assert!(!all.lines().any(|line| line.starts_with("line")), "{all:?}");
    }
}

#[test]
fn what_is_read_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let campaign = root.join("crates/report/tests/data/web/samples.jsonl");
    let samples = at.join("c/samples.jsonl");
    fs::create_dir(at.join("c")).unwrap();
    fs::copy(campaign, &samples).unwrap();
    fs::hard_link(&samples, at.join("hard")).unwrap();
    fs::copy(root.join("docs/examples/hello.wat"), at.join("m.wat")).unwrap();
    symlink("m.wat", at.join("link")).unwrap();
    for name in ["r.record", "r.record.wasm", "notes"] {
        fs::write(at.join(name), name).unwrap();
    }
    let contents = || {
        let names = [
            "c/samples.jsonl",
            "m.wat",
            "r.record",
            "r.record.wasm",
            "notes",
        ];
        names.map(|name| fs::read(at.join(name)).unwrap())
    };
    let before = contents();
    let read = "which is read: write to another file";
    let samples = "a campaign's samples are there";
    let junit = "what is there is no JUnit file";
    for (words, why) in [
        ("report c --format csv --out c/samples.jsonl", samples),
        ("report c --out hard", samples),
        ("report c --samples parquet --out c/samples.jsonl", samples),
        ("report c/samples.jsonl --format json --out hard", read),
        ("compare --no-confirm c c --junit c/samples.jsonl", junit),
        ("compare --no-confirm gone c --junit notes", junit),
        ("replay r.record -o r.record", read),
        ("replay r.record -o r.record.wasm", read),
        ("replay r.record --module notes -o notes", read),
        ("trace --rewrite m.wat m.wat", read),
        ("trace --rewrite link m.wat", read),
        ("trace --by process --out link m.wat", read),
        ("trace --by process --stdin notes --out notes m.wat", read),
        ("trace --by process --out notes m.wat -- notes", read),
        ("run --trace-wasi m.wat m.wat", read),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let output = fathom(&words).current_dir(at).output().unwrap();
        let line = said(&output);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {line}");
        assert!(
            line.contains(why) && line.lines().count() == 1,
            "{words:?}: {line}"
        );
        assert!(output.stdout.is_empty(), "{words:?}: {output:?}");
        assert!(contents() == before, "{words:?}");
    }
    // A file of nothing and one of before are there to be replaced.
    fs::write(at.join("empty"), "").unwrap();
    for _ in 0..2 {
        let words = ["compare", "--no-confirm", "c", "c", "--junit", "empty"];
        fathom(&words).current_dir(at).output().unwrap();
        assert!(
            fs::read_to_string(at.join("empty"))
                .unwrap()
                .contains("<testsuites")
        );
    }
}

#[test]
fn numbers_beyond_all_measure_are_taken_or_refused() {
    let longest = "9223372036854775807s";
    for words in [
        &["run", "--timeout", longest, "docs/examples/hello.wat"][..],
        &["probe", "--bounds", "guard", "--time-limit", longest],
    ] {
        let output = fathom(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        assert_eq!(said(&output), "", "{words:?}");
    }
    let words = [
        "probe",
        "--bounds",
        "guard",
        "--random",
        "9223372036854775807",
    ];
    let output = fathom(&words).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let line = said(&output);
    assert!(line.contains("is not in 0..=10000000"), "{line}");
}

#[test]
fn what_has_no_end_is_not_read_to_it() {
    let modules = ["run", "objdump", "trace"].map(|command| vec![command, "/dev/zero"]);
    let campaigns = ["report", "merge", "history"].map(|command| vec![command, "/dev/zero"]);
    let both = vec!["compare", "/dev/zero", "/dev/zero"];
    for words in modules.iter().chain(&campaigns).chain([&both]) {
        // Far less than such a file would take.
        let limited = "ulimit -v 67108864; ulimit -t 60; exec \"$@\"";
        let output = Command::new("sh")
            .args(["-c", limited, "sh", env!("CARGO_BIN_EXE_fathom")])
            .args(words)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let line = said(&output);
        let why = "/dev/zero: a device, where a regular file is needed";
        assert!(line.contains(why), "{words:?}: {line}");
        assert!(!output.status.success(), "{words:?}: {line}");
    }
    // A pipe may be a module, as of a shell's process substitution.
    let script = "cat docs/examples/hello.wat | exec \"$0\" run /dev/stdin";
    let mut piped = Command::new("sh");
    piped.args(["-c", script, env!("CARGO_BIN_EXE_fathom")]);
    let output = piped
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"hello, deep water\n", "{output:?}");
}
