//! An operator over one shared memory: an instance for each thread, and one state.
//!
//! ```text
//!  batches ─► queue ─┬► consume, on each thread    once all rows are consumed:
//!                    ├► consume                     work(state, 0) on each, then
//!                    └► consume                     work(state, 1), … until all say 0; then
//!                                                   produce on each ─► queue ─► batches
//! ```
//!
//! Batches are what threads take in turn, as morsels are: a slow thread takes fewer. Threads are
//! of their own, not the runtime's, for one may wait in its call for what another has locked.
//!
//! What must stay true: nobody works before all have consumed, nor produces before all have
//! worked; the first that fails ends the calls of all, and so does a query that is dropped.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use datafusion::{
    arrow::array::RecordBatch,
    common::{Result, runtime::JoinSet, runtime::SpawnedTask},
    error::DataFusionError,
    execution::SendableRecordBatchStream,
    physical_plan::stream::RecordBatchStreamAdapter,
};
use fathom_guest::{Guest, Stop};
use futures::{StreamExt, stream, try_join};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::{
    Operator,
    stage::{self, Stage},
};
use crate::error::Error;

/// Steps that it may work, for a module that never says that it is done.
const STEPS_MAX: u32 = 10_000;

/// Batches that wait for a thread, to each thread.
const WAITING: usize = 2;

/// The output of an operator on as many threads.
pub(super) fn run(
    operator: Arc<Operator>,
    threads: usize,
    input: SendableRecordBatchStream,
) -> SendableRecordBatchStream {
    let schema = operator.schema.clone();
    let (sender, receiver) = channel(WAITING * threads);
    let driver = SpawnedTask::spawn(async move {
        if let Err(error) = drive(&operator, threads, input, &sender).await {
            // Nobody is there to hear it where the query was dropped.
            let _ = sender.send(Err(error)).await;
        }
    });
    // The driver lives as long as the stream is read.
    let batches = stream::unfold((receiver, driver), |(mut receiver, driver)| async {
        let batch = receiver.recv().await?;
        Some((batch, (receiver, driver)))
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, batches))
}

/// Ends the calls of all threads when it is dropped.
struct Calls(Vec<Stop>);

impl Drop for Calls {
    fn drop(&mut self) {
        self.0.iter().for_each(Stop::now);
    }
}

/// What one thread has.
struct Member {
    guest: Guest,
    stage: Stage,
}

/// A batch, and how many rows there were before it.
type Morsel = (usize, RecordBatch);

async fn drive(
    operator: &Arc<Operator>,
    threads: usize,
    input: SendableRecordBatchStream,
    output: &Sender<Result<RecordBatch>>,
) -> Result<()> {
    let (members, _calls) = members(operator.clone(), threads).await?;
    let (rows, members) = consume(members, threads, input).await?;
    let members = match operator.works {
        true => work(operator, members, rows).await?,
        false => members,
    };
    produce(operator, members, rows, output).await
}

/// Instances of which the first has opened the state of all.
async fn members(operator: Arc<Operator>, threads: usize) -> Result<(Vec<Member>, Calls)> {
    let opened = SpawnedTask::spawn_blocking(move || {
        let failed = |what| operator.program.failed("before its first row", what);
        let mut crew = operator.program.crew(threads).map_err(failed)?;
        let calls = Calls(crew.iter().map(Guest::stop).collect());
        let state = Stage::open(&operator, &mut crew[0]).map_err(failed)?.state;
        let member = |guest| {
            let stage = Stage::at(&operator, state);
            Member { guest, stage }
        };
        Ok::<_, Error>((crew.into_iter().map(member).collect(), calls))
    });
    Ok(opened.join().await.map_err(panicked)??)
}

fn panicked(error: tokio::task::JoinError) -> DataFusionError {
    DataFusionError::ExecutionJoin(Box::new(error))
}

/// What tasks return, once all have; the first failure ends it.
async fn all<T: 'static>(mut tasks: JoinSet<Result<T, Error>>) -> Result<Vec<T>> {
    let mut done = Vec::new();
    while let Some(one) = tasks.join_next().await {
        done.push(one.map_err(panicked)??);
    }
    Ok(done)
}

/// Gives all rows to whoever is free: how many there were.
async fn consume(
    members: Vec<Member>,
    threads: usize,
    mut input: SendableRecordBatchStream,
) -> Result<(usize, Vec<Member>)> {
    let (sender, receiver) = channel::<Morsel>(WAITING * threads);
    let queue = Arc::new(Mutex::new(receiver));
    let mut tasks = JoinSet::new();
    for member in members {
        let queue = queue.clone();
        tasks.spawn_blocking(move || member.consume(&queue));
    }
    drop(queue);
    let feed = async move {
        let mut rows = 0;
        while let Some(batch) = input.next().await {
            let batch = batch?;
            let given = batch.num_rows();
            if sender.send((rows, batch)).await.is_err() {
                break;
            }
            rows += given;
        }
        Ok(rows)
    };
    try_join!(feed, all(tasks))
}

/// Has all work, step by step, until all are done.
async fn work(
    operator: &Arc<Operator>,
    mut members: Vec<Member>,
    rows: usize,
) -> Result<Vec<Member>> {
    for step in 0..STEPS_MAX {
        let mut tasks = JoinSet::new();
        for member in members {
            tasks.spawn_blocking(move || member.work(step, rows));
        }
        let done = all(tasks).await?;
        let is_over = done.iter().all(|(_, goes_on)| !goes_on);
        members = done.into_iter().map(|(member, _)| member).collect();
        if is_over {
            return Ok(members);
        }
    }
    let what = format!("it is not done after {STEPS_MAX} steps");
    let failed = operator
        .program
        .failed(format!("its work on {rows} rows"), what);
    Err(failed.into())
}

async fn produce(
    operator: &Arc<Operator>,
    members: Vec<Member>,
    rows: usize,
    output: &Sender<Result<RecordBatch>>,
) -> Result<()> {
    let produced = Arc::new(AtomicU64::new(0));
    let mut tasks = JoinSet::new();
    for mut member in members {
        let (operator, output, produced) = (operator.clone(), output.clone(), produced.clone());
        tasks.spawn_blocking(move || {
            let failed = |what| {
                let which = format!("its output for {rows} rows");
                operator.program.failed(which, what)
            };
            while let Some(batch) = member.produce(&produced).map_err(failed)? {
                if output.blocking_send(Ok(batch)).is_err() {
                    break;
                }
            }
            Ok(())
        });
    }
    all(tasks).await.map(drop)
}

impl Member {
    fn consume(mut self, queue: &Mutex<Receiver<Morsel>>) -> Result<Member, Error> {
        let next = || {
            let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.blocking_recv()
        };
        while let Some((before, batch)) = next() {
            self.stage.rows = before;
            self.stage.take(&mut self.guest, "", &batch)?;
        }
        Ok(self)
    }

    /// Whether it is to go on.
    fn work(mut self, step: u32, rows: usize) -> Result<(Member, bool), Error> {
        let operator = &self.stage.operator;
        let status = self
            .guest
            .step(&operator.part("work"), self.stage.state, step);
        match status {
            Ok(status) => Ok((self, status != 0)),
            Err(what) => {
                let which = format!("step {step} of its work on {rows} rows");
                Err(operator.program.failed(which, what))
            }
        }
    }

    /// Its next batch; all threads count what they return together.
    fn produce(&mut self, produced: &AtomicU64) -> Result<Option<RecordBatch>, String> {
        let Some(at) = self.stage.produce(&mut self.guest)? else {
            return Ok(None);
        };
        let operator = &self.stage.operator;
        let batch = stage::output(&self.guest, at, operator)?;
        let rows = batch.num_rows();
        let before = produced.fetch_add(rows as u64, Ordering::Relaxed);
        stage::counted(operator, rows, before.saturating_add(rows as u64))?;
        Ok(Some(batch))
    }
}
