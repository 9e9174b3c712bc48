//! Functions as DataFusion has them, and what it takes to make them elsewhere.

use std::sync::Arc;

use datafusion::logical_expr::{AggregateUDF, ScalarUDF};

use crate::{
    aggregate::Aggregate,
    error::Error,
    operator::Operator,
    program::Program,
    scalar::Scalar,
    statement::{Create, Kind},
};

/// What a statement has made.
#[derive(Clone, Debug)]
pub enum Function {
    /// A value for each row.
    Scalar(Arc<ScalarUDF>),
    /// A value for each group of rows.
    Aggregate(Arc<AggregateUDF>),
    /// A table from a table.
    Operator(Arc<Operator>),
}

impl Function {
    /// What a statement makes of its module.
    ///
    /// # Errors
    /// The module is not what the statement says.
    pub fn new(program: Program) -> Result<Function, Error> {
        match program.create.kind.clone() {
            Kind::Scalar { arguments, result } => {
                let scalar = Scalar::new(program, arguments, result)?;
                Ok(Function::Scalar(Arc::new(ScalarUDF::from(scalar))))
            }
            Kind::Aggregate { arguments, result } => {
                let aggregate = Aggregate::new(program, arguments, result)?;
                Ok(Function::Aggregate(Arc::new(AggregateUDF::from(aggregate))))
            }
            Kind::Operator { columns, parallel } => {
                Operator::new(program, columns, parallel).map(Function::Operator)
            }
        }
    }

    /// Its statement and its module; none of a function that is not of this kind.
    pub fn parts(&self) -> Option<(&Create, &[u8])> {
        let program = match self {
            Function::Scalar(udf) => &udf.inner().downcast_ref::<Scalar>()?.program,
            Function::Aggregate(udf) => udf.inner().downcast_ref::<Aggregate>()?.program(),
            Function::Operator(operator) => &operator.program,
        };
        Some((&program.create, program.bytes()))
    }
}
