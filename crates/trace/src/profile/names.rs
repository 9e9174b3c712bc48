//! What the function of a module is called by each engine, and what its twin in native code.
//!
//! ```text
//!  Fathom     app: name         app: function 7
//!  wasmtime   name              wasm[0]::function[7]
//!  V8         JS:name-7-turbofan   Function:name-7-liftoff
//!  wasm2c     w2c_m_f7, w2c_m_name
//!  native     name, name.constprop.0, name.part.1, name.cold
//! ```
//!
//! What must stay true: a name that is not the module's is no function of the program.

use std::collections::BTreeMap;

/// What compilers of C put behind the name of a function whose code they have split or copied.
const SPLIT: [&str; 6] = [
    ".constprop.",
    ".isra.",
    ".part.",
    ".cold",
    ".lto_priv.",
    ".llvm.",
];

/// What compilers of C call `main`, by what it is given (`__main_void` calls one of them).
const MAIN: [&str; 2] = ["__original_main", "__main_argc_argv"];

/// Names of a module's functions.
#[derive(Clone, Debug, Default)]
pub struct Names {
    module: Option<String>,
    /// As they are and as they are shown, by index.
    by_index: BTreeMap<u32, (Option<String>, String)>,
    /// Shown names by those in the module.
    shown: BTreeMap<String, String>,
    /// The same by what wasm2c makes of them.
    in_c: BTreeMap<String, String>,
}

impl Names {
    /// Of a module, its functions by index, and how a name is written to be read.
    pub fn new(
        module: Option<&str>,
        functions: impl Iterator<Item = (u32, Option<String>)>,
        readable: impl Fn(&str) -> String,
    ) -> Names {
        let mut names = Names {
            module: module.map(str::to_owned),
            ..Names::default()
        };
        for (index, name) in functions {
            let shown = match &name {
                Some(name) if MAIN.contains(&name.as_str()) => "main".to_owned(),
                Some(name) => readable(name),
                None => format!("function {index}"),
            };
            if let Some(name) = &name {
                names.shown.insert(name.clone(), shown.clone());
                names.in_c.insert(as_in_c(name), shown.clone());
            }
            names.by_index.insert(index, (name, shown));
        }
        names
    }

    /// The function of the module that an engine has listed under this name.
    pub fn listed(&self, listed: &str) -> Option<&str> {
        let own = self.own(listed).or_else(|| self.shown(listed));
        own.or_else(|| self.wasmtime(listed))
            .or_else(|| self.v8(listed))
    }

    /// The function of the module that a library made by wasm2c has under this symbol: by its
    /// index, or by the name under which it is exported.
    pub fn translated(&self, symbol: &str) -> Option<&str> {
        let rest = unsplit(symbol).strip_prefix("w2c_")?;
        let mut names = rest.match_indices('_').map(|(at, _)| &rest[at + 1..]);
        names.find_map(|name| {
            let index = || name.strip_prefix('f')?.parse().ok();
            let exported = self.in_c.get(name).map(String::as_str);
            exported.or_else(|| self.indexed(index()?))
        })
    }

    fn shown(&self, name: &str) -> Option<&str> {
        self.shown.get(name).map(String::as_str)
    }

    /// The name that the function of an index is shown by.
    pub fn indexed(&self, index: u32) -> Option<&str> {
        self.by_index.get(&index).map(|(_, shown)| shown.as_str())
    }

    /// The functions that our engine lists under this name: several may have one.
    pub fn indices(&self, listed: &str) -> Vec<u32> {
        let name = self.unprefixed(listed).unwrap_or_default();
        let is_it = |index: &u32, of_module: &Option<String>| match of_module {
            Some(of_module) => of_module == name,
            None => name.strip_prefix("function ") == Some(&index.to_string()),
        };
        let all = self.by_index.iter();
        all.filter(|(index, (of_module, _))| is_it(index, of_module))
            .map(|(index, _)| *index)
            .collect()
    }

    /// A name as our engine lists it, without the module's.
    fn unprefixed<'a>(&self, listed: &'a str) -> Option<&'a str> {
        let module = self.module.as_deref().filter(|name| !name.is_empty());
        let name = listed.strip_prefix(module.unwrap_or("wasm"))?;
        name.strip_prefix(": ")
    }

    fn own(&self, listed: &str) -> Option<&str> {
        let name = self.unprefixed(listed)?;
        let index = || name.strip_prefix("function ")?.parse().ok();
        self.shown(name).or_else(|| self.indexed(index()?))
    }

    fn wasmtime(&self, listed: &str) -> Option<&str> {
        let (_, rest) = listed.split_once("]::function[")?;
        let (index, _) = rest.split_once(']')?;
        self.indexed(index.parse().ok()?)
    }

    /// V8's engine has modules besides, such as those that its runner proves its tier with: what
    /// is named has the name that the module gives to this index.
    fn v8(&self, listed: &str) -> Option<&str> {
        let (rest, _tier) = listed.rsplit_once('-')?;
        let (rest, index) = rest.rsplit_once('-')?;
        let (_kind, name) = rest.split_once(':')?;
        let (of_module, shown) = self.by_index.get(&index.parse().ok()?)?;
        let is_it = match of_module {
            Some(of_module) => of_module == name,
            None => name.is_empty() || name == format!("wasm-function[{index}]"),
        };
        is_it.then_some(shown.as_str())
    }
}

/// The function of a native program's symbol, as the module's would be called.
pub fn native(symbol: &str, readable: impl Fn(&str) -> String) -> String {
    readable(unsplit(symbol))
}

/// A symbol without what compilers put behind it.
fn unsplit(symbol: &str) -> &str {
    let cut = SPLIT.iter().filter_map(|suffix| symbol.find(suffix));
    match cut.min() {
        Some(at) if at > 0 => &symbol[..at],
        _ => symbol,
    }
}

/// As wasm2c has it: what C does not allow in a name is written as its number, and so is a low
/// line in front.
fn as_in_c(name: &str) -> String {
    let mut written = String::new();
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b'_' if at > 0 => written.push('_'),
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => written.push(char::from(byte)),
            _ => written += &format!("0x{byte:02X}"),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let functions = [
            (3, Some("__original_main".to_owned())),
            (4, Some("kernel_gemm".to_owned())),
            (5, None),
            (6, Some("a-b: c".to_owned())),
        ];
        Names::new(Some("app"), functions.into_iter(), |name| {
            name.to_uppercase()
        })
    }

    #[test]
    fn each_engine_has_its_own_word() {
        let names = names();
        for (listed, shown) in [
            ("app: kernel_gemm", Some("KERNEL_GEMM")),
            ("app: function 5", Some("function 5")),
            ("app: a-b: c", Some("A-B: C")),
            ("other: kernel_gemm", None),
            ("kernel_gemm", Some("KERNEL_GEMM")),
            ("__original_main", Some("main")),
            ("wasm[0]::function[5]", Some("function 5")),
            ("wasm[0]::function[5]::x", Some("function 5")),
            ("wasm[0]::array_to_wasm_trampoline[4]", None),
            ("signatures[0]::wasm_to_array_trampoline", None),
            ("JS:kernel_gemm-4-turbofan", Some("KERNEL_GEMM")),
            ("Function:a-b: c-6-liftoff", Some("A-B: C")),
            ("JS:wasm-function[5]-5-turbofan", Some("function 5")),
            ("JS:load-4-turbofan", None),
            ("JS:wasm-to-js-<anonymous>-none", None),
            ("JS:~run file:///x.mjs:3:4", None),
            ("Builtin:JSToWasmWrapperAsm", None),
            ("", None),
        ] {
            assert_eq!(names.listed(listed), shown, "{listed}");
        }
    }

    #[test]
    fn a_name_may_be_that_of_several_functions() {
        let functions = [
            (1, Some("f".to_owned())),
            (2, None),
            (3, Some("f".to_owned())),
        ];
        let functions = functions
            .into_iter()
            .chain([(4, Some("function 2".to_owned()))]);
        let names = Names::new(None, functions, str::to_owned);
        assert_eq!(names.indices("wasm: f"), [1, 3]);
        assert_eq!(names.indices("wasm: function 2"), [2, 4]);
        assert!(names.indices("wasm: function 4").is_empty());
        assert!(names.indices("f").is_empty());
        assert_eq!(self::names().indices("app: function 5"), [5]);
    }

    #[test]
    fn what_wasm2c_makes_of_a_name_is_known() {
        let names = names();
        let shown = |symbol| names.translated(symbol);
        assert_eq!(shown("w2c_app_kernel_gemm"), Some("KERNEL_GEMM"));
        assert_eq!(shown("w2c_my_app_kernel_gemm"), Some("KERNEL_GEMM"));
        assert_eq!(shown("w2c_m_0x5F_original_main"), Some("main"));
        assert_eq!(shown("w2c_m_f5.constprop.0"), Some("function 5"));
        assert_eq!(shown("w2c_m_f99"), None);
        assert_eq!(shown("kernel_gemm"), None);
        assert_eq!(shown("w2c_app_other"), None);
    }

    #[test]
    fn what_a_compiler_has_split_is_one_function() {
        let name = |symbol| native(symbol, str::to_owned);
        assert_eq!(name("sort.constprop.0"), "sort");
        assert_eq!(name("sort.part.0.cold"), "sort");
        assert_eq!(name("main.(*T).sort"), "main.(*T).sort");
        assert_eq!(name(".cold"), ".cold");
    }
}
