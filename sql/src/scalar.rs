//! Functions of rows: a batch of arguments, and as many results.
//!
//! Export `NAME(batch, result) -> status`; the result's column has room for values of a fixed
//! width, and says that every row has one. A batch whose text is long is several calls.

use std::hash::{Hash, Hasher};

use datafusion::{
    arrow::{
        array::{ArrayRef, new_empty_array},
        compute,
        datatypes::DataType,
        error::ArrowError,
    },
    common::Result,
    logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility},
};

use fathom_guest::column::ColumnType;

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
        let mut guest = self.program.guest().map_err(failed)?;
        let types = [self.result];
        let mut values = Vec::new();
        let taken = guest.give_parts(rows, &columns, &types, |guest, part| {
            guest.status(&self.program.create.export, part.batch, part.result)?;
            values.extend(guest.take(part.result, &types, Some(part.rows.len()))?);
            Ok(())
        });
        taken.map_err(|refused| failed(refused.to_string()))?;
        self.program.keep(guest);
        let values = joined(&values, self.result).map_err(|error| failed(error.to_string()))?;
        Ok(ColumnarValue::Array(values))
    }
}

/// Parts of a column, one behind the other.
pub(crate) fn joined(
    parts: &[ArrayRef],
    ty: ColumnType,
) -> std::result::Result<ArrayRef, ArrowError> {
    match parts {
        [] => Ok(new_empty_array(&ty.arrow())),
        [one] => Ok(one.clone()),
        many => compute::concat(&many.iter().map(|part| part.as_ref()).collect::<Vec<_>>()),
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
