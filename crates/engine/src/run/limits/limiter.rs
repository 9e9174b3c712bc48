//! What an embedder decides: a limiter in the shape that wasmtime's users know.

use crate::facts::error::{Error, Result};

/// Decides about the memories, tables and instances of a store, see
/// [`crate::Store::limiter`].
///
/// Sizes of memories are bytes, those of tables are elements. A new item is a growth
/// from 0. What it allows is still subject to the item's declared maximum and to the
/// store's [`crate::Quota`], which it cannot lift.
///
/// A shared memory is limited by the store through which it is made or grown, once
/// for each growth and not by the other stores that have it; it must not be touched
/// in here.
pub trait ResourceLimiter {
    /// Whether a memory may grow from `current` bytes to `desired`. `maximum` is
    /// what it declares. `memory.grow` answers -1 for what is not allowed.
    ///
    /// # Errors
    /// Ends the program with this error instead.
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> Result<bool>;

    /// A growth that was allowed fails nevertheless: because of the maximum, the
    /// quota, or a host without room.
    ///
    /// # Errors
    /// Ends the program with this error instead of the answer -1.
    fn memory_grow_failed(&mut self, error: Error) -> Result<()> {
        let _ = error;
        Ok(())
    }

    /// Whether a table may grow from `current` elements to `desired`. `maximum` is
    /// what it declares. `table.grow` answers -1 for what is not allowed.
    ///
    /// # Errors
    /// Ends the program with this error instead.
    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> Result<bool>;

    /// As [`ResourceLimiter::memory_grow_failed`], for tables.
    ///
    /// # Errors
    /// Ends the program with this error instead of the answer -1.
    fn table_grow_failed(&mut self, error: Error) -> Result<()> {
        let _ = error;
        Ok(())
    }

    /// Instances that the store may have.
    fn instances(&self) -> usize {
        usize::MAX
    }

    /// Tables that the store may have.
    fn tables(&self) -> usize {
        usize::MAX
    }

    /// Memories that the store may have.
    fn memories(&self) -> usize {
        usize::MAX
    }
}

/// A limiter of fixed numbers: each memory's bytes, each table's elements, and how
/// many items there may be. Where nothing is said, it refuses nothing.
///
/// ```
/// use fathom_engine::{Config, Engine, Memory, MemoryType, Store, StoreLimits, StoreLimitsBuilder};
///
/// struct Data {
///     limits: StoreLimits,
/// }
///
/// # fn main() -> fathom_engine::Result<()> {
/// let engine = Engine::new(&Config::new())?;
/// let limits = StoreLimitsBuilder::new().memory_size(1 << 20).build();
/// let mut store = Store::new(&engine, Data { limits });
/// store.limiter(|data| &mut data.limits);
/// let memory = Memory::new(&mut store, MemoryType { min: 1, ..MemoryType::default() })?;
/// memory.grow(&mut store, 15)?;
/// assert!(memory.grow(&mut store, 1).is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct StoreLimits {
    memory_size: usize,
    table_elements: usize,
    instances: usize,
    tables: usize,
    memories: usize,
    trap_on_grow_failure: bool,
}

impl Default for StoreLimits {
    fn default() -> StoreLimits {
        StoreLimits {
            memory_size: usize::MAX,
            table_elements: usize::MAX,
            instances: usize::MAX,
            tables: usize::MAX,
            memories: usize::MAX,
            trap_on_grow_failure: false,
        }
    }
}

impl StoreLimits {
    fn growing(&self, what: &str, desired: usize, most: usize) -> Result<bool> {
        if desired <= most {
            return Ok(true);
        }
        match self.trap_on_grow_failure {
            true => Err(Error::host(format!(
                "growing a {what} to {desired} is beyond the limit of {most}"
            ))),
            false => Ok(false),
        }
    }

    fn failed(&self, error: Error) -> Result<()> {
        match self.trap_on_grow_failure {
            true => Err(error),
            false => Ok(()),
        }
    }
}

impl ResourceLimiter for StoreLimits {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        self.growing("memory", desired, self.memory_size)
    }

    fn memory_grow_failed(&mut self, error: Error) -> Result<()> {
        self.failed(error)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        self.growing("table", desired, self.table_elements)
    }

    fn table_grow_failed(&mut self, error: Error) -> Result<()> {
        self.failed(error)
    }

    fn instances(&self) -> usize {
        self.instances
    }

    fn tables(&self) -> usize {
        self.tables
    }

    fn memories(&self) -> usize {
        self.memories
    }
}

/// Makes [`StoreLimits`].
#[derive(Clone, Debug, Default)]
pub struct StoreLimitsBuilder(StoreLimits);

impl StoreLimitsBuilder {
    /// No limits yet.
    pub fn new() -> StoreLimitsBuilder {
        StoreLimitsBuilder::default()
    }

    /// Bytes of each memory, at most.
    pub fn memory_size(mut self, bytes: usize) -> StoreLimitsBuilder {
        self.0.memory_size = bytes;
        self
    }

    /// Elements of each table, at most.
    pub fn table_elements(mut self, elements: usize) -> StoreLimitsBuilder {
        self.0.table_elements = elements;
        self
    }

    /// Instances, at most.
    pub fn instances(mut self, instances: usize) -> StoreLimitsBuilder {
        self.0.instances = instances;
        self
    }

    /// Tables, at most.
    pub fn tables(mut self, tables: usize) -> StoreLimitsBuilder {
        self.0.tables = tables;
        self
    }

    /// Memories, at most.
    pub fn memories(mut self, memories: usize) -> StoreLimitsBuilder {
        self.0.memories = memories;
        self
    }

    /// End the program where a growth fails, instead of the answer -1.
    pub fn trap_on_grow_failure(mut self, trap: bool) -> StoreLimitsBuilder {
        self.0.trap_on_grow_failure = trap;
        self
    }

    /// The limits.
    pub fn build(self) -> StoreLimits {
        self.0
    }
}
