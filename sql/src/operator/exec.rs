//! Operators as they run: an instance that is given its input batch by batch, and then asked
//! for its output.
//!
//! ```text
//!  batch ─copy─► consume │ produce ─► consume │ produce ─copy─► batch
//!                first ──┘            second ─┘   one instance: what lies between stays there
//! ```
//!
//! One over a shared memory is in `shared`.
//!
//! What must stay true: operators share an instance only where they are of one module with the
//! same options; what one leaves for the next in their memory is read by the next alone, and
//! the host believes no more of it than its head, which it checks.

use std::{fmt, sync::Arc};

use datafusion::{
    arrow::array::RecordBatch,
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

use super::{
    Operator, shared,
    stage::{self, Stage},
};
use fathom_guest::Guest;

use crate::{error::Error, statement::Parallel};

/// Operators in a physical plan.
#[derive(Debug)]
pub struct Exec {
    /// From the one that takes the input to the one whose output it is; never empty.
    chain: Vec<Arc<Operator>>,
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl Exec {
    /// Of an operator, which is put behind those of its input where they can share an instance.
    pub fn new(operator: Arc<Operator>, input: Arc<dyn ExecutionPlan>) -> Exec {
        match input.downcast_ref::<Exec>() {
            Some(before) if before.last().shares_with(&operator) => {
                let mut chain = before.chain.clone();
                chain.push(operator);
                Exec::of(chain, before.input.clone())
            }
            _ => Exec::of(vec![operator], input),
        }
    }

    /// From the one that takes the input to the one whose output it is.
    pub fn chain(&self) -> &[Arc<Operator>] {
        &self.chain
    }

    fn of(chain: Vec<Arc<Operator>>, input: Arc<dyn ExecutionPlan>) -> Exec {
        let last = &chain[chain.len() - 1];
        let partitions = match last.parallel {
            Parallel::Safe => input.output_partitioning().partition_count(),
            Parallel::Unsafe | Parallel::Shared => 1,
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

    /// One memory sees all rows, unless it was said that several may share them.
    fn required_input_distribution(&self) -> Vec<Distribution> {
        match self.last().parallel {
            Parallel::Safe => vec![Distribution::UnspecifiedDistribution],
            Parallel::Unsafe | Parallel::Shared => vec![Distribution::SinglePartition],
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
        let threads = context.session_config().target_partitions();
        let input = self.input.execute(partition, context)?;
        if let ([operator], Parallel::Shared) = (self.chain.as_slice(), self.last().parallel) {
            return Ok(shared::run(operator.clone(), threads, input));
        }
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
            let stage = Stage::open(operator, &mut guest);
            stage.map_err(|what| failed(operator, what))
        };
        let stages = chain.iter().map(&mut open).collect::<Result<_, Error>>()?;
        Ok(Call {
            guest,
            stages,
            place,
        })
    }

    fn consume(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        self.stages[0].take(&mut self.guest, &self.place, batch)
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
            consumed.map_err(|what| to.failed_in(&self.place, 0..rows, what))?;
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
        let batch = stage::output(guest, at, &stage.operator)?;
        stage.count(batch.num_rows())?;
        Ok(Some(batch))
    }
}
