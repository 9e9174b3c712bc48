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
    for script in ["install.py", "step.py", "debian.py"] {
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
