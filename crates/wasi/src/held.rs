//! A guest's descriptors as one of its threads holds them.
//!
//! ```text
//!  alone     own ── Table                 found by an exclusive borrow: no lock, no copy
//!  shared    shared ── Arc<Mutex<Table>>  locked, and what is found is copied
//! ```
//!
//! A table is its first holder's until that is cloned; it is its last one's again. What
//! must stay true: once `shared` is there the table is in it, and `own` is empty; only an
//! exclusive borrow takes it back.

use crate::errno::Errno;
use crate::table::{Descriptor, Table};
use crate::types::Rights;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The table, or a share of it.
#[derive(Debug)]
pub(crate) struct Held {
    own: Mutex<Table>,
    shared: OnceLock<Arc<Mutex<Table>>>,
}

impl Held {
    /// Holds a table alone.
    pub(crate) fn new(table: Table) -> Held {
        Held {
            own: Mutex::new(table),
            shared: OnceLock::new(),
        }
    }

    /// The table, locked: to be let go of before anything waits.
    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        if let Some(shared) = self.shared.get() {
            return lock(shared);
        }
        let own = lock(&self.own);
        match self.shared.get() {
            // It was cloned while this waited for the lock.
            Some(shared) => lock(shared),
            None => own,
        }
    }

    /// The descriptor `fd`, see [`Table::file`]; a copy where others have the table.
    ///
    /// # Errors
    /// `Errno::Badf`, `Errno::Isdir`, `Errno::Notcapable`.
    #[inline]
    pub(crate) fn file(&mut self, fd: u32, rights: Rights) -> Result<Cow<'_, Descriptor>, Errno> {
        if self.shared.get().is_some() && !self.taken_back() {
            return self.copied(fd, rights);
        }
        let own = self.own.get_mut().unwrap_or_else(PoisonError::into_inner);
        own.file(fd, rights).map(Cow::Borrowed)
    }

    #[cold]
    fn copied(&self, fd: u32, rights: Rights) -> Result<Cow<'_, Descriptor>, Errno> {
        let file = self.table().file(fd, rights).cloned();
        file.map(Cow::Owned)
    }

    /// Whether nobody else has the table any more, so that it is held alone.
    #[cold]
    fn taken_back(&mut self) -> bool {
        let is_shared = |shared: &Arc<_>| Arc::strong_count(shared) > 1;
        if self.shared.get().is_some_and(is_shared) {
            return false;
        }
        // Whoever could share it would need this, which is borrowed.
        if let Some(table) = self.shared.take().and_then(Arc::into_inner) {
            let table = table.into_inner().unwrap_or_else(PoisonError::into_inner);
            self.own = Mutex::new(table);
        }
        true
    }
}

/// A share of the same table.
impl Clone for Held {
    fn clone(&self) -> Held {
        let mut own = lock(&self.own);
        let shared = self.shared.get_or_init(|| {
            let table = std::mem::replace(&mut *own, Table::new(0));
            Arc::new(Mutex::new(table))
        });
        Held {
            own: Mutex::new(Table::new(0)),
            shared: OnceLock::from(Arc::clone(shared)),
        }
    }
}

/// Each change is one assignment: a table is good at any time.
fn lock(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::HostFile;

    fn stdin() -> Descriptor {
        Descriptor::new(HostFile::Stdin, Rights::all(), Rights::empty()).unwrap()
    }

    /// Whether what is found is the table's own, and no copy.
    fn is_alone(held: &mut Held) -> bool {
        let found = held.file(0, Rights::empty());
        matches!(found, Ok(Cow::Borrowed(_)))
    }

    #[test]
    fn clones_are_the_same_table() {
        let mut first = Held::new(Table::new(2));
        first.table().insert(stdin()).unwrap();
        assert!(is_alone(&mut first));
        let mut second = first.clone();
        assert!(!is_alone(&mut first) && !is_alone(&mut second));
        second.table().insert(stdin()).unwrap();
        assert!(first.file(1, Rights::empty()).is_ok());
        first.table().remove(0).unwrap();
        assert_eq!(
            second.file(0, Rights::empty()).unwrap_err(),
            Errno::Badf,
            "what one closed is closed"
        );
    }

    #[test]
    fn the_last_one_holds_it_alone() {
        let first = Held::new(Table::new(2));
        first.table().insert(stdin()).unwrap();
        let mut second = first.clone();
        let third = second.clone();
        drop(first);
        assert!(!is_alone(&mut second));
        drop(third);
        assert!(is_alone(&mut second));
        second.table().insert(stdin()).unwrap();
        assert_eq!(second.table().reserve(), Err(Errno::Mfile));
        let mut fourth = second.clone();
        assert!(fourth.file(1, Rights::empty()).is_ok());
    }

    #[test]
    fn a_table_is_found_while_it_is_shared_out() {
        let held = Held::new(Table::new(2));
        held.table().insert(stdin()).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| assert!(held.table().get(0).is_ok()));
                scope.spawn(|| assert!(held.clone().table().get(0).is_ok()));
            }
        });
    }
}
