//! `fathom-sql`: SQL with functions in WebAssembly, from the command line.

use std::{
    io::{BufRead, IsTerminal, Write, stdin, stdout},
    path::PathBuf,
    process::ExitCode,
};

use clap::Parser;
use datafusion::{
    arrow::{array::RecordBatch, util::pretty::pretty_format_batches},
    prelude::SessionConfig,
};
use fathom_sql::{Session, session::in_a_line, statement};

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
    let session = Session::new(config, options.modules)?;
    if let Some(sql) = &options.command {
        return Ok(statements(&session, sql).await);
    }
    let is_shown = stdin().is_terminal();
    let mut all = true;
    let mut text = String::new();
    let mut lines = stdin().lock().lines();
    loop {
        if is_shown {
            print!("{}", if text.is_empty() { "sql> " } else { "...> " });
            stdout().flush()?;
        }
        let Some(line) = lines.next().transpose()? else {
            break;
        };
        text.push_str(&line);
        text.push('\n');
        if line.trim_end().ends_with(';') {
            // One that fails leaves the session as it was: the next is tried.
            all &= statements(&session, &std::mem::take(&mut text)).await;
        }
    }
    if !text.trim().is_empty() {
        all &= statements(&session, &text).await;
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
