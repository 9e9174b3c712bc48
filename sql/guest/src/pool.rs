//! A compiled module and the instances of it that are ready, made by a thread of their own:
//! a query finds them, and makes one itself only where it wants more at once.
//!
//! A module that imports a shared memory has crews, too: instances over one memory, for a
//! thread each. An instance that is taken alone has such a memory for itself.
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

use fathom_engine::{Config, Engine, Linker, Module, PoolLimits, StoreLimits};

use crate::{
    crew::{self, Crew, Shared},
    guest::Guest,
    options::Options,
};

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

/// What is kept of instances that have ended: as many as there are processors, each with so much
/// of its memory that the next query takes no page faults for it.
fn kept() -> PoolLimits {
    PoolLimits {
        lanes: 1,
        idle: thread::available_parallelism().map_or(1, usize::from),
        resident_bytes: 64 << 20,
    }
}

/// What functions of one module share, if they may take the same.
pub struct Pool {
    bytes: Arc<[u8]>,
    options: Options,
    engine: Engine,
    module: Module,
    linker: Linker<StoreLimits>,
    memory: Kind,
    idle: Mutex<Vec<Guest>>,
    crews: Mutex<Vec<Crew>>,
    wanted: AtomicUsize,
}

/// Whose memory its instances have.
enum Kind {
    /// Each has one. Where it was used, and not given back as it is, it is made what it was at
    /// first and used again.
    Own(fathom_engine::Pool<StoreLimits>),
    /// It is imported, so that instances can have one together.
    Shared(Shared),
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
        Pool::of_module(engine, module, bytes.into(), options)
    }

    /// The same module with other options; it is not compiled again.
    ///
    /// # Errors
    /// The options want another strategy, or its imports are none that a function has, in words.
    pub fn under(&self, options: Options) -> Result<Pool, String> {
        if options.bounds != self.options.bounds {
            return Err(format!("it is compiled for {}", self.options.bounds));
        }
        let (engine, module) = (self.engine.clone(), self.module.clone());
        Pool::of_module(engine, module, self.bytes.clone(), options)
    }

    fn of_module(
        engine: Engine,
        module: Module,
        bytes: Arc<[u8]>,
        options: Options,
    ) -> Result<Pool, String> {
        let mut linker: Linker<StoreLimits> = Linker::new(&engine);
        // It has no files, no clock and no output: a call of one is a trap that names it.
        linker
            .define_unknown_imports_as_traps(&module)
            .map_err(|error| error.to_string())?;
        let memory = match crew::shared(&module)? {
            Some(shared) => Kind::Shared(shared),
            None => {
                let made = fathom_engine::Pool::new(&linker, &module, kept());
                Kind::Own(made.map_err(|error| error.to_string())?)
            }
        };
        Ok(Pool {
            bytes,
            options,
            engine,
            module,
            linker,
            memory,
            idle: Mutex::new(Vec::new()),
            crews: Mutex::new(Vec::new()),
            wanted: AtomicUsize::new(0),
        })
    }

    /// What was compiled.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// What it was compiled from.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether it is what compiling these would make.
    pub fn is_of(&self, bytes: &[u8], options: &Options) -> bool {
        self.options == *options && *self.bytes == *bytes
    }

    /// Whether it is compiled from these bytes as these options say, whatever else they are.
    pub fn is_compiled_from(&self, bytes: &[u8], options: &Options) -> bool {
        self.options.bounds == options.bounds && *self.bytes == *bytes
    }

    /// Has as many instances made ready, and made again where they are not reused.
    pub fn want(self: &Arc<Pool>, instances: usize) {
        self.wanted.store(instances, Ordering::Relaxed);
        self.ask();
    }

    /// How many are ready.
    pub fn ready(&self) -> usize {
        match self.memory {
            Kind::Own(_) => self.idle().len(),
            Kind::Shared(_) => self.crews().iter().map(Crew::len).sum(),
        }
    }

    /// Whether its instances can have one memory together.
    pub fn is_shared(&self) -> bool {
        matches!(self.memory, Kind::Shared(_))
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

    /// As many as wanted over one memory, which nobody else has; at least one.
    ///
    /// # Errors
    /// The module imports no shared memory, or they cannot be made, in words.
    pub fn crew(self: &Arc<Pool>, count: usize) -> Result<Vec<Guest>, String> {
        let Kind::Shared(shared) = &self.memory else {
            return Err("it imports no shared memory".to_owned());
        };
        let ready = self.crews().pop();
        self.ask();
        let mut crew = match ready {
            Some(crew) => crew,
            None => self.first(shared)?,
        };
        crew.resize(count)?;
        Ok(crew.into_guests())
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

    fn crews(&self) -> MutexGuard<'_, Vec<Crew>> {
        self.crews.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(&self) -> Result<Guest, String> {
        match &self.memory {
            Kind::Own(pool) => Guest::new(pool, &self.options),
            Kind::Shared(shared) => {
                let mut alone = self.first(shared)?.into_guests();
                alone.pop().ok_or_else(|| "no instance".to_owned())
            }
        }
    }

    /// A crew of one.
    fn first(&self, shared: &Shared) -> Result<Crew, String> {
        Crew::first(&self.linker, &self.module, shared, &self.options)
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
            let made = match &self.memory {
                Kind::Own(_) => self.make().map(|guest| self.idle().push(guest)),
                Kind::Shared(shared) => self.whole(shared).map(|crew| self.crews().push(crew)),
            };
            if made.is_err() {
                return;
            }
        }
    }

    /// A crew of as many as are wanted.
    fn whole(&self, shared: &Shared) -> Result<Crew, String> {
        let mut crew = self.first(shared)?;
        crew.resize(self.wanted.load(Ordering::Relaxed))?;
        Ok(crew)
    }
}
