//! Pools: instances that are used again instead of being made again.
//!
//! ```text
//!  Pool ──► lane 0: idle slots (the last one in is the first one out)   thread 0
//!       ──► lane 1: …                                                   thread 1
//!             slot = a store with one instance, restored (`recycle`)
//!  Pooled: a slot and the host's data; back to its lane when it is dropped
//! ```
//!
//! A slot keeps its reservation, what is open of it, its context, tables and host
//! functions; so the usual path makes no system call that changes a mapping, and
//! for small memories none at all. Threads meet neither in a lock of ours nor in
//! that of the process's mappings, as long as there are as many lanes as threads.
//!
//! What must stay true: a slot is restored before it is idle, so an idle one holds
//! nothing of anybody; one that cannot be restored is dropped. A pool holds at most
//! `lanes × idle` slots, each with at most `resident_bytes` of each memory.

#![allow(unsafe_code)]

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::facts::error::{Error, Result};
use crate::facts::module::EntityIndex;
use crate::facts::types::FuncType;
use crate::run::func::{Func, TypedFunc, WasmParams, WasmResults};
use crate::run::handle::Module;
use crate::run::instance::{Instance, InstanceData};
use crate::run::interrupt::Interrupt;
use crate::run::limits::ResourceLimiter;
use crate::run::linker::{InstancePre, Linker};
use crate::run::recycle::Template;
use crate::run::store::private::Sealed;
use crate::run::store::{
    AsContext, AsContextMut, Store, StoreInner, StoreOpaque, limiter_in, opaque_mut, take_ids,
};

/// What a pool may keep, at most.
///
/// The product is the bound: `lanes × idle` instances that nobody uses, with
/// `resident_bytes` of each memory, their tables as large as they are at first, and
/// the address space that the strategy reserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolLimits {
    /// Lists of idle instances. Threads use them in turn; as many threads meet in
    /// no lock.
    pub lanes: usize,
    /// Idle instances of a lane; beyond, they are dropped.
    pub idle: usize,
    /// Bytes of a memory that stay in the machine's memory while it is idle, at most: first of
    /// what it has grown by, then of what it is at first. Either is given back whole where it
    /// is more than what is left of them.
    pub resident_bytes: usize,
}

impl Default for PoolLimits {
    /// A lane for each processor, 16 idle instances each, 1 MiB of each memory.
    fn default() -> PoolLimits {
        PoolLimits {
            lanes: std::thread::available_parallelism().map_or(1, usize::from),
            idle: 16,
            resident_bytes: 1 << 20,
        }
    }
}

/// Ids that a lane takes at once, so that threads do not count together.
const IDS: u64 = 1 << 16;

/// Instances of one module, used again. Shared by threads; an instance goes back
/// where it came from when it is dropped.
///
/// One that is used again cannot be told from a new one: memories, globals, tables
/// and segments are what the module says, the start function runs again, and
/// handles of the lease before are those of another store.
///
/// ```
/// use fathom_engine::{Config, Engine, Linker, Module, Pool, PoolLimits};
///
/// # fn main() -> fathom_engine::Result<()> {
/// let engine = Engine::new(&Config::new())?;
/// // (module (func (export "add") (param i32 i32) (result i32)
/// //   local.get 0  local.get 1  i32.add))
/// let wasm = b"\0asm\x01\0\0\0\x01\x07\x01\x60\x02\x7f\x7f\x01\x7f\x03\x02\x01\0\
///              \x07\x07\x01\x03add\0\0\x0a\x09\x01\x07\0\x20\0\x20\x01\x6a\x0b";
/// let module = Module::new(&engine, wasm)?;
/// let pool = Pool::new(&Linker::new(&engine), &module, PoolLimits::default())?;
/// let add = pool.func::<(i32, i32), i32>("add")?;
/// for i in 0..1000 {
///     let mut instance = pool.instantiate(())?;
///     assert_eq!(instance.func(&add)?.call(&mut instance, (i, 3))?, i + 3);
/// }
/// # Ok(())
/// # }
/// ```
pub struct Pool<T> {
    resolved: InstancePre<T>,
    lanes: Box<[Arc<Lane<T>>]>,
}

/// Idle slots. On cache lines of its own.
#[repr(align(128))]
struct Lane<T> {
    idle: Mutex<Idle<T>>,
    limits: PoolLimits,
    /// Whether instances can be used again at all.
    keeps: bool,
}

struct Idle<T> {
    slots: Vec<Slot<T>>,
    next_id: u64,
    end_id: u64,
}

/// A store with one instance; its data is there only while it is in use.
struct Slot<T> {
    store: Store<MaybeUninit<T>>,
    instance: NonNull<InstanceData>,
    template: Template,
}

// SAFETY: the instance is the store's, which moves with it; the data is absent or
// sent on its own (`Pooled`).
unsafe impl<T> Send for Slot<T> {}

/// An instance of a pool in a store of its own, in use. What takes a store takes
/// this.
pub struct Pooled<T> {
    slot: ManuallyDrop<Slot<T>>,
    lane: Arc<Lane<T>>,
    data: PhantomData<T>,
}

// SAFETY: it owns its store, which may be shared when the data may: a shared store
// only hands out shared data.
unsafe impl<T: Sync> Sync for Pooled<T> {}

/// An exported function of a pool's module, found once for all instances.
#[derive(Debug)]
pub struct PooledFunc<P, R> {
    module: Module,
    index: u32,
    shape: PhantomData<fn(P) -> R>,
}

impl<T> Lane<T> {
    /// Nobody panics while holding it.
    fn lock(&self) -> MutexGuard<'_, Idle<T>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Idle<T> {
    fn id(&mut self) -> u64 {
        if self.next_id == self.end_id {
            self.next_id = take_ids(IDS);
            self.end_id = self.next_id + IDS;
        }
        self.next_id += 1;
        self.next_id - 1
    }
}

/// A number for the calling thread, the next one for the next thread.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    thread_local! {
        static NUMBER: Cell<usize> = const { Cell::new(0) };
    }
    match NUMBER.get() {
        0 => {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            NUMBER.set(number);
            number
        }
        number => number,
    }
}

impl<T> Pool<T> {
    /// A pool of instances with the linker's definitions, as they are now. Nothing
    /// is made yet.
    ///
    /// Instances of a module that defines a shared memory are never used again:
    /// other stores may have it.
    ///
    /// # Errors
    /// An import that is missing, or defined by what a store owns: instances of a
    /// pool have stores of their own. Definitions of the host's and shared memories
    /// are for all of them.
    pub fn new(linker: &Linker<T>, module: &Module, limits: PoolLimits) -> Result<Pool<T>> {
        let resolved = linker.instantiate_pre(module)?;
        resolved.check_free_of_stores()?;
        let info = module.info();
        let own = &info.memories[info.imported_memories as usize..];
        // What is in a heap is not restored.
        let keeps = !own.iter().any(|ty| ty.shared) && !info.has_objects;
        let lane = || {
            Arc::new(Lane {
                idle: Mutex::new(Idle {
                    slots: Vec::new(),
                    next_id: 0,
                    end_id: 0,
                }),
                limits,
                keeps,
            })
        };
        Ok(Pool {
            resolved,
            lanes: (0..limits.lanes.max(1)).map(|_| lane()).collect(),
        })
    }

    /// The module.
    pub fn module(&self) -> &Module {
        self.resolved.module()
    }

    /// Instances that are kept and not in use.
    pub fn idle(&self) -> usize {
        self.lanes.iter().map(|lane| lane.lock().slots.len()).sum()
    }

    /// An exported function, to be called in any instance.
    ///
    /// # Errors
    /// No such export, or one of another type.
    pub fn func<P: WasmParams, R: WasmResults>(&self, name: &str) -> Result<PooledFunc<P, R>> {
        let module = self.module();
        let Some(EntityIndex::Func(index)) = module.export(name) else {
            return Err(Error::mismatch(format!("no exported function '{name}'")));
        };
        let ty = module.info().func_type(index);
        let wanted = FuncType::new(P::types(), R::types());
        if *ty != wanted {
            return Err(Error::mismatch(format!("function is {ty}, not {wanted}")));
        }
        Ok(PooledFunc {
            module: module.clone(),
            index,
            shape: PhantomData,
        })
    }

    /// An instance, with data of the host's. Its start function has run.
    ///
    /// # Errors
    /// What [`Linker::instantiate`] says.
    pub fn instantiate(&self, data: T) -> Result<Pooled<T>> {
        self.instantiate_with(data, |_| {})
    }

    /// The same; what is done in `ready` is done before the start function runs. A limiter that
    /// is set there is asked about what the module defines, as if that were made just now.
    ///
    /// # Errors
    /// As [`Pool::instantiate`].
    pub fn instantiate_with(
        &self,
        data: T,
        ready: impl FnOnce(&mut Pooled<T>),
    ) -> Result<Pooled<T>> {
        let lane = &self.lanes[thread_number() % self.lanes.len()];
        let idle = {
            let mut idle = lane.lock();
            idle.slots.pop().map(|slot| (slot, idle.id()))
        };
        let slot = match idle {
            Some((mut slot, id)) => {
                slot.put(id, data);
                slot
            }
            None => self.make(data)?,
        };
        let mut pooled = Pooled {
            slot: ManuallyDrop::new(slot),
            lane: lane.clone(),
            data: PhantomData,
        };
        ready(&mut pooled);
        pooled.opaque().ask_instance(self.module())?;
        // SAFETY: prepared just now or restored before it was idle; ours.
        unsafe { Instance::begin(pooled.slot.instance)? };
        Ok(pooled)
    }

    fn make(&self, data: T) -> Result<Slot<T>> {
        let module = self.module();
        let mut store = Store::new(module.engine(), MaybeUninit::new(data));
        let opaque = opaque_mut(&mut store);
        // SAFETY: a `MaybeUninit<T>` is laid out as the `T` which it holds.
        let prepared = unsafe { self.resolved.prepare(opaque) };
        match prepared {
            Ok(instance) => Ok(Slot {
                // SAFETY: prepared in this store.
                template: unsafe { Template::of(opaque, instance) },
                store,
                instance,
            }),
            Err(error) => {
                // SAFETY: it was put there above, and the store is gone with it.
                unsafe { store.data_mut().assume_init_drop() };
                Err(error)
            }
        }
    }
}

impl<T> Slot<T> {
    /// Begin a lease.
    fn put(&mut self, id: u64, data: T) {
        opaque_mut(&mut self.store).id = id;
        self.store.data_mut().write(data);
    }

    /// Whether it is as it was when it was new.
    fn restore(&mut self, resident_bytes: usize) -> bool {
        let store = opaque_mut(&mut self.store);
        // SAFETY: the template was made of them; both are ours.
        let done = unsafe { self.template.restore(store, self.instance, resident_bytes) };
        done.is_ok()
    }
}

impl<T> Drop for Pooled<T> {
    fn drop(&mut self) {
        // SAFETY: taken once, here; nobody uses `self` afterwards.
        let mut slot = unsafe { ManuallyDrop::take(&mut self.slot) };
        // SAFETY: there as long as the instance was in use; it is not any more.
        let data = unsafe { slot.store.data_mut().assume_init_read() };
        let lane = &self.lane;
        if lane.keeps && lane.limits.idle > 0 && slot.restore(lane.limits.resident_bytes) {
            let mut idle = lane.lock();
            if idle.slots.len() < lane.limits.idle {
                idle.slots.push(slot);
            } else {
                // Unlocked first: unmapping takes its time.
                drop(idle);
                drop(slot);
            }
        }
        // Last, for the host's code may panic.
        drop(data);
    }
}

impl<T> Pooled<T> {
    /// The instance.
    pub fn instance(&self) -> Instance {
        Instance::of(self.opaque().id, self.slot.instance)
    }

    /// A function that was found by [`Pool::func`].
    ///
    /// # Errors
    /// One of another module.
    pub fn func<P, R>(&self, func: &PooledFunc<P, R>) -> Result<TypedFunc<P, R>> {
        // SAFETY: an instance is alive as long as its store.
        let data = unsafe { self.slot.instance.as_ref() };
        if !data.module.same(&func.module) {
            return Err(Error::mismatch("function of another module"));
        }
        let raw = data.func_ref(func.index);
        let store = self.opaque().id;
        Ok(TypedFunc::of(Func { store, raw }))
    }

    /// The host's data.
    pub fn data(&self) -> &T {
        // SAFETY: there as long as the instance is in use.
        unsafe { self.slot.store.data().assume_init_ref() }
    }

    /// The host's data, to change.
    pub fn data_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { self.slot.store.data_mut().assume_init_mut() }
    }

    /// Ask a limiter in the data before anything grows or is made, from now on until the
    /// instance goes back. What the module defines is asked about if it is set by
    /// [`Pool::instantiate_with`].
    pub fn limiter(
        &mut self,
        limiter: impl (Fn(&mut T) -> &mut dyn ResourceLimiter) + Send + Sync + 'static,
    ) where
        T: 'static,
    {
        let data = NonNull::from(self.data_mut());
        // SAFETY: the data is in the store, which does not move; the limiter is
        // forgotten when the instance goes back, before the data is taken out.
        opaque_mut(self).limiter = Some(unsafe { limiter_in(data, limiter) });
    }

    /// Let an [`Interrupt`] end what runs in this instance; it takes the place of an
    /// earlier one.
    pub fn set_interrupt(&mut self, interrupt: &Interrupt) {
        self.slot.store.set_interrupt(interrupt);
    }
}

impl<T> Sealed for Pooled<T> {
    fn opaque(&self) -> &StoreOpaque {
        self.slot.store.opaque()
    }
    fn opaque_ptr(&self) -> *mut StoreOpaque {
        self.slot.store.opaque_ptr()
    }
}

impl<T> AsContext for Pooled<T> {
    type Data = T;
}
impl<T> AsContextMut for Pooled<T> {}

// What `DataPtr` and host functions rely on: they see a store with data of type `T`.
const _: () = assert!(
    size_of::<StoreInner<MaybeUninit<u64>>>() == size_of::<StoreInner<u64>>(),
    "a store of possibly absent data is laid out as one of data"
);

impl<T> std::fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool")
            .field("module", self.module())
            .field("lanes", &self.lanes.len())
            .finish_non_exhaustive()
    }
}

impl<T> std::fmt::Debug for Pooled<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pooled").finish_non_exhaustive()
    }
}
