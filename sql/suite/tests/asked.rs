//! What the program is asked for, and what it says where that means nothing. The modules are those
//! of `operators/build.py`.

use std::process::{Command, Output};

fn run(words: &str) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_fathom-sql-suite"));
    program.args(words.split(' ')).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn what_means_nothing_is_refused_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().display();
    for (words, says) in [
        ("everything".to_owned(), "invalid value 'everything'"),
        (
            "model --rounds 0".to_owned(),
            "invalid value '0' for '--rounds",
        ),
        (
            "rows --seconds 0".to_owned(),
            "invalid value '0' for '--seconds",
        ),
        (
            "kmeans --points 10,0".to_owned(),
            "invalid value '0' for '--points",
        ),
        ("rows --codegen gcc".to_owned(), "no code generator gcc"),
        ("kmeans --bounds some".to_owned(), "unknown strategy 'some'"),
        (
            format!("model --modules {empty}"),
            "gcd.wasm: sql/operators/build.py makes it",
        ),
        (
            format!("create --modules {empty}"),
            "no modules: sql/operators/build.py makes them",
        ),
        (
            format!("create --modules {empty}/none"),
            "No such file or directory",
        ),
    ] {
        let output = run(&words);
        let error = text(&output.stderr);
        let first = error.lines().next().unwrap_or_default();
        assert!(!output.status.success(), "{words}");
        assert!(first.contains(says), "{words}: {error}");
        // Words that clap refuses have its hint below.
        let is_ours = first.starts_with("fathom-sql-suite: ");
        assert!(!is_ours || error.lines().count() == 1, "{words}: {error}");
    }
}

#[cfg(not(feature = "datafusion"))]
#[test]
fn queries_need_datafusion() {
    let output = run("plain");
    let error = text(&output.stderr);
    assert!(!output.status.success());
    assert!(error.contains("built without DataFusion"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
}

/// Whose answers are compared with native code's.
#[cfg(feature = "datafusion")]
#[test]
fn plain_sql_has_the_answers_of_operators() {
    let output = run("plain --rounds 1 --points 10000");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for query in ["k-means over 10000 points, threads: 1", "gcd", "collatz"] {
        assert!(said.contains(&format!("### A query of {query}")), "{said}");
    }
}

#[test]
fn each_function_has_a_row() {
    let output = run("model --rounds 1");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for function in [
        "gcd",
        "collatz",
        "haversine",
        "initials",
        "slope",
        "udo_kmeans",
    ] {
        assert!(said.contains(&format!("| {function}")), "{said}");
    }
}
