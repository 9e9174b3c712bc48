//! The part of SPEC CPU that "Leaps and bounds" ran, built of a user's copy.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, ensure};
use fathom_bench::home::Home;

use fathom_bench::experiment::SPEC_BUILT;

/// Builds the paper's part of a copy of SPEC CPU 2017, all of it or the workloads named.
/// What it says on the way is passed on; its error is ours.
pub fn build(
    home: &Home,
    copy: &Path,
    size: &str,
    workloads: &[String],
    results: &Path,
) -> anyhow::Result<()> {
    let script = home.root().join("workloads").join("spec.py");
    let mut command = Command::new("python3");
    command.arg(&script).arg(copy).args(["--size", size]);
    command.arg("--into").arg(results.join(SPEC_BUILT));
    if !workloads.is_empty() {
        // Runs of one benchmark are numbered behind its name.
        let benchmark = |name: &String| match name.rsplit_once("_r.") {
            Some((name, _)) => format!("{name}_r"),
            None => name.clone(),
        };
        let names: Vec<String> = workloads.iter().map(benchmark).collect();
        command.arg("--benchmark").arg(names.join(","));
    }
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot run python3 {}", script.display()))?;
    let mut why = "not built".to_owned();
    for line in child
        .stderr
        .take()
        .into_iter()
        .flat_map(|all| BufReader::new(all).lines())
    {
        let line = line.context("the output of the build cannot be read")?;
        match line.strip_prefix("error: ") {
            Some(error) => error.clone_into(&mut why),
            None => say!("{line}"),
        }
    }
    ensure!(child.wait()?.success(), "--spec {}: {why}", copy.display());
    Ok(())
}
