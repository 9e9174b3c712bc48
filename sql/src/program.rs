//! A function's module, what it may take, and where its instances come from.

use std::{
    path::Path,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering},
    },
};

use fathom_guest::{Guest, Options, Pool};

use crate::{error::Error, statement::Create};

/// A compiled module as a function's statement wants it.
pub struct Program {
    pub(crate) create: Create,
    pool: Arc<Pool>,
}

/// The modules that are compiled: functions of the same one share it.
#[derive(Debug, Default)]
pub struct Programs {
    pools: Mutex<Vec<Weak<Pool>>>,
    compiled: AtomicUsize,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("name", &self.create.name)
            .field("file", &self.create.file)
            .finish_non_exhaustive()
    }
}

impl PartialEq for Program {
    fn eq(&self, other: &Program) -> bool {
        self.shares_with(other) && self.create == other.create
    }
}

impl Programs {
    /// Reads a function's module from a folder, and compiles it unless it is; as many
    /// `instances` are made ready.
    ///
    /// # Errors
    /// It cannot be read, or is no module.
    pub fn load(&self, create: Create, folder: &Path, instances: usize) -> Result<Program, Error> {
        let file = folder.join(&create.file);
        let bytes = std::fs::read(&file).map_err(|error| Error::File {
            name: create.name.clone(),
            file,
            error,
        })?;
        self.compile(create, bytes, instances)
    }

    /// The same with the module itself.
    ///
    /// # Errors
    /// It is no module.
    pub fn compile(
        &self,
        create: Create,
        bytes: Vec<u8>,
        instances: usize,
    ) -> Result<Program, Error> {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        pools.retain(|pool| pool.strong_count() > 0);
        let options = create.options;
        let there: Vec<Arc<Pool>> = pools.iter().filter_map(Weak::upgrade).collect();
        let pool = match there.iter().find(|pool| pool.is_of(&bytes, &options)) {
            Some(pool) => pool.clone(),
            None => {
                let mut there = there.iter();
                let pool = match there.find(|pool| pool.is_compiled_from(&bytes, &options)) {
                    Some(alike) => alike.under(options),
                    None => {
                        self.compiled.fetch_add(1, Ordering::Relaxed);
                        Pool::new(bytes, options)
                    }
                };
                let pool = Arc::new(pool.map_err(|what| unfit(&create, what))?);
                pool.want(instances);
                pools.push(Arc::downgrade(&pool));
                pool
            }
        };
        Ok(Program { create, pool })
    }

    /// How often it has compiled a module.
    pub fn compiled(&self) -> usize {
        self.compiled.load(Ordering::Relaxed)
    }
}

/// What is wrong with a function's module.
fn unfit(create: &Create, what: String) -> Error {
    Error::Module {
        name: create.name.clone(),
        file: create.file.clone(),
        what,
    }
}

impl Program {
    /// The function's name.
    pub fn name(&self) -> &str {
        &self.create.name
    }

    /// The module, as it was given.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.pool.bytes()
    }

    pub(crate) fn options(&self) -> &Options {
        &self.create.options
    }

    /// Whether its instances can have one memory together.
    pub(crate) fn is_shared(&self) -> bool {
        self.pool.is_shared()
    }

    /// What is wrong with its module.
    pub(crate) fn unfit(&self, what: impl Into<String>) -> Error {
        unfit(&self.create, what.into())
    }

    /// Instances that are ready for a query.
    pub fn ready(&self) -> usize {
        self.pool.ready()
    }

    /// Whether instances of one are instances of the other.
    pub(crate) fn shares_with(&self, other: &Program) -> bool {
        Arc::ptr_eq(&self.pool, &other.pool)
    }

    /// Whether it has exports of these names.
    ///
    /// # Errors
    /// The first that is missing, with those that there are.
    pub fn requires(&self, wanted: &[String]) -> Result<(), Error> {
        let exports = self.pool.module().exports();
        let there: Vec<&str> = exports.map(|(name, _)| name).collect();
        match wanted.iter().find(|name| !there.contains(&name.as_str())) {
            None => Ok(()),
            Some(missing) => {
                let there = there.join(", ");
                Err(self.unfit(format!("no export {missing} (there are: {there})")))
            }
        }
    }

    /// Whether it has an export of this name.
    pub(crate) fn exports(&self, wanted: &str) -> bool {
        let mut exports = self.pool.module().exports();
        exports.any(|(name, _)| name == wanted)
    }

    /// An instance.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn guest(&self) -> Result<Guest, String> {
        self.pool.take()
    }

    /// As many instances over one memory.
    ///
    /// # Errors
    /// They cannot be made.
    pub(crate) fn crew(&self, count: usize) -> Result<Vec<Guest>, String> {
        self.pool.crew(count)
    }

    /// Takes an instance back that may be used again.
    pub(crate) fn keep(&self, guest: Guest) {
        self.pool.give(guest);
    }

    /// A failed call, as its query says it.
    pub(crate) fn failed(&self, rows: impl Into<String>, what: impl Into<String>) -> Error {
        Error::Call {
            name: self.create.name.clone(),
            rows: rows.into(),
            what: what.into(),
        }
    }
}
