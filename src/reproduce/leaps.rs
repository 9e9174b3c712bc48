//! The page of "Leaps and bounds", and the part of SPEC CPU it ran.

use std::path::Path;

use anyhow::{bail, ensure};

/// The benchmarks of SPEC CPU 2017 that the paper could compile; what it prints
/// as 525.lbm_r is no benchmark of that suite, whose 525 is x264_r.
const SPEC_SUBSET: [&str; 7] = [
    "505.mcf_r",
    "508.namd_r",
    "519.lbm_r",
    "525.x264_r",
    "531.deepsjeng_r",
    "544.nab_r",
    "557.xz_r",
];

/// The files of the page.
pub fn page(folder: &Path) -> anyhow::Result<Vec<(String, String)>> {
    Ok(fathom_report::leaps::files(folder)?)
}

/// Whether a folder is a copy of SPEC CPU 2017 that holds the paper's subset.
pub fn check_spec(folder: &Path) -> anyhow::Result<()> {
    let benchmarks = folder.join("benchspec").join("CPU");
    ensure!(
        benchmarks.is_dir(),
        "--spec {}: no benchspec/CPU in it, so it is no installed copy of SPEC CPU 2017",
        folder.display()
    );
    let missing: Vec<&str> = SPEC_SUBSET
        .into_iter()
        .filter(|name| !benchmarks.join(name).join("src").is_dir())
        .collect();
    ensure!(
        missing.is_empty(),
        "--spec {}: without the sources of {}",
        folder.display(),
        missing.join(", ")
    );
    bail!("--spec: compiling SPEC CPU is not there yet; leave it out")
}
