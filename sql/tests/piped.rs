//! Statements on standard input and by `-c`: what is text stays text.

use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_fathom-sql");

/// What is printed, what is wrong, and whether it went well.
type Said = (String, Vec<String>, bool);

fn said(output: Output) -> Said {
    let out = String::from_utf8(output.stdout).unwrap();
    let rows = out.lines().filter(|line| line.starts_with('|'));
    let rows: Vec<&str> = rows.map(|row| row.trim_matches(['|', ' '])).collect();
    let err = String::from_utf8(output.stderr).unwrap();
    (
        rows.join(","),
        err.lines().map(str::to_owned).collect(),
        output.status.success(),
    )
}

fn piped(text: &[u8]) -> Said {
    let child = Command::new(PROGRAM)
        .args(["--threads", "1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.unwrap();
    child.stdin.take().unwrap().write_all(text).unwrap();
    said(child.wait_with_output().unwrap())
}

fn fine(text: &str) -> String {
    let (rows, errors, is_well) = piped(text.as_bytes());
    assert!(is_well && errors.is_empty(), "{text}: {errors:?}");
    rows
}

#[test]
fn text_in_a_string_or_a_comment_is_not_run() {
    let string = "CREATE TABLE t AS SELECT 1 AS a;\nSELECT 'steps:\nfirst;\nDROP TABLE t;\n' AS s;\nSELECT a FROM t;\n";
    assert!(fine(string).ends_with("a,1"), "{}", fine(string));
    let comment = "CREATE TABLE t AS SELECT 1 AS a;\n/* not any more:\n;\nDROP TABLE t;\n*/\nSELECT 2;\nSELECT a FROM t;\n";
    assert!(fine(comment).ends_with("a,1"), "{}", fine(comment));
    let quoted = "CREATE TABLE t AS SELECT 1 AS a;\nSELECT 2 AS \"b;\nDROP TABLE t;\n\", $$c;\nDROP TABLE t;\n$$ AS c;\nSELECT a FROM t;\n";
    assert!(fine(quoted).ends_with("a,1"), "{}", fine(quoted));
}

/// A string is given to the parser as it was written.
#[test]
fn quotes_in_strings_end_none() {
    assert_eq!(fine("SELECT 'it''s' AS a;"), "a,it's");
    let union = "SELECT 'a'' AS b UNION SELECT ''c' AS x;\n";
    assert_eq!(fine(union), "x,a' AS b UNION SELECT 'c");
    assert_eq!(fine("SELECT 1 AS \"a\"\"b\";"), "a\"b,1");
    assert_eq!(fine(r"SELECT E'it\'s \\' AS a;"), r"a,it's \");
    assert_eq!(
        fine("SELECT 'Ärger 🦀;' AS é;\r\nSELECT 2 AS b;\r\n"),
        "é,Ärger 🦀;,b,2"
    );
    let by_option = Command::new(PROGRAM)
        .args(["-c", "SELECT 'it''s; SELECT 2' AS a; SELECT 3 AS b"])
        .output();
    assert_eq!(said(by_option.unwrap()).0, "a,it's; SELECT 2,b,3");
}

#[test]
fn statements_share_lines() {
    assert_eq!(
        fine("SELECT 1 AS a; SELECT 2 AS b; SELECT\n3 AS c"),
        "a,1,b,2,c,3"
    );
    // One that fails is one, and those behind it are run.
    let (rows, errors, is_well) = piped(b"SELECT 1 AS a; SELECT * FROM nowhere; SELECT 2 AS b;\n");
    assert_eq!(rows, "a,1,b,2");
    assert_eq!(errors, ["fathom-sql: there is no table or file `nowhere`"]);
    assert!(!is_well);
}

/// What is text in the dialect that a session has chosen is no statement.
#[test]
fn the_dialect_of_the_session_decides() {
    let text = r"CREATE TABLE t AS SELECT 1 AS a; SET datafusion.sql_parser.dialect = 'mysql'; SELECT 'x\'; DROP TABLE t; -- ' AS s;
SELECT a FROM t;
";
    let rows = fine(text);
    assert!(rows.ends_with("a,1"), "{rows}");
}

#[test]
fn what_does_not_end_is_an_error_of_one_line() {
    let (rows, errors, is_well) =
        piped(b"SELECT 1 AS a;\nSELECT 'open;\nDROP TABLE t;\nSELECT 2 AS b;\n");
    assert_eq!(rows, "a,1");
    assert_eq!(
        errors,
        ["fathom-sql: line 2: a string begins here and does not end"]
    );
    assert!(!is_well);
}

#[test]
fn bytes_that_are_no_text_are_an_error_of_their_statement() {
    let (rows, errors, is_well) =
        piped(b"SELECT 1 AS a;\nSELECT\n'caf\xe9' AS b;\nSELECT 2 AS c;\n");
    assert_eq!(rows, "a,1,c,2");
    assert_eq!(errors, ["fathom-sql: line 3: it is not UTF-8"]);
    assert!(!is_well);
}
