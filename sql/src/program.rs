//! A module that is compiled, what it may take, and its instances that are idle.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use fathom_engine::{
    BoundsChoice, Config, Engine, InstancePre, Linker, Module, StoreLimits, StoreLimitsBuilder,
};

use crate::{error::Error, guest::Guest};

/// What a function may take, and how its memory is checked.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes of linear memory.
    pub memory_bytes: usize,
    /// For each call, of one batch.
    pub deadline: Duration,
    /// The strategy.
    pub bounds: BoundsChoice,
    /// Rows that an operator may return.
    pub rows_max: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            memory_bytes: 256 << 20,
            deadline: Duration::from_secs(10),
            bounds: BoundsChoice::default(),
            rows_max: 100_000_000,
        }
    }
}

/// A compiled module and its instances.
pub struct Program {
    name: String,
    file: PathBuf,
    pub(crate) options: Options,
    engine: Engine,
    module: Module,
    pre: InstancePre<StoreLimits>,
    idle: Mutex<Vec<Guest>>,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("name", &self.name)
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

impl Program {
    /// Reads and compiles a module for a function.
    ///
    /// # Errors
    /// It cannot be read, is no module, or exports no memory.
    pub fn new(name: &str, file: &Path, options: Options) -> Result<Program, Error> {
        let bytes = std::fs::read(file).map_err(|error| Error::File {
            name: name.to_owned(),
            file: file.to_owned(),
            error,
        })?;
        let refused = |what: String| Error::Module {
            name: name.to_owned(),
            file: file.to_owned(),
            what,
        };
        let config = Config::new()
            .bounds(options.bounds)
            .bounds64(options.bounds);
        let engine = Engine::new(&config).map_err(|error| refused(error.to_string()))?;
        let module = Module::new(&engine, &bytes).map_err(|error| refused(error.to_string()))?;
        let mut linker: Linker<StoreLimits> = Linker::new(&engine);
        // It has no files, no clock and no output: a call of one is a trap that names it.
        linker
            .define_unknown_imports_as_traps(&module)
            .map_err(|error| refused(error.to_string()))?;
        let pre = linker
            .instantiate_pre(&module)
            .map_err(|error| refused(error.to_string()))?;
        Ok(Program {
            name: name.to_owned(),
            file: file.to_owned(),
            options,
            engine,
            module,
            pre,
            idle: Mutex::new(Vec::new()),
        })
    }

    /// The function's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it has exports of these names.
    ///
    /// # Errors
    /// The first that is missing, with those that there are.
    pub fn requires(&self, wanted: &[String]) -> Result<(), Error> {
        let there: Vec<&str> = self.module.exports().map(|(name, _)| name).collect();
        match wanted.iter().find(|name| !there.contains(&name.as_str())) {
            None => Ok(()),
            Some(missing) => Err(Error::Module {
                name: self.name.clone(),
                file: self.file.clone(),
                what: format!("no export {missing} (there are: {})", there.join(", ")),
            }),
        }
    }

    /// An idle instance, or a new one.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn guest(&self) -> Result<Guest, String> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        match idle {
            Some(guest) => Ok(guest),
            None => {
                let bytes = self.options.memory_bytes;
                let limits = StoreLimitsBuilder::new().memory_size(bytes).build();
                Guest::new(&self.engine, &self.pre, limits, self.options.deadline)
            }
        }
    }

    /// Takes an instance back that may be used again.
    pub(crate) fn keep(&self, guest: Guest) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(guest);
    }

    /// A failed call, as its query says it.
    pub(crate) fn failed(&self, rows: impl Into<String>, what: impl Into<String>) -> Error {
        Error::Call {
            name: self.name.clone(),
            rows: rows.into(),
            what: what.into(),
        }
    }
}
