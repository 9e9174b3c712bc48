//! What CREATE FUNCTION waits for: an engine is set up, the module is read, compiled and linked.
//! Nothing of it is cached.

use anyhow::{Context, Result};
use fathom_engine::Codegen;

use crate::{
    estimate::{level, median},
    module::Modules,
    rounds::{Cell, Pace, Series, measure, timed},
    show,
};

/// Measures it for each module of the folder, and shows it.
///
/// # Errors
/// There is no module, or one does not compile.
pub fn run(modules: &Modules, pace: Pace<'_>) -> Result<()> {
    let files = modules.files()?;
    let codegens = modules.codegens();
    let mut cells = Vec::new();
    let mut sizes = Vec::new();
    for file in &files {
        sizes.push(modules.usual(file, true)?.bytes().len());
        for codegen in codegens {
            let name = format!("{file}, {codegen}");
            cells.push(Cell::new(name, move || {
                timed(|| modules.by(*codegen, file)).map(|(ns, _pool)| ns)
            }));
        }
    }
    let series = measure("Compiling a module", cells, pace)?;
    show_all(&files, &sizes, codegens, &series).context("no code generator")
}

/// A row for each module.
fn show_all(
    files: &[String],
    sizes: &[usize],
    codegens: &[Codegen],
    series: &[Series],
) -> Option<()> {
    let rounds = series.first()?.ns.len();
    println!("### Compiling a module, as CREATE FUNCTION does ({rounds} rounds)\n");
    print!("| module | bytes |");
    for codegen in codegens {
        print!(" {codegen}, median | 95 % interval |");
    }
    println!("\n|---|---|{}", "---|---|".repeat(codegens.len()));
    let of_files = series.chunks(codegens.len());
    for ((file, bytes), all) in files.iter().zip(sizes).zip(of_files) {
        print!("| {file} | {bytes} |");
        for one in all {
            let interval =
                level(&one.ns).map_or("–".to_owned(), |level| show::between(&level, &show::time));
            print!(" {} | {interval} |", show::time(median(&one.ns)));
        }
        println!();
    }
    println!();
    Some(())
}
