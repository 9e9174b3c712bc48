//! Operators as they run: an instance that is given its input batch by batch, and then asked
//! for its output.
//!
//! ```text
//!  batch ─copy─► consume │ produce ─► consume │ produce ─copy─► batch
//!                first ──┘            second ─┘   one instance: what lies between stays there
//! ```
//!
//! What must stay true: operators share an instance only where they are of one module with the
//! same options; what one leaves for the next in their memory is read by the next alone, and
//! the host believes no more of it than its head, which it checks.

use std::{fmt, sync::Arc};

use datafusion::{
    arrow::{array::ArrayRef, array::RecordBatch, array::RecordBatchOptions},
    common::{Result, internal_err, tree_node::TreeNodeRecursion},
    execution::{SendableRecordBatchStream, TaskContext},
    physical_expr::{EquivalenceProperties, PhysicalExpr},
    physical_plan::{
        DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, ExecutionPlanProperties,
        Partitioning, PlanProperties,
        execution_plan::{Boundedness, EmissionType},
        stream::RecordBatchStreamAdapter,
    },
};
use futures::{StreamExt, TryStreamExt, stream};

use super::Operator;
use fathom_guest::{Guest, batch::Input, column::ColumnType};

use crate::error::Error;

#[derive(Debug)]
pub(crate) struct Exec {
    /// From the one that takes the input to the one whose output it is; never empty.
    chain: Vec<Arc<Operator>>,
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl Exec {
    /// Of an operator, which is put behind those of its input where they can share an instance.
    pub(crate) fn new(operator: Arc<Operator>, input: Arc<dyn ExecutionPlan>) -> Exec {
        match input.downcast_ref::<Exec>() {
            Some(before) if before.last().shares_with(&operator) => {
                let mut chain = before.chain.clone();
                chain.push(operator);
                Exec::of(chain, before.input.clone())
            }
            _ => Exec::of(vec![operator], input),
        }
    }

    fn of(chain: Vec<Arc<Operator>>, input: Arc<dyn ExecutionPlan>) -> Exec {
        let last = &chain[chain.len() - 1];
        let partitions = match last.is_parallel {
            true => input.output_partitioning().partition_count(),
            false => 1,
        };
        let properties = PlanProperties::new(
            EquivalenceProperties::new(last.schema.clone()),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        Exec {
            chain,
            input,
            properties: Arc::new(properties),
        }
    }

    fn last(&self) -> &Operator {
        &self.chain[self.chain.len() - 1]
    }
}

impl DisplayAs for Exec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.chain.iter().map(|operator| operator.name()).collect();
        write!(f, "WasmOperatorExec: {}", names.join(" > "))
    }
}

impl ExecutionPlan for Exec {
    fn name(&self) -> &str {
        "WasmOperatorExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    /// One instance sees all rows, unless it was said that several may share them.
    fn required_input_distribution(&self) -> Vec<Distribution> {
        match self.last().is_parallel {
            true => vec![Distribution::UnspecifiedDistribution],
            false => vec![Distribution::SinglePartition],
        }
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match <[Arc<dyn ExecutionPlan>; 1]>::try_from(children) {
            Ok([input]) => Ok(Arc::new(Exec::of(self.chain.clone(), input))),
            Err(children) => internal_err!("an operator has one input, not {}", children.len()),
        }
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let inputs = self.input.output_partitioning().partition_count();
        let partitions = self.properties.output_partitioning().partition_count();
        if partition >= partitions || inputs != partitions {
            return internal_err!("an operator of {partitions} partitions over {inputs}");
        }
        let input = self.input.execute(partition, context)?;
        let chain = self.chain.clone();
        let place = match partitions {
            1 => String::new(),
            _ => format!("partition {}, ", partition + 1),
        };
        let consumed = async move { Call::consume_all(&chain, place, input).await };
        let batches = stream::once(consumed)
            .map_ok(|call| stream::try_unfold(call, Call::next))
            .try_flatten();
        let schema = self.last().schema.clone();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }
}

/// Operators at work.
struct Call {
    guest: Guest,
    /// Where the input comes in, to where the output goes out.
    stages: Vec<Stage>,
    /// Which partition, if there are several.
    place: String,
}

/// An operator with its state in the instance.
struct Stage {
    operator: Arc<Operator>,
    state: u64,
    rows: usize,
    produced: u64,
}

impl Call {
    async fn consume_all(
        chain: &[Arc<Operator>],
        place: String,
        mut input: SendableRecordBatchStream,
    ) -> Result<Call> {
        let mut call = Call::open(chain, place)?;
        while let Some(batch) = input.next().await {
            call.consume(&batch?)?;
        }
        for next in 1..call.stages.len() {
            call.pass(next)?;
        }
        Ok(call)
    }

    fn open(chain: &[Arc<Operator>], place: String) -> Result<Call, Error> {
        let failed = |operator: &Operator, what: String| {
            let which = format!("{place}before its first row");
            operator.program.failed(which, what)
        };
        let guest = chain[0].program.guest();
        let mut guest = guest.map_err(|what| failed(&chain[0], what))?;
        let mut open = |operator: &Arc<Operator>| {
            let state = guest.address(&operator.part("open"));
            let none = "it has no memory for its state".to_owned();
            let state = state.and_then(|state| if state == 0 { Err(none) } else { Ok(state) });
            Ok(Stage {
                state: state.map_err(|what| failed(operator, what))?,
                operator: operator.clone(),
                rows: 0,
                produced: 0,
            })
        };
        let stages = chain.iter().map(&mut open).collect::<Result<_, Error>>()?;
        Ok(Call {
            guest,
            stages,
            place,
        })
    }

    fn consume(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let rows = batch.num_rows();
        let (guest, stage) = (&mut self.guest, &mut self.stages[0]);
        let typed = |array: &ArrayRef| {
            let ty = ColumnType::of(array.data_type());
            ty.map(|ty| (ty, array.clone()))
        };
        let columns: Option<Vec<_>> = batch.columns().iter().map(typed).collect();
        let given = columns
            .ok_or_else(|| "a column of a type that does not cross".to_owned())
            .and_then(|columns| Input::new(rows, &columns).map_err(|error| error.to_string()))
            .and_then(|input| guest.give(&input, &[]));
        let consumed = given.and_then(|(at, _)| stage.consume(guest, at));
        consumed.map_err(|what| stage.failed_in(&self.place, rows, what))?;
        stage.rows += rows;
        Ok(())
    }

    /// All that the stage before this one returns goes to this one, where it lies.
    fn pass(&mut self, next: usize) -> Result<(), Error> {
        let (before, after) = self.stages.split_at_mut(next);
        let (from, to) = (&mut before[next - 1], &mut after[0]);
        let guest = &mut self.guest;
        loop {
            let produced = from.produce(guest);
            let at = produced.map_err(|what| from.failed_out(&self.place, what))?;
            let Some(at) = at else {
                return Ok(());
            };
            let counted = guest.shape(at, &from.operator.types);
            let rows = counted.and_then(|rows| from.count(rows));
            let rows = rows.map_err(|what| from.failed_out(&self.place, what))?;
            let consumed = to.consume(guest, at);
            consumed.map_err(|what| to.failed_in(&self.place, rows, what))?;
            to.rows += rows;
        }
    }

    /// Another batch, while there is one.
    async fn next(mut self) -> Result<Option<(RecordBatch, Call)>> {
        match self.produce() {
            Ok(Some(batch)) => Ok(Some((batch, self))),
            Ok(None) => Ok(None),
            Err(what) => {
                let last = &self.stages[self.stages.len() - 1];
                Err(last.failed_out(&self.place, what).into())
            }
        }
    }

    fn produce(&mut self) -> Result<Option<RecordBatch>, String> {
        let last = self.stages.len() - 1;
        let (guest, stage) = (&mut self.guest, &mut self.stages[last]);
        let Some(at) = stage.produce(guest)? else {
            return Ok(None);
        };
        let columns = guest.take(at, &stage.operator.types, None)?;
        let rows = columns.first().map_or(0, |column| column.len());
        stage.count(rows)?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = stage.operator.schema.clone();
        RecordBatch::try_new_with_options(schema, columns, &options)
            .map(Some)
            .map_err(|error| error.to_string())
    }
}

impl Stage {
    /// Has it take the batch at this address.
    fn consume(&self, guest: &mut Guest, at: u64) -> Result<(), String> {
        let name = self.operator.part("consume");
        guest.status(&name, self.state, at).map(drop)
    }

    /// Where its next batch is.
    fn produce(&self, guest: &mut Guest) -> Result<Option<u64>, String> {
        let nothing = Input::new(0, &[]).map_err(|error| error.to_string())?;
        let (_, result) = guest.give(&nothing, &self.operator.types)?;
        let name = self.operator.part("produce");
        let status = guest.status(&name, self.state, result)?;
        Ok((status != 0).then_some(result))
    }

    fn count(&mut self, rows: usize) -> Result<usize, String> {
        self.produced += rows as u64;
        let most = self.operator.program.options.rows_max;
        if rows == 0 {
            return Err("a batch without rows: a status of 0 ends its output".to_owned());
        }
        match self.produced > most {
            true => Err(format!(
                "more than {most} rows: WITH (rows = '…') allows more"
            )),
            false => Ok(rows),
        }
    }

    fn failed_in(&self, place: &str, rows: usize, what: String) -> Error {
        let which = format!("{place}rows {} to {}", self.rows + 1, self.rows + rows);
        self.operator.program.failed(which, what)
    }

    fn failed_out(&self, place: &str, what: String) -> Error {
        let which = format!("{place}its output for {} rows", self.rows);
        self.operator.program.failed(which, what)
    }
}
