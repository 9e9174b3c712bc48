//! Linkers: names for what modules import.

#![allow(unsafe_code)]

mod pre;

use std::collections::HashMap;
use std::sync::Arc;

use crate::facts::error::{Error, ErrorKind, Result};
use crate::facts::module::{Import, ImportKind};
use crate::facts::shown::Shown;
use crate::facts::types::{ExternType, FuncType, TypeId};
use crate::run::engine::{Engine, Trampolines};
use crate::run::externs::Extern;
use crate::run::func::Func;
use crate::run::handle::Module;
use crate::run::host::{Caller, HostDef, IntoHostFunc};
use crate::run::instance::Instance;
use crate::run::shared::SharedMemory;
use crate::run::store::{AsContext, AsContextMut, StoreOpaque, opaque_mut};
use crate::run::values::Val;

pub use pre::InstancePre;

/// Definitions by module and name. Definitions of the host's are good for any
/// store with data of type `T`; others for the store they came from.
///
/// Data with another lifetime is of another type, shorter or longer, in stores, too:
///
/// ```compile_fail
/// # use fathom_engine::Store;
/// fn shorter<'a>(store: Store<&'static str>, _: &'a str) -> Store<&'a str> {
///     store
/// }
/// ```
///
/// ```compile_fail
/// # use fathom_engine::Linker;
/// fn longer<'a>(linker: Linker<&'a str>, _: &'a str) -> Linker<&'static str> {
///     linker
/// }
/// ```
///
/// ```compile_fail
/// # use fathom_engine::Linker;
/// fn shorter<'a>(linker: Linker<&'static str>, _: &'a str) -> Linker<&'a str> {
///     linker
/// }
/// ```
pub struct Linker<T> {
    engine: Engine,
    /// By module and name.
    items: HashMap<String, HashMap<String, Item>>,
    allow_shadowing: bool,
    data: std::marker::PhantomData<fn(T) -> T>,
}

#[derive(Clone)]
enum Item {
    Host(HostDef),
    Extern(Extern),
    Shared(SharedMemory),
}

impl<T> Clone for Linker<T> {
    fn clone(&self) -> Linker<T> {
        Linker {
            engine: self.engine.clone(),
            items: self.items.clone(),
            allow_shadowing: self.allow_shadowing,
            data: self.data,
        }
    }
}

impl<T> std::fmt::Debug for Linker<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Linker")
            .field("modules", &self.items.keys())
            .finish_non_exhaustive()
    }
}

impl Item {
    /// What is special to a module that imports it: the type that it imports a function
    /// as, where that reads like the definition's (several types can, of different
    /// recursive groups), with the trampolines that were compiled with the module.
    fn wanted(&self, module: &Module, import: &Import) -> Option<Wanted> {
        let info = module.info();
        match (self, &import.kind) {
            (Item::Host(def), ImportKind::Func(ty)) if info.types[*ty as usize] == def.ty => {
                let id = info.type_ids[*ty as usize];
                Some(Wanted(id, module.host_trampolines(*ty)))
            }
            _ => None,
        }
    }

    /// It as one of a store's.
    ///
    /// # Safety
    /// The store's data has the type that definitions of the host's were made for.
    unsafe fn bring(&self, store: &mut StoreOpaque) -> Result<Extern> {
        Ok(match self {
            Item::Extern(item) => *item,
            Item::Shared(memory) => memory.bring_into(store)?.into(),
            // SAFETY: the caller's promise.
            Item::Host(def) => unsafe { Func::place(def, store)? }.into(),
        })
    }
}

/// The type of a function as a module imports it, and the ways to it.
#[derive(Clone)]
struct Wanted(TypeId, Arc<Trampolines>);

/// What a function answers that was not defined, see
/// [`Linker::define_unknown_imports_as_traps`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the function '{}' that the module imports from '{}' is not defined",
    Shown(.name),
    Shown(.module)
)]
pub struct UnknownImportError {
    module: String,
    name: String,
}

impl UnknownImportError {
    /// First name of the import.
    pub fn module(&self) -> &str {
        &self.module
    }

    /// Second name of the import.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl<T> Linker<T> {
    /// Without definitions.
    pub fn new(engine: &Engine) -> Linker<T> {
        let engine = engine.clone();
        Linker {
            engine,
            items: HashMap::new(),
            allow_shadowing: false,
            data: std::marker::PhantomData,
        }
    }

    /// Whether a later definition of a name replaces an earlier one. Where it does not,
    /// which is the default, the later one is an error: two definitions of one name are
    /// more often a mistake than meant.
    pub fn allow_shadowing(&mut self, allow: bool) -> &mut Linker<T> {
        self.allow_shadowing = allow;
        self
    }

    /// The engine it was made for.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Define a host function with the closure's type.
    ///
    /// # Errors
    /// This and the others: a name that is defined already, unless
    /// [`Linker::allow_shadowing`] lets it be replaced.
    pub fn func_wrap<P, R>(
        &mut self,
        module: &str,
        name: &str,
        func: impl IntoHostFunc<T, P, R>,
    ) -> Result<&mut Linker<T>> {
        self.insert(module, name, Item::Host(func.into_def()))
    }

    /// Define a host function with a runtime type.
    ///
    /// # Errors
    /// As [`Linker::func_wrap`].
    pub fn func_new<F>(
        &mut self,
        module: &str,
        name: &str,
        ty: FuncType,
        func: F,
    ) -> Result<&mut Linker<T>>
    where
        F: Fn(Caller<'_, T>, &[Val], &mut [Val]) -> anyhow::Result<()> + Send + Sync + 'static,
    {
        self.insert(module, name, Item::Host(HostDef::dynamic(ty, func)))
    }

    /// Define anything of a store, for instances in that store.
    ///
    /// # Errors
    /// As [`Linker::func_wrap`]; an item of another store.
    pub fn define(
        &mut self,
        store: impl AsContext<Data = T>,
        module: &str,
        name: &str,
        item: impl Into<Extern>,
    ) -> Result<&mut Linker<T>> {
        let item = item.into();
        store.opaque().owns(item.store(), "item")?;
        self.insert(module, name, Item::Extern(item))
    }

    /// Define a shared memory, for any store of the engine.
    ///
    /// # Errors
    /// As [`Linker::func_wrap`].
    pub fn define_shared(
        &mut self,
        module: &str,
        name: &str,
        memory: &SharedMemory,
    ) -> Result<&mut Linker<T>> {
        self.insert(module, name, Item::Shared(memory.clone()))
    }

    /// Define every export of an instance under a module name.
    ///
    /// # Errors
    /// As [`Linker::func_wrap`].
    pub fn instance(
        &mut self,
        store: impl AsContext<Data = T>,
        module: &str,
        instance: Instance,
    ) -> Result<&mut Linker<T>> {
        for (name, item) in instance.exports(&store) {
            self.insert(module, &name, Item::Extern(item))?;
        }
        Ok(self)
    }

    /// Define what has one name under another one, too.
    ///
    /// # Errors
    /// As [`Linker::func_wrap`]; a name without a definition.
    pub fn alias(
        &mut self,
        module: &str,
        name: &str,
        as_module: &str,
        as_name: &str,
    ) -> Result<&mut Linker<T>> {
        let item = self.item(module, name)?.clone();
        self.insert(as_module, as_name, item)
    }

    /// Define every function that a module imports and nobody has defined: a call of
    /// one ends the program with an [`UnknownImportError`]. So a program can be run
    /// that may never call it. What is no function stays undefined.
    ///
    /// # Errors
    /// None today.
    pub fn define_unknown_imports_as_traps(&mut self, module: &Module) -> Result<()> {
        for (from, name, ty) in module.imports() {
            let ExternType::Func(ty) = ty else { continue };
            if self.defines(from, name) {
                continue;
            }
            let (module, name) = (from.to_owned(), name.to_owned());
            let unknown = UnknownImportError { module, name };
            let (from, name) = (unknown.module.clone(), unknown.name.clone());
            self.func_new(&from, &name, ty, move |_, _, _| Err(unknown.clone().into()))?;
        }
        Ok(())
    }

    fn insert(&mut self, module: &str, name: &str, item: Item) -> Result<&mut Linker<T>> {
        if !self.allow_shadowing && self.defines(module, name) {
            let (module, name) = (module.to_owned(), name.to_owned());
            return Err(ErrorKind::Defined { module, name }.into());
        }
        let names = self.items.entry(module.to_owned()).or_default();
        names.insert(name.to_owned(), item);
        Ok(self)
    }

    /// Whether there is a definition of this name.
    pub fn defines(&self, module: &str, name: &str) -> bool {
        self.items
            .get(module)
            .is_some_and(|names| names.contains_key(name))
    }

    /// What a name stands for, in a store. A host function becomes another function of
    /// the store each time.
    ///
    /// # Errors
    /// A name without a definition; a store without room.
    pub fn get(
        &self,
        mut store: impl AsContextMut<Data = T>,
        module: &str,
        name: &str,
    ) -> Result<Extern> {
        let item = self.item(module, name)?;
        let store = opaque_mut(&mut store);
        // SAFETY: the store's data is a `T`.
        let item = unsafe { item.bring(store)? };
        store.owns(item.store(), "item")?;
        Ok(item)
    }

    /// Instantiate a module with these definitions and run its start function.
    ///
    /// # Errors
    /// An import that is missing or of another type; what [`Instance::new`]
    /// says.
    pub fn instantiate(
        &self,
        store: impl AsContextMut<Data = T>,
        module: &Module,
    ) -> Result<Instance> {
        self.instantiate_pre(module)?.instantiate(store)
    }

    fn item(&self, module: &str, name: &str) -> Result<&Item> {
        let item = self.items.get(module).and_then(|names| names.get(name));
        item.ok_or_else(|| Error::link(module, name, "unknown import"))
    }
}
