//! `fathom-cluster`: a Ballista cluster whose functions are in WebAssembly, and its client.

use std::{
    io::Write,
    net::SocketAddr,
    num::NonZeroUsize,
    path::PathBuf,
    process::ExitCode,
    time::{Duration, SystemTime},
};

use anyhow::Context;
use clap::Parser;
use datafusion::{arrow::util::pretty::pretty_format_batches, prelude::SessionConfig};
use fathom_cluster::{in_a_line, node, remote};
use tokio::net::TcpListener;

/// SQL with functions in WebAssembly on several machines.
#[derive(Parser)]
#[command(version, about)]
enum Options {
    /// Be the one that plans queries and gives out their parts
    Scheduler {
        /// Where to serve; port 0 is a free one, which is printed
        #[arg(long, default_value = "127.0.0.1:50050")]
        address: SocketAddr,
        /// Seconds without a sign of life after which an executor is lost
        #[arg(long, value_name = "SECONDS", default_value = "30",
              value_parser = clap::value_parser!(u64).range(6..=86_400))]
        patience: u64,
    },
    /// Be one that works on parts of queries
    Executor(Executor),
    /// Run statements in a cluster
    Sql {
        /// Run these and end
        #[arg(short, long, value_name = "STATEMENTS")]
        command: String,
        /// The scheduler's address
        #[arg(long, default_value = "127.0.0.1:50050")]
        scheduler: String,
        /// Where modules are looked for
        #[arg(long, value_name = "FOLDER", default_value = ".")]
        modules: PathBuf,
        /// Partitions of a stage
        #[arg(long, value_name = "COUNT")]
        partitions: Option<NonZeroUsize>,
    },
}

#[derive(clap::Args)]
struct Executor {
    /// The scheduler's address
    #[arg(long, default_value = "127.0.0.1:50050")]
    scheduler: SocketAddr,
    /// Where to serve, which others must be able to reach
    #[arg(long, default_value = "127.0.0.1")]
    host: std::net::IpAddr,
    /// Where it gives out what it has produced
    #[arg(long, default_value_t = 50051)]
    port: u16,
    /// Tasks at once
    #[arg(long, default_value = "2")]
    threads: NonZeroUsize,
    /// Where it keeps what it has produced
    #[arg(long)]
    folder: PathBuf,
}

#[tokio::main]
async fn main() -> ExitCode {
    fathom_sql::keep_freed_memory();
    log_to_stderr();
    match run(Options::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fathom-cluster: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// What `RUST_LOG` says, warnings by default, with seconds since 1970.
fn log_to_stderr() {
    let env = env_logger::Env::default().default_filter_or("warn");
    let mut builder = env_logger::Builder::from_env(env);
    builder.format(|to, record| {
        let time = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let (level, target) = (record.level(), record.target());
        let seconds = time.as_secs_f64();
        writeln!(to, "{seconds:.3} {level} {target}: {}", record.args())
    });
    builder.init();
}

async fn run(options: Options) -> anyhow::Result<()> {
    match options {
        Options::Scheduler { address, patience } => {
            let listener = TcpListener::bind(address)
                .await
                .with_context(|| address.to_string())?;
            println!("{}", listener.local_addr()?);
            Ok(node::scheduler(listener, Duration::from_secs(patience)).await?)
        }
        Options::Executor(own) => {
            // Ballista says only that it could not serve, and ends as if all were well.
            let address = (own.host, own.port);
            let listener = TcpListener::bind(address).await;
            drop(listener.with_context(|| format!("{}:{}", own.host, own.port))?);
            let executor = node::Executor {
                id: format!("{}:{}", own.host, own.port),
                scheduler: (own.scheduler.ip().to_string(), own.scheduler.port()),
                host: own.host.to_string(),
                port: own.port,
                threads: own.threads,
                folder: own.folder,
            };
            Ok(node::executor(executor).await?)
        }
        Options::Sql {
            command,
            scheduler,
            modules,
            partitions,
        } => {
            let mut config = SessionConfig::new();
            if let Some(partitions) = partitions {
                config = config.with_target_partitions(partitions.get());
            }
            let session = remote(&scheduler, config, modules)
                .map_err(|error| anyhow::anyhow!(in_a_line(&error)))?;
            let results = session.run(&command).await;
            let results = results.map_err(|error| anyhow::anyhow!(in_a_line(&error)))?;
            for batches in results {
                println!("{}", pretty_format_batches(&batches)?);
            }
            Ok(())
        }
    }
}
