//! A program in the engine: two instances of its module, and what the host does for them.

use std::sync::Arc;

use fathom_engine::{
    Caller, Engine, Error, ExnRef, Extern, ExternType, Func, Global, Instance, Linker, Module,
    Store, Table, TableType, Tag, TrapCode, Val,
};

use super::interpret::{self, End, State};
use super::program::{BUDGET, GLOBALS, Host, NESTED_MAX, Program, Ty, arguments, digest, many};

/// What the host's functions know.
pub struct Known {
    program: Arc<Program>,
    /// The tags that are shared, by their number; nothing for the others.
    tags: Vec<Option<Tag>>,
    /// Calls into the guest that are open.
    nested: u32,
}

/// Both instances.
pub struct Guest {
    pub store: Store<Known>,
    instances: [Instance; 2],
    budget: Global,
}

fn val(ty: Ty, bits: u128) -> Val {
    match ty {
        Ty::I32 => Val::I32(bits as u32 as i32),
        Ty::I64 => Val::I64(bits as u64 as i64),
        Ty::F32 => Val::F32(bits as u32),
        Ty::F64 => Val::F64(bits as u64),
        Ty::V128 => Val::V128(bits),
        Ty::Exn => Val::ExnRef(None),
    }
}

fn bits(value: &Val) -> u128 {
    match value {
        Val::I32(value) => u128::from(value.cast_unsigned()),
        Val::I64(value) => u128::from(value.cast_unsigned()),
        Val::F32(value) => u128::from(*value),
        Val::F64(value) => u128::from(*value),
        Val::V128(value) => *value,
        Val::ExnRef(reference) => u128::from(reference.is_some()),
        other => unreachable!("{other:?} is no value of these programs"),
    }
}

fn vals(types: &[Ty], values: &[u128]) -> Vec<Val> {
    let pairs = types.iter().zip(values);
    pairs.map(|(ty, bits)| val(*ty, *bits)).collect()
}

/// A call of a function with bits.
fn call(
    store: impl fathom_engine::AsContextMut,
    func: &Func,
    types: (&[Ty], &[Ty]),
    given: &[u128],
) -> Result<Vec<u128>, Error> {
    let mut results: Vec<Val> = types.1.iter().map(|ty| val(*ty, 0)).collect();
    func.call(store, &vals(types.0, given), &mut results)?;
    Ok(results.iter().map(bits).collect())
}

/// What the functions of the host do.
fn host(
    caller: &mut Caller<'_, Known>,
    host: Host,
    given: &[Val],
    results: &mut [Val],
) -> Result<(), Error> {
    let given: Vec<u128> = given.iter().map(bits).collect();
    let types = host.sig().results;
    if host == Host::Many {
        results.clone_from_slice(&vals(&types, &many(&given)));
        return Ok(());
    }
    let (which, number) = (given[0] as u32, given[1] as u64 as i64);
    let program = Arc::clone(&caller.data().program);
    if host == Host::Raise {
        let tag = program.raised(which);
        let types = &program.tags[tag];
        let values = vals(types, &arguments(types, number));
        let tag = caller.data().tags[tag].expect("it is shared");
        return Err(ExnRef::new(caller, tag, &values)?.into());
    }
    let result = match back(caller, &program, which, number) {
        Err(error) if host == Host::Tries => tried(caller, error)?,
        other => other?,
    };
    results[0] = Val::I64(result);
    Ok(())
}

fn back(
    caller: &mut Caller<'_, Known>,
    program: &Program,
    which: u32,
    number: i64,
) -> Result<i64, Error> {
    if caller.data().nested == NESTED_MAX {
        return Ok(-1);
    }
    let func = program.called(which);
    let sig = &program.funcs[func].sig;
    let found = caller.get_export(&format!("f{func}"));
    let found = found.and_then(Extern::into_func).expect("it is exported");
    caller.data_mut().nested += 1;
    let given = arguments(&sig.params, number);
    let ended = call(&mut *caller, &found, (&sig.params, &sig.results), &given);
    caller.data_mut().nested -= 1;
    Ok(digest(&sig.results, &ended?))
}

/// What ended a call, as a number; what nobody knows of ends this one, too.
fn tried(caller: &Caller<'_, Known>, error: Error) -> Result<i64, Error> {
    if let Some(exception) = error.exception() {
        let values = exception.values(caller);
        let types: Vec<Ty> = values.iter().map(type_of).collect();
        let bits: Vec<u128> = values.iter().map(bits).collect();
        return Ok(digest(&types, &bits));
    }
    match error.trap().map(|trap| trap.code) {
        None | Some(TrapCode::StackExhausted) => Err(error),
        Some(code) => Ok(code as i64),
    }
}

fn type_of(value: &Val) -> Ty {
    match value {
        Val::I32(_) => Ty::I32,
        Val::I64(_) => Ty::I64,
        Val::F32(_) => Ty::F32,
        Val::F64(_) => Ty::F64,
        Val::V128(_) => Ty::V128,
        _ => Ty::Exn,
    }
}

impl Guest {
    /// # Errors
    /// The engine refuses it.
    pub fn new(engine: &Engine, module: &Module, program: &Arc<Program>) -> Result<Guest, Error> {
        let known = Known {
            program: Arc::clone(program),
            tags: vec![None; program.tags.len()],
            nested: 0,
        };
        let mut store = Store::new(engine, known);
        let mut linker = Linker::new(engine);
        linker.allow_shadowing(true);
        let mut budget = None;
        for (_, name, ty) in module.imports() {
            let item = match ty {
                ExternType::Func(ty) => {
                    let found = Host::ALL.into_iter().find(|host| host.name() == name);
                    let which = found.expect("it is one of the host's");
                    let func = Func::new(&mut store, ty, move |mut caller, given, results| {
                        Ok(host(&mut caller, which, given, results)?)
                    })?;
                    Extern::Func(func)
                }
                ExternType::Table(ty) => table(&mut store, ty)?,
                ExternType::Tag(ty) => {
                    let tag = Tag::new(&mut store, &ty.0)?;
                    let number: usize = name[1..].parse().expect("a tag's number");
                    store.data_mut().tags[number] = Some(tag);
                    Extern::Tag(tag)
                }
                ExternType::Global(ty) if name == "budget" => {
                    let global = Global::new(&mut store, ty, Val::I64(0))?;
                    budget = Some(global);
                    Extern::Global(global)
                }
                _ => continue,
            };
            linker.define(&store, "host", name, item)?;
        }
        let mut instances = Vec::new();
        for nth in 0..2 {
            let first = nth * program.funcs.len() as i32;
            let ty = fathom_engine::GlobalType {
                content: fathom_engine::ValType::I32,
                mutable: false,
            };
            let first = Global::new(&mut store, ty, Val::I32(first))?;
            linker.define(&store, "host", "first", Extern::Global(first))?;
            instances.push(linker.instantiate(&mut store, module)?);
        }
        Ok(Guest {
            store,
            instances: [instances[0], instances[1]],
            budget: budget.expect("it is imported"),
        })
    }

    fn export(&self, instance: usize, name: &str) -> Extern {
        let found = self.instances[instance].get_export(&self.store, name);
        found.unwrap_or_else(|| panic!("there is no '{name}'"))
    }

    /// Call a function to its end, through so many calls of one of its recursions if there are any.
    ///
    /// # Errors
    /// It ended in a way that no program ends in.
    pub fn call(
        &mut self,
        (instance, func): (usize, usize),
        through: Option<(usize, u32)>,
        given: &[u128],
    ) -> Result<End, String> {
        let program = Arc::clone(&self.store.data().program);
        let sig = &program.funcs[func].sig;
        let (mut params, mut given) = (sig.params.clone(), given.to_vec());
        let name = match through {
            None => format!("f{func}"),
            Some((more, depth)) => {
                params.insert(0, Ty::I32);
                given.insert(0, u128::from(depth));
                format!("d{func}-{more}")
            }
        };
        let found = self.export(instance, &name).into_func();
        let found = found.expect("it is a function");
        let set = self.budget.set(&mut self.store, Val::I64(BUDGET));
        set.map_err(|error| error.to_string())?;
        self.store.data_mut().nested = 0;
        let ended = call(&mut self.store, &found, (&params, &sig.results), &given);
        let error = match ended {
            Ok(values) => return Ok(End::Values(values)),
            Err(error) => error,
        };
        if let Some(exception) = error.exception() {
            let tag = self.tag(&program, exception.tag(&self.store))?;
            let values = exception.values(&self.store);
            return Ok(End::Exception(tag, values.iter().map(bits).collect()));
        }
        match error.trap().map(|trap| trap.code) {
            Some(code) => Ok(End::Trap(code)),
            None => Err(error.to_string()),
        }
    }

    /// Which tag it is.
    fn tag(&self, program: &Program, tag: Tag) -> Result<interpret::Tag, String> {
        for instance in 0..2 {
            for at in 0..program.tags.len() {
                let found = self.export(instance, &format!("t{at}")).into_tag();
                if found == Some(tag) {
                    let owner = (!Program::is_shared(at)).then_some(instance);
                    return Ok(interpret::Tag { tag: at, owner });
                }
            }
        }
        Err(format!("an exception of a tag of nobody's: {tag:?}"))
    }

    /// Whether an instance has what it should.
    ///
    /// # Errors
    /// What it has instead.
    pub fn agrees(&self, instance: usize, state: &State) -> Result<(), String> {
        for (at, (ty, expected)) in GLOBALS.iter().zip(&state.globals).enumerate() {
            let global = self.export(instance, &format!("g{at}")).into_global();
            let found = bits(&global.expect("it is a global").get(&self.store));
            let expected = match ty {
                Ty::Exn => u128::from(*expected != 0),
                _ => *expected,
            };
            if found != expected {
                return Err(format!(
                    "global {at} of instance {instance}: {found:#x}, not {expected:#x}"
                ));
            }
        }
        let memory = self.export(instance, "memory").into_memory();
        let found = memory.expect("it is a memory").data(&self.store);
        if found == &state.memory[..] {
            return Ok(());
        }
        let at = found.iter().zip(&state.memory).position(|(a, b)| a != b);
        Err(format!("memory of instance {instance} at {at:x?}"))
    }

    /// As it was when it was made.
    pub fn reset(&mut self) -> Result<(), Error> {
        for instance in 0..2 {
            for (at, ty) in GLOBALS.iter().enumerate() {
                let global = self.export(instance, &format!("g{at}")).into_global();
                let global = global.expect("it is a global");
                global.set(&mut self.store, val(*ty, 0))?;
            }
            let memory = self.export(instance, "memory").into_memory();
            let memory = memory.expect("it is a memory");
            memory.data_mut(&mut self.store).fill(0);
        }
        Ok(())
    }
}

fn table(store: &mut Store<Known>, ty: TableType) -> Result<Extern, Error> {
    Ok(Extern::Table(Table::new(store, ty, Val::FuncRef(None))?))
}
