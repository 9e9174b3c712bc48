//! Accesses that are tried, as a user reads them.

use std::fmt;

/// An access that is tried.
#[derive(Clone, Debug)]
pub(super) struct Access {
    /// The instruction and its immediates and operands, as the user reads it.
    pub text: AccessText,
    /// Length of the memory at that time.
    pub pages: u64,
    /// Whether the specification says that it traps.
    pub outside: bool,
    /// The byte a store writes first; none for loads.
    pub stores: Option<u8>,
}

/// An access in words, made only when it is shown.
#[derive(Clone, Debug)]
pub(super) enum AccessText {
    Plain(&'static str, u64, u64),
    Dropped(&'static str, u64, u64),
    Constant(&'static str, u64, u64),
    Pair((u64, u64), u64),
    Run(u64, u64),
    Bulk(&'static str, [u64; 3]),
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.text {
            AccessText::Plain(name, offset, index) => {
                write!(f, "{name} offset={offset} at address {index:#x}")?;
            }
            AccessText::Dropped(name, offset, index) => {
                write!(
                    f,
                    "{name} offset={offset} at address {index:#x}, its value unused"
                )?;
            }
            AccessText::Constant(name, offset, index) => {
                write!(f, "{name} offset={offset} at constant address {index:#x}")?;
            }
            AccessText::Pair((first, second), index) => {
                write!(
                    f,
                    "i64.store offset={first} and offset={second} at address {index:#x}"
                )?;
            }
            AccessText::Run(start, count) => {
                write!(
                    f,
                    "i64.store8 at each of {count} addresses from {start:#x} on"
                )?;
            }
            AccessText::Bulk(name, [to, from, count]) => {
                write!(f, "memory.{name} ({to:#x}, {from:#x}, {count:#x})")?;
            }
        }
        match self.pages {
            1 => write!(f, ", memory of 1 page"),
            pages => write!(f, ", memory of {pages} pages"),
        }
    }
}
