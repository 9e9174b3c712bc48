//! Operators: a table in, a table out, by one instance that sees all of it, by one for each
//! partition, or by one for each thread over one memory.
//!
//! ```text
//!  f(TABLE (SELECT …)) ─► Relations ─► Node, logical ─► Exec ─► open, consume …, produce …
//!                                                        └ shared ─► the same on each thread
//! ```
//!
//! Exports `NAME_open() -> state`, `NAME_consume(state, batch) -> status`,
//! `NAME_produce(state, result) -> status`, which is 0 where there is no more; and
//! `NAME_columns() -> text` where the statement does not say what comes out. One over a shared
//! memory may export `NAME_work(state, step) -> status`, see `shared`.

mod exec;
mod node;
mod plan;
mod shared;
mod stage;

use std::sync::Arc;

use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};

pub use exec::Exec;
pub use node::Node;
pub use plan::Planner;
pub(crate) use plan::Relations;

use fathom_guest::column::{self, ColumnType};

use crate::{
    error::Error,
    program::Program,
    statement::{Kind, Parallel, parse_columns},
};

/// Longest list of columns that a module may say.
const COLUMNS_BYTES_MAX: usize = 1 << 16;

/// A function from a table to a table.
#[derive(Debug)]
pub struct Operator {
    pub(crate) program: Program,
    types: Vec<ColumnType>,
    pub(crate) schema: SchemaRef,
    parallel: Parallel,
    /// Whether it works between consuming and producing.
    works: bool,
}

impl Operator {
    pub(crate) fn new(
        mut program: Program,
        columns: Option<Vec<(String, ColumnType)>>,
        parallel: Option<Parallel>,
    ) -> Result<Arc<Operator>, Error> {
        let export = program.create.export.clone();
        let mut wanted = vec!["memory".to_owned(), "fathom_reserve".to_owned()];
        wanted.extend(["open", "consume", "produce"].map(|part| format!("{export}_{part}")));
        if columns.is_none() {
            wanted.push(format!("{export}_columns"));
        }
        program.requires(&wanted)?;
        let parallel = match (parallel, program.is_shared()) {
            (Some(Parallel::Shared), false) => {
                let what = "it imports no shared memory, which PARALLEL SHARED is about";
                return Err(program.unfit(what));
            }
            (Some(said), _) => said,
            (None, true) => Parallel::Shared,
            (None, false) => Parallel::Unsafe,
        };
        let columns = match columns {
            Some(columns) => columns,
            None => said(&program, &export)?,
        };
        let works = parallel == Parallel::Shared && program.exports(&format!("{export}_work"));
        let fields = columns
            .iter()
            .map(|(name, ty)| Field::new(name, ty.arrow(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let types = columns.iter().map(|(_, ty)| *ty).collect();
        // Whoever has its statement need not ask the module again.
        program.create.kind = Kind::Operator {
            columns: Some(columns),
            parallel: Some(parallel),
        };
        Ok(Arc::new(Operator {
            program,
            types,
            schema,
            parallel,
            works,
        }))
    }

    fn name(&self) -> &str {
        self.program.name()
    }

    /// Whether what one returns can stay in the memory for the other.
    fn shares_with(&self, other: &Operator) -> bool {
        self.program.shares_with(&other.program)
            && self.parallel == other.parallel
            && self.parallel != Parallel::Shared
    }

    fn part(&self, part: &str) -> String {
        format!("{}_{part}", self.program.create.export)
    }
}

/// The columns that a module says.
pub(crate) fn said(program: &Program, export: &str) -> Result<Vec<(String, ColumnType)>, Error> {
    let failed = |what: String| program.failed("its columns", what);
    let mut guest = program.guest().map_err(failed)?;
    let at = guest
        .address(&format!("{export}_columns"))
        .map_err(failed)?;
    let text = guest.text(at, COLUMNS_BYTES_MAX).unwrap_or_default();
    program.keep(guest);
    parse_columns(&text).ok_or_else(|| {
        failed(format!(
            "expected `name type, …` with types of {}, found `{}`",
            column::names(),
            text.chars().take(80).collect::<String>()
        ))
    })
}
