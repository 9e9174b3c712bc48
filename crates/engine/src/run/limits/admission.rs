//! Asking and counting: before an instance, a memory or a table is made, and before
//! one grows.
//!
//! What must stay true: the limiter is asked first and may refuse, the quota is taken
//! next, the host is asked last; where a later one says no, what was taken is given
//! back and the limiter hears of it.

use super::ResourceLimiter;
use crate::bounds::WASM_PAGE_BYTES;
use crate::facts::error::{Error, Result};
use crate::facts::module::SegmentMode;
use crate::facts::quota::{LimitError, Resource};
use crate::facts::trap::TrapCode;
use crate::facts::types::{MemoryType, TableType};
use crate::run::handle::Module;
use crate::run::interrupt::Interrupt;
use crate::run::memory::LinearMemory;
use crate::run::store::{StoreOpaque, trap_error};
use crate::run::table::{MAX_TABLE_ELEMENTS, TableData};

/// The former size of what grew, or why it does not grow.
pub(crate) type Grown = Result<u64>;

/// What is asked of a limiter.
pub(crate) type Question<'a> = &'a mut dyn FnMut(&mut dyn ResourceLimiter);

/// The way to a limiter in a store's data.
pub(crate) struct Limiter(Box<dyn Fn(Question<'_>) + Send + Sync>);

impl Limiter {
    /// One that is found whenever there is a question.
    pub fn new(ask: impl Fn(Question<'_>) + Send + Sync + 'static) -> Limiter {
        Limiter(Box::new(ask))
    }
}

/// Bytes of so many pages, as limiters are told.
fn bytes_of(pages: u64) -> usize {
    usize::try_from(pages.saturating_mul(WASM_PAGE_BYTES)).unwrap_or(usize::MAX)
}

fn count_of(elements: u64) -> usize {
    usize::try_from(elements).unwrap_or(usize::MAX)
}

/// What a module needs for one instance, beside what is shared.
#[derive(Default)]
struct Needs {
    memories: u64,
    memory_bytes: u64,
    tables: u64,
    table_elements: u64,
    instance_bytes: u64,
}

impl Needs {
    fn of(module: &Module) -> Needs {
        let info = module.info();
        let mut needs = Needs {
            instance_bytes: module.layout().size() as u64,
            ..Needs::default()
        };
        for ty in &info.memories[info.imported_memories as usize..] {
            if !ty.shared {
                needs.memories += 1;
                let bytes = ty.min.saturating_mul(WASM_PAGE_BYTES);
                needs.memory_bytes = needs.memory_bytes.saturating_add(bytes);
            }
        }
        for def in &info.table_defs {
            needs.tables += 1;
            needs.table_elements = needs.table_elements.saturating_add(def.ty.min);
        }
        for segment in &info.elements {
            if !matches!(segment.mode, SegmentMode::Declared) {
                needs.instance_bytes += segment.items.len() as u64 * size_of::<u64>() as u64;
            }
        }
        needs
    }
}

impl StoreOpaque {
    /// Asks the limiter, where there is one.
    fn ask<R>(&self, question: impl FnOnce(&mut dyn ResourceLimiter) -> R) -> Option<R> {
        let limiter = self.limiter.as_ref()?;
        let mut question = Some(question);
        let mut answer = None;
        (limiter.0)(&mut |limiter| answer = question.take().map(|question| question(limiter)));
        answer
    }

    /// Take what an instance of `module` needs.
    ///
    /// Where an interrupt ends stores that share a quota, some give back what others
    /// would take, which would have to end as well.
    ///
    /// # Errors
    /// The store's interrupt is raised; limiter or quota refuse, and some of it may have
    /// been taken then.
    pub(crate) fn admit_instance(&mut self, module: &Module) -> Result<()> {
        if self.interrupt.as_ref().is_some_and(Interrupt::is_raised) {
            return Err(trap_error(TrapCode::Interrupted, Vec::new()));
        }
        let info = module.info();
        let needs = Needs::of(module);
        for def in &info.table_defs {
            check_table(def.ty)?;
        }
        let own = info.memories.len() - info.imported_memories as usize;
        self.ask_counts(1, own, info.table_defs.len())?;
        self.ask_items(module)?;
        self.account.take(Resource::Instances, 1)?;
        let taken = [
            (Resource::InstanceBytes, needs.instance_bytes),
            (Resource::Memories, needs.memories),
            (Resource::MemoryBytes, needs.memory_bytes),
            (Resource::Tables, needs.tables),
            (Resource::TableElements, needs.table_elements),
        ];
        for (resource, amount) in taken {
            self.account.take(resource, amount)?;
        }
        Ok(())
    }

    /// Asks about an instance of `module` that was made before there was a limiter.
    ///
    /// # Errors
    /// It refuses.
    pub(crate) fn ask_instance(&self, module: &Module) -> Result<()> {
        self.ask_counts(0, 0, 0)?;
        self.ask_items(module)
    }

    /// Asks about the memories and tables that `module` defines.
    fn ask_items(&self, module: &Module) -> Result<()> {
        if self.limiter.is_none() {
            return Ok(());
        }
        let info = module.info();
        for ty in &info.memories[info.imported_memories as usize..] {
            self.ask_memory(*ty)?;
        }
        for def in &info.table_defs {
            self.ask_table(def.ty)?;
        }
        Ok(())
    }

    /// Take what a memory needs that the host makes.
    ///
    /// # Errors
    /// Limiter or quota refuse; some of it may have been taken then.
    pub(crate) fn admit_memory(&mut self, ty: MemoryType) -> Result<()> {
        self.ask_counts(0, 1, 0)?;
        self.ask_memory(ty)?;
        if !ty.shared {
            self.account.take(Resource::Memories, 1)?;
            let bytes = ty.min.saturating_mul(WASM_PAGE_BYTES);
            self.account.take(Resource::MemoryBytes, bytes)?;
        }
        Ok(())
    }

    /// Take what a table needs that the host makes.
    ///
    /// # Errors
    /// Too large for any table; limiter or quota refuse, and some of it may have been
    /// taken then.
    pub(crate) fn admit_table(&mut self, ty: TableType) -> Result<()> {
        check_table(ty)?;
        self.ask_counts(0, 0, 1)?;
        self.ask_table(ty)?;
        self.account.take(Resource::Tables, 1)?;
        Ok(self.account.take(Resource::TableElements, ty.min)?)
    }

    /// Whether there may be so many items more.
    fn ask_counts(&self, instances: usize, memories: usize, tables: usize) -> Result<()> {
        let most = |limiter: &mut dyn ResourceLimiter| {
            [limiter.instances(), limiter.memories(), limiter.tables()]
        };
        let Some(most) = self.ask(most) else {
            return Ok(());
        };
        let wanted = [
            (instances, self.instances.len(), "instances"),
            (memories, self.memories.len(), "memories"),
            (tables, self.tables.len(), "tables"),
        ];
        for ((more, now, what), most) in wanted.into_iter().zip(most) {
            if more > 0 && now.saturating_add(more) > most {
                let what = format!("{} {what}", now.saturating_add(more));
                return Err(LimitError::Refused(what).into());
            }
        }
        Ok(())
    }

    fn ask_memory(&self, ty: MemoryType) -> Result<()> {
        let (desired, maximum) = (bytes_of(ty.min), ty.max.map(bytes_of));
        let allowed = self.ask(|limiter| limiter.memory_growing(0, desired, maximum));
        match allowed.unwrap_or(Ok(true))? {
            true => Ok(()),
            false => {
                let what = format!("a memory of {} pages", ty.min);
                Err(LimitError::Refused(what).into())
            }
        }
    }

    fn ask_table(&self, ty: TableType) -> Result<()> {
        let (desired, maximum) = (count_of(ty.min), ty.max.map(count_of));
        let allowed = self.ask(|limiter| limiter.table_growing(0, desired, maximum));
        match allowed.unwrap_or(Ok(true))? {
            true => Ok(()),
            false => {
                let what = format!("a table of {} elements", ty.min);
                Err(LimitError::Refused(what).into())
            }
        }
    }

    /// `memory.grow`: the former size in pages, or why it does not grow. The memory is
    /// one of the store's.
    ///
    /// # Errors
    /// The limiter's.
    pub(crate) fn grow_memory(&mut self, memory: &LinearMemory, delta: u64) -> Result<Grown> {
        if delta == 0 {
            return Ok(Ok(memory.pages()));
        }
        let locked = memory.lock_growth();
        let current = memory.len();
        let desired = bytes_of(memory.pages().saturating_add(delta));
        let maximum = memory.ty.max.map(bytes_of);
        let allowed = self.ask(|limiter| limiter.memory_growing(current, desired, maximum));
        if !allowed.unwrap_or(Ok(true))? {
            let what = format!("a memory of {desired} bytes");
            return Ok(Err(LimitError::Refused(what).into()));
        }
        let grown = charged(self, memory, delta, || {
            let grown = memory.grow(&locked, delta);
            grown.map_err(|error| cannot_grow(memory.pages(), delta, &error))
        });
        self.told(grown, |limiter, error| limiter.memory_grow_failed(error))
    }

    /// `table.grow`: the former length, or why it does not grow. The table is one of the
    /// store's.
    ///
    /// # Errors
    /// The limiter's.
    pub(crate) fn grow_table(
        &mut self,
        table: &mut TableData,
        delta: u64,
        init: u64,
    ) -> Result<Grown> {
        if delta == 0 {
            return Ok(Ok(table.len()));
        }
        let (current, desired) = (count_of(table.len()), table.len().saturating_add(delta));
        let (desired, maximum) = (count_of(desired), table.ty.max.map(count_of));
        let allowed = self.ask(|limiter| limiter.table_growing(current, desired, maximum));
        if !allowed.unwrap_or(Ok(true))? {
            let what = format!("a table of {desired} elements");
            return Ok(Err(LimitError::Refused(what).into()));
        }
        let taken = self.account.take(Resource::TableElements, delta);
        let grown = taken.map_err(Error::from).and_then(|()| {
            table.grow(delta, init).ok_or_else(|| {
                self.account.give_back(Resource::TableElements, delta);
                Error::mismatch("table cannot grow that far")
            })
        });
        self.told(grown, |limiter, error| limiter.table_grow_failed(error))
    }

    /// The outcome of a growth. A limiter that allowed it hears why it failed.
    fn told(
        &self,
        grown: Grown,
        tell: impl FnOnce(&mut dyn ResourceLimiter, Error) -> Result<()>,
    ) -> Result<Grown> {
        match grown {
            Err(error) if self.limiter.is_some() => {
                let why = error.to_string();
                self.ask(|limiter| tell(limiter, error)).unwrap_or(Ok(()))?;
                Ok(Err(Error::mismatch(why)))
            }
            grown => Ok(grown),
        }
    }
}

/// Grow a memory, charged to whoever it belongs to.
fn charged(
    store: &mut StoreOpaque,
    memory: &LinearMemory,
    delta: u64,
    grow: impl FnOnce() -> Result<u64>,
) -> Result<u64> {
    // More than any memory can have is refused by the quota or by its maximum.
    let bytes = delta.saturating_mul(WASM_PAGE_BYTES);
    match &memory.charge {
        Some(charge) => {
            charge.grow(bytes)?;
            grow().inspect_err(|_| charge.shrink(bytes))
        }
        None => {
            let account = &mut store.account;
            account.take(Resource::MemoryBytes, bytes)?;
            grow().inspect_err(|_| account.give_back(Resource::MemoryBytes, bytes))
        }
    }
}

fn cannot_grow(pages: u64, delta: u64, why: &dyn std::fmt::Display) -> Error {
    Error::mismatch(format!(
        "cannot grow a memory of {pages} pages by {delta}: {why}"
    ))
}

impl LinearMemory {
    /// Grow a shared memory that is in no store, by `delta` pages; the former size.
    ///
    /// # Errors
    /// Beyond its quota or its maximum, or where the host has no room.
    pub(crate) fn grow_shared(&self, delta: u64) -> Result<u64> {
        let locked = self.lock_growth();
        let bytes = delta.saturating_mul(WASM_PAGE_BYTES);
        if let Some(charge) = &self.charge {
            charge.grow(bytes)?;
        }
        self.grow(&locked, delta).map_err(|error| {
            if let Some(charge) = &self.charge {
                charge.shrink(bytes);
            }
            cannot_grow(self.pages(), delta, &error)
        })
    }
}

/// Whether there can be a table of that many elements at all.
fn check_table(ty: TableType) -> Result<()> {
    match ty.min <= MAX_TABLE_ELEMENTS {
        true => Ok(()),
        false => Err(Error::mismatch(format!(
            "table of {} elements is beyond the limit of {MAX_TABLE_ELEMENTS}",
            ty.min
        ))),
    }
}
