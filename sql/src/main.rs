//! `fathom-sql`: SQL with functions in WebAssembly, from the command line.

mod prompt;

use std::{
    io::{IsTerminal, Write, stdin, stdout},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
};

use clap::Parser;
use datafusion::{
    arrow::{array::RecordBatch, util::pretty::pretty_format_batches},
    prelude::SessionConfig,
};
use fathom_sql::{Session, session::in_a_line, statement};
use prompt::{Line, Prompt};

/// SQL over Parquet, CSV, JSON and Arrow files, with functions in WebAssembly.
#[derive(Parser)]
#[command(version, about)]
struct Options {
    /// Run these statements and end; without it, statements are read from standard input
    #[arg(short, long, value_name = "STATEMENTS")]
    command: Option<String>,

    /// Where modules are looked for [default: the working folder]
    #[arg(
        long,
        value_name = "FOLDER",
        default_value = ".",
        hide_default_value = true
    )]
    modules: PathBuf,

    /// Partitions that are worked on at once [default: as many as processors]
    #[arg(long, value_name = "COUNT")]
    threads: Option<std::num::NonZeroUsize>,
}

#[tokio::main]
async fn main() -> ExitCode {
    fathom_guest::keep_freed_memory();
    match run(Options::parse()).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("fathom-sql: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all statements did what they should.
async fn run(options: Options) -> anyhow::Result<bool> {
    let mut config = SessionConfig::new();
    if let Some(threads) = options.threads {
        config = config.with_target_partitions(threads.get());
    }
    let session = Arc::new(Session::new(config, options.modules)?);
    match &options.command {
        Some(sql) => Ok(statements(&session, sql).await),
        None if stdin().is_terminal() && stdout().is_terminal() => interactive(&session).await,
        None => piped(&session).await,
    }
}

/// Statements as they are written at a prompt.
async fn interactive(session: &Arc<Session>) -> anyhow::Result<bool> {
    let mut prompt = Prompt::new()?;
    let mut all = true;
    loop {
        let (text, is_last) = match prompt.read(session)? {
            Line::Statements(text) => (text, false),
            Line::End(text) => (text, true),
        };
        if !text.trim().is_empty() {
            // On its own, so that a query that does not look up can be left.
            let own = session.clone();
            let task = tokio::spawn(async move { statements(&own, &text).await });
            let stop = task.abort_handle();
            tokio::select! {
                done = task => all &= done?,
                pressed = tokio::signal::ctrl_c() => {
                    pressed?;
                    stop.abort();
                    eprintln!("fathom-sql: interrupted");
                    all = false;
                }
            }
        }
        if is_last {
            return Ok(all);
        }
    }
}

/// Statements that a program writes; one that fails leaves the session as it was, so the
/// next is tried.
async fn piped(session: &Session) -> anyhow::Result<bool> {
    let mut all = true;
    let mut begun = String::new();
    for line in stdin().lines() {
        let line = line?;
        begun.push_str(&line);
        begun.push('\n');
        if line.trim_end().ends_with(';') {
            all &= statements(session, &std::mem::take(&mut begun)).await;
        }
    }
    if !begun.trim().is_empty() {
        all &= statements(session, &begun).await;
    }
    Ok(all)
}

/// Runs these and prints what each returns; false, and one line on standard error, where one
/// fails.
async fn statements(session: &Session, sql: &str) -> bool {
    let all = match statement::parse(sql) {
        Ok(all) => all,
        Err(error) => {
            eprintln!("fathom-sql: {error}");
            return false;
        }
    };
    for statement in all {
        let printed = match session.execute(statement).await {
            Ok(None) => Ok(()),
            Ok(Some(batches)) => print(&batches),
            Err(error) => Err(in_a_line(&error)),
        };
        if let Err(line) = printed {
            eprintln!("fathom-sql: {line}");
            return false;
        }
    }
    true
}

/// A table, if there are columns: what only does something has none.
fn print(batches: &[RecordBatch]) -> Result<(), String> {
    if batches[0].num_columns() == 0 {
        return Ok(());
    }
    let table = pretty_format_batches(batches).map_err(|error| error.to_string())?;
    writeln!(stdout(), "{table}").map_err(|error| error.to_string())
}
