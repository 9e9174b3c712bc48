//! `--dir`: a folder of the host, the guest's name for it, and what may be done
//! in it.
//!
//! `HOST[::GUEST][:ro|:rw]`. A `:ro` or `:rw` at the end is cut first, unless a
//! colon stands before it; then the last `::` separates the names. So a name that
//! ends in `:ro` itself is written with another `:ro` or `:rw` behind it, and a
//! host's path with `::` in it is written with a GUEST behind it.

use std::fmt;
use std::str::FromStr;

use fathom_wasi::{BuildError, DirPerms, FilePerms, WasiCtxBuilder};

/// A folder for the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dir {
    text: String,
    host: String,
    guest: String,
    read_only: bool,
}

impl FromStr for Dir {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Dir, Self::Err> {
        let suffix = |suffix| {
            let names: Option<&str> = text.strip_suffix(suffix);
            names.filter(|names| !names.is_empty() && !names.ends_with(':'))
        };
        let (names, read_only) = match (suffix(":ro"), suffix(":rw")) {
            (Some(names), _) => (names, true),
            (None, Some(names)) => (names, false),
            (None, None) => (text, false),
        };
        let (host, guest) = names.rsplit_once("::").unwrap_or((names, names));
        Ok(Dir {
            text: text.to_owned(),
            host: host.to_owned(),
            guest: guest.to_owned(),
            read_only,
        })
    }
}

/// As it was written.
impl fmt::Display for Dir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Dir {
    /// The folder of the host, as it was written.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The guest's name for it.
    pub fn guest(&self) -> &str {
        &self.guest
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
        builder.preopen_dir(&self.host, &self.guest, dir, file)
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
            let Ok(dir) = text.parse::<Dir>();
            let got = (&*dir.host, &*dir.guest, dir.read_only);
            assert_eq!(got, (host, guest, read_only), "{text}");
            assert_eq!(dir.to_string(), text);
        }
    }
}
