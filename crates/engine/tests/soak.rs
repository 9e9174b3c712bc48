//! Eight threads that access, grow and trap on one shared memory, under every
//! form of every strategy that is exact, for 32-bit and for 64-bit memories:
//! no trap is lost, none is invented, no value is wrong, nobody waits for ever.
//!
//! A moment for each as a rule; `FATHOM_SOAK=60` makes it a minute, divided by
//! the index types, and `FATHOM_SOAK_BOUNDS=trap,guard` picks strategies.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use fathom_engine::TrapCode;
use fathom_engine::*;

const THREADS: u64 = 8;
const PAGE: u64 = 65_536;
const PAGES_MIN: u64 = 1;
/// Two chunks of compressed shadow, and a little.
const PAGES_MAX: u64 = 70;
/// What a thread does at least, however slow the machine: each kind of thing once.
const TURNS_MIN: u64 = 16;

/// What a thread calls, for an index type.
const MODULE: &str = r#"(module
  (memory (import "" "memory") TYPE 1 70 shared)
  (func (export "store") (param I i64) (i64.store offset=8 (local.get 0) (local.get 1)))
  (func (export "load") (param I) (result i64) (i64.load offset=8 (local.get 0)))
  (func (export "add") (param I) (result i64)
    (i64.atomic.rmw.add (local.get 0) (i64.const 1)))
  (func (export "grow") (param I) (result I) (memory.grow (local.get 0)))
  (func (export "size") (result I) (memory.size)))"#;

fn seconds() -> Option<f64> {
    std::env::var("FATHOM_SOAK").ok()?.parse().ok()
}

fn forms() -> Vec<Bounds> {
    let exact = Bounds::FORMS.into_iter();
    let exact = exact.filter(|bounds| bounds.guarantee() == Guarantee::Exact);
    match std::env::var("FATHOM_SOAK_BOUNDS") {
        Ok(names) => names.split(',').map(|name| name.parse().unwrap()).collect(),
        Err(_) => exact.filter(is_here).collect(),
    }
}

/// Whether the host has what a strategy needs; said where it has not.
fn is_here(bounds: &Bounds) -> bool {
    let is_for_neither = !bounds.supports(false) && !bounds.supports(true);
    let missing = match is_for_neither {
        true => Some("not on this instruction set".to_owned()),
        false => bounds.missing(),
    };
    if let Some(missing) = &missing {
        eprintln!("SKIPPED under {bounds}: {missing}");
    }
    missing.is_none()
}

#[test]
fn eight_threads_grow_access_and_trap() {
    let each = Duration::from_secs_f64(seconds().unwrap_or(0.1));
    for bounds in forms() {
        let widths: Vec<bool> = [false, true]
            .into_iter()
            .filter(|memory64| bounds.supports(*memory64))
            .collect();
        let mut all = Tally::default();
        for &memory64 in &widths {
            let until = Instant::now() + each / widths.len() as u32;
            let engine = engine(bounds);
            loop {
                all.add(&round(&engine, memory64, until));
                if Instant::now() >= until {
                    break;
                }
            }
        }
        eprintln!("{bounds}: {all:?}");
        assert!(all.traps > 0 && all.values > 0 && all.growths > 0);
    }
}

fn engine(bounds: Bounds) -> Engine {
    let choice = |memory64| match bounds.supports(memory64) {
        true => BoundsChoice::Named(bounds),
        false => BoundsChoice::Auto,
    };
    let config = Config::new().bounds(choice(false)).bounds64(choice(true));
    Engine::new(&config).unwrap()
}

/// What was seen to be right.
#[derive(Debug, Default)]
struct Tally {
    values: u64,
    traps: u64,
    growths: u64,
    additions: u64,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.values += other.values;
        self.traps += other.traps;
        self.growths += other.growths;
        self.additions += other.additions;
    }
}

/// What the threads of a round share beside the memory.
struct Shared {
    memory64: bool,
    until: Instant,
    /// Former sizes that growths returned: each size is one thread's.
    sizes: Mutex<BTreeSet<u64>>,
    is_full: AtomicBool,
    additions: AtomicU64,
}

/// One memory from its minimum to its maximum, or until time is up.
fn round(engine: &Engine, memory64: bool, until: Instant) -> Tally {
    let ty = MemoryType {
        min: PAGES_MIN,
        max: Some(PAGES_MAX),
        shared: true,
        memory64,
    };
    let memory = SharedMemory::new(engine, ty).unwrap();
    let (index, ty) = if memory64 {
        ("i64", "i64")
    } else {
        ("i32", "")
    };
    let wat = MODULE.replace("TYPE", ty).replace('I', index);
    let module = Module::new(engine, wat::parse_str(wat).unwrap()).unwrap();
    let shared = Shared {
        memory64,
        until,
        sizes: Mutex::default(),
        is_full: AtomicBool::new(false),
        additions: AtomicU64::new(0),
    };
    let mut all = Tally::default();
    std::thread::scope(|scope| {
        let (done, finished) = mpsc::channel();
        for number in 0..THREADS {
            let (done, shared, memory, module) = (done.clone(), &shared, &memory, &module);
            scope.spawn(move || {
                let tally = Guest::new(engine, module, memory, shared, number).run();
                done.send(tally).unwrap();
            });
        }
        drop(done);
        for _ in 0..THREADS {
            let patience =
                until.saturating_duration_since(Instant::now()) + Duration::from_secs(60);
            match finished.recv_timeout(patience) {
                Ok(tally) => all.add(&tally),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    // A panic would wait for the thread that waits.
                    eprintln!("a thread is stuck under {}", engine.bounds(memory64));
                    std::process::abort();
                }
            }
        }
    });
    let sizes = shared.sizes.lock().unwrap();
    let grown = PAGES_MIN + sizes.len() as u64;
    assert!(sizes.iter().copied().eq(PAGES_MIN..grown), "{sizes:?}");
    assert_eq!(memory.size(), grown);
    let counted = memory.atomic_u64(0).unwrap().load(Ordering::SeqCst);
    assert_eq!(counted, shared.additions.load(Ordering::SeqCst));
    all
}

/// A thread's store and what it calls.
struct Guest<'a> {
    shared: &'a Shared,
    store: Store<()>,
    instance: Instance,
    number: u64,
    random: u64,
    tally: Tally,
}

impl<'a> Guest<'a> {
    fn new(
        engine: &Engine,
        module: &Module,
        memory: &SharedMemory,
        shared: &'a Shared,
        number: u64,
    ) -> Guest<'a> {
        let mut store = Store::new(engine, ());
        let mut linker = Linker::new(engine);
        linker.define_shared("", "memory", memory).unwrap();
        let instance = linker.instantiate(&mut store, module).unwrap();
        Guest {
            shared,
            store,
            instance,
            number,
            random: number + 1,
            tally: Tally::default(),
        }
    }

    fn run(mut self) -> Tally {
        let mut turn = 0;
        while (turn < TURNS_MIN || Instant::now() < self.shared.until)
            && !self.shared.is_full.load(Ordering::SeqCst)
        {
            self.own_cell();
            self.far_beyond();
            self.at_the_edge();
            self.call("add", &[0]).unwrap();
            self.tally.additions += 1;
            turn += 1;
            if turn % TURNS_MIN == self.number {
                self.grow();
            }
        }
        let additions = &self.shared.additions;
        additions.fetch_add(self.tally.additions, Ordering::SeqCst);
        self.tally
    }

    fn next(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    /// Calls with an index first; the result, if there is one.
    fn call(&mut self, name: &str, args: &[u64]) -> Result<Option<u64>> {
        let func = self.instance.get_func(&self.store, name).unwrap();
        let ty = func.ty(&self.store);
        let args: Vec<Val> = args
            .iter()
            .zip(ty.params())
            .map(|(arg, ty)| match ty {
                ValType::I32 => Val::I32(*arg as u32 as i32),
                _ => Val::I64(arg.cast_signed()),
            })
            .collect();
        let mut results: Vec<Val> = ty
            .results()
            .iter()
            .map(|ty| Val::default_for(*ty))
            .collect();
        func.call(&mut self.store, &args, &mut results)?;
        Ok(results.first().map(|result| match result {
            Val::I32(value) => u64::from(value.cast_unsigned()),
            Val::I64(value) => value.cast_unsigned(),
            other => panic!("{other:?}"),
        }))
    }

    fn size(&mut self) -> u64 {
        self.call("size", &[]).unwrap().unwrap()
    }

    /// A cell of this thread's own keeps what was stored, and is in bounds.
    fn own_cell(&mut self) {
        let pages = self.size();
        let page = self.next() % pages;
        let index = page * PAGE + 64 * (self.number + 1);
        let value = self.next();
        self.call("store", &[index, value]).unwrap();
        let loaded = self.call("load", &[index]).unwrap();
        assert_eq!(loaded, Some(value), "at {index:#x} of {pages} pages");
        self.tally.values += 1;
    }

    /// Beyond what the memory can ever be, an access traps.
    fn far_beyond(&mut self) {
        let end = PAGES_MAX * PAGE;
        let span = match self.shared.memory64 {
            true => u64::MAX - end,
            false => u64::from(u32::MAX) - end,
        };
        let index = (end - 15 + self.next() % span) >> (self.next() % 8);
        let index = index.max(end - 15);
        let name = if self.next().is_multiple_of(2) {
            "load"
        } else {
            "store"
        };
        let outcome = self.call(name, &[index, 0x5555][..if name == "load" { 1 } else { 2 }]);
        self.trapped(index, outcome.unwrap_err());
    }

    /// At the end, where other threads are growing it: what is below a length that
    /// was read is in bounds, and what goes on is soon below one.
    fn at_the_edge(&mut self) {
        let before = self.size();
        let page = (before + self.next() % 3).saturating_sub(1);
        let index = page * PAGE + PAGE - 16;
        match self.call("load", &[index]) {
            Ok(_) => {
                let patience = Instant::now() + Duration::from_secs(20);
                while self.size() <= page {
                    assert!(Instant::now() < patience, "page {page} is beyond the end");
                }
            }
            Err(error) => {
                assert!(page >= before, "page {page} of {before} trapped");
                self.trapped(index, error);
            }
        }
    }

    fn trapped(&mut self, index: u64, error: Error) {
        let code = error.trap().map(|trap| trap.code);
        assert_eq!(code, Some(TrapCode::MemoryOutOfBounds), "{index:#x}");
        self.tally.traps += 1;
    }

    fn grow(&mut self) {
        let failed = match self.shared.memory64 {
            true => u64::MAX,
            false => u64::from(u32::MAX),
        };
        let old = self.call("grow", &[1]).unwrap().unwrap();
        if old == failed {
            assert_eq!(self.size(), PAGES_MAX);
            self.shared.is_full.store(true, Ordering::SeqCst);
            return;
        }
        assert!(self.size() > old);
        let is_new = self.shared.sizes.lock().unwrap().insert(old);
        assert!(is_new, "two growths returned {old}");
        self.tally.growths += 1;
    }
}
