//! Output that need not be equal to the last digit: what SPEC calls a tolerance, in its
//! simplest form.
//!
//! Both texts are words in lines. Blank space and blank lines do not count. A word that
//! is a number in both may differ by an absolute amount or by a share of the expected
//! one, whichever is more; any other word must be equal.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use fathom_sys::regular;

/// More output than this beyond what is expected is not read: it is wrong by then.
const MORE_BYTES: u64 = 1 << 16;

/// A text that an output must be near to.
#[derive(Clone, Debug, PartialEq)]
pub struct Tolerance {
    /// Where it is.
    pub file: PathBuf,
    /// What numbers may differ by.
    pub absolute: f64,
    /// What they may differ by as a share of the expected one.
    pub relative: f64,
}

impl Tolerance {
    /// Checks an output.
    ///
    /// # Errors
    /// One line: the first line that is wrong, or what cannot be read.
    pub fn check(&self, printed: &Path) -> Result<(), String> {
        let right = regular::read(&self.file)
            .map_err(|error| format!("cannot read {}: {error}", self.file.display()))?;
        let mut said = Vec::new();
        regular::open(printed)
            .and_then(|file| {
                file.take(right.len() as u64 + MORE_BYTES)
                    .read_to_end(&mut said)
            })
            .map_err(|error| format!("its output cannot be read: {error}"))?;
        let [said, right] = [said, right].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let (mut said, mut right) = (lines(&said), lines(&right));
        loop {
            match (said.next(), right.next()) {
                (None, None) => return Ok(()),
                (Some((_, one)), Some((_, other))) if self.agree(one, other) => {}
                (one, other) => {
                    let number = other.or(one).map_or(0, |(number, _)| number + 1);
                    let quote = |line: Option<(usize, &str)>| {
                        line.map_or("nothing".to_owned(), |(_, line)| {
                            format!("`{}`", clip(line))
                        })
                    };
                    let (said, right) = (quote(one), quote(other));
                    return Err(format!("line {number} is {said} instead of {right}"));
                }
            }
        }
    }

    fn agree(&self, said: &str, right: &str) -> bool {
        let (mut said, mut right) = (said.split_whitespace(), right.split_whitespace());
        loop {
            match (said.next(), right.next()) {
                (None, None) => return true,
                (Some(one), Some(other)) if self.is_near(one, other) => {}
                _ => return false,
            }
        }
    }

    fn is_near(&self, said: &str, right: &str) -> bool {
        if said == right {
            return true;
        }
        let (Ok(said), Ok(right)) = (said.parse::<f64>(), right.parse::<f64>()) else {
            return false;
        };
        (said - right).abs() <= self.absolute.max(self.relative * right.abs())
    }
}

/// The lines that are not blank, with their places.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
}

/// A program's own words, short enough for a line.
pub(crate) fn clip(text: &str) -> String {
    let mut short: String = text.chars().filter(|c| !c.is_control()).take(64).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn check(said: &str, right: &str, absolute: f64, relative: f64) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        let [printed, file] = [("printed", said), ("right", right)].map(|(name, text)| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        });
        Tolerance {
            file,
            absolute,
            relative,
        }
        .check(&printed)
    }

    #[test]
    fn numbers_may_differ_and_words_may_not() {
        assert_eq!(check("a 1.00\n", "a 1.0", 0.0, 0.0), Ok(()));
        assert_eq!(check("e:\t-1.5e3", "\ne: -1500.4\n", 0.5, 0.0), Ok(()));
        assert_eq!(check("31.6", "31.7", 0.0, 0.01), Ok(()));
        assert_eq!(
            check("x\n31.6", "x\n31.7", 0.0, 0.001),
            Err("line 2 is `31.6` instead of `31.7`".to_owned())
        );
        assert!(check("nan", "1", 9.0, 9.0).is_err());
        assert!(check("one", "two", 9.0, 9.0).is_err());
    }

    #[test]
    fn what_is_missing_or_too_much_is_wrong() {
        assert_eq!(
            check("1\n", "1\n\n2\n", 9.0, 0.0),
            Err("line 3 is nothing instead of `2`".to_owned())
        );
        assert!(check("1 2", "1", 9.0, 0.0).is_err());
        assert!(check("1\nmore", "1", 9.0, 0.0).is_err());
        assert!(check("", "1", 9.0, 0.0).is_err());
        let gone = Tolerance {
            file: "/no/such".into(),
            absolute: 0.0,
            relative: 0.0,
        };
        assert!(gone.check(Path::new("/dev/null")).is_err());
    }
}
