//! What a call costs by itself: a function that looks at nothing, with batches of many shapes,
//! and a fit to them.

use std::{hint::black_box, sync::Arc};

use anyhow::{Context, Result};
use arrow_array::{ArrayRef, Int64Array};
use fathom_guest::{Pool, column::ColumnType};

use crate::{
    estimate::fits,
    module::Modules,
    rounds::{Cell, Pace, Series, measure, timed},
    rows::called,
    show,
};

/// Columns given and returned.
const SHAPES: [(usize, usize); 4] = [(1, 1), (8, 1), (1, 8), (4, 4)];
const ROWS: [usize; 5] = [0, 16, 128, 1024, 8192];
/// Calls of a sample, so that a clock's own time is nothing.
const CALLS: usize = 100;

/// What a batch costs, by name, and how much of each it has.
const TERMS: [&str; 5] = [
    "ns a batch",
    "ns a column",
    "ns a KiB copied in",
    "ns a KiB copied out",
    "ns a row",
];

/// One shape of a batch.
#[derive(Clone, Copy)]
struct Shape {
    given: usize,
    returned: usize,
    rows: usize,
}

impl Shape {
    fn terms(self) -> Vec<f64> {
        let kib = |columns: usize| (columns * self.rows * 8) as f64 / 1024.0;
        vec![
            1.0,
            (self.given + self.returned) as f64,
            kib(self.given),
            kib(self.returned),
            self.rows as f64,
        ]
    }

    fn name(self) -> String {
        let Shape {
            given,
            returned,
            rows,
        } = self;
        format!("{rows} rows, {given} columns in, {returned} out")
    }
}

/// Measures it, and shows it.
///
/// # Errors
/// The module is not there.
pub fn run(modules: &Modules, pace: Pace<'_>) -> Result<()> {
    let reused = modules.usual("nothing.wasm", true)?;
    let made = modules.usual("nothing.wasm", false)?;
    let shapes: Vec<Shape> = SHAPES
        .into_iter()
        .flat_map(|(given, returned)| {
            ROWS.map(|rows| Shape {
                given,
                returned,
                rows,
            })
        })
        .collect();
    let mut cells: Vec<Cell<'_>> = shapes.iter().map(|shape| cell(*shape, &reused)).collect();
    let mut new = cell(shapes[0], &made);
    new.name.push_str(", a new instance");
    cells.push(new);
    cells.extend([1, 8].map(plain_copy));
    let title = "A call of a function that does nothing";
    let series = measure(title, cells, pace)?;
    show::table(title, &series, &[]);
    show_fit(&shapes, &series).context("too few rounds for a fit")
}

fn cell<'a>(shape: Shape, pool: &'a Arc<Pool>) -> Cell<'a> {
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..shape.rows as i64));
    let batch = vec![column; shape.given];
    let results = vec![ColumnType::BigInt; shape.returned];
    Cell::new(shape.name(), move || {
        let all = || {
            for _ in 0..CALLS {
                black_box(called(
                    pool,
                    "nothing",
                    &results,
                    ColumnType::BigInt,
                    &batch,
                )?);
            }
            Ok(())
        };
        timed(all).map(|(ns, ())| ns / CALLS as f64)
    })
}

/// What the memory of this machine allows: columns of 64 KiB, each to where one was freed.
fn plain_copy(columns: usize) -> Cell<'static> {
    let from = vec![vec![1_u8; 64 << 10]; columns];
    Cell::new(
        format!("{columns} × 64 KiB copied to new Vecs"),
        move || {
            let all = || {
                for _ in 0..CALLS {
                    black_box(black_box(&from).clone());
                }
                Ok(())
            };
            timed(all).map(|(ns, ())| ns / CALLS as f64)
        },
    )
}

/// What the rounds say together.
fn show_fit(shapes: &[Shape], series: &[Series]) -> Option<()> {
    let terms: Vec<Vec<f64>> = shapes.iter().map(|shape| shape.terms()).collect();
    let fits = fits(&terms, &series[..shapes.len()])?;
    println!(
        "### A fit to these, round by round\n\n| term | median | 95 % interval |\n|---|---|---|"
    );
    for (name, values) in TERMS.into_iter().zip(&fits) {
        let (median, interval) = show::fitted(values);
        println!("| {name} | {median} | {interval} |");
    }
    println!();
    Some(())
}
