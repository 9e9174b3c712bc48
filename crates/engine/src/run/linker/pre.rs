//! A module with its imports found: what making an instance of it takes is done once.

#![allow(unsafe_code)]

use std::sync::Arc;

use super::{Item, Linker, Wanted};
use crate::facts::error::{Error, Result};
use crate::facts::types::ExternType;
use crate::run::externs::Extern;
use crate::run::handle::Module;
use crate::run::instance::Instance;
use crate::run::link::wanted_type;
use crate::run::store::{AsContextMut, opaque_mut};

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
pub struct InstancePre<T> {
    module: Module,
    items: Arc<[(Item, Option<Wanted>)]>,
    data: std::marker::PhantomData<fn(T)>,
}

impl<T> Clone for InstancePre<T> {
    fn clone(&self) -> InstancePre<T> {
        InstancePre {
            module: self.module.clone(),
            items: self.items.clone(),
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
        let items = items.collect::<Result<_>>()?;
        module.make_shared();
        Ok(InstancePre {
            module: module.clone(),
            items,
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
        let opaque = opaque_mut(&mut store);
        opaque.host_funcs.reserve(self.items.len());
        opaque.func_refs.reserve(self.items.len());
        let bring = |(item, wanted): &(Item, Option<Wanted>)| {
            // SAFETY: the store's data is a `T`, for which the definitions were made.
            unsafe { item.bring(wanted.clone(), opaque) }
        };
        let imports = self.items.iter().map(bring);
        let imports: Vec<Extern> = imports.collect::<Result<_>>()?;
        Instance::new(store, &self.module, &imports)
    }
}
