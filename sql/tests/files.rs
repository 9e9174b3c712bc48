//! Files that are selected from by name.

use std::{fs, path::Path};

use datafusion::{arrow::util::pretty::pretty_format_batches, prelude::SessionConfig};
use fathom_sql::{Session, session::in_a_line};

/// A campaign: kinds of records whose fields have the same names and other types.
fn campaign(cpu: &str, samples: &[(&str, u64)]) -> String {
    let mut lines = format!(
        "{{\"record\":\"campaign\",\"format\":2,\"host\":{{\"governor\":{cpu}}},\"command\":[\"fathom\"]}}\n"
    );
    for (i, (cell, ns)) in samples.iter().enumerate() {
        lines += &format!(
            "{{\"record\":\"sample\",\"cell\":\"{cell}\",\"round\":{i},\"thread\":0,\"index\":0,\
             \"kernel_ns\":{ns},\"phases\":{{\"run\":{{\"wall_ns\":{},\"cpu_ns\":5}}}}}}\n",
            ns + 1
        );
    }
    lines += "{\"record\":\"in_force\",\"cell\":\"native/none/speed/s:w/native/small/t2\",\"engine\":\"native\"}\n";
    lines += "{\"record\":\"failure\",\"cell\":\"wasm3/default/speed/s:w/wasm/small/t2\",\"round\":1,\
              \"kind\":\"wrong_answer\",\"message\":\"answer 00\"}\n";
    lines
}

async fn shown(session: &Session, sql: &str) -> String {
    let results = session.run(sql).await;
    let results = results.unwrap_or_else(|error| panic!("{sql}: {}", in_a_line(&error)));
    let table = pretty_format_batches(&results[0]).unwrap().to_string();
    // The rows, without the frame.
    let rows = table.lines().filter(|line| line.starts_with('|')).skip(1);
    let cells = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        cells.join(" ").trim_end().to_owned()
    };
    rows.map(cells).collect::<Vec<_>>().join("\n")
}

fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn campaigns_answer_questions() {
    let folder = tempfile::tempdir().unwrap();
    let native = "native/none/speed/s:w/native/small/t2";
    let ours = "fathom/guard/speed/s:w/wasm/small/t2";
    let first = campaign("\"performance\"", &[(native, 10), (ours, 30), (native, 20)]);
    let second = campaign("{\"absent\":\"none\"}", &[(ours, 50), (native, 90)]);
    put(folder.path(), "results/a/samples.jsonl", &first);
    put(folder.path(), "results/b/samples.jsonl", &second);
    let session = Session::new(SessionConfig::new(), folder.path().to_owned()).unwrap();
    let all = format!("'{}/results/*/samples.jsonl'", folder.path().display());
    let medians = format!(
        "SELECT engine, median(kernel_ns), count(*) FROM {all} WHERE record = 'sample'
         GROUP BY engine ORDER BY engine"
    );
    assert_eq!(
        shown(&session, &medians).await,
        "fathom 40.0 2\nnative 20.0 3"
    );
    let parts = format!(
        "SELECT strategy, workload, variant, size, threads, control, sum(s.run_ns) FROM {all} AS s
         WHERE engine = 'fathom' AND round IS NOT NULL GROUP BY ALL"
    );
    assert_eq!(
        shown(&session, &parts).await,
        "guard s:w wasm small 2 false 82"
    );
    // As the documentation has it.
    let page = include_str!("../../docs/SQL.md");
    let (_, query) = page.split_once("```sql\n").unwrap();
    let (query, _) = query.split_once("```").unwrap();
    let query = query.replace("'results/*/samples.jsonl'", &all);
    assert_eq!(
        shown(&session, &query).await,
        "fathom guard  s:w 40.0\nnative none  s:w 20.0"
    );
    let failures =
        format!("SELECT DISTINCT engine, kind, message FROM {all} WHERE kind IS NOT NULL");
    assert_eq!(
        shown(&session, &failures).await,
        "wasm3 wrong_answer answer 00"
    );
    let llvm = "fathom/trap/speed:llvm~full~spectre-off/s:w/wasm/small/t2";
    let other = campaign(
        "\"performance\"",
        &[(llvm, 70), ("wasm3@0.5/x/none~full/a/b/c/t1", 5)],
    );
    put(folder.path(), "other/samples.jsonl", &other);
    let choices = format!(
        "SELECT DISTINCT engine, coalesce(version, '-'), opt, coalesce(backend, '-'),
         coalesce(elide, '-'), coalesce(spectre, '-') FROM '{}/other/samples.jsonl'
         WHERE record = 'sample' ORDER BY engine",
        folder.path().display()
    );
    assert_eq!(
        shown(&session, &choices).await,
        "fathom - speed llvm full off\nwasm3 0.5 none - full -"
    );
    let one = format!(
        "SELECT count(*) FROM '{}/results/a/samples.jsonl'",
        folder.path().display()
    );
    assert_eq!(shown(&session, &one).await, "6");
}

#[tokio::test(flavor = "multi_thread")]
async fn other_lines_have_the_columns_that_they_have() {
    let folder = tempfile::tempdir().unwrap();
    put(
        folder.path(),
        "t.jsonl",
        "{\"a\":1}\n{\"a\":2,\"b\":\"x\"}\n",
    );
    put(folder.path(), "broken.jsonl", "{\"a\":1}\n{\"a\":");
    let session = Session::new(SessionConfig::new(), folder.path().to_owned()).unwrap();
    let file = |name: &str| {
        format!(
            "SELECT * FROM '{}/{name}' ORDER BY a",
            folder.path().display()
        )
    };
    assert_eq!(shown(&session, &file("t.jsonl")).await, "1\n2 x");
    for (name, says) in [
        ("broken.jsonl", "Json"),
        ("missing.jsonl", "there is no table or file"),
        ("missing.csv", "there is no table or file"),
    ] {
        let error = session.run(&file(name)).await.unwrap_err();
        let line = in_a_line(&error);
        assert!(!line.contains('\n') && line.contains(says), "{line}");
        assert_eq!(session.run("SELECT 1").await.unwrap().len(), 1, "{name}");
    }
}
