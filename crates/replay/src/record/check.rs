//! Whether what a record says can have happened, of this module.
//!
//! ```text
//!  host runs ──call──► guest runs ──imported──► host runs ──call──► …
//!       ▲ returned, threw, trapped │    ▲ return, throw │
//!       └──────────────────────────┘    └───────────────┘
//! ```

use fathom_rewrite::shape::{Shape, Space};
use wasmparser::{FuncType, ValType};

use super::event::{Event, Events, Range, Reference};
use super::{Given, Record, RecordError};

/// Calls within calls: engines have no stack for more.
pub const DEPTH_MAX: usize = 10_000;
/// Bytes of a memory's page.
const PAGE_BYTES: u64 = 1 << 16;
/// Pages of a memory with 32-bit addresses.
const PAGES_MAX: u64 = 1 << 16;
/// Pages of one with 64-bit addresses that somebody could have had.
const WIDE_PAGES_MAX: u64 = 1 << 32;
/// Elements of a table that engines agree to.
const ELEMENTS_MAX: u64 = 10_000_000;

/// What a replay must know before its first event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Of each call, the event by which it ended with an exception; 0 where it did not.
    pub threw: Vec<u64>,
    /// The first event that is not replayed.
    pub stop: u64,
    /// Why it ends before the record does.
    pub cut: Option<Cut>,
    /// Whether frames of the guest are unwound on the way.
    pub unwinds: bool,
    /// Calls into the module.
    pub calls: u64,
    /// Calls out of it.
    pub imports: u64,
    /// Bytes that the host wrote.
    pub bytes_written: u64,
}

/// Why a replay ends before its record does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// A call trapped, which a module cannot catch.
    Trapped,
    /// The host threw, and nothing but the end came of it.
    Threw,
}

/// Who runs, and since when.
#[derive(Clone, Copy)]
enum Frame {
    /// The guest, called as this event, which is this call.
    Guest { event: u64, call: usize },
    /// The host, called by this function.
    Host { func: u32 },
}

struct Walk<'a> {
    shape: &'a Shape,
    given: &'a Given,
    frames: Vec<Frame>,
    has_begun: bool,
    found: Checked,
    /// Where exceptions begin that nothing but the end comes after.
    throws_from: Option<u64>,
}

/// Looks through a record, of which the module is known to be the right one.
///
/// # Errors
/// The first event that cannot have happened.
pub fn check(record: &Record, shape: &Shape) -> Result<Checked, RecordError> {
    given(&record.header.given, shape).map_err(RecordError::Given)?;
    let mut walk = Walk {
        shape,
        given: &record.header.given,
        frames: Vec::new(),
        has_begun: false,
        found: Checked::default(),
        throws_from: None,
    };
    let mut events = Events::new(&record.events);
    let mut is_over = false;
    while let Some(event) = events.read()? {
        let number = events.count;
        let wrong = |why| RecordError::Event { number, why };
        if is_over {
            return Err(wrong("stands behind the end"));
        }
        is_over = matches!(event, Event::End { .. });
        walk.step(&event, number).map_err(wrong)?;
    }
    if !is_over || events.count != record.header.count {
        return Err(RecordError::Event {
            number: events.count,
            why: "is the last, and is not the end",
        });
    }
    Ok(walk.finish(events.count))
}

/// The type of a function of the module, or of one of the host's in its tables.
pub fn type_of<'a>(shape: &'a Shape, given: &Given, func: u32) -> Option<&'a FuncType> {
    let own = shape.funcs.len() as u32;
    match func.checked_sub(own) {
        None => shape.func_type(func),
        Some(host) => {
            let ty = *given.functions.get(host as usize)?;
            shape.types.get(ty as usize)?.as_ref()
        }
    }
}

/// Whether what the header says was given is what the module imports.
fn given(given: &Given, shape: &Shape) -> Result<(), String> {
    let spaces = [
        (Space::Memory, "memory", &given.memories),
        (Space::Table, "table", &given.tables),
    ];
    for (space, word, all) in spaces {
        let imported: Vec<u32> = shape.imports_of(space).map(|i| i.index).collect();
        let said: Vec<u32> = all.iter().map(|one| one.index).collect();
        if imported != said {
            return Err(format!(
                "it imports {} of kind {word}, and {} were given",
                imported.len(),
                said.len()
            ));
        }
        for one in all {
            let (least, most) = limits(shape, space, one.index);
            let max = one.max.unwrap_or(most);
            if one.size < least || one.size > max || max > most.max(one.size) || one.size > most {
                return Err(format!(
                    "{word} {} had {}, and {least} to {most} can be",
                    one.index, one.size
                ));
            }
        }
    }
    let imported: Vec<u32> = shape.imports_of(Space::Global).map(|i| i.index).collect();
    let said: Vec<u32> = given.globals.iter().map(|one| one.index).collect();
    if imported != said {
        return Err(format!(
            "it imports {} globals, and {} were given",
            imported.len(),
            said.len()
        ));
    }
    for one in &given.globals {
        let ty = shape.globals[one.index as usize].content_type;
        if !fits(ty, one.bits, shape, given) {
            return Err(format!(
                "global {} was given what it cannot have",
                one.index
            ));
        }
    }
    let known = |ty: &u32| shape.types.get(*ty as usize).is_some_and(Option::is_some);
    match given.functions.iter().all(known) {
        true => Ok(()),
        false => Err("a function of the host has a type that it does not have".to_owned()),
    }
}

/// How small and how large a memory or a table can be.
fn limits(shape: &Shape, space: Space, index: u32) -> (u64, u64) {
    if space == Space::Table {
        return (shape.tables[index as usize].initial, ELEMENTS_MAX);
    }
    let ty = &shape.memories[index as usize];
    match ty.memory64 {
        true => (ty.initial, WIDE_PAGES_MAX),
        false => (ty.initial, PAGES_MAX),
    }
}

/// Whether bits can be a value of this type.
fn fits(ty: ValType, bits: u64, shape: &Shape, given: &Given) -> bool {
    match ty {
        ValType::I32 | ValType::F32 => u32::try_from(bits).is_ok(),
        ValType::I64 | ValType::F64 => true,
        ValType::V128 => false,
        ValType::Ref(ty) => {
            let is_plain = ty.is_func_ref() || ty.is_extern_ref();
            is_plain && Reference::of(bits).is_some_and(|one| is_there(one, shape, given))
        }
    }
}

fn is_there(value: Reference, shape: &Shape, given: &Given) -> bool {
    match value {
        Reference::Null | Reference::Host => true,
        Reference::Func(func) => type_of(shape, given, func).is_some(),
    }
}

impl Walk<'_> {
    /// Whether the host runs.
    fn is_hosts(&self) -> bool {
        !matches!(self.frames.last(), Some(Frame::Guest { .. }))
    }

    fn step(&mut self, event: &Event<'_>, number: u64) -> Result<(), &'static str> {
        match event {
            Event::Throw | Event::Threw | Event::End { .. } => {}
            // What the host threw was caught.
            _ => self.found.unwinds |= self.throws_from.take().is_some(),
        }
        match event {
            Event::Imported { .. } | Event::Returned { .. } | Event::Trapped | Event::Threw => {
                self.guests(event, number)
            }
            _ if !self.is_hosts() => Err("is the host's, and the guest runs"),
            Event::Write {
                memory,
                address,
                bytes,
            } => {
                self.found.bytes_written += bytes.len() as u64;
                self.range(*memory, *address, bytes.len() as u64)
            }
            Event::Begin => match std::mem::replace(&mut self.has_begun, true) {
                true => Err("begins a second time"),
                false => Ok(()),
            },
            _ if !self.has_begun => Err("stands in front of the beginning"),
            Event::Call { func, args } => self.call(*func, args, number),
            Event::Return { .. } | Event::Throw => self.leave(event, number),
            Event::End { ranges, .. } => {
                let is_whole = |r: &Range| r.bytes.is_multiple_of(4) && r.start.is_multiple_of(4);
                match ranges.iter().all(is_whole) {
                    true => {
                        (ranges.iter()).try_for_each(|r| self.range(r.memory, r.start, r.bytes))
                    }
                    false => Err("has ranges that are no words"),
                }
            }
            other => self.change(other),
        }
    }

    /// What the host changed, but for bytes.
    fn change(&self, event: &Event<'_>) -> Result<(), &'static str> {
        let (shape, given) = (self.shape, self.given);
        let of_table = |table: u32, value: Reference, elements: u64| {
            let ty = shape
                .tables
                .get(table as usize)
                .ok_or("is of a table that there is not")?;
            let is_plain = ty.element_type.is_func_ref() || ty.element_type.is_extern_ref();
            match is_plain && is_there(value, shape, given) && elements <= ELEMENTS_MAX {
                true => Ok(()),
                false => Err("gives a table what it cannot have"),
            }
        };
        match event {
            Event::GrowMemory { memory, pages } => {
                let known = (*memory as usize) < shape.memories.len();
                match known && *pages <= limits(shape, Space::Memory, *memory).1 {
                    true => Ok(()),
                    false => Err("grows a memory as none can be"),
                }
            }
            Event::SetElement {
                table,
                index,
                value,
            } => of_table(*table, *value, *index),
            Event::GrowTable {
                table,
                elements,
                value,
            } => of_table(*table, *value, *elements),
            Event::SetGlobal { global, value } => match shape.globals.get(*global as usize) {
                Some(ty) if ty.mutable && fits(ty.content_type, *value, shape, given) => Ok(()),
                _ => Err("sets a global as it cannot be"),
            },
            _ => Ok(()),
        }
    }

    fn range(&self, memory: u32, start: u64, bytes: u64) -> Result<(), &'static str> {
        if memory as usize >= self.shape.memories.len() {
            return Err("is of a memory that there is not");
        }
        let is_imported = || {
            let mut imported = self.shape.imports_of(Space::Memory);
            imported.any(|import| import.index == memory)
        };
        if !self.has_begun && !is_imported() {
            return Err("writes to a memory that is not there yet");
        }
        let given = self.given.memories.iter().find(|one| one.index == memory);
        let pages = match given {
            Some(given) if !self.has_begun => given.size,
            _ => limits(self.shape, Space::Memory, memory).1,
        };
        let most = pages * PAGE_BYTES;
        match start.checked_add(bytes) {
            Some(end) if end <= most && bytes <= u64::from(u32::MAX) => Ok(()),
            _ => Err("is outside of every memory"),
        }
    }

    fn values(&self, types: &[ValType], values: &[u64]) -> bool {
        let fit = |(ty, bits): (&ValType, &u64)| fits(*ty, *bits, self.shape, self.given);
        types.len() == values.len() && types.iter().zip(values).all(fit)
    }

    fn call(&mut self, func: u32, args: &[u64], event: u64) -> Result<(), &'static str> {
        let ty = self
            .shape
            .func_type(func)
            .ok_or("calls a function that there is not")?;
        if !self.values(ty.params(), args) || ty.results().contains(&ValType::V128) {
            return Err("gives a function what it does not take");
        }
        if self.frames.len() >= DEPTH_MAX {
            return Err("is a call within 10000 others");
        }
        self.frames.push(Frame::Guest {
            event,
            call: self.found.threw.len(),
        });
        self.found.threw.push(0);
        self.found.calls += 1;
        Ok(())
    }

    /// The host's function is left.
    fn leave(&mut self, event: &Event<'_>, number: u64) -> Result<(), &'static str> {
        let Some(Frame::Host { func }) = self.frames.pop() else {
            return Err("leaves a function of the host, and none was called");
        };
        if let Event::Return { results } = event {
            let ty = type_of(self.shape, self.given, func).ok_or("is of no function")?;
            return match self.values(ty.results(), results) {
                true => Ok(()),
                false => Err("returns what the function does not"),
            };
        }
        self.throws_from.get_or_insert(number);
        Ok(())
    }

    /// What the guest did.
    fn guests(&mut self, event: &Event<'_>, number: u64) -> Result<(), &'static str> {
        let Some(Frame::Guest { event: from, call }) = self.frames.last().copied() else {
            return Err("is the guest's, and the host runs");
        };
        match event {
            Event::Imported { func, .. } => {
                let imported = self.shape.imports_of(Space::Func).count() as u32;
                let is_hosts = *func < imported || *func >= self.shape.funcs.len() as u32;
                if !is_hosts || type_of(self.shape, self.given, *func).is_none() {
                    return Err("calls a function that is not the host's");
                }
                self.frames.push(Frame::Host { func: *func });
                self.found.imports += 1;
                return Ok(());
            }
            Event::Trapped if self.found.cut.is_none() => {
                self.found.cut = Some(Cut::Trapped);
                self.found.stop = from;
            }
            Event::Threw => self.found.threw[call] = number,
            _ => {}
        }
        self.frames.pop();
        Ok(())
    }

    fn finish(self, events: u64) -> Checked {
        let mut found = self.found;
        if found.cut.is_some() {
            return found;
        }
        found.stop = events;
        // Where the module catches nothing, nothing of it runs on the way out.
        match self.throws_from {
            Some(from) if self.shape.tags.is_empty() => {
                found.cut = Some(Cut::Threw);
                found.stop = from;
            }
            thrown => found.unwinds |= thrown.is_some(),
        }
        found
    }
}
