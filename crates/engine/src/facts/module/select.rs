//! A function that a user names: by index, by name or by export.

use super::{EntityIndex, ModuleInfo};
use crate::facts::shown::Shown;

/// Names offered where none fits.
const OFFERED_MAX: usize = 5;

/// Why a name stands for no function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchFunc {
    /// There is none of that index.
    #[error("no function {index}: the module has {count}, counted from 0")]
    Index {
        /// What was asked for.
        index: u32,
        /// Functions there are, imported ones included.
        count: usize,
    },
    /// It is another module's.
    #[error("function {0} is imported: its code is not in this module")]
    Imported(u32),
    /// There is none of that name.
    #[error("no function '{}'{}", Shown(.name), offers(.offered))]
    Name {
        /// What was asked for.
        name: String,
        /// Names that look like it.
        offered: Vec<String>,
    },
    /// Several have that name.
    #[error("several functions are named '{}': choose one of {indices:?} by its index", Shown(.name))]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// Their indices.
        indices: Vec<u32>,
    },
}

fn offers(offered: &[String]) -> String {
    match offered {
        [] => String::new(),
        _ => {
            let offered: Vec<String> = offered.iter().map(|name| Shown(name).to_string()).collect();
            format!(" (there are: {})", offered.join(", "))
        }
    }
}

impl ModuleInfo {
    /// The defined function that `wanted` stands for: an index, the name of an
    /// export or a name in the name section, in this order.
    ///
    /// # Errors
    /// [`NoSuchFunc`].
    pub fn select_func(&self, wanted: &str) -> Result<u32, NoSuchFunc> {
        let func = match wanted.parse() {
            Ok(index) if (index as usize) < self.funcs.len() => index,
            Ok(index) => {
                let count = self.funcs.len();
                return Err(NoSuchFunc::Index { index, count });
            }
            Err(_) => self.func_named(wanted)?,
        };
        match self.defined_func(func) {
            Some(_) => Ok(func),
            None => Err(NoSuchFunc::Imported(func)),
        }
    }

    fn func_named(&self, wanted: &str) -> Result<u32, NoSuchFunc> {
        let exported = self.names().find(|(_, name)| *name == wanted);
        if let Some((func, _)) = exported {
            return Ok(func);
        }
        let mut indices: Vec<u32> = self
            .func_names
            .iter()
            .filter(|(_, name)| *name == wanted)
            .map(|(func, _)| *func)
            .collect();
        indices.sort_unstable();
        match indices[..] {
            [func] => Ok(func),
            [] => Err(NoSuchFunc::Name {
                name: wanted.to_owned(),
                offered: self.similar(wanted),
            }),
            _ => Err(NoSuchFunc::Ambiguous {
                name: wanted.to_owned(),
                indices,
            }),
        }
    }

    /// Exported functions with their names.
    fn names(&self) -> impl Iterator<Item = (u32, &str)> {
        self.exports.iter().filter_map(|(name, item)| match item {
            EntityIndex::Func(func) => Some((*func, name.as_str())),
            _ => None,
        })
    }

    /// Names of which `wanted` is a part, shortest first; where there are
    /// none, names with the same beginning.
    fn similar(&self, wanted: &str) -> Vec<String> {
        let named = self.func_names.values().map(String::as_str);
        let mut names: Vec<&str> = self.names().map(|(_, name)| name).chain(named).collect();
        names.sort_by_key(|name| (name.len(), *name));
        names.dedup();
        let start: String = wanted.chars().take(3).collect();
        let with = |part: &str| {
            let found = names.iter().filter(|name| name.contains(part));
            let found = found.take(OFFERED_MAX).map(|name| (*name).to_owned());
            found.collect::<Vec<String>>()
        };
        match with(wanted) {
            found if found.is_empty() => with(&start),
            found => found,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::facts::features::Features;
    use crate::facts::module::decode;

    fn select(wanted: &str) -> Result<u32, String> {
        let wat = r#"(module
            (import "host" "log" (func $log))
            (func $grow)
            (func $shrink (export "small"))
            (func $grow_more))"#;
        let wasm = wat::parse_str(wat).expect("it is well-formed");
        let (info, _) = decode(&wasm, Features::all()).expect("it validates");
        info.select_func(wanted).map_err(|error| error.to_string())
    }

    #[test]
    fn by_index_export_or_name() {
        assert_eq!(select("2"), Ok(2));
        assert_eq!(select("small"), Ok(2));
        assert_eq!(select("shrink"), Ok(2));
        assert_eq!(select("grow"), Ok(1));
    }

    #[test]
    fn what_is_not_there_is_said_in_a_line() {
        let error = |wanted| select(wanted).expect_err("it is not there");
        assert_eq!(
            error("9"),
            "no function 9: the module has 4, counted from 0"
        );
        assert_eq!(
            error("log"),
            "function 0 is imported: its code is not in this module"
        );
        assert_eq!(
            error("gro"),
            "no function 'gro' (there are: grow, grow_more)"
        );
        assert_eq!(error("shrunk"), "no function 'shrunk' (there are: shrink)");
        assert_eq!(error("zzz"), "no function 'zzz'");
    }
}
