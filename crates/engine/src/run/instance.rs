//! Instances: a module's context filled in and its segments applied.
//!
//! What must stay true: the context is complete before any code of the module
//! runs, and what its layout calls fixed is not written afterwards.

#![allow(unsafe_code)]

use std::ptr::NonNull;

use fathom_sys::cells::{Domain, Placed};
use fathom_sys::pkeys::Key;

use crate::facts::error::{Error, Result};
use crate::facts::module::EntityIndex;
use crate::facts::vmctx::{
    GlobalPlace, VMCTX_INSTANCE, VMCTX_LIBCALLS, VMCTX_RUNTIME, VMCTX_TYPE_IDS, VmFuncImport,
    VmFuncRef, VmTag,
};
use crate::run::externs::{Extern, Global, Memory, Table, Tag};
use crate::run::func::{Func, TypedFunc, WasmParams, WasmResults};
use crate::run::handle::Module;
use crate::run::init;
use crate::run::link;
use crate::run::memory::LinearMemory;
use crate::run::refusal::Step;
use crate::run::store::{AsContext, AsContextMut, StoreOpaque, call_raw, opaque_mut};
use crate::run::table::TableData;

/// An instance of a module in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    store: u64,
    raw: NonNull<InstanceData>,
}

// SAFETY: the address is only used together with its store.
unsafe impl Send for Instance {}
// SAFETY: as above.
unsafe impl Sync for Instance {}

/// The runtime's side of an instance. Boxed by its store.
pub(crate) struct InstanceData {
    pub store: *mut StoreOpaque,
    pub module: Module,
    vmctx: Placed<[u128]>,
    /// The module's type ids, where compiled code cannot reach the module.
    type_ids: Option<Placed<[u32]>>,
    pub memories: Vec<NonNull<LinearMemory>>,
    pub tables: Vec<NonNull<TableData>>,
    /// Where each global's cell is.
    pub globals: Vec<NonNull<u128>>,
    pub tags: Vec<NonNull<VmTag>>,
    /// The imported functions as their owners know them.
    pub imported_funcs: Vec<NonNull<VmFuncRef>>,
    /// Passive element segments, evaluated; others are empty once they were
    /// applied.
    pub elements: Vec<Box<[u64]>>,
    /// Which element segments were dropped.
    pub dropped_elements: Vec<bool>,
    /// Which data segments were dropped.
    pub dropped_data: Vec<bool>,
    /// The memory exported as `memory`, which host functions ask for at each call.
    pub memory: Option<NonNull<LinearMemory>>,
}

// SAFETY: every address is one of the same store's, which moves as a whole.
unsafe impl Send for InstanceData {}

impl InstanceData {
    /// The context.
    pub fn vmctx(&self) -> *mut u8 {
        self.vmctx.address().as_ptr().cast()
    }

    /// The context's words, globals among them, as they are now.
    pub(crate) fn context(&self) -> &[u128] {
        &self.vmctx
    }

    /// The same, to change.
    pub(crate) fn context_mut(&mut self) -> &mut [u128] {
        &mut self.vmctx
    }

    /// # Safety
    /// `offset` is one the layout gives for a field of type `V`; nobody has borrowed the context
    /// or runs code of the instance.
    pub(crate) unsafe fn write<V>(&self, offset: i32, value: V) {
        debug_assert!(offset as usize + size_of::<V>() <= self.vmctx.len() * 16);
        // SAFETY: inside the context, by the caller's promise.
        unsafe { self.vmctx().add(offset as usize).cast::<V>().write(value) };
    }

    /// The reference to a function whose reference is taken somewhere.
    pub fn func_ref(&self, index: u32) -> NonNull<VmFuncRef> {
        if let Some(imported) = self.imported_funcs.get(index as usize) {
            return *imported;
        }
        let offset = self
            .module
            .layout()
            .funcref(index)
            .expect("an escaping function");
        // SAFETY: inside the context.
        unsafe { NonNull::new_unchecked(self.vmctx().add(offset as usize).cast()) }
    }

    /// The item an index names, as a handle.
    fn item(&self, store: u64, index: EntityIndex) -> Extern {
        match index {
            EntityIndex::Func(i) => Func {
                store,
                raw: self.func_ref(i),
            }
            .into(),
            EntityIndex::Table(i) => Table {
                store,
                raw: self.tables[i as usize],
            }
            .into(),
            EntityIndex::Memory(i) => Memory {
                store,
                raw: self.memories[i as usize],
            }
            .into(),
            EntityIndex::Global(i) => {
                let ty = self.module.info().globals[i as usize];
                Global {
                    store,
                    cell: self.globals[i as usize],
                    ty,
                }
                .into()
            }
            EntityIndex::Tag(i) => Tag {
                store,
                raw: self.tags[i as usize],
            }
            .into(),
        }
    }

    fn find(&self, store: u64, name: &str) -> Option<Extern> {
        self.module
            .export(name)
            .map(|index| self.item(store, index))
    }
}

/// An export of an instance of `store`.
pub(crate) fn export_of(
    store: &StoreOpaque,
    instance: NonNull<InstanceData>,
    name: &str,
) -> Option<Extern> {
    // SAFETY: instances are alive as long as their store.
    unsafe { instance.as_ref() }.find(store.id, name)
}

impl Instance {
    /// Instantiate `module` with its imports in order, apply its segments and
    /// run its start function.
    ///
    /// # Errors
    /// Imports that do not fit; more than the store may have; a host without room; an
    /// interrupt that is raised; a segment that does not fit its table or memory, or a start function that
    /// fails: those are traps, and what happened before stays (specification §4.5.4).
    pub fn new(
        mut store: impl AsContextMut,
        module: &Module,
        imports: &[Extern],
    ) -> Result<Instance> {
        let opaque = opaque_mut(&mut store);
        opaque.is_for(module)?;
        link::check_all(opaque, module, imports)?;
        let raw = Instance::prepare(opaque, module, imports)?;
        // SAFETY: an instance of this store, which is exclusively borrowed.
        unsafe { Instance::begin(raw)? };
        Ok(Instance::of(store.opaque().id, raw))
    }

    /// An instance with its globals, tables and images, of imports that fit; what may
    /// still fail or be seen from outside, data segments without an image and the start
    /// function, is for [`Instance::begin`].
    pub(crate) fn prepare(
        opaque: &mut StoreOpaque,
        module: &Module,
        imports: &[Extern],
    ) -> Result<NonNull<InstanceData>> {
        let mut data = opaque.or_return(|opaque| {
            opaque.admit_instance(module)?;
            opaque.prepare_heap(module)?;
            InstanceData::allocate(opaque, module, imports)
        })?;
        data.memory = match module.export("memory") {
            Some(EntityIndex::Memory(i)) => Some(data.memories[i as usize]),
            _ => None,
        };
        let raw = NonNull::from(&mut *data);
        // SAFETY: the instance is new; nobody else has its address.
        unsafe { init::fill(&mut data)? };
        opaque.instances.push(data);
        // SAFETY: boxed, so it stays at its address; the store is exclusively
        // borrowed.
        unsafe { init::apply_elements(&mut *raw.as_ptr())? };
        Ok(raw)
    }

    /// Apply the data segments that have no image and run the start function.
    ///
    /// # Safety
    /// An instance that was prepared, or restored to what it was then; its store
    /// is exclusively ours and not used through another reference meanwhile.
    pub(crate) unsafe fn begin(raw: NonNull<InstanceData>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            init::apply_data(&mut *raw.as_ptr())?;
            if let Some(start) = raw.as_ref().module.info().start {
                let store = raw.as_ref().store;
                let func = raw.as_ref().func_ref(start);
                call_raw(store, func, [0u128; 1].as_mut_ptr())?;
            }
        }
        Ok(())
    }

    /// A handle to an instance of the store with this id.
    pub(crate) fn of(store: u64, raw: NonNull<InstanceData>) -> Instance {
        Instance { store, raw }
    }

    fn data<'a>(&self, store: &'a StoreOpaque) -> &'a InstanceData {
        assert_eq!(self.store, store.id, "instance of another store");
        // SAFETY: of this store, hence alive as long.
        unsafe { self.raw.as_ref() }
    }

    /// The module.
    ///
    /// # Panics
    /// This and the other methods: for an instance of another store.
    pub fn module<'a>(&self, store: &'a impl AsContext) -> &'a Module {
        &self.data(store.opaque()).module
    }

    /// An export by name.
    pub fn get_export(&self, store: impl AsContext, name: &str) -> Option<Extern> {
        let opaque = store.opaque();
        self.data(opaque).find(opaque.id, name)
    }

    /// An exported function by name.
    pub fn get_func(&self, store: impl AsContext, name: &str) -> Option<Func> {
        self.get_export(store, name)?.into_func()
    }

    /// An exported function by name, with its type checked once, for quicker calls.
    ///
    /// # Errors
    /// Where there is none of this name, or its type is not the one asked for.
    pub fn get_typed_func<P: WasmParams, R: WasmResults>(
        &self,
        store: impl AsContext,
        name: &str,
    ) -> Result<TypedFunc<P, R>> {
        let func = self.get_func(&store, name);
        let missing = || Error::mismatch(format!("the instance exports no function '{name}'"));
        let typed = func.ok_or_else(missing)?.typed(&store);
        typed.map_err(|error| Error::mismatch(format!("export '{name}': {error}")))
    }

    /// An exported table by name.
    pub fn get_table(&self, store: impl AsContext, name: &str) -> Option<Table> {
        self.get_export(store, name)?.into_table()
    }

    /// An exported global by name.
    pub fn get_global(&self, store: impl AsContext, name: &str) -> Option<Global> {
        self.get_export(store, name)?.into_global()
    }

    /// An exported tag by name.
    pub fn get_tag(&self, store: impl AsContext, name: &str) -> Option<Tag> {
        self.get_export(store, name)?.into_tag()
    }

    /// An exported memory by name.
    pub fn get_memory(&self, store: impl AsContext, name: &str) -> Option<Memory> {
        self.get_export(store, name)?.into_memory()
    }

    /// Every export, in order.
    pub fn exports(&self, store: impl AsContext) -> Vec<(String, Extern)> {
        let opaque = store.opaque();
        let data = self.data(opaque);
        let exports = &data.module.info().exports;
        exports
            .iter()
            .map(|(name, index)| (name.clone(), data.item(opaque.id, *index)))
            .collect()
    }
}

impl InstanceData {
    /// An instance with its imports and its own, empty items; the context is
    /// zero.
    fn allocate(
        store: &mut StoreOpaque,
        module: &Module,
        imports: &[Extern],
    ) -> Result<Box<InstanceData>> {
        let info = module.info();
        if !info.cont_types.is_empty() {
            store.allow_switches();
        }
        let domain = store.engine.domain();
        let words = module.layout().size().div_ceil(16);
        let type_ids = (domain == Domain::Locked)
            .then(|| Placed::copied(domain, Key::Fixed, &info.type_numbers));
        let mut data = Box::new(InstanceData {
            store: std::ptr::from_mut(store),
            module: module.clone(),
            vmctx: Placed::zeros(domain, Key::Inside, words),
            type_ids,
            memories: Vec::with_capacity(info.memories.len()),
            tables: Vec::with_capacity(info.tables.len()),
            globals: Vec::with_capacity(info.globals.len()),
            tags: Vec::with_capacity(info.tags.len()),
            imported_funcs: Vec::with_capacity(info.imported_funcs as usize),
            elements: Vec::new(),
            dropped_elements: vec![false; info.elements.len()],
            dropped_data: module.images().covered().to_vec(),
            memory: None,
        });
        for import in imports {
            match import {
                Extern::Func(func) => data.imported_funcs.push(func.raw),
                Extern::Table(table) => data.tables.push(table.raw),
                Extern::Memory(memory) => data.memories.push(memory.raw),
                Extern::Global(global) => data.globals.push(global.cell),
                Extern::Tag(tag) => data.tags.push(tag.raw),
            }
        }
        for (i, ty) in info.memories[data.memories.len()..].iter().enumerate() {
            let memory = Memory::new_in(store, *ty)?.raw;
            if let Some(image) = module.images().of(i) {
                // SAFETY: the memory is new, and images are of unshared ones and
                // end inside their minimal size.
                let laid = unsafe { memory.as_ref().lay(image) };
                // SAFETY: alive as long as the store.
                let plan = unsafe { memory.as_ref() }.plan;
                laid.map_err(|error| plan.refused(ty.min, Step::Image, error))?;
            }
            data.memories.push(memory);
        }
        for def in &info.table_defs {
            data.tables.push(Table::new_in(store, def.ty, 0)?.raw);
        }
        for ty in &info.tags[data.tags.len()..] {
            let number = info.type_numbers[*ty as usize];
            data.tags.push(Tag::new_in(store, number).raw);
        }
        for index in info.imported_globals..info.globals.len() as u32 {
            let GlobalPlace::Inline(offset) = module.layout().global(index) else {
                unreachable!("defined globals are in the context")
            };
            // SAFETY: inside the context.
            let cell = unsafe { data.vmctx().add(offset as usize) };
            data.globals
                .push(NonNull::new(cell.cast()).expect("a context is not at null"));
        }
        data.write_header(store);
        data.write_imports();
        data.write_func_refs();
        Ok(data)
    }

    fn write_header(&mut self, store: &mut StoreOpaque) {
        let this = std::ptr::from_mut(self);
        let type_ids: *const u32 = match &self.type_ids {
            Some(copied) => copied.as_ptr(),
            None => self.module.info().type_numbers.as_ptr(),
        };
        // SAFETY: offsets and types are those of the layout's head.
        unsafe {
            self.write(VMCTX_RUNTIME, store.runtime.address());
            self.write(VMCTX_LIBCALLS, store.libcalls());
            self.write(VMCTX_TYPE_IDS, type_ids);
            self.write(VMCTX_INSTANCE, this);
        }
    }

    /// Has its code call these runtime functions.
    pub fn write_libcalls(&mut self, table: *const *const ()) {
        // SAFETY: offset and type are those of the layout's head.
        unsafe { self.write(VMCTX_LIBCALLS, table) };
    }

    fn write_imports(&self) {
        let layout = self.module.layout();
        // SAFETY: offsets and types are the layout's; the addresses are of
        // this store and alive.
        unsafe {
            for (i, memory) in (0..).zip(&self.memories) {
                self.write(layout.memory_base(i), memory.as_ref().vm.base);
                self.write(layout.memory_def(i), memory.as_ref().vm.address());
            }
            for (i, table) in (0..).zip(&self.tables) {
                self.write(layout.table_def(i), table.as_ref().vm.address());
            }
            for (i, tag) in (0..).zip(&self.tags) {
                self.write(layout.tag(i), *tag);
            }
            for (i, func) in (0..).zip(&self.imported_funcs) {
                let VmFuncRef { code, vmctx, .. } = *func.as_ptr();
                self.write(layout.func_import(i), VmFuncImport { code, vmctx });
            }
            for i in 0..self.module.info().imported_globals {
                if let GlobalPlace::Pointer(offset) = layout.global(i) {
                    self.write(offset, self.globals[i as usize]);
                }
            }
        }
    }

    fn write_func_refs(&self) {
        let module = &self.module;
        let info = module.info();
        let imported = info
            .escaping
            .iter()
            .map_while(|func| self.imported_funcs.get(*func as usize));
        // SAFETY: of this store, alive.
        let imported = imported.map(|raw| unsafe { *raw.as_ptr() });
        let (code, vmctx) = (module.code(), self.vmctx());
        let own = module.references().iter().map(|own| VmFuncRef {
            code: code.address(own.code),
            vmctx,
            type_id: own.type_id,
            slots: own.slots,
            entry: code.address(own.entry),
        });
        let layout = module.layout();
        for (place, func_ref) in imported.chain(own).enumerate() {
            let offset = layout.funcref_at(place as u32) as usize;
            // SAFETY: the layout's offset of a `VmFuncRef` in the context.
            unsafe { vmctx.add(offset).cast::<VmFuncRef>().write(func_ref) };
        }
    }
}
