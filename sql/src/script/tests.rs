//! Lines as people and programs write them, and what must not be run of them.

use datafusion::sql::sqlparser::dialect::{GenericDialect, MySqlDialect};

use super::*;

/// The statements of a text that comes line by line, and what is left at its end.
fn read(text: &[u8]) -> Vec<Result<String, String>> {
    let mut script = Script::default();
    let mut all = Vec::new();
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        script.push(line);
        while let Some(next) = script.next(&GenericDialect {}) {
            all.push(next);
        }
    }
    all.extend(script.rest(&GenericDialect {}));
    let words = |one: Result<String, Unread>| match one {
        Ok(text) => Ok(text.trim().to_owned()),
        Err(unread) => Err(unread.to_string()),
    };
    all.into_iter().map(words).collect()
}

/// Those of a text in which nothing is wrong.
fn statements(text: &str) -> Vec<String> {
    let all = read(text.as_bytes()).into_iter();
    all.map(|one| one.unwrap_or_else(|line| panic!("{text}: {line}")))
        .collect()
}

/// Each has a statement in it that is text, and is itself one.
const TEXTS: [&str; 22] = [
    "SELECT 'steps:\nfirst;\nDROP TABLE t;\n' AS s;",
    "/* not any more:\n;\nDROP TABLE t;\n*/\nSELECT 2;",
    "/* one /* two;\n*/ DROP TABLE t;\n*/ SELECT 2;",
    "SELECT \"a name;\nDROP TABLE t;\n\" FROM u;",
    "SELECT \"a \"\" name;\nDROP TABLE t;\n\" FROM u;",
    "SELECT `a name;\nDROP TABLE t;\n` FROM u;",
    "SELECT $$ text;\nDROP TABLE t;\n $$;",
    "SELECT $tag$ text; $$\nDROP TABLE t;\n $ta$ $tag$;",
    "SELECT $é$ text;\nDROP TABLE t;\n $é$;",
    "SELECT 'it''s;\nDROP TABLE t;\n';",
    "SELECT '''';SELECT 'x;\nDROP TABLE t;\n';",
    "SELECT E'it\\'s;\nDROP TABLE t;\n';",
    "SELECT e'\\\\', 'a;\nDROP TABLE t;\n';",
    "SELECT E'\\x;\nDROP TABLE t;\n';",
    "SELECT U&'\\0041;\nDROP TABLE t;\n';",
    "SELECT U&'\\zz;\nDROP TABLE t;\n';",
    "SELECT N'a;\nDROP TABLE t;\n', X'0;\nDROP TABLE t;\n', B'1;\nDROP TABLE t;\n';",
    "SELECT R'a\\;\nDROP TABLE t;\n';",
    "SELECT R'''a';\nDROP TABLE t;\n''';",
    "SELECT 'back\\\\;\nDROP TABLE t;\n';",
    "SELECT 'Ärger 🦀;\r\nDROP TABLE t;\r\n';\r",
    "SELECT 1 -- a comment;\n, 'quote'' -- ;\nDROP TABLE t;\n' -- it's; /* \n;",
];

#[test]
fn text_ends_no_statement() {
    for text in TEXTS {
        let all = statements(&format!("{text}\nSELECT 3;\n"));
        assert_eq!(all.last().map(String::as_str), Some("SELECT 3;"), "{text}");
        // Comments in front of a statement, on lines of their own, are forgotten.
        let whole = format!("{}SELECT 3;", text.trim_end());
        assert!(whole.ends_with(&all.join("")), "{text}: {all:?}");
        for one in &all {
            assert!(!one.starts_with("DROP"), "{text}: {one}");
        }
    }
}

/// What is text while it is open is text at the end, too.
#[test]
fn what_does_not_end_is_said_with_its_line() {
    for (text, expected) in [
        (
            "SELECT 1;\nSELECT\n'open;\nDROP TABLE t;\n",
            "line 3: a string",
        ),
        (
            "SELECT 1; SELECT E'\\';\nDROP TABLE t;\n",
            "line 1: a string",
        ),
        ("SELECT 1;\n/* /* */ ;\nDROP TABLE t;", "line 2: a comment"),
        (
            "SELECT 1;\n\nSELECT $a$ ;\nDROP TABLE t; $$",
            "line 3: a string",
        ),
        (
            "SELECT 1;\nSELECT \"a;\nDROP TABLE t;",
            "line 2: a quoted name",
        ),
        (
            "SELECT 1;\nSELECT `a;\nDROP TABLE t;",
            "line 2: a quoted name",
        ),
        (
            "SELECT 1;\nSELECT $$a$;\nDROP TABLE t;\n",
            "line 2: a string",
        ),
    ] {
        let all = read(text.as_bytes());
        assert_eq!(all.len(), 2, "{text}: {all:?}");
        assert_eq!(all[0].as_deref(), Ok("SELECT 1;"));
        let expected = format!("{expected} begins here and does not end");
        assert_eq!(all[1], Err(expected), "{text}");
    }
}

#[test]
fn statements_end_wherever_a_semicolon_is_one() {
    let all = statements("SELECT 1; SELECT ';'; SELECT\n2; -- three;\n;;\nSELECT 4");
    let expected = [
        "SELECT 1;",
        "SELECT ';';",
        "SELECT\n2;",
        ";",
        ";",
        "SELECT 4",
    ];
    assert_eq!(all, expected);
    assert_eq!(
        statements("SELECT 1;\n-- the end;\n/* ; */\n\n"),
        ["SELECT 1;"]
    );
    assert_eq!(
        statements("SELECT 1;\r\nSELECT 2;\r\n"),
        ["SELECT 1;", "SELECT 2;"]
    );
    assert_eq!(statements(" \n\t\n"), [""; 0]);
    assert_eq!(statements(""), [""; 0]);
}

/// What is refused is passed over, up to where the statement ends.
#[test]
fn what_is_no_token_stays_in_its_statement() {
    for text in [
        "SELECT E'\\xzz' AS a, 'b;\nDROP TABLE t;\n';",
        "SELECT U&'\\zz' AS a, 'b;\nDROP TABLE t;\n';",
        "SELECT U&'it''s \\zz;\nDROP TABLE t;\n';",
    ] {
        let all = statements(&format!("{text}\nSELECT 3;\n"));
        assert_eq!(all, [text, "SELECT 3;"]);
    }
}

#[test]
fn bytes_that_are_no_text_spoil_their_statement_only() {
    let all = read(b"SELECT 1; SELECT '\xff',\n'\xfe;\n'; SELECT 2;\nSELECT 'caf\xe9';\nSELECT 3; -- \x80\n\nSELECT 4;\n");
    let words = |line| Err(format!("line {line}: it is not UTF-8"));
    let one = |text: &str| Ok(text.to_owned());
    let expected = [
        one("SELECT 1;"),
        words(1),
        one("SELECT 2;"),
        words(4),
        one("SELECT 3;"),
        one("SELECT 4;"),
    ];
    assert_eq!(all, expected);
    assert_eq!(
        read(b"SELECT 1;\n\nSELECT '\xff'"),
        [one("SELECT 1;"), words(3)]
    );
    // A character that a line's end cuts in two.
    assert_eq!(
        read(b"SELECT '\xc3\n\xa9';\nSELECT 2;"),
        [words(1), one("SELECT 2;")]
    );
    // The one that stands for such bytes may be written, too.
    assert_eq!(
        read("SELECT '\u{fffd}';".as_bytes()),
        [one("SELECT '\u{fffd}';")]
    );
}

/// A prompt has all that is whole, and goes on with what is begun.
#[test]
fn what_is_begun_goes_on() {
    let dialect = GenericDialect {};
    let mut script = Script::default();
    script.push(b"SELECT 1; SELECT 2; SELECT 'a\n");
    let whole = script.whole(&dialect);
    assert_eq!(whole, Some(Ok("SELECT 1; SELECT 2;".to_owned())));
    assert!(script.is_begun());
    script.push(b"; DROP TABLE t;\n");
    assert_eq!(script.whole(&dialect), None);
    script.push(b"'; -- done;\n");
    let whole = script.whole(&dialect);
    assert_eq!(
        whole,
        Some(Ok(" SELECT 'a\n; DROP TABLE t;\n';".to_owned()))
    );
    assert!(!script.is_begun());
    script.push(b"  -- a comment\n");
    assert_eq!(script.whole(&dialect), None);
    assert!(!script.is_begun());
    script.push(b"SELECT 3;\n");
    assert_eq!(script.whole(&dialect), Some(Ok("SELECT 3;".to_owned())));
}

/// A statement can change the dialect of those behind it, on the same line.
#[test]
fn the_dialect_is_the_one_of_its_time() {
    let line = br"SET d = 1; SELECT 'a\'; DROP TABLE t; --';";
    let mut script = Script::default();
    script.push(line);
    let first = script.next(&GenericDialect {});
    assert_eq!(first, Some(Ok("SET d = 1;".to_owned())));
    let second = script.next(&MySqlDialect {});
    assert_eq!(
        second,
        Some(Ok(r" SELECT 'a\'; DROP TABLE t; --';".to_owned()))
    );
    assert_eq!(script.next(&MySqlDialect {}), None);
}

/// What texts are drawn from: what begins, ends and escapes.
const BITS: [&str; 18] = [
    "'", "\"", "`", ";", "\n", "\r\n", "--", "/*", "*/", "$$", "$a$", "\\", "é", "🦀", "E", "U&",
    "x", " ",
];

fn draw(seed: &mut u64, below: usize) -> usize {
    *seed = seed
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    (*seed >> 33) as usize % below
}

fn drawn(seed: &mut u64, most: usize) -> String {
    (0..draw(seed, most))
        .map(|_| BITS[draw(seed, BITS.len())])
        .collect()
}

/// Statements are the same whether their lines come one by one or all at once.
#[test]
fn lines_are_what_they_are_together() {
    let mut seed = 2;
    for _ in 0..5000 {
        let text = drawn(&mut seed, 40);
        let mut script = Script::default();
        script.push(text.as_bytes());
        let mut all = Vec::new();
        while let Some(next) = script.next(&GenericDialect {}) {
            all.push(next.unwrap().trim().to_owned());
        }
        let by_line = read(text.as_bytes());
        let ended = script.rest(&GenericDialect {});
        all.extend(
            ended
                .as_ref()
                .and_then(|rest| rest.as_ref().ok().map(|rest| rest.trim().to_owned())),
        );
        let whole: Vec<String> = by_line.iter().filter_map(|one| one.clone().ok()).collect();
        // Comments behind a statement are forgotten once their line is over.
        assert_eq!(whole.len(), all.len(), "{text:?}");
        for (one, other) in whole.iter().zip(&all) {
            assert!(other.ends_with(one), "{text:?}: {one:?} and {other:?}");
        }
        let is_open = ended.is_some_and(|rest| rest.is_err());
        assert_eq!(by_line.iter().any(Result::is_err), is_open, "{text:?}");
    }
}

/// Whatever stands in front, a string that is written as SQL has it is one token.
#[test]
fn any_text_can_be_quoted() {
    let mut seed = 1;
    for _ in 0..2000 {
        let text = drawn(&mut seed, 12);
        let quoted = text.replace('\'', "''");
        let name = text.replace('"', "\"\"");
        let comment = text.replace("*/", "* /").replace("/*", "/ *");
        let whole = format!("SELECT '{quoted}' AS \"{name}\" /*{comment} */ FROM u;");
        let all = statements(&format!("SELECT 1; {whole} SELECT 2;\n"));
        assert_eq!(all, ["SELECT 1;", &whole, "SELECT 2;"], "{text:?}");
    }
}

/// What is open is not looked at anew for each line of it.
#[test]
fn long_texts_take_no_longer_than_they_are() {
    let lines = "it''s; \"\"a; ``b; */* $ \n".repeat(20_000);
    for (begin, end) in [("'", "'"), ("$$", "$$"), ("'\\\\", "'")] {
        let began = std::time::Instant::now();
        let lines = match begin {
            "$$" => lines.replace('$', "S"),
            _ => lines.clone(),
        };
        let text = format!("SELECT {begin}{lines}{end}; SELECT 2;\n");
        assert_eq!(statements(&text).len(), 2, "{begin}");
        assert!(
            began.elapsed().as_secs() < 20,
            "{begin}: {:?}",
            began.elapsed()
        );
    }
}
