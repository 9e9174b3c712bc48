//! `fathom-sql`: SQL with functions in WebAssembly, from the command line.

mod prompt;

use std::{
    io::{BufRead, IsTerminal, Write, stdin, stdout},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
};

use clap::Parser;
use datafusion::{
    arrow::{array::RecordBatch, util::pretty::pretty_format_batches},
    prelude::SessionConfig,
};
use fathom_engine::is_command;
use fathom_sql::{
    Session,
    script::{Script, Unread},
    session::in_a_line,
};
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
            Line::Statements(text) => (Some(text), false),
            Line::End(rest) => (rest, true),
        };
        if let Some(text) = text {
            // On its own, so that a query that does not look up can be left.
            let own = session.clone();
            let task = tokio::spawn(async move { read(&own, text).await });
            let stop = task.abort_handle();
            tokio::select! {
                done = task => all &= done?,
                pressed = tokio::signal::ctrl_c() => {
                    pressed?;
                    stop.abort();
                    prompt.abandon();
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
    let mut script = Script::default();
    let mut input = stdin().lock();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        script.push(&line);
        line.clear();
        while let Some(next) = script.next(session.dialect().as_ref()) {
            all &= read(session, next).await;
        }
    }
    if let Some(rest) = script.rest(session.dialect().as_ref()) {
        all &= read(session, rest).await;
    }
    Ok(all)
}

/// Runs what was read, or says why it is no statement.
async fn read(session: &Session, text: Result<String, Unread>) -> bool {
    match text {
        Ok(text) => statements(session, &text).await,
        Err(unread) => {
            eprintln!("fathom-sql: {unread}");
            false
        }
    }
}

/// Runs these and prints what each returns; false, and one line on standard error, where one
/// fails.
async fn statements(session: &Session, sql: &str) -> bool {
    let all = match session.parse(sql) {
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
    let mut table = table.to_string();
    // Data is no command to a terminal; who redirects it gets it as it is.
    let is_command = |c: char| c != '\n' && is_command(c);
    if stdout().is_terminal() && table.contains(is_command) {
        table = table.replace(is_command, "\u{fffd}");
    }
    writeln!(stdout(), "{table}").map_err(|error| error.to_string())
}
