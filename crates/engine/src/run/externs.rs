//! Handles to memories, tables and globals, and what imports and exports are.

#![allow(unsafe_code)]

use std::ptr::NonNull;
use std::sync::Arc;

use fathom_sys::cells::Placed;
use fathom_sys::pkeys::Key;

use crate::bounds::WASM_PAGE_BYTES;
use crate::facts::error::{Error, Result};
use crate::facts::types::{
    ExternType, FuncType, GlobalType, Gone, MemoryType, TableType, TagType, TypeHold, TypeId,
    ValType,
};
use crate::facts::vmctx::VmTag;
use crate::run::func::Func;
use crate::run::host::Caller;
use crate::run::memory::{LinearMemory, OutOfBounds};
use crate::run::pool::Pooled;
use crate::run::shared::SharedMemory;
use crate::run::store::private::Sealed;
use crate::run::store::{AsContext, AsContextMut, Store, StoreInner, StoreOpaque, opaque_mut};
use crate::run::table::TableData;
use crate::run::values::Val;

/// Something that can be imported and exported.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Extern {
    /// A function.
    Func(Func),
    /// A table.
    Table(Table),
    /// A memory.
    Memory(Memory),
    /// A global.
    Global(Global),
    /// A tag.
    Tag(Tag),
}

impl Extern {
    /// The function, if it is one.
    pub fn into_func(self) -> Option<Func> {
        match self {
            Extern::Func(func) => Some(func),
            _ => None,
        }
    }

    /// The memory, if it is one.
    pub fn into_memory(self) -> Option<Memory> {
        match self {
            Extern::Memory(memory) => Some(memory),
            _ => None,
        }
    }

    /// The table, if it is one.
    pub fn into_table(self) -> Option<Table> {
        match self {
            Extern::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The global, if it is one.
    pub fn into_global(self) -> Option<Global> {
        match self {
            Extern::Global(global) => Some(global),
            _ => None,
        }
    }

    /// The tag, if it is one.
    pub fn into_tag(self) -> Option<Tag> {
        match self {
            Extern::Tag(tag) => Some(tag),
            _ => None,
        }
    }

    /// Its type now: limits have the current size as minimum.
    ///
    /// # Panics
    /// For an item of another store.
    pub fn ty(&self, store: impl AsContext) -> ExternType {
        assert_eq!(self.store(), store.opaque().id, "item of another store");
        self.ty_in(store.opaque())
    }

    pub(crate) fn store(&self) -> u64 {
        match self {
            Extern::Func(func) => func.store,
            Extern::Table(table) => table.store,
            Extern::Memory(memory) => memory.store,
            Extern::Global(global) => global.store,
            Extern::Tag(tag) => tag.store,
        }
    }

    /// Its type now: limits have the current size as minimum (specification
    /// §4.5.1).
    pub(crate) fn ty_in(&self, store: &StoreOpaque) -> ExternType {
        match self {
            Extern::Func(func) => ExternType::Func(func.ty_in(store)),
            Extern::Table(table) => {
                let data = table.data(store);
                ExternType::Table(TableType {
                    min: data.len(),
                    ..data.ty
                })
            }
            Extern::Memory(memory) => {
                let data = memory.linear(store);
                ExternType::Memory(MemoryType {
                    min: data.pages(),
                    ..data.ty
                })
            }
            Extern::Global(global) => ExternType::Global(global.ty),
            Extern::Tag(tag) => ExternType::Tag(tag.ty_in(store)),
        }
    }
}

macro_rules! handle {
    ($name:ident, $data:ty) => {
        // SAFETY: the address is only used together with its store.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}

        impl From<$name> for Extern {
            fn from(handle: $name) -> Extern {
                Extern::$name(handle)
            }
        }
    };
}

impl From<Func> for Extern {
    fn from(func: Func) -> Extern {
        Extern::Func(func)
    }
}

/// A memory of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    pub(crate) store: u64,
    pub(crate) raw: NonNull<LinearMemory>,
}
handle!(Memory, LinearMemory);

impl Memory {
    /// A memory with the strategy of the store's engine.
    ///
    /// # Errors
    /// Limits beyond what a memory can have or the store may have, a strategy for the
    /// other index type, or a host without room for it.
    pub fn new(mut store: impl AsContextMut, ty: MemoryType) -> Result<Memory> {
        let opaque = opaque_mut(&mut store);
        opaque.or_return(|opaque| {
            opaque.admit_memory(ty)?;
            Memory::new_in(opaque, ty)
        })
    }

    /// The same; what it needs was taken, unless it is shared.
    pub(crate) fn new_in(store: &mut StoreOpaque, ty: MemoryType) -> Result<Memory> {
        let memory = LinearMemory::of_type(&store.engine, ty, store.account.allowance())?;
        Ok(Memory::adopt(store, &memory))
    }

    /// A memory as one of a store's.
    pub(crate) fn adopt(store: &mut StoreOpaque, memory: &Arc<LinearMemory>) -> Memory {
        let raw = NonNull::from(&**memory);
        if !store
            .memories
            .iter()
            .any(|known| Arc::ptr_eq(known, memory))
        {
            store.memories.push(Arc::clone(memory));
        }
        Memory {
            store: store.id,
            raw,
        }
    }

    /// The memory, where it is a shared one, for other stores.
    #[inline]
    pub fn as_shared(&self, store: impl AsContext) -> Option<SharedMemory> {
        let opaque = store.opaque();
        let is_shared = self.linear(opaque).ty.shared;
        is_shared.then(|| SharedMemory::of(opaque, self.raw))
    }

    #[inline]
    pub(crate) fn linear<'a>(&self, store: &'a StoreOpaque) -> &'a LinearMemory {
        assert_eq!(self.store, store.id, "memory of another store");
        // SAFETY: of this store, hence alive as long.
        unsafe { self.raw.as_ref() }
    }

    /// Its type as declared.
    ///
    /// # Panics
    /// This and the other methods that cannot fail, and [`Memory::read`] and
    /// [`Memory::write`]: for a memory of another store.
    pub fn ty(&self, store: impl AsContext) -> MemoryType {
        self.linear(store.opaque()).ty
    }

    /// Current size in pages of 64 KiB.
    pub fn size(&self, store: impl AsContext) -> u64 {
        self.linear(store.opaque()).pages()
    }

    /// Current size in bytes.
    pub fn data_size(&self, store: impl AsContext) -> usize {
        self.linear(store.opaque()).len()
    }

    /// Grow by `delta` pages; returns the former size in pages.
    ///
    /// # Errors
    /// A memory of another store; beyond the maximum or what the store may have, or
    /// where the host has no room.
    pub fn grow(&self, mut store: impl AsContextMut, delta: u64) -> Result<u64> {
        let opaque = opaque_mut(&mut store);
        opaque.owns(self.store, "memory")?;
        // SAFETY: of this store, hence alive as long.
        opaque.grow_memory(unsafe { self.raw.as_ref() }, delta)?
    }

    /// The bytes of the memory, for the host to read.
    ///
    /// # Panics
    /// This and the other methods that give slices: for a shared memory, whose
    /// bytes may change at any time; see [`Memory::as_shared`].
    pub fn data<'a, C: AsContext>(&self, store: &'a C) -> &'a [u8] {
        let memory = self.unshared(store.opaque());
        // SAFETY: not shared, and its store is borrowed for as long.
        unsafe { memory.bytes() }
    }

    /// Its contents, to change.
    pub fn data_mut<'a, C: AsContextMut>(&self, store: &'a mut C) -> &'a mut [u8] {
        let memory = self.unshared(opaque_mut(store));
        // SAFETY: not shared, and its store is exclusively borrowed for as long.
        unsafe { memory.bytes_mut() }
    }

    #[inline]
    fn unshared<'a>(&self, store: &'a StoreOpaque) -> &'a LinearMemory {
        let memory = self.linear(store);
        assert!(!memory.ty.shared, "there are no slices of a shared memory");
        memory
    }

    /// Its contents and the host's data, both to change.
    #[inline]
    pub fn data_and_store_mut<'a, T, C>(&self, store: &'a mut C) -> (&'a mut [u8], &'a mut T)
    where
        C: AsContextMut<Data = T> + DataPtr<T>,
        T: 'a,
    {
        let data = store.data_ptr();
        let memory = self.unshared(opaque_mut(store));
        // SAFETY: the memory's bytes are no part of the host's data, and both
        // are borrowed from one exclusive borrow of the store.
        unsafe { (memory.bytes_mut(), &mut *data) }
    }

    /// Copy bytes out of it.
    ///
    /// # Errors
    /// [`OutOfBounds`]; nothing is copied then.
    pub fn read(
        &self,
        store: impl AsContext,
        start: u64,
        into: &mut [u8],
    ) -> Result<(), OutOfBounds> {
        // SAFETY: the store is borrowed.
        unsafe { self.linear(store.opaque()).read(start, into) }
    }

    /// Copy bytes into it.
    ///
    /// # Errors
    /// [`OutOfBounds`]; nothing is changed then.
    pub fn write(
        &self,
        store: impl AsContextMut,
        start: u64,
        from: &[u8],
    ) -> Result<(), OutOfBounds> {
        // SAFETY: the store is exclusively borrowed.
        unsafe { self.linear(store.opaque()).write(start, from) }
    }

    /// Check a range and make it one that the kernel can access: to be called
    /// before a part of the memory is handed to a system call. Under `uffd`, a
    /// page that nobody has touched would otherwise make it fail with EFAULT.
    ///
    /// # Errors
    /// [`OutOfBounds`] unless the range is inside.
    #[inline]
    pub fn populate(&self, store: impl AsContext, start: u64, len: u64) -> Result<(), OutOfBounds> {
        self.linear(store.opaque()).populate(start, len)
    }

    /// Bytes of address space set aside for it.
    pub fn reserved_bytes(&self, store: impl AsContext) -> u64 {
        let plan = &self.linear(store.opaque()).plan;
        plan.lead_bytes() + plan.reserved_bytes
    }

    /// Bytes of a page: 65,536.
    pub const PAGE_BYTES: u64 = WASM_PAGE_BYTES;
}

/// What [`Memory::data_and_store_mut`] takes. Sealed.
pub trait DataPtr<T>: Sealed {
    /// Where the host's data is.
    #[doc(hidden)]
    fn data_ptr(&mut self) -> *mut T {
        let store: *mut StoreInner<T> = self.opaque_ptr().cast();
        // SAFETY: implementors' stores have data of type `T`; only the address
        // is taken.
        unsafe { &raw mut (*store).data }
    }
}
impl<T> DataPtr<T> for Store<T> {}
impl<T> DataPtr<T> for Caller<'_, T> {}
impl<T> DataPtr<T> for Pooled<T> {}
impl<T, C: DataPtr<T>> DataPtr<T> for &mut C {}

/// A table of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    pub(crate) store: u64,
    pub(crate) raw: NonNull<TableData>,
}
handle!(Table, TableData);

impl Table {
    /// A table with all elements `init`.
    ///
    /// # Errors
    /// An `init` of another type, limits beyond [`crate::MAX_TABLE_ELEMENTS`], or more
    /// than the store may have.
    pub fn new(mut store: impl AsContextMut, ty: TableType, init: impl Into<Val>) -> Result<Table> {
        let opaque = opaque_mut(&mut store);
        let init = element(ty, &init.into(), opaque)?;
        opaque.hold(ValType::Ref(ty.element))?;
        opaque.or_return(|opaque| {
            opaque.admit_table(ty)?;
            Table::new_in(opaque, ty, init)
        })
    }

    /// The same; what it needs was taken.
    pub(crate) fn new_in(store: &mut StoreOpaque, ty: TableType, init: u64) -> Result<Table> {
        let data = TableData::new(ty, init, store.engine.domain()).ok_or_else(|| {
            Error::mismatch(format!(
                "there is no room for a table of {} elements",
                ty.min
            ))
        })?;
        let raw = NonNull::from(&*data);
        store.tables.push(data);
        Ok(Table {
            store: store.id,
            raw,
        })
    }

    pub(crate) fn data<'a>(&self, store: &'a StoreOpaque) -> &'a TableData {
        assert_eq!(self.store, store.id, "table of another store");
        // SAFETY: of this store, hence alive as long.
        unsafe { self.raw.as_ref() }
    }

    pub(crate) fn data_mut<'a>(&self, store: &'a mut StoreOpaque) -> &'a mut TableData {
        assert_eq!(self.store, store.id, "table of another store");
        // SAFETY: of this store, which is exclusively borrowed.
        unsafe { &mut *self.raw.as_ptr() }
    }

    /// Its type as declared.
    ///
    /// # Panics
    /// This and the other methods that cannot fail: for a table of another store.
    pub fn ty(&self, store: impl AsContext) -> TableType {
        self.data(store.opaque()).ty
    }

    /// Current number of elements.
    pub fn size(&self, store: impl AsContext) -> u64 {
        self.data(store.opaque()).len()
    }

    /// An element; nothing beyond the end.
    pub fn get(&self, store: impl AsContext, index: u64) -> Option<Val> {
        let opaque = store.opaque();
        let table = self.data(opaque);
        let raw = *table.elements().get(usize::try_from(index).ok()?)?;
        // SAFETY: cells hold references of the table's type, of this store.
        Some(unsafe { Val::from_slot(u128::from(raw), ValType::Ref(table.ty.element), opaque) })
    }

    /// Set an element.
    ///
    /// # Errors
    /// A table of another store, a value of another type, or an index beyond the end.
    pub fn set(
        &self,
        mut store: impl AsContextMut,
        index: u64,
        value: impl Into<Val>,
    ) -> Result<()> {
        let opaque = opaque_mut(&mut store);
        opaque.owns(self.store, "table")?;
        let raw = element(self.data(opaque).ty, &value.into(), opaque)?;
        let elements = self.data_mut(opaque).elements_mut();
        let cell = usize::try_from(index)
            .ok()
            .and_then(|i| elements.get_mut(i));
        *cell.ok_or_else(|| Error::mismatch(format!("no table element {index}")))? = raw;
        Ok(())
    }

    /// Grow by `delta` elements, all `init`; returns the former size.
    ///
    /// # Errors
    /// A table of another store, a value of another type, or beyond the maximum or
    /// what the store may have.
    pub fn grow(
        &self,
        mut store: impl AsContextMut,
        delta: u64,
        init: impl Into<Val>,
    ) -> Result<u64> {
        let opaque = opaque_mut(&mut store);
        opaque.owns(self.store, "table")?;
        let raw = element(self.data(opaque).ty, &init.into(), opaque)?;
        // SAFETY: of this store, whose tables are boxed and not reached through it
        // meanwhile.
        opaque.grow_table(unsafe { &mut *self.raw.as_ptr() }, delta, raw)?
    }
}

fn gone(gone: Gone) -> Error {
    Error::mismatch(format!("type of an item: {gone}"))
}

impl StoreOpaque {
    /// Keep what the type of an item of the host's mentions.
    fn hold(&mut self, ty: ValType) -> Result<()> {
        self.types.extend(TypeHold::mentioned(ty).map_err(gone)?);
        Ok(())
    }
}

fn element(ty: TableType, value: &Val, store: &mut StoreOpaque) -> Result<u64> {
    store.collect_externs();
    value.check(ValType::Ref(ty.element), store)?;
    Ok(value.to_slot(store)? as u64)
}

/// A global of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Global {
    pub(crate) store: u64,
    pub(crate) cell: NonNull<u128>,
    pub(crate) ty: GlobalType,
}
handle!(Global, u128);

impl Global {
    /// A global with a value.
    ///
    /// # Errors
    /// A value of another type.
    pub fn new(
        mut store: impl AsContextMut,
        ty: GlobalType,
        value: impl Into<Val>,
    ) -> Result<Global> {
        let opaque = opaque_mut(&mut store);
        let slot = content(ty, &value.into(), opaque)?;
        opaque.hold(ty.content)?;
        let cell = Placed::new(opaque.engine.domain(), Key::Inside, slot);
        let handle = Global {
            store: opaque.id,
            cell: cell.address(),
            ty,
        };
        opaque.globals.push(cell);
        Ok(handle)
    }

    /// The type of the values, and whether they can change.
    pub fn ty(&self) -> GlobalType {
        self.ty
    }

    /// The value that it has now.
    ///
    /// # Panics
    /// For a global of another store.
    pub fn get(&self, store: impl AsContext) -> Val {
        let opaque = store.opaque();
        assert_eq!(self.store, opaque.id, "global of another store");
        // SAFETY: of this store, hence alive; the cell holds its type.
        unsafe { Val::from_slot(*self.cell.as_ptr(), self.ty.content, opaque) }
    }

    /// Set its value.
    ///
    /// # Errors
    /// A global of another store, an immutable one, or a value of another type.
    pub fn set(&self, mut store: impl AsContextMut, value: impl Into<Val>) -> Result<()> {
        let opaque = opaque_mut(&mut store);
        opaque.owns(self.store, "global")?;
        if !self.ty.mutable {
            return Err(Error::mismatch("the global is immutable"));
        }
        let slot = content(self.ty, &value.into(), opaque)?;
        // SAFETY: of this store, which is exclusively borrowed.
        unsafe { *self.cell.as_ptr() = slot };
        Ok(())
    }
}

fn content(ty: GlobalType, value: &Val, store: &mut StoreOpaque) -> Result<u128> {
    store.collect_externs();
    value.check(ty.content, store)?;
    value.to_slot(store)
}

/// A tag of a store: what tells exceptions apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    pub(crate) store: u64,
    pub(crate) raw: NonNull<VmTag>,
}
handle!(Tag, VmTag);

impl Tag {
    /// A tag whose exceptions carry values of the parameters' types.
    ///
    /// # Errors
    /// A type with results.
    pub fn new(mut store: impl AsContextMut, ty: &FuncType) -> Result<Tag> {
        if !ty.results().is_empty() {
            return Err(Error::mismatch("a tag's type has no results"));
        }
        let opaque = opaque_mut(&mut store);
        let (id, hold) = TypeHold::of(ty).map_err(gone)?;
        opaque.types.push(hold);
        Ok(Tag::new_in(opaque, id.number()))
    }

    /// Of a type that the store holds.
    pub(crate) fn new_in(store: &mut StoreOpaque, type_id: u32) -> Tag {
        let tag = Placed::new(store.engine.domain(), Key::Fixed, VmTag { type_id });
        let raw = tag.address();
        store.tags.push(tag);
        Tag {
            store: store.id,
            raw,
        }
    }

    /// The types of the values that an exception carries.
    ///
    /// # Panics
    /// For a tag of another store.
    pub fn ty(&self, store: impl AsContext) -> TagType {
        self.ty_in(store.opaque())
    }

    pub(crate) fn ty_in(&self, store: &StoreOpaque) -> TagType {
        assert_eq!(self.store, store.id, "tag of another store");
        TagType(TypeId::signature(self.type_number()))
    }

    /// The number of its type, which its store holds; its store has been compared.
    pub(crate) fn type_number(&self) -> u32 {
        // SAFETY: of a live store, hence alive as long.
        unsafe { self.raw.as_ref() }.type_id
    }
}
