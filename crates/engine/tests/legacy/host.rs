//! What `catch_all` sees of the host: what it throws, also from further in, and nothing
//! else that ends a call.

use std::time::Duration;

use fathom_engine::*;

use crate::engines;

const MODULE: &str = r#"(module
  (import "host" "f" (func $f (param i32)))
  (import "host" "tag" (tag $theirs (param i32)))
  (tag $ours (export "ours") (param i32))
  (func (export "throw") (param i32) (throw $ours (i32.add (local.get 0) (i32.const 1))))
  (func (export "run") (param i32) (result i32)
    try (result i32)
      try (result i32)
        (call $f (local.get 0))
        (i32.const 0)
      catch $ours
        (i32.add (i32.const 100))
      catch_all
        (rethrow 0)
      end
    catch $theirs
      (i32.add (i32.const 200))
    catch_all
      (i32.const -1)
    end)
  (func (export "endless")
    try (loop (br 0)) catch_all end)
  (func (export "endless clause")
    try (throw $ours (i32.const 1)) catch_all (loop (br 0)) end))"#;

struct Guest {
    store: Store<()>,
    instance: Instance,
}

/// 0: nothing, 1: theirs, 2: ours, thrown by the module itself, 3: an error.
fn guest(engine: &Engine) -> Guest {
    let module = Module::new(engine, wat::parse_str(MODULE).unwrap()).unwrap();
    let mut store = Store::new(engine, ());
    let _ = store.set_fuel(1_000_000);
    let ty = FuncType::new([ValType::I32], []);
    let tag = Tag::new(&mut store, &ty).unwrap();
    let host = move |mut caller: Caller<'_, ()>, how: i32| -> Result<()> {
        match how {
            0 => Ok(()),
            1 => Err(ExnRef::new(&mut caller, tag, &[Val::I32(how)])?.into()),
            2 => {
                let throw = caller.get_export("throw").unwrap().into_func().unwrap();
                throw.call(&mut caller, &[Val::I32(how)], &mut [])
            }
            _ => Err(Error::host("no exception")),
        }
    };
    let host = Func::wrap(&mut store, host).unwrap();
    let instance = Instance::new(&mut store, &module, &[host.into(), tag.into()]).unwrap();
    Guest { store, instance }
}

impl Guest {
    fn run(&mut self, how: i32) -> Result<i32> {
        let func = self.instance.get_func(&self.store, "run").unwrap();
        let mut results = [Val::I32(0)];
        func.call(&mut self.store, &[Val::I32(how)], &mut results)?;
        Ok(results[0].i32().unwrap())
    }

    fn endless(&mut self, name: &str) -> Error {
        let func = self.instance.get_func(&self.store, name).unwrap();
        func.call(&mut self.store, &[], &mut []).unwrap_err()
    }
}

#[test]
fn what_the_host_throws_is_caught_and_its_errors_are_not() {
    for (name, engine) in engines() {
        let mut guest = guest(&engine);
        for _ in 0..3 {
            assert_eq!(guest.run(0).unwrap(), 0, "{name}");
            assert_eq!(guest.run(1).unwrap(), 201, "{name}");
            assert_eq!(guest.run(2).unwrap(), 103, "{name}");
            let error = format!("{:#}", guest.run(3).unwrap_err());
            assert!(error.contains("no exception"), "{name}: {error}");
        }
    }
}

#[test]
fn what_ends_a_program_is_no_exception() {
    for name in ["endless", "endless clause"] {
        let fuel = Engine::new(&Config::new().consume_fuel(true)).unwrap();
        let error = guest(&fuel).endless(name);
        assert_eq!(
            error.trap().map(|trap| trap.code),
            Some(TrapCode::OutOfFuel)
        );

        let mut guest = guest(&Engine::new(&Config::new()).unwrap());
        let interrupt = Interrupt::new();
        guest.store.set_interrupt(&interrupt);
        let error = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(30));
                interrupt.stop(Duration::from_secs(20));
            });
            guest.endless(name)
        });
        assert_eq!(
            error.trap().map(|trap| trap.code),
            Some(TrapCode::Interrupted)
        );
    }
}
