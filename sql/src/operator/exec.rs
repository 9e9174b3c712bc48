//! An operator as it runs: an instance that is given its input batch by batch, and then asked
//! for its output.

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
use crate::{batch::Input, column::ColumnType, error::Error, guest::Guest};

#[derive(Debug)]
pub(crate) struct Exec {
    operator: Arc<Operator>,
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl Exec {
    pub(crate) fn new(operator: Arc<Operator>, input: Arc<dyn ExecutionPlan>) -> Exec {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(operator.schema.clone()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        Exec {
            operator,
            input,
            properties: Arc::new(properties),
        }
    }
}

impl DisplayAs for Exec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WasmOperatorExec: {}", self.operator.name())
    }
}

impl ExecutionPlan for Exec {
    fn name(&self) -> &str {
        "WasmOperatorExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    /// One instance sees all rows.
    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![Distribution::SinglePartition]
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
            Ok([input]) => Ok(Arc::new(Exec::new(self.operator.clone(), input))),
            Err(children) => internal_err!("an operator has one input, not {}", children.len()),
        }
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        if partition != 0 || self.input.output_partitioning().partition_count() != 1 {
            return internal_err!("an operator has one partition");
        }
        let input = self.input.execute(0, context)?;
        let operator = self.operator.clone();
        let consumed = stream::once(async move { Call::consume_all(operator, input).await });
        let batches = consumed
            .map_ok(|call| stream::try_unfold(call, Call::next))
            .try_flatten();
        let schema = self.operator.schema.clone();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }
}

/// An operator at work.
struct Call {
    operator: Arc<Operator>,
    guest: Guest,
    state: u32,
    rows: usize,
    produced: u64,
}

impl Call {
    async fn consume_all(
        operator: Arc<Operator>,
        mut input: SendableRecordBatchStream,
    ) -> Result<Call> {
        let mut call = Call::open(operator)?;
        while let Some(batch) = input.next().await {
            call.consume(&batch?)?;
        }
        Ok(call)
    }

    fn open(operator: Arc<Operator>) -> Result<Call, Error> {
        let failed = |what: String| operator.program.failed("before its first row", what);
        let mut guest = operator.program.guest().map_err(failed)?;
        let state = guest
            .call::<(), u32>(&operator.part("open"), ())
            .map_err(failed)?;
        if state == 0 {
            return Err(failed("it has no memory for its state".to_owned()));
        }
        Ok(Call {
            operator,
            guest,
            state,
            rows: 0,
            produced: 0,
        })
    }

    fn consume(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let rows = batch.num_rows();
        let which = format!("rows {} to {}", self.rows + 1, self.rows + rows);
        let guest = &mut self.guest;
        let name = self.operator.part("consume");
        let mut run = || {
            let typed = |array: &ArrayRef| {
                let ty = ColumnType::of(array.data_type());
                ty.map(|ty| (ty, array.clone()))
            };
            let columns: Option<Vec<_>> = batch.columns().iter().map(typed).collect();
            let columns = columns.ok_or("a column of a type that does not cross")?;
            let input = Input::new(rows, &columns).map_err(|error| error.to_string())?;
            let (at, _) = guest.give(&input, &[])?;
            let status = guest.call::<(u32, u32), i32>(&name, (self.state, at))?;
            guest.accepted(status)
        };
        run().map_err(|what| self.operator.program.failed(which, what))?;
        self.rows += rows;
        Ok(())
    }

    /// Another batch, while there is one.
    async fn next(mut self) -> Result<Option<(RecordBatch, Call)>> {
        match self.produce() {
            Ok(Some(batch)) => Ok(Some((batch, self))),
            Ok(None) => Ok(None),
            Err(what) => {
                let which = format!("its output for {} rows", self.rows);
                Err(self.operator.program.failed(which, what).into())
            }
        }
    }

    fn produce(&mut self) -> Result<Option<RecordBatch>, String> {
        let types = &self.operator.types;
        let nothing = Input::new(0, &[]).map_err(|error| error.to_string())?;
        let (_, result) = self.guest.give(&nothing, types)?;
        let name = self.operator.part("produce");
        let status = self
            .guest
            .call::<(u32, u32), i32>(&name, (self.state, result))?;
        if self.guest.accepted(status)? == 0 {
            return Ok(None);
        }
        let columns = self.guest.take(result, types, None)?;
        let rows = columns.first().map_or(0, |column| column.len());
        self.produced += rows as u64;
        let most = self.operator.program.options.rows_max;
        if rows == 0 {
            return Err("a batch without rows: a status of 0 ends its output".to_owned());
        }
        if self.produced > most {
            return Err(format!(
                "more than {most} rows: WITH (rows = '…') allows more"
            ));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = self.operator.schema.clone();
        RecordBatch::try_new_with_options(schema, columns, &options)
            .map(Some)
            .map_err(|error| error.to_string())
    }
}
