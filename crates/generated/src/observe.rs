//! What a module did, in terms that two engines can agree on.

/// How an instantiation or a call ended, if not with results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It trapped, with the official suite's name for it.
    Trapped(&'static str),
    /// The stack was used up: how much there is differs between engines, so
    /// nothing after it can be compared.
    Exhausted,
    /// It was refused: not linked, not supported, out of resources.
    Refused(String),
}

/// How a call ended whose exception nothing caught.
pub const UNCAUGHT: &str = "uncaught exception";

/// The official suite's name for an atomic access whose address is no multiple of
/// its width.
pub const UNALIGNED: &str = "unaligned atomic";
/// And for one beyond the memory.
pub const OUT_OF_BOUNDS: &str = "out of bounds memory access";

/// A value as bits; references as whether they are null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    /// A number or vector.
    Number(u128),
    /// A reference.
    Reference {
        /// Whether it is null.
        null: bool,
    },
}

/// Everything compared about one module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// How instantiation ended, where it did not succeed.
    pub instantiation: Option<Ended>,
    /// Each exported function in order of its name, called once.
    pub calls: Vec<(String, Result<Vec<Bits>, Ended>)>,
    /// What was there after each call that trapped: all memories, tables and globals
    /// that are exported or imported, as a number.
    pub after_traps: Vec<(String, u64)>,
    /// Exported globals afterwards.
    pub globals: Vec<(String, Bits)>,
    /// Exported memories afterwards: their length and a hash of them.
    pub memories: Vec<(String, u64, u64)>,
    /// Exported tables' lengths afterwards.
    pub tables: Vec<(String, u64)>,
}

impl Observed {
    /// Of a module that did not get as far as running.
    pub fn refused(ended: Ended) -> Observed {
        Observed {
            instantiation: Some(ended),
            calls: Vec::new(),
            after_traps: Vec::new(),
            globals: Vec::new(),
            memories: Vec::new(),
            tables: Vec::new(),
        }
    }

    /// Whether two engines agree. After the stack was used up in either,
    /// nothing can be said.
    pub fn agrees(&self, other: &Observed) -> Result<(), String> {
        let mut said = self.clone();
        said.settle_unaligned(other);
        said.agrees_exactly(other)
    }

    /// An atomic access can be both unaligned and out of bounds, and which of the
    /// two traps it raises is nowhere said: where the other says out of bounds, so
    /// does this one.
    fn settle_unaligned(&mut self, other: &Observed) {
        let settle = |mine: &mut Ended, theirs: &Ended| {
            if *mine == Ended::Trapped(UNALIGNED) && *theirs == Ended::Trapped(OUT_OF_BOUNDS) {
                *mine = theirs.clone();
            }
        };
        if let (Some(mine), Some(theirs)) = (&mut self.instantiation, &other.instantiation) {
            settle(mine, theirs);
        }
        for ((_, mine), (_, theirs)) in self.calls.iter_mut().zip(&other.calls) {
            if let (Err(mine), Err(theirs)) = (mine, theirs) {
                settle(mine, theirs);
            }
        }
    }

    fn agrees_exactly(&self, other: &Observed) -> Result<(), String> {
        if self.exhausted().is_some() || other.exhausted().is_some() {
            return self.agrees_until_exhausted(other);
        }
        match self == other {
            true => Ok(()),
            false => Err(self.first_difference(other)),
        }
    }

    /// The call in which the stack was used up; the instantiation counts as 0.
    fn exhausted(&self) -> Option<usize> {
        if self.instantiation == Some(Ended::Exhausted) {
            return Some(0);
        }
        self.calls
            .iter()
            .position(|(_, outcome)| *outcome == Err(Ended::Exhausted))
    }

    fn agrees_until_exhausted(&self, other: &Observed) -> Result<(), String> {
        let last = self
            .exhausted()
            .into_iter()
            .chain(other.exhausted())
            .min()
            .unwrap_or(0);
        let same = self
            .calls
            .iter()
            .take(last)
            .eq(other.calls.iter().take(last));
        match same {
            true => Ok(()),
            false => Err(self.first_difference(other)),
        }
    }

    fn first_difference(&self, other: &Observed) -> String {
        if self.instantiation != other.instantiation {
            return format!("{:?}, not {:?}", self.instantiation, other.instantiation);
        }
        for (a, b) in self.calls.iter().zip(&other.calls) {
            if a != b {
                return format!("call {a:x?}, not {b:x?}");
            }
        }
        for (a, b) in self.after_traps.iter().zip(&other.after_traps) {
            if a != b {
                return format!(
                    "other memories, tables or globals after the trap of {}",
                    a.0
                );
            }
        }
        for (a, b) in self.globals.iter().zip(&other.globals) {
            if a != b {
                return format!("global {a:x?}, not {b:x?}");
            }
        }
        format!(
            "memories {:x?} and tables {:?}, not {:x?} and {:?}",
            self.memories, self.tables, other.memories, other.tables
        )
    }
}

/// A number for a state: what differs in it gives another one, but for a chance of one
/// in 2^64. Words are taken in as FNV-1a takes bytes, and turned.
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Digest {
        Digest(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    /// Take in a number.
    pub fn number(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    /// Take in bytes, and how many they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        for word in bytes.chunks(8) {
            let mut whole = [0; 8];
            whole[..word.len()].copy_from_slice(word);
            self.number(u64::from_le_bytes(whole));
        }
    }

    /// Take in a value.
    pub fn value(&mut self, value: Bits) {
        match value {
            Bits::Number(number) => {
                self.number(number as u64);
                self.number((number >> 64) as u64);
            }
            Bits::Reference { null } => self.number(2 + u64::from(null)),
        }
    }

    /// The number of all that was taken in.
    pub fn end(self) -> u64 {
        self.0
    }
}

/// The number of these bytes.
pub fn hash(bytes: &[u8]) -> u64 {
    let mut digest = Digest::default();
    digest.bytes(bytes);
    digest.end()
}

/// The argument of an index that a function's parameter gets: small, large and
/// negative numbers in turn. The same for every engine.
pub fn argument(index: usize) -> u64 {
    const PATTERN: [u64; 6] = [
        1,
        0x10_0000,
        u64::MAX,
        0x7fff_ffff,
        0,
        0x8000_0000_0000_0000,
    ];
    PATTERN[index % PATTERN.len()]
}

/// What host functions return, in every lane.
pub const HOST_RESULT: u64 = 3;
