//! `fathom sql` and `fathom suite sql` hand their words to programs that a checkout builds.

use std::fs;
use std::path::Path;
use std::process::Command;

/// A home without engines.
fn home(folder: &Path) {
    for part in ["home/engines", "home/workloads"] {
        fs::create_dir_all(folder.join(part)).unwrap();
    }
}

/// The programs of this checkout print what they were given.
#[test]
fn words_go_to_the_program_that_a_checkout_builds() {
    handed_over(
        &["sql"],
        "fathom-sql",
        "SQL",
        "with Apache DataFusion, once",
    );
    let suite = "to measure functions in SQL, once";
    handed_over(
        &["suite", "sql"],
        "fathom-sql-suite",
        "measuring SQL",
        suite,
    );
}

fn handed_over(command: &[&str], program: &str, what: &str, first: &str) {
    let place = tempfile::tempdir().unwrap();
    home(place.path());
    let run = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
            .args(command)
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
    let none = format!("fathom: no program for {what}: ");
    assert!(error.starts_with(&none), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");

    let folder = place.path().join("home/sql");
    fs::create_dir_all(folder.join("src")).unwrap();
    let package =
        format!("[package]\nname = \"{program}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n");
    let features = "[features]\ndatafusion = []\n";
    fs::write(
        folder.join("Cargo.toml"),
        format!("{package}{features}[workspace]\n"),
    )
    .unwrap();
    let lock = format!("version = 4\n\n[[package]]\nname = \"{program}\"\nversion = \"0.0.0\"\n");
    fs::write(folder.join("Cargo.lock"), lock).unwrap();
    let main = "fn main() {
        let words: Vec<_> = std::env::args().skip(1).collect();
        println!(\"{words:?}{}\", if cfg!(feature = \"datafusion\") { \" and queries\" } else { \"\" });
    }";
    fs::write(folder.join("src/main.rs"), "fn main() { nothing }").unwrap();
    let (status, _, error) = run(&["-c", "SELECT 1"]);
    assert_eq!(status, Some(1), "{error}");
    let last = error.lines().last().unwrap_or_default();
    assert!(last.starts_with(&format!("fathom: the program for {what} was not built: ")));

    fs::write(folder.join("src/main.rs"), main).unwrap();
    let (status, said, error) = run(&["-c", "SELECT 1; SELECT 2"]);
    assert_eq!(status, Some(0), "{error}");
    assert_eq!(said, "[\"-c\", \"SELECT 1; SELECT 2\"]\n");
    assert!(error.contains(first), "{error}");
    let (status, said, error) = run(&["--", "--help"]);
    assert_eq!((status, error.as_str()), (Some(0), ""));
    assert_eq!(said, "[\"--help\"]\n");
    let (status, said, error) = run(&["plain", "--rounds", "3"]);
    assert_eq!(status, Some(0), "{error}");
    let queries = if program == "fathom-sql-suite" {
        " and queries"
    } else {
        ""
    };
    assert_eq!(said, format!("[\"plain\", \"--rounds\", \"3\"]{queries}\n"));
}
