//! A scheduler and two executors of ours on loopback: the answers of one machine, also where an
//! executor is killed.

mod common;

use std::{net::TcpListener, path::Path, time::Duration};

use common::{Cluster, config, module, run};
use datafusion::prelude::SessionConfig;
use tokio::time::sleep;

/// How long the scheduler waits for a sign of life.
const SHORT: Duration = Duration::from_secs(10);
const LONG: Duration = Duration::from_secs(300);
/// What it says then.
const SILENT: &str = "heartbeat timed out";

/// Rows, aggregates, operators, and all of them together.
const QUERIES: [&str; 11] = [
    "SELECT count(*), sum(quick(v)) FROM t",
    "SELECT g, sum(quick(v)), sum(quick(quick(v))) FROM t GROUP BY g ORDER BY g",
    "SELECT quick(g) AS q, count(*) FROM t GROUP BY quick(g) ORDER BY q",
    "SELECT v FROM t WHERE quick(v) > 5990 ORDER BY v",
    "SELECT total(v) FROM t",
    "SELECT g, total(v), total(quick(v)) FILTER (WHERE v % 2 = 0) FROM t GROUP BY g ORDER BY g",
    "SELECT largest, rows FROM last(TABLE (SELECT v FROM t WHERE g < 3))",
    "SELECT total(largest), count(*)
     FROM last(TABLE (SELECT total(quick(v)) AS s FROM t GROUP BY g))",
    "SELECT * FROM last(TABLE (SELECT * FROM last(TABLE (SELECT v FROM t))))",
    "SELECT max(largest), sum(rows), count(*) FROM parts(TABLE (SELECT v FROM t))",
    "SELECT rows, threads FROM crowd(TABLE (SELECT v FROM t))",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_has_the_answers_of_one_machine() {
    let cluster = Cluster::new(LONG).await;
    let (remote, local) = (cluster.session(config()).await, cluster.local().await);
    let table = format!("FROM {}", cluster.table());
    for sql in QUERIES.map(|sql| sql.replace("FROM t", &table)) {
        let expected = run(&local, &sql).await.unwrap();
        let found = run(&remote, &sql).await;
        assert_eq!(found.as_ref(), Ok(&expected), "{sql}\n{}", cluster.logs());
    }
}

/// Also a campaign's, whose columns are not inferred, and files of folders whose names are values.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_reads_json_lines_as_one_machine_does() {
    let cluster = Cluster::new(LONG).await;
    let (remote, local) = (cluster.session(config()).await, cluster.local().await);
    let campaign = include_bytes!("../../../crates/report/tests/data/suite.jsonl");
    cluster.put("samples.jsonl", campaign);
    cluster.put("lines.jsonl", b"{\"v\":1,\"name\":\"one\"}\n{\"v\":2}\n");
    cluster.put("p/part=a/lines.jsonl", b"{\"v\":3}\n");
    cluster.put("p/part=b/lines.jsonl", b"{\"v\":4}\n");
    for (file, sql) in [
        (
            "samples.jsonl",
            "SELECT engine, strategy, workload, median(kernel_ns), count(*) FROM t
             WHERE record = 'sample' GROUP BY ALL ORDER BY engine, strategy, workload",
        ),
        (
            "samples.jsonl",
            "SELECT max(a.run_ns) FROM t AS a WHERE NOT control",
        ),
        ("lines.jsonl", "SELECT sum(quick(v)), max(name) FROM t"),
        ("p/", "SELECT * FROM t ORDER BY v"),
    ] {
        let sql = sql.replace("FROM t", &format!("FROM {}", cluster.file(file)));
        let expected = run(&local, &sql).await.unwrap();
        let found = run(&remote, &sql).await;
        assert_eq!(found.as_ref(), Ok(&expected), "{sql}\n{}", cluster.logs());
    }
}

/// However many functions there are of a module, and however many tasks call them.
#[tokio::test(flavor = "multi_thread")]
async fn an_executor_compiles_a_module_once() {
    let cluster = Cluster::new(LONG).await;
    let (remote, table) = (cluster.session(config()).await, cluster.table());
    let hash = blake3::hash(&module()).to_hex();
    let compiled = |name: &str| cluster.log(name).matches(hash.as_str()).count();
    // Each of the two has a task once both ask.
    for _ in 0..50 {
        let sql = format!("SELECT g, sum(quick(v)), total(v) FROM {table} GROUP BY g");
        run(&remote, &sql).await.unwrap();
        if compiled("executor0") > 0 && compiled("executor1") > 0 {
            break;
        }
    }
    for sql in [
        format!("SELECT sum(slow(v)) FROM {table} WHERE v < 10"),
        format!("SELECT largest FROM last(TABLE (SELECT v FROM {table}))"),
        format!("SELECT g, sum(quick(v)), total(v) FROM {table} GROUP BY g"),
    ] {
        run(&remote, &sql).await.unwrap();
    }
    for name in ["scheduler", "executor0", "executor1"] {
        let log = cluster.log(name);
        assert_eq!(compiled(name), 1, "{name}\n{log}");
        assert_eq!(log.matches("compiled module").count(), 1, "{name}\n{log}");
    }
}

/// What a function does wrong is told as on one machine, and the next query works.
#[tokio::test(flavor = "multi_thread")]
async fn a_function_that_fails_ends_its_query_alone() {
    let cluster = Cluster::new(LONG).await;
    let (remote, local) = (cluster.session(config()).await, cluster.local().await);
    let table = cluster.table();
    for (name, cause) in [
        ("fail", ": trap: unreachable in each "),
        ("late", ": it took longer than its deadline of 50ms"),
    ] {
        let sql = format!("SELECT g, sum({name}(v)) FROM {table} GROUP BY g");
        let line = run(&remote, &sql).await.unwrap_err();
        assert!(line.starts_with(&format!("function {name}, ")), "{line}");
        assert!(line.contains(cause), "{line}");
        assert!(!line.contains('\n'), "{line}");
        assert_eq!(run(&local, &sql).await, Err(line));
        let sql = format!("SELECT count(*), sum(quick(v)), sum(fail(v + 778)) FROM {table}");
        let expected = run(&local, &sql).await.unwrap();
        assert_eq!(run(&remote, &sql).await, Ok(expected), "{}", cluster.logs());
    }
}

/// The module of all functions, with so many bytes more of no meaning.
fn large(bytes: usize) -> Vec<u8> {
    let length =
        |n: usize| (0..5).map(move |i| ((n >> (7 * i)) & 127) as u8 | u8::from(i < 4) << 7);
    let mut module = module();
    module.push(0);
    module.extend(length(bytes + 5));
    module.extend(length(0));
    module.resize(module.len() + bytes, 0);
    module
}

#[tokio::test(flavor = "multi_thread")]
async fn large_modules_travel_and_larger_ones_are_refused() {
    let cluster = Cluster::new(LONG).await;
    let (remote, table) = (cluster.session(config()).await, cluster.table());
    cluster.put("five.wasm", &large(5 << 20));
    cluster.put("nine.wasm", &large(9 << 20));
    let create = |name: &str| {
        format!(
            "CREATE FUNCTION {name}(bigint) RETURNS bigint LANGUAGE wasm AS '{name}.wasm', 'quick'"
        )
    };
    let line = run(&remote, &create("nine")).await.unwrap_err();
    assert!(
        line.starts_with("function nine: nine.wasm: it has 94"),
        "{line}"
    );
    run(&remote, &create("five")).await.unwrap();
    let sql = |values: &str| format!("SELECT sum({values}) AS s FROM {table}");
    let found = run(&remote, &sql("five(five(five(five(v))))")).await;
    let expected = run(&remote, &sql("v + 4")).await;
    assert!(found.is_ok(), "{found:?} {}", cluster.logs());
    assert_eq!(found, expected);
}

/// Files with something in them below a folder.
fn files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let entries = entries.map(|entry| (entry.path(), entry.metadata()));
    let counts = entries.map(|(path, about)| match about {
        Ok(about) if about.is_dir() => files(&path),
        Ok(about) => usize::from(about.len() > 0),
        Err(_) => 0,
    });
    counts.sum()
}

/// Kills an executor while a query runs, which is the moment when `is_time` says which.
async fn survives(cluster: &mut Cluster, config: SessionConfig, sql: &str, is_time: Time) {
    let parts = config.target_partitions();
    let (remote, local) = (cluster.session(config).await, cluster.local().await);
    let sql = sql.replace("FROM t", &format!("FROM {}", cluster.table()));
    let expected = run(&local, &sql.replace("slow", "quick")).await.unwrap();
    let running = tokio::spawn(async move { run(&remote, &sql).await });
    let produced = [0, 1].map(|number| cluster.produced(number));
    let which = || is_time(produced.each_ref().map(|folder| files(folder)));
    cluster.until("it is time", || which().is_some()).await;
    let which = which().unwrap();
    // The scheduler hears of what was produced last.
    sleep(Duration::from_millis(300)).await;
    cluster.kill(which);
    assert!(!running.is_finished(), "it was to be in the middle");
    let found = running.await.unwrap();
    assert_eq!(found, Ok(expected), "{}", cluster.logs());
    let log = cluster.log(&format!("executor{}", 1 - which));
    let mut tasks = log.lines().filter_map(task_of_first_stage);
    assert!(tasks.any(|task| task >= parts), "{}", cluster.logs());
}

/// The number of a task that an executor says it was given, if it is one of a query's first stage:
/// `Received task: [TID job/1.attempt/number.attempt]`. Those that are given again have new numbers.
fn task_of_first_stage(line: &str) -> Option<usize> {
    let (_, task) = line.split_once("Received task: [TID ")?;
    let (_, task) = task.split_once("/1.")?;
    let (_, task) = task.split_once('/')?;
    task.split_once('.')?.0.parse().ok()
}

/// The executor that is to be killed, by how many files each has produced.
type Time = fn([usize; 2]) -> Option<usize>;

/// It has produced something and works on more. It is lost when it has been silent for a while.
#[tokio::test(flavor = "multi_thread")]
async fn an_executor_is_killed_at_work() {
    let mut cluster = Cluster::new(SHORT).await;
    let sql = "SELECT g, sum(slow(v)) AS s, total(v) AS t FROM t GROUP BY g ORDER BY g";
    let both: Time = |files| files.iter().all(|count| *count > 0).then_some(0);
    survives(&mut cluster, config(), sql, both).await;
    assert!(
        cluster.log("scheduler").contains(SILENT),
        "{}",
        cluster.logs()
    );
}

/// One of two parts takes a while, the other does not: who has done that has nothing to do.
const UNEVEN: &str =
    "SELECT g, sum(CASE WHEN v < 4000 THEN v + 1 ELSE slow(v) END) AS s, total(v) AS t
                      FROM t GROUP BY g ORDER BY g";
const EITHER: Time = |files| files.iter().position(|count| *count > 0);

/// Another is told where to find what it has produced, does not, and it is lost meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn an_executor_is_killed_when_it_has_done_its_part() {
    let mut cluster = Cluster::new(SHORT).await;
    survives(
        &mut cluster,
        config().with_target_partitions(2),
        UNEVEN,
        EITHER,
    )
    .await;
}

/// What it has produced is missed before the executor is.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_executor_has_produced_is_missed() {
    let mut cluster = Cluster::new(LONG).await;
    survives(
        &mut cluster,
        config().with_target_partitions(2),
        UNEVEN,
        EITHER,
    )
    .await;
    assert!(
        !cluster.log("scheduler").contains(SILENT),
        "{}",
        cluster.logs()
    );
}

/// It does not wait for ever, and the scheduler goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_query_without_executors_fails() {
    let mut cluster = Cluster::new(SHORT).await;
    let (remote, table) = (cluster.session(config()).await, cluster.table());
    let sql = format!("SELECT sum(slow(v)) AS s FROM {table}");
    let running = tokio::spawn(async move { run(&remote, &sql).await });
    let produced = cluster.produced(0);
    cluster
        .until("there is a part", || files(&produced) > 0)
        .await;
    cluster.kill(0);
    cluster.kill(1);
    let line = running.await.unwrap().unwrap_err();
    assert!(line.contains("all executors were lost"), "{line}");
    cluster.respawn();
    let (remote, sql) = (
        cluster.session(config()).await,
        format!("SELECT sum(quick(v)) FROM {table}"),
    );
    assert!(run(&remote, &sql).await.is_ok(), "{}", cluster.logs());
}

/// Who serves where another does is told the address and the cause.
#[test]
fn an_executor_whose_port_is_taken_says_so() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let folder = tempfile::tempdir().unwrap();
    let ended = common::program()
        .args(["executor", "--port", &port, "--folder"])
        .arg(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(!ended.status.success(), "{said}");
    assert!(
        said.starts_with(&format!(
            "fathom-cluster: 127.0.0.1:{port}: Address already in use"
        )),
        "{said}"
    );
}

/// It is lost, what it did then is not counted, and it is given work again.
#[tokio::test(flavor = "multi_thread")]
async fn an_executor_that_was_silent_comes_back() {
    let cluster = Cluster::new(SHORT).await;
    let (remote, local) = (cluster.session(config()).await, cluster.local().await);
    let sql = |function: &str| {
        let table = cluster.table();
        format!(
            "SELECT g, sum({function}(v)) AS s, total(v) AS t FROM {table} GROUP BY g ORDER BY g"
        )
    };
    let expected = run(&local, &sql("quick")).await.unwrap();
    let slow = sql("slow");
    let running = tokio::spawn(async move { (run(&remote, &slow).await, remote) });
    let produced = cluster.produced(0);
    cluster
        .until("there is a part", || files(&produced) > 0)
        .await;
    cluster.signal(0, "STOP");
    let silent = || cluster.log("scheduler").contains(SILENT);
    cluster.until("it is lost", silent).await;
    cluster.signal(0, "CONT");
    let (found, remote) = running.await.unwrap();
    assert_eq!(found.as_ref(), Ok(&expected), "{}", cluster.logs());
    let tasks = || cluster.log("executor0").matches("Received task").count();
    let before = tasks();
    for _ in 0..50 {
        assert_eq!(run(&remote, &sql("quick")).await.as_ref(), Ok(&expected));
        if tasks() > before {
            return;
        }
    }
    panic!("it has no work\n{}", cluster.logs());
}
