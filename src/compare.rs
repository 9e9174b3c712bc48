//! `fathom compare`: has anything become slower since?
//!
//! Exit status 0 if not, 1 if a slowdown past the threshold was shown or a
//! time was lost, never for a difference inside the noise.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::ensure;
use fathom_report::{Results, compare as text};
use fathom_stats::{Basis, Summary, compare};

use crate::report::{print, stdout_style};

/// Compare two campaigns; fails past a threshold, never inside the noise
#[derive(clap::Args)]
pub struct Args {
    /// The results folder to compare with
    before: PathBuf,
    /// The results folder in question
    after: PathBuf,
    /// Slowdown that is tolerated
    #[arg(long, default_value = "2%", value_parser = threshold, value_name = "PERCENT")]
    threshold: f64,
    /// Compare times, or ratios to each campaign's baseline: by host if absent
    #[arg(long, value_parser = basis, value_name = "time|ratio")]
    basis: Option<Basis>,
}

/// Reads both, compares, and says so in the exit status.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let before = summary(&args.before)?;
    let after = summary(&args.after)?;
    let basis = args.basis.unwrap_or_else(|| Basis::of(&before, &after));
    let comparison = compare(&before, &after, args.threshold, basis);
    ensure!(
        comparison.only_before.len() < before.cells.len(),
        "{} and {} have no cell in common, so nothing can be compared: the one measured {}, \
         the other {}",
        args.before.display(),
        args.after.display(),
        subject(&before),
        subject(&after)
    );
    let name = |path: &Path| path.display().to_string();
    print(&text::render(
        &comparison,
        &name(&args.before),
        &name(&args.after),
        stdout_style(),
    ))?;
    Ok(if comparison.is_refused() || comparison.rows.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// What a campaign measured, as somebody would say it.
fn subject(summary: &Summary) -> String {
    const NAMED_MAX: usize = 3;
    let mut names: Vec<String> = Vec::new();
    for cell in &summary.cells {
        let (suite, workload) = (&cell.cell.suite, &cell.cell.workload);
        let name = match suite.as_str() {
            "module" => workload.clone(),
            _ => format!("{suite} {workload}"),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.len() > NAMED_MAX {
        names.truncate(NAMED_MAX);
        names.push("others".to_owned());
    }
    match names.is_empty() {
        true => "nothing".to_owned(),
        false => names.join(", "),
    }
}

fn summary(path: &Path) -> anyhow::Result<Summary> {
    let campaign = Results::find(path)?.load()?;
    Ok(Summary::from_campaign(&campaign))
}

/// `2%`, `2 %` or `0.5%`; a plain number is per cent too.
fn threshold(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(percent) if percent.is_finite() && percent >= 0.0 => Ok(percent / 100.0),
        _ => Err("a threshold is per cent, 0 or more, such as 2%".to_owned()),
    }
}

fn basis(text: &str) -> Result<Basis, String> {
    match text {
        "time" => Ok(Basis::Time),
        "ratio" => Ok(Basis::ToBaseline),
        _ => Err("a basis is time or ratio".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_per_cent() {
        assert_eq!(threshold("2%"), Ok(0.02));
        assert_eq!(threshold("0.5 %"), Ok(0.005));
        assert_eq!(threshold("3"), Ok(0.03));
        for bad in ["", "%", "-1%", "nan", "inf", "2x"] {
            assert!(threshold(bad).is_err(), "{bad}");
        }
    }
}
