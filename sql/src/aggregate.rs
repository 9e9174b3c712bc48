//! Aggregates: rows in, a value for each group out, by way of states that partitions exchange.
//!
//! ```text
//!  rows ─► update ─► state ─┐ between partitions, as columns
//!  rows ─► update ─► state ─┴─► merge ─► finish ─► a value for each group
//! ```
//!
//! Exports `NAME_columns() -> text`, the columns of a state; `NAME_open() -> groups`;
//! `NAME_update(groups, count, batch) -> status` and `NAME_merge(groups, count, batch) ->
//! status`, in whose batch the last column is the number of each row's group, below `count`;
//! `NAME_state(groups, first, result) -> status` and `NAME_finish(groups, first, result) ->
//! status` for as many groups from `first` on as `result` has rows; `NAME_close(groups)`.

mod groups;

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

use datafusion::{
    arrow::{
        array::{ArrayRef, BooleanArray},
        datatypes::{DataType, Field, FieldRef},
    },
    common::{Result, ScalarValue, plan_err},
    logical_expr::{
        Accumulator, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature,
        function::{AccumulatorArgs, StateFieldsArgs},
        utils::format_state_name,
    },
};

use fathom_guest::column::ColumnType;

use crate::{error::Error, operator::said, program::Program, scalar::signature};
use groups::Groups;

/// A function from rows to a value.
#[derive(Debug)]
pub(crate) struct Aggregate {
    body: Arc<Body>,
    signature: Signature,
}

/// What its groups share.
#[derive(Debug)]
struct Body {
    program: Program,
    arguments: Vec<ColumnType>,
    states: Vec<(String, ColumnType)>,
    result: ColumnType,
}

impl Body {
    fn state_types(&self) -> Vec<ColumnType> {
        self.states.iter().map(|(_, ty)| *ty).collect()
    }
}

impl Aggregate {
    pub(crate) fn new(
        program: Program,
        arguments: Vec<ColumnType>,
        result: ColumnType,
    ) -> std::result::Result<Aggregate, Error> {
        let parts = [
            "columns", "open", "update", "merge", "state", "finish", "close",
        ];
        let export = &program.create.export;
        let mut wanted = vec!["memory".to_owned(), "fathom_reserve".to_owned()];
        wanted.extend(parts.map(|part| format!("{export}_{part}")));
        program.requires(&wanted)?;
        let states = said(&program, export)?;
        let body = Body {
            program,
            states,
            result,
            arguments,
        };
        Ok(Aggregate {
            signature: signature(&body.arguments),
            body: Arc::new(body),
        })
    }

    pub(crate) fn program(&self) -> &Program {
        &self.body.program
    }

    /// # Errors
    /// The query wants of it what no module is asked for.
    fn groups(&self, args: &AccumulatorArgs<'_>) -> Result<Groups> {
        let name = self.body.program.name();
        if args.is_distinct {
            return plan_err!("function {name}: DISTINCT beside other aggregates is not there yet");
        }
        if !args.order_bys.is_empty() {
            return plan_err!("function {name}: ORDER BY within an aggregate is not there yet");
        }
        Ok(Groups::new(self.body.clone()))
    }
}

impl PartialEq for Aggregate {
    fn eq(&self, other: &Aggregate) -> bool {
        self.body.program == other.body.program
    }
}

impl Eq for Aggregate {}

impl Hash for Aggregate {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.body.program.name().hash(state);
    }
}

impl AggregateUDFImpl for Aggregate {
    fn name(&self) -> &str {
        self.body.program.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.body.result.arrow())
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let field = |(name, ty): &(String, ColumnType)| {
            let name = format_state_name(args.name, name);
            Arc::new(Field::new(name, ty.arrow(), true))
        };
        Ok(self.body.states.iter().map(field).collect())
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(One(self.groups(&args)?)))
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs) -> bool {
        true
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(self.groups(&args)?))
    }
}

/// A query without groups: one.
#[derive(Debug)]
struct One(Groups);

impl One {
    fn zeros(values: &[ArrayRef]) -> Vec<usize> {
        vec![0; values.first().map_or(0, |column| column.len())]
    }
}

impl Accumulator for One {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        Ok(self.0.update(values, &One::zeros(values), 1)?)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        Ok(self.0.merge(states, &One::zeros(states), 1)?)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let columns = self.0.states(0, 1)?;
        let value = |column: &ArrayRef| ScalarValue::try_from_array(column, 0);
        columns.iter().map(value).collect()
    }

    /// What there is so far: more rows may come, where it is asked of a window.
    fn evaluate(&mut self) -> Result<ScalarValue> {
        ScalarValue::try_from_array(&self.0.values(0, 1)?, 0)
    }

    fn size(&self) -> usize {
        self.0.bytes()
    }
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        let (values, indices) = groups::filtered(values, group_indices, opt_filter)?;
        Ok(self.update(&values, &indices, total_num_groups)?)
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        Ok(self.merge(values, group_indices, total_num_groups)?)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let (first, count) = self.next(emit_to);
        let values = self.values(first, count)?;
        self.emitted(emit_to);
        Ok(values)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let (first, count) = self.next(emit_to);
        let states = self.states(first, count)?;
        self.emitted(emit_to);
        Ok(states)
    }

    /// Each row a group of its own.
    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let rows = values.first().map_or(0, |column| column.len());
        let each: Vec<usize> = (0..rows).collect();
        let (values, indices) = groups::filtered(values, &each, opt_filter)?;
        let mut own = self.another();
        own.update(&values, &indices, rows)?;
        Ok(own.states(0, rows)?)
    }

    fn size(&self) -> usize {
        self.bytes()
    }
}
