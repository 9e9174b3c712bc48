//! A cluster on loopback: a scheduler and two executors, each a process that ends with its test.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    net::TcpListener,
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use datafusion::{
    arrow::{array::RecordBatch, util::pretty::pretty_format_batches},
    prelude::SessionConfig,
};
use fathom_cluster::{in_a_line, remote};
use fathom_sql::Session;
use tokio::time::{sleep, timeout};

/// Files of the table, and partitions of a stage.
const PARTITIONS: i64 = 6;
const ROWS: i64 = 6_000;
/// How long anything may take, on a machine that others use, too.
pub const DEADLINE: Duration = Duration::from_secs(120);

const SHARED: &str = include_str!("../shared.wat");
const FUNCTIONS: &str = include_str!("../functions.wat");
const CREATE: &str = "
  CREATE FUNCTION slow(bigint) RETURNS bigint LANGUAGE wasm AS 'f.wasm' WITH (deadline = '60s');
  CREATE FUNCTION quick(bigint) RETURNS bigint LANGUAGE wasm AS 'f.wasm';
  CREATE FUNCTION fail(bigint) RETURNS bigint LANGUAGE wasm AS 'f.wasm';
  CREATE FUNCTION late(bigint) RETURNS bigint LANGUAGE wasm AS 'f.wasm', 'slow'
    WITH (deadline = '50ms');
  CREATE AGGREGATE FUNCTION total(bigint) RETURNS bigint LANGUAGE wasm AS 'f.wasm';
  CREATE FUNCTION last(table) RETURNS TABLE LANGUAGE wasm AS 'f.wasm';
  CREATE FUNCTION parts(table) RETURNS TABLE LANGUAGE wasm PARALLEL SAFE AS 'f.wasm', 'last';
  CREATE FUNCTION crowd(table) RETURNS TABLE (rows bigint, threads bigint) LANGUAGE wasm
    PARALLEL SHARED AS 's.wasm';";

/// With the executors' word that they ask for work.
const LOGGED: &str = "warn,fathom_cluster=info,ballista_executor::execution_loop=info,\
                      ballista_scheduler::state::executor_manager=info";

/// A scheduler, executors and a folder of tables and modules.
pub struct Cluster {
    scheduler: Child,
    address: String,
    executors: Vec<Child>,
    folder: tempfile::TempDir,
    _alone: MutexGuard<'static, ()>,
}

/// One cluster at a time: they would wait for each other's processors.
static CLUSTERS: Mutex<()> = Mutex::new(());

impl Drop for Cluster {
    fn drop(&mut self) {
        for child in self.executors.iter_mut().chain([&mut self.scheduler]) {
            // One may have ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The program, whose log has what tests look for.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom-cluster"));
    command.env("RUST_LOG", LOGGED).stdin(Stdio::null());
    command
}

fn free_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port().to_string()
}

/// As many partitions as the table has files.
pub fn config() -> SessionConfig {
    SessionConfig::new().with_target_partitions(PARTITIONS as usize)
}

impl Cluster {
    /// One whose executors ask for work, for one task at a time. One of them is lost after
    /// `patience` without a sign of life.
    pub async fn new(patience: Duration) -> Cluster {
        let cluster = Cluster::spawn(&patience.as_secs().to_string());
        for name in ["executor0", "executor1"] {
            let asks = || cluster.log(name).contains("Starting poll work loop");
            cluster.until(name, asks).await;
        }
        cluster
    }

    fn spawn(patience: &str) -> Cluster {
        let _alone = CLUSTERS.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        let scheduler = program()
            .args([
                "scheduler",
                "--address",
                "127.0.0.1:0",
                "--patience",
                patience,
            ])
            .stdout(Stdio::piped())
            .stderr(File::create(folder.path().join("scheduler.log")).unwrap())
            .spawn()
            .unwrap();
        let mut cluster = Cluster {
            scheduler,
            address: String::new(),
            executors: Vec::new(),
            folder,
            _alone,
        };
        cluster.put_files();
        let said = BufReader::new(cluster.scheduler.stdout.take().unwrap());
        let address = said.lines().next();
        cluster.address = address
            .unwrap_or_else(|| panic!("{}", cluster.logs()))
            .unwrap();
        cluster.respawn();
        cluster
    }

    /// New executors in place of those that there were, which have ended.
    pub fn respawn(&mut self) {
        self.executors = (0..2).map(|number| self.executor(number)).collect();
    }

    fn executor(&self, number: usize) -> Child {
        program()
            .args(["executor", "--threads", "1", "--scheduler", &self.address])
            .args(["--port", &free_port(), "--folder"])
            .arg(self.produced(number))
            .stdout(Stdio::null())
            .stderr(File::create(self.folder.path().join(format!("executor{number}.log"))).unwrap())
            .spawn()
            .unwrap()
    }

    /// A table in several files, and the module of the functions.
    fn put_files(&self) {
        let folder = self.folder.path().join("t");
        std::fs::create_dir(&folder).unwrap();
        let size = ROWS / PARTITIONS;
        for part in 0..PARTITIONS {
            let rows = part * size..(part + 1) * size;
            let rows = rows.map(|v| format!("{},{v}\n", v % 5));
            let text: String = std::iter::once("g,v\n".to_owned()).chain(rows).collect();
            std::fs::write(folder.join(format!("{part}.csv")), text).unwrap();
        }
        self.put("f.wasm", &module());
        self.put("s.wasm", &wat::parse_str(SHARED).unwrap());
    }

    /// Puts a file beside the modules.
    pub fn put(&self, name: &str, bytes: &[u8]) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// One that was put, for FROM.
    pub fn file(&self, name: &str) -> String {
        format!("'{}'", self.folder.path().join(name).display())
    }

    /// The folder of what an executor has produced, which is there once there is something.
    pub fn produced(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("executor{number}"))
    }

    /// Ends an executor that lives, by a signal that no process can catch.
    pub fn kill(&mut self, number: usize) {
        let executor = &mut self.executors[number];
        executor.kill().unwrap();
        let status = executor.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "executor{number}: {status}");
    }

    /// Sends a signal to an executor, `STOP` or `CONT`.
    pub fn signal(&self, number: usize, signal: &str) {
        let kill = format!("kill -{signal} {}", self.executors[number].id());
        let done = Command::new("sh").args(["-c", &kill]).status().unwrap();
        assert!(done.success(), "{kill}");
    }

    /// What a process has said: `scheduler`, `executor0` or `executor1`.
    pub fn log(&self, name: &str) -> String {
        let path = self.folder.path().join(format!("{name}.log"));
        std::fs::read_to_string(path).unwrap_or_default()
    }

    /// What all have said.
    pub fn logs(&self) -> String {
        let logs = ["scheduler", "executor0", "executor1"];
        let logs = logs.map(|name| format!("== {name}\n{}", self.log(name)));
        logs.join("\n")
    }

    /// Waits until something is so.
    pub async fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < DEADLINE, "{what}\n{}", self.logs());
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// A session whose queries run here.
    pub async fn session(&self, config: SessionConfig) -> Session {
        let folder = self.folder.path().to_owned();
        prepared(remote(&self.address, config, folder).unwrap()).await
    }

    /// One whose queries run in this process.
    pub async fn local(&self) -> Session {
        let folder = self.folder.path().to_owned();
        prepared(Session::new(config(), folder).unwrap()).await
    }

    /// The table, for FROM.
    pub fn table(&self) -> String {
        format!("'{}/t/*.csv'", self.folder.path().display())
    }
}

async fn prepared(session: Session) -> Session {
    session.run(CREATE).await.unwrap();
    session
}

/// The module of all functions.
pub fn module() -> Vec<u8> {
    wat::parse_str(FUNCTIONS).unwrap()
}

/// The result of the last of these statements, or the line that they fail with.
pub async fn run(session: &Session, sql: &str) -> Result<String, String> {
    let results = timeout(DEADLINE, session.run(sql)).await;
    let results = results.map_err(|_| format!("not done after {DEADLINE:?}"))?;
    let results = results.map_err(|error| in_a_line(&error))?;
    let last: &[RecordBatch] = results.last().map_or(&[], Vec::as_slice);
    Ok(pretty_format_batches(last).unwrap().to_string())
}
