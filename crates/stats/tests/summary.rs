//! Whole campaigns in, numbers out.

mod common;

use common::{campaign, cell, failure, header, process, sample};
use fathom_record::campaign::{ANEW, ProbeRecord};
use fathom_record::{
    Campaign, Cell, CellId, Compared, Estimator, FailureKind, Guarantee, Record, Variant,
};
use fathom_stats::rng::Rng;
use fathom_stats::{Against, Figure, NoTime, Row, RowSummary, Summary, Verdict};
use proptest::prelude::*;

fn row(engine: &str, strategy: &str, variant: Variant, threads: u32) -> Row {
    Row::of(&cell(engine, strategy, variant, "k00", threads))
}

fn guard() -> Row {
    row("fathom", "guard", Variant::Wasm, 1)
}

#[test]
fn true_ratios_come_back() {
    let summary = Summary::from_campaign(&campaign(6, 1, 5, 0.004, 1));
    assert_eq!(summary.rows.len(), 4, "controls are no rows");
    let native = row("native", "none", Variant::Native, 1);
    for (strategy, truth) in [("none", 1.10), ("guard", 1.12), ("trap", 1.50)] {
        let one = summary
            .rows
            .iter()
            .find(|one| one.row == row("fathom", strategy, Variant::Wasm, 1))
            .unwrap();
        assert_eq!(one.baseline, native);
        let mean = one.to_baseline.geomean.unwrap();
        assert!(
            (mean.value / truth - 1.0).abs() < 0.005,
            "{strategy}: {mean:?}"
        );
        assert!(
            mean.interval.unwrap().contains(truth),
            "{strategy}: {mean:?}"
        );
        assert_eq!(one.to_baseline.verdict, Verdict::Different);
        assert_eq!(
            (
                one.to_baseline.workloads.len(),
                one.to_baseline.missing.len()
            ),
            (6, 0)
        );
    }
    let none = row("fathom", "none", Variant::Wasm, 1);
    let between = summary.ratio(&guard(), &none).geomean.unwrap();
    assert!((between.value - 1.12 / 1.10).abs() < 0.005, "{between:?}");
    assert_eq!(
        summary.best(&guard()).unwrap().row,
        guard(),
        "native and unchecked code are not ranked"
    );
}

#[test]
fn the_floor_comes_from_the_controls() {
    let quiet = Summary::from_campaign(&campaign(6, 1, 5, 0.001, 1)).noise;
    let noisy = Summary::from_campaign(&campaign(6, 1, 5, 0.02, 1)).noise;
    assert_eq!(quiet.controls.len(), 6);
    let (low, high) = (quiet.geomean(1).unwrap(), noisy.geomean(1).unwrap());
    assert!(
        low.relative() < 0.005 && high.relative() > 0.005,
        "{low:?} {high:?}"
    );
    assert!(quiet.workload("polybench:k00", 1).unwrap() >= low);
    let worst = quiet.workload("polybench:unheard of", 1).unwrap();
    assert!((0..6).all(|k| quiet.workload(&format!("polybench:k{k:02}"), 1).unwrap() <= worst));
    assert_eq!(
        quiet.geomean(4),
        None,
        "never borrowed from another number of threads"
    );
    assert_eq!(quiet.threads().collect::<Vec<_>>(), [1]);
}

/// A loud engine with a control of its own, ours with its, and native code without.
#[test]
fn a_noisy_engine_s_control_is_its_own_affair() {
    let mut header = header(6, 1);
    header.config.estimator = Estimator::FasterHalf;
    header.config.layouts = [Variant::Wasm, Variant::Native]
        .map(|variant| (variant, ANEW))
        .into();
    let guards = header.cells.iter().filter(|cell| cell.control_of.is_none());
    let guards = guards.filter(|cell| cell.sandbox.strategy == "guard");
    let others: Vec<_> = guards
        .map(|cell| {
            let mut other = cell.clone();
            other.sandbox.engine = "loud".to_owned();
            other
        })
        .collect();
    header
        .cells
        .extend(others.iter().map(|cell| cell.control()));
    header.cells.extend(others);
    let truth = |cell: &fathom_record::Cell| match cell.sandbox.engine.as_str() {
        "loud" if cell.is_control() => 1.2,
        _ => 1.0,
    };
    let summary = Summary::from_campaign(&common::campaign_of(header, 5, 0.005, 1, truth));
    let (least, most) = (
        summary.noise.least(1).unwrap(),
        summary.noise.geomean(1).unwrap(),
    );
    assert!(
        least.relative() < 0.02 && most.relative() > 0.18,
        "{least:?} {most:?}"
    );
    let after = fathom_stats::compare(&summary, &summary, 0.0, fathom_stats::Basis::Time);
    let floor = |engine: &str, strategy: &str| {
        let of = |row: &&fathom_stats::compare::RowChange| {
            row.row.sandbox.engine == engine && row.row.sandbox.strategy == strategy
        };
        after
            .rows
            .iter()
            .find(of)
            .unwrap()
            .geomean
            .unwrap()
            .floor
            .unwrap()
    };
    assert_eq!(floor("fathom", "guard"), least);
    assert_eq!(floor("fathom", "trap"), least, "its engine's");
    assert_eq!(floor("loud", "guard"), most);
    assert_eq!(
        floor("native", "none"),
        most,
        "of an engine without a control, the largest"
    );
}

/// Its two rounds neither count nor take away what the others say.
#[test]
fn a_control_that_rested_says_nothing() {
    let mut campaign = campaign(6, 1, 5, 0.005, 1);
    let whole = Summary::from_campaign(&campaign).noise.geomean(1).unwrap();
    let excluded = campaign.header.cells.iter().find(|cell| cell.is_control());
    let excluded = excluded.unwrap().id();
    campaign
        .samples
        .retain(|sample| sample.cell != excluded || sample.round < 2);
    campaign
        .processes
        .retain(|process| process.cell != excluded || process.round < 2);
    let noise = Summary::from_campaign(&campaign).noise;
    assert_eq!(noise.controls.len(), 6);
    let without = noise.geomean(1).unwrap();
    assert!(
        without.relative() < 3.0 * whole.relative(),
        "{without:?} {whole:?}"
    );
}

#[test]
fn identical_rows_are_not_called_different() {
    let header = header(6, 1);
    for seed in 0..10 {
        let summary =
            Summary::from_campaign(&common::campaign_of(header.clone(), 5, 0.01, seed, |_| 1.0));
        let real = summary
            .rows
            .iter()
            .filter(|row| row.to_baseline.verdict == Verdict::Different)
            .count();
        assert!(real == 0, "seed {seed}: {real} of 3");
    }
}

#[test]
fn without_a_control_nothing_is_called_different() {
    let mut header = header(3, 1);
    header.cells.retain(|cell| !cell.is_control());
    let summary = Summary::from_campaign(&common::campaign_of(
        header,
        5,
        0.001,
        1,
        common::true_ratio,
    ));
    let trap = summary
        .rows
        .iter()
        .find(|one| one.row.sandbox.strategy == "trap")
        .unwrap();
    assert_eq!(trap.to_baseline.verdict, Verdict::Uncontrolled);
}

#[test]
fn a_wrong_answer_or_a_leak_takes_the_time_away() {
    let mut campaign = campaign(3, 1, 5, 0.001, 1);
    let wrong = cell("fathom", "guard", Variant::Wasm, "k01", 1);
    campaign.push(failure(
        Some(&wrong.id()),
        Some(2),
        FailureKind::WrongAnswer,
    ));
    let leaky = cell("fathom", "trap", Variant::Wasm, "k00", 1);
    campaign.push(Record::Probe(ProbeRecord {
        sandbox: leaky.sandbox.id(),
        claimed: Guarantee::Exact,
        observed: Guarantee::Unchecked,
        accesses: 100,
        violations: 3,
        needless: 0,
        examples: Vec::new(),
        without: Vec::new(),
        date: None,
        part_percent: None,
    }));
    let summary = Summary::from_campaign(&campaign);
    let wrong = summary.cell(&wrong.id()).unwrap();
    assert!(matches!(
        wrong.times,
        Err(NoTime::Failed {
            kind: FailureKind::WrongAnswer,
            ..
        })
    ));
    assert_eq!(wrong.estimate(Figure::Kernel), None);
    let guard = summary.rows.iter().find(|one| one.row == guard()).unwrap();
    assert_eq!(guard.to_baseline.missing, ["k01"]);
    assert_eq!(guard.to_baseline.geomean.unwrap().workloads, 2);
    assert_eq!(guard.without_time, std::slice::from_ref(&wrong.id));
    let trap = summary
        .rows
        .iter()
        .find(|one| one.row.sandbox.strategy == "trap")
        .unwrap();
    assert!(!trap.is_ranked && trap.to_baseline.geomean.is_err());
    assert_eq!(
        summary.cell(&leaky.id()).unwrap().times,
        Err(NoTime::Unsound { violations: 3 })
    );
    assert!(
        summary.best(&guard.row).is_none(),
        "a row with a gap is not the best"
    );
}

#[test]
fn a_round_that_failed_for_another_reason_is_left_out_alone() {
    let mut campaign = campaign(1, 1, 5, 0.001, 1);
    let id = cell("fathom", "guard", Variant::Wasm, "k00", 1).id();
    campaign.push(failure(Some(&id), Some(2), FailureKind::Io));
    campaign.push(failure(None, None, FailureKind::Io));
    let summary = Summary::from_campaign(&campaign);
    let times = summary.cell(&id).unwrap().times.as_ref().unwrap();
    assert_eq!(
        times.rounds.keys().copied().collect::<Vec<_>>(),
        [0, 1, 3, 4]
    );
    assert!(times.samples.iter().all(|point| point.round != 2));
    assert_eq!(summary.failures.len(), 1);
}

#[test]
fn a_round_is_the_median_of_its_threads_medians() {
    let mut header = header(1, 2);
    header.cells.truncate(1);
    let id = header.cells[0].id();
    let mut campaign = Campaign::new(header);
    for (thread, times) in [(0, [10, 11, 90]), (1, [20, 21, 22])] {
        for (index, ns) in (0..).zip(times) {
            campaign.push(sample(&id, 0, thread, index, ns));
        }
    }
    // Later than an earlier one of the same name: the later counts.
    campaign.push(sample(&id, 0, 1, 2, 23));
    campaign.push(process(&id, 0));
    // Never sealed.
    campaign.push(sample(&id, 1, 0, 0, 1));
    let summary = Summary::from_campaign(&campaign);
    let cell = summary.cell(&id).unwrap();
    let kernel = cell.estimate(Figure::Kernel).unwrap();
    assert_eq!((kernel.median, kernel.rounds()), (16.0, 1));
    assert!(kernel.interval().is_err());
    let value = |figure| cell.estimate(figure).unwrap().median;
    assert_eq!(value(Figure::Run), 516.0);
    assert_eq!(value(Figure::Start), 10.0 + 20_000.0 + 1_000.0);
    assert_eq!(value(Figure::RssPeak), f64::from(1 << 20));
    assert_eq!(value(Figure::CtxRate), 100.0);
    let is_absent = |figure| cell.estimate(figure).is_none();
    assert!(
        is_absent(Figure::CpuUseHost),
        "of the child's whole life is not of its runs"
    );
    assert!(is_absent(Figure::CpuUsePinned));
    assert_eq!(cell.times.as_ref().unwrap().samples.len(), 6);
}

#[test]
fn the_run_is_compared_where_the_campaign_says_so() {
    let mut campaign = campaign(2, 1, 3, 0.001, 1);
    campaign.header.config.compared = Compared::Run;
    let summary = Summary::from_campaign(&campaign);
    assert_eq!(summary.compared, Figure::Run);
    assert!(summary.typical(&guard(), Figure::Run).unwrap() > 1.1e9);
}

#[test]
fn more_instances_are_compared_with_one() {
    let mut both = header(2, 1);
    both.cells.extend(header(2, 4).cells);
    let slower = |cell: &fathom_record::Cell| {
        common::true_ratio(cell) * if cell.threads == 4 { 1.3 } else { 1.0 }
    };
    let summary = Summary::from_campaign(&common::campaign_of(both, 5, 0.001, 3, slower));
    let four = row("fathom", "guard", Variant::Wasm, 4);
    let scaling = summary.scaling(&four).unwrap();
    assert!((scaling.geomean.unwrap().value - 1.3).abs() < 0.01);
    assert_eq!(scaling.verdict, Verdict::Different);
    assert!(summary.scaling(&guard()).is_none());
    let native = summary.rows.iter().find(|one| one.row == four).unwrap();
    assert_eq!(native.baseline, row("native", "none", Variant::Native, 4));
}

#[test]
fn a_chosen_baseline_is_taken() {
    let mut campaign = campaign(2, 1, 3, 0.001, 1);
    campaign.header.config.baseline = Some(guard().sandbox.id());
    let summary = Summary::from_campaign(&campaign);
    assert!(summary.rows.iter().all(|one| one.baseline == guard()));
}

#[test]
fn tuned_native_code_is_measured_against_native() {
    let mut header = header(2, 1);
    for name in ["k00", "k01"] {
        header
            .cells
            .insert(0, cell("native", "none", Variant::NativeTuned, name, 1));
    }
    let native = row("native", "none", Variant::Native, 1);
    for chosen in [None, Some(native.sandbox.id())] {
        header.config.baseline = chosen;
        let summary = Summary::from_campaign(&common::campaign_of(
            header.clone(),
            3,
            0.001,
            1,
            common::true_ratio,
        ));
        assert!(summary.rows.iter().all(|one| one.baseline == native));
    }
}

#[test]
fn empty_campaigns_are_summarised() {
    for campaign in [Campaign::new(header(0, 1)), Campaign::new(header(2, 1))] {
        let summary = Summary::from_campaign(&campaign);
        assert!(
            summary
                .cells
                .iter()
                .all(|cell| cell.times == Err(NoTime::NotMeasured))
        );
        assert!(
            summary
                .rows
                .iter()
                .all(|row| row.to_baseline.geomean.is_err())
        );
        assert!(summary.noise.geomean(1).is_none() && summary.best(&guard()).is_none());
    }
}

#[test]
fn the_order_of_lines_changes_nothing() {
    let campaign = campaign(2, 2, 3, 0.01, 5);
    let mut shuffled = campaign.clone();
    shuffled.samples.reverse();
    shuffled.processes.reverse();
    let ratios = |campaign: &Campaign| {
        let summary = Summary::from_campaign(campaign);
        summary
            .rows
            .iter()
            .map(|row| row.to_baseline.geomean)
            .collect::<Vec<_>>()
    };
    assert_eq!(ratios(&campaign), ratios(&shuffled));
}

#[test]
fn any_figure_can_be_compared() {
    let summary = Summary::from_campaign(&campaign(3, 1, 5, 0.01, 5));
    let trap = row("fathom", "trap", Variant::Wasm, 1);
    let noise = summary.noise_in(Figure::Compile);
    let compile = summary.ratio_in(Figure::Compile, &noise, &trap, &guard());
    assert_eq!(compile.geomean.unwrap().value, 1.0);
    assert_eq!(compile.verdict, Verdict::Equivalent);
    let nowhere = summary.ratio_in(Figure::Cycles, &noise, &trap, &guard());
    assert_eq!((nowhere.missing.len(), nowhere.geomean.is_err()), (3, true));
}

/// Any record about a cell of [`header`], as absurd as it may be.
fn record(cells: Vec<fathom_record::CellId>) -> impl Strategy<Value = Record> {
    let number = prop_oneof![0..3_u32, any::<u32>()];
    let ns = prop_oneof![0..3_u64, any::<u64>()];
    let kind = prop::sample::select(FailureKind::ALL);
    (
        prop::sample::select(cells),
        number.clone(),
        number.clone(),
        number,
        ns,
        kind,
        0..20_u8,
    )
        .prop_map(|(cell, round, thread, index, ns, kind, what)| match what {
            0 => failure(Some(&cell), Some(round), kind),
            1..6 => process(&cell, round),
            _ => sample(&cell, round, thread, index, ns),
        })
}

fn any_campaign() -> impl Strategy<Value = Campaign> {
    let header = header(2, 1);
    let cells = header.cells.iter().map(fathom_record::Cell::id).collect();
    proptest::collection::vec(record(cells), 0..200).prop_map(move |records| {
        let mut campaign = Campaign::new(header.clone());
        records.into_iter().for_each(|record| campaign.push(record));
        campaign
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_campaign_panics(before in any_campaign(), after in any_campaign()) {
        let (before, after) = (Summary::from_campaign(&before), Summary::from_campaign(&after));
        for basis in [fathom_stats::Basis::Time, fathom_stats::Basis::ToBaseline] {
            let comparison = fathom_stats::compare(&before, &after, 0.05, basis);
            for (_, _, change) in comparison.regressions() {
                prop_assert!(change.ratio.value > 1.05);
            }
        }
        for cell in &after.cells {
            for figure in Figure::ALL {
                if let Some(estimate) = cell.estimate(figure) {
                    prop_assert!(estimate.min <= estimate.median && estimate.median <= estimate.max);
                    let _ = estimate.interval();
                }
            }
        }
        for row in &after.rows {
            let _ = (after.typical(&row.row, Figure::Run), after.scaling(&row.row), after.best(&row.row));
        }
    }
}

#[test]
fn a_row_is_held_against_the_median_of_rows_round_by_round() {
    let summary = Summary::from_campaign(&campaign(6, 1, 5, 0.001, 1));
    let rows = ["none", "guard", "trap"].map(|strategy| row("fathom", strategy, Variant::Wasm, 1));
    let names = ["k00", "k01", "k02"];
    let over = |row: &Row, against| summary.over(row, against, &names).geomean.unwrap();
    let middle = over(&guard(), Against::Median(&rows));
    assert!((middle.value - 1.0).abs() < 1e-9 && middle.workloads == 3);
    let slow = over(&rows[2], Against::Median(&rows));
    assert!((slow.value - 1.50 / 1.12).abs() < 0.005, "{slow:?}");
    let to_row = over(&rows[2], Against::Row(&rows[0]));
    assert!((to_row.value - 1.50 / 1.10).abs() < 0.005, "{to_row:?}");
    let unknown = summary.over(&guard(), Against::Median(&rows), &["k00", "gone"]);
    assert_eq!(unknown.missing, ["gone"]);
    assert_eq!(unknown.geomean.unwrap().workloads, 1);
}

#[test]
fn a_row_that_is_far_away_is_known_by_its_distance_and_near_ones_by_the_width() {
    // `trap` takes 1.34 times the time of `guard`, known to about 2 %; `none` takes 0.98.
    let noisy = Summary::from_campaign(&common::campaign(20, 1, 6, 0.06, 5));
    let strategies = |width| {
        let open = noisy.imprecise(width).into_iter();
        let names = open.map(|(cell, _)| cell.as_str().split('/').nth(1).unwrap().to_owned());
        names.collect::<std::collections::BTreeSet<String>>()
    };
    assert_eq!(
        strategies(0.005),
        ["guard", "none"].map(String::from).into()
    );
    // A mean that is not known as well is not left alone, however far away.
    let wild = Summary::from_campaign(&common::campaign(4, 1, 6, 0.12, 5));
    assert!(
        wild.imprecise(0.005)
            .iter()
            .any(|(cell, _)| cell.as_str().contains("trap"))
    );
    // A near one is left alone where it is known well; the first row never is by its distance.
    let quiet = Summary::from_campaign(&common::campaign(20, 1, 6, 0.004, 5));
    assert!(
        quiet
            .imprecise(0.0001)
            .iter()
            .all(|(cell, _)| cell.as_str().contains("guard"))
    );
    assert!(!quiet.imprecise(0.0001).is_empty());
}

#[test]
fn a_row_that_rests_is_told_from_the_first() {
    // Many rows that take 1.34 times the time of `guard`. Of few rounds an interval may reach no
    // further than a fifth of that, and a report not tell the two apart beside all other pairs.
    let engines: Vec<String> = (0..16).map(|at| format!("e{at:02}")).collect();
    let mut header = header(6, 1);
    header.config.estimator = Estimator::FasterHalf;
    header.config.layouts = [Variant::Wasm, Variant::Native]
        .map(|variant| (variant, ANEW))
        .into();
    for engine in &engines {
        let names = (0..6).map(|at| format!("k{at:02}"));
        let cells = names.map(|name| cell(engine, "guard", Variant::Wasm, &name, 1));
        header.cells.extend(cells);
    }
    let truth = |cell: &Cell| match cell.sandbox.engine.starts_with('e') {
        true => 1.50,
        false => common::true_ratio(cell),
    };
    let (mut rested, mut measured) = (0, 0);
    for seed in 0..20 {
        let mut all = common::campaign_of(header.clone(), 5, 0.002, seed, truth);
        // One noisy program in a mean: its error is known by few degrees of freedom.
        let mut rng = Rng::new(seed, 1);
        let is_noisy =
            |cell: &CellId| cell.as_str().starts_with('e') && cell.as_str().contains("k00");
        let noisy = all
            .samples
            .iter_mut()
            .filter(|sample| is_noisy(&sample.cell));
        for children in noisy.collect::<Vec<_>>().chunks_mut(3) {
            let off = (0.12 * common::normal(&mut rng)).exp();
            for ns in children
                .iter_mut()
                .filter_map(|sample| sample.kernel_ns.as_mut())
            {
                *ns = (*ns as f64 * off) as u64;
            }
        }
        let summary = Summary::from_campaign(&all);
        let open = summary.imprecise(0.0001);
        let ranked = summary.rows.iter().filter(|row| row.is_ranked);
        let mut rows: Vec<&RowSummary> = ranked.collect();
        let mean = |row: &RowSummary| row.to_baseline.geomean.as_ref().unwrap().value;
        rows.sort_by(|one, other| mean(one).total_cmp(&mean(other)));
        let rows: Vec<&Row> = rows.into_iter().map(|row| &row.row).collect();
        let table = summary.pairs(summary.compared, &summary.noise, &rows);
        for (at, row) in rows.iter().enumerate().skip(1) {
            let name = format!("{}/", row.sandbox.engine);
            if !engines.contains(&row.sandbox.engine) {
                continue;
            }
            if open
                .iter()
                .any(|(cell, _)| cell.as_str().starts_with(&name))
            {
                measured += 1;
                continue;
            }
            rested += 1;
            // The first row's pair stands in front of those of all rows between.
            let verdict = table.ratios[at * (at - 1) / 2].verdict;
            assert_eq!(verdict, Verdict::Different, "seed {seed}: {name}");
        }
    }
    assert!(rested > 0 && measured > 0, "{rested}, {measured}");
}
