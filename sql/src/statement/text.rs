//! A function as the statement that makes it.

use std::fmt::{self, Display, Formatter};

use fathom_guest::column::ColumnType;

use super::{Create, Kind, Parallel};

impl Display for Create {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let replacing = if self.is_replacing { "OR REPLACE " } else { "" };
        let aggregate = match self.kind {
            Kind::Aggregate { .. } => "AGGREGATE ",
            _ => "",
        };
        let name = Quoted(&self.name, '"');
        write!(
            f,
            "CREATE {replacing}{aggregate}FUNCTION {name}{}",
            self.kind
        )?;
        let file = self.file.display().to_string();
        let (file, export) = (Quoted(&file, '\''), Quoted(&self.export, '\''));
        let options = &self.options;
        write!(
            f,
            " AS {file}, {export} WITH (memory = '{}', deadline = '{}ms', bounds = '{}', \
             rows = '{}', reuse = '{}')",
            options.memory_bytes,
            options.deadline.as_millis(),
            options.bounds,
            options.rows_max,
            if options.reuse { "on" } else { "off" },
        )
    }
}

impl Display for Kind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Scalar { arguments, result } | Kind::Aggregate { arguments, result } => {
                let types: Vec<&str> = arguments.iter().map(|ty| ty.name()).collect();
                let (types, result) = (types.join(", "), result.name());
                write!(f, "({types}) RETURNS {result} LANGUAGE wasm")
            }
            Kind::Operator { columns, parallel } => {
                f.write_str("(table) RETURNS TABLE")?;
                if let Some(columns) = columns {
                    write!(f, " ({})", listed(columns))?;
                }
                f.write_str(" LANGUAGE wasm")?;
                f.write_str(match parallel {
                    None => "",
                    Some(Parallel::Unsafe) => " PARALLEL UNSAFE",
                    Some(Parallel::Safe) => " PARALLEL SAFE",
                    Some(Parallel::Shared) => " PARALLEL SHARED",
                })
            }
        }
    }
}

fn listed(columns: &[(String, ColumnType)]) -> String {
    let column = |(name, ty): &(String, ColumnType)| format!("{} {}", Quoted(name, '"'), ty.name());
    let columns: Vec<String> = columns.iter().map(column).collect();
    columns.join(", ")
}

/// A text in quotes; those in it are doubled.
struct Quoted<'a>(&'a str, char);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Quoted(text, quote) = self;
        let doubled = text.replace(*quote, &format!("{quote}{quote}"));
        write!(f, "{quote}{doubled}{quote}")
    }
}
