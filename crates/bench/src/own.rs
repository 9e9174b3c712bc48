//! How our engine's strategies are named where they are measured: as the engine
//! names them, or with `+pool` behind, for instances that are used again.

use std::{fmt, str::FromStr};

use fathom_engine::{BoundsChoice, UnknownBounds};

/// What stands behind the name of a strategy whose instances come from a pool.
pub const POOL_SUFFIX: &str = "+pool";

/// A strategy of ours, and where its instances come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnStrategy {
    /// How memories are kept.
    pub choice: BoundsChoice,
    /// Whether instances are used again.
    pub is_pooled: bool,
}

impl FromStr for OwnStrategy {
    type Err = UnknownBounds;

    fn from_str(name: &str) -> Result<Self, UnknownBounds> {
        let (name, is_pooled) = match name.strip_suffix(POOL_SUFFIX) {
            Some(name) => (name, true),
            None => (name, false),
        };
        let choice = name.parse()?;
        Ok(Self { choice, is_pooled })
    }
}

impl fmt::Display for OwnStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = if self.is_pooled { POOL_SUFFIX } else { "" };
        write!(f, "{}{suffix}", self.choice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written_alike() {
        for name in ["auto", "guard", "uffd+pool", "guard64:shift+pool"] {
            let own: OwnStrategy = name.parse().unwrap();
            assert_eq!(own.to_string(), name);
            assert_eq!(own.is_pooled, name.ends_with("pool"));
        }
        for bad in ["", "+pool", "guard+pools", "pool"] {
            assert!(bad.parse::<OwnStrategy>().is_err(), "{bad}");
        }
    }
}
