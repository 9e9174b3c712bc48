//! An operator with its state in an instance, and batches on their way in and out.

use std::{ops::Range, sync::Arc};

use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use fathom_guest::{Guest, batch::Input, column::ColumnType};

use super::Operator;
use crate::error::Error;

/// An operator with its state in the instance.
pub(super) struct Stage {
    pub(super) operator: Arc<Operator>,
    pub(super) state: u64,
    /// How many it was given.
    pub(super) rows: usize,
    produced: u64,
}

/// The columns of a batch as an instance is given them.
fn columns_of(batch: &RecordBatch) -> Result<Vec<(ColumnType, ArrayRef)>, String> {
    let typed = |array: &ArrayRef| {
        let ty = ColumnType::of(array.data_type());
        ty.map(|ty| (ty, array.clone()))
    };
    let columns: Option<Vec<_>> = batch.columns().iter().map(typed).collect();
    columns.ok_or_else(|| "a column of a type that does not cross".to_owned())
}

/// The batch that an operator has left at an address.
pub(super) fn output(guest: &Guest, at: u64, operator: &Operator) -> Result<RecordBatch, String> {
    let columns = guest.take(at, &operator.types, None)?;
    let rows = columns.first().map_or(0, |column| column.len());
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(operator.schema.clone(), columns, &options)
        .map_err(|error| error.to_string())
}

/// Refuses a batch of no rows, and the first one beyond what the function may return.
pub(super) fn counted(operator: &Operator, rows: usize, produced: u64) -> Result<(), String> {
    let most = operator.program.options().rows_max;
    if rows == 0 {
        return Err("a batch without rows: a status of 0 ends its output".to_owned());
    }
    match produced > most {
        true => Err(format!(
            "more than {most} rows: WITH (rows = '…') allows more"
        )),
        false => Ok(()),
    }
}

impl Stage {
    pub(super) fn open(operator: &Arc<Operator>, guest: &mut Guest) -> Result<Stage, String> {
        match guest.address(&operator.part("open"))? {
            0 => Err("it has no memory for its state".to_owned()),
            state => Ok(Stage::at(operator, state)),
        }
    }

    /// One whose state is there already.
    pub(super) fn at(operator: &Arc<Operator>, state: u64) -> Stage {
        Stage {
            operator: operator.clone(),
            state,
            rows: 0,
            produced: 0,
        }
    }

    /// Has it take the batch at this address.
    pub(super) fn consume(&self, guest: &mut Guest, at: u64) -> Result<(), String> {
        let name = self.operator.part("consume");
        guest.status(&name, self.state, at).map(drop)
    }

    /// Has it take a batch from outside, and counts its rows.
    pub(super) fn take(
        &mut self,
        guest: &mut Guest,
        place: &str,
        batch: &RecordBatch,
    ) -> Result<(), Error> {
        let rows = batch.num_rows();
        let columns = columns_of(batch).map_err(|what| self.failed_in(place, 0..rows, what))?;
        let taken = guest.give_parts(rows, &columns, &[], |guest, part| {
            self.consume(guest, part.batch)
        });
        taken.map_err(|refused| self.failed_in(place, refused.rows, refused.what))?;
        self.rows += rows;
        Ok(())
    }

    /// Where its next batch is.
    pub(super) fn produce(&self, guest: &mut Guest) -> Result<Option<u64>, String> {
        let nothing = Input::new(0, &[]).map_err(|error| error.to_string())?;
        let (_, result) = guest.give(&nothing, &self.operator.types)?;
        let name = self.operator.part("produce");
        let status = guest.status(&name, self.state, result)?;
        Ok((status != 0).then_some(result))
    }

    pub(super) fn count(&mut self, rows: usize) -> Result<usize, String> {
        self.produced += rows as u64;
        counted(&self.operator, rows, self.produced).map(|()| rows)
    }

    /// It failed on these, counted from those that it has.
    pub(super) fn failed_in(&self, place: &str, rows: Range<usize>, what: String) -> Error {
        let (first, last) = (self.rows + rows.start + 1, self.rows + rows.end);
        let which = format!("{place}rows {first} to {last}");
        self.operator.program.failed(which, what)
    }

    pub(super) fn failed_out(&self, place: &str, what: String) -> Error {
        let which = format!("{place}its output for {} rows", self.rows);
        self.operator.program.failed(which, what)
    }
}
