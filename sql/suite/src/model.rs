//! A function in batches of several sizes, by an instance that is used again or a new one for each
//! batch: the report fits a call, a row and an instance to their times.
//!
//! What must stay true: all sizes of a function's batches have the same rows, so that what a row
//! costs does not depend on how many there are in its batch.

use std::{hint::black_box, sync::Arc};

use anyhow::{Context, Result, anyhow};
use arrow_array::{
    Array, ArrayRef, Float64Array, Int32Array, Int64Array, StringArray, cast::AsArray, types,
};
use fathom_guest::{Guest, Pool, batch::Input, column::ColumnType};

use crate::{
    kmeans,
    points::{self, points},
    rows::called,
    work::{Work, done, each},
};

/// Rows of each iteration, whatever their batches.
const ROWS: usize = 32_768;
/// Batches of an iteration where they have no rows.
const EMPTY_CALLS: usize = 200;
/// Groups of an aggregate's rows.
const GROUPS: u32 = 16;

/// One function.
struct Function {
    kind: Kind,
    /// All its rows.
    columns: Vec<ArrayRef>,
}

/// What it takes and returns.
enum Kind {
    /// Columns of this type in, one of that out.
    Rows(ColumnType, ColumnType),
    /// Columns of this type in, and a group.
    Aggregate(ColumnType),
}

/// All rows of a function, in batches of so many.
///
/// # Errors
/// There is none of this name, or its module does not compile.
pub fn function<'a>(pool: Arc<Pool>, name: &str, rows: usize, is_new: bool) -> Result<Work<'a>> {
    let function = named(name).with_context(|| format!("no function {name}"))?;
    let (batches, name) = (function.batches(rows), name.to_owned());
    Ok(match function.kind {
        Kind::Rows(given, result) => Box::new(move || {
            each(&batches, |batch| {
                called(&pool, &name, &[result], given, batch)
            })
        }),
        // As in a query, of which one instance has all groups of a partition.
        Kind::Aggregate(given) => Box::new(move || {
            let at_once = if is_new { 1 } else { batches.len() };
            let one = |part| aggregated(&pool, &name, given, part).map_err(|what| anyhow!(what));
            done(|| {
                batches.chunks(at_once).try_for_each(one)?;
                Ok(batches.len() as u64)
            })
        }),
    })
}

/// k-means of so many points, in batches of so many rows.
pub fn operator<'a>(pool: Arc<Pool>, count: usize, rows: usize) -> Work<'a> {
    let batches = points(count, rows);
    Box::new(move || {
        done(|| {
            kmeans::through(&pool, &batches, |batch| drop(black_box(batch)))?;
            Ok(count as u64)
        })
    })
}

fn named(name: &str) -> Option<Function> {
    use ColumnType::{BigInt, Double, Int, Varchar};
    let (kind, columns) = match name {
        "gcd" => (
            Kind::Rows(BigInt, BigInt),
            points::pairs(1, ROWS).remove(0).into(),
        ),
        "collatz" => (Kind::Rows(BigInt, Int), vec![points::starts(ROWS)]),
        "haversine" => (Kind::Rows(Double, Double), points::places(ROWS)),
        "initials" => (Kind::Rows(Varchar, Varchar), vec![points::names(ROWS)]),
        "slope" => (Kind::Aggregate(Double), grouped(points::places(ROWS))),
        _ => return None,
    };
    Some(Function { kind, columns })
}

/// Two columns, and a group for each row.
fn grouped(mut columns: Vec<ArrayRef>) -> Vec<ArrayRef> {
    columns.truncate(2);
    let group = |row: usize| row as i32 % GROUPS as i32;
    columns.push(Arc::new(Int32Array::from_iter_values((0..ROWS).map(group))));
    columns
}

impl Function {
    /// All rows in batches of as many.
    fn batches(&self, rows: usize) -> Vec<Vec<ArrayRef>> {
        match rows {
            0 => vec![self.cut(0, 0); EMPTY_CALLS],
            rows => {
                let starts = (0..ROWS).step_by(rows);
                starts.map(|from| self.cut(from, rows)).collect()
            }
        }
    }

    /// Rows by themselves, as a batch of a query has them.
    fn cut(&self, from: usize, rows: usize) -> Vec<ArrayRef> {
        let own = |column: &ArrayRef| -> ArrayRef {
            let part = column.slice(from, rows);
            let part: &dyn Array = &part;
            if let Some(part) = part.as_primitive_opt::<types::Int64Type>() {
                Arc::new(part.iter().collect::<Int64Array>())
            } else if let Some(part) = part.as_primitive_opt::<types::Float64Type>() {
                Arc::new(part.iter().collect::<Float64Array>())
            } else if let Some(part) = part.as_primitive_opt::<types::Int32Type>() {
                Arc::new(part.iter().collect::<Int32Array>())
            } else {
                Arc::new(part.as_string::<i32>().iter().collect::<StringArray>())
            }
        };
        self.columns.iter().map(own).collect()
    }
}

/// Updates the groups of one state.
fn aggregated(
    pool: &Arc<Pool>,
    name: &str,
    given: ColumnType,
    batches: &[Vec<ArrayRef>],
) -> Result<(), String> {
    let mut guest: Guest = pool.take()?;
    let state = guest.address(&format!("{name}_open"))?;
    let update = format!("{name}_update");
    for batch in batches {
        let rows = batch[0].len();
        let (group, values) = batch.split_last().ok_or("no group")?;
        let mut columns: Vec<_> = values
            .iter()
            .map(|column| (given, column.clone()))
            .collect();
        columns.push((ColumnType::Int, group.clone()));
        let input = Input::new(rows, &columns).map_err(|unfit| unfit.to_string())?;
        let (at, _) = guest.give(&input, &[])?;
        guest.status_of(&update, state, GROUPS, at)?;
    }
    guest.end(&format!("{name}_close"), state)?;
    pool.give(guest);
    Ok(())
}
