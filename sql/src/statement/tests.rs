//! Statements as they are written, and what is said of those that are not.

use std::time::Duration;

use super::*;

fn one(sql: &str) -> Statement {
    let mut all = parse(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    assert_eq!(all.len(), 1, "{sql}");
    all.remove(0)
}

fn created(sql: &str) -> Create {
    match one(sql) {
        Statement::Create(create) => create,
        other => panic!("{other:?}"),
    }
}

fn other(sql: &str) -> String {
    match one(sql) {
        Statement::Other(sql) => sql,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_thesis_writes_it_so() {
    let create = created(
        "CREATE FUNCTION wasm_udo_kmeans(table) RETURNS TABLE LANGUAGE 'udo-wasm' SECURITY
         DEFINER AS 'udo_kmeans.wasm', 'KMeans';",
    );
    assert_eq!(create.name, "wasm_udo_kmeans");
    assert_eq!(
        create.kind,
        Kind::Operator {
            columns: None,
            parallel: None,
        }
    );
    assert_eq!(
        (create.file.to_str(), create.export.as_str()),
        (Some("udo_kmeans.wasm"), "KMeans")
    );
    assert_eq!(
        other("SELECT count(*) FROM wasm_udo_kmeans(TABLE ( SELECT * FROM data)) GROUP BY a"),
        "SELECT count(*) FROM wasm_udo_kmeans( ( SELECT * FROM data)) GROUP BY a"
    );
}

#[test]
fn functions_of_rows() {
    let create = created(
        "create or replace function f(a bigint, double precision, name text)
         returns varchar language wasm as 'f.wasm'
         with (memory = '64 MiB', deadline = '250ms', bounds = 'trap')",
    );
    assert!(create.is_replacing);
    let arguments = vec![ColumnType::BigInt, ColumnType::Double, ColumnType::Varchar];
    let result = ColumnType::Varchar;
    assert_eq!(create.kind, Kind::Scalar { arguments, result });
    assert_eq!(create.export, "f");
    assert_eq!(create.options.memory_bytes, 64 << 20);
    assert_eq!(create.options.deadline, Duration::from_millis(250));
    let none = created("CREATE FUNCTION now7() RETURNS int LANGUAGE wasm AS 'f.wasm'");
    let (arguments, result) = (vec![], ColumnType::Int);
    assert_eq!(none.kind, Kind::Scalar { arguments, result });
    let columns = created(
        "CREATE FUNCTION t(table) RETURNS TABLE (\"A b\" int, c real) LANGUAGE wasm PARALLEL SAFE AS 't.wasm'
         WITH (reuse = 'off')",
    );
    let expected = vec![
        ("A b".to_owned(), ColumnType::Int),
        ("c".to_owned(), ColumnType::Real),
    ];
    assert_eq!(
        columns.kind,
        Kind::Operator {
            columns: Some(expected),
            parallel: Some(Parallel::Safe),
        }
    );
}

#[test]
fn what_is_not_ours_stays_as_it_is() {
    for sql in [
        "SELECT 'CREATE FUNCTION f; TABLE (' AS a -- TABLE (",
        "CREATE TABLE t (a int)",
        "TABLE t",
        "SELECT \"table\"(1)",
        "SELECT 1 FROM t WHERE a IN (SELECT b FROM u)",
        // Escapes are not undone: what is text would be SQL.
        r#"SELECT 'it''s', 'a'' UNION SELECT b FROM u --', "c""d", $$'$$, $t$ $$ $t$"#,
        r"SELECT E'it\'s', U&'\0027', N'it''s', X'00', B'1', `e``f`",
        "SELECT 'é🦀''' /* a /* nested */ one */ AS ü\r\n, 1 -- the end",
    ] {
        assert_eq!(other(sql), sql);
    }
    let all = parse("SELECT 1; ; DROP FUNCTION IF EXISTS F;").unwrap();
    assert_eq!(all.len(), 2);
    assert!(matches!(&all[1], Statement::Drop { name, if_exists: true } if name == "f"));
}

const WRONG: [(&str, &str); 17] = [
    (
        "CREATE FUNCTION",
        "expected the name of a function, found the end of the statement",
    ),
    (
        "CREATE FUNCTION f",
        "expected `(`, found the end of the statement",
    ),
    (
        "CREATE FUNCTION f(decimal)",
        "expected a type (boolean, smallint, int, bigint, real, double, varchar), found `decimal`",
    ),
    (
        "CREATE FUNCTION f(int) LANGUAGE wasm",
        "expected RETURNS, found `LANGUAGE`",
    ),
    (
        "CREATE FUNCTION f(int) RETURNS TABLE LANGUAGE wasm AS 'f'",
        "function f returns a table: its argument is (table)",
    ),
    (
        "CREATE FUNCTION f(table) RETURNS int LANGUAGE wasm AS 'f'",
        "function f takes a table: it RETURNS TABLE",
    ),
    (
        "CREATE FUNCTION f(int) RETURNS int LANGUAGE c AS 'f'",
        "function f: language c is not known; there is wasm",
    ),
    (
        "CREATE FUNCTION f(int) RETURNS int LANGUAGE wasm AS f",
        "expected the module's file, in quotes, found `f`",
    ),
    (
        "CREATE FUNCTION f(int) RETURNS int LANGUAGE wasm SECURITY INVOKER AS 'f'",
        "expected DEFINER: a module has no rights of the user's, found `INVOKER`",
    ),
    (
        "CREATE FUNCTION f(int) RETURNS int LANGUAGE wasm AS 'f' WITH (bounds = 'none')",
        "bounds none is no sandbox: a function could read the whole process",
    ),
    (
        "CREATE FUNCTION f(int) RETURNS int LANGUAGE wasm AS 'f' WITH (speed = '1')",
        "no option speed; there are memory, deadline, bounds, rows and reuse",
    ),
    (
        "CREATE FUNCTION f(int) RETURNS int LANGUAGE wasm AS 'f' WITH (deadline = 'soon')",
        "no time such as 500ms or 2s, at most a day: soon",
    ),
    (
        "CREATE FUNCTION f(int) RETURNS int LANGUAGE wasm AS 'f' WITH (memory = '99999999999 GiB')",
        "no size such as 64 MiB: 99999999999 GiB",
    ),
    (
        "CREATE FUNCTION f(int) RETURNS int LANGUAGE wasm AS 'f' WITH (reuse = '1')",
        "reuse is on or off, not 1",
    ),
    (
        "CREATE FUNCTION f(int) RETURNS int LANGUAGE wasm PARALLEL UNSAFE AS 'f'",
        "function f is no operator: each partition has an instance of its own",
    ),
    (
        "CREATE FUNCTION f(table) RETURNS TABLE LANGUAGE wasm PARALLEL AS 'f'",
        "expected SAFE, UNSAFE or SHARED, found `AS`",
    ),
    (
        "CREATE FUNCTION f(int) RETURNS int LANGUAGE wasm AS 'f' now",
        "expected the end of the statement, found `now`",
    ),
];

#[test]
fn what_is_wrong_is_said_in_a_line() {
    for (sql, expected) in WRONG {
        assert_eq!(parse(sql).unwrap_err().to_string(), expected, "{sql}");
    }
    assert!(parse("SELECT 'open").is_err());
}

#[test]
fn a_deadline_is_a_time_up_to_a_day() {
    for (text, expected) in [
        ("0s", false),
        ("1ms", true),
        ("1441m", false),
        ("18446744073709551615s", false),
    ] {
        assert_eq!(time(text).is_some(), expected, "{text}");
    }
}

/// What travels is the statement.
#[test]
fn a_function_is_its_statement() {
    for sql in [
        "CREATE FUNCTION f(bigint, double, boolean, real, smallint, int) RETURNS varchar LANGUAGE wasm AS 'f.wasm'",
        "CREATE OR REPLACE FUNCTION \"a \"\"b\"() RETURNS int LANGUAGE wasm AS 'a''b/c.wasm', 'x'
         WITH (deadline = '7ms', memory = '3 KiB', reuse = 'off', rows = '5', bounds = 'shadow')",
        "CREATE AGGREGATE FUNCTION slope(double, double) RETURNS double LANGUAGE wasm AS 's.wasm'",
        "CREATE FUNCTION t(table) RETURNS TABLE (\"A \"\"b\" int, c real) LANGUAGE wasm PARALLEL SAFE AS 't.wasm'",
        "CREATE FUNCTION t(table) RETURNS TABLE LANGUAGE wasm PARALLEL SHARED AS 't.wasm', 'KMeans'",
        "CREATE FUNCTION t(table) RETURNS TABLE LANGUAGE wasm PARALLEL UNSAFE AS 't.wasm', 'KMeans'",
        "CREATE FUNCTION t(table) RETURNS TABLE LANGUAGE wasm AS 't.wasm', 'KMeans'",
    ] {
        let create = created(sql);
        assert_eq!(created(&create.to_string()), create, "{create}");
    }
}
