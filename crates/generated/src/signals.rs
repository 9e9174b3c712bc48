//! Signals and forks while Wasm runs: each program does what it says, each trap is the
//! one that it is, and each signal reaches whom it is for.
//!
//! ```text
//!  worker:     sums, traps, nested host calls, forks, endless loops that are interrupted
//!  sender:     SIGURG, SIGSEGV, SIGBUS, SIGILL, SIGFPE to the worker, one after the other
//!  timer:      SIGALRM to the process
//!  neighbours: threads that trap in stores of their own
//! ```
//!
//! Handlers belong to a process: [`begin`] comes before the first engine.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fathom_engine::TrapCode;
use fathom_engine::{
    Bounds, BoundsChoice, Caller, Config, Engine, Error, Guarantee, Instance, Interrupt, Linker,
    Module, Opt, Result, Store,
};

use crate::generate::Below;

/// What the runs of a seed met, for the summary at the end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Steps of the worker.
    pub steps: u64,
    /// Those that trapped.
    pub traps: u64,
    /// Children that were forked.
    pub forks: u64,
    /// Signals that were sent to the worker and reached whom they were for.
    pub signals: u64,
}

/// Faults that a process may send, too.
const FAULTS: [libc::c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE];
/// With what a process ends whose fault nobody wanted.
const UNWANTED: libc::c_int = 98;
/// Seconds after which a child counts as one that does not end.
const CHILD_SECONDS: libc::c_uint = 60;

static REACHED: [AtomicU64; FAULTS.len()] = [const { AtomicU64::new(0) }; FAULTS.len()];
static ALARMS: AtomicU64 = AtomicU64::new(0);

extern "C" fn reached(number: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid pointer; ending the process is all that is done
    // otherwise.
    unsafe {
        match FAULTS.iter().position(|it| *it == number) {
            Some(index) if (*info).si_code <= 0 => {
                REACHED[index].fetch_add(1, Ordering::SeqCst);
            }
            Some(_) => libc::_exit(UNWANTED),
            None => {
                ALARMS.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Install this process's handlers, before any engine is made.
pub fn begin() {
    for signal in FAULTS.into_iter().chain([libc::SIGALRM]) {
        // SAFETY: the handler has the signature that SA_SIGINFO asks for and makes
        // nothing but what a handler may.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = reached as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            assert_eq!(libc::sigaction(signal, &action, std::ptr::null_mut()), 0);
        }
    }
}

/// Signals to the process every so many microseconds; never again for 0.
fn set_timer(micros: i64) {
    let every = libc::timeval {
        tv_sec: 0,
        tv_usec: micros,
    };
    let timer = libc::itimerval {
        it_interval: every,
        it_value: every,
    };
    // SAFETY: sets this process's timer.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) };
}

/// `nest` calls itself by way of the host until `depth` is 0, then traps as `kind` says.
const MODULE: &str = r#"(module
  (import "host" "again" (func $again (param i32 i32)))
  (import "host" "fork" (func $fork))
  (type $none (func)) (type $one (func (param i32)))
  (memory MEMORY 1 3)
  (table 3 funcref)
  (elem (i32.const 1) $deep $take)
  (func (export "sum") (param $n i32) (result i64)
    (local $sum i64) (local $i i32)
    (loop $next
      (i64.store (INDEX.const 65528) (local.get $sum))
      (local.set $sum (i64.add (i64.load (INDEX.const 65528))
        (i64.extend_i32_u (local.get $i))))
      (br_if $next (i32.lt_u
        (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (local.get $sum))
  (func (export "spin") (loop $ever (br $ever)))
  (func $deep (call $deep))
  (func $take (param i32))
  (func $nest (export "nest") (param $depth i32) (param $kind i32)
    (if (local.get $depth)
      (then
        (call $again (i32.sub (local.get $depth) (i32.const 1)) (local.get $kind))
        (return)))
    (call $trap (local.get $kind)))
  (func (export "fork") (param $kind i32) (call $fork) (call $trap (local.get $kind)))
  (func $trap (export "trap") (param $kind i32)
    (block $b9 (block $b8 (block $b7 (block $b6 (block $b5
    (block $b4 (block $b3 (block $b2 (block $b1 (block $b0
      (br_table $b0 $b1 $b2 $b3 $b4 $b5 $b6 $b7 $b8 $b9 (local.get $kind)))
      (drop (i32.load (INDEX.const 65533))) (return))
      (i64.store (INDEX.const 65536) (i64.const 1)) (return))
      (i32.store8 (INDEX.const FAR) (i32.const 1)) (return))
      (drop (i32.div_u (local.get $kind) (i32.const 0))) (return))
      (drop (i32.div_s (i32.const 0x80000000) (i32.sub (i32.const 3) (local.get $kind)))) (return))
      unreachable)
      (call_indirect (type $none) (i32.const 0)) (return))
      (call_indirect (type $none) (i32.const 2)) (return))
      (call_indirect (type $none) (i32.const 3)) (return))
    (call $deep)))"#;

/// What the kinds trap as.
const TRAPS: [TrapCode; 10] = [
    TrapCode::MemoryOutOfBounds,
    TrapCode::MemoryOutOfBounds,
    TrapCode::MemoryOutOfBounds,
    TrapCode::IntegerDivideByZero,
    TrapCode::IntegerOverflow,
    TrapCode::Unreachable,
    TrapCode::UninitializedElement,
    TrapCode::IndirectCallTypeMismatch,
    TrapCode::UndefinedElement,
    TrapCode::StackExhausted,
];

/// A module under each form of each exact strategy.
pub struct Stage {
    modules: Vec<(String, Module)>,
}

impl Stage {
    /// # Errors
    /// An engine that cannot be made although its strategy needs nothing of the host.
    pub fn new() -> Result<Stage> {
        let mut modules = Vec::new();
        for memory64 in [false, true] {
            let (ty, index, far) = match memory64 {
                false => ("", "i32", "-1"),
                true => ("i64", "i64", "-70000"),
            };
            let text = MODULE
                .replace("MEMORY", ty)
                .replace("INDEX", index)
                .replace("FAR", far);
            let wasm = wat::parse_str(text).expect("a module");
            for bounds in Bounds::forms_for(memory64) {
                if bounds.guarantee() != Guarantee::Exact {
                    continue;
                }
                let config = Config::new().bounds(BoundsChoice::Named(bounds));
                let made = Engine::new(&config.opt(Opt::None).max_wasm_stack(256 << 10));
                let module = made.and_then(|engine| Module::new(&engine, &wasm));
                match module {
                    Ok(module) => modules.push((format!("{bounds}, 64: {memory64}"), module)),
                    Err(_) if !bounds.needs().is_empty() => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(Stage { modules })
    }

    /// How many modules and strategies.
    pub fn configurations(&self) -> usize {
        self.modules.len()
    }

    /// A worker under fire.
    ///
    /// # Errors
    /// A step whose outcome is another one, or a signal that reached nobody.
    pub fn check(&self, below: Below<'_>) -> Result<Seen, String> {
        let (name, module) = &self.modules[below(self.modules.len())];
        let (_, beside) = &self.modules[below(self.modules.len())];
        let is_over = AtomicBool::new(false);
        // SAFETY: takes no arguments, cannot fail.
        let worker = unsafe { libc::gettid() };
        let rounds: Vec<usize> = (0..40).map(|_| below(1 << 20)).collect();
        let interrupts: Arc<Mutex<Vec<Interrupt>>> = Arc::default();
        set_timer(200 + below(3000) as i64);
        let outcome = std::thread::scope(|scope| {
            let sender = scope.spawn(|| send(worker, &rounds, &is_over, &interrupts));
            let neighbours: Vec<_> = (0..below(3))
                .map(|_| scope.spawn(|| neighbour(beside, &is_over)))
                .collect();
            let steps: Result<Seen, String> = steps(module, below, &interrupts);
            is_over.store(true, Ordering::SeqCst);
            let sent = sender
                .join()
                .unwrap_or_else(|_| Err("the sender".to_owned()));
            for neighbour in neighbours {
                neighbour
                    .join()
                    .unwrap_or_else(|_| Err("a neighbour".to_owned()))?;
            }
            let mut seen = steps?;
            seen.signals = sent?;
            Ok(seen)
        });
        set_timer(0);
        outcome.map_err(|why: String| format!("{name}: {why}"))
    }
}

/// Signals to a thread until it is over; how many.
fn send(
    worker: libc::pid_t,
    rounds: &[usize],
    is_over: &AtomicBool,
    interrupts: &Mutex<Vec<Interrupt>>,
) -> Result<u64, String> {
    let mut sent = 0;
    for round in rounds.iter().cycle() {
        if is_over.load(Ordering::SeqCst) {
            break;
        }
        let number = match FAULTS.get(round % 8) {
            Some(number) => *number,
            None => libc::SIGURG,
        };
        let index = FAULTS.iter().position(|it| *it == number);
        let count = || index.map(|index| REACHED[index].load(Ordering::SeqCst));
        let before = count();
        // SAFETY: a signal that has a handler, to a thread of this process.
        unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), worker, number) };
        sent += 1;
        // The next one of a kind would be lost while one is pending.
        for wait in 0.. {
            if before.is_none() || count() != before {
                break;
            }
            if wait == 200 {
                // One that met a fault of its kind which was pending is lost.
                break;
            }
            std::thread::sleep(Duration::from_micros(100));
        }
        std::thread::sleep(Duration::from_micros((round >> 8) as u64 % 400));
        // Again and again: one that meets the host's code is not acted upon.
        let interrupts = interrupts.lock().unwrap_or_else(PoisonError::into_inner);
        interrupts.iter().for_each(Interrupt::raise);
    }
    Ok(sent)
}

/// Traps in a store of its own until it is over.
fn neighbour(module: &Module, is_over: &AtomicBool) -> Result<(), String> {
    let mut stage = Act::new(module)?;
    for kind in (0..TRAPS.len()).cycle() {
        if is_over.load(Ordering::SeqCst) {
            return Ok(());
        }
        stage.traps("trap", &[kind as i32], TRAPS[kind])?;
        stage.sums(kind as i32 * 50)?;
    }
    Ok(())
}

/// An instance, and what its host does.
struct Act {
    store: Store<Host>,
    instance: Instance,
}

#[derive(Default)]
struct Host {
    instance: Option<Instance>,
    /// Where the child is that is to be waited for; 0 in the child.
    child: Option<Arc<AtomicI32>>,
}

impl Act {
    fn new(module: &Module) -> Result<Act, String> {
        let mut linker = Linker::new(module.engine());
        let again = |mut caller: Caller<'_, Host>, depth: i32, kind: i32| -> Result<()> {
            let instance = caller.data().instance.expect("it was set");
            let nest = instance.get_func(&caller, "nest").expect("an export");
            nest.typed::<(i32, i32), ()>(&caller)?
                .call(&mut caller, (depth, kind))
        };
        linker.func_wrap("host", "again", again).unwrap();
        let fork = |caller: Caller<'_, Host>| -> Result<()> {
            if let Some(child) = &caller.data().child {
                // SAFETY: the child goes on in this thread only, with what it owns,
                // and ends without the process's other ends.
                let number = unsafe { libc::fork() };
                if number == 0 {
                    // SAFETY: ends a child that does not.
                    unsafe {
                        libc::signal(libc::SIGALRM, libc::SIG_DFL);
                        libc::alarm(CHILD_SECONDS);
                    }
                }
                child.store(number, Ordering::SeqCst);
            }
            Ok(())
        };
        linker.func_wrap("host", "fork", fork).unwrap();
        let mut store = Store::new(module.engine(), Host::default());
        let instance = linker.instantiate(&mut store, module);
        let instance = instance.map_err(|error| error.to_string())?;
        store.data_mut().instance = Some(instance);
        Ok(Act { store, instance })
    }

    fn call(&mut self, name: &str, args: &[i32]) -> Result<i64, Error> {
        use fathom_engine::Val;
        let func = self
            .instance
            .get_func(&self.store, name)
            .expect("an export");
        let args: Vec<Val> = args.iter().map(|arg| Val::I32(*arg)).collect();
        let results = func.ty(&self.store).results().len();
        let mut results = vec![Val::I64(0); results];
        func.call(&mut self.store, &args, &mut results)?;
        Ok(match results.first() {
            Some(Val::I64(number)) => *number,
            _ => 0,
        })
    }

    fn traps(&mut self, name: &str, args: &[i32], expected: TrapCode) -> Result<(), String> {
        match self.call(name, args) {
            Err(error) if error.trap().is_some_and(|trap| trap.code == expected) => Ok(()),
            Err(error) => Err(format!("{name} {args:?}: {error}, not {expected}")),
            Ok(_) => Err(format!("{name} {args:?}: no trap, not {expected}")),
        }
    }

    fn sums(&mut self, n: i32) -> Result<(), String> {
        let n = n.max(1);
        let expected = i64::from(n) * i64::from(n - 1) / 2;
        match self.call("sum", &[n]) {
            Ok(sum) if sum == expected => Ok(()),
            other => Err(format!("the sum below {n}: {other:?}")),
        }
    }

    /// Fork in a host function, and go on as both; ends the child.
    fn forks(&mut self, kind: usize) -> Result<(), String> {
        let child = Arc::new(AtomicI32::new(-1));
        self.store.data_mut().child = Some(Arc::clone(&child));
        let mut outcome = self.traps("fork", &[kind as i32], TRAPS[kind]);
        self.store.data_mut().child = None;
        let number = child.load(Ordering::SeqCst);
        if number == 0 {
            outcome = outcome.and_then(|()| self.sums(5000));
            for (kind, trap) in TRAPS.into_iter().enumerate() {
                outcome = outcome.and_then(|()| self.traps("trap", &[kind as i32], trap));
            }
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(outcome.is_err().into()) };
        }
        outcome.and_then(|()| wait(number))
    }
}

/// Waits for a child, which has to end well.
fn wait(child: libc::pid_t) -> Result<(), String> {
    let mut status = 0;
    // SAFETY: our own child.
    while unsafe { libc::waitpid(child, &mut status, 0) } != child {
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(format!("waiting for a child: {error}"));
        }
    }
    match status {
        0 => Ok(()),
        status => Err(format!("a child ends with status {status:#x}")),
    }
}

/// What the worker does.
fn steps(
    module: &Module,
    below: Below<'_>,
    interrupts: &Mutex<Vec<Interrupt>>,
) -> Result<Seen, String> {
    let mut seen = Seen::default();
    let mut act = Act::new(module)?;
    for _ in 0..10 + below(20) {
        seen.steps += 1;
        let kind = below(TRAPS.len());
        seen.traps += 1;
        match below(8) {
            0 | 1 => {
                seen.traps -= 1;
                act.sums(below(60_000) as i32)?;
            }
            2 | 3 => act.traps("nest", &[below(5) as i32, kind as i32], TRAPS[kind])?,
            4 => {
                seen.forks += 1;
                act.forks(kind)?;
            }
            5 => {
                // Ended by the sender; the store is of no use afterwards.
                let mut other = Act::new(module)?;
                let interrupt = Interrupt::new();
                other.store.set_interrupt(&interrupt);
                let waiting = || interrupts.lock().unwrap_or_else(PoisonError::into_inner);
                waiting().push(interrupt.clone());
                let outcome = other.traps("spin", &[], TrapCode::Interrupted);
                waiting().clear();
                outcome?;
            }
            _ => act.traps("trap", &[kind as i32], TRAPS[kind])?,
        }
    }
    Ok(seen)
}
