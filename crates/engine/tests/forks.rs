//! Forked children: what they run is as safe and as right as in their parent, under
//! every form of every strategy, and neither sees what the other writes.
//!
//! Each test forks in a process of its own, which has no other thread at work.

#![allow(unsafe_code)]

mod common;

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fathom_engine::TrapCode;
use fathom_engine::*;

/// A memory that is compared page by page when it is used again, and one of whose
/// pages the kernel is asked; `I` is the type of an index.
const SHAPES: [u64; 2] = [1, 24];
const MODULE: &str = r#"(module
  (import "host" "fork" (func $fork))
  (memory (export "memory") MEMORY)
  (data (I.const 4096) "BYTES")
  (global $g (mut i32) (i32.const 5))
  (func (export "store") (param I i32) (i32.store (local.get 0) (local.get 1)))
  (func (export "load") (param I) (result i32) (i32.load (local.get 0)))
  (func (export "grow") (result I) (memory.grow (I.const 1)))
  (func (export "across") (param I) (result i32)
    (global.set $g (i32.const 6))
    (call $fork)
    (i32.store (local.get 0) (i32.const 9))
    (global.get $g)))"#;

fn wasm(memory64: bool, pages: u64) -> Vec<u8> {
    let (index, prefix) = if memory64 {
        ("i64", "i64")
    } else {
        ("i32", "")
    };
    let text = MODULE
        .replace("MEMORY", &format!("{prefix} {pages} {}", pages + 3))
        .replace("BYTES", &"\\2a".repeat(30_000))
        .replace("param I", &format!("param {index}"))
        .replace("result I", &format!("result {index}"))
        .replace("I.const", &format!("{index}.const"));
    wat::parse_str(text).unwrap()
}

/// How a child comes to be.
#[derive(Clone, Copy, Debug)]
enum Fork {
    /// By the C library, which tells who wants to know.
    Told,
    /// By the kernel alone.
    Untold,
}

impl Fork {
    /// 0 in the child.
    fn fork(self) -> libc::pid_t {
        // SAFETY: the process has no other thread that holds anything; the child of
        // `Untold` needs nothing of the C library's that is a process's own.
        unsafe {
            match self {
                Fork::Told => libc::fork(),
                Fork::Untold => {
                    libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as libc::pid_t
                }
            }
        }
    }
}

/// Waits for a child, which has to end well.
fn wait(child: libc::pid_t, what: &str) {
    let mut status = 0;
    // SAFETY: our own child.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "{what}: the child's status is {status:#x}");
}

/// Ends a child by whether it went well.
fn end(work: impl FnOnce()) -> ! {
    let went = catch_unwind(AssertUnwindSafe(work));
    let _ = std::io::stderr().flush();
    // SAFETY: ends the process, without what its parent is to do at its end.
    unsafe { libc::_exit(went.is_err().into()) }
}

/// Does something in a forked child.
fn in_child(fork: Fork, what: &str, work: impl FnOnce()) {
    match fork.fork() {
        0 => end(work),
        child => wait(child, what),
    }
}

/// What calls functions by name, whatever the index type.
struct Lease<'a> {
    pooled: Pooled<Option<Fork>>,
    memory64: bool,
    what: &'a str,
}

impl Lease<'_> {
    fn call(&mut self, name: &str, args: &[u64]) -> Result<u64, TrapCode> {
        let instance = self.pooled.instance();
        let func = instance.get_func(&self.pooled, name).unwrap();
        let ty = func.ty(&self.pooled);
        let params = ty.params().iter().zip(args);
        let args: Vec<Val> = params
            .map(|(ty, arg)| match ty {
                ValType::I64 => Val::I64(arg.cast_signed()),
                _ => Val::I32(*arg as i32),
            })
            .collect();
        let mut results: Vec<Val> = ty
            .results()
            .iter()
            .map(|ty| Val::default_for(*ty))
            .collect();
        match func.call(&mut self.pooled, &args, &mut results) {
            Ok(()) => Ok(match results.first() {
                Some(Val::I32(value)) => u64::from(value.cast_unsigned()),
                Some(Val::I64(value)) => value.cast_unsigned(),
                _ => 0,
            }),
            Err(error) => match error.trap() {
                Some(trap) => Err(trap.code),
                None => panic!("{}: {error}", self.what),
            },
        }
    }

    /// Stores around the end of a memory of `pages` pages trap, and no other.
    fn is_bounded(&mut self, pages: u64) {
        let end = pages << 16;
        let outside = Err(TrapCode::MemoryOutOfBounds);
        let far = if self.memory64 {
            u64::MAX - 3
        } else {
            0xffff_fffc
        };
        for at in [
            end - 3,
            end - 1,
            end,
            end + 4095,
            end + (1 << 20),
            0xffff_0000,
            far,
        ] {
            assert_eq!(
                self.call("store", &[at, 77]),
                outside,
                "{}: {at:#x}",
                self.what
            );
            assert_eq!(self.call("load", &[at]), outside, "{}: {at:#x}", self.what);
        }
        assert_eq!(self.call("load", &[end - 4]), Ok(0), "{}", self.what);
    }

    /// It is one that nobody has used.
    fn is_new(&mut self, pages: u64) {
        let memory = self
            .pooled
            .instance()
            .get_memory(&self.pooled, "memory")
            .unwrap();
        let bytes = memory.data(&self.pooled);
        let mut expected = vec![0; (pages << 16) as usize];
        expected[4096..4096 + 30_000].fill(0x2a);
        assert!(bytes == expected, "{}: bytes of another lease", self.what);
    }

    /// Grow by a page, of zeros, the last of which can be written.
    fn grow(&mut self, pages: u64) {
        assert_eq!(self.call("grow", &[]), Ok(pages), "{}", self.what);
        assert_eq!(self.call("load", &[pages << 16]), Ok(0), "{}", self.what);
        self.is_bounded(pages + 1);
        assert_eq!(
            self.call("store", &[(pages << 16) + 5, 3]),
            Ok(0),
            "{}",
            self.what
        );
    }
}

/// Each exact form of a strategy, a memory's index type and its pages, both kinds of
/// forks.
fn for_each(mut test: impl FnMut(&Pool<Option<Fork>>, bool, u64, Fork, &str)) {
    for memory64 in [false, true] {
        for bounds in Bounds::forms_for(memory64) {
            let text = if memory64 {
                "(module (memory i64 1))"
            } else {
                "(module (memory 1))"
            };
            let config = Config::new().bounds(BoundsChoice::Named(bounds));
            let is_exact = bounds.guarantee() == Guarantee::Exact;
            let Some(engine) = common::engine_with(config, bounds, text).filter(|_| is_exact)
            else {
                continue;
            };
            let mut linker = Linker::new(&engine);
            linker.func_wrap("host", "fork", forks).unwrap();
            for pages in SHAPES {
                let module = Module::new(&engine, wasm(memory64, pages)).unwrap();
                for fork in [Fork::Told, Fork::Untold] {
                    let limits = PoolLimits {
                        lanes: 1,
                        idle: 4,
                        resident_bytes: 2 << 20,
                    };
                    let pool = Pool::new(&linker, &module, limits).unwrap();
                    let what = format!("{bounds}, {memory64}, {pages} pages, {fork:?}");
                    test(&pool, memory64, pages, fork, &what);
                }
            }
        }
    }
}

/// The host's function: forks if it is told to, and is the child then.
fn forks(mut caller: Caller<'_, Option<Fork>>) -> Result<()> {
    if let Some(fork) = caller.data_mut().take() {
        let child = fork.fork();
        if child != 0 {
            wait(child, "forked in a host function");
        } else {
            *caller.data_mut() = Some(fork);
        }
    }
    Ok(())
}

fn lease<'a>(pool: &Pool<Option<Fork>>, memory64: bool, what: &'a str) -> Lease<'a> {
    Lease {
        pooled: pool.instantiate(None).unwrap(),
        memory64,
        what,
    }
}

#[test]
fn a_child_goes_on_with_what_its_parent_had() {
    if !common::is_alone("a_child_goes_on_with_what_its_parent_had") {
        return;
    }
    for_each(|pool, memory64, pages, fork, what| {
        let mut parents = lease(pool, memory64, what);
        assert_eq!(parents.call("store", &[100, 7]), Ok(0));
        in_child(fork, what, || {
            assert_eq!(parents.call("load", &[100]), Ok(7), "{what}");
            assert_eq!(parents.call("load", &[5000]), Ok(0x2a2a_2a2a), "{what}");
            parents.is_bounded(pages);
            assert_eq!(parents.call("store", &[100, 8]), Ok(0));
            assert_eq!(parents.call("store", &[200, 8]), Ok(0));
            parents.grow(pages);
            parents.grow(pages + 1);
            // And its own child with what it has.
            in_child(fork, what, || {
                assert_eq!(parents.call("load", &[100]), Ok(8), "{what}");
                parents.is_bounded(pages + 2);
            });
        });
        assert_eq!(parents.call("load", &[100]), Ok(7), "{what}");
        assert_eq!(parents.call("load", &[200]), Ok(0), "{what}");
        parents.is_bounded(pages);
        parents.grow(pages);
    });
}

#[test]
fn a_child_makes_instances_and_uses_them_again() {
    if !common::is_alone("a_child_makes_instances_and_uses_them_again") {
        return;
    }
    for_each(|pool, memory64, pages, fork, what| {
        // One that is idle when the child begins, restored in the parent.
        let mut first = lease(pool, memory64, what);
        assert_eq!(first.call("store", &[100, 7]), Ok(0));
        drop(first);
        assert_eq!(pool.idle(), 1);
        in_child(fork, what, || {
            for round in 0..3 {
                let mut old = lease(pool, memory64, what);
                let mut new = lease(pool, memory64, what);
                for lease in [&mut old, &mut new] {
                    lease.is_new(pages);
                    for at in (0..pages << 16).step_by(9000) {
                        assert_eq!(lease.call("store", &[at, round + 1]), Ok(0));
                    }
                    lease.grow(pages);
                }
            }
            assert_eq!(pool.idle(), 2, "{what}");
        });
        assert_eq!(pool.idle(), 1);
        lease(pool, memory64, what).is_new(pages);
    });
}

#[test]
fn a_child_that_is_forked_in_a_host_function_returns_to_wasm() {
    if !common::is_alone("a_child_that_is_forked_in_a_host_function_returns_to_wasm") {
        return;
    }
    for_each(|pool, memory64, pages, _, what| {
        for (at, expected) in [
            (100, Ok(6)),
            (pages << 16, Err(TrapCode::MemoryOutOfBounds)),
        ] {
            let mut lease = lease(pool, memory64, what);
            *lease.pooled.data_mut() = Some(Fork::Told);
            let outcome = lease.call("across", &[at]);
            let is_child = lease.pooled.data().is_some();
            let check = || assert_eq!(outcome, expected, "{what}, child: {is_child}");
            if is_child {
                end(check);
            }
            check();
        }
    });
}

/// The threads that compile are the parent's.
#[test]
fn a_child_compiles() {
    if common::is_emulated() || !common::is_alone("a_child_compiles") {
        return;
    }
    let engine = common::engine(Bounds::Trap).unwrap();
    let answers = |number: i32| {
        let functions = "(func (result i32) (i32.const 1))".repeat(number as usize);
        let text = format!(
            r#"(module (import "" "f" (func $f (param i64 f32) (result i32))) {functions}
                 (func (export "g") (result i32)
                   (i32.add (i32.const {number}) (call $f (i64.const 1) (f32.const 2)))))"#
        );
        let module = Module::new(&engine, wat::parse_str(text).unwrap()).unwrap();
        let mut linker = Linker::new(&engine);
        linker
            .func_wrap("", "f", move |_: Caller<'_, ()>, _: i64, _: f32| {
                10 * number
            })
            .unwrap();
        let mut store = Store::new(&engine, ());
        let instance = linker.instantiate(&mut store, &module).unwrap();
        let g = instance
            .get_func(&store, "g")
            .unwrap()
            .typed::<(), i32>(&store);
        assert_eq!(g.unwrap().call(&mut store, ()).unwrap(), 11 * number);
    };
    let module = wat::parse_str("(module (func) (func) (func))").unwrap();
    Module::new(&engine, &module).unwrap();
    for fork in [Fork::Told, Fork::Untold] {
        in_child(fork, "compiling", || {
            // SAFETY: ends a child that waits for ever.
            unsafe { libc::alarm(60) };
            (1..5).for_each(answers);
            in_child(fork, "compiling again", || answers(7));
        });
    }
    answers(3);
}

/// What optimises functions while they run is the parent's, with its locks: the child does without.
#[test]
fn a_child_goes_on_with_what_is_not_optimised_yet() {
    let name = "a_child_goes_on_with_what_is_not_optimised_yet";
    if common::is_emulated() || !common::is_alone(name) {
        return;
    }
    let wat = r#"(module (func (export "turns") (param i32) (result i32) (local $sum i32)
      (loop $turn
        (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 3)) (local.get 0)))
        (br_if $turn (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
      (local.get $sum)))"#;
    let config = Config::new().codegen(Codegen::Tiered).tier_up(100);
    let Ok(engine) = Engine::new(&config) else {
        eprintln!("SKIPPED: no tiers on this processor");
        return;
    };
    let (mut store, instance, module) = common::instance(&engine, wat);
    for fork in [Fork::Told, Fork::Untold] {
        in_child(fork, "not optimised", || {
            for _ in 0..20 {
                let results = common::call(&mut store, instance, "turns", &[Val::I32(5000)]);
                assert_eq!(results.unwrap()[0].i32(), Some(turns(5000)));
            }
            let threads = std::fs::read_dir("/proc/self/task").unwrap().count();
            assert_eq!((module.optimised_functions(), threads), (0, 1));
        });
    }
}

/// What a loop above comes to.
fn turns(from: i32) -> i32 {
    let turns = (1..=from).rev();
    turns.fold(0, |sum: i32, turn| sum.wrapping_mul(3).wrapping_add(turn))
}

/// A child that is not allowed what guards its memories runs nothing in them.
#[test]
fn a_child_whose_memories_cannot_be_guarded_is_refused() {
    if !common::is_alone("a_child_whose_memories_cannot_be_guarded_is_refused") {
        return;
    }
    let Some(engine) = common::engine(Bounds::Uffd) else {
        return;
    };
    let text =
        r#"(module (memory 1) (func (export "f") (i32.store (i32.const 65536) (i32.const 1))))"#;
    let module = Module::new(&engine, wat::parse_str(text).unwrap()).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let func = instance
        .get_func(&store, "f")
        .unwrap()
        .typed::<(), ()>(&store)
        .unwrap();
    in_child(Fork::Untold, "no descriptors", || {
        let none = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: takes a limit of this child.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &none) }, 0);
        for _ in 0..2 {
            let refused = func.call(&mut store, ()).unwrap_err();
            assert!(refused.trap().is_none());
            let text = refused.to_string();
            let expected = "no memory can be guarded by userfaultfd after a fork";
            assert!(text.starts_with(expected) && !text.contains('\n'), "{text}");
        }
    });
    let trap = func.call(&mut store, ()).unwrap_err();
    assert_eq!(trap.trap().unwrap().code, TrapCode::MemoryOutOfBounds);
}

/// What an earlier lease has left locked was written before the fork, so it is a mapping of its
/// own, apart from what nobody has touched: a growth over both, of which the host refuses the
/// second, opens neither.
#[cfg(target_os = "linux")]
#[test]
fn a_growth_that_is_refused_opens_nothing() {
    const NAME: &str = "a_growth_that_is_refused_opens_nothing";
    if common::is_emulated() || !common::is_alone(NAME) {
        return;
    }
    let exact = |it: &Bounds| it.guarantee() == Guarantee::Exact;
    for bounds in Bounds::forms_for(false).filter(exact) {
        let Some(engine) = common::engine(bounds) else {
            continue;
        };
        let wat = "(module (memory 1 4000)
            (func (export \"fill\") (param i32)
              (memory.fill (i32.const 65536) (i32.const 7) (local.get 0)))
            (func (export \"load\") (param i32) (result i32) (i32.load (local.get 0)))
            (func (export \"grow\") (param i32) (result i32) (memory.grow (local.get 0))))";
        let module = Module::new(&engine, wat::parse_str(wat).unwrap()).unwrap();
        let limits = PoolLimits {
            lanes: 1,
            idle: 1,
            resident_bytes: 32 << 20,
        };
        let pool = Pool::new(&Linker::new(&engine), &module, limits).unwrap();
        let [grow, load] = ["grow", "load"].map(|name| pool.func::<i32, i32>(name).unwrap());
        let fill = pool.func::<i32, ()>("fill").unwrap();
        let mut lease = pool.instantiate(()).unwrap();
        assert_eq!(lease.func(&grow).unwrap().call(&mut lease, 64).unwrap(), 1);
        lease
            .func(&fill)
            .unwrap()
            .call(&mut lease, 64 << 16)
            .unwrap();
        in_child(Fork::Told, bounds.name(), || {
            drop(lease);
            let mut lease = pool.instantiate(()).unwrap();
            let (grow, load) = (lease.func(&grow).unwrap(), lease.func(&load).unwrap());
            // Room for what was left, and not for as much as is wanted.
            limit_data(data_bytes() + (16 << 20));
            let grown = grow.call(&mut lease, 3900).unwrap();
            limit_data(u64::MAX);
            // Where it is all mapped writable beforehand nothing is refused.
            assert_eq!(grown == -1, is_refused(bounds), "{bounds}: {grown}");
            for page in (1..=64).filter(|_| grown == -1) {
                let outside = load.call(&mut lease, page << 16).unwrap_err();
                let code = outside.trap().expect("a trap").code;
                assert_eq!(code, TrapCode::MemoryOutOfBounds, "{bounds}, page {page}");
            }
        });
    }
}

/// Whether growing makes pages writable.
#[cfg(target_os = "linux")]
fn is_refused(bounds: Bounds) -> bool {
    bounds.name() != "uffd"
}

/// Bytes that the process has of what `RLIMIT_DATA` is about.
#[cfg(target_os = "linux")]
fn data_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmData:")).unwrap();
    let kib = line.trim().trim_end_matches(" kB");
    kib.parse::<u64>().unwrap() << 10
}

#[cfg(target_os = "linux")]
fn limit_data(bytes: u64) {
    let limit = libc::rlimit {
        rlim_cur: bytes,
        rlim_max: u64::MAX,
    };
    // SAFETY: a limit of this process, which runs this test only.
    let set = unsafe { libc::setrlimit(libc::RLIMIT_DATA, &raw const limit) };
    assert_eq!(set, 0);
}
