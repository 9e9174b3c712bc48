//! Functions of rows: a batch of arguments, and as many results.
//!
//! Export `NAME(batch, result) -> status`; the result's column has room for values of a fixed
//! width, and says that every row has one.

use std::hash::{Hash, Hasher};

use datafusion::{
    arrow::datatypes::DataType,
    common::Result,
    logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility},
};

use fathom_guest::{batch::Input, column::ColumnType};

use crate::{error::Error, program::Program};

#[derive(Debug)]
pub(crate) struct Scalar {
    pub(crate) program: Program,
    arguments: Vec<ColumnType>,
    result: ColumnType,
    signature: Signature,
}

impl Scalar {
    pub(crate) fn new(
        program: Program,
        arguments: Vec<ColumnType>,
        result: ColumnType,
    ) -> std::result::Result<Scalar, Error> {
        let wanted = ["memory", "fathom_reserve", &program.create.export];
        program.requires(&wanted.map(str::to_owned))?;
        let signature = signature(&arguments);
        Ok(Scalar {
            program,
            arguments,
            result,
            signature,
        })
    }

    fn call(&self, args: &ScalarFunctionArgs) -> std::result::Result<ColumnarValue, Error> {
        let rows = args.number_rows;
        let which = format!("a batch of {rows} rows");
        let failed = |what: String| self.program.failed(&which, what);
        let arrays = args.args.iter().map(|value| value.to_array(rows));
        let arrays: Vec<_> = arrays
            .collect::<Result<_>>()
            .map_err(|error| failed(error.to_string()))?;
        let columns: Vec<_> = self.arguments.iter().copied().zip(arrays).collect();
        let input = Input::new(rows, &columns).map_err(|error| failed(error.to_string()))?;
        let mut guest = self.program.guest().map_err(failed)?;
        let types = [self.result];
        let mut run = || {
            let (batch, result) = guest.give(&input, &types)?;
            guest.status(&self.program.create.export, batch, result)?;
            guest.take(result, &types, Some(rows))
        };
        let mut columns = run().map_err(failed)?;
        self.program.keep(guest);
        Ok(ColumnarValue::Array(columns.remove(0)))
    }
}

/// What a function of these is called with.
pub(crate) fn signature(arguments: &[ColumnType]) -> Signature {
    let types = arguments.iter().map(|ty| ty.arrow()).collect();
    match arguments.is_empty() {
        true => Signature::nullary(Volatility::Volatile),
        // What it remembers from batch to batch is its own affair, so it may be called
        // as often as the query needs.
        false => Signature::exact(types, Volatility::Stable),
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Scalar) -> bool {
        self.program == other.program
    }
}

impl Eq for Scalar {}

impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.program.name().hash(state);
    }
}

impl ScalarUDFImpl for Scalar {
    fn name(&self) -> &str {
        self.program.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.result.arrow())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(self.call(&args)?)
    }
}
