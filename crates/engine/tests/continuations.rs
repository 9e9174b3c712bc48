//! Continuations and the host: calls out of them and back in, traps, interrupts, limits,
//! references that only they hold, pools, threads.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fathom_engine::{
    AsContextMut, Caller, Codegen, Compilation, Config, Engine, Error, ErrorKind, ExternRef, Func,
    Instance, Interrupt, Linker, Module, Pool, PoolLimits, Quota, Resource, Result, Store,
    TrapCode, Val,
};

#[path = "common/ways.rs"]
mod ways;

/// A configuration that compiles as it is asked for.
fn config() -> Config {
    ways::Way::asked_for().of(Config::new())
}

/// What every module here begins with.
const HEAD: &str = r#"
  (type $p (func)) (type $c (cont $p))
  (type $r (func (result i32))) (type $d (cont $r))
  (tag $t) (tag $x (param i32))
  (import "host" "call" (func $host (param i32)))
"#;

struct Guest {
    store: Store<Option<Func>>,
    instance: Instance,
}

type Host = fn(Caller<'_, Option<Func>>, i32) -> Result<()>;

fn nothing(_: Caller<'_, Option<Func>>, _: i32) -> Result<()> {
    Ok(())
}

fn module(engine: &Engine, body: &str) -> Module {
    // Imports stand before everything else but types.
    let (types, import) = HEAD.split_once("(tag").unwrap();
    let (tags, import) = import.split_once("(import").unwrap();
    let text = format!("(module {types} (import {import} (tag {tags} {body})");
    Module::new(engine, wat::parse_str(text).unwrap()).unwrap()
}

fn guest_with(config: &Config, host: Host, body: &str) -> Guest {
    let engine = Engine::new(config).unwrap();
    let module = module(&engine, body);
    let mut store = Store::new(&engine, None);
    let mut linker = Linker::new(&engine);
    linker.func_wrap("host", "call", host).unwrap();
    let instance = linker.instantiate(&mut store, &module).unwrap();
    Guest { store, instance }
}

fn guest(host: Host, body: &str) -> Guest {
    guest_with(&config(), host, body)
}

impl Guest {
    fn func(&self, name: &str) -> Func {
        self.instance.get_func(&self.store, name).unwrap()
    }

    fn call(&mut self, name: &str, args: &[Val]) -> Result<Option<Val>> {
        let func = self.func(name);
        let mut results = vec![Val::I32(0); func.ty(&self.store).results().len()];
        func.call(&mut self.store, args, &mut results)?;
        Ok(results.pop())
    }

    fn run(&mut self, name: &str) -> Result<i32> {
        let result = self.call(name, &[])?;
        Ok(result.and_then(|value| value.i32()).unwrap_or_default())
    }
}

fn code(error: &Error) -> TrapCode {
    error.trap().unwrap_or_else(|| panic!("{error}")).code
}

fn names(error: &Error) -> Vec<String> {
    let frames = error.frames().iter();
    frames.filter_map(|f| f.func_name.clone()).collect()
}

#[test]
fn host_code_runs_on_the_threads_own_stack() {
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    fn host(_: Caller<'_, Option<Func>>, _: i32) -> Result<()> {
        // More than any stack of a continuation has.
        let room = std::hint::black_box([1u8; 64 << 10]);
        SEEN.store(room.as_ptr() as usize, Ordering::SeqCst);
        Ok(())
    }
    let mut guest = guest(
        host,
        r#"(func $out (call $host (i32.const 1)))
           (elem declare func $out)
           (func (export "run") (resume $c (cont.new $c (ref.func $out))))"#,
    );
    guest.run("run").unwrap();
    let here = std::ptr::from_ref(&guest) as usize;
    assert!(SEEN.load(Ordering::SeqCst).abs_diff(here) < 1 << 20);
}

/// Calls back what the store has.
fn again(mut caller: Caller<'_, Option<Func>>, argument: i32) -> Result<()> {
    let func = caller.data().expect("set before");
    func.call(caller.as_context(), &[Val::I32(argument)], &mut [])
}

trait AsContextRef: AsContextMut + Sized {
    fn as_context(&mut self) -> &mut Self {
        self
    }
}
impl<C: AsContextMut> AsContextRef for C {}

const NESTED: &str = r#"
    (func $out (call $host (i32.const 3)))
    (func $outer (call $host (i32.const 0)))
    (func $inner (suspend $t))
    (func $traps unreachable)
    (func $throws (throw $x (i32.const 9)))
    (elem declare func $out $outer $inner $traps $throws)
    (func (export "back") (param i32)
      (block $other
        (br_if $other (i32.eqz (local.get 0)))
        (if (i32.eq (local.get 0) (i32.const 2)) (then (resume $c (cont.new $c (ref.func $traps)))))
        (if (i32.eq (local.get 0) (i32.const 4)) (then (resume $c (cont.new $c (ref.func $throws)))))
        (block $h (result (ref $c))
          (resume $c (on $t $h) (cont.new $c (ref.func $inner)))
          (return))
        (resume $c)
        (return))
      ;; Nobody handles it: the clause is beyond the host's frames.
      (suspend $t))
    (func (export "well") (result i32)
      (resume $c (cont.new $c (ref.func $out))) (i32.const 5))
    (func (export "beyond") (result i32)
      (block $h (result (ref $c))
        (resume $c (on $t $h) (cont.new $c (ref.func $outer)))
        (return (i32.const 1)))
      (drop) (i32.const 2))
    (func $two (call $host (i32.const 2)))
    (func $four (call $host (i32.const 4)))
    (elem declare func $two $four)
    (func (export "trap") (resume $c (cont.new $c (ref.func $two))))
    (func (export "throw") (result i32)
      (block $h (result i32)
        (try_table (catch $x $h) (resume $c (cont.new $c (ref.func $four))))
        (i32.const 0)))
"#;

#[test]
fn the_host_enters_again_from_a_continuation() {
    let mut guest = guest(again, NESTED);
    let back = guest.func("back");
    *guest.store.data_mut() = Some(back);
    for _ in 0..3 {
        assert_eq!(guest.run("well").unwrap(), 5);
        let error = guest.run("beyond").unwrap_err();
        assert_eq!(code(&error), TrapCode::UnhandledTag);
        let error = guest.run("trap").unwrap_err();
        assert_eq!(code(&error), TrapCode::Unreachable);
        assert_eq!(names(&error), ["traps", "back", "two", "trap"]);
        assert_eq!(guest.run("throw").unwrap(), 9);
    }
}

#[test]
fn a_backtrace_goes_from_stack_to_stack() {
    let mut guest = guest(
        nothing,
        r#"(func $leaf unreachable)
           (func $below (call $leaf))
           (func $middle (resume $c (cont.new $c (ref.func $below))))
           (func $throws (throw $x (i32.const 1)))
           (func $between (resume $c (cont.new $c (ref.func $throws))))
           (elem declare func $below $middle $throws $between)
           (func (export "run") (resume $c (cont.new $c (ref.func $middle))))
           (func (export "throw") (resume $c (cont.new $c (ref.func $between))))"#,
    );
    let error = guest.run("run").unwrap_err();
    assert_eq!(names(&error), ["leaf", "below", "middle", "run"]);
    let error = guest.run("throw").unwrap_err();
    assert!(error.exception().is_some());
    assert_eq!(names(&error), ["throws", "between", "throw"]);
}

#[test]
fn a_resume_has_as_many_clauses_as_it_likes() {
    for clauses in [1usize, 3, 4, 60, 61, 62, 63, 64, 65, 200] {
        let mut body =
            String::from("(type $i (func (param i32) (result i32))) (type $k (cont $i))");
        let (mut on, mut blocks, mut ends, mut which) = Default::default();
        let add = |text: &mut String, more: String| text.push_str(&more);
        for i in 0..clauses {
            add(&mut body, format!("(tag $t{i})"));
            add(&mut on, format!("(on $t{i} $h{i})"));
            blocks = format!("(block $h{i} (result (ref $d)) {blocks}");
            add(&mut ends, format!(") (drop) (return (i32.const {i}))"));
            add(
                &mut which,
                format!("(if (i32.eq (local.get 0) (i32.const {i})) (then (suspend $t{i})))"),
            );
        }
        add(
            &mut body,
            format!(
                "(func $which (param i32) (result i32) {which}
                   (if (i32.lt_s (local.get 0) (i32.const 0)) (then (throw $x (i32.const -7))))
                   (i32.const -1))
                 (elem declare func $which)
                 (func $run (param i32) (result i32)
                   {blocks} (return (resume $k {on} (local.get 0) (cont.new $k (ref.func $which))))
                   {ends} (unreachable))
                 (func (export \"run\") (param i32) (result i32)
                   (block $h (result i32)
                     (try_table (result i32) (catch $x $h) (call $run (local.get 0)))))"
            ),
        );
        let mut guest = guest(nothing, &body);
        let expected = |i: i32| match i {
            i32::MIN..0 => -7,
            i if (i as usize) < clauses => i,
            _ => -1,
        };
        for i in -1..clauses as i32 + 2 {
            let result = guest.call("run", &[Val::I32(i)]).unwrap().unwrap();
            assert_eq!(result.i32(), Some(expected(i)), "{i} of {clauses}");
        }
    }
}

#[test]
fn an_interrupt_ends_what_switches_all_the_time() {
    let body = r#"
        (memory 1)
        (func $switches (loop $l (suspend $t) (br $l)))
        (func $calls (loop $l (call $host (i32.const 0)) (suspend $t) (br $l)))
        (func $grows (loop $l (drop (memory.grow (i32.const 0))) (suspend $t) (br $l)))
        (func $makes (loop $l (resume $c (cont.new $c (ref.func $nothing))) (br $l)))
        (func $nothing)
        (func $waits (suspend $t))
        (elem declare func $switches $calls $grows $makes $nothing $waits)
        (func $drive (param $f (ref $p)) (local $c (ref $c))
          (local.set $c (cont.new $c (local.get $f)))
          (loop $l
            (block $h (result (ref $c)) (resume $c (on $t $h) (local.get $c)) (return))
            (local.set $c) (br $l)))
        (func (export "switches") (call $drive (ref.func $switches)))
        (func (export "calls") (call $drive (ref.func $calls)))
        (func (export "grows") (call $drive (ref.func $grows)))
        (func (export "makes") (call $drive (ref.func $makes)))
        (func (export "one") (result i32)
          (block $h (result (ref $c))
            (resume $c (on $t $h) (cont.new $c (ref.func $waits))) (return (i32.const 1)))
          (resume $c) (i32.const 2))"#;
    let mut guest = guest(nothing, body);
    for name in ["switches", "calls", "grows", "makes"] {
        for delay_us in [100, 1000, 5000] {
            let interrupt = Interrupt::new();
            guest.store.set_interrupt(&interrupt);
            let error = std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(Duration::from_micros(delay_us));
                    assert!(interrupt.stop(Duration::from_secs(60)), "{name} goes on");
                });
                guest.run(name).unwrap_err()
            });
            assert_eq!(code(&error), TrapCode::Interrupted, "{name}");
            assert!(interrupt.clear());
            assert_eq!(guest.run("one").unwrap(), 2, "{name}");
        }
    }
}

#[test]
fn what_only_a_suspended_stack_holds_is_kept() {
    let config = config().quota(Quota {
        extern_refs: 200,
        exception_bytes: 64 << 10,
        ..Quota::default()
    });
    let body = r#"
        (type $e (func (param externref) (result externref)))
        (type $k (cont $e))
        (type $n (func (result externref)))
        (type $m (cont $n))
        (type $q (func (param i32) (result i32)))
        (type $j (cont $q))
        (global $kept (mut (ref null $m)) (ref.null $m))
        (global $caught (mut (ref null $d)) (ref.null $d))
        (func $holds (param externref) (result externref) (suspend $t) (local.get 0))
        (func $catches (param i32) (result i32) (local $e exnref)
          (block $h (result i32 exnref)
            (try_table (catch_ref $x $h) (throw $x (local.get 0)))
            (unreachable))
          (local.set $e) (drop)
          (suspend $t)
          (block $h (result i32) (try_table (catch $x $h) (throw_ref (local.get $e))) (unreachable)))
        (elem declare func $holds $catches)
        (func (export "hold") (param externref)
          (block $h (result (ref $m))
            (drop (resume $k (on $t $h) (local.get 0) (cont.new $k (ref.func $holds))))
            (return))
          (global.set $kept))
        (func (export "bind") (param externref)
          (global.set $kept (cont.bind $k $m (local.get 0) (cont.new $k (ref.func $echo)))))
        (func $echo (param externref) (result externref) (local.get 0))
        (elem declare func $echo)
        (func (export "catch") (param i32)
          (block $h (result (ref $d))
            (drop (resume $j (on $t $h) (local.get 0) (cont.new $j (ref.func $catches))))
            (return))
          (global.set $caught))
        (func (export "many") (param i32)
          (loop $l
            (block $h (result exnref)
              (try_table (catch_all_ref $h) (throw $x (local.get 0))) (unreachable))
            (drop)
            (br_if $l (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))
        (func (export "drop") (param externref))
        (func (export "get") (result externref) (resume $m (global.get $kept)))
        (func (export "caught") (result i32) (resume $d (global.get $caught)))"#;
    let mut guest = guest_with(&config, nothing, body);
    for how in ["hold", "bind"] {
        let value = ExternRef::new(7u32);
        guest
            .call(how, &[Val::ExternRef(Some(value.clone()))])
            .unwrap();
        guest.call("catch", &[Val::I32(41)]).unwrap();
        for other in 0..2000u32 {
            let other = Val::ExternRef(Some(ExternRef::new(other)));
            guest.call("drop", &[other]).unwrap();
        }
        guest.call("many", &[Val::I32(5000)]).unwrap();
        let Some(Val::ExternRef(Some(found))) = guest.call("get", &[]).unwrap() else {
            panic!("{how}: it is gone");
        };
        assert!(found.ptr_eq(&value), "{how}");
        assert_eq!(guest.run("caught").unwrap(), 41);
    }
}

const SUSPENDING: &str = r#"
    (table $all 0 100000 (ref null $c))
    (func $waits (suspend $t))
    (func $nothing)
    (elem declare func $waits $nothing)
    (func $one (result (ref $c))
      (block $h (result (ref $c))
        (resume $c (on $t $h) (cont.new $c (ref.func $waits)))
        (unreachable)))
    (func (export "more") (param i32)
      (loop $l
        (drop (table.grow $all (call $one) (i32.const 1)))
        (br_if $l (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))
    (func (export "drop") (param i32)
      (loop $l
        (drop (call $one))
        (br_if $l (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))
    (func (export "new") (param i32)
      (loop $l
        (drop (cont.new $c (ref.func $waits)))
        (br_if $l (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))
    (func (export "finish") (param i32)
      (loop $l
        (resume $c (cont.new $c (ref.func $nothing)))
        (br_if $l (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))
    (func (export "finish-later") (param i32) (local $c (ref null $c))
      (loop $l
        (local.set $c (cont.new $c (ref.func $nothing)))
        (resume $c (local.get $c))
        (br_if $l (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))
    (func (export "end") (local $i i32)
      (loop $l
        (resume $c (table.get $all (local.get $i)))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br_if $l (i32.lt_u (local.get $i) (table.size $all)))))
"#;

#[test]
fn they_count_against_the_quota_of_their_store() {
    let quota = Quota {
        stack_bytes: 1 << 20,
        ..Quota::default()
    };
    let config = config().quota(quota);
    for (name, most) in [("more", 255), ("drop", 255), ("new", 20_000)] {
        let mut guest = guest_with(&config, nothing, SUSPENDING);
        let error = guest.call(name, &[Val::I32(most)]).unwrap_err();
        assert_eq!(code(&error), TrapCode::LimitExceeded, "{name}");
        let said = error.to_string();
        assert!(
            said.contains("of continuations are beyond the limit"),
            "{said}"
        );
        let used = guest.store.allowance().used(Resource::StackBytes);
        assert!(used <= 1 << 20, "{used}");
        let allowance = guest.store.allowance().clone();
        drop(guest);
        assert_eq!(allowance.used(Resource::StackBytes), 0);
    }
    // What finished is used again.
    let mut guest = guest_with(&config, nothing, SUSPENDING);
    guest.call("finish", &[Val::I32(100_000)]).unwrap();
    guest.call("finish-later", &[Val::I32(100_000)]).unwrap();
    guest.call("more", &[Val::I32(200)]).unwrap();
    guest.call("end", &[]).unwrap();
    guest.call("drop", &[Val::I32(200)]).unwrap();
}

#[test]
fn a_stack_beyond_the_address_space_is_refused() {
    let body = r#"
        (type $q (func)) (type $k (cont $q))
        (func $f) (elem declare func $f)
        (func (export "f") (resume $k (cont.new $k (ref.func $f))))"#;
    for bytes in [usize::MAX / 2, usize::MAX - 4095, usize::MAX] {
        let config = config().continuation_stack(bytes);
        let error = guest_with(&config, nothing, body)
            .call("f", &[])
            .unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains("no address space for continuations"),
            "{bytes}: {said}"
        );
    }
}

#[test]
fn a_stack_is_as_large_as_it_was_said() {
    let body = r#"
        (type $q (func (param i32) (result i32))) (type $k (cont $q))
        (func $deep (param i32) (result i32)
          (if (result i32) (local.get 0)
            (then (i32.add (call $deep (i32.sub (local.get 0) (i32.const 1))) (i32.const 1)))
            (else (i32.const 0))))
        (elem declare func $deep)
        (func (export "deep") (param i32) (result i32)
          (resume $k (local.get 0) (cont.new $k (ref.func $deep))))"#;
    let deepest = |bytes: usize| {
        // Too little for it to go on elsewhere.
        let config = config().continuation_stack(bytes).max_wasm_stack(64 << 10);
        let mut guest = guest_with(&config, nothing, body);
        let fits = |depth: i32, guest: &mut Guest| match guest.call("deep", &[Val::I32(depth)]) {
            Ok(result) => {
                assert_eq!(result.and_then(|value| value.i32()), Some(depth));
                true
            }
            Err(error) => {
                assert_eq!(code(&error), TrapCode::StackExhausted);
                false
            }
        };
        (0..20)
            .map(|bit| 1 << bit)
            .take_while(|depth| fits(*depth, &mut guest))
            .count()
    };
    let page = deepest(1);
    assert!(page >= 4, "2^{page} frames in a page");
    assert!(deepest(64 << 10) >= page + 3);
}

#[test]
fn a_lease_in_a_pool_begins_without_continuations() {
    let quota = Quota {
        stack_bytes: 1 << 20,
        ..Quota::default()
    };
    let engine = Engine::new(&config().quota(quota)).unwrap();
    let module = module(&engine, SUSPENDING);
    let mut linker = Linker::new(&engine);
    let nothing = |_: Caller<'_, ()>, _: i32| {};
    linker.func_wrap("host", "call", nothing).unwrap();
    let pool = Pool::new(&linker, &module, PoolLimits::default()).unwrap();
    for _ in 0..3 {
        let mut lease = pool.instantiate(()).unwrap();
        let instance = lease.instance();
        let more = instance.get_func(&lease, "more").unwrap();
        more.call(&mut lease, &[Val::I32(100)], &mut []).unwrap();
        // It has the quota for these once, and for no others.
        let error = more
            .call(&mut lease, &[Val::I32(200)], &mut [])
            .unwrap_err();
        assert_eq!(code(&error), TrapCode::LimitExceeded);
    }
}

#[test]
fn a_store_with_suspended_ones_goes_on_in_another_thread() {
    let mut guest = guest(nothing, SUSPENDING);
    guest.call("more", &[Val::I32(500)]).unwrap();
    let mut guest = std::thread::spawn(move || {
        guest.call("more", &[Val::I32(500)]).unwrap();
        guest
    })
    .join()
    .unwrap();
    guest.call("end", &[]).unwrap();
}

#[test]
fn the_host_hands_on_what_it_was_given_and_nothing_else() {
    let body = r#"
        (func $five (result i32) (i32.const 5))
        (func $nothing)
        (elem declare func $five $nothing)
        (func (export "new") (result (ref $d)) (cont.new $d (ref.func $five)))
        (func (export "other") (result (ref $c)) (cont.new $c (ref.func $nothing)))
        (func (export "run") (param (ref null $d)) (result i32) (resume $d (local.get 0)))"#;
    let mut guest = guest(nothing, body);
    let five = guest.call("new", &[]).unwrap().unwrap();
    let other = guest.call("other", &[]).unwrap().unwrap();
    assert!(matches!(five, Val::ContRef(Some(_))), "{five:?}");
    let refused = guest.call("run", &[other]).unwrap_err();
    assert!(
        matches!(refused.kind(), ErrorKind::Mismatch(_)),
        "{refused}"
    );
    let result = guest
        .call("run", std::slice::from_ref(&five))
        .unwrap()
        .unwrap();
    assert_eq!(result.i32(), Some(5));
    let again = guest.call("run", std::slice::from_ref(&five)).unwrap_err();
    assert_eq!(code(&again), TrapCode::ConsumedContinuation);
    let null = guest.call("run", &[Val::ContRef(None)]).unwrap_err();
    assert_eq!(code(&null), TrapCode::NullContinuation);
    let mut stranger = self::guest(nothing, body);
    let refused = stranger.call("run", &[five]).unwrap_err();
    assert!(refused.to_string().contains("another store"), "{refused}");
}

#[test]
fn a_module_without_them_is_called_on_their_stacks() {
    // Instantiated first, so that its code has what a store without continuations has.
    let engine = Engine::new(&config()).unwrap();
    let parse = |text: &str| Module::new(&engine, wat::parse_str(text).unwrap()).unwrap();
    let mut store = Store::new(&engine, 0u32);
    let mut linker = Linker::new(&engine);
    let here = std::ptr::from_ref(&engine) as usize;
    let count = move |mut caller: Caller<'_, u32>| {
        let room = std::hint::black_box([1u8; 64 << 10]);
        let is_near = here.abs_diff(room.as_ptr() as usize) < 1 << 20;
        *caller.data_mut() += u32::from(room[100]) * u32::from(is_near);
    };
    linker.func_wrap("host", "count", count).unwrap();
    let plain = parse(
        r#"(module (import "host" "count" (func $count)) (memory 1)
             (func (export "work") (result i32)
               (call $count) (drop (memory.grow (i32.const 1)))
               (memory.fill (i32.const 0) (i32.const 7) (i32.const 1000))
               (call $count) (i32.load8_u (i32.const 999))))"#,
    );
    let instance = linker.instantiate(&mut store, &plain).unwrap();
    linker.instance(&store, "plain", instance).unwrap();
    let switching = parse(
        r#"(module (type $r (func (result i32))) (type $d (cont $r))
             (import "plain" "work" (func $work (result i32)))
             (import "host" "count" (func $count))
             (type $p (func)) (type $c (cont $p))
             (elem declare func $work $count)
             (func (export "run") (result i32)
               (resume $c (cont.new $c (ref.func $count)))
               (resume $d (cont.new $d (ref.func $work)))))"#,
    );
    // The second one's functions of the host are placed where there are stacks already.
    for counted in [3, 6] {
        let instance = linker.instantiate(&mut store, &switching).unwrap();
        let run = instance.get_func(&store, "run").unwrap();
        let mut results = [Val::I32(0)];
        run.call(&mut store, &[], &mut results).unwrap();
        assert_eq!(results[0].i32(), Some(7));
        assert_eq!(*store.data(), counted);
    }
}
