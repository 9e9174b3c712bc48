//! What a call is made of, found again in a campaign made of formulas.

use fathom_record::{Experiment, Variant};

use super::*;
use crate::formula;

#[test]
fn terms_are_found_again() {
    let rows = ["0", "32", "128", "1024", "8192"];
    let names = rows
        .iter()
        .flat_map(|rows| [format!("gcd-{rows}"), format!("gcd-{rows}-new")]);
    let cells: Vec<_> = names
        .chain(["create-gcd", "copy-8", "nothing-1x1-0-new"].map(str::to_owned))
        .map(|name| formula::cell("fathom", "auto", Variant::Wasm, ("sql", &name)))
        .collect();
    // 1 µs a call, 40 ns a row, 5 µs an instance, 2 ns a row more.
    let costs = [1e-6, 40e-9, 5e-6, 2e-9];
    let truth = |cell: &fathom_record::Cell| match shape(&cell.workload) {
        Some(shape) => shape
            .has
            .iter()
            .zip(costs)
            .map(|(has, cost)| has * cost)
            .sum(),
        None => 1.0,
    };
    let campaign = formula::campaign("calls", Vec::new(), &cells, truth);
    let csv = formula::file(&campaign, Experiment::SqlCalls, "sql-calls.csv");
    let lines: Vec<&str> = csv.lines().skip(1).collect();
    assert_eq!(lines.len(), OF_FUNCTION.len(), "{lines:?}");
    for (line, cost) in lines.iter().zip(costs) {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields[..2], ["fathom auto", "gcd"]);
        let ns: f64 = fields[3].parse().unwrap();
        assert!((ns / (1e9 * cost) - 1.0).abs() < 0.05, "{line}");
    }
}

#[test]
fn what_is_in_no_fit_has_no_shape() {
    for name in [
        "create-gcd",
        "create-gcd.64",
        "copy-8",
        "nothing-1x1-0-new",
        "gcd",
        "gcd-x",
    ] {
        assert!(shape(name).is_none(), "{name}");
    }
    let has = |name: &str| shape(name).unwrap().has;
    assert_eq!(
        has("nothing-8x1-128"),
        [100.0, 900.0, 800.0, 100.0, 12_800.0]
    );
    assert_eq!(has("udo_kmeans-16384-1024"), [19.0, 16_384.0, 1.0]);
    assert_eq!(has("udo_kmeans-0-32"), [1.0, 0.0, 1.0]);
    assert_eq!(has("slope-8192-new"), [4.0, 32_768.0, 4.0, 32_768.0]);
}
