//! A function's module, what it may take, and where its instances come from.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
};

use fathom_guest::{Guest, Options, Pool};

use crate::error::Error;

/// A compiled module under a function's name.
pub struct Program {
    name: String,
    file: PathBuf,
    pub(crate) options: Options,
    pool: Arc<Pool>,
}

/// The modules that are compiled: functions of the same one share it.
#[derive(Debug, Default)]
pub struct Programs {
    pools: Mutex<Vec<Weak<Pool>>>,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("name", &self.name)
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

impl Programs {
    /// Reads a module for a function, and compiles it unless it is; as many `instances` are
    /// made ready.
    ///
    /// # Errors
    /// It cannot be read, or is no module.
    pub fn load(
        &self,
        name: &str,
        file: &Path,
        options: Options,
        instances: usize,
    ) -> Result<Program, Error> {
        let bytes = std::fs::read(file).map_err(|error| Error::File {
            name: name.to_owned(),
            file: file.to_owned(),
            error,
        })?;
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        pools.retain(|pool| pool.strong_count() > 0);
        let there = pools.iter().filter_map(Weak::upgrade);
        let mut there = there.filter(|pool| pool.is_of(&bytes, &options));
        let pool = match there.next() {
            Some(pool) => pool,
            None => {
                let pool = Pool::new(bytes, options).map_err(|what| Error::Module {
                    name: name.to_owned(),
                    file: file.to_owned(),
                    what,
                })?;
                let pool = Arc::new(pool);
                pool.want(instances);
                pools.push(Arc::downgrade(&pool));
                pool
            }
        };
        Ok(Program {
            name: name.to_owned(),
            file: file.to_owned(),
            options,
            pool,
        })
    }
}

impl Program {
    /// The function's name.
    pub fn name(&self) -> &str {
        &self.name
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
            Some(missing) => Err(Error::Module {
                name: self.name.clone(),
                file: self.file.clone(),
                what: format!("no export {missing} (there are: {})", there.join(", ")),
            }),
        }
    }

    /// An instance.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn guest(&self) -> Result<Guest, String> {
        self.pool.take()
    }

    /// Takes an instance back that may be used again.
    pub(crate) fn keep(&self, guest: Guest) {
        self.pool.give(guest);
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
