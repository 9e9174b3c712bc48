//! What a guest may do in a folder that it is given.
//!
//! The names and their meaning are those of wasmtime. They are carried out by
//! rights ([`Perms::withheld`]): the folder has no more, and hands no more on, so
//! that every call which looks at its rights looks at these too.
//!
//! What must stay true: nothing in a folder can be changed, or read, through
//! another folder that allows more. A link or a renaming into such a folder is
//! therefore refused ([`Perms::cover`]), whatever rights there are.

use crate::types::Rights;

bitflags::bitflags! {
    /// What may be done with the directories of a preopened folder.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DirPerms: u8 {
        /// List them, ask for the status of their entries, open what is in them.
        const READ = 1 << 0;
        /// Make, rename, link and remove entries.
        const MUTATE = 1 << 1;
    }

    /// What may be done with the files in a preopened folder.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FilePerms: u8 {
        /// Read them.
        const READ = 1 << 0;
        /// Write to them, change their size.
        const WRITE = 1 << 1;
    }
}

const LIST: Rights = Rights::PATH_OPEN
    .union(Rights::FD_READDIR)
    .union(Rights::PATH_READLINK)
    .union(Rights::PATH_FILESTAT_GET);

const MUTATE: Rights = Rights::PATH_CREATE_DIRECTORY
    .union(Rights::PATH_CREATE_FILE)
    .union(Rights::PATH_LINK_SOURCE)
    .union(Rights::PATH_LINK_TARGET)
    .union(Rights::PATH_RENAME_SOURCE)
    .union(Rights::PATH_RENAME_TARGET)
    .union(Rights::PATH_SYMLINK)
    .union(Rights::PATH_REMOVE_DIRECTORY)
    .union(Rights::PATH_UNLINK_FILE);

const WRITE: Rights = Rights::FD_WRITE
    .union(Rights::FD_ALLOCATE)
    .union(Rights::FD_FILESTAT_SET_SIZE)
    .union(Rights::PATH_FILESTAT_SET_SIZE);

/// One right for files and directories: both must be theirs to change.
const SET_TIMES: Rights = Rights::FD_FILESTAT_SET_TIMES.union(Rights::PATH_FILESTAT_SET_TIMES);

/// What may be done in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Perms {
    pub(crate) dir: DirPerms,
    pub(crate) file: FilePerms,
}

impl Perms {
    /// Everything: of what is no folder, too.
    pub(crate) const ALL: Perms = Perms {
        dir: DirPerms::all(),
        file: FilePerms::all(),
    };

    /// The rights that the folder neither has nor hands on.
    pub(crate) fn withheld(self) -> Rights {
        let mut rights = Rights::empty();
        let mut unless = |allowed: bool, these: Rights| {
            if !allowed {
                rights |= these;
            }
        };
        let changes = self.dir.contains(DirPerms::MUTATE);
        let writes = self.file.contains(FilePerms::WRITE);
        unless(self.dir.contains(DirPerms::READ), LIST);
        unless(changes, MUTATE);
        unless(self.file.contains(FilePerms::READ), Rights::FD_READ);
        unless(writes, WRITE);
        unless(changes && writes, SET_TIMES);
        rights
    }

    /// Whether what is allowed by `other` is allowed by these, so that something
    /// may be moved from here to there.
    pub(crate) fn cover(self, other: Perms) -> bool {
        self.dir.contains(other.dir) && self.file.contains(other.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_only_withholds_whatever_changes_something() {
        assert_eq!(Perms::ALL.withheld(), Rights::empty());
        let read_only = Perms {
            dir: DirPerms::READ,
            file: FilePerms::READ,
        };
        let kept = Rights::all() - read_only.withheld();
        let harmless = LIST
            | Rights::FD_READ
            | Rights::FD_SEEK
            | Rights::FD_TELL
            | Rights::FD_ADVISE
            | Rights::FD_SYNC
            | Rights::FD_DATASYNC
            | Rights::FD_FDSTAT_SET_FLAGS
            | Rights::FD_FILESTAT_GET
            | Rights::POLL_FD_READWRITE
            | Rights::SOCK_ACCEPT
            | Rights::SOCK_SHUTDOWN;
        assert_eq!(kept, harmless);
    }
}
