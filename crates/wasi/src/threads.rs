//! `wasi-threads`: programs that start threads of their own.
//!
//! ```text
//!  run ─► store, instance ─► main            first ending ─► Interrupt::stop
//!           │ thread-spawn(arg)                   ▲            (all stores)
//!           ▼                                     │
//!         thread: store, instance of the same module, the same shared memory
//!                 wasi_thread_start(tid, arg) ────┘ exit, trap or panic
//! ```
//!
//! Each thread has a store of its own; what the program was given (descriptors,
//! arguments, environment) is one [`WasiCtx`](crate::WasiCtx) that all share.
//!
//! What must stay true: the program ends once, by what came first: the return
//! of its main thread, `proc_exit` in any thread, or a trap in any thread. When
//! [`run_with_threads`] returns, no thread of it is running.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use fathom_engine::{
    Allowance, Caller, Engine, Error, ExternType, FuncType, Instance, Interrupt, Linker, Module,
};
use fathom_engine::{SharedMemory, Store, ValType};

use crate::errno::Errno;

/// The largest thread number that the interface allows.
const TID_MAX: u32 = (1 << 29) - 1;
/// Threads of one program that may run at the same time by default, beside its main
/// thread; beyond, starting one fails with `Errno::Again`. Each can fill a stack of a
/// MiB and has an instance of its own.
pub const THREADS_MAX: usize = 128;

const START: &str = "wasi_thread_start";

/// Whether a module is to be run by [`run_with_threads`]: it imports
/// `wasi.thread-spawn` or a shared memory.
#[must_use]
pub fn uses_threads(module: &Module) -> bool {
    module.imports().any(|(from, name, ty)| {
        (from, name) == ("wasi", "thread-spawn")
            || matches!(ty, ExternType::Memory(memory) if memory.shared)
    })
}

/// What the threads of a program have together.
#[derive(Clone, Debug)]
pub struct ThreadOptions {
    /// How many may run at the same time, beside the main thread.
    pub threads_max: usize,
    /// What ends the program, in all its threads, when it is raised by somebody else.
    /// It is raised, too, when the program ends.
    pub interrupt: Interrupt,
    /// What the stores of all threads and their shared memories may have.
    pub allowance: Allowance,
}

impl ThreadOptions {
    /// [`THREADS_MAX`], and for all together the quota that the engine gives a store.
    #[must_use]
    pub fn new(engine: &Engine) -> ThreadOptions {
        ThreadOptions {
            threads_max: THREADS_MAX,
            interrupt: Interrupt::new(),
            allowance: Allowance::new(engine.quota()),
        }
    }
}

/// How a threaded program failed.
#[derive(Debug)]
pub struct ThreadError {
    /// The thread's number; none for the main thread.
    pub thread: Option<u32>,
    /// Its end: a trap, [`ProcExit`](crate::ProcExit), or what kept the program
    /// from starting.
    pub error: Error,
}

impl From<Error> for ThreadError {
    fn from(error: Error) -> ThreadError {
        ThreadError {
            thread: None,
            error,
        }
    }
}

/// The threads of one program.
struct Group<T> {
    module: Module,
    linker: OnceLock<Linker<T>>,
    new_data: Box<dyn Fn() -> T + Send + Sync>,
    options: ThreadOptions,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    ending: Option<Ending>,
    threads: Vec<JoinHandle<()>>,
    last_tid: u32,
}

/// What ended the program.
enum Ending {
    Returned,
    Failed(ThreadError),
    Panicked(Box<dyn Any + Send>),
}

/// Instantiates a program that may start threads and lets `main` run it.
///
/// With the options' defaults; see [`ThreadOptions::run`].
///
/// `linker` defines what it imports, but `wasi.thread-spawn` and its shared
/// memories, which are made here. `data` makes the data of each thread's store, in
/// which the guest's state should be clones of one.
///
/// # Errors
/// How the program ended, unless `main` returned first; what keeps it from
/// being instantiated.
///
/// # Panics
/// Goes on with a panic of a host function, in whichever thread it was.
pub fn run_with_threads<T: Send + 'static, R>(
    module: &Module,
    linker: &Linker<T>,
    data: impl Fn() -> T + Send + Sync + 'static,
    main: impl FnOnce(&mut Store<T>, Instance) -> Result<R, Error>,
) -> Result<R, ThreadError> {
    ThreadOptions::new(module.engine()).run(module, linker, data, main)
}

impl ThreadOptions {
    /// Instantiates a program that may start threads and lets `main` run it.
    ///
    /// `linker` defines what it imports, but `wasi.thread-spawn` and its shared
    /// memories, which are made here. `data` makes the data of each thread's store, in
    /// which the guest's state should be clones of one.
    ///
    /// # Errors
    /// How the program ended, unless `main` returned first; what keeps it from
    /// being instantiated.
    ///
    /// # Panics
    /// Goes on with a panic of a host function, in whichever thread it was.
    pub fn run<T: Send + 'static, R>(
        self,
        module: &Module,
        linker: &Linker<T>,
        data: impl Fn() -> T + Send + Sync + 'static,
        main: impl FnOnce(&mut Store<T>, Instance) -> Result<R, Error>,
    ) -> Result<R, ThreadError> {
        let group = Arc::new(Group {
            module: module.clone(),
            linker: OnceLock::new(),
            new_data: Box::new(data),
            options: self,
            state: Mutex::default(),
        });
        let linker = definitions(linker, &group)?;
        let linker = group.linker.get_or_init(|| linker);
        let mut store = group.store();
        // A panic must reach the others first: their threads use what it unwinds past.
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let instance = linker.instantiate(&mut store, module)?;
            main(&mut store, instance)
        }));
        let result = match outcome {
            Ok(Ok(result)) => {
                group.end(Ending::Returned);
                Some(result)
            }
            Ok(Err(error)) => {
                group.end(Ending::Failed(error.into()));
                None
            }
            Err(payload) => {
                group.end(Ending::Panicked(payload));
                None
            }
        };
        match (group.join(), result) {
            (Ending::Returned, Some(result)) => Ok(result),
            (Ending::Failed(failure), _) => Err(failure),
            (Ending::Panicked(payload), _) => resume_unwind(payload),
            (Ending::Returned, None) => unreachable!("only a main that returned says so"),
        }
    }
}

/// The program's imports, with its shared memories and `thread-spawn`.
fn definitions<T: Send + 'static>(
    linker: &Linker<T>,
    group: &Arc<Group<T>>,
) -> Result<Linker<T>, Error> {
    let mut linker = linker.clone();
    let mut spawns = false;
    for (from, name, ty) in group.module.imports() {
        spawns |= (from, name) == ("wasi", "thread-spawn");
        if let ExternType::Memory(memory) = ty
            && memory.shared
            && !linker.defines(from, name)
        {
            let allowance = &group.options.allowance;
            let memory = SharedMemory::within(linker.engine(), memory, allowance)?;
            linker.define_shared(from, name, &memory)?;
        }
    }
    if spawns && group.module.exported_func(START) != Some(start_type()) {
        let message = format!("it imports wasi.thread-spawn, but exports no {START}(i32, i32)");
        return Err(Error::host(NoStart(message)));
    }
    // Weak, since the group has the linker.
    let group = Arc::downgrade(group);
    let spawn = move |caller: Caller<'_, T>, arg: i32| spawn(caller, &group, arg);
    linker.func_wrap("wasi", "thread-spawn", spawn)?;
    Ok(linker)
}

fn start_type() -> FuncType {
    FuncType::new([ValType::I32, ValType::I32], [])
}

/// A program that starts threads has nothing for them to run.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct NoStart(String);

/// `thread-spawn`: the new thread's number, or a negative error number.
///
/// The new thread gets half of the fuel of the one that starts it, where fuel is
/// consumed: so all together have what the program was given, and who has how much
/// does not depend on time.
fn spawn<T: Send + 'static>(mut caller: Caller<'_, T>, group: &Weak<Group<T>>, arg: i32) -> i32 {
    let again = -(Errno::Again as i32);
    let Some(group) = group.upgrade() else {
        return again;
    };
    let left = caller.get_fuel().ok();
    let given = left.map(|left| left / 2);
    let Some(tid) = Group::spawn(&group, arg, given) else {
        return again;
    };
    if let (Some(left), Some(given)) = (left, given) {
        // An engine that says what is left lets it be set.
        let _ = caller.set_fuel(left - given);
    }
    tid.cast_signed()
}

impl<T: Send + 'static> Group<T> {
    /// Nobody panics while holding it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A store for one of the threads.
    fn store(&self) -> Store<T> {
        let (engine, data) = (self.module.engine(), (self.new_data)());
        let mut store = Store::within(engine, data, &self.options.allowance);
        store.set_interrupt(&self.options.interrupt);
        store
    }

    /// Starts a thread, unless the program is over, there are too many, or the
    /// host has no room for it.
    fn spawn(group: &Arc<Group<T>>, arg: i32, fuel: Option<u64>) -> Option<u32> {
        let mut state = group.state();
        // A program may start thousands, one after the other: those that are over must
        // not count, nor be kept until the end.
        state.threads.retain(|thread| !thread.is_finished());
        let full = state.threads.len() >= group.options.threads_max || state.last_tid == TID_MAX;
        if state.ending.is_some() || full {
            return None;
        }
        let tid = state.last_tid + 1;
        let of_thread = Arc::clone(group);
        let thread = std::thread::Builder::new()
            .name(format!("guest {tid}"))
            .spawn(move || of_thread.thread(tid, arg, fuel))
            .ok()?;
        // Numbers are not used again: a guest may hold on to one whose thread is over.
        state.last_tid = tid;
        state.threads.push(thread);
        Some(tid)
    }

    /// What a thread does.
    fn thread(&self, tid: u32, arg: i32, fuel: Option<u64>) {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.call_start(tid, arg, fuel)));
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.end(Ending::Failed(ThreadError {
                thread: Some(tid),
                error,
            })),
            Err(payload) => self.end(Ending::Panicked(payload)),
        }
    }

    fn call_start(&self, tid: u32, arg: i32, fuel: Option<u64>) -> Result<(), Error> {
        let linker = self.linker.get().expect("set before anything runs");
        let mut store = self.store();
        if let Some(fuel) = fuel {
            store.set_fuel(fuel)?;
        }
        let instance = linker.instantiate(&mut store, &self.module)?;
        let start = instance.get_func(&store, START);
        let start = start.expect("checked: the module exports it");
        let start = start.typed::<(i32, i32), ()>(&store)?;
        start.call(&mut store, (tid.cast_signed(), arg))
    }

    /// Ends the program, unless it has ended; the calling thread has left its
    /// store. Returns when no other is in one.
    fn end(&self, ending: Ending) {
        // The first counts: the others are stopped because of it, and say so.
        self.state().ending.get_or_insert(ending);
        // However long a host function takes: its thread uses the program's
        // memory and descriptors.
        self.options.interrupt.stop(Duration::MAX);
    }

    /// Waits for the threads, which have been told to stop; why the program
    /// ended.
    fn join(&self) -> Ending {
        // Nobody is added once there is an ending. The lock is not held while
        // waiting: a thread that ends takes it.
        let threads = std::mem::take(&mut self.state().threads);
        for thread in threads {
            // Panics were caught inside.
            let _ = thread.join();
        }
        let ending = self.state().ending.take();
        ending.expect("the main thread's end is one")
    }
}
