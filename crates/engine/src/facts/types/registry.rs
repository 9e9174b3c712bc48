//! Defined types and their ids: equal types have equal ids in the whole process, so that
//! comparing the types of two functions or objects is comparing two numbers.
//!
//! ```text
//!  shape ──► group: number of its first type ──► slot ─next─► slot …
//!   a recursive group's types                     │ generation, type, uses
//!  TypeHold { groups } ── counted in `uses` ──────┘
//! ```
//!
//! A type may mention others, by id, and those of its own recursive group,
//! itself among them: `(type $t (func (param (ref null $t))))`. While a group is
//! looked up, its own types are written as their positions in it, which makes
//! equal groups equal before they have ids (specification §3.1.1, iso-recursive
//! equality).
//!
//! What must stay true: who can compare or read a number holds its group
//! ([`TypeHold`]): modules, and so their instances; the trampolines of host
//! functions, and so the stores with such functions; tags, tables and globals that
//! the host made; groups that mention it. A group that nobody holds is given back
//! at once, and its numbers are used again under another generation. A [`TypeId`]
//! has both: one that outlives its group is equal to none that comes later.

use std::collections::HashMap;
use std::fmt;
use std::sync::{LazyLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::defined::{DefKind, DefType, concrete};
use super::{FuncType, ValType};

/// The id of a defined type, the same in the whole process as long as a module, a
/// function, a tag, a table or a global uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId {
    /// What compiled code compares.
    number: u32,
    /// Which of those that had the number.
    generation: u32,
}

static REGISTRY: LazyLock<RwLock<Registry>> = LazyLock::new(RwLock::default);

/// No slot.
const NONE: u32 = u32::MAX;

/// Tables with room for fewer are not made smaller.
const ROOM_MIN: usize = 1024;

/// Members of a group that are searched one after the other.
const FEW: usize = 8;

#[derive(Default)]
struct Registry {
    /// First type of a recursive group, by shape: references to the group's own
    /// types are written as their position ([`TypeId::within`]).
    shapes: HashMap<Box<[DefType]>, u32>,
    /// By resolved signature, the types of functions that are more than this signature, or
    /// whose group is: the host asks with what it read from a module.
    resolved: HashMap<FuncType, Vec<u32>>,
    /// By number. The first is nobody's: 0 stands for no type in a heap.
    slots: Vec<Slot>,
    /// Numbers of vacant slots that can be used.
    free: Vec<u32>,
    /// Later than the generation of any slot that was cut off at the end.
    floor: u32,
}

struct Slot {
    generation: u32,
    /// The first type of its group.
    leader: u32,
    /// The next type of its group.
    next: u32,
    /// Of the leader: by how many it is held.
    uses: u64,
    /// References resolved; nothing where it is vacant.
    ty: Option<DefType>,
}

fn read() -> RwLockReadGuard<'static, Registry> {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner)
}

fn write() -> RwLockWriteGuard<'static, Registry> {
    REGISTRY.write().unwrap_or_else(PoisonError::into_inner)
}

/// A signature mentions a type that nothing uses any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it mentions a type that nothing uses any more")]
pub(crate) struct Gone;

/// Keeps types, and so their numbers, until it is dropped.
#[derive(Debug, Default)]
pub(crate) struct TypeHold {
    /// First types of groups, once for each time.
    groups: Vec<u32>,
}

impl TypeHold {
    /// Holds a recursive group, too; its ids and its types.
    pub fn add(&mut self, shape: Box<[DefType]>) -> (Vec<TypeId>, Vec<DefType>) {
        let mut registry = write();
        let leader = registry.intern(shape);
        self.groups.push(leader);
        let members = registry.members(leader);
        let known = members.filter_map(|number| {
            let ty = registry.slots[number as usize].ty.clone()?;
            Some((registry.id(number), ty))
        });
        known.unzip()
    }

    /// A signature and its id.
    ///
    /// # Errors
    /// It mentions a type that is gone.
    pub fn of(ty: &FuncType) -> Result<(TypeId, TypeHold), Gone> {
        let mut registry = write();
        let number = match registry.find(ty) {
            Some(number) => number,
            None => {
                let ty = DefType::from(ty.clone());
                if !registry.mentions_live_only(&ty) {
                    return Err(Gone);
                }
                registry.add(Box::new([ty]))
            }
        };
        let leader = registry.slots[number as usize].leader;
        registry.slots[leader as usize].uses += 1;
        let groups = vec![leader];
        Ok((registry.id(number), TypeHold { groups }))
    }

    /// What a type of values mentions.
    ///
    /// # Errors
    /// [`Gone`] where nobody holds the type any more.
    pub fn mentioned(ty: ValType) -> Result<Option<TypeHold>, Gone> {
        let Some(id) = concrete(&ty) else {
            return Ok(None);
        };
        TypeHold::known(id).map(Some)
    }

    /// A type that something uses.
    ///
    /// # Errors
    /// [`Gone`] where nobody holds the type any more.
    pub fn known(id: TypeId) -> Result<TypeHold, Gone> {
        let mut registry = write();
        let leader = registry.live(id).ok_or(Gone)?.leader;
        registry.slots[leader as usize].uses += 1;
        let groups = vec![leader];
        Ok(TypeHold { groups })
    }
}

impl Drop for TypeHold {
    fn drop(&mut self) {
        if !self.groups.is_empty() {
            write().release(std::mem::take(&mut self.groups));
        }
    }
}

impl TypeId {
    /// Numbers from here on are positions in the group that is being built.
    const FIRST_WITHIN: u32 = 1 << 31;

    /// The type at a position of the group that is being built.
    pub(super) fn within(position: usize) -> TypeId {
        TypeId {
            number: TypeId::FIRST_WITHIN + position as u32,
            generation: 0,
        }
    }

    /// The signature of this id; nothing when nobody uses it any more, or where its values
    /// are no functions.
    pub fn func_type(self) -> Option<FuncType> {
        read().live(self)?.ty.as_ref()?.func().cloned()
    }

    /// Whether every value of this type is one of `other` (specification §3.3.5).
    pub(crate) fn is_subtype_of(self, other: TypeId) -> bool {
        self == other || read().ancestors(self.number).any(|id| id == other)
    }

    /// The number that compiled code compares.
    pub(crate) fn number(self) -> u32 {
        self.number
    }

    /// The id that a number stands for, which somebody holds.
    pub(crate) fn from_number(number: u32) -> TypeId {
        read().id(number)
    }

    /// The type that a number stands for, which somebody holds.
    pub(crate) fn defined(number: u32) -> DefType {
        let ty = read().slots[number as usize].ty.clone();
        ty.expect("a number is held by whoever has it")
    }

    /// The signature that a number stands for, which somebody holds: a function's or a tag's.
    pub(crate) fn signature(number: u32) -> FuncType {
        match TypeId::defined(number).kind {
            DefKind::Func(ty) => ty,
            other => unreachable!("functions and tags have signatures: {other:?}"),
        }
    }

    /// The numbers of the types that a type is below, itself the last, the one that is below
    /// none the first. Somebody holds it.
    pub(crate) fn lineage(number: u32) -> Vec<u32> {
        let registry = read();
        let mut numbers = vec![number];
        numbers.extend(registry.ancestors(number).map(|id| id.number));
        numbers.reverse();
        numbers
    }

    /// How many parameters the signature of a number has, which somebody holds.
    pub(crate) fn param_count(number: u32) -> usize {
        let registry = read();
        let ty = registry.slots[number as usize].ty.as_ref();
        ty.and_then(DefType::func).map_or(0, |ty| ty.params().len())
    }
}

impl fmt::Display for TypeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A recursive one would print itself without end.
        write!(f, "#{}", self.number)
    }
}

impl Registry {
    /// The id of an occupied slot.
    fn id(&self, number: u32) -> TypeId {
        let generation = self.slots[number as usize].generation;
        TypeId { number, generation }
    }

    /// The slot of an id that something uses.
    fn live(&self, id: TypeId) -> Option<&Slot> {
        let slot = self.slots.get(id.number as usize)?;
        (slot.generation == id.generation && slot.ty.is_some()).then_some(slot)
    }

    fn mentions_live_only(&self, ty: &DefType) -> bool {
        ty.mentions().all(|id| self.live(id).is_some())
    }

    /// The types that a type is below, from the nearest on.
    fn ancestors(&self, number: u32) -> impl Iterator<Item = TypeId> {
        let above = |number: u32| self.slots.get(number as usize)?.ty.as_ref()?.supertype;
        std::iter::successors(above(number), move |id| above(id.number))
    }

    /// A type that reads like this. One that is a group by itself goes first, unless
    /// it mentions types: then one that mentions its own group.
    fn find(&self, ty: &FuncType) -> Option<u32> {
        let plain = DefType::from(ty.clone());
        let alone = || self.shapes.get(std::slice::from_ref(&plain)).copied();
        let of_more = || self.resolved.get(ty)?.first().copied();
        match plain.mentions().next() {
            None => alone().or_else(of_more),
            Some(_) => of_more().or_else(alone),
        }
    }

    /// The numbers of a group, in order.
    fn members(&self, leader: u32) -> impl Iterator<Item = u32> {
        let next = |number: &u32| Some(self.slots[*number as usize].next).filter(|n| *n != NONE);
        std::iter::successors(Some(leader), next)
    }

    /// The first type of a group with this shape, held once more.
    fn intern(&mut self, shape: Box<[DefType]>) -> u32 {
        let leader = match self.shapes.get(&shape) {
            Some(leader) => *leader,
            None => self.add(shape),
        };
        self.slots[leader as usize].uses += 1;
        leader
    }

    /// A group that is not there yet, and that nobody holds.
    fn add(&mut self, shape: Box<[DefType]>) -> u32 {
        let numbers: Vec<u32> = shape.iter().map(|_| self.vacant()).collect();
        let ids: Vec<TypeId> = numbers.iter().map(|number| self.id(*number)).collect();
        let leader = numbers[0];
        let resolve = |id: TypeId| match id.number.checked_sub(TypeId::FIRST_WITHIN) {
            Some(position) => ids[position as usize],
            None => id,
        };
        for (position, ty) in shape.iter().enumerate() {
            for id in ty.mentions().filter(|id| id.number < TypeId::FIRST_WITHIN) {
                let mentioned = self.slots[id.number as usize].leader;
                self.slots[mentioned as usize].uses += 1;
            }
            let number = numbers[position];
            let resolved = ty.mapped(resolve);
            let is_more = resolved != *ty || shape.len() > 1 || !ty.is_plain();
            if let (Some(func), true) = (resolved.func(), is_more) {
                let alike = self.resolved.entry(func.clone()).or_default();
                alike.push(number);
            }
            let slot = &mut self.slots[number as usize];
            slot.leader = leader;
            slot.next = numbers.get(position + 1).copied().unwrap_or(NONE);
            slot.uses = 0;
            slot.ty = Some(resolved);
        }
        self.shapes.insert(shape, leader);
        leader
    }

    /// A slot for a new type.
    fn vacant(&mut self) -> u32 {
        let empty = |generation| Slot {
            generation,
            leader: NONE,
            next: NONE,
            uses: 0,
            ty: None,
        };
        if self.slots.is_empty() {
            // A number whose generations are used up is nobody's for ever.
            self.slots.push(empty(u32::MAX));
        }
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(empty(self.floor));
            self.slots.len() as u32 - 1
        })
    }

    /// Each group is held once less; those that nobody holds are given back, and so
    /// are the ones that only they mention.
    fn release(&mut self, mut groups: Vec<u32>) {
        while let Some(leader) = groups.pop() {
            let slot = &mut self.slots[leader as usize];
            slot.uses -= 1;
            if slot.uses == 0 {
                self.remove(leader, &mut groups);
            }
        }
        self.trim();
    }

    /// Gives a group back; whom it mentions are added to `released`.
    fn remove(&mut self, leader: u32, released: &mut Vec<u32>) {
        let numbers: Vec<u32> = self.members(leader).collect();
        // A search for each mention would be quadratic in a large group.
        let positions: HashMap<u32, usize> = match numbers.len() {
            ..=FEW => HashMap::new(),
            _ => numbers.iter().copied().zip(0..).collect(),
        };
        let position = |id: TypeId| match numbers.len() {
            ..=FEW => numbers.iter().position(|number| *number == id.number),
            _ => positions.get(&id.number).copied(),
        };
        let unresolve = |id: TypeId| position(id).map_or(id, TypeId::within);
        let mut shape = Vec::with_capacity(numbers.len());
        for number in &numbers {
            let slot = &mut self.slots[*number as usize];
            let resolved = slot.ty.take().expect("of a group that is there");
            // A number whose generations are used up is never used again.
            if slot.generation < u32::MAX {
                slot.generation += 1;
                self.free.push(*number);
            }
            let others = resolved.mentions().filter(|id| position(*id).is_none());
            released.extend(others.map(|id| self.slots[id.number as usize].leader));
            if let Some(func) = resolved.func()
                && let Some(alike) = self.resolved.get_mut(func)
            {
                alike.retain(|other| other != number);
                if alike.is_empty() {
                    self.resolved.remove(func);
                }
            }
            shape.push(resolved.mapped(unresolve));
        }
        self.shapes.remove(shape.as_slice());
    }

    /// Gives back the room of what is gone.
    fn trim(&mut self) {
        let before = self.slots.len();
        while let Some(last) = self.slots.last()
            && last.ty.is_none()
            && last.generation < u32::MAX
        {
            self.floor = self.floor.max(last.generation);
            self.slots.pop();
        }
        if self.slots.len() < before {
            let end = self.slots.len() as u32;
            self.free.retain(|number| *number < end);
        }
        if self.slots.capacity() > ROOM_MIN.max(4 * self.slots.len()) {
            let room = 2 * self.slots.len();
            self.slots.shrink_to(room);
            self.free.shrink_to(room);
            self.shapes.shrink_to(room);
            self.resolved.shrink_to(room);
        }
    }
}

#[cfg(test)]
mod tests;
