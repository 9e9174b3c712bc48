//! The rows: which strategies there are, and how a user names one. What each says of
//! itself is in its own file.
//!
//! A few strategies come in several forms, which differ in the instruction
//! that checks or in how they follow a growing memory, never in what they
//! promise: `guard64:shift`. [`Bounds::ALL`] has each strategy once, in the
//! form it takes without a word about it; [`Bounds::FORMS`] has every form.

use std::fmt;
use std::str::FromStr;

use super::about::{About, Fit, Guarantee};
use super::{Strategy, auto};
use super::{clamp, debug, guard, guard64, none, pkeys, shadow, shadow_compressed, trap, uffd};

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
        let fit = self.about().fit(memory64);
        fit != Fit::Nowhere && fit.is_for_this_machine()
    }

    /// The name by which users choose it.
    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// One line of help.
    pub fn help(self) -> &'static str {
        self.about().help
    }

    /// What it promises.
    pub fn guarantee(self) -> Guarantee {
        self.about().guarantee
    }

    /// What it needs of the host, for messages; empty for nothing special.
    pub fn needs(self) -> &'static str {
        self.about().needs
    }

    /// What this host lacks for it, and the remedy, in a line; nothing where it
    /// can be used. Found out by trying.
    pub fn missing(self) -> Option<String> {
        let why = (self.about().missing)()?;
        Some(format!("{}: {why}", self.needs()))
    }

    /// Whether it is one to look for defects with rather than to run fast.
    pub fn is_diagnostic(self) -> bool {
        self.about().is_diagnostic
    }

    /// Whether its Wasm runs locked by protection keys.
    pub(crate) fn is_locked(self) -> bool {
        self.about().is_locked
    }

    pub(super) fn about(self) -> &'static About {
        self.strategy().about()
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
    pub fn resolve(self, memory64: bool) -> Bounds {
        match self {
            BoundsChoice::Auto => auto::cheapest(memory64),
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
