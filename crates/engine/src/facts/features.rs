//! The proposals a module may use: each can be turned off by name.

use std::fmt;
use std::str::FromStr;

use wasmparser::WasmFeatures;

/// A part of WebAssembly that came after 1.0 and can be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Blocks and functions with several results.
    MultiValue,
    /// `memory.copy` and its like, passive segments.
    BulkMemory,
    /// `externref`, tables of references, several tables.
    ReferenceTypes,
    /// 128-bit vectors.
    Simd,
    /// Vector instructions whose results may differ by processor.
    RelaxedSimd,
    /// Arithmetic in constant expressions.
    ExtendedConst,
    /// `return_call`.
    TailCall,
    /// Several memories.
    MultiMemory,
    /// 64-bit memories and tables.
    Memory64,
    /// Typed function references.
    FunctionReferences,
    /// Structures, arrays, subtypes, recursive groups of types.
    Gc,
    /// Tags, `throw` and `try_table`.
    Exceptions,
    /// `try`, `catch`, `delegate` and `rethrow`, which `try_table` replaced; not in 3.0.
    LegacyExceptions,
    /// Shared memories and atomic instructions.
    Threads,
    /// 128-bit sums and products; not in 3.0.
    WideArithmetic,
    /// Continuations: `cont.new`, `suspend`, `resume`, `switch`; not in 3.0.
    StackSwitching,
}

impl Feature {
    /// Every feature that can be turned off.
    pub const ALL: [Feature; 16] = [
        Feature::MultiValue,
        Feature::BulkMemory,
        Feature::ReferenceTypes,
        Feature::Simd,
        Feature::RelaxedSimd,
        Feature::ExtendedConst,
        Feature::TailCall,
        Feature::MultiMemory,
        Feature::Memory64,
        Feature::FunctionReferences,
        Feature::Gc,
        Feature::Exceptions,
        Feature::LegacyExceptions,
        Feature::Threads,
        Feature::WideArithmetic,
        Feature::StackSwitching,
    ];

    /// The proposal's name.
    pub fn name(self) -> &'static str {
        match self {
            Feature::MultiValue => "multi-value",
            Feature::BulkMemory => "bulk-memory",
            Feature::ReferenceTypes => "reference-types",
            Feature::Simd => "simd",
            Feature::RelaxedSimd => "relaxed-simd",
            Feature::ExtendedConst => "extended-const",
            Feature::TailCall => "tail-call",
            Feature::MultiMemory => "multi-memory",
            Feature::Memory64 => "memory64",
            Feature::FunctionReferences => "function-references",
            Feature::Gc => "gc",
            Feature::Exceptions => "exceptions",
            Feature::LegacyExceptions => "legacy-exceptions",
            Feature::Threads => "threads",
            Feature::WideArithmetic => "wide-arithmetic",
            Feature::StackSwitching => "stack-switching",
        }
    }

    /// One line of help.
    pub fn help(self) -> &'static str {
        match self {
            Feature::MultiValue => "blocks and functions with several results",
            Feature::BulkMemory => "memory.copy and its like, passive segments",
            Feature::ReferenceTypes => "externref, tables of references, several tables",
            Feature::Simd => "128-bit vectors",
            Feature::RelaxedSimd => "vector instructions whose results may differ by processor",
            Feature::ExtendedConst => "arithmetic in constant expressions",
            Feature::TailCall => "return_call and its like",
            Feature::MultiMemory => "several memories in a module",
            Feature::Memory64 => "64-bit memories and tables",
            Feature::FunctionReferences => "typed function references, call_ref",
            Feature::Gc => "structures and arrays that are collected, subtypes",
            Feature::Exceptions => "tags, throw and try_table",
            Feature::LegacyExceptions => {
                "exceptions of the older form: try, catch, delegate, rethrow (not in 3.0)"
            }
            Feature::Threads => "shared memories and atomic instructions",
            Feature::WideArithmetic => "128-bit sums and products (beyond 3.0)",
            Feature::StackSwitching => "continuations: cont.new, suspend, resume (beyond 3.0)",
        }
    }

    /// What is said of a module that needs it while it is off.
    pub(crate) fn turned_off(self) -> String {
        format!("{self} is turned off")
    }

    /// What else goes when this goes.
    fn needed_by(self) -> &'static [Feature] {
        match self {
            Feature::Simd => &[Feature::RelaxedSimd],
            Feature::ReferenceTypes => &[Feature::FunctionReferences, Feature::Exceptions],
            Feature::FunctionReferences => &[Feature::Gc, Feature::StackSwitching],
            Feature::Exceptions => &[Feature::LegacyExceptions, Feature::StackSwitching],
            _ => &[],
        }
    }

    fn flags(self) -> WasmFeatures {
        match self {
            Feature::MultiValue => WasmFeatures::MULTI_VALUE,
            Feature::BulkMemory => WasmFeatures::BULK_MEMORY,
            Feature::ReferenceTypes => WasmFeatures::REFERENCE_TYPES,
            Feature::Simd => WasmFeatures::SIMD,
            Feature::RelaxedSimd => WasmFeatures::RELAXED_SIMD,
            Feature::ExtendedConst => WasmFeatures::EXTENDED_CONST,
            Feature::TailCall => WasmFeatures::TAIL_CALL,
            Feature::MultiMemory => WasmFeatures::MULTI_MEMORY,
            Feature::Memory64 => WasmFeatures::MEMORY64,
            Feature::FunctionReferences => WasmFeatures::FUNCTION_REFERENCES,
            Feature::Gc => WasmFeatures::GC,
            Feature::Exceptions => WasmFeatures::EXCEPTIONS,
            Feature::LegacyExceptions => WasmFeatures::LEGACY_EXCEPTIONS,
            Feature::Threads => WasmFeatures::THREADS,
            Feature::WideArithmetic => WasmFeatures::WIDE_ARITHMETIC,
            Feature::StackSwitching => WasmFeatures::STACK_SWITCHING,
        }
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a module needs that no option of ours turns on, in words; none for what one does.
pub(crate) fn lacking(missed: WasmFeatures) -> Option<&'static str> {
    let words = [
        (
            WasmFeatures::SHARED_EVERYTHING_THREADS,
            "threads that share more than memories",
        ),
        (
            WasmFeatures::CUSTOM_PAGE_SIZES,
            "memories with pages of another size",
        ),
        (WasmFeatures::MEMORY_CONTROL, "memory.discard"),
        (
            WasmFeatures::CUSTOM_DESCRIPTORS,
            "types with custom descriptors",
        ),
        (
            WasmFeatures::ACQUIRE_RELEASE_ATOMICS,
            "atomic accesses of weaker order",
        ),
        (
            WasmFeatures::MULTIBYTE_ARRAY_ACCESS,
            "gc: array accesses of several bytes",
        ),
    ];
    let found = words.into_iter().find(|(flag, _)| missed.contains(*flag));
    found.map(|(_, words)| words)
}

/// A set of features. All of WebAssembly 3.0, exceptions of the older form, wide arithmetic and stack switching, unless some are turned off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Features(u32);

impl Default for Features {
    fn default() -> Features {
        Features::all()
    }
}

impl Features {
    /// Every feature there is.
    pub fn all() -> Features {
        Features((1 << Feature::ALL.len()) - 1)
    }

    /// WebAssembly 1.0 with nothing added.
    pub fn none() -> Features {
        Features(0)
    }

    /// WebAssembly 3.0 and nothing beyond: tags have no results
    /// then, for only stack switching gives them a meaning.
    pub fn wasm3() -> Features {
        Features::all()
            .without(Feature::LegacyExceptions)
            .without(Feature::WideArithmetic)
            .without(Feature::StackSwitching)
    }

    /// Whether a feature is in the set.
    pub fn contains(self, feature: Feature) -> bool {
        self.0 & 1 << feature as u32 != 0
    }

    /// With this feature.
    pub fn with(self, feature: Feature) -> Features {
        Features(self.0 | 1 << feature as u32)
    }

    /// Without this feature and without those that need it.
    pub fn without(self, feature: Feature) -> Features {
        let set = self.without_only(feature);
        let needing = feature.needed_by().iter();
        needing.fold(set, |set, feature| set.without(*feature))
    }

    /// Without this feature alone.
    pub fn without_only(self, feature: Feature) -> Features {
        Features(self.0 & !(1 << feature as u32))
    }

    /// Whether a module in the binary format is valid with these features and no others.
    pub fn validate(self, module: &[u8]) -> bool {
        let mut validator = wasmparser::Validator::new_with_features(self.flags());
        validator.validate_all(module).is_ok()
    }

    /// What the parser and the validator accept.
    pub(crate) fn flags(self) -> WasmFeatures {
        // 1.0 and what became part of it without a way to tell, and the heap
        // types that references of any kind need.
        let base = WasmFeatures::MUTABLE_GLOBAL
            | WasmFeatures::SATURATING_FLOAT_TO_INT
            | WasmFeatures::SIGN_EXTENSION
            | WasmFeatures::FLOATS
            | WasmFeatures::GC_TYPES;
        Feature::ALL
            .into_iter()
            .filter(|feature| self.contains(*feature))
            .fold(base, |flags, feature| flags | feature.flags())
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let off: Vec<String> = Feature::ALL
            .into_iter()
            .filter(|feature| !self.contains(*feature))
            .map(|feature| format!("-{feature}"))
            .collect();
        match off.is_empty() {
            true => f.write_str("all"),
            false => f.write_str(&off.join(",")),
        }
    }
}

/// A text that names no set of features.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown feature '{name}' (one of: {known}; '-NAME' turns one off; all, 3.0, none)", known = known())]
pub struct UnknownFeature {
    name: String,
}

fn known() -> String {
    Feature::ALL.map(Feature::name).join(", ")
}

impl FromStr for Features {
    type Err = UnknownFeature;

    /// `-threads,-simd`: all but these; `+simd` or `simd` turns one on again;
    /// `all`, `3.0` and `none` start from there.
    fn from_str(text: &str) -> Result<Features, UnknownFeature> {
        let mut set = Features::all();
        let parts = text.split(',').map(str::trim);
        for part in parts.filter(|part| !part.is_empty()) {
            let name = part.trim_start_matches(['+', '-']);
            let known = Feature::ALL.into_iter().find(|f| f.name() == name);
            set = match (part, known) {
                ("all", _) => Features::all(),
                ("3.0", _) => Features::wasm3(),
                ("none", _) => Features::none(),
                (_, Some(feature)) if part.starts_with('-') => set.without(feature),
                (_, Some(feature)) => set.with(feature),
                (_, None) => return Err(UnknownFeature { name: name.into() }),
            };
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_turns_features_off() {
        let set: Features = "-threads, -simd".parse().unwrap();
        assert!(!set.contains(Feature::Threads));
        assert!(!set.contains(Feature::RelaxedSimd), "it needs simd");
        assert!(set.contains(Feature::Memory64));
        assert_eq!(set.to_string(), "-simd,-relaxed-simd,-threads");
        assert_eq!(set.to_string().parse(), Ok(set));
    }

    #[test]
    fn a_list_can_start_from_a_version() {
        let set: Features = "3.0".parse().unwrap();
        assert_eq!(
            set.to_string(),
            "-legacy-exceptions,-wide-arithmetic,-stack-switching"
        );
        let set: Features = "3.0,+wide-arithmetic".parse().unwrap();
        assert_eq!(set.to_string(), "-legacy-exceptions,-stack-switching");
    }

    #[test]
    fn a_list_can_start_from_nothing() {
        let set: Features = "none,+simd".parse().unwrap();
        assert_eq!(set, Features::none().with(Feature::Simd));
    }

    #[test]
    fn an_unknown_name_is_said_with_the_known_ones() {
        let error = "-thread".parse::<Features>().unwrap_err().to_string();
        assert!(error.starts_with("unknown feature 'thread' (one of: multi-value, "));
    }
}
