//! The examples of `operators/`, against the same in Rust. They are built by
//! `operators/build.py`; without them these tests are skipped, and say so.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use datafusion::{
    arrow::{
        array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch},
        datatypes::{Float64Type, Int32Type, Int64Type},
    },
    prelude::SessionConfig,
};
use fathom_sql::{Session, session::in_a_line};

/// A session with these modules, if they are there.
fn session(modules: &[&str]) -> Option<Session> {
    session_of(modules, 2)
}

/// The same, on as many threads.
fn session_of(modules: &[&str], threads: usize) -> Option<Session> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/operators");
    for module in modules {
        let path = folder.join(module);
        if !path.is_file() {
            eprintln!(
                "SKIPPED: no {}: python3 sql/operators/build.py",
                path.display()
            );
            return None;
        }
    }
    let config = SessionConfig::new().with_target_partitions(threads);
    Some(Session::new(config, folder).unwrap())
}

async fn run(session: &Session, sql: &str) -> Vec<RecordBatch> {
    let results = session.run(sql).await;
    let mut results = results.unwrap_or_else(|error| panic!("{sql}: {}", in_a_line(&error)));
    results.pop().unwrap_or_default()
}

/// A reproducible number.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[tokio::test(flavor = "multi_thread")]
async fn gcd_of_many_batches_on_two_threads() {
    let Some(session) = session(&["gcd.wasm"]) else {
        return;
    };
    let mut seed = 7;
    let mut number = |limit: u64| {
        let value = next(&mut seed) % limit;
        (value % 11 != 3).then_some(value as i64 - 500)
    };
    let batches: Vec<RecordBatch> = (0..40)
        .map(|_| {
            let a: Int64Array = (0..1024).map(|_| number(100_000)).collect();
            let b: Int64Array = (0..1024).map(|_| number(1000)).collect();
            let columns: [(&str, ArrayRef); 2] = [("a", Arc::new(a)), ("b", Arc::new(b))];
            RecordBatch::try_from_iter_with_nullable(columns.map(|(n, c)| (n, c, true))).unwrap()
        })
        .collect();
    let (first, second) = batches.split_at(20);
    let parts = vec![first.to_vec(), second.to_vec()];
    let table = datafusion::datasource::MemTable::try_new(batches[0].schema(), parts).unwrap();
    session
        .context()
        .register_table("pairs", Arc::new(table))
        .unwrap();
    run(
        &session,
        "CREATE FUNCTION wasm_gcd(bigint, bigint) RETURNS bigint LANGUAGE wasm AS 'gcd.wasm', 'gcd'",
    )
    .await;
    let mut rows = 0;
    for batch in run(&session, "SELECT a, b, wasm_gcd(a, b) FROM pairs").await {
        let [a, b, c] = [0, 1, 2].map(|i| batch.column(i).as_primitive::<Int64Type>());
        for row in 0..batch.num_rows() {
            let expected = (!a.is_null(row) && !b.is_null(row))
                .then(|| gcd(a.value(row).unsigned_abs(), b.value(row).unsigned_abs()) as i64);
            assert_eq!(c.is_valid(row).then(|| c.value(row)), expected);
            rows += 1;
        }
    }
    assert_eq!(rows, 40 * 1024);
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_places_and_text() {
    let Some(session) = session(&["collatz.wasm", "haversine.wasm", "initials.wasm"]) else {
        return;
    };
    run(
        &session,
        "CREATE FUNCTION collatz(bigint) RETURNS int LANGUAGE wasm AS 'collatz.wasm';
         CREATE FUNCTION haversine(double, double, double, double) RETURNS double
             LANGUAGE wasm AS 'haversine.wasm';
         CREATE FUNCTION initials(text) RETURNS text LANGUAGE wasm AS 'initials.wasm';",
    )
    .await;
    let steps = run(&session, "SELECT collatz(27), collatz(1), collatz(null)").await;
    let value = |i: usize| steps[0].column(i).as_primitive::<Int32Type>();
    assert_eq!((value(0).value(0), value(1).value(0)), (111, 0));
    assert!(value(2).is_null(0));
    let refused = session.run("SELECT collatz(0)").await.unwrap_err();
    assert_eq!(
        in_a_line(&refused),
        "function collatz, a batch of 1 rows: it reports: collatz of a number below 1"
    );
    // From Berlin to Paris, by the formula in Python: 877,464.57 m.
    let metres = run(&session, "SELECT haversine(52.52, 13.405, 48.8566, 2.3522)").await;
    let metres = metres[0].column(0).as_primitive::<Float64Type>().value(0);
    assert!((metres - 877_464.57).abs() < 0.5, "{metres}");
    let texts = run(
        &session,
        "SELECT initials(a) FROM (VALUES ('stack switching'), (null), (''), (' Übung  macht')) t(a)",
    )
    .await;
    let texts = texts[0].column(0).as_string::<i32>();
    let texts: Vec<Option<&str>> = texts.iter().collect();
    assert_eq!(texts, [Some("ss"), None, Some(""), Some("Üm")]);
}

/// As in `operators/kmeans.h`.
fn hash(point: &(f64, f64)) -> u64 {
    let bits = point.0.to_bits() ^ point.1.to_bits().rotate_left(32);
    let hash = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}

/// The same k-means as in `operators/udo_kmeans.c`: the number of each point's cluster.
fn clusters(points: &[(f64, f64)]) -> Vec<usize> {
    let mut centres = points.to_vec();
    centres.sort_by_key(hash);
    centres.dedup();
    centres.truncate(8);
    let mut assigned = vec![usize::MAX; points.len()];
    for _ in 0..10 {
        let mut sums = vec![(0.0, 0.0, 0u32); centres.len()];
        let mut moved = 0;
        for (point, own) in points.iter().zip(&mut assigned) {
            let distance = |c: &(f64, f64)| {
                (point.0 - c.0) * (point.0 - c.0) + (point.1 - c.1) * (point.1 - c.1)
            };
            let mut best = 0;
            for (i, centre) in centres.iter().enumerate() {
                if distance(centre) < distance(&centres[best]) {
                    best = i;
                }
            }
            moved += u32::from(*own != best);
            *own = best;
            sums[best].0 += point.0;
            sums[best].1 += point.1;
            sums[best].2 += 1;
        }
        if moved == 0 {
            break;
        }
        for (centre, sum) in centres.iter_mut().zip(&sums) {
            if sum.2 > 0 {
                *centre = (sum.0 / f64::from(sum.2), sum.1 / f64::from(sum.2));
            }
        }
    }
    assigned
}

/// On one thread and on all, in memories of 32 and of 64 bits.
#[tokio::test(flavor = "multi_thread")]
async fn the_query_of_the_thesis() {
    let all = std::thread::available_parallelism().map_or(2, usize::from);
    for threads in [1, all.max(2)] {
        for module in [
            "udo_kmeans.wasm",
            "udo_kmeans.64.wasm",
            "udo_kmeans_shared.wasm",
            "udo_kmeans_shared.64.wasm",
        ] {
            if let Some(session) = session_of(&[module], threads) {
                the_query_in(&session, module).await;
            }
        }
    }
}

async fn the_query_in(session: &Session, module: &str) {
    let mut seed = 42;
    // Sums of multiples of 1/64 are exact, in whatever order threads add them.
    let mut place = || (next(&mut seed) % 64_000) as f64 / 64.0;
    let points: Vec<(f64, f64)> = (0..30_000).map(|_| (place(), place())).collect();
    let x: Float64Array = points.iter().map(|point| Some(point.0)).collect();
    let y: Float64Array = points.iter().map(|point| Some(point.1)).collect();
    let payload: Int64Array = (0..points.len() as i64).map(Some).collect();
    let columns: [(&str, ArrayRef); 3] = [
        ("x", Arc::new(x)),
        ("y", Arc::new(y)),
        ("cluster_id", Arc::new(payload)),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    session
        .context()
        .register_batch("points_30000", batch)
        .unwrap();
    run(
        session,
        &format!(
            "CREATE FUNCTION wasm_udo_kmeans(table) RETURNS TABLE LANGUAGE 'udo-wasm' SECURITY
             DEFINER AS '{module}', 'KMeans';"
        ),
    )
    .await;
    // Listing A.2 as it is printed, but for the name of its table.
    let counts = run(
        session,
        "WITH data AS (SELECT x, y, CAST(cluster_id AS bigint) AS payload FROM
         points_30000) SELECT \"clusterId\", COUNT(*) FROM wasm_udo_kmeans(TABLE (
         SELECT * FROM data)) GROUP BY \"clusterId\";",
    )
    .await;
    let mut found = BTreeMap::new();
    for batch in &counts {
        let ids = batch.column(0).as_primitive::<Int32Type>();
        let counts = batch.column(1).as_primitive::<Int64Type>();
        for row in 0..batch.num_rows() {
            found.insert(ids.value(row) as usize, counts.value(row));
        }
    }
    let mut expected = BTreeMap::new();
    for cluster in clusters(&points) {
        *expected.entry(cluster).or_insert(0) += 1;
    }
    assert_eq!(found, expected);
    assert_eq!(expected.values().sum::<i64>(), 30_000);
}

/// DataFusion has the same, so it is the judge: with and without groups, as many groups as
/// rows, in a window, and where rows are left out.
#[tokio::test(flavor = "multi_thread")]
async fn slopes_are_datafusions() {
    for module in ["slope.wasm", "slope.64.wasm"] {
        if let Some(session) = session(&[module]) {
            slopes_in(&session, module).await;
        }
    }
}

async fn slopes_in(session: &Session, module: &str) {
    let create = "CREATE AGGREGATE FUNCTION slope(double, double) RETURNS double LANGUAGE wasm";
    run(session, &format!("{create} AS '{module}', 'slope';")).await;
    run(
        session,
        "CREATE TABLE points AS SELECT CAST(value AS double) AS x,
             CASE WHEN value % 7 = 0 THEN NULL ELSE CAST(value * value % 1013 AS double) END AS y,
             value % 91 AS few, value / 2 AS many, value
         FROM generate_series(1, 60000);",
    )
    .await;
    for (select, rest) in [
        ("0 AS key, FUN", ""),
        ("few AS key, FUN", " GROUP BY few"),
        ("many AS key, FUN", " GROUP BY many"),
        ("value AS key, FUN", " GROUP BY value"),
        (
            "few AS key, FUN FILTER (WHERE value % 3 = 0)",
            " GROUP BY few",
        ),
        ("0 AS key, FUN", " WHERE x < 0"),
        (
            "value AS key, FUN OVER (ORDER BY value)",
            " WHERE value < 300",
        ),
    ] {
        let query = |function: &str, result: &str| {
            let select = select.replace("FUN", function);
            format!("SELECT {select} AS {result} FROM points{rest}")
        };
        let different = format!(
            "SELECT ours.key, a, b FROM ({}) ours FULL JOIN ({}) theirs ON ours.key = theirs.key
             WHERE (a IS NULL) <> (b IS NULL) OR abs(a - b) > 1e-9 * greatest(1.0, abs(b))",
            query("slope(x, y)", "a"),
            query("regr_slope(y, x)", "b"),
        );
        let wrong = run(session, &different).await;
        let rows: usize = wrong.iter().map(|batch| batch.num_rows()).sum();
        assert_eq!(rows, 0, "{select}{rest}: {wrong:?}");
    }
}
