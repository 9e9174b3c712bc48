//! `fathom sql` hands its words to a program that a checkout builds.

use std::fs;
use std::path::Path;
use std::process::Command;

/// A home without engines.
fn home(folder: &Path) {
    for part in ["home/engines", "home/workloads"] {
        fs::create_dir_all(folder.join(part)).unwrap();
    }
}

/// The program of this checkout prints what it was given.
#[test]
fn words_go_to_the_program_that_a_checkout_builds() {
    let place = tempfile::tempdir().unwrap();
    home(place.path());
    let run = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
            .arg("sql")
            .args(words)
            .current_dir(place.path())
            .env("FATHOM_HOME", place.path().join("home"))
            .env("CARGO_TARGET_DIR", place.path().join("target"))
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (status, _, error) = run(&["-c", "SELECT 1"]);
    assert_eq!(status, Some(1), "{error}");
    let none = "fathom: no program for SQL: ";
    assert!(error.starts_with(none), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");

    let folder = place.path().join("home/sql");
    fs::create_dir_all(folder.join("src")).unwrap();
    let package = "name = \"fathom-sql\"\nversion = \"0.0.0\"\n";
    let manifest = format!("[package]\n{package}edition = \"2024\"\n[workspace]\n");
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    let lock = format!("version = 4\n\n[[package]]\n{package}");
    fs::write(folder.join("Cargo.lock"), lock).unwrap();
    let main = "fn main() {
        let words: Vec<_> = std::env::args().skip(1).collect();
        println!(\"{words:?}\");
    }";
    fs::write(folder.join("src/main.rs"), "fn main() { nothing }").unwrap();
    let (status, _, error) = run(&["-c", "SELECT 1"]);
    assert_eq!(status, Some(1), "{error}");
    let last = error.lines().last().unwrap_or_default();
    assert!(last.starts_with("fathom: the program for SQL was not built: "));

    fs::write(folder.join("src/main.rs"), main).unwrap();
    let (status, said, error) = run(&["-c", "SELECT 1; SELECT 2"]);
    assert_eq!(status, Some(0), "{error}");
    assert_eq!(said, "[\"-c\", \"SELECT 1; SELECT 2\"]\n");
    assert!(error.contains("with Apache DataFusion, once"), "{error}");
    let (status, said, error) = run(&["--", "--help"]);
    assert_eq!((status, error.as_str()), (Some(0), ""));
    assert_eq!(said, "[\"--help\"]\n");
}
