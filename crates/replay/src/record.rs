//! The file of a record.
//!
//! ```text
//!  {"fathom_record":1,…}\n      the header: one line of JSON
//!  events                       as many bytes as it says, and nothing behind them
//! ```
//!
//! What must stay true: what is cut off, of another module or too large is known before an
//! event is read; what was changed is known by its digest before any is used.

pub mod check;
pub mod event;

use std::io::{self, Read};

use serde::{Deserialize, Serialize};

/// The version of the format.
pub const VERSION: u32 = 1;
/// More bytes of events than this are refused: a replay has them in its module.
pub const EVENT_BYTES_MAX: u64 = 1 << 30;
/// Longer headers are refused.
const HEADER_BYTES_MAX: u64 = 1 << 20;

/// What a record says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`VERSION`].
    pub fathom_record: u32,
    /// Who ran it.
    pub host: String,
    /// The module.
    pub module: Digest,
    /// The events.
    pub events: Digest,
    /// How many there are.
    pub count: u64,
    /// What there was before the module was instantiated.
    pub given: Given,
    /// What happened that no record has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
}

/// Bytes, by what tells them from others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Digest {
    /// How many.
    pub bytes: u64,
    /// Their BLAKE3 hash in hexadecimal digits.
    pub blake3: String,
}

impl Digest {
    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest {
            bytes: bytes.len() as u64,
            blake3: blake3::hash(bytes).to_hex().to_string(),
        }
    }
}

/// What a module was given that it imports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// Memories by their indices.
    #[serde(default)]
    pub memories: Vec<Sized>,
    /// Tables by their indices.
    #[serde(default)]
    pub tables: Vec<Sized>,
    /// Globals by their indices.
    #[serde(default)]
    pub globals: Vec<Value>,
    /// Functions of the host that came into tables: of each, the index of its type.
    #[serde(default)]
    pub functions: Vec<u32>,
}

/// A memory or a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sized {
    /// Which one.
    pub index: u32,
    /// Pages or elements it had.
    pub size: u64,
    /// How many it could have.
    pub max: Option<u64>,
}

/// A global.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Value {
    /// Which one.
    pub index: u32,
    /// Its bits, or the number of its reference.
    pub bits: u64,
}

/// A record.
#[derive(Clone, Debug)]
pub struct Record {
    /// What it says of itself.
    pub header: Header,
    /// Its events.
    pub events: Vec<u8>,
}

/// Why a record is refused; each is one line.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It begins otherwise.
    #[error("no record: its first line is not the header of one ({0})")]
    Header(String),
    /// Of another version.
    #[error("a record of version {0}; this program reads version {VERSION}")]
    Version(u32),
    /// Shorter or longer than it says.
    #[error("{what}: it has {have} bytes of events, and its header says {said}")]
    Length {
        /// Cut off, or followed by something.
        what: &'static str,
        /// How many there are.
        have: u64,
        /// How many there should be.
        said: u64,
    },
    /// Too large.
    #[error("it has {0} bytes of events; more than {EVENT_BYTES_MAX} cannot be replayed")]
    Large(u64),
    /// Changed.
    #[error("damaged: its events are not those that were recorded")]
    Damaged,
    /// Of another module.
    #[error("it was recorded of another module: one of {said} bytes, and this has {have}{same}")]
    Module {
        /// Bytes of the module that it was recorded of.
        said: u64,
        /// Bytes of this module.
        have: u64,
        /// What there is to say where both are as long.
        same: &'static str,
    },
    /// What cannot have happened.
    #[error("event {number} {why}")]
    Event {
        /// Its number, from 1.
        number: u64,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The header does not go with the module.
    #[error("its header does not fit the module: {0}")]
    Given(String),
    /// The system refused something.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl Record {
    /// Of a module, with these events.
    pub fn new(module: &[u8], host: String, given: Given, events: Vec<u8>, count: u64) -> Record {
        Record {
            header: Header {
                fathom_record: VERSION,
                host,
                module: Digest::of(module),
                events: Digest::of(&events),
                count,
                given,
                lost: Vec::new(),
            },
            events,
        }
    }

    /// Reads a record from a file of so many bytes. No more is read than it says it has.
    ///
    /// # Errors
    /// What is none, is cut off, was changed or is too large.
    pub fn read(mut file: impl Read, file_bytes: u64) -> Result<Record, RecordError> {
        let line = first_line(&mut file)?;
        let header = header(&line)?;
        let (said, have) = (header.events.bytes, file_bytes - line.len() as u64);
        if said > EVENT_BYTES_MAX {
            return Err(RecordError::Large(said));
        }
        let what = match have < said {
            true => "cut off",
            false => "not a record alone",
        };
        if have != said {
            return Err(RecordError::Length { what, have, said });
        }
        let mut events = Vec::new();
        file.take(said).read_to_end(&mut events)?;
        let record = Record { header, events };
        match Digest::of(&record.events) == record.header.events {
            true => Ok(record),
            false => Err(RecordError::Damaged),
        }
    }

    /// The bytes of its file.
    ///
    /// # Errors
    /// None that a header of ours has.
    pub fn to_bytes(&self) -> Result<Vec<u8>, RecordError> {
        let line = serde_json::to_string(&self.header)
            .map_err(|error| RecordError::Header(error.to_string()))?;
        Ok([line.as_bytes(), b"\n", &self.events].concat())
    }

    /// Whether it is of this module.
    ///
    /// # Errors
    /// It is of another.
    pub fn is_of(&self, wasm: &[u8]) -> Result<(), RecordError> {
        let module = Digest::of(wasm);
        let said = &self.header.module;
        if module == *said {
            return Ok(());
        }
        Err(RecordError::Module {
            said: said.bytes,
            have: module.bytes,
            same: match said.bytes == module.bytes {
                true => " as well, which are others",
                false => "",
            },
        })
    }
}

/// The bytes up to the first end of a line, with it.
fn first_line(file: &mut impl Read) -> Result<Vec<u8>, RecordError> {
    let mut line = Vec::new();
    let mut byte = [0];
    while file.read(&mut byte)? == 1 {
        line.push(byte[0]);
        if byte[0] == b'\n' {
            return Ok(line);
        }
        let is_none = line.len() == 1 && line != b"{";
        if is_none || line.len() as u64 > HEADER_BYTES_MAX {
            break;
        }
    }
    Err(RecordError::Header("it does not begin with one".to_owned()))
}

fn header(line: &[u8]) -> Result<Header, RecordError> {
    #[derive(Deserialize)]
    struct Version {
        fathom_record: u32,
    }
    let said = |error: serde_json::Error| RecordError::Header(error.to_string());
    let Version { fathom_record } = serde_json::from_slice(line).map_err(said)?;
    if fathom_record != VERSION {
        return Err(RecordError::Version(fathom_record));
    }
    serde_json::from_slice(line).map_err(said)
}
