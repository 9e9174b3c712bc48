//! What a store may have, as figures, and why it may not have more.
//!
//! Who counts against them is in `limits.rs`.

use std::fmt;

use crate::facts::bytes::Bytes;
use crate::facts::error::{Error, ErrorKind};

/// The most that the stores of an [`crate::Allowance`] may have together; for a store
/// without one that is shared, the most that it may have.
///
/// The defaults are what a program that is not hostile does not reach, and with
/// which one that is cannot take a machine's memory; `docs/LIMITS.md` says why each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Bytes of all memories: 4 GiB, one 32-bit memory in full.
    pub memory_bytes: u64,
    /// Memories: 10,000.
    pub memories: u64,
    /// Tables: 10,000.
    pub tables: u64,
    /// Elements of all tables, of 8 bytes each: 10,000,000, one table in full.
    pub table_elements: u64,
    /// Instances: 10,000.
    pub instances: u64,
    /// Bytes of what each instance has for itself, its globals, function references
    /// and element segments: 256 MiB.
    pub instance_bytes: u64,
    /// Bytes of the exceptions that something refers to: 64 MiB.
    pub exception_bytes: u64,
    /// Values of the host's that a store keeps for Wasm, given as `externref`: 1,000,000.
    pub extern_refs: u64,
    /// Bytes of the stacks of continuations, and of the continuations: 1 GiB.
    pub stack_bytes: u64,
    /// Bytes of the heaps of structures and arrays, with what is kept about them: 1 GiB.
    pub heap_bytes: u64,
}

impl Default for Quota {
    fn default() -> Quota {
        Quota {
            memory_bytes: 4 << 30,
            memories: 10_000,
            tables: 10_000,
            table_elements: 10_000_000,
            instances: 10_000,
            instance_bytes: 256 << 20,
            exception_bytes: 64 << 20,
            extern_refs: 1_000_000,
            stack_bytes: 1 << 30,
            heap_bytes: 1 << 30,
        }
    }
}

impl Quota {
    /// No limit to anything: for programs that are trusted like the host.
    pub const UNLIMITED: Quota = Quota {
        memory_bytes: u64::MAX,
        memories: u64::MAX,
        tables: u64::MAX,
        table_elements: u64::MAX,
        instances: u64::MAX,
        instance_bytes: u64::MAX,
        exception_bytes: u64::MAX,
        extern_refs: u64::MAX,
        stack_bytes: u64::MAX,
        heap_bytes: u64::MAX,
    };

    /// What it says of one thing.
    pub(crate) fn of(&self, resource: Resource) -> u64 {
        match resource {
            Resource::MemoryBytes => self.memory_bytes,
            Resource::Memories => self.memories,
            Resource::Tables => self.tables,
            Resource::TableElements => self.table_elements,
            Resource::Instances => self.instances,
            Resource::InstanceBytes => self.instance_bytes,
            Resource::ExceptionBytes => self.exception_bytes,
            Resource::ExternRefs => self.extern_refs,
            Resource::StackBytes => self.stack_bytes,
            Resource::HeapBytes => self.heap_bytes,
        }
    }
}

/// What is counted, in the order of [`Quota`]'s fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(usize)]
pub enum Resource {
    /// Bytes of memories.
    MemoryBytes,
    /// Memories.
    Memories,
    /// Tables.
    Tables,
    /// Elements of tables.
    TableElements,
    /// Instances.
    Instances,
    /// Bytes of instances.
    InstanceBytes,
    /// Bytes of exceptions.
    ExceptionBytes,
    /// Values of the host's.
    ExternRefs,
    /// Bytes of continuations and their stacks.
    StackBytes,
    /// Bytes of heaps.
    HeapBytes,
}

impl Resource {
    /// All of them.
    pub const ALL: [Resource; 10] = [
        Resource::MemoryBytes,
        Resource::Memories,
        Resource::Tables,
        Resource::TableElements,
        Resource::Instances,
        Resource::InstanceBytes,
        Resource::ExceptionBytes,
        Resource::ExternRefs,
        Resource::StackBytes,
        Resource::HeapBytes,
    ];

    fn is_bytes(self) -> bool {
        use Resource::{ExceptionBytes, HeapBytes, InstanceBytes, MemoryBytes, StackBytes};
        matches!(
            self,
            MemoryBytes | InstanceBytes | ExceptionBytes | StackBytes | HeapBytes
        )
    }

    /// An amount of it, in words.
    fn say(self, amount: &str) -> String {
        match self {
            Resource::MemoryBytes => format!("{amount} of memories"),
            Resource::Memories => format!("{amount} memories"),
            Resource::Tables => format!("{amount} tables"),
            Resource::TableElements => format!("{amount} table elements"),
            Resource::Instances => format!("{amount} instances"),
            Resource::InstanceBytes => format!("{amount} of instances"),
            Resource::ExceptionBytes => format!("{amount} of exceptions"),
            Resource::StackBytes => format!("{amount} of continuations"),
            Resource::HeapBytes => format!("{amount} of structures and arrays"),
            Resource::ExternRefs => format!("{amount} references to values of the host"),
        }
    }
}

/// Why a store may not have what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// It would be beyond the [`Quota`].
    Quota {
        /// Of what.
        resource: Resource,
        /// What there would be in all.
        wanted: u64,
        /// What there may be.
        limit: u64,
    },
    /// The store's [`crate::ResourceLimiter`] refused it.
    Refused(String),
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LimitError::Quota {
                resource,
                wanted,
                limit,
            } => {
                let rounded = [*wanted, *limit].map(|bytes| Bytes(bytes).to_string());
                let [wanted, limit] = match resource.is_bytes() {
                    true if rounded[0] == rounded[1] => {
                        [wanted, limit].map(|n| format!("{n} bytes"))
                    }
                    true => rounded,
                    false => [wanted, limit].map(u64::to_string),
                };
                write!(
                    f,
                    "{} are beyond the limit of {limit}",
                    resource.say(&wanted)
                )
            }
            LimitError::Refused(what) => write!(f, "the store's limiter refuses {what}"),
        }
    }
}

impl From<LimitError> for Error {
    fn from(error: LimitError) -> Error {
        ErrorKind::Limit(error).into()
    }
}
