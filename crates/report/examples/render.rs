//! Renders a results folder to standard output: `render RESULTS [FORMAT]`.

use std::path::Path;

use fathom_report::{Format, Report, Style};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [results, format @ ..] = words.as_slice() else {
        return Err("usage: render RESULTS [FORMAT]".into());
    };
    let format: Format = format
        .first()
        .map_or(Ok(Format::Html), |name| name.parse())?;
    let report = Report::open(Path::new(results))?;
    println!("{}", report.render(format, Style::default())?);
    Ok(())
}
