//! `fathom bisect` on made-up releases of an engine that differ in how long they wait, from a
//! registry that is a script: the release is found, or it is said that none was.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Release 1.4 cannot be installed, 1.5 answers wrongly; 1.6 and later wait longer.
const RECIPE: &str = "
VERSION = '0.1'
NEEDS = []
def install(step, here, into):
    minor = int((step.version or VERSION).split('.')[1])
    if minor == 4: raise step.Failed('cc: no such header')
    runner = into / 'runner'
    wait, answer = ('0.16' if minor >= 6 else '0.01'), ('43' if minor == 5 else '42')
    runner.write_text(f'#!/bin/sh\\nexec {FATHOM} runner command -- /bin/sh -c \"sleep {wait}; echo {answer}\" {{}}\\n')
    runner.chmod(0o755)
";

fn script(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A home with the engine `many`, and an `npm` that has these releases of it.
fn home(releases: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("engines");
    for folder in ["workloads", "bin", "engines/many"] {
        fs::create_dir_all(home.path().join(folder)).unwrap();
    }
    for name in ["install.py", "step.py", "releases.py", "debian.py"] {
        fs::copy(ours.join(name), home.path().join("engines").join(name)).unwrap();
    }
    let many = home.path().join("engines/many");
    let fathom = format!("FATHOM = {:?}\n", env!("CARGO_BIN_EXE_fathom"));
    fs::write(many.join("recipe.py"), fathom + RECIPE).unwrap();
    let description = "name = \"many\"\ndisplay = \"Many\"\ncommand = [\"{engine}/runner\"]\n\
                       check = [\"true\"]\nstrategies = [\"guard\"]\nversions = \"npm:many\"\n\
                       absent = \"fathom engines install many\"\n";
    fs::write(many.join("engine.toml"), description).unwrap();
    script(
        &home.path().join("bin/npm"),
        &format!("#!/bin/sh\necho '{releases}'\n"),
    );
    home
}

/// `fathom bisect` in so many rounds.
fn command(home: &TempDir, engine: &str, options: &[&str], rounds: &str) -> Command {
    let hello = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/run.in/hello.wat");
    let path = std::env::var("PATH").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command
        .args(["bisect", "--engine", engine])
        .args(options)
        .arg(hello)
        .args([
            "--rounds",
            rounds,
            "--iterations",
            "1",
            "--warmup",
            "0",
            "--wait-idle",
            "0",
        ])
        .current_dir(home.path())
        .env("FATHOM_HOME", home.path())
        .env(
            "PATH",
            format!("{}:{path}", home.path().join("bin").display()),
        );
    command
}

/// Exit status, output and errors.
fn bisect(home: &TempDir, engine: &str, options: &[&str]) -> (Option<i32>, String, String) {
    bisect_in(home, engine, options, "5")
}

/// The same in so many rounds.
fn bisect_in(
    home: &TempDir,
    engine: &str,
    options: &[&str],
    rounds: &str,
) -> (Option<i32>, String, String) {
    let output = command(home, engine, options, rounds).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

const RELEASES: &str = r#"["1.1", "1.4", "1.5", "1.6", "1.7-rc.1", "1.8"]"#;

#[test]
fn the_release_that_made_it_slower_is_found_whatever_stands_between() {
    let home = home(RELEASES);
    let (status, out, err) = bisect(&home, "many", &["--good", "1.1", "--bad", "1.8"]);
    let lines: Vec<&str> = out.lines().collect();
    assert!(
        lines[0].starts_with("1.8 over 1.1: ") && lines[0].ends_with(", different"),
        "{out}{err}"
    );
    assert!(
        out.contains("left out: many@1.4: not installed: cc: no such header\n"),
        "{out}{err}"
    );
    assert!(out.contains("left out: 1.5: "), "{out}{err}");
    assert!(
        out.contains(
            "many: it changed after 1.1 and not after 1.6; 2 releases between cannot be measured\n"
        ),
        "{out}"
    );
    assert!(
        lines
            .last()
            .unwrap()
            .starts_with("many 1.6 is the first that is slower: "),
        "{out}"
    );
    assert_eq!(status, Some(3), "it may be one of those between");
    // All that it needs is here now: nobody is asked.
    script(&home.path().join("bin/npm"), "#!/bin/sh\nexit 1\n");
    let (status, _, err) = bisect(
        &home,
        "many",
        &["--installed", "--good", "1", "--bad", "1.4"],
    );
    let said = "fathom: many@1.4: no such release is installed; there is 1.8, 1.6, 1.5, 1.1\n";
    assert_eq!((status, err.as_str()), (Some(1), said));
    // What two rounds cannot tell.
    let options = ["--installed", "--good", "1.6", "--bad", "1.8"];
    let (status, out, err) = bisect_in(&home, "many", &options, "2");
    assert_eq!(status, Some(4), "{out}{err}");
    let said = "no difference was shown, and none ruled out: measure more rounds\n";
    assert!(out.ends_with(said), "{out}{err}");
}

#[test]
fn what_cannot_be_looked_for_is_one_clear_line() {
    let home = home(RELEASES);
    for (options, said) in [
        (
            &["--good", "1.1", "--bad", "2"][..],
            "many@2: no such release is in its registry; there is 1.8, 1.7-rc.1, 1.6, 1.5, 1.4, 1.1",
        ),
        (
            &["--good", "1.1", "--bad", "1.1"],
            "--good and --bad are one release, 1.1",
        ),
        (
            &["--good", "1.1", "--bad", "1.4"],
            "many@1.4: not installed: cc: no such header",
        ),
        (&["--good", "1.1", "--bad", "1.5"], "1.5: "),
        (
            &["--good", "1.1", "--bad", "1.8", "--installed", "mnay"],
            "there is no engine \"mnay\": there is many; did you mean many?",
        ),
        (
            &["--good", "1", "--bad", "1.8", "--engines", "x"],
            "--engines: bisect takes one, by --engine",
        ),
        (
            &["--good", "1", "--bad", "1.8", "--shard", "1/2"],
            "--shard: bisect measures on one machine",
        ),
    ] {
        let mut options: Vec<&str> = options.to_vec();
        let is_mistyped = options.last() == Some(&"mnay");
        let engine = if is_mistyped { options.pop() } else { None };
        let (status, out, err) = bisect(&home, engine.unwrap_or("many"), &options);
        assert_eq!(status, Some(1), "{options:?}: {out}{err}");
        let last = err.lines().last().unwrap_or_default();
        assert!(
            last.starts_with(&format!("fathom: {said}")),
            "{options:?}: {err}"
        );
    }
    script(
        &home.path().join("bin/npm"),
        "#!/bin/sh\necho npm ERR! ECONNREFUSED >&2\nexit 1\n",
    );
    let (status, _, err) = bisect(&home, "many", &["--good", "1.1", "--bad", "1.8"]);
    assert_eq!((status, err.lines().count()), (Some(1), 1), "{err}");
    assert!(
        err.contains("the package registry cannot be reached"),
        "{err}"
    );
}

/// What git says of a repository.
fn git(repository: &Path, words: &[&str]) -> String {
    let name = ["-c", "user.name=A", "-c", "user.email=a@b"];
    let output = Command::new("git")
        .arg("-C")
        .arg(repository)
        .args(name)
        .args(words)
        .output()
        .unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Six commits: the third does not build, and from the fifth on it waits longer.
fn repository(folder: &Path) {
    fs::create_dir(folder).unwrap();
    git(folder, &["init", "--quiet"]);
    for number in 1..=6 {
        let wait = if number >= 5 { "0.16" } else { "0.01" };
        fs::write(folder.join("wait"), wait).unwrap();
        fs::write(folder.join("number"), number.to_string()).unwrap();
        git(folder, &["add", "."]);
        git(
            folder,
            &["commit", "--quiet", "--message", &format!("c{number}")],
        );
        git(folder, &["tag", &format!("t{number}")]);
    }
}

/// Makes `run` of a commit.
const BUILD: &str = "test $(cat number) != 3 || { echo no such header >&2; exit 1; }; \
    printf '#!/bin/sh\\nsleep %s; echo fathom: answer=2a\\n' $(cat wait) > run && chmod +x run";

#[test]
fn the_commit_is_found_and_the_work_tree_stays_as_it_is() {
    let home = home("[]");
    let at = home.path().join("engine");
    repository(&at);
    fs::write(at.join("wait"), "not committed").unwrap();
    let seen = || {
        let words: [&[&str]; 4] = [
            &["status", "--porcelain"],
            &["rev-parse", "HEAD"],
            &["branch", "--all"],
            &["worktree", "list"],
        ];
        words.map(|words| git(&at, words))
    };
    let before = seen();
    let place = at.to_str().unwrap();
    let options = ["--repo", place, "--build", BUILD];
    let with = |more: &[&'static str]| -> Vec<&str> { [&options[..], more].concat() };
    let engine = "mine={tree}/run {}";
    let (status, out, err) = bisect(&home, engine, &with(&["--good", "t1", "--bad", "t6"]));
    let short = |name: &str| {
        git(&at, &["rev-parse", "--short=12", name])
            .trim()
            .to_owned()
    };
    let third = short("t3");
    assert!(
        out.contains(&format!(
            "left out: {third}: it does not build: no such header\n"
        )),
        "{out}{err}"
    );
    let first = format!("mine {} is the first that is slower: ", short("t5"));
    assert!(
        out.lines().last().unwrap().starts_with(&first),
        "{out}{err}"
    );
    assert_eq!(status, Some(0), "{out}{err}");
    assert_eq!(seen(), before);
    assert_eq!(
        fs::read_to_string(at.join("wait")).unwrap(),
        "not committed"
    );
}

#[test]
fn what_is_no_commit_or_no_build_of_one_is_said_in_one_line() {
    let home = home("[]");
    let at = home.path().join("engine");
    repository(&at);
    let third = git(&at, &["rev-parse", "--short=12", "t3"]);
    let third = third.trim();
    let engine = "mine={tree}/run {}";
    let place = at.to_str().unwrap();
    for (engine, more, said) in [
        (
            engine,
            &["--good", "t9", "--bad", "t6"],
            "t9: no such commit in ",
        ),
        (
            "mine=/bin/true",
            &["--good", "t1", "--bad", "t6"],
            "--engine mine=/bin/true: with --build it is NAME=WHAT, ",
        ),
        (
            "many",
            &["--good", "t1", "--bad", "t6"],
            "--engine many: NAME[:STRATEGY[:BACKEND]], its releases are ",
        ),
        (
            engine,
            &["--good", "t3", "--bad", "t6"],
            &format!("{third}: it does not build: no such header\n"),
        ),
    ] {
        let (status, _, err) = bisect(
            &home,
            engine,
            &[&["--repo", place, "--build", BUILD][..], more].concat(),
        );
        let line = err.lines().last().unwrap_or_default();
        assert_eq!(status, Some(1), "{err}");
        assert!(
            format!("{line}\n").starts_with(&format!("fathom: {said}")),
            "{err}"
        );
    }
    let worktrees = git(&at, &["worktree", "list"]);
    assert_eq!(worktrees.lines().count(), 1, "{worktrees}");
}

#[test]
fn nothing_is_left_of_a_build_that_is_stopped() {
    let home = home("[]");
    let at = home.path().join("engine");
    repository(&at);
    let child = home.path().join("child");
    let build = format!("sleep 100 & echo $! > {}; wait", child.display());
    let words = ["--repo", at.to_str().unwrap(), "--build", &build];
    let ends = ["--good", "t1", "--bad", "t6"];
    let mut fathom = command(&home, "mine={tree}/run {}", &[words, ends].concat(), "5")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let slept = loop {
        let number = fs::read_to_string(&child).unwrap_or_default();
        if number.ends_with('\n') {
            break number.trim().to_owned();
        }
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(10));
    };
    let stopped = Command::new("kill").arg(fathom.id().to_string()).status();
    assert!(stopped.unwrap().success());
    assert_eq!(fathom.wait().unwrap().code(), Some(130));
    let mut said = String::new();
    fathom.stderr.unwrap().read_to_string(&mut said).unwrap();
    assert!(said.ends_with("fathom: stopped\n"), "{said}");
    // It is nobody's child any more, and may be waited for a moment later.
    let is_there = || {
        let stat = fs::read_to_string(format!("/proc/{slept}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    let ended = Instant::now();
    while is_there() {
        assert!(
            ended.elapsed() < Duration::from_secs(10),
            "{slept} sleeps on"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    let worktrees = git(&at, &["worktree", "list"]);
    assert_eq!(worktrees.lines().count(), 1, "{worktrees}");
}
