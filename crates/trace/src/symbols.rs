//! Which functions of an engine's program are WASI's: symbol maps, as data.
//!
//! ```text
//!  engines/NAME/symbols*.toml ──parse──► SymbolMap ──find──► Found ──► kernel::Tracer::probe
//!        ▲                                            ▲
//!        └────────── discover ◄── calls counted ──── Functions of the program's symbol table
//! ```
//!
//! What must stay true: only a function's first byte is probed, since a probe elsewhere can
//! change what a program computes (`docs/TRACE.md`), or in Go the `push` behind the check of
//! the stack, since what is in front of it may run twice a call; a symbol that is missing, or is there
//! twice, is an error, so that no count is silently too small or too large; Go's functions
//! are never probed at their return.

pub mod discover;
mod elf;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use elf::Functions;

/// Why a map cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SymbolError {
    /// It is no map.
    #[error("no symbol map: {0}")]
    Malformed(String),
    /// The program cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The program.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The program has no symbols that can be read.
    #[error("{}: {why}", path.display())]
    NoSymbols {
        /// The program.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A symbol is in the map and not in the program.
    #[error("{} has no function `{symbol}` ({function}): the map is for {version}", path.display())]
    Missing {
        /// The program.
        path: PathBuf,
        /// The WASI function.
        function: String,
        /// The symbol.
        symbol: String,
        /// What the map is for.
        version: String,
    },
    /// A symbol is several functions of the program.
    #[error("{} has {count} functions `{symbol}` ({function}): the map matches too much", path.display())]
    Ambiguous {
        /// The program.
        path: PathBuf,
        /// The WASI function.
        function: String,
        /// The symbol.
        symbol: String,
        /// How many.
        count: usize,
    },
    /// A symbol is no function but a place in one.
    #[error("{}: `{symbol}` ({function}) is in the middle of another function, where a probe can change what the program computes", path.display())]
    Inner {
        /// The program.
        path: PathBuf,
        /// The WASI function.
        function: String,
        /// The symbol.
        symbol: String,
    },
    /// Two entries of the map are one function.
    #[error("{}: {one} and {other} are one function of the program, so its calls cannot be told apart", path.display())]
    Shared {
        /// The program.
        path: PathBuf,
        /// A WASI function.
        one: String,
        /// Another.
        other: String,
    },
    /// Returns of a program in Go.
    #[error("{} is a program in Go, whose stacks move: ends must be \"entry\"", .0.display())]
    Go(PathBuf),
}

/// Whether functions are seen to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ends {
    /// They are: calls are counted and timed.
    Return,
    /// They must not be, since the program moves or switches stacks, or unwinds through them:
    /// calls are counted.
    Entry,
}

/// The WASI functions of one program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SymbolMap {
    /// The engine, and its versions.
    pub version: String,
    /// The file that the functions are in, a program or a library; `{tools}` is where the
    /// engines are installed.
    pub file: String,
    /// Whether their returns may be seen.
    pub ends: Ends,
    /// WASI functions, each with the symbols of all functions that are it, as the linker
    /// has them; `*` is any letters, and must fit one function.
    pub functions: BTreeMap<String, Vec<String>>,
}

/// Functions of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The file.
    pub file: PathBuf,
    /// What is counted, and where it begins in the file.
    pub functions: Vec<(String, u64)>,
    /// Whether returns are seen.
    pub ends: Ends,
}

impl SymbolMap {
    /// Reads a map.
    ///
    /// # Errors
    /// [`SymbolError::Malformed`], in one line.
    pub fn parse(text: &str) -> Result<SymbolMap, SymbolError> {
        let malformed = |why: String| SymbolError::Malformed(why.replace('\n', " "));
        let map: SymbolMap = toml::from_str(text).map_err(|error| malformed(error.to_string()))?;
        if map.functions.is_empty() {
            return Err(malformed("it names no function".to_owned()));
        }
        match map.functions.iter().find(|(_, symbols)| symbols.is_empty()) {
            Some((function, _)) => Err(malformed(format!("{function} has no symbol"))),
            None => Ok(map),
        }
    }

    /// The map as a file has it.
    ///
    /// # Errors
    /// [`SymbolError::Malformed`]: what cannot be written.
    pub fn text(&self) -> Result<String, SymbolError> {
        toml::to_string_pretty(self).map_err(|error| SymbolError::Malformed(error.to_string()))
    }

    /// Finds its functions in a program.
    ///
    /// # Errors
    /// A symbol that is missing or there several times, or returns that must not be seen.
    pub fn find(&self, path: &Path, of: &Functions) -> Result<Found, SymbolError> {
        if of.is_go && self.ends == Ends::Return {
            return Err(SymbolError::Go(path.to_owned()));
        }
        let mut by_offset = BTreeMap::<u64, &String>::new();
        for (function, symbol) in self.symbols() {
            let offset = self.offset(function, symbol, path, of)?;
            if let Some(other) = by_offset.insert(offset, function) {
                return Err(SymbolError::Shared {
                    path: path.to_owned(),
                    one: other.clone(),
                    other: function.clone(),
                });
            }
        }
        let functions = by_offset.into_iter();
        Ok(Found {
            file: path.to_owned(),
            functions: functions
                .map(|(offset, name)| (name.clone(), offset))
                .collect(),
            ends: self.ends,
        })
    }

    fn symbols(&self) -> impl Iterator<Item = (&String, &String)> {
        let all = self.functions.iter();
        all.flat_map(|(function, symbols)| symbols.iter().map(move |symbol| (function, symbol)))
    }

    fn offset(
        &self,
        function: &str,
        symbol: &str,
        path: &Path,
        of: &Functions,
    ) -> Result<u64, SymbolError> {
        let offsets = Vec::from_iter(of.named(symbol));
        match offsets[..] {
            [offset] if of.is_inner(offset) => Err(SymbolError::Inner {
                path: path.to_owned(),
                function: function.to_owned(),
                symbol: symbol.to_owned(),
            }),
            [offset] => Ok(offset),
            [] => Err(SymbolError::Missing {
                path: path.to_owned(),
                function: function.to_owned(),
                symbol: symbol.to_owned(),
                version: self.version.clone(),
            }),
            _ => Err(SymbolError::Ambiguous {
                path: path.to_owned(),
                function: function.to_owned(),
                symbol: symbol.to_owned(),
                count: offsets.len(),
            }),
        }
    }
}

#[cfg(test)]
mod tests;
