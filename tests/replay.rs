//! Recorded in node, deno, bun and Chromium, replayed without them: each module of `replay/`
//! with its script. The replay compares what the guest passes with what it passed to its own
//! host, so that one that ends well is equal to it.
//!
//! Where there is no node, or none of the others, this says so and ends well.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[path = "replay/seen.rs"]
mod seen;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

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

/// The node that is recorded with, where there is one that has what the modules need.
fn node() -> Option<PathBuf> {
    let installed = Path::new(ROOT).join(".tools/engines/node/bin/node");
    let node = match installed.is_file() {
        true => installed,
        false => PathBuf::from("node"),
    };
    let wide = "new WebAssembly.Memory({ initial: 1n, address: 'i64' })";
    let has_all = Command::new(&node).args(["-e", wide]).output();
    has_all
        .is_ok_and(|said| said.status.success())
        .then_some(node)
}

/// A case: its module and script, in a folder of its own.
struct Case {
    folder: tempfile::TempDir,
    script: String,
}

impl Case {
    fn new(name: &str) -> Case {
        let folder = tempfile::tempdir().unwrap();
        let module = format!("{ROOT}/tests/replay/{name}.wat");
        let wasm = wat::parse_file(&module).unwrap();
        fs::write(folder.path().join("app.wasm"), wasm).unwrap();
        Case {
            folder,
            script: format!("{ROOT}/tests/replay/{name}.mjs"),
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn fathom(&self, words: &[&str]) -> Output {
        fathom(self.path(), words)
    }

    fn record(&self, to: &str) -> Output {
        // Which one runs longest differs from time to time.
        let words = [
            "record",
            "-o",
            to,
            "--instance",
            "1",
            "--",
            "node",
            &self.script,
            "app.wasm",
        ];
        self.fathom(&words)
    }

    /// Puts a page beside the module that runs its script.
    fn put_page(&self) {
        for file in ["index.html", "fs.mjs", "worker.js"] {
            let from = format!("{ROOT}/tests/replay/page/{file}");
            fs::copy(from, self.path().join(file)).unwrap();
        }
        fs::copy(&self.script, self.path().join("app.mjs")).unwrap();
    }

    fn replay(&self, record: &str) -> Output {
        self.fathom(&["replay", record, "-o", "app.replay.wasm"])
    }

    fn plain(&self, node: &Path) -> Output {
        let mut command = Command::new(node);
        command.current_dir(self.path());
        let words = ["--stack-size=3900", &self.script, "app.wasm"];
        command.args(words).output().unwrap()
    }
}

fn cases() -> Vec<String> {
    let files = fs::read_dir(format!("{ROOT}/tests/replay"))
        .unwrap()
        .flatten();
    let mut names: Vec<String> = files
        .filter_map(|file| Some(file.file_name().to_str()?.strip_suffix(".wat")?.to_owned()))
        .collect();
    names.sort();
    names
}

/// Runs what needs node, or says that it does not.
fn with_node(test: impl FnOnce(&Path)) {
    match node() {
        Some(node) => test(&node),
        None => eprintln!("SKIPPED: no node with 64-bit memories: fathom engines install node"),
    }
}

/// Replays what was recorded, under two strategies: the answer is the host's own.
fn has_the_hosts_own_answer(case: &Case, what: &str) {
    let made = case.replay("app.record");
    assert!(made.status.success(), "{what}: {}", text(&made.stderr));
    let said = text(&made.stderr);
    let answer = said.split_once("it prints '").unwrap().1;
    let answer = answer.split_once('\'').unwrap().0;
    // 64-bit memories have other strategies.
    let some = if what.starts_with("wide") {
        "auto"
    } else {
        "guard"
    };
    for bounds in [some, "trap"] {
        let replayed = case.fathom(&["run", "--bounds", bounds, "app.replay.wasm"]);
        assert!(
            replayed.status.success(),
            "{what}: {}",
            text(&replayed.stderr)
        );
        assert_eq!(text(&replayed.stdout).trim_end(), answer, "{what}");
    }
}

#[test]
fn what_is_recorded_is_replayed_with_the_hosts_own_answer() {
    with_node(|node| {
        let names = cases();
        assert!(names.len() >= 11, "{names:?}");
        for name in names {
            let case = Case::new(&name);
            let plain = case.plain(node);
            let recorded = case.record("app.record");
            assert!(
                recorded.status.success(),
                "{name}: {}",
                text(&recorded.stderr)
            );
            assert_eq!(text(&recorded.stdout), text(&plain.stdout), "{name}");
            has_the_hosts_own_answer(&case, &name);
        }
    });
}

/// Another engine of JavaScript that is installed.
fn installed(name: &str) -> Option<String> {
    let program = format!("{ROOT}/.tools/engines/{name}/bin/{name}");
    let is_there = Path::new(&program).is_file();
    if !is_there {
        eprintln!("SKIPPED: no {name}: fathom engines install {name}");
    }
    is_there.then_some(program)
}

/// Without what bun says of an error's place: the text of the call, which is the recorder's.
fn without_source(said: &str) -> String {
    let (mut rest, mut left) = (said, String::new());
    while let Some((before, place)) = rest.split_once(" (evaluating '") {
        left.push_str(before);
        rest = place.split_once("')").map_or("", |(_, after)| after);
    }
    left + rest
}

#[test]
fn other_hosts_are_recorded_as_node_is() {
    for (name, words) in [("deno", &["run", "--allow-all"][..]), ("bun", &[])] {
        let Some(program) = installed(name) else {
            continue;
        };
        for module in cases() {
            let what = format!("{module} in {name}");
            let case = Case::new(&module);
            let command = [&[program.as_str()], words, &[&case.script, "app.wasm"]].concat();
            let plain = Command::new(&program)
                .current_dir(case.path())
                .env("DENO_V8_FLAGS", "--stack-size=3900")
                .args(&command[1..])
                .output()
                .unwrap();
            if module == "wide" && !plain.status.success() {
                eprintln!("SKIPPED: {name} has no 64-bit memories");
                continue;
            }
            let first = ["record", "-o", "app.record", "--instance", "1", "--"];
            let recorded = case.fathom(&[&first[..], &command].concat());
            assert!(
                recorded.status.success(),
                "{what}: {}",
                text(&recorded.stderr)
            );
            let [seen, plain] = [&recorded, &plain].map(|ran| without_source(&text(&ran.stdout)));
            assert_eq!(seen, plain, "{what}");
            let record = fs::read(case.path().join("app.record")).unwrap();
            let header = text(record.split(|byte| *byte == b'\n').next().unwrap());
            assert!(header.contains(&format!("\"host\":\"{name} ")), "{header}");
            has_the_hosts_own_answer(&case, &what);
        }
    }
}

/// Whether there is a browser that pages are recorded with.
fn has_browser() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path).any(|folder| folder.join("chromium").is_file());
    if !is_there {
        eprintln!("SKIPPED: no chromium in PATH (Debian: apt install chromium)");
    }
    is_there
}

#[test]
fn a_page_is_recorded_as_a_program_is() {
    if !has_browser() {
        return;
    }
    for name in ["values", "memories", "reenters", "tables", "throws", "wide"] {
        let case = Case::new(name);
        case.put_page();
        let words = ["record", "--no-sandbox", "--instance", "1", "index.html"];
        let recorded = case.fathom(&words);
        assert!(
            recorded.status.success(),
            "{name}: {}",
            text(&recorded.stderr)
        );
        let record = fs::read(case.path().join("app.record")).unwrap();
        assert!(text(&record).contains("\"host\":\"Chrome "), "{name}");
        has_the_hosts_own_answer(&case, &format!("{name} in a page"));
    }
}

#[test]
fn a_worker_of_a_page_is_recorded_and_nothing_is_left() {
    if !has_browser() {
        return;
    }
    let case = Case::new("values");
    case.put_page();
    let page = fs::read_to_string(case.path().join("index.html")).unwrap();
    let page = page.replace("location.hash === '#worker'", "true");
    fs::write(case.path().join("index.html"), page).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .current_dir(case.path())
        .env("TMPDIR", scratch.path())
        .args(["record", "--no-sandbox", "--for", "1s", "index.html"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    has_the_hosts_own_answer(&case, "a worker");
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn a_page_has_the_files_beside_it_and_nothing_else() {
    if !has_browser() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(".hidden")).unwrap();
    fs::create_dir_all(folder.path().join("beside")).unwrap();
    for file in [".hidden/a.txt", "beside/a b.txt", ".env", "index.html"] {
        fs::write(folder.path().join(file), "there").unwrap();
    }
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link.txt")).unwrap();
    let pipe = Command::new("mkfifo")
        .arg(folder.path().join("pipe.txt"))
        .status();
    assert!(pipe.unwrap().success());
    let asked = [
        ("link.txt", "404"),
        ("pipe.txt", "404"),
        (".env", "404"),
        ("%2ehidden/a.txt", "404"),
        ("beside%2f..%2f.env", "404"),
        ("..%2f..%2fetc%2fpasswd", "404"),
        ("%00", "404"),
        ("%ff", "404"),
        ("missing.wasm", "404"),
        ("beside/../.hidden/a.txt", "404"),
        ("beside/a b.txt?one=1", "200"),
        ("", "200"),
    ];
    let (names, statuses): (Vec<&str>, Vec<&str>) = asked.into_iter().unzip();
    let page = format!(
        "<script type=module>alert('?'); const all = [];
         for (const name of {names:?}) all.push((await fetch('/' + name)).status);
         console.log(all.join(' ')); close();</script>"
    );
    fs::write(folder.path().join("app.html"), page).unwrap();
    let output = fathom(folder.path(), &["record", "--no-sandbox", "app.html"]);
    let said = format!(
        "page: {}\nfathom: nothing was recorded: the program instantiated no module, or what did was killed: a worker is recorded where it ends by itself\n",
        statuses.join(" ")
    );
    assert_eq!(text(&output.stderr), said);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_page_that_talks_without_end_is_over_in_time() {
    if !has_browser() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let page = "<script>const { port1, port2 } = new MessageChannel();
         port1.onmessage = () => { console.log('and'); port2.postMessage(0); };
         port2.postMessage(0);</script>";
    fs::write(folder.path().join("app.html"), page).unwrap();
    let words = ["record", "--no-sandbox", "--for", "500ms", "app.html"];
    let output = fathom(folder.path(), &words);
    assert!(text(&output.stderr).starts_with("page: and\npage: and\n"));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn what_is_no_page_is_refused_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("app.mjs"), "").unwrap();
    for (page, said) in [
        (
            "missing.html",
            "missing.html: No such file or directory (os error 2)",
        ),
        (
            "app.mjs",
            "app.mjs: not a page (.html); a program is recorded by: fathom record -- node app.mjs",
        ),
    ] {
        let output = fathom(folder.path(), &["record", "--no-sandbox", page]);
        assert_eq!(text(&output.stderr), format!("fathom: {said}\n"));
        assert_eq!(output.status.code(), Some(1), "{page}");
    }
}

/// The engine is wrong on whatever calls the module twice or more: as many calls are left.
#[test]
fn what_is_recorded_is_reduced() {
    with_node(|_| {
        let mut reduced = 0;
        for name in cases() {
            let case = Case::new(&name);
            assert!(case.record("app.record").status.success(), "{name}");
            let engine = case.path().join("engine");
            let program = env!("CARGO_BIN_EXE_fathom");
            let script = format!(
                "#!/bin/sh\n{program} run \"$1\" | sed '/: [01] calls in/!s/calls in/wrong/'\n"
            );
            fs::write(&engine, script).unwrap();
            fs::set_permissions(&engine, fs::Permissions::from_mode(0o755)).unwrap();
            let keep = format!("wrong on mine={} {{}}", engine.display());
            let output = case.fathom(&["--root", ROOT, "reduce", "app.record", "--keep", &keep]);
            let said = text(&output.stderr);
            if said.ends_with("the engine's answer is ours: nothing to keep\n") {
                continue;
            }
            assert!(output.status.success(), "{name}: {said}");
            let run = case.fathom(&["run", "app.reduced.wasm"]);
            assert!(run.status.success(), "{name}: {}", text(&run.stderr));
            // One that has others within it is left whole.
            let left = ["→ 2, functions ", "→ 1, functions "];
            let is_left = left.iter().any(|left| said.contains(left));
            assert!(is_left, "{name}: {said}");
            reduced += 1;
        }
        assert!(reduced >= 8, "{reduced}");
    });
}

#[test]
fn a_campaign_of_a_replay_says_that_the_host_is_not_in_it() {
    with_node(|_| {
        let case = Case::new("values");
        case.record("app.record");
        case.replay("app.record");
        let words = "bench app.replay.wasm --engines fathom:guard --rounds 1 --no-probe \
                     --wait-idle 0s --out out";
        let output = case.fathom(&words.split_whitespace().collect::<Vec<_>>());
        let said = text(&output.stdout);
        assert!(output.status.success(), "{said}{}", text(&output.stderr));
        let note = "replays of records: the time of the JavaScript host is not in it";
        assert!(said.contains(note), "{said}");
    });
}

#[test]
fn the_program_sees_its_own_environment_and_what_it_starts_is_recorded() {
    with_node(|_| {
        let case = Case::new("values");
        let script = "const fs = require('fs');
             const { Worker, isMainThread } = require('worker_threads');
             const { execFileSync } = require('child_process');
             const names = Object.keys(process.env).filter((name) => /^(FATHOM|NODE_OPT)/.test(name));
             const line = `${process.argv0} ${names} ${process.env.NODE_OPTIONS}`;
             const compiled = () => new WebAssembly.Module(fs.readFileSync('app.wasm'));
             const env = { all: () => [0, 0, 0n, 0], none: () => 0 };
             const runs = () => new WebAssembly.Instance(compiled(), { env }).exports.one();
             const kind = isMainThread ? process.argv[2] : 'run';
             if (kind === 'run') { console.log(line); runs(); }
             if (kind === 'child') process.stdout.write(execFileSync('node', [__filename, 'run']));
             if (kind === 'worker') new Worker(__filename);
             const given = { env: { ...process.env } };
             if (kind === 'given') process.stdout.write(execFileSync('node', [__filename, 'run'], given));
             if (kind === 'given to a worker') new Worker(__filename, given);";
        fs::write(case.path().join("app.cjs"), script).unwrap();
        for kind in ["run", "child", "worker", "given", "given to a worker"] {
            let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
                .current_dir(case.path())
                .env("NODE_OPTIONS", "--no-warnings")
                .env_remove("FATHOM_CLANG")
                .args(["record", "--", "node", "app.cjs", kind])
                .output()
                .unwrap();
            assert!(output.status.success(), "{kind}: {}", text(&output.stderr));
            let said = text(&output.stdout);
            assert_eq!(said, "node NODE_OPTIONS --no-warnings\n", "{kind}");
        }
    });
}

#[test]
fn a_program_that_is_told_to_end_is_recorded_until_then() {
    with_node(|_| {
        let case = Case::new("values");
        let script = "const fs = require('fs');
             const compiled = new WebAssembly.Module(fs.readFileSync('app.wasm'));
             const env = { all: () => [0, 0, 0n, 0], none: () => 0 };
             if (process.argv[2] !== 'idle') new WebAssembly.Instance(compiled, { env }).exports.one();
             fs.writeFileSync('ready', '');
             setTimeout(() => {}, 60000);";
        fs::write(case.path().join("app.cjs"), script).unwrap();
        let scratch = tempfile::tempdir().unwrap();
        for (kind, status) in [("calls", Some(0)), ("idle", Some(143))] {
            let mut child = Command::new(env!("CARGO_BIN_EXE_fathom"))
                .current_dir(case.path())
                .env("TMPDIR", scratch.path())
                .args(["record", "--", "node", "app.cjs", kind])
                .spawn()
                .unwrap();
            let ready = case.path().join("ready");
            while !ready.exists() {
                assert!(child.try_wait().unwrap().is_none(), "{kind}");
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            fs::remove_file(&ready).unwrap();
            let sent = Command::new("kill").arg(child.id().to_string()).status();
            assert!(sent.unwrap().success());
            assert_eq!(child.wait().unwrap().code(), status, "{kind}");
            let record = case.path().join("app.record");
            assert_eq!(record.exists(), kind == "calls");
            let _ = fs::remove_file(record);
            assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0, "{kind}");
        }
    });
}

#[test]
fn a_guest_that_computes_something_else_is_found_at_that_call() {
    with_node(|_| {
        let case = Case::new("memories");
        assert!(case.record("app.record").status.success());
        // The same module but for a factor: as if an engine multiplied wrongly.
        let text_of = fs::read_to_string(format!("{ROOT}/tests/replay/memories.wat")).unwrap();
        let wrong = wat::parse_str(text_of.replace("i32.const 31", "i32.const 33")).unwrap();
        let right = fs::read(case.path().join("app.wasm")).unwrap();
        let record = fs::read(case.path().join("app.record")).unwrap();
        let end = record.iter().position(|byte| *byte == b'\n').unwrap();
        let hash = |wasm: &[u8]| fathom_replay::record::Digest::of(wasm).blake3;
        let header = text(&record[..end]).replace(&hash(&right), &hash(&wrong));
        let other = [header.as_bytes(), &record[end..]].concat();
        fs::write(case.path().join("other.record"), other).unwrap();
        fs::write(case.path().join("other.record.wasm"), wrong).unwrap();
        assert!(case.replay("other.record").status.success());
        let replayed = case.fathom(&["run", "app.replay.wasm"]);
        assert_eq!(replayed.status.code(), Some(1));
        assert_eq!(
            text(&replayed.stderr),
            "fathom replay: return to the host 2 of 12 is not as recorded: the module passed something else\n"
        );
    });
}

#[test]
fn what_cannot_be_recorded_is_refused_in_a_line() {
    with_node(|_| {
        let folder = tempfile::tempdir().unwrap();
        let threads = wat::parse_str(
            r#"(module (import "env" "memory" (memory 1 1 shared)) (func (export "f")))"#,
        )
        .unwrap();
        fs::write(folder.path().join("threads.wasm"), threads).unwrap();
        fs::write(
            folder.path().join("threads.cjs"),
            "const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
             const bytes = require('fs').readFileSync('threads.wasm');
             WebAssembly.instantiate(bytes, { env: { memory } }).then(({ instance }) => instance.exports.f());",
        )
        .unwrap();
        let refused = [
            (
                &["node", "threads.cjs"][..],
                "fathom: nothing was recorded: its memory is shared between threads\n",
            ),
            (
                &["node", "-e", "0"],
                "fathom: nothing was recorded: the program instantiated no module, or what did was killed: a worker is recorded where it ends by itself\n",
            ),
            (
                &["deno", "run", "app.js"],
                "fathom: deno: what is recorded needs permissions: deno run --allow-all …\n",
            ),
            (
                &["chromium", "page.html"],
                "fathom: chromium: a page is recorded by: fathom record PAGE.html\n",
            ),
            (
                &["./missing"],
                "fathom: ./missing: No such file or directory (os error 2)\n",
            ),
        ];
        for (command, said) in refused {
            let words = [&["record", "--"], command].concat();
            let output = fathom(folder.path(), &words);
            assert_eq!(output.status.code(), Some(1), "{command:?}");
            assert_eq!(text(&output.stderr), said, "{command:?}");
            assert!(!folder.path().join("app.record").exists());
        }
    });
}

#[test]
fn a_temporary_folder_may_have_any_name() {
    with_node(|_| {
        let case = Case::new(&cases()[0]);
        let odd = case.path().join(r#"a "quoted\" name\"#);
        fs::create_dir(&odd).unwrap();
        let script = case.script.as_str();
        let recorded = Command::new(env!("CARGO_BIN_EXE_fathom"))
            .current_dir(case.path())
            .args(["record", "-o", "app.record", "--instance", "1", "--"])
            .args(["node", script, "app.wasm"])
            .env("TMPDIR", odd)
            .output()
            .unwrap();
        assert!(recorded.status.success(), "{}", text(&recorded.stderr));
    });
}

/// A record that has no place is refused before the program runs, whose work would be lost.
#[test]
fn a_record_without_a_place_is_refused_first() {
    let folder = tempfile::tempdir().unwrap();
    let words = [
        "record",
        "--out",
        "no/such.record",
        "--",
        "sh",
        "-c",
        "touch ran",
    ];
    let output = fathom(folder.path(), &words);
    assert_eq!(output.status.code(), Some(1));
    let said = "fathom: no/such.record: No such file or directory (os error 2)\n";
    assert_eq!(text(&output.stderr), said);
    assert!(!folder.path().join("ran").exists());
}
