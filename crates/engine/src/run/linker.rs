//! Linkers: names for what modules import.

#![allow(unsafe_code)]

use std::collections::HashMap;
use std::sync::Arc;

use crate::facts::error::{Error, Result};
use crate::facts::module::{Import, ImportKind};
use crate::facts::types::{FuncType, TypeId};
use crate::run::engine::{Engine, Trampolines};
use crate::run::externs::Extern;
use crate::run::func::Func;
use crate::run::handle::Module;
use crate::run::host::{Caller, HostDef, IntoHostFunc};
use crate::run::instance::Instance;
use crate::run::shared::SharedMemory;
use crate::run::store::{AsContext, AsContextMut, StoreOpaque, opaque_mut};
use crate::run::values::Val;

/// Definitions by module and name. Definitions of the host's are good for any
/// store with data of type `T`; others for the store they came from.
pub struct Linker<T> {
    engine: Engine,
    /// By module and name; nothing for a name that was defined more than once, where
    /// that was not allowed.
    items: HashMap<String, HashMap<String, Option<Item>>>,
    allow_shadowing: bool,
    data: std::marker::PhantomData<fn(T)>,
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

/// The type that a module imports a function as, where that reads like the
/// definition's: several types can, of different recursive groups. With it the
/// trampolines that were compiled with the module.
fn wanted(module: &Module, import: &Import, def: &HostDef) -> Option<(TypeId, Arc<Trampolines>)> {
    let info = module.info();
    match import.kind {
        ImportKind::Func(ty) if info.types[ty as usize] == def.ty => {
            Some((info.type_ids[ty as usize], module.host_trampolines(ty)))
        }
        _ => None,
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
    /// which is the default, a module that imports the name is not instantiated: two
    /// definitions of one name are more often a mistake than meant.
    pub fn allow_shadowing(&mut self, allow: bool) -> &mut Linker<T> {
        self.allow_shadowing = allow;
        self
    }

    /// The engine it was made for.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Define a host function with the closure's type. Of a name that is defined
    /// already, see [`Linker::allow_shadowing`].
    pub fn func_wrap<P, R>(
        &mut self,
        module: &str,
        name: &str,
        func: impl IntoHostFunc<T, P, R>,
    ) -> &mut Linker<T> {
        self.insert(module, name, Item::Host(func.into_def()))
    }

    /// Define a host function with a runtime type.
    pub fn func_new<F>(&mut self, module: &str, name: &str, ty: FuncType, func: F) -> &mut Linker<T>
    where
        F: Fn(Caller<'_, T>, &[Val], &mut [Val]) -> Result<()> + Send + Sync + 'static,
    {
        self.insert(module, name, Item::Host(HostDef::dynamic(ty, func)))
    }

    /// Define anything of a store.
    pub fn define(&mut self, module: &str, name: &str, item: impl Into<Extern>) -> &mut Linker<T> {
        self.insert(module, name, Item::Extern(item.into()))
    }

    /// Define a shared memory, for any store of the engine.
    pub fn define_shared(
        &mut self,
        module: &str,
        name: &str,
        memory: &SharedMemory,
    ) -> &mut Linker<T> {
        self.insert(module, name, Item::Shared(memory.clone()))
    }

    /// Define every export of an instance under a module name.
    pub fn instance(
        &mut self,
        store: impl AsContext<Data = T>,
        module: &str,
        instance: Instance,
    ) -> &mut Linker<T> {
        for (name, item) in instance.exports(&store) {
            self.insert(module, &name, Item::Extern(item));
        }
        self
    }

    fn insert(&mut self, module: &str, name: &str, item: Item) -> &mut Linker<T> {
        let names = self.items.entry(module.to_owned()).or_default();
        let is_new = !names.contains_key(name);
        let counts = is_new || self.allow_shadowing;
        names.insert(name.to_owned(), counts.then_some(item));
        self
    }

    /// Whether there is a definition of this name.
    pub fn defines(&self, module: &str, name: &str) -> bool {
        self.items
            .get(module)
            .is_some_and(|names| names.contains_key(name))
    }

    /// Instantiate a module with these definitions and run its start function.
    ///
    /// # Errors
    /// An import that is missing or of another type; what [`Instance::new`]
    /// says.
    pub fn instantiate(
        &self,
        mut store: impl AsContextMut<Data = T>,
        module: &Module,
    ) -> Result<Instance> {
        // SAFETY: the store's data is a `T`.
        let imports = unsafe { self.resolve(opaque_mut(&mut store), module)? };
        Instance::new(store, module, &imports)
    }
    fn item(&self, import: &Import) -> Result<&Item> {
        let names = self.items.get(&import.module);
        let item = names.and_then(|names| names.get(&import.name));
        match item {
            Some(None) => {
                let message = "defined more than once; Linker::allow_shadowing lets the last \
                               definition count";
                Err(Error::link(&import.module, &import.name, message))
            }
            Some(Some(item)) => Ok(item),
            None => Err(Error::link(&import.module, &import.name, "unknown import")),
        }
    }

    /// What a module imports, in order, in a store.
    ///
    /// # Safety
    /// The store's data is a `T`.
    pub(crate) unsafe fn resolve(
        &self,
        store: &mut StoreOpaque,
        module: &Module,
    ) -> Result<Vec<Extern>> {
        let imports = module.info().imports.iter();
        imports
            .map(|import| {
                Ok(match self.item(import)? {
                    Item::Extern(item) => *item,
                    Item::Shared(memory) => memory.bring_into(store)?.into(),
                    // SAFETY: the definitions were made for `T`, the store's data.
                    Item::Host(def) => unsafe {
                        match wanted(module, import, def) {
                            Some((id, code)) => Func::place_with(def, id, code, store),
                            None => Func::place(def, store)?,
                        }
                    }
                    .into(),
                })
            })
            .collect()
    }

    /// Whether all that a module imports can be had in any store.
    ///
    /// # Errors
    /// The first import that is missing or of a store.
    pub(crate) fn check_free_of_stores(&self, module: &Module) -> Result<()> {
        for import in &module.info().imports {
            if let Item::Extern(_) = self.item(import)? {
                let message = "what a store owns is for its own instances, not for a pool's";
                return Err(Error::link(&import.module, &import.name, message));
            }
        }
        Ok(())
    }
}
