//! Instances over one shared memory, for a thread each: what an operator with shared state runs
//! on, as morsels do.
//!
//! ```text
//!  first     instantiate (its start fills the memory), _initialize ─► fathom_thread_open
//!  further   instantiate ─► fathom_thread_start(what that returned): a stack of its own
//! ```
//!
//! What must stay true: a crew has its memory alone, and only as many bytes as its function may
//! have, whichever instance grows it; instances join before any of them works.

use fathom_engine::{
    Allowance, ExternType, Linker, MemoryType, Module, Pool, PoolLimits, Quota, SharedMemory,
    StoreLimits,
};

use crate::{guest::Guest, options::Options};

/// In the first: room for another, whose address it returns.
const OPEN: &str = "fathom_thread_open";
/// In that other, before all else: takes the address.
const START: &str = "fathom_thread_start";

/// How a module imports its shared memory.
pub(crate) struct Shared {
    module: String,
    name: String,
    ty: MemoryType,
}

/// The shared memory that a module imports, if it does.
///
/// # Errors
/// It has several, or one that it does not import, in words.
pub(crate) fn shared(module: &Module) -> Result<Option<Shared>, String> {
    let imported = module.imports().filter_map(|(from, name, ty)| match ty {
        ExternType::Memory(ty) if ty.shared => Some(Shared {
            module: from.to_owned(),
            name: name.to_owned(),
            ty,
        }),
        _ => None,
    });
    let mut imported: Vec<Shared> = imported.collect();
    let is_shared = |ty| matches!(ty, ExternType::Memory(ty) if ty.shared);
    match imported.len() {
        0 if module.exports().any(|(_, ty)| is_shared(ty)) => {
            Err("its memory is shared, but not imported: instances would have one each".to_owned())
        }
        0 | 1 => Ok(imported.pop()),
        count => Err(format!("it imports {count} shared memories")),
    }
}

/// Instances of which none has worked yet.
pub(crate) struct Crew {
    pool: Pool<StoreLimits>,
    options: Options,
    /// The first first; never empty.
    guests: Vec<Guest>,
}

impl Crew {
    /// A memory, and one instance.
    ///
    /// # Errors
    /// They cannot be made, in words; so below.
    pub(crate) fn first(
        linker: &Linker<StoreLimits>,
        module: &Module,
        shared: &Shared,
        options: &Options,
    ) -> Result<Crew, String> {
        let engine = module.engine();
        let quota = Quota {
            memory_bytes: options.memory_bytes as u64,
            ..engine.quota()
        };
        let within = Allowance::new(quota);
        let memory = SharedMemory::within(engine, shared.ty, &within);
        let memory = memory.map_err(|error| error.to_string())?;
        let mut linker = linker.clone();
        let linked = linker.define_shared(&shared.module, &shared.name, &memory);
        // Its memory is not used again, so its instances are not.
        let none = PoolLimits {
            lanes: 1,
            idle: 0,
            resident_bytes: 0,
        };
        let pool = linked.and_then(|linker| Pool::new(linker, module, none));
        let pool = pool.map_err(|error| error.to_string())?;
        let first = Guest::new(&pool, options)?;
        Ok(Crew {
            pool,
            options: *options,
            guests: vec![first],
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.guests.len()
    }

    pub(crate) fn into_guests(self) -> Vec<Guest> {
        self.guests
    }

    /// Has as many instances, and at least one.
    pub(crate) fn resize(&mut self, count: usize) -> Result<(), String> {
        self.guests.truncate(count.max(1));
        while self.guests.len() < count {
            let first = &mut self.guests[0];
            let room = first.has(OPEN).then(|| first.address(OPEN)).transpose()?;
            let mut guest = Guest::bare(&self.pool, &self.options)?;
            match room {
                Some(0) => return Err(format!("it has no memory for {} threads", count)),
                Some(at) => guest.end(START, at)?,
                None => {}
            }
            self.guests.push(guest);
        }
        Ok(())
    }
}
