//! A session: tables, functions, statements.

use std::{path::PathBuf, sync::Arc};

use datafusion::{
    arrow::array::RecordBatch,
    error::{DataFusionError, Result},
    execution::{FunctionRegistry, SessionState, SessionStateBuilder},
    prelude::{SessionConfig, SessionContext},
    sql::sqlparser::dialect::{Dialect, GenericDialect, dialect_from_str},
};

use crate::{
    error::Error,
    function::Function,
    lines::{Campaigns, Lines},
    operator::{Planner, Relations},
    program::Programs,
    statement::{self, Create, Kind, Statement},
};

/// Runs statements, one after the other.
pub struct Session {
    context: SessionContext,
    operators: Relations,
    programs: Programs,
    folder: PathBuf,
    module_bytes_max: usize,
}

impl Session {
    /// A session whose modules are looked for in `folder`. Files can be selected from by name.
    ///
    /// # Errors
    /// DataFusion cannot be set up.
    pub fn new(config: SessionConfig, folder: PathBuf) -> Result<Session> {
        Session::over(state(config)?, folder)
    }

    /// A session over a state that somebody has made of [`state`].
    ///
    /// # Errors
    /// It takes no tables of a new kind.
    pub fn over(state: SessionState, folder: PathBuf) -> Result<Session> {
        let context = SessionContext::new_with_state(state).enable_url_table();
        let operators = Relations::default();
        context.register_relation_planner(Arc::new(operators.clone()))?;
        context.register_relation_planner(Arc::new(Campaigns))?;
        Ok(Session {
            context,
            operators,
            programs: Programs::default(),
            folder,
            module_bytes_max: usize::MAX,
        })
    }

    /// The same with a limit on the size of modules.
    pub fn with_module_bytes_max(mut self, bytes: usize) -> Session {
        self.module_bytes_max = bytes;
        self
    }

    /// DataFusion's own, to add tables and functions to.
    pub fn context(&self) -> &SessionContext {
        &self.context
    }

    /// Names of its tables and functions.
    pub fn names(&self) -> Vec<String> {
        let state = self.context.state();
        let mut names = self.operators.names();
        names.extend(state.scalar_functions().keys().cloned());
        names.extend(state.aggregate_functions().keys().cloned());
        names.extend(state.window_functions().keys().cloned());
        let catalogs = state.catalog_list();
        let catalogs = catalogs.catalog_names().into_iter();
        for catalog in catalogs.filter_map(|name| state.catalog_list().catalog(&name)) {
            let schemas = catalog.schema_names().into_iter();
            for schema in schemas.filter_map(|name| catalog.schema(&name)) {
                names.extend(schema.table_names());
            }
        }
        names
    }

    /// How DataFusion reads statements, which a statement can change.
    pub fn dialect(&self) -> Box<dyn Dialect> {
        let state = self.context.state();
        let chosen = state.config_options().sql_parser.dialect;
        dialect_from_str(chosen).unwrap_or_else(|| Box::new(GenericDialect {}))
    }

    /// The statements of a text.
    ///
    /// # Errors
    /// It is no SQL.
    pub fn parse(&self, sql: &str) -> std::result::Result<Vec<Statement>, Error> {
        statement::parse_in(self.dialect().as_ref(), sql)
    }

    /// Runs the statements of a text: the result of each that has one.
    ///
    /// # Errors
    /// The first that fails; those before it are done.
    pub async fn run(&self, sql: &str) -> Result<Vec<Vec<RecordBatch>>> {
        let mut results = Vec::new();
        for statement in self.parse(sql)? {
            results.extend(self.execute(statement).await?);
        }
        Ok(results)
    }

    /// Runs one statement: its result, if it is of a kind that has one.
    ///
    /// # Errors
    /// It failed; the session is as it was.
    pub async fn execute(&self, statement: Statement) -> Result<Option<Vec<RecordBatch>>> {
        match statement {
            Statement::Create(create) => self.create(create)?,
            Statement::Drop { name, if_exists } => self.drop_function(&name, if_exists)?,
            Statement::Other(sql) => {
                let frame = self.context.sql(&sql).await?;
                let schema = frame.schema().inner().clone();
                let mut batches = frame.collect().await?;
                if batches.is_empty() {
                    batches.push(RecordBatch::new_empty(schema));
                }
                return Ok(Some(batches));
            }
        }
        Ok(None)
    }

    /// Defines a function; its module is compiled here and not in a query.
    ///
    /// # Errors
    /// There is one, or the module is not what the statement says.
    pub fn create(&self, mut create: Create) -> Result<(), Error> {
        let name = create.name.clone();
        if !create.is_replacing && self.has(&name) {
            let what = format!("function {name} is there: CREATE OR REPLACE FUNCTION replaces it");
            return Err(Error::Statement(what));
        }
        // What it had in its memory for one query is not there for another.
        create.options.reuse &= !matches!(create.kind, Kind::Operator { .. });
        let instances = self.context.state().config().target_partitions();
        let program = self.programs.load(create, &self.folder, instances)?;
        let (bytes, most) = (program.bytes().len(), self.module_bytes_max);
        if bytes > most {
            return Err(program.unfit(format!("it has {bytes} bytes, and {most} are allowed here")));
        }
        let function = Function::new(program)?;
        self.remove(&name);
        match function {
            Function::Scalar(udf) => self.context.register_udf(udf.as_ref().clone()),
            Function::Aggregate(udf) => self.context.register_udaf(udf.as_ref().clone()),
            Function::Operator(operator) => self.operators.add(operator),
        }
        Ok(())
    }

    fn drop_function(&self, name: &str, if_exists: bool) -> Result<(), Error> {
        let was_there = self.has(name);
        self.remove(name);
        match was_there || if_exists {
            true => Ok(()),
            false => Err(Error::Statement(format!("there is no function {name}"))),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.operators.has(name)
            || self.context.udf(name).is_ok()
            || self.context.udaf(name).is_ok()
    }

    /// Of whatever kind it is.
    fn remove(&self, name: &str) {
        self.operators.remove(name);
        self.context.deregister_udf(name);
        self.context.deregister_udaf(name);
    }
}

/// What DataFusion has by itself, with a planner that knows operators and Fathom's own files.
///
/// # Errors
/// DataFusion cannot be set up.
pub fn state(mut config: SessionConfig) -> Result<SessionState> {
    // Otherwise `results/*/samples.jsonl` names no file.
    let execution = &mut config.options_mut().execution;
    execution.listing_table_ignore_subdirectory = false;
    let mut state = SessionStateBuilder::new()
        .with_config(config)
        .with_default_features()
        .with_query_planner(Arc::new(Planner))
        .build();
    state.register_file_format(Arc::new(Lines::default()), false)?;
    Ok(state)
}

/// An error in one line: what DataFusion adds for its developers left out.
pub fn in_a_line(error: &DataFusionError) -> String {
    let root = error.find_root();
    let text = match root {
        DataFusionError::External(inner) => inner.to_string(),
        DataFusionError::Plan(text) => missing(text).unwrap_or_else(|| root.strip_backtrace()),
        other => other.strip_backtrace(),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What is wrong where a table is missing. A file is a table of the default schema to
/// DataFusion, which says no more of it.
fn missing(text: &str) -> Option<String> {
    let table = text.strip_prefix("table '")?.strip_suffix("' not found")?;
    let name = table.strip_prefix("datafusion.public.").unwrap_or(table);
    Some(format!("there is no table or file `{name}`"))
}
