//! An operator in a logical plan.

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use datafusion::{
    common::{DFSchema, DFSchemaRef, Result, internal_err, plan_err},
    logical_expr::{Expr, LogicalPlan, UserDefinedLogicalNodeCore},
};

use super::Operator;
use fathom_guest::column::{self, ColumnType};

/// A call of an operator, with its input.
#[derive(Clone, Debug)]
pub struct Node {
    /// What is called.
    pub operator: Arc<Operator>,
    pub(crate) input: LogicalPlan,
    schema: DFSchemaRef,
}

impl Node {
    /// A call with this input.
    ///
    /// # Errors
    /// A column of the input is of a type that does not cross.
    pub fn new(operator: Arc<Operator>, input: LogicalPlan) -> Result<Node> {
        let of_no_type = |ty| ColumnType::of(ty).is_none();
        let fields = input.schema().fields();
        if let Some(field) = fields.iter().find(|field| of_no_type(field.data_type())) {
            return plan_err!(
                "function {}: column {} is of type {}; a module takes {}",
                operator.name(),
                field.name(),
                field.data_type(),
                column::names()
            );
        }
        let schema = DFSchema::try_from(operator.schema.as_ref().clone())?;
        Ok(Node {
            operator,
            input,
            schema: Arc::new(schema),
        })
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        self.operator.program == other.operator.program && self.input == other.input
    }
}

impl Eq for Node {}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Node) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl Hash for Node {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.operator.name().hash(state);
        self.input.hash(state);
    }
}

impl UserDefinedLogicalNodeCore for Node {
    fn name(&self) -> &str {
        "WasmOperator"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WasmOperator: {}", self.operator.name())
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Node> {
        match <[LogicalPlan; 1]>::try_from(inputs) {
            Ok([input]) => Node::new(self.operator.clone(), input),
            Err(inputs) => internal_err!("an operator has one input, not {}", inputs.len()),
        }
    }

    /// All columns, for the module sees them by their places.
    fn necessary_children_exprs(&self, _: &[usize]) -> Option<Vec<Vec<usize>>> {
        Some(vec![(0..self.input.schema().fields().len()).collect()])
    }
}
