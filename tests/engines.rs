//! `fathom engines` in a home with made-up engines: what is listed, installed
//! and removed, what the doctor says, and what happens without Python.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// A home with the real installer and the engine `good`, whose check says what
/// it proved.
fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("workloads")).unwrap();
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("engines");
    fs::create_dir(home.path().join("engines")).unwrap();
    for script in ["install.py", "step.py", "releases.py", "debian.py"] {
        fs::copy(ours.join(script), home.path().join("engines").join(script)).unwrap();
    }
    fs::write(
        home.path().join("engines/unavailable.toml"),
        "[[engine]]\nname = \"n\"\ndisplay = \"N\"\nwhy = \"in no registry\"\n",
    )
    .unwrap();
    describe(
        home.path(),
        "good",
        "(into / 'runner').write_text('#!/bin/sh\\necho good 1.2: proved')\n    \
         (into / 'runner').chmod(0o755)",
    );
    home
}

/// An engine whose recipe does this.
fn describe(home: &Path, name: &str, recipe: &str) {
    let folder = home.join("engines").join(name);
    fs::create_dir(&folder).unwrap();
    let runner = format!("[\"{{tools}}/engines/{name}/runner\"]");
    fs::write(
        folder.join("engine.toml"),
        format!(
            "name = \"{name}\"\ndisplay = \"{name}\"\ncommand = {runner}\ncheck = {runner}\n\
             strategies = [\"guard\", \"trap\"]\nbackends = [\"fast\"]\nabsent = \"get {name}\"\n"
        ),
    )
    .unwrap();
    let recipe =
        format!("VERSION = '1.2'\nNEEDS = []\ndef install(step, here, into):\n    {recipe}\n");
    fs::write(folder.join("recipe.py"), recipe).unwrap();
}

/// Exit status, output and errors.
fn engines(home: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    engines_with(home, arguments, None)
}

fn engines_with(
    home: &Path,
    arguments: &[&str],
    path: Option<&Path>,
) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command
        .arg("engines")
        .args(arguments)
        .env("FATHOM_HOME", home);
    if let Some(path) = path {
        command.env("PATH", path);
    }
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn an_engine_is_installed_once_listed_checked_and_removed() {
    let home = home();
    let home = home.path();
    let (status, out, _) = engines(home, &["list"]);
    assert_eq!(status, Some(0));
    assert!(
        out.contains("good    1.2      not installed     –  guard, trap  fast\n"),
        "{out}"
    );
    assert!(
        out.ends_with("\nnot available:\n  N  in no registry\n"),
        "{out}"
    );
    let (status, out, _) = engines(home, &["doctor"]);
    assert_eq!(
        (status, out.as_str()),
        (Some(0), "– good  not installed: get good\n")
    );

    let (status, out, err) = engines(home, &["install", "all"]);
    assert_eq!((status, err.as_str()), (Some(0), ""));
    assert_eq!(out, "good: 1.2 is installed in .tools/engines/good\n");
    let (status, out, _) = engines(home, &["install", "good"]);
    assert_eq!(status, Some(0));
    assert!(
        out.ends_with("nothing to do: everything asked for is installed\n"),
        "{out}"
    );

    let (_, out, _) = engines(home, &["list", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&out).unwrap();
    let state = &answer["engines"][0]["state"];
    assert_eq!(
        (&state["installed"], &state["version"]),
        (&true.into(), &"1.2".into())
    );
    assert!(state["bytes"].as_u64().unwrap() > 0);
    let (status, out, _) = engines(home, &["doctor"]);
    assert_eq!(
        (status, out.as_str()),
        (Some(0), "✓ good  good 1.2: proved\n")
    );

    let (status, out, _) = engines(home, &["remove", "good"]);
    assert_eq!((status, out.as_str()), (Some(0), "good: removed\n"));
    assert!(!home.join(".tools/engines/good").exists());
}

#[test]
fn one_that_fails_does_not_keep_the_others_away_and_the_table_says_so() {
    let home = home();
    let home = home.path();
    describe(home, "bad", "raise step.Failed('the download was cut')");
    let (status, out, err) = engines(home, &["install", "all"]);
    assert_eq!(status, Some(1));
    assert_eq!(err, "bad: not installed: the download was cut\n");
    let table: Vec<&str> = out
        .lines()
        .skip_while(|l| !l.starts_with("engine"))
        .collect();
    assert_eq!(table.len(), 3, "{out}");
    assert!(
        table[1].starts_with("bad ") && table[1].ends_with(" not installed"),
        "{out}"
    );
    assert!(
        table[2].starts_with("good ") && table[2].ends_with(" installed"),
        "{out}"
    );
}

#[test]
fn the_doctor_finds_an_engine_that_does_not_run_or_is_outdated() {
    let home = home();
    let home = home.path();
    engines(home, &["install", "good"]);
    let runner = home.join(".tools/engines/good/runner");
    fs::write(&runner, "#!/bin/sh\necho no such library >&2\nexit 1\n").unwrap();
    fs::set_permissions(&runner, fs::Permissions::from_mode(0o755)).unwrap();
    let (status, out, _) = engines(home, &["doctor"]);
    assert_eq!(
        (status, out.as_str()),
        (Some(1), "✗ good  no such library\n")
    );
    fs::write(home.join("engines/good/more.c"), "// new").unwrap();
    let (status, out, _) = engines(home, &["doctor", "good"]);
    assert_eq!(status, Some(1));
    assert_eq!(
        out,
        "✗ good  made from a recipe that has changed: get good\n"
    );
}

#[test]
fn what_cannot_be_done_is_one_clear_line() {
    let home = home();
    let home = home.path();
    let empty = tempfile::tempdir().unwrap();
    for arguments in [&["list"][..], &["install", "good"], &["remove", "all"]] {
        let (status, out, err) = engines_with(home, arguments, Some(empty.path()));
        assert_eq!((status, out.as_str()), (Some(1), ""));
        let told = "fathom: python3 cannot be started, and installing engines needs it \
                    (3.11 or newer): No such file or directory (os error 2)\n";
        assert_eq!(err, told);
    }
    let (status, _, err) = engines(home, &["install", "all", "bda"]);
    assert_eq!(status, Some(1));
    assert_eq!(
        err,
        "fathom: there is no engine \"bda\" to install: there is good\n"
    );
    let (status, _, error) = engines(home, &["remove", "nosuch"]);
    assert_eq!(status, Some(1));
    assert_eq!(
        error,
        "fathom: there is no engine \"nosuch\" to remove: there is good\n"
    );
    let (status, _, err) = engines(home, &["doctor", "bda"]);
    assert_eq!(status, Some(1));
    assert_eq!(err, "fathom: there is no engine \"bda\": there is good\n");
    let (status, _, err) = engines(empty.path(), &["list"]);
    assert_eq!(status, Some(1));
    assert!(err.contains(": not a checkout of Fathom"), "{err}");
}

/// An engine in versions, whose registry is an `npm` of our own in the folder that is
/// returned; release 3.0.0 does not build.
fn in_versions(home: &Path) -> TempDir {
    let recipe = "if step.version == '3.0.0': raise step.Failed('cc: no such header')\n    \
                  (into / 'runner').write_text(f'#!/bin/sh\\necho many {step.version or VERSION}')\n    \
                  (into / 'runner').chmod(0o755)";
    describe(home, "many", recipe);
    let description = home.join("engines/many/engine.toml");
    let text = fs::read_to_string(&description).unwrap();
    let text = text.replace("{tools}/engines/many", "{engine}");
    fs::write(description, text + "versions = \"npm:many\"\n").unwrap();
    let bin = tempfile::tempdir().unwrap();
    let answer = "[\"1.0.0\", \"1.2\", \"1.9.0\", \"1.10.0\", \"2.0.0-rc.1\", \"3.0.0\"]";
    npm(bin.path(), &format!("echo '{answer}'"));
    bin
}

fn npm(bin: &Path, script: &str) {
    let npm = bin.join("npm");
    fs::write(&npm, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&npm, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn releases_of_an_engine_stand_side_by_side() {
    let home = home();
    let home = home.path();
    let bin = in_versions(home);
    let path = format!(
        "{}:{}",
        bin.path().display(),
        std::env::var("PATH").unwrap()
    );
    let run = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        engines_with(home, &words, Some(Path::new(&path)))
    };
    let (status, out, err) = run("install many many@1 many@1.2 many@1.0.0");
    assert_eq!((status, err.as_str()), (Some(0), ""), "{out}");
    assert!(
        out.contains("many@1: the newest such release is 1.10.0\n"),
        "{out}"
    );
    assert!(
        out.contains("many: 1.2 is installed\n"),
        "the pinned one: {out}"
    );
    let (_, out, _) = run("list");
    let rows: Vec<_> = out
        .lines()
        .filter(|line| line.starts_with("many"))
        .collect();
    let rows: Vec<_> = rows
        .iter()
        .map(|row| row.split_whitespace().take(3).collect())
        .collect();
    let rows: Vec<Vec<&str>> = rows;
    assert_eq!(
        rows,
        [
            ["many", "1.2", "installed"],
            ["many@1.0.0", "1.0.0", "installed"],
            ["many@1.10.0", "1.10.0", "installed"]
        ]
    );
    let (status, out, _) = run("doctor many@1.10.0 many");
    let checked = "✓ many         many 1.2\n✓ many@1.10.0  many 1.10.0\n";
    assert_eq!((status, out.as_str()), (Some(0), checked));
    // Named in full and there: nobody is asked.
    npm(bin.path(), "exit 1");
    let (status, out, _) = run("install many@1.0.0");
    assert_eq!(
        (status, out.lines().next()),
        (Some(0), Some("many@1.0.0: 1.0.0 is installed"))
    );
    let (status, out, _) = run("remove many@1.0.0");
    assert_eq!((status, out.as_str()), (Some(0), "many@1.0.0: removed\n"));
    assert!(home.join(".tools/engines/many").exists());
    assert_eq!(run("remove all").0, Some(0));
    assert!(!home.join(".tools/engines/many@1.10.0").exists());
}

#[test]
fn a_release_that_is_not_to_be_had_is_one_clear_line() {
    let home = home();
    let home = home.path();
    let bin = in_versions(home);
    let path = format!(
        "{}:{}",
        bin.path().display(),
        std::env::var("PATH").unwrap()
    );
    let refused = |words: &[&str]| {
        let (status, _, err) = engines_with(home, words, Some(Path::new(&path)));
        assert_eq!(status, Some(1), "{words:?}");
        assert_eq!(err.lines().count(), 1, "{err}");
        err
    };
    for (word, said) in [
        (
            "many@4",
            "many@4: not installed: npm has no release 4 of it; the newest are 3.0.0, 1.10.0, 1.9.0, 1.2, 1.0.0",
        ),
        (
            "many@2",
            "many@2: not installed: npm has no release 2 of it; the newest are",
        ),
        ("many@3", "many@3: not installed: cc: no such header"),
        (
            "many@../x",
            "many@../x: not installed: '../x' is no version: it is like 48.0.0",
        ),
        ("many@", "many@: not installed: '' is no version"),
        (
            "good@1",
            "good@1: not installed: good is had in one version, 1.2",
        ),
        (
            "mnay@1",
            "fathom: there is no engine \"mnay@1\" to install: there is good, many; did you mean many?",
        ),
    ] {
        let err = refused(&["install", word]);
        assert!(err.starts_with(said), "{err}");
    }
    assert!(!home.join(".tools/engines/many@3.0.0").exists());
    let (status, out, _) = engines_with(home, &["list", "--versions"], Some(Path::new(&path)));
    let offers = "many (pinned 1.2), 6 of npm:many: 3.0.0, 1.10.0\n";
    assert_eq!((status, out.as_str()), (Some(0), offers));
    npm(
        bin.path(),
        "echo npm ERR! connect ECONNREFUSED 127.0.0.1:9 >&2; exit 1",
    );
    for words in [["install", "many@1"], ["list", "--versions"]] {
        let err = refused(&words);
        assert!(
            err.contains("the package registry cannot be reached"),
            "{err}"
        );
    }
    npm(bin.path(), "echo {}");
    let err = refused(&["list", "--versions"]);
    assert_eq!(err, "many: npm has no release of many\n");
    let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(["probe", "--engines", "many@7"])
        .env("FATHOM_HOME", home)
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = "many@7: not probed: not installed (there is none): fathom engines install many@7\n";
    assert_eq!(err, said);
}

#[test]
fn a_command_of_ones_own_is_measured_and_one_that_answers_wrongly_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let script = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        file.display().to_string()
    };
    let hello = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/run.in/hello.wat");
    let bench = |what: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
            .args(["bench", &hello.display().to_string()])
            .args([
                "--rounds",
                "1",
                "--wait-idle",
                "0",
                "--engines",
                &format!("mine={what}"),
            ])
            .args([
                "--out",
                &folder
                    .path()
                    .join("out")
                    .join(what.len().to_string())
                    .display()
                    .to_string(),
            ])
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let good = script("good", "[ -f \"$2\" ] && echo fathom: answer=2a");
    let (status, out, err) = bench(&format!("{good} --run {{}}"));
    assert_eq!(status, Some(0), "{err}");
    assert!(out.contains(" mine as-it-is"), "{out}");
    assert!(out.contains("mine: not probed"), "{out}");
    for (name, text, said) in [
        (
            "wrong",
            "echo 43",
            "a program that prints \"fathom: answer=2a\\n\" printed \"43\\n\"",
        ),
        (
            "crash",
            "kill -SEGV $$",
            "on a program that prints a line: signal: 11 (SIGSEGV)",
        ),
        (
            "fails",
            "echo bad flag >&2; exit 2",
            "on a program that prints a line: exit status: 2: bad flag",
        ),
    ] {
        let (status, _, err) = bench(&format!("{} {{}}", script(name, text)));
        assert_eq!((status, err.lines().count()), (Some(1), 1), "{err}");
        assert!(
            err.contains("mine: this build does not work (fathom: ") && err.contains(said),
            "{err}"
        );
    }
}
