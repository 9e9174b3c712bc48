//! The memories that are probed, and at which lengths.

use super::super::module::{Index, Instructions, Memory};

/// What a plan is for.
pub(super) struct Stages {
    pub name: &'static str,
    pub essential: bool,
    pub memory: Memory,
    /// Lengths in pages at which everything is tried, in order; the memory
    /// grows in between.
    pub pages: &'static [u64],
}

pub(super) const fn own(min: u64, max: u64) -> Memory {
    Memory {
        index: Index::I32,
        min,
        max,
        is_imported: false,
        is_atomic: false,
        instructions: Instructions::All,
    }
}

pub(super) const fn wide(min: u64, max: u64) -> Memory {
    Memory {
        index: Index::I64,
        ..own(min, max)
    }
}

pub(super) const STAGES: [Stages; 11] = [
    Stages {
        name: "an empty memory, then 1 page",
        essential: true,
        memory: own(0, 1),
        pages: &[0, 1],
    },
    Stages {
        name: "1 page, grown to 2 and to its maximum of 4",
        essential: true,
        memory: own(1, 4),
        pages: &[1, 2, 4],
    },
    Stages {
        name: "an imported memory of 1 page, grown to 2",
        essential: true,
        memory: Memory {
            is_imported: true,
            ..own(1, 2)
        },
        pages: &[1, 2],
    },
    Stages {
        name: "grown to 2 GiB and past it",
        essential: false,
        memory: own(1, 32_769),
        pages: &[32_768, 32_769],
    },
    Stages {
        name: "grown to 4 GiB",
        essential: false,
        memory: own(2, 65_536),
        pages: &[65_535, 65_536],
    },
    Stages {
        name: "4 GiB from the start",
        essential: false,
        memory: own(65_536, 65_536),
        pages: &[65_536],
    },
    Stages {
        name: "atomic instructions, 1 page",
        essential: false,
        memory: Memory {
            is_atomic: true,
            ..own(1, 2)
        },
        pages: &[1],
    },
    Stages {
        name: "64-bit: an empty memory, then 3 pages",
        essential: false,
        memory: wide(0, 3),
        pages: &[0, 3],
    },
    Stages {
        name: "64-bit: an imported memory of 1 page, grown to 2",
        essential: false,
        memory: Memory {
            is_imported: true,
            ..wide(1, 2)
        },
        pages: &[2],
    },
    Stages {
        name: "64-bit: atomic instructions, 1 page",
        essential: false,
        memory: Memory {
            is_atomic: true,
            ..wide(1, 2)
        },
        pages: &[1],
    },
    Stages {
        name: "64-bit: grown past 4 GiB",
        essential: false,
        memory: wide(1, 65_600),
        pages: &[65_537],
    },
];
