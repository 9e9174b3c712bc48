//! Events: what host and guest did, in order. `src/record/stream.cjs` writes them.
//!
//! ```text
//!  event    tag (a byte), then its fields: unsigned LEB128, and bytes as they are
//!
//!  1 write         memory address length bytes…    2 memory grew   memory pages
//!  3 element set   table index reference           4 table grew    table elements reference
//!  5 global set    global value
//!  6 call          function count value…           the guest runs
//!  7 return        count value…                    8 throw         the guest runs on
//!  9 begin         what is in front was there before the module was instantiated
//! 16 imported      function hash                   the guest called its host
//! 17 returned hash    18 trapped    19 threw       the call has ended
//! 20 end           count (memory start length)… hash
//! ```
//!
//! A value is its bits; a reference is 0 for null, 1 for something of the host's, and
//! `2 + n` for function n. Functions from the number of a module's functions on are the
//! host's, put into a table: of each, the header has the type.
//!
//! The hash is of all that the guest has passed so far, in words of 32 bits: `h = (h ^ w) *
//! 0x9e3779b1; h ^= h >> 15`. Calls of the host mix 16 and the function's index, then the
//! arguments; ends of calls mix 17, then the results. Of a reference it is 0 or 1, of
//! what is no number one NaN.

use super::RecordError;

/// The longest list of values: more than engines allow of parameters.
const VALUES_MAX: u64 = 1000;
/// The most ranges that a memory can have been written in.
const RANGES_MAX: u64 = 1 << 22;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The host wrote to a memory.
    Write {
        /// Its index.
        memory: u32,
        /// Where they are from now on.
        address: u64,
        /// The bytes themselves.
        bytes: &'a [u8],
    },
    /// The host grew a memory.
    GrowMemory {
        /// Its index.
        memory: u32,
        /// By so many pages.
        pages: u64,
    },
    /// The host set an element of a table.
    SetElement {
        /// Its index.
        table: u32,
        /// Which element.
        index: u64,
        /// To this.
        value: Reference,
    },
    /// The host grew a table.
    GrowTable {
        /// Its index.
        table: u32,
        /// By so many elements.
        elements: u64,
        /// Each of them.
        value: Reference,
    },
    /// The host set a global.
    SetGlobal {
        /// Its index.
        global: u32,
        /// To these bits.
        value: u64,
    },
    /// The host called a function of the guest.
    Call {
        /// Its index.
        func: u32,
        /// With these arguments.
        args: Vec<u64>,
    },
    /// The host returned from a call.
    Return {
        /// These results.
        results: Vec<u64>,
    },
    /// The host threw.
    Throw,
    /// The module was instantiated.
    Begin,
    /// The guest called its host.
    Imported {
        /// The function's index.
        func: u32,
        /// Of all that was passed.
        hash: u32,
    },
    /// A call into the guest returned.
    Returned {
        /// Of all that was passed.
        hash: u32,
    },
    /// A call into the guest trapped.
    Trapped,
    /// A call into the guest ended by an exception.
    Threw,
    /// Nothing was recorded after this.
    End {
        /// What of memories the guest has written.
        ranges: Vec<Range>,
        /// Of all that was passed, and of these ranges.
        hash: u32,
    },
}

/// A reference that the host gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reference {
    /// None.
    Null,
    /// To something of the host's.
    Host,
    /// To a function, by its index.
    Func(u32),
}

impl Reference {
    /// What a number stands for.
    pub fn of(code: u64) -> Option<Reference> {
        Some(match code {
            0 => Reference::Null,
            1 => Reference::Host,
            func => Reference::Func((func - 2).try_into().ok()?),
        })
    }
}

/// A part of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The memory's index.
    pub memory: u32,
    /// Where it begins.
    pub start: u64,
    /// How long it is.
    pub bytes: u64,
}

/// Reads events one after another.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    bytes: &'a [u8],
    at: usize,
    /// How many were read.
    pub count: u64,
}

impl<'a> Events<'a> {
    /// From their beginning.
    pub fn new(bytes: &'a [u8]) -> Events<'a> {
        Events {
            bytes,
            at: 0,
            count: 0,
        }
    }

    /// Where the next one begins.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The next one; none at the end.
    ///
    /// # Errors
    /// What is no event.
    pub fn read(&mut self) -> Result<Option<Event<'a>>, RecordError> {
        let Some(tag) = self.bytes.get(self.at).copied() else {
            return Ok(None);
        };
        self.at += 1;
        self.count += 1;
        let event = self.event(tag).ok_or(RecordError::Event {
            number: self.count,
            why: "cannot be read",
        })?;
        Ok(Some(event))
    }

    fn event(&mut self, tag: u8) -> Option<Event<'a>> {
        Some(match tag {
            1 => Event::Write {
                memory: self.index()?,
                address: self.number()?,
                bytes: {
                    let length = usize::try_from(self.number()?).ok()?;
                    let end = self.at.checked_add(length)?;
                    let bytes = self.bytes.get(self.at..end)?;
                    self.at = end;
                    bytes
                },
            },
            2 => Event::GrowMemory {
                memory: self.index()?,
                pages: self.number()?,
            },
            3 => Event::SetElement {
                table: self.index()?,
                index: self.number()?,
                value: Reference::of(self.number()?)?,
            },
            4 => Event::GrowTable {
                table: self.index()?,
                elements: self.number()?,
                value: Reference::of(self.number()?)?,
            },
            5 => Event::SetGlobal {
                global: self.index()?,
                value: self.number()?,
            },
            6 => Event::Call {
                func: self.index()?,
                args: self.values()?,
            },
            7 => Event::Return {
                results: self.values()?,
            },
            8 => Event::Throw,
            9 => Event::Begin,
            16 => Event::Imported {
                func: self.index()?,
                hash: self.index()?,
            },
            17 => Event::Returned {
                hash: self.index()?,
            },
            18 => Event::Trapped,
            19 => Event::Threw,
            20 => self.end()?,
            _ => return None,
        })
    }

    fn end(&mut self) -> Option<Event<'a>> {
        let count = self.number().filter(|count| *count <= RANGES_MAX)?;
        // As many as there are: a count alone reserves nothing.
        let mut ranges = Vec::new();
        for _ in 0..count {
            ranges.push(Range {
                memory: self.index()?,
                start: self.number()?,
                bytes: self.number()?,
            });
        }
        let hash = self.index()?;
        Some(Event::End { ranges, hash })
    }

    fn values(&mut self) -> Option<Vec<u64>> {
        let count = self.number().filter(|count| *count <= VALUES_MAX)?;
        (0..count).map(|_| self.number()).collect()
    }

    fn index(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    /// A number of 64 bits at most, in no more bytes than that takes.
    fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            let bits = u64::from(byte & 127);
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte < 128 {
                return Some(value);
            }
        }
        None
    }
}

/// Writes events, for tests and tools: what [`Events`] reads.
pub fn write(event: &Event<'_>, to: &mut Vec<u8>) {
    let tag_at = to.len();
    to.push(0);
    to[tag_at] = match event {
        Event::Write {
            memory,
            address,
            bytes,
        } => {
            numbers(to, &[u64::from(*memory), *address, bytes.len() as u64]);
            to.extend_from_slice(bytes);
            1
        }
        Event::GrowMemory { memory, pages } => {
            numbers(to, &[u64::from(*memory), *pages]);
            2
        }
        Event::SetElement {
            table,
            index,
            value,
        } => {
            numbers(to, &[u64::from(*table), *index, code(*value)]);
            3
        }
        Event::GrowTable {
            table,
            elements,
            value,
        } => {
            numbers(to, &[u64::from(*table), *elements, code(*value)]);
            4
        }
        Event::SetGlobal { global, value } => {
            numbers(to, &[u64::from(*global), *value]);
            5
        }
        Event::Call { func, args } => {
            numbers(to, &[u64::from(*func), args.len() as u64]);
            numbers(to, args);
            6
        }
        Event::Return { results } => {
            numbers(to, &[results.len() as u64]);
            numbers(to, results);
            7
        }
        Event::Throw => 8,
        Event::Begin => 9,
        Event::Imported { func, hash } => {
            numbers(to, &[u64::from(*func), u64::from(*hash)]);
            16
        }
        Event::Returned { hash } => {
            numbers(to, &[u64::from(*hash)]);
            17
        }
        Event::Trapped => 18,
        Event::Threw => 19,
        Event::End { ranges, hash } => {
            numbers(to, &[ranges.len() as u64]);
            for range in ranges {
                numbers(to, &[u64::from(range.memory), range.start, range.bytes]);
            }
            numbers(to, &[u64::from(*hash)]);
            20
        }
    };
}

fn code(value: Reference) -> u64 {
    match value {
        Reference::Null => 0,
        Reference::Host => 1,
        Reference::Func(func) => u64::from(func) + 2,
    }
}

fn numbers(to: &mut Vec<u8>, all: &[u64]) {
    for number in all {
        let mut left = *number;
        while left > 127 {
            to.push(left as u8 | 128);
            left >>= 7;
        }
        to.push(left as u8);
    }
}
