//! What each function costs by call, by row and by instance: the same rows in batches of several
//! sizes, by an instance that is used again and by a new one for each batch, and a fit to them.
//!
//! ```text
//!  rows ─cut─► batches of 32, 128, … ─► cells ─rounds─► fits ─► a row for each function
//! ```
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
    estimate::fits,
    kmeans,
    module::Modules,
    points::{self, points},
    rounds::{Cell, Pace, Series, measure, timed},
    rows::called,
    show,
};

/// Rows of each sample, whatever their batches.
const ROWS: usize = 32_768;
/// Rows of a batch.
const BATCHES: [usize; 5] = [0, 32, 128, 1024, 8192];
/// Batches of a sample where they have no rows.
const EMPTY_CALLS: usize = 200;
/// Groups of an aggregate's rows.
const GROUPS: u32 = 16;
/// Points of an operator's samples: none, and so many that k-means makes all its rounds.
const POINTS: [usize; 4] = [0, 16_384, 32_768, 65_536];

/// One function.
struct Function {
    /// Of its exports; its module is called so, too.
    name: &'static str,
    kind: Kind,
    /// All its rows.
    columns: Vec<ArrayRef>,
}

enum Kind {
    /// Columns of this type in, one of that out.
    Rows(ColumnType, ColumnType),
    /// Columns of this type in, and a group.
    Aggregate(ColumnType),
}

/// What is measured of a function, and what each of its cells has of each term.
struct Measured<'a> {
    name: String,
    terms: Vec<Vec<f64>>,
    cells: Vec<Cell<'a>>,
}

/// Measures all, and shows them.
///
/// # Errors
/// A module is not there.
pub fn run(modules: &Modules, pace: Pace<'_>) -> Result<()> {
    let functions = functions();
    let mut pools = Vec::new();
    for function in &functions {
        let file = format!("{}.wasm", function.name);
        pools.push([modules.usual(&file, true)?, modules.usual(&file, false)?]);
    }
    let operator = modules.usual("udo_kmeans.64.wasm", false)?;
    let all = functions.iter().zip(&pools);
    let mut measured: Vec<Measured<'_>> = all
        .map(|(function, [reused, made])| of_function(function, reused, made))
        .collect();
    measured.push(of_operator(&operator));
    let (mut cells, mut heads) = (Vec::new(), Vec::new());
    for one in measured {
        cells.extend(one.cells);
        heads.push((one.name, one.terms));
    }
    let series = measure("The model of each function", cells, pace)?;
    show_model(&heads, &series).context("too few rounds for a fit")
}

fn functions() -> Vec<Function> {
    use ColumnType::{BigInt, Double, Int, Varchar};
    let of = |name, kind, columns| Function {
        name,
        kind,
        columns,
    };
    let [a, b] = points::pairs(1, ROWS).remove(0);
    vec![
        of("gcd", Kind::Rows(BigInt, BigInt), vec![a, b]),
        of(
            "collatz",
            Kind::Rows(BigInt, Int),
            vec![points::starts(ROWS)],
        ),
        of(
            "haversine",
            Kind::Rows(Double, Double),
            points::places(ROWS),
        ),
        of(
            "initials",
            Kind::Rows(Varchar, Varchar),
            vec![points::names(ROWS)],
        ),
        of(
            "slope",
            Kind::Aggregate(Double),
            grouped(points::places(ROWS)),
        ),
    ]
}

/// Two columns, and a group for each row.
fn grouped(mut columns: Vec<ArrayRef>) -> Vec<ArrayRef> {
    columns.truncate(2);
    let group = |row: usize| row as i32 % GROUPS as i32;
    columns.push(Arc::new(Int32Array::from_iter_values((0..ROWS).map(group))));
    columns
}

/// A call, a row, and what both cost more by a new instance.
fn of_function<'a>(
    function: &'a Function,
    reused: &'a Arc<Pool>,
    made: &'a Arc<Pool>,
) -> Measured<'a> {
    let (mut terms, mut cells) = (Vec::new(), Vec::new());
    for rows in BATCHES {
        let batches = Arc::new(function.batches(rows));
        for (pool, is_new) in [(reused, false), (made, true)] {
            let new = f64::from(u8::from(is_new));
            terms.push(vec![1.0, rows as f64, new, new * rows as f64]);
            let how = if is_new { ", a new instance" } else { "" };
            let name = format!("{}, {rows} rows{how}", function.name);
            let batches = batches.clone();
            cells.push(Cell::new(name, move || {
                let all = || function.call_each(pool, &batches, is_new);
                timed(all).map(|(ns, ())| ns / batches.len() as f64)
            }));
        }
    }
    Measured {
        name: function.name.to_owned(),
        terms,
        cells,
    }
}

/// A call of either direction, a row through all of it, and the instance that a query makes.
fn of_operator(pool: &Arc<Pool>) -> Measured<'_> {
    let (mut terms, mut cells) = (Vec::new(), Vec::new());
    for count in POINTS {
        let sizes = if count == 0 { 1..2 } else { 1..BATCHES.len() };
        for rows in &BATCHES[sizes] {
            let batches = points(count, *rows);
            let produced = count.div_ceil(points::BATCH_ROWS) + 1;
            let calls = batches.len() + produced;
            terms.push(vec![calls as f64, count as f64, 1.0]);
            let name = format!("k-means of {count} points in batches of {rows}");
            cells.push(Cell::new(name, move || {
                timed(|| kmeans::through(pool, &batches, |batch| drop(black_box(batch))))
                    .map(|(ns, ())| ns)
            }));
        }
    }
    Measured {
        name: "udo_kmeans, 64-bit memory".to_owned(),
        terms,
        cells,
    }
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

    /// Each batch, all by one instance or by a new one each.
    fn call_each(&self, pool: &Arc<Pool>, batches: &[Vec<ArrayRef>], is_new: bool) -> Result<()> {
        match self.kind {
            Kind::Rows(given, result) => batches.iter().try_for_each(|batch| {
                let result = called(pool, self.name, &[result], given, batch)?;
                black_box(result);
                Ok(())
            }),
            // As in a query, of which one instance has all groups of a partition.
            Kind::Aggregate(given) => {
                let at_once = if is_new { 1 } else { batches.len() };
                let mut parts = batches.chunks(at_once);
                let one = |part| aggregated(pool, self.name, given, part);
                parts.try_for_each(one).map_err(|what| anyhow!(what))
            }
        }
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

/// The fit of each function in a row.
fn show_model(heads: &[(String, Vec<Vec<f64>>)], mut series: &[Series]) -> Option<()> {
    let rounds = series.first()?.ns.len();
    println!(
        "### Each function by the code generator that SQL has: a fit, round by round ({rounds} rounds)\n\n\
         | function | ns a call | ns a row | ns an instance | ns a row more by a new one |\n|---|---|---|---|---|"
    );
    for (name, terms) in heads {
        let (own, rest) = series.split_at(terms.len());
        series = rest;
        print!("| {name} |");
        for values in fits(terms, own)? {
            let (median, interval) = show::fitted(&values);
            print!(" {median} ({interval}) |");
        }
        println!("{}", if terms[0].len() < 4 { " – |" } else { "" });
    }
    println!();
    Some(())
}
