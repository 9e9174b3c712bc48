//! Fuel of a store: what its code may execute before it is ended.
//!
//! Compiled code does the work (`translate/fuel.rs`); here it is set and asked for. An
//! instruction costs one, those that only structure a body nothing; a call and an
//! iteration of a loop cost one more; bulk operations cost one for 8 bytes or one
//! element. What the host does costs nothing.
//!
//! What must stay true: between calls the store's cell says what is left. After a trap
//! it says what was left at the last call, return or head of a loop.

use crate::facts::error::{ErrorKind, Result};
use crate::run::host::Caller;
use crate::run::pool::Pooled;
use crate::run::store::private::Sealed;
use crate::run::store::{AsContextMut, Store, StoreOpaque, opaque_mut};

/// Fuel as compiled code counts it.
pub(crate) fn to_cell(fuel: u64) -> i64 {
    i64::try_from(fuel).unwrap_or(i64::MAX)
}

fn check(store: &StoreOpaque) -> Result<()> {
    match store.engine.config().consume_fuel {
        true => Ok(()),
        false => {
            Err(ErrorKind::Config("fuel is not consumed: Config::consume_fuel".to_owned()).into())
        }
    }
}

fn get(store: &StoreOpaque) -> Result<u64> {
    check(store)?;
    Ok(u64::try_from(store.runtime.fuel).unwrap_or(0))
}

fn set(mut store: impl AsContextMut, fuel: u64) -> Result<()> {
    let opaque = opaque_mut(&mut store);
    check(opaque)?;
    opaque.runtime.fuel = to_cell(fuel);
    Ok(())
}

impl<T> Store<T> {
    /// The fuel that is left.
    ///
    /// # Errors
    /// An engine whose code consumes none.
    pub fn get_fuel(&self) -> Result<u64> {
        get(self.opaque())
    }

    /// Set what is left; at most `i64::MAX` counts.
    ///
    /// # Errors
    /// An engine whose code consumes none.
    pub fn set_fuel(&mut self, fuel: u64) -> Result<()> {
        set(self, fuel)
    }
}

impl<T> Caller<'_, T> {
    /// The fuel that is left, for what called and what is called from here.
    ///
    /// # Errors
    /// An engine whose code consumes none.
    pub fn get_fuel(&self) -> Result<u64> {
        get(self.opaque())
    }

    /// Set what is left; at most `i64::MAX` counts.
    ///
    /// # Errors
    /// An engine whose code consumes none.
    pub fn set_fuel(&mut self, fuel: u64) -> Result<()> {
        set(self, fuel)
    }
}

impl<T> Pooled<T> {
    /// The fuel that is left.
    ///
    /// # Errors
    /// An engine whose code consumes none.
    pub fn get_fuel(&self) -> Result<u64> {
        get(self.opaque())
    }

    /// Set what is left; at most `i64::MAX` counts.
    ///
    /// # Errors
    /// An engine whose code consumes none.
    pub fn set_fuel(&mut self, fuel: u64) -> Result<()> {
        set(self, fuel)
    }
}
