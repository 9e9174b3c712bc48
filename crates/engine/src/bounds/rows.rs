//! The rows: which strategies there are, what each promises and needs, and how
//! a user names one.
//!
//! A few strategies come in several forms, which differ in the instruction
//! that checks or in how they follow a growing memory, never in what they
//! promise: `guard64:shift`. [`Bounds::ALL`] has each strategy once, in the
//! form it takes without a word about it; [`Bounds::FORMS`] has every form.

use std::fmt;
use std::str::FromStr;

use fathom_sys::{pkeys as pkeys_of_host, uffd as uffd_of_host};

use super::Strategy;
use super::{clamp, debug, guard, guard64, none, pkeys, shadow, shadow_compressed, trap, uffd};

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

/// A strategy, in one of its forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bounds {
    /// No check at all.
    None,
    /// Select the memory's end when out of bounds.
    Clamp,
    /// Compare and branch.
    Trap,
    /// Guard pages, grown by mprotect.
    Guard,
    /// The high bits of 64-bit indices tested, guard pages for the rest.
    Guard64(HighBits),
    /// Pages supplied on demand through userfaultfd.
    Uffd,
    /// A byte of shadow memory is read first, one page of it for a Wasm page.
    Shadow(Probing),
    /// The same, one page of it for many Wasm pages.
    ShadowCompressed(Growth, Probing),
    /// Everything else is locked by protection keys while Wasm runs.
    Pkeys,
    /// A runtime function checks each access and says what was wrong with it.
    Debug,
}

/// How `guard64` looks at the high bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HighBits {
    /// A test with a mask.
    Mask,
    /// A shift that leaves them.
    Shift,
}

/// The instruction that reads the shadow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Probing {
    /// A load of a byte, widened.
    Movzx,
    /// A load of four bytes.
    Mov,
    /// A test in memory, with a branch that is never taken: Cranelift drops one
    /// whose flags nobody reads.
    Test,
}

/// What becomes of a page of compressed shadow that is in bounds in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Growth {
    /// It is readable; inaccessible pages of the memory guard the rest.
    MicroGuard,
    /// It is not; the fault handler lets those through that are in bounds.
    Segfault,
}

use Bounds as B;
use Growth::{MicroGuard, Segfault};
use Probing::{Mov, Movzx, Test};

impl Bounds {
    /// Every strategy, weakest guarantee first, each in its usual form.
    pub const ALL: [Bounds; 10] = [
        B::None,
        B::Pkeys,
        B::Clamp,
        B::Trap,
        B::Guard,
        B::Guard64(HighBits::Mask),
        B::Uffd,
        B::Shadow(Movzx),
        B::ShadowCompressed(MicroGuard, Movzx),
        B::Debug,
    ];

    /// Every form of every strategy.
    pub const FORMS: [Bounds; 18] = [
        B::None,
        B::Pkeys,
        B::Clamp,
        B::Trap,
        B::Guard,
        B::Guard64(HighBits::Mask),
        B::Guard64(HighBits::Shift),
        B::Uffd,
        B::Shadow(Movzx),
        B::Shadow(Mov),
        B::Shadow(Test),
        B::ShadowCompressed(MicroGuard, Movzx),
        B::ShadowCompressed(MicroGuard, Mov),
        B::ShadowCompressed(MicroGuard, Test),
        B::ShadowCompressed(Segfault, Movzx),
        B::ShadowCompressed(Segfault, Mov),
        B::ShadowCompressed(Segfault, Test),
        B::Debug,
    ];

    /// `guard64` in its usual form.
    pub const GUARD64: Bounds = B::Guard64(HighBits::Mask);

    /// Those that guard memories of an index type, 64-bit or 32-bit.
    pub fn all_for(memory64: bool) -> impl Iterator<Item = Bounds> {
        Bounds::ALL
            .into_iter()
            .filter(move |bounds| bounds.supports(memory64))
    }

    /// Those of them that are there to run fast: what is worth measuring.
    pub fn measured_for(memory64: bool) -> impl Iterator<Item = Bounds> {
        Bounds::all_for(memory64).filter(|bounds| !bounds.is_diagnostic())
    }

    /// The forms that guard memories of an index type, 64-bit or 32-bit.
    pub fn forms_for(memory64: bool) -> impl Iterator<Item = Bounds> {
        Bounds::FORMS
            .into_iter()
            .filter(move |bounds| bounds.supports(memory64))
    }

    /// Whether it guards memories of an index type, 64-bit or 32-bit.
    pub fn supports(self, memory64: bool) -> bool {
        match self {
            B::Guard => !memory64,
            B::Guard64(_) => memory64,
            B::None | B::Clamp | B::Trap | B::Uffd | B::Pkeys | B::Debug => true,
            B::Shadow(_) | B::ShadowCompressed(..) => self.is_for_this_machine(memory64),
        }
    }

    /// Whether this instruction set has what it takes: addresses that fault where
    /// they wrap out of user space, and a handler that can go on behind an
    /// instruction.
    pub(super) fn is_for_this_machine(self, memory64: bool) -> bool {
        let needs_x86 = match self {
            B::Shadow(_) => memory64,
            B::ShadowCompressed(growth, _) => growth == Segfault,
            _ => false,
        };
        !needs_x86 || cfg!(target_arch = "x86_64")
    }

    /// The name by which users choose it.
    pub fn name(self) -> &'static str {
        match self {
            B::None => "none",
            B::Clamp => "clamp",
            B::Trap => "trap",
            B::Guard => "guard",
            B::Guard64(HighBits::Mask) => "guard64",
            B::Guard64(HighBits::Shift) => "guard64:shift",
            B::Uffd => "uffd",
            B::Shadow(Movzx) => "shadow",
            B::Shadow(Mov) => "shadow:mov",
            B::Shadow(Test) => "shadow:test",
            B::ShadowCompressed(MicroGuard, Movzx) => "shadow-compressed",
            B::ShadowCompressed(MicroGuard, Mov) => "shadow-compressed:mov",
            B::ShadowCompressed(MicroGuard, Test) => "shadow-compressed:test",
            B::ShadowCompressed(Segfault, Movzx) => "shadow-compressed:segfault",
            B::ShadowCompressed(Segfault, Mov) => "shadow-compressed:segfault:mov",
            B::ShadowCompressed(Segfault, Test) => "shadow-compressed:segfault:test",
            B::Pkeys => "pkeys",
            B::Debug => "debug",
        }
    }

    /// One line of help.
    pub fn help(self) -> &'static str {
        match self {
            B::None => "no checks, the whole reach mapped: a baseline, not a sandbox",
            B::Clamp => "out-of-bounds addresses are redirected to the memory's end",
            B::Trap => "compare with the length and branch to a trap",
            B::Guard => "inaccessible pages around the memory, grown by mprotect (32-bit memories)",
            B::Guard64(HighBits::Mask) => {
                "the index's high bits tested, guard pages for the rest (64-bit memories)"
            }
            B::Guard64(HighBits::Shift) => {
                "as guard64, the high bits found by a shift (64-bit memories)"
            }
            B::Uffd => "pages supplied on demand by userfaultfd, growth without mprotect",
            B::Shadow(Movzx) => "a byte of shadow memory read first, a page of it for a Wasm page",
            B::Shadow(Mov) => "as shadow, four bytes of it read",
            B::Shadow(Test) => "as shadow, tested in memory",
            B::ShadowCompressed(MicroGuard, Movzx) => {
                "as shadow, a page of it for many Wasm pages; guard pages inside the last"
            }
            B::ShadowCompressed(MicroGuard, Mov) => "as shadow-compressed, four bytes of it read",
            B::ShadowCompressed(MicroGuard, Test) => "as shadow-compressed, tested in memory",
            B::ShadowCompressed(Segfault, Movzx) => {
                "as shadow-compressed, accesses to the last page let through by the fault handler"
            }
            B::ShadowCompressed(Segfault, Mov) => {
                "as shadow-compressed:segfault, four bytes of it read"
            }
            B::ShadowCompressed(Segfault, Test) => {
                "as shadow-compressed:segfault, tested in memory"
            }
            B::Pkeys => {
                "no checks: protection keys lock the host while Wasm runs; its stack stays reachable"
            }
            B::Debug => "a call checks each access and says what was wrong with it: slow",
        }
    }

    /// What it promises.
    pub fn guarantee(self) -> Guarantee {
        match self {
            B::None => Guarantee::Unchecked,
            B::Clamp => Guarantee::Contained,
            B::Pkeys => Guarantee::Partial,
            B::Trap | B::Guard | B::Guard64(_) | B::Uffd | B::Debug => Guarantee::Exact,
            B::Shadow(_) | B::ShadowCompressed(..) => Guarantee::Exact,
        }
    }

    /// What it needs of the host, for messages; empty for nothing special.
    pub fn needs(self) -> &'static str {
        match self {
            B::None | B::Clamp | B::Trap | B::Guard | B::Guard64(_) | B::Debug => "",
            B::Pkeys => "memory protection keys (x86-64 with PKU) and Linux 6.12",
            B::Uffd => "userfaultfd with the SIGBUS feature",
            B::Shadow(_) => "x86-64 and low addresses, for 64-bit memories",
            B::ShadowCompressed(MicroGuard, _) => "512 GiB of address space for a 64-bit memory",
            B::ShadowCompressed(Segfault, _) => "x86-64; low addresses, for 64-bit memories",
        }
    }

    /// What this host lacks for it, and the remedy, in a line; nothing where it
    /// can be used. Found out by trying.
    pub fn lack(self) -> Option<String> {
        match self {
            B::Uffd => {
                let remedy =
                    "Linux 5.11 with CONFIG_USERFAULTFD; in a container, allow the system call";
                let error = uffd_of_host::open().err()?;
                Some(format!("{}: {error} ({remedy})", self.needs()))
            }
            B::Pkeys => {
                let error = pkeys_of_host::keys().err()?;
                Some(format!("{}: {error}", self.needs()))
            }
            B::None | B::Clamp | B::Trap | B::Guard | B::Guard64(_) => None,
            B::Shadow(_) | B::ShadowCompressed(..) | B::Debug => None,
        }
    }

    /// Whether it is one to look for defects with rather than to run fast.
    pub fn is_diagnostic(self) -> bool {
        self == B::Debug
    }

    pub(super) fn strategy(self) -> &'static dyn Strategy {
        match self {
            B::None => &none::None,
            B::Clamp => &clamp::Clamp,
            B::Trap => &trap::Trap,
            B::Guard => &guard::Guard,
            B::Guard64(HighBits::Mask) => &guard64::Guard64(HighBits::Mask),
            B::Guard64(HighBits::Shift) => &guard64::Guard64(HighBits::Shift),
            B::Uffd => &uffd::Uffd,
            B::Shadow(probing) => shadow::form(probing),
            B::ShadowCompressed(growth, probing) => shadow_compressed::form(growth, probing),
            B::Pkeys => &pkeys::Pkeys,
            B::Debug => &debug::Debug,
        }
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no strategy's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown strategy '{name}' (one of: auto, {known})", known = known(name))]
pub struct UnknownBounds {
    name: String,
}

/// The strategies, or the forms of the one that is meant.
fn known(name: &str) -> String {
    let strategy = name.split(':').next().unwrap_or_default();
    let is_form = |bounds: &Bounds| bounds.name().split(':').next() == Some(strategy);
    let names: Vec<&str> = match Bounds::ALL.iter().any(is_form) {
        true => Bounds::FORMS
            .iter()
            .filter(|b| is_form(b))
            .map(|b| b.name())
            .collect(),
        false => Bounds::ALL.iter().map(|bounds| bounds.name()).collect(),
    };
    names.join(", ")
}

impl FromStr for Bounds {
    type Err = UnknownBounds;

    fn from_str(name: &str) -> Result<Bounds, UnknownBounds> {
        let found = Bounds::FORMS.into_iter().find(|b| b.name() == name);
        found.ok_or_else(|| UnknownBounds {
            name: name.to_owned(),
        })
    }
}

/// Which strategy to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BoundsChoice {
    /// The cheapest exact one for each memory on this host.
    #[default]
    Auto,
    /// This one.
    Named(Bounds),
}

impl BoundsChoice {
    /// The strategy for memories of an index type, 64-bit or 32-bit.
    ///
    /// `guard` emits no instruction at all, so nothing exact is cheaper; for 64
    /// bits `guard64` emits least, one test of a register with another.
    pub fn resolve(self, memory64: bool) -> Bounds {
        match self {
            BoundsChoice::Auto if memory64 => Bounds::GUARD64,
            BoundsChoice::Auto => Bounds::Guard,
            BoundsChoice::Named(bounds) => bounds,
        }
    }
}

impl fmt::Display for BoundsChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BoundsChoice::Auto => f.write_str("auto"),
            BoundsChoice::Named(bounds) => write!(f, "{bounds}"),
        }
    }
}

impl FromStr for BoundsChoice {
    type Err = UnknownBounds;

    fn from_str(name: &str) -> Result<BoundsChoice, UnknownBounds> {
        match name {
            "auto" => Ok(BoundsChoice::Auto),
            _ => name.parse().map(BoundsChoice::Named),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_has_a_name_of_its_own_and_is_found_by_it() {
        for bounds in Bounds::FORMS {
            assert_eq!(bounds.name().parse(), Ok(bounds));
        }
    }

    #[test]
    fn every_strategy_is_there_once_in_the_form_without_a_suffix() {
        let plain = Bounds::FORMS
            .into_iter()
            .filter(|b| !b.name().contains(':'));
        assert!(plain.eq(Bounds::ALL));
    }

    #[test]
    fn a_form_that_is_none_is_answered_with_those_there_are() {
        let error = "guard64:sieve".parse::<Bounds>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown strategy 'guard64:sieve' (one of: auto, guard64, guard64:shift)"
        );
    }
}
