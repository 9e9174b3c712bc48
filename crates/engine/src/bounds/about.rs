//! What a strategy says of itself. Each says it in its own file; whoever wants to know
//! something of one asks for that and not which one it is.

use std::fmt;

use super::MAX_PAGES_64;

/// What a strategy promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Guarantee {
    /// Traps exactly where the specification says.
    Exact,
    /// Never leaves the memory, but may go on where the specification traps.
    Contained,
    /// Faults outside the memory but for what the strategy's help names.
    Partial,
    /// None at all.
    Unchecked,
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Guarantee::Exact => "exact",
            Guarantee::Contained => "contained",
            Guarantee::Partial => "partial",
            Guarantee::Unchecked => "unchecked",
        })
    }
}

/// On which machines a strategy guards the memories of an index type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// On all.
    Everywhere,
    /// Where addresses fault which wrap out of user space, and a fault handler can go
    /// on behind an instruction.
    X86_64,
    /// On none: it is a strategy for the other index type.
    Nowhere,
}

impl Fit {
    /// Whether this instruction set is not the obstacle.
    pub fn is_for_this_machine(self) -> bool {
        self != Fit::X86_64 || cfg!(target_arch = "x86_64")
    }
}

/// What a strategy, in one of its forms, says of itself.
#[derive(Debug)]
pub(super) struct About {
    /// The name by which users choose it.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// What it promises.
    pub guarantee: Guarantee,
    /// What it needs of the host, for messages; empty for nothing special.
    pub needs: &'static str,
    /// Tries whether the host has that: what the host said, and the remedy.
    pub missing: fn() -> Option<String>,
    /// Whether it guards 32-bit memories.
    pub narrow: Fit,
    /// Whether it guards 64-bit memories.
    pub wide: Fit,
    /// Pages that it can let a 64-bit memory have.
    pub max_pages_64: u64,
    /// Whether an access to a 64-bit memory may go anywhere: nothing keeps it near.
    pub strays_64: bool,
    /// Whether its check compares with the memory's length, which loops can share.
    pub compares_length: bool,
    /// Whether a runtime function checks each access, called in front of it.
    pub is_checked_by_call: bool,
    /// Whether its Wasm runs locked by protection keys.
    pub is_locked: bool,
    /// Whether it is one to look for defects with rather than to run fast.
    pub is_diagnostic: bool,
}

impl About {
    /// One that is nothing special: for both index types, everywhere.
    pub const fn new(name: &'static str, help: &'static str, guarantee: Guarantee) -> About {
        About {
            name,
            help,
            guarantee,
            needs: "",
            missing: || None,
            narrow: Fit::Everywhere,
            wide: Fit::Everywhere,
            max_pages_64: MAX_PAGES_64,
            strays_64: false,
            compares_length: false,
            is_checked_by_call: false,
            is_locked: false,
            is_diagnostic: false,
        }
    }

    /// How it fits memories of an index type, 64-bit or 32-bit.
    pub fn fit(&self, memory64: bool) -> Fit {
        if memory64 { self.wide } else { self.narrow }
    }
}
