//! A trace as tables.

use fathom_report::figures::count;
use fathom_trace::counts::CLASSES;
use fathom_trace::kernel::{Kernel, Waits};
use fathom_trace::times::Times;
use fathom_trace::trace::{Cost, Trace, Wasi};

/// Rows of a table beyond which the rest is summed up.
const ROWS_MAX: usize = 24;

/// The whole answer.
pub fn text(trace: &Trace) -> String {
    let mut text = format!(
        "\n{} · {} · exit status {}\n",
        trace.command.join(" "),
        duration(trace.wall_ns as f64),
        trace.status
    );
    if let Some(wasi) = &trace.wasi {
        text += &wasi_table(wasi);
    }
    if let Some(kernel) = &trace.kernel {
        text += &kernel_table(kernel, trace);
    }
    if let (Some(wasi), Some(kernel)) = (&trace.wasi, &trace.kernel) {
        text += &together(wasi, kernel);
    }
    for line in &trace.missing {
        text += &format!("not seen: {line}\n");
    }
    text
}

fn wasi_table(wasi: &Wasi) -> String {
    let mut text = format!(
        "\nWASI: {} calls, {}\n",
        count(wasi.total() as f64),
        wasi.words()
    );
    text += &looking(wasi.cost.as_ref());
    let mut rows: Vec<_> = wasi.functions.iter().collect();
    rows.retain(|(_, function)| function.calls.count() > 0);
    rows.sort_by_key(|(_, function)| std::cmp::Reverse(function.calls.count()));
    let has_times = rows.iter().any(|(_, function)| function.all_ns().is_some());
    let mut lines = vec![head(&["function", "calls", "failed", "bytes"], has_times)];
    for (name, function) in rows {
        let calls = &function.calls;
        let mut line = vec![
            name.clone(),
            count(calls.count() as f64),
            none(calls.failed()),
            none(calls.bytes),
        ];
        line.extend(match (&function.times, function.total_ns) {
            (None, Some(total_ns)) => sums(total_ns, calls.count(), wasi.cost.as_ref()),
            (all, _) => times(all.as_ref(), has_times, wasi.cost.as_ref()),
        });
        line.push(results(&calls.results));
        lines.push(line);
    }
    text += &table(&lines);
    text
}

/// Results that are no success, by their class.
fn results(results: &[u64; CLASSES.len()]) -> String {
    let failed = CLASSES.iter().zip(results).skip(1);
    let failed = failed.filter(|(_, count)| **count > 0);
    let words: Vec<String> = failed
        .map(|(class, number)| format!("{} {}", count(*number as f64), class.name))
        .collect();
    words.join(", ")
}

fn kernel_table(kernel: &Kernel, trace: &Trace) -> String {
    let by_name = kernel.by_name();
    let total: u64 = by_name.values().map(|call| call.times.count).sum();
    let total_ns: u64 = by_name.values().map(|call| call.times.total_ns).sum();
    let lived_ns: u64 = kernel.threads.iter().map(|thread| thread.lived_ns).sum();
    let mut text = format!(
        "\nSystem calls: {} in {}, {} of the time of all threads, traced by eBPF\n",
        count(total as f64),
        duration(total_ns as f64),
        share(total_ns as f64, lived_ns as f64),
    );
    text += &looking(trace.kernel_cost.as_ref());
    let mut rows: Vec<_> = by_name.into_values().collect();
    rows.sort_by_key(|call| std::cmp::Reverse(call.times.total_ns));
    let mut lines = vec![head(&["system call", "calls", "failed", "bytes"], true)];
    for call in rows.iter().take(ROWS_MAX) {
        let mut line = vec![
            call.name.clone(),
            count(call.times.count as f64),
            none(call.failed),
            none(call.bytes.unwrap_or(0)),
        ];
        line.extend(times(Some(&call.times), true, trace.kernel_cost.as_ref()));
        lines.push(line);
    }
    text += &table(&lines);
    if let Some(rest) = rows.len().checked_sub(ROWS_MAX).filter(|rest| *rest > 0) {
        text += &format!("  and {rest} more\n");
    }
    text + &threads(kernel)
}

fn threads(kernel: &Kernel) -> String {
    let mut text = String::from("\nThreads\n");
    let names = [
        "thread",
        "calls",
        "faults",
        "in kernel",
        "in calls",
        "waited",
        "for pages",
        "waited",
        "preempted",
        "waited",
    ];
    let mut lines = vec![names.map(str::to_owned).to_vec()];
    for thread in kernel.threads.iter().take(ROWS_MAX) {
        let own = kernel.calls.iter();
        let own = own.filter(|call| call.thread == thread.thread);
        let calls: u64 = own.map(|call| call.times.count).sum();
        let waits = |of: Waits| [none(of.count), duration(of.total_ns as f64)];
        let mut line = vec![
            thread.thread.to_string(),
            count(calls as f64),
            none(thread.faults_user),
            none(thread.faults_kernel),
        ];
        for of in [thread.in_calls, thread.in_faults, thread.preempted] {
            line.extend(waits(of));
        }
        lines.push(line);
    }
    text += &table(&lines);
    let rest = kernel.threads.len().saturating_sub(ROWS_MAX);
    if rest > 0 {
        text += &format!("  and {rest} more\n");
    }
    let running = kernel.threads.iter().filter(|thread| thread.is_running);
    match running.count() {
        0 => text,
        more => text + &format!("  {more} of them still run\n"),
    }
}

/// What both levels say together.
fn together(wasi: &Wasi, kernel: &Kernel) -> String {
    let calls: u64 = kernel.counts().values().sum();
    let mut text = String::from("\n");
    if wasi.total() > 0 {
        text += &format!(
            "{:.2} system calls for each WASI call, the engine's own start included\n",
            calls as f64 / wasi.total() as f64
        );
    }
    text
}

fn head(names: &[&str], has_times: bool) -> Vec<String> {
    let times = ["total", "mean", "min", "p50", "p90", "p99", "max"];
    let times = times.iter().filter(|_| has_times);
    names.iter().chain(times).map(|n| n.to_string()).collect()
}

/// What looking costs.
fn looking(cost: Option<&Cost>) -> String {
    cost.map_or_else(String::new, |cost| {
        if cost.least_ns == 0.0 {
            return format!(
                "  each takes {} longer when traced\n",
                duration(cost.call_ns)
            );
        }
        format!(
            "  each takes {} longer when traced; one that does nothing is recorded as {}\n  \
             (≲: a time that looking makes more than half of)\n",
            duration(cost.call_ns),
            duration(cost.least_ns)
        )
    })
}

fn times(times: Option<&Times>, has_times: bool, cost: Option<&Cost>) -> Vec<String> {
    let Some(times) = times else {
        return vec![String::new(); if has_times { 7 } else { 0 }];
    };
    let all = [
        times.total_ns as f64,
        times.mean_ns(),
        times.min_ns as f64,
        times.quantile_ns(0.5),
        times.quantile_ns(0.9),
        times.quantile_ns(0.99),
        times.max_ns as f64,
    ];
    let mut all = all.map(duration).to_vec();
    all[1] = mean(times.mean_ns(), cost);
    all
}

/// A mean, marked where looking makes more than half of it.
fn mean(ns: f64, cost: Option<&Cost>) -> String {
    match cost.is_some_and(|cost| ns < 2.0 * cost.least_ns) {
        true => format!("≲ {}", duration(ns)),
        false => duration(ns),
    }
}

/// Where no more is known than how long all calls took together.
fn sums(total_ns: u64, count: u64, cost: Option<&Cost>) -> Vec<String> {
    let total_ns = total_ns as f64;
    let mut all = vec!["–".to_owned(); 7];
    all[0] = duration(total_ns);
    all[1] = mean(total_ns / count.max(1) as f64, cost);
    all
}

fn none(number: u64) -> String {
    match number {
        0 => "–".to_owned(),
        number => count(number as f64),
    }
}

fn share(part: f64, whole: f64) -> String {
    match whole > 0.0 {
        true => format!("{:.0} %", 100.0 * part / whole),
        false => "–".to_owned(),
    }
}

/// Three digits and a unit.
fn duration(ns: f64) -> String {
    let (number, unit) = match ns {
        ..1e3 => return format!("{ns:.0} ns"),
        ..1e6 => (ns / 1e3, "µs"),
        ..1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    let digits = if number < 10.0 {
        2
    } else {
        usize::from(number < 100.0)
    };
    format!("{number:.digits$} {unit}")
}

/// The first column to the left, numbers to the right, a remark as it is.
fn table(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let cells = line.iter().enumerate().map(|(column, cell)| match column {
            0 => format!("  {cell:<0$}", widths[0]),
            _ if column < columns => format!("{cell:>0$}", widths[column]),
            _ => cell.clone(),
        });
        let line: Vec<String> = cells.collect();
        text += line.join("  ").trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits() {
        for (ns, text) in [
            (0.0, "0 ns"),
            (999.0, "999 ns"),
            (1234.0, "1.23 µs"),
            (45_678.0, "45.7 µs"),
            (123_456_789.0, "123 ms"),
            (2.5e9, "2.50 s"),
        ] {
            assert_eq!(duration(ns), text);
        }
    }

    #[test]
    fn results_that_failed_are_named() {
        assert_eq!(results(&[5, 0, 0, 2, 0, 0, 0, 1]), "2 missing, 1 other");
        assert_eq!(results(&[5, 0, 0, 0, 0, 0, 0, 0]), "");
    }
}
