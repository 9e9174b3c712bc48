//! Estimates as tables in Markdown.

use fathom_stats::ratio::Ratio;

use crate::{
    estimate::{against, level, median},
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

fn ratio_in_words(ratio: &Ratio) -> String {
    let number = |value: f64| format!("{value:.3}");
    format!("{:.3} ({})", ratio.value, between(ratio, &number))
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
