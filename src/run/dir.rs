//! `--dir`: a folder of the host, the guest's name for it, and what may be done
//! in it.
//!
//! `HOST[::GUEST][:ro|:rw]`. A `:ro` or `:rw` at the end is cut first, unless a
//! colon stands before it; then the last `::` separates the names. So a name that
//! ends in `:ro` itself is written with another `:ro` or `:rw` behind it, and a
//! host's path with `::` in it is written with a GUEST behind it.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use anyhow::Context;
use fathom_wasi::{BuildError, DirPerms, FilePerms, WasiCtxBuilder};

/// A folder for the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dir {
    text: OsString,
    host: OsString,
    guest: OsString,
    read_only: bool,
}

impl From<OsString> for Dir {
    fn from(text: OsString) -> Dir {
        let bytes = text.as_bytes();
        let suffix = |suffix: &[u8]| {
            let names: Option<&[u8]> = bytes.strip_suffix(suffix);
            names.filter(|names| !names.is_empty() && !names.ends_with(b":"))
        };
        let (names, read_only) = match (suffix(b":ro"), suffix(b":rw")) {
            (Some(names), _) => (names, true),
            (None, Some(names)) => (names, false),
            (None, None) => (bytes, false),
        };
        let last = names.windows(2).rposition(|pair| pair == b"::");
        let (host, guest) = match last {
            Some(at) => (&names[..at], &names[at + 2..]),
            None => (names, names),
        };
        Dir {
            host: OsString::from_vec(host.to_vec()),
            guest: OsString::from_vec(guest.to_vec()),
            read_only,
            text,
        }
    }
}

/// As it was written.
impl fmt::Display for Dir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.text.display())
    }
}

impl Dir {
    /// As it was written, whatever its bytes.
    pub fn text(&self) -> &OsStr {
        &self.text
    }

    /// The folder of the host, as it was written.
    pub fn host(&self) -> &Path {
        Path::new(&self.host)
    }

    /// The guest's name for it, where a runner is told of it in JSON.
    ///
    /// # Errors
    /// A name that JSON cannot carry.
    pub fn guest(&self) -> anyhow::Result<&str> {
        let guest = self.guest.to_str();
        guest.with_context(|| {
            format!(
                "--dir {self}: its name is not UTF-8, which runners are told names in: give it \
                 another one (--dir HOST::GUEST)"
            )
        })
    }

    /// Whether it is only to be read.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Gives it to the program.
    ///
    /// # Errors
    /// What keeps the folder from being given.
    pub fn give(&self, builder: WasiCtxBuilder) -> Result<WasiCtxBuilder, BuildError> {
        let (dir, file) = match self.read_only {
            true => (DirPerms::READ, FilePerms::READ),
            false => (DirPerms::all(), FilePerms::all()),
        };
        builder.preopened_dir(self.host(), self.guest.as_bytes(), dir, file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_what_may_be_done() {
        for (text, host, guest, read_only) in [
            ("a", "a", "a", false),
            ("a::b", "a", "b", false),
            ("a:ro", "a", "a", true),
            ("a::b:ro", "a", "b", true),
            ("a::b:rw", "a", "b", false),
            ("a:rw", "a", "a", false),
            // A name that ends like that.
            ("a:ro:ro", "a:ro", "a:ro", true),
            ("a:ro:rw", "a:ro", "a:ro", false),
            ("a:ro::b", "a:ro", "b", false),
            ("a::ro", "a", "ro", false),
            ("a::ro:ro", "a", "ro", true),
            ("a:::ro", "a:", "ro", false),
            // Names with colons.
            ("a::b::c", "a::b", "c", false),
            ("a:b", "a:b", "a:b", false),
            ("a:ROM", "a:ROM", "a:ROM", false),
            // Nothing there, for the host to refuse.
            ("", "", "", false),
            (":ro", ":ro", ":ro", false),
            ("::b", "", "b", false),
            ("a::", "a", "", false),
        ] {
            let dir = Dir::from(OsString::from(text));
            let got = (dir.host(), dir.guest().unwrap(), dir.read_only);
            assert_eq!(got, (Path::new(host), guest, read_only), "{text}");
            assert_eq!(dir.to_string(), text);
        }
    }

    #[test]
    fn names_are_bytes() {
        let dir = Dir::from(OsString::from_vec(b"a\xff::b\xfe:ro".to_vec()));
        assert_eq!(dir.host().as_os_str().as_bytes(), b"a\xff");
        assert_eq!(dir.guest.as_bytes(), b"b\xfe");
        assert!(dir.read_only && dir.guest().is_err());
    }
}
