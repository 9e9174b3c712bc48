//! The page of "Performance of WebAssembly runtimes in 2023", and its pictures.

use std::path::Path;

use anyhow::Context;
use fathom_report::Report;

/// The files of the page.
pub fn page(folder: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let pages = Report::open(folder)?.library;
    let pages =
        pages.with_context(|| format!("{}: a campaign of another kind", folder.display()))?;
    Ok(pages.seed)
}
