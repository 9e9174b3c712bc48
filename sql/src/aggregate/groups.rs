//! The states of groups, in the memory of one instance.
//!
//! What must stay true: an instance in which a call failed is not asked again, so no value
//! comes from half of the rows; the numbers that a module sees are never used twice, and all
//! are below the count that it was told.

use std::sync::Arc;

use datafusion::{
    arrow::{
        array::{Array, ArrayRef, BooleanArray, Int32Array, new_empty_array},
        compute,
        error::ArrowError,
    },
    logical_expr::EmitTo,
};

use super::Body;
use fathom_guest::{Guest, batch::Input, column::ColumnType};

use crate::{error::Error, scalar::joined};

/// Groups whose states or values are asked for by one call: what it copies stays small, and
/// it has the deadline of a batch.
const EMITTED_ROWS_MAX: usize = 8192;

/// The groups of one partition.
#[derive(Debug)]
pub(super) struct Groups {
    body: Arc<Body>,
    at: At,
    /// As the module counts them; those that were emitted are among them.
    count: usize,
    told: usize,
    emitted: usize,
}

enum At {
    /// Before the first call.
    Closed,
    Open(Box<Guest>, u64),
    Failed,
}

impl std::fmt::Debug for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            At::Closed => "Closed",
            At::Open(..) => "Open",
            At::Failed => "Failed",
        })
    }
}

impl Groups {
    pub(super) fn new(body: Arc<Body>) -> Groups {
        Groups {
            body,
            at: At::Closed,
            count: 0,
            told: 0,
            emitted: 0,
        }
    }

    /// One of the same function.
    pub(super) fn another(&self) -> Groups {
        Groups::new(self.body.clone())
    }

    /// Bytes of its memory.
    pub(super) fn bytes(&self) -> usize {
        match &self.at {
            At::Open(guest, _) => guest.bytes(),
            At::Closed | At::Failed => 0,
        }
    }

    pub(super) fn update(
        &mut self,
        values: &[ArrayRef],
        indices: &[usize],
        count: usize,
    ) -> Result<(), Error> {
        let which = format!("a batch of {} rows", indices.len());
        let types = self.body.arguments.clone();
        self.feed("update", which, &types, values, indices, count)
    }

    pub(super) fn merge(
        &mut self,
        states: &[ArrayRef],
        indices: &[usize],
        count: usize,
    ) -> Result<(), Error> {
        let which = format!("merging {} states", indices.len());
        let types = self.body.state_types();
        self.feed("merge", which, &types, states, indices, count)
    }

    fn feed(
        &mut self,
        part: &str,
        which: String,
        types: &[ColumnType],
        values: &[ArrayRef],
        indices: &[usize],
        count: usize,
    ) -> Result<(), Error> {
        self.count = self.count.max(self.emitted + count);
        let (emitted, count) = (self.emitted, self.count);
        let name = format!("{}_{part}", self.body.program.create.export);
        self.call(which, |guest, groups| {
            let count = number(count)?;
            let own = indices.iter().map(|index| (emitted + index) as i32);
            let own: ArrayRef = Arc::new(Int32Array::from_iter_values(own));
            let mut columns: Vec<_> = types.iter().copied().zip(values.iter().cloned()).collect();
            columns.push((ColumnType::Int, own));
            let taken = guest.give_parts(indices.len(), &columns, &[], |guest, part| {
                let status = guest.status_of(&name, groups, count, part.batch);
                status.map(drop)
            });
            taken.map_err(|refused| refused.to_string())
        })?;
        self.told = self.count;
        Ok(())
    }

    /// Which groups are next, as they are numbered outside.
    pub(super) fn next(&self, emit: EmitTo) -> (usize, usize) {
        match emit {
            EmitTo::All => (0, self.count - self.emitted),
            EmitTo::First(count) => (0, count),
        }
    }

    /// These are not asked for again.
    pub(super) fn emitted(&mut self, emit: EmitTo) {
        match emit {
            EmitTo::First(count) => self.emitted += count,
            EmitTo::All => self.close(),
        }
    }

    pub(super) fn states(&mut self, first: usize, count: usize) -> Result<Vec<ArrayRef>, Error> {
        let which = format!("the states of {count} groups");
        let types = self.body.state_types();
        self.emit("state", which, &types, first, count)
    }

    pub(super) fn values(&mut self, first: usize, count: usize) -> Result<ArrayRef, Error> {
        let which = format!("the values of {count} groups");
        let types = [self.body.result];
        let mut columns = self.emit("finish", which, &types, first, count)?;
        Ok(columns.remove(0))
    }

    fn emit(
        &mut self,
        part: &str,
        which: String,
        types: &[ColumnType],
        first: usize,
        count: usize,
    ) -> Result<Vec<ArrayRef>, Error> {
        let first = self.emitted + first;
        if self.told < first + count {
            self.tell(first + count - self.emitted)?;
        }
        let name = format!("{}_{part}", self.body.program.create.export);
        self.call(which, |guest, groups| {
            let mut parts: Vec<Vec<ArrayRef>> = vec![Vec::new(); types.len()];
            for from in (first..first + count).step_by(EMITTED_ROWS_MAX) {
                let rows = EMITTED_ROWS_MAX.min(first + count - from);
                let room = Input::new(rows, &[]).map_err(|error| error.to_string())?;
                let (_, result) = guest.give(&room, types)?;
                guest.status_of(&name, groups, number(from)?, result)?;
                for (part, column) in parts.iter_mut().zip(guest.take(result, types, Some(rows))?) {
                    part.push(column);
                }
            }
            let whole = parts.iter().zip(types).map(|(part, ty)| joined(part, *ty));
            let whole: Result<_, ArrowError> = whole.collect();
            whole.map_err(|error| error.to_string())
        })
    }

    /// How many groups there are, where some had no rows.
    fn tell(&mut self, count: usize) -> Result<(), Error> {
        let empty = |ty: &ColumnType| new_empty_array(&ty.arrow());
        let columns: Vec<ArrayRef> = self.body.arguments.iter().map(empty).collect();
        self.update(&columns, &[], count)
    }

    /// Calls into the instance, which is made for the first call, and dropped with one that
    /// fails.
    fn call<T>(
        &mut self,
        which: String,
        work: impl FnOnce(&mut Guest, u64) -> Result<T, String>,
    ) -> Result<T, Error> {
        let program = &self.body.program;
        let (mut guest, groups) = match std::mem::replace(&mut self.at, At::Failed) {
            At::Failed => return Err(program.failed(which, "a call before this failed")),
            At::Open(guest, groups) => (guest, groups),
            At::Closed => {
                let failed = |what: String| program.failed("before its first row", what);
                let mut guest = program.guest().map_err(failed)?;
                let open = format!("{}_open", self.body.program.create.export);
                let groups = guest.address(&open).map_err(failed)?;
                if groups == 0 {
                    return Err(failed("it has no memory for its groups".to_owned()));
                }
                (Box::new(guest), groups)
            }
        };
        let done = work(&mut guest, groups).map_err(|what| program.failed(which, what))?;
        self.at = At::Open(guest, groups);
        Ok(done)
    }

    /// Gives the instance back, if it lets go of its groups.
    fn close(&mut self) {
        let at = std::mem::replace(&mut self.at, At::Closed);
        (self.count, self.told, self.emitted) = (0, 0, 0);
        if let At::Open(mut guest, groups) = at {
            let close = format!("{}_close", self.body.program.create.export);
            if guest.end(&close, groups).is_ok() {
                self.body.program.keep(*guest);
            }
        }
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        self.close();
    }
}

/// A group's number as the module has it: its columns of numbers are `int`.
fn number(group: usize) -> Result<u32, String> {
    let fits = i32::try_from(group).map_err(|_| format!("more than {} groups", i32::MAX))?;
    Ok(fits as u32)
}

/// The rows that a FILTER lets through: where it is null, none.
pub(super) fn filtered(
    values: &[ArrayRef],
    indices: &[usize],
    filter: Option<&BooleanArray>,
) -> Result<(Vec<ArrayRef>, Vec<usize>), ArrowError> {
    let Some(filter) = filter else {
        return Ok((values.to_vec(), indices.to_vec()));
    };
    let passes = |row: usize| filter.is_valid(row) && filter.value(row);
    let own = indices.iter().enumerate().filter(|(row, _)| passes(*row));
    let own = own.map(|(_, index)| *index).collect();
    let kept = values.iter().map(|column| compute::filter(column, filter));
    Ok((kept.collect::<Result<_, _>>()?, own))
}
