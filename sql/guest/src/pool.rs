//! A compiled module and the instances of it that are ready, made by a thread of their own:
//! a query finds them, and makes one itself only where it wants more at once.
//!
//! What must stay true: an instance is used by one call at a time, and one in which a call
//! failed never comes back.

use std::{
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Sender, channel},
    },
    thread,
};

use fathom_engine::{Config, Engine, InstancePre, Linker, Module, StoreLimits, StoreLimitsBuilder};

use crate::{guest::Guest, options::Options};

/// Pools that have fewer instances ready than they should. Without a thread, queries make
/// their own.
static FILLER: LazyLock<Option<Sender<Weak<Pool>>>> = LazyLock::new(|| {
    let (sender, receiver) = channel::<Weak<Pool>>();
    let fill = move || {
        for pool in receiver {
            if let Some(pool) = pool.upgrade() {
                pool.fill();
            }
        }
    };
    let named = thread::Builder::new().name("instances".to_owned());
    named.spawn(fill).ok().map(|_| sender)
});

/// What functions of one module share, if they may take the same.
pub struct Pool {
    bytes: Vec<u8>,
    options: Options,
    engine: Engine,
    module: Module,
    pre: InstancePre<StoreLimits>,
    idle: Mutex<Vec<Guest>>,
    wanted: AtomicUsize,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl Pool {
    /// Compiles a module as its options say.
    ///
    /// # Errors
    /// It is none, in words.
    pub fn new(bytes: Vec<u8>, options: Options) -> Result<Pool, String> {
        let config = Config::new()
            .bounds(options.bounds)
            .bounds64(options.bounds);
        let engine = Engine::new(&config).map_err(|error| error.to_string())?;
        Pool::of_engine(engine, bytes, options)
    }

    /// Compiles a module by an engine, whose strategy it gets.
    ///
    /// # Errors
    /// It is none, in words.
    pub fn of_engine(engine: Engine, bytes: Vec<u8>, options: Options) -> Result<Pool, String> {
        let module = Module::new(&engine, &bytes).map_err(|error| error.to_string())?;
        let mut linker: Linker<StoreLimits> = Linker::new(&engine);
        // It has no files, no clock and no output: a call of one is a trap that names it.
        linker
            .define_unknown_imports_as_traps(&module)
            .map_err(|error| error.to_string())?;
        let pre = linker
            .instantiate_pre(&module)
            .map_err(|error| error.to_string())?;
        Ok(Pool {
            bytes,
            options,
            engine,
            module,
            pre,
            idle: Mutex::new(Vec::new()),
            wanted: AtomicUsize::new(0),
        })
    }

    /// What was compiled.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Whether it is what compiling these would make.
    pub fn is_of(&self, bytes: &[u8], options: &Options) -> bool {
        self.options == *options && self.bytes == bytes
    }

    /// Has as many instances made ready, and made again where they are not reused.
    pub fn want(self: &Arc<Pool>, instances: usize) {
        self.wanted.store(instances, Ordering::Relaxed);
        self.ask();
    }

    /// How many are ready.
    pub fn ready(&self) -> usize {
        self.idle().len()
    }

    /// One that is ready, or a new one.
    ///
    /// # Errors
    /// There is none, and none can be made, in words.
    pub fn take(self: &Arc<Pool>) -> Result<Guest, String> {
        let ready = self.idle().pop();
        if !self.options.reuse {
            self.ask();
        }
        match ready {
            Some(guest) => Ok(guest),
            None => self.make(),
        }
    }

    /// Takes one back that may be used again.
    pub fn give(&self, guest: Guest) {
        if self.options.reuse {
            self.idle().push(guest);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Guest>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(&self) -> Result<Guest, String> {
        let bytes = self.options.memory_bytes;
        let limits = StoreLimitsBuilder::new().memory_size(bytes).build();
        Guest::new(&self.engine, &self.pre, limits, self.options.deadline)
    }

    fn ask(self: &Arc<Pool>) {
        if let Some(filler) = &*FILLER {
            // Without its thread it is as if there were none.
            let _ = filler.send(Arc::downgrade(self));
        }
    }

    /// One that cannot be made is left to the query, which says why.
    fn fill(&self) {
        while self.ready() < self.wanted.load(Ordering::Relaxed) {
            match self.make() {
                Ok(guest) => self.idle().push(guest),
                Err(_) => return,
            }
        }
    }
}
