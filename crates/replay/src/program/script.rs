//! What the host did, as words of 64 bits that the module reads.
//!
//! ```text
//!  action | more << 32     then what that action takes: addresses, values
//!  hash                    wherever the guest comes back to its host; in the place of a hash that
//!                          does not hold, which import it calls
//! ```
//!
//! Actions are numbered as they are met: a kind, with all of it that code must know. A
//! reference is a place in a table of the replay's own, of which the first is null.

use std::collections::BTreeMap;

use fathom_rewrite::shape::Shape;
use wasmparser::{FuncType, ValType};

use super::{Compared, canonical};
use crate::record::check::{Checked, type_of};
use crate::record::event::{Event, Events, Reference};
use crate::record::{Record, RecordError};

/// Bytes between two writes of the host in front of everything that are made one.
const GAP_BYTES: u64 = 64;

/// Who is called where the guest returns.
pub const NOBODY: u32 = u32::MAX;

/// What the module can be told to do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Return from the host's function, to whoever called it.
    Return,
    /// Throw through the guest's functions.
    Throw,
    /// Write so many bytes (more) to an address (a word).
    Write(u32),
    /// Grow a memory by so many pages (more).
    GrowMemory(u32),
    /// Set an element (more) of a table to a reference (a word).
    SetElement(u32),
    /// Grow a table by so many elements (more), each a reference (a word).
    GrowTable(u32),
    /// Set a global (a word).
    SetGlobal(u32),
    /// Call a function with values (a word each).
    Call {
        /// Which one.
        func: u32,
        /// Whether it ends by an exception.
        throws: bool,
    },
    /// Mix so many bytes (more) of a memory from an address (a word).
    Mix(u32),
    /// Compare the hash (a word), write the answer and end: the process, or `_start`.
    End {
        /// Whether functions of the guest are running.
        is_inside: bool,
    },
}

/// Words, and what they are about.
#[derive(Debug, Default)]
pub struct Script {
    /// The words.
    pub words: Vec<u64>,
    /// What the host wrote, in order.
    pub bytes: Vec<u8>,
    /// What was in imported memories: memory, address, bytes.
    pub front: Vec<(u32, u64, Vec<u8>)>,
    /// What is done, each by its number.
    pub actions: BTreeMap<Action, u32>,
    /// References that the host gave, but null, in the order of their places.
    pub references: Vec<Reference>,
    places: BTreeMap<Reference, u64>,
    /// The hash at the end.
    pub hash: u32,
    /// Times that the guest came back to its host.
    pub borders: u64,
    /// Calls into the guest.
    pub calls: u64,
    /// Calls out of it.
    pub imports: u64,
    /// What is compared.
    pub compared: Compared,
    depth: u64,
    hosts: Vec<u32>,
}

impl Script {
    /// Of a record that was checked.
    ///
    /// # Errors
    /// None that was checked.
    pub fn of(
        record: &Record,
        shape: &Shape,
        checked: &Checked,
        compared: Compared,
    ) -> Result<Script, RecordError> {
        let given = &record.header.given;
        let mut script = Script {
            compared,
            ..Script::default()
        };
        let mut events = Events::new(&record.events);
        let mut calls = checked.threw.iter();
        let mut has_begun = false;
        while let Some(event) = events.read()? {
            if checked.cut.is_some() && events.count == checked.stop {
                break;
            }
            match &event {
                Event::Begin => has_begun = true,
                Event::Write {
                    memory,
                    address,
                    bytes,
                } if !has_begun => script.fill(*memory, *address, bytes),
                Event::Call { func, args } => {
                    let (func, threw) = (*func, calls.next().copied().unwrap_or_default());
                    let throws = threw != 0 && threw < checked.stop;
                    script.action(Action::Call { func, throws }, 0);
                    script.values(type_of(shape, given, func), true, args);
                    script.depth += 1;
                    script.calls += 1;
                }
                Event::Return { results } => {
                    let ty = script
                        .hosts
                        .pop()
                        .and_then(|func| type_of(shape, given, func));
                    script.action(Action::Return, 0);
                    script.values(ty, false, results);
                }
                Event::SetGlobal { global, value } => {
                    script.action(Action::SetGlobal(*global), 0);
                    let word = match (shape.globals.get(*global as usize), Reference::of(*value)) {
                        (Some(ty), Some(reference)) if ty.content_type.is_reference_type() => {
                            script.place(reference)
                        }
                        _ => *value,
                    };
                    script.words.push(word);
                }
                other => script.take(other, shape),
            }
        }
        if checked.cut.is_some() {
            script.end(script.hash);
        }
        Ok(script)
    }

    fn action(&mut self, action: Action, more: u64) {
        let next = self.actions.len() as u32;
        let number = *self.actions.entry(action).or_insert(next);
        self.words.push(u64::from(number) | more << 32);
    }

    /// What was in a memory before the module was there.
    fn fill(&mut self, memory: u32, address: u64, bytes: &[u8]) {
        if let Some((last, start, filled)) = self.front.last_mut() {
            let end = *start + filled.len() as u64;
            if *last == memory && end <= address && address - end <= GAP_BYTES {
                filled.resize((address - *start) as usize, 0);
                filled.extend_from_slice(bytes);
                return;
            }
        }
        self.front.push((memory, address, bytes.to_vec()));
    }

    /// Values as they stand in words: references by their places.
    fn values(&mut self, types: Option<&FuncType>, is_args: bool, values: &[u64]) {
        let types = types.map_or(&[][..], |ty| match is_args {
            true => ty.params(),
            false => ty.results(),
        });
        for (ty, value) in types.iter().zip(values) {
            let word = match (ty, Reference::of(*value)) {
                (ValType::Ref(_), Some(reference)) => self.place(reference),
                _ => *value,
            };
            self.words.push(word);
        }
    }

    fn place(&mut self, reference: Reference) -> u64 {
        if reference == Reference::Null {
            self.places.insert(reference, 0);
            return 0;
        }
        let known = self.places.get(&reference).copied();
        known.unwrap_or_else(|| {
            self.references.push(reference);
            let place = self.references.len() as u64;
            self.places.insert(reference, place);
            place
        })
    }

    fn border(&mut self, hash: u32, who: u32) {
        let expected = match self.compared {
            Compared::Recorded => hash,
            Compared::Order | Compared::Answer(_) => who,
        };
        self.words.push(u64::from(expected));
        self.hash = hash;
        self.borders += 1;
    }

    fn end(&mut self, hash: u32) {
        let is_inside = self.depth > 0;
        self.action(Action::End { is_inside }, 0);
        let hash = match self.compared {
            Compared::Recorded => hash,
            Compared::Order => 0,
            Compared::Answer(answer) => answer,
        };
        self.words.push(u64::from(hash));
        self.hash = hash;
    }

    fn take(&mut self, event: &Event<'_>, shape: &Shape) {
        match event {
            Event::Write {
                memory,
                address,
                bytes,
            } => {
                self.action(Action::Write(*memory), bytes.len() as u64);
                self.words.push(*address);
                self.bytes.extend_from_slice(bytes);
            }
            Event::GrowMemory { memory, pages } => {
                self.action(Action::GrowMemory(*memory), *pages);
            }
            Event::SetElement {
                table,
                index,
                value,
            } => {
                self.action(Action::SetElement(*table), *index);
                let place = self.place(*value);
                self.words.push(place);
            }
            Event::GrowTable {
                table,
                elements,
                value,
            } => {
                self.action(Action::GrowTable(*table), *elements);
                let place = self.place(*value);
                self.words.push(place);
            }
            Event::Throw => {
                self.action(Action::Throw, 0);
                self.hosts.pop();
            }
            Event::Imported { func, hash } => {
                self.border(*hash, canonical(shape, *func));
                self.hosts.push(*func);
                self.imports += 1;
            }
            Event::Returned { hash } => {
                self.border(*hash, NOBODY);
                self.depth -= 1;
            }
            Event::Threw => self.depth -= 1,
            Event::End { ranges, hash } => {
                for range in ranges {
                    self.action(Action::Mix(range.memory), range.bytes);
                    self.words.push(range.start);
                }
                self.end(*hash);
            }
            _ => {}
        }
    }
}
