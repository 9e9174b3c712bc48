//! A module with its imports found: what making an instance of it takes is done once.

#![allow(unsafe_code)]

use std::ptr::NonNull;
use std::sync::Arc;

use super::{Item, Linker, Wanted};
use crate::facts::error::{Error, Result};
use crate::facts::types::ExternType;
use crate::run::externs::Extern;
use crate::run::func::Func;
use crate::run::handle::Module;
use crate::run::host::HostFuncsPre;
use crate::run::instance::{Instance, InstanceData};
use crate::run::link::{self, wanted_type};
use crate::run::store::{AsContextMut, StoreOpaque, opaque_mut};

/// A module and what a [`Linker`] has for its imports, as it was then: no name is
/// looked up any more when an instance is made.
///
/// ```
/// use fathom_engine::{Engine, Linker, Module, Store};
///
/// # fn main() -> fathom_engine::Result<()> {
/// let engine = Engine::default();
/// let module = Module::new(&engine, b"\0asm\x01\0\0\0")?;
/// let pre = Linker::new(&engine).instantiate_pre(&module)?;
/// for request in 0..3 {
///     let mut store = Store::new(&engine, request);
///     pre.instantiate(&mut store)?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// Data with another lifetime is of another type:
///
/// ```compile_fail
/// # use fathom_engine::InstancePre;
/// fn longer<'a>(pre: InstancePre<&'a str>, _: &'a str) -> InstancePre<&'static str> {
///     pre
/// }
/// ```
pub struct InstancePre<T> {
    module: Module,
    found: Arc<Found>,
    data: std::marker::PhantomData<fn(T) -> T>,
}

/// What a module's imports are.
struct Found {
    items: Vec<(Item, Option<Wanted>)>,
    /// Those of the items that are functions of the host, in order.
    host: HostFuncsPre,
}

impl<T> Clone for InstancePre<T> {
    fn clone(&self) -> InstancePre<T> {
        InstancePre {
            module: self.module.clone(),
            found: self.found.clone(),
            data: self.data,
        }
    }
}

impl<T> std::fmt::Debug for InstancePre<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InstancePre")
            .field("module", &self.module)
            .finish_non_exhaustive()
    }
}

impl<T> Linker<T> {
    /// Find what a module imports, and make what its instances share, for many instances of
    /// it. Later definitions are not in it.
    ///
    /// # Errors
    /// An import that is missing, or a host function of another type; linker and module
    /// of different engines.
    pub fn instantiate_pre(&self, module: &Module) -> Result<InstancePre<T>> {
        if !self.engine.same(module.engine()) {
            let message = "linker and module are of different engines";
            return Err(Error::mismatch(message));
        }
        let find = |import: &crate::facts::module::Import| {
            let (from, name) = (&import.module, &import.name);
            let item = self.item(from, name)?;
            let wanted = item.wanted(module, import);
            if let (Item::Host(def), None) = (item, &wanted) {
                let expected = wanted_type(module, &import.kind);
                let given = ExternType::Func(def.ty.clone());
                let message =
                    format!("incompatible import type: {expected} expected, {given} given");
                return Err(Error::link(from, name, message));
            }
            Ok((item.clone(), wanted))
        };
        let items = module.info().imports.iter().map(find);
        let items = items.collect::<Result<Vec<_>>>()?;
        let host = items.iter().filter_map(|item| match item {
            (Item::Host(def), Some(Wanted(id, code))) => Some(def.func(*id, code)),
            _ => None,
        });
        let host = host.collect();
        module.make_shared();
        Ok(InstancePre {
            module: module.clone(),
            found: Arc::new(Found { items, host }),
            data: std::marker::PhantomData,
        })
    }
}

impl<T> InstancePre<T> {
    /// The module.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Make an instance and run its start function.
    ///
    /// # Errors
    /// What [`Instance::new`] says; an item of another store.
    pub fn instantiate(&self, mut store: impl AsContextMut<Data = T>) -> Result<Instance> {
        // SAFETY: the store's data is a `T`.
        let raw = unsafe { self.prepare(opaque_mut(&mut store))? };
        // SAFETY: an instance of this store, which is exclusively borrowed.
        unsafe { Instance::begin(raw)? };
        Ok(Instance::of(store.opaque().id, raw))
    }

    /// See [`Instance::prepare`].
    ///
    /// # Safety
    /// The store's data is a `T`.
    pub(crate) unsafe fn prepare(&self, store: &mut StoreOpaque) -> Result<NonNull<InstanceData>> {
        let module = &self.module;
        store.is_for(module)?;
        // SAFETY: the caller's promise.
        let imports = unsafe { self.imports(store)? };
        let all = module.info().imports.iter().zip(&imports);
        for ((import, given), item) in all.zip(&self.found.items) {
            // Functions of the host were compared when they were found.
            if !matches!(item, (Item::Host(_), _)) {
                link::check(store, module, import, given)?;
            }
        }
        Instance::prepare(store, module, &imports)
    }

    /// Whether its imports can be had in any store.
    ///
    /// # Errors
    /// The first one that is of a store.
    pub(crate) fn check_free_of_stores(&self) -> Result<()> {
        for (import, item) in self.module.info().imports.iter().zip(&self.found.items) {
            if let (Item::Extern(_), _) = item {
                let message = "what a store owns is for its own instances, not for a pool's";
                return Err(Error::link(&import.module, &import.name, message));
            }
        }
        Ok(())
    }

    /// What the module imports, in order, in a store. All functions of the host are placed at
    /// once.
    ///
    /// # Safety
    /// The store's data is a `T`.
    unsafe fn imports(&self, store: &mut StoreOpaque) -> Result<Vec<Extern>> {
        // SAFETY: the definitions were made for a `T`; `found` has them and the trampolines.
        let mut placed = unsafe { store.place(&self.found.host, self.found.clone()) };
        // Collected by hand: a result for each costs more than all the rest.
        let mut imports = Vec::with_capacity(self.found.items.len());
        for (item, _) in &self.found.items {
            imports.push(match item {
                Item::Host(_) => {
                    let raw = placed.next().expect("each was placed");
                    let store = store.id;
                    Func { store, raw }.into()
                }
                // SAFETY: the caller's promise.
                item => unsafe { item.bring(store)? },
            });
        }
        Ok(imports)
    }
}
