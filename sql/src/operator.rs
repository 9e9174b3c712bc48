//! Operators: a table in, a table out, by one instance that sees all of it, or by one for each
//! partition.
//!
//! ```text
//!  f(TABLE (SELECT …)) ─► Relations ─► Node, logical ─► Exec ─► open, consume …, produce …
//! ```
//!
//! Exports `NAME_open() -> state`, `NAME_consume(state, batch) -> status`,
//! `NAME_produce(state, result) -> status`, which is 0 where there is no more; and
//! `NAME_columns() -> text` where the statement does not say what comes out.

mod exec;
mod node;
mod plan;

use std::sync::Arc;

use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};

pub(crate) use plan::{Planner, Relations};

use fathom_guest::column::{self, ColumnType};

use crate::{error::Error, program::Program, statement::parse_columns};

/// Longest list of columns that a module may say.
const COLUMNS_BYTES_MAX: usize = 1 << 16;

/// A function from a table to a table.
#[derive(Debug)]
pub(crate) struct Operator {
    pub(crate) program: Program,
    export: String,
    types: Vec<ColumnType>,
    pub(crate) schema: SchemaRef,
    /// Whether each partition may have an instance of its own.
    is_parallel: bool,
}

impl Operator {
    pub(crate) fn new(
        program: Program,
        export: &str,
        columns: Option<Vec<(String, ColumnType)>>,
        is_parallel: bool,
    ) -> Result<Arc<Operator>, Error> {
        let mut wanted = vec!["memory".to_owned(), "fathom_reserve".to_owned()];
        wanted.extend(["open", "consume", "produce"].map(|part| format!("{export}_{part}")));
        if columns.is_none() {
            wanted.push(format!("{export}_columns"));
        }
        program.requires(&wanted)?;
        let columns = match columns {
            Some(columns) => columns,
            None => said(&program, export)?,
        };
        let fields = columns
            .iter()
            .map(|(name, ty)| Field::new(name, ty.arrow(), true));
        Ok(Arc::new(Operator {
            schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())),
            types: columns.iter().map(|(_, ty)| *ty).collect(),
            export: export.to_owned(),
            is_parallel,
            program,
        }))
    }

    fn name(&self) -> &str {
        self.program.name()
    }

    /// Whether what one returns can stay in the memory for the other.
    fn shares_with(&self, other: &Operator) -> bool {
        self.program.shares_with(&other.program) && self.is_parallel == other.is_parallel
    }

    fn part(&self, part: &str) -> String {
        format!("{}_{part}", self.export)
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
