//! `fathom report`: a results folder in a form to read.
//!
//! Also what other commands print with: [`stdout_style`] and [`print`].

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::{Context, bail, ensure};
use fathom_record::Estimator;
use fathom_report::csv::{self, explained};
use fathom_report::spent::Spent;
use fathom_report::view::figure;
use fathom_report::{Format, Report, Results, Style, against, samples, write_whole};
use fathom_stats::Figure;
use fathom_sys::regular;
use fathom_trace::trace::Trace;

use crate::inputs;
use crate::one_line::lines;
use crate::trace::{picture, show};

/// Names standard output where a file is named.
pub const STDOUT: &str = "-";

/// Show the results of a campaign: as a table, a page, Markdown, CSV or JSON
#[derive(clap::Args)]
pub struct Args {
    /// A results folder, the samples.jsonl in it, or a file of `fathom trace --out`
    #[arg(required_unless_present = "columns")]
    results: Option<PathBuf>,
    /// terminal, html, markdown, csv or json
    #[arg(long, default_value = "terminal", value_name = "FORMAT")]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Compare by this figure (compile, start, rss_peak…) instead of the campaign's usual one;
    /// `time-spent` shows where the campaign's time went, by row and by part
    #[arg(long, value_name = "FIGURE")]
    by: Option<By>,
    /// What the rounds of a cell come to: mean or faster-half. By default what the campaign says,
    /// the mean for campaigns before there was a choice
    #[arg(long, value_name = "ESTIMATOR")]
    estimator: Option<Estimator>,
    /// Write every page and table of the experiment to the results folder, or to --out
    #[arg(long, conflicts_with_all = ["format", "by", "json"])]
    pages: bool,
    /// Print every sample instead, as csv, or write them to --out as parquet
    #[arg(long, conflicts_with_all = ["format", "by", "json", "pages"], value_parser = [CSV, PARQUET], hide_possible_values = true, value_name = "csv|parquet")]
    samples: Option<String>,
    /// For a campaign of `suite web`: folders of earlier campaigns, of which its page says whether
    /// they predict the engines' order; their samples are copied to its folder
    #[arg(long, num_args = 1.., value_name = "FOLDER", conflicts_with_all = ["by", "samples"])]
    against: Vec<PathBuf>,
    /// Explain every column of --format csv and of --samples
    #[arg(long, exclusive = true)]
    columns: bool,
    /// File to write, `-` for standard output; without it, HTML goes to the results folder
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print ASCII only
    #[arg(long)]
    ascii: bool,
}

/// The forms of samples.
const CSV: &str = "csv";
const PARQUET: &str = "parquet";

/// What a report is made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// Rows are compared by a figure.
    Figure(Figure),
    /// Where the campaign's time went.
    TimeSpent,
}

/// The name of [`By::TimeSpent`].
const TIME_SPENT: &str = "time-spent";

impl FromStr for By {
    type Err = String;

    fn from_str(name: &str) -> Result<By, String> {
        match name {
            TIME_SPENT => Ok(By::TimeSpent),
            other => figure(other).map(By::Figure).map_err(|error| {
                let known = error.trim_end_matches(')');
                format!("{known}, {TIME_SPENT})")
            }),
        }
    }
}

/// Reads, renders, and prints or writes.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Some(results) = args.results.clone() else {
        let (report, samples) = (explained(&csv::COLUMNS), explained(&samples::COLUMNS));
        let both = format!("report --format csv:\n{report}\nreport --samples:\n{samples}");
        print(&both)?;
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(out) = &args.out {
        inputs::spare(out, [results.as_path()])?;
    }
    if let Some(trace) = trace_in(&results) {
        return traced(args, &results, &trace);
    }
    if let Some(form) = &args.samples {
        return every_sample(&results, form, args.out);
    }
    let by = match args.by {
        Some(By::TimeSpent) => return spent(args, &results),
        Some(By::Figure(figure)) => Some(figure),
        None => None,
    };
    if !args.against.is_empty() {
        let results = Results::find(&results)?;
        against::keep(
            &against::read(&args.against)?,
            &results.header()?,
            &results.folder,
        )?;
    }
    let report = Report::open_by(&results, by, args.estimator)?;
    if args.pages {
        let is_folder = args.out.as_deref() != Some(Path::new(STDOUT));
        ensure!(is_folder, "--pages writes several files: --out is a folder");
        for path in report.save_all(args.out.as_deref())? {
            print(&format!("{}\n", path.display()))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let is_printed = args.out.as_deref() == Some(Path::new(STDOUT));
    let format = args.form();
    let text = report.render(format, args.style())?;
    let text = match format {
        Format::Terminal => lines(&text).into_owned(),
        _ => text,
    };
    let to = match (args.out, format) {
        (Some(_), _) if is_printed => None,
        (Some(out), _) => Some(out),
        (None, Format::Html) => report.file_of(Format::Html),
        (None, _) => None,
    };
    deliver(&text, to)
}

impl Args {
    fn form(&self) -> Format {
        match self.json {
            true => Format::Json,
            false => self.format,
        }
    }

    /// How what it is written to is written to.
    fn style(&self) -> Style {
        let mut style = match self.out.as_deref() {
            Some(out) if out != Path::new(STDOUT) => Style::default(),
            _ => stdout_style(),
        };
        style.is_ascii |= self.ascii;
        style
    }
}

/// Where a campaign's time went.
fn spent(args: Args, results: &Path) -> anyhow::Result<ExitCode> {
    ensure!(
        args.estimator.is_none(),
        "--by {TIME_SPENT} adds up what was recorded: --estimator changes nothing"
    );
    let campaign = Results::find(results)?.load()?;
    let format = args.form();
    let text = Spent::of(&campaign).render(format, args.style())?;
    let text = match format {
        Format::Terminal => lines(&text).into_owned(),
        _ => text,
    };
    deliver(&text, args.out.filter(|out| out != Path::new(STDOUT)))
}

/// Writes a report to a file, whose name is printed then, or prints it.
fn deliver(text: &str, to: Option<PathBuf>) -> anyhow::Result<ExitCode> {
    match to {
        Some(path) => {
            write_whole(&path, text.as_bytes()).with_context(|| path.display().to_string())?;
            print(&format!("{}\n", path.display()))?;
        }
        None => print(text)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Every sample in a form.
fn every_sample(results: &Path, form: &str, out: Option<PathBuf>) -> anyhow::Result<ExitCode> {
    let campaign = Results::find(results)?.load()?;
    let to_stdout = out.as_deref() == Some(Path::new(STDOUT));
    let to = out.filter(|_| !to_stdout);
    if form == CSV {
        return deliver(&samples::csv(&campaign), to);
    }
    let file = samples::parquet(&campaign);
    match to {
        Some(path) => {
            write_whole(&path, &file).with_context(|| path.display().to_string())?;
            print(&format!("{}\n", path.display()))?;
        }
        None => {
            let is_wanted = to_stdout && !io::stdout().is_terminal();
            ensure!(
                is_wanted,
                "--samples parquet is no text: name a file by --out FILE"
            );
            written(io::stdout().lock(), &file)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The trace in a file, if it is one; what it is not is for others to say.
fn trace_in(path: &Path) -> Option<Trace> {
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    let text = is_json.then(|| regular::read_to_string(path).ok())??;
    Trace::parse(&text).ok()
}

/// A trace in a form.
fn traced(args: Args, results: &Path, trace: &Trace) -> anyhow::Result<ExitCode> {
    ensure!(
        !args.pages,
        "--pages is for results; a trace is one page: --format html"
    );
    ensure!(
        args.samples.is_none(),
        "--samples is for results, not for a trace"
    );
    ensure!(args.by.is_none(), "--by is for results, not for a trace");
    ensure!(
        args.estimator.is_none(),
        "--estimator is for results, not for a trace"
    );
    let text = match (args.format, args.json) {
        (_, true) | (Format::Json, _) => serde_json::to_string(trace)? + "\n",
        (Format::Terminal, _) => lines(&show::text(trace)).into_owned(),
        (Format::Html, _) => picture::of(trace).html(),
        (other, _) => bail!("a trace has no {other}: terminal, html or json"),
    };
    let beside = || results.with_extension("html");
    let to = match (args.out, args.format) {
        (Some(out), _) if out == Path::new(STDOUT) => None,
        (Some(out), _) => Some(out),
        (None, Format::Html) => Some(beside()),
        (None, _) => None,
    };
    deliver(&text, to)
}

/// How this process's standard output is written to: in colour and in its
/// width if it is a terminal (and `NO_COLOR` is not set, no-color.org), beyond
/// ASCII if the locale says UTF-8.
pub fn stdout_style() -> Style {
    let stdout = io::stdout();
    let is_terminal = stdout.is_terminal();
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let width = is_terminal
        .then(|| rustix::termios::tcgetwinsize(&stdout).ok())
        .flatten()
        .map(|size| usize::from(size.ws_col))
        .filter(|width| *width > 0);
    Style {
        has_colour: is_terminal && !is_dumb && !is_set("NO_COLOR"),
        is_ascii: is_terminal && !is_utf8(),
        width,
    }
}

/// Whether the locale's characters are UTF-8: the first of these variables
/// that is set decides (locale(7)).
fn is_utf8() -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty())
        .is_some_and(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        })
}

/// Prints. A reader who has seen enough (`| head`) is no error.
///
/// # Errors
/// Anything else that keeps text from standard output.
pub fn print(text: &str) -> io::Result<()> {
    let stdout = io::stdout().lock();
    // What a file has in it is no command to a terminal; who redirects it gets it as it is.
    let text = match stdout.is_terminal() {
        true => lines(text),
        false => Cow::Borrowed(text),
    };
    written(stdout, text.as_bytes())
}

/// Writes to standard output, whose reader may have gone.
fn written(mut stdout: io::StdoutLock<'_>, bytes: &[u8]) -> io::Result<()> {
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(io::Error::new(
            error.kind(),
            format!("standard output: {error}"),
        )),
        Ok(()) => Ok(()),
    }
}
