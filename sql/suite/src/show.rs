//! Estimates as tables in Markdown.

use fathom_stats::ratio::{self, Logs, Ratio};

use crate::{
    estimate::{against, level, logs, median},
    rounds::Series,
};

/// A row for each series, with its ratios to those of other names.
pub fn table(title: &str, series: &[Series], to: &[&str]) {
    let rounds = series.first().map_or(0, |first| first.ns.len());
    println!("### {title} ({rounds} rounds)\n");
    print!("| cell | median | 95 % interval |");
    to.iter().for_each(|name| print!(" to {name} |"));
    println!("\n|---|---|---|{}", "---|".repeat(to.len()));
    for one in series {
        let interval = level(&one.ns).map_or("–".to_owned(), |level| between(&level, &time));
        print!("| {} | {} | {interval} |", one.name, time(median(&one.ns)));
        for name in to {
            let other = series.iter().find(|series| series.name == *name);
            let ratio = other.and_then(|other| against(one, other));
            print!(
                " {} |",
                ratio.map_or("–".to_owned(), |ratio| ratio_in_words(&ratio))
            );
        }
        println!();
    }
    println!();
}

/// Each cell to `none` of the same code generator, on as many threads, by how much it was given;
/// and the geometric mean of that, in which each amount counts alike.
pub fn over_counts(title: &str, all: &[(usize, Vec<Series>)]) {
    println!("### {title}: to none of the same code generator, by number of points\n");
    print!("| cell |");
    all.iter().for_each(|(count, _)| print!(" {count} |"));
    println!(" mean |\n|---|{}---|", "---|".repeat(all.len()));
    for (at, one) in all
        .first()
        .map_or(&[][..], |(_, series)| series)
        .iter()
        .enumerate()
    {
        let Some((strategy, rest)) = one.name.split_once(", ") else {
            continue;
        };
        let base = format!("none, {rest}");
        let logs = all.iter().map(|(_, series)| {
            let to = series.iter().find(|series| series.name == base)?;
            logs(&series[at], to)
        });
        let logs: Option<Vec<Logs>> = logs.collect();
        let (false, Some(logs)) = (matches!(strategy, "none" | "native"), logs) else {
            continue;
        };
        print!("| {} |", one.name);
        let means = logs.chunks(1).chain([&logs[..]]);
        for mean in means.map(ratio::geomean) {
            print!(
                " {} |",
                mean.map_or("–".to_owned(), |mean| ratio_in_words(&mean))
            );
        }
        println!();
    }
    println!();
}

fn ratio_in_words(ratio: &Ratio) -> String {
    let number = |value: f64| format!("{value:.3}");
    format!("{:.3} ({})", ratio.value, between(ratio, &number))
}

/// The median of a fit's coefficients by round, and its interval.
pub fn fitted(values: &[f64]) -> (String, String) {
    let number = |value: f64| match value.abs() < 100.0 {
        true => format!("{value:.2}"),
        false => format!("{value:.0}"),
    };
    let interval = match level(values) {
        Some(level) => between(&level, &number),
        None => "not above 0 in every round".to_owned(),
    };
    (number(median(values)), interval)
}

/// The interval, or why there is none.
pub fn between(ratio: &Ratio, number: &dyn Fn(f64) -> String) -> String {
    match &ratio.interval {
        Ok(interval) => format!("{} – {}", number(interval.low), number(interval.high)),
        Err(why) => why.to_string(),
    }
}

/// A time in a unit that suits it.
pub fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.1} ns"),
        ns if ns < 1e6 => format!("{:.2} µs", ns / 1e3),
        ns if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        ns => format!("{:.3} s", ns / 1e9),
    }
}
