//! Stores that are used again: what one holds when its single instance has been
//! made, and how it gets back there.
//!
//! What must stay true: after [`Template::restore`] nothing in the store can be
//! told from one that was just made, but for addresses. Handles of the lease before
//! have another id: the store takes a new one.

#![allow(unsafe_code)]

use std::io;
use std::ptr::NonNull;

use crate::facts::error::Error;
use crate::facts::quota::Resource;
use crate::facts::vmctx::Counts;
use crate::run::exception::Exceptions;
use crate::run::fuel;
use crate::run::heap::Hosts;
use crate::run::instance::InstanceData;
use crate::run::limits::Taken;
use crate::run::references::Externs;
use crate::run::store::StoreOpaque;

/// A store as it is before its instance runs.
pub(crate) struct Template {
    /// Apart, for a template moves whenever an instance begins a lease.
    lengths: Box<Lengths>,
    /// The cells of the instance's own globals.
    globals: Box<[u128]>,
    /// The elements of its own tables.
    tables: Box<[Box<[u64]>]>,
    /// Which of its data segments are dropped.
    dropped_data: Box<[bool]>,
    /// Which of its element segments are.
    dropped_elements: Box<[bool]>,
}

/// How many of each the store owns, and what it has taken for them.
#[derive(Clone, Copy)]
struct Lengths {
    taken: Taken,
    instances: usize,
    memories: usize,
    tables: usize,
    globals: usize,
    tags: usize,
    host_funcs: usize,
    types: usize,
}

impl Lengths {
    fn of(store: &StoreOpaque) -> Lengths {
        Lengths {
            taken: store.account.taken(),
            instances: store.instances.len(),
            memories: store.memories.len(),
            tables: store.tables.len(),
            globals: store.globals.len(),
            tags: store.tags.len(),
            host_funcs: store.host_funcs.len(),
            types: store.types.len(),
        }
    }

    /// Drop what came later. Instances first: they have addresses of the others.
    fn cut(&self, store: &mut StoreOpaque) {
        cut(&mut store.instances, self.instances);
        cut(&mut store.memories, self.memories);
        cut(&mut store.tables, self.tables);
        cut(&mut store.globals, self.globals);
        cut(&mut store.tags, self.tags);
        cut(&mut store.host_funcs, self.host_funcs);
        cut(&mut store.types, self.types);
        store.account.return_to(&self.taken);
    }
}

impl StoreOpaque {
    /// Make something new of the store's. Where that fails, what it had made and taken
    /// by then is given back; nobody else may have it yet.
    pub(crate) fn or_return<R>(
        &mut self,
        make: impl FnOnce(&mut StoreOpaque) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let before = Lengths::of(self);
        make(self).inspect_err(|_| before.cut(self))
    }
}

fn cut<V>(all: &mut Vec<V>, len: usize) {
    if all.len() > len {
        all.truncate(len);
        all.shrink_to_fit();
    }
}

impl Template {
    /// Of a store whose only instance was prepared and has not begun.
    ///
    /// # Safety
    /// The instance is alive and of this store.
    pub unsafe fn of(store: &StoreOpaque, instance: NonNull<InstanceData>) -> Template {
        // SAFETY: the caller's promise.
        let data = unsafe { instance.as_ref() };
        let info = data.module.info();
        let own_tables = data.tables[info.imported_tables as usize..].iter();
        Template {
            lengths: Box::new(Lengths::of(store)),
            globals: data.context()[data.module.layout().global_words()].into(),
            // SAFETY: tables are alive as long as their store.
            tables: own_tables
                .map(|table| unsafe { table.as_ref() }.elements().into())
                .collect(),
            dropped_data: data.dropped_data.clone().into(),
            dropped_elements: data.dropped_elements.clone().into(),
        }
    }

    /// Make the store what it was. At most `resident_bytes` of each memory stay.
    ///
    /// # Errors
    /// What the host says; the store must not be used again then.
    ///
    /// # Safety
    /// Store and instance are those that [`Template::of`] was given, and
    /// exclusively ours.
    pub unsafe fn restore(
        &self,
        store: &mut StoreOpaque,
        mut instance: NonNull<InstanceData>,
        resident_bytes: usize,
    ) -> io::Result<()> {
        store.forget_run();
        self.lengths.cut(store);
        // SAFETY: the caller's promise.
        let data = unsafe { instance.as_mut() };
        let module = &data.module;
        let info = module.info();
        let words = module.layout().global_words();
        for (i, memory) in data.memories.iter().enumerate() {
            if let Some(defined) = i.checked_sub(info.imported_memories as usize) {
                let image = module.images().of(defined);
                // SAFETY: alive as long as the store; a module's own memories are
                // unshared where there is a template (`Pool::new`).
                unsafe { memory.as_ref().restore(image, resident_bytes)? };
            }
        }
        let own_tables = &mut data.tables[info.imported_tables as usize..];
        for (table, template) in own_tables.iter_mut().zip(&self.tables) {
            // SAFETY: tables are alive as long as their store, exclusively ours.
            unsafe { table.as_mut() }.restore(template);
        }
        data.dropped_data.copy_from_slice(&self.dropped_data);
        data.dropped_elements
            .copy_from_slice(&self.dropped_elements);
        data.context_mut()[words].copy_from_slice(&self.globals);
        Ok(())
    }
}

impl StoreOpaque {
    /// Forget what running left: errors, exceptions, references, counts.
    fn forget_run(&mut self) {
        if !self.exceptions.is_empty() {
            self.exceptions = Exceptions::default();
        }
        if !self.externs.is_empty() {
            self.externs = Externs::with_room(self.account.room(Resource::ExternRefs));
        }
        self.hosts = Hosts::default();
        self.forget_stacks();
        (self.pending, self.panic) = (None, None);
        self.interrupt = None;
        self.limiter = None;
        self.runtime.interrupted = std::ptr::null();
        self.runtime.fuel = fuel::to_cell(self.engine.config().initial_fuel);
        self.engine.add_counts(self.runtime.counts);
        self.runtime.counts = Counts::default();
    }
}
