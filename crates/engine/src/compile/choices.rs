//! What a user chooses about generated code.

use std::fmt;
use std::str::FromStr;

/// Declares choices: closed sets of values, each with the name by which users choose it and
/// a line of help, and the error of a name that is none of them.
macro_rules! choices {
    ($(
        $(#[$doc:meta])*
        $Choice:ident = $what:literal, $Unknown:ident {
            $($(#[$value_doc:meta])* $Value:ident = $name:literal, $help:literal;)+
        }
    )+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum $Choice {
            $($(#[$value_doc])* $Value,)+
        }

        impl $Choice {
            /// All there are, in order.
            pub const ALL: [$Choice; [$($name),+].len()] = [$($Choice::$Value),+];

            /// The name by which users choose it.
            pub fn name(self) -> &'static str {
                match self {
                    $($Choice::$Value => $name,)+
                }
            }

            /// One line of help.
            pub fn help(self) -> &'static str {
                match self {
                    $($Choice::$Value => $help,)+
                }
            }
        }

        impl fmt::Display for $Choice {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        /// A name that is none of them.
        #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
        #[error("unknown {what} '{0}' (one of: {known})", what = $what, known = $Choice::ALL.map($Choice::name).join(", "))]
        pub struct $Unknown(String);

        impl FromStr for $Choice {
            type Err = $Unknown;

            fn from_str(name: &str) -> Result<$Choice, $Unknown> {
                let found = $Choice::ALL.into_iter().find(|choice| choice.name() == name);
                found.ok_or_else(|| $Unknown(name.to_owned()))
            }
        }
    )+};
}

choices! {
    /// What makes machine code.
    Codegen = "code generator", UnknownCodegen {
        /// Cranelift: the default.
        #[default]
        Cranelift = "cranelift", "compiles fast, needs nothing";
        /// LLVM, by way of clang, for what it takes; Cranelift for the rest.
        Llvm = "llvm", "compiles slowly, needs clang 20 or zig 0.15 (see docs/CODEGEN.md)";
        /// Machine code in one pass, for what it takes; Cranelift for the rest. On x86-64.
        Direct = "direct", "compiles in one pass; code is slower (see docs/CODEGEN.md)";
        /// In one pass when a function is first called, and by Cranelift once it has run for
        /// long; by that alone where functions are not compiled lazily.
        Tiered = "tiered", "in one pass when first called, by cranelift what runs for long";
        /// The same, and by LLVM what runs on after that, where there are processors to spare.
        TieredLlvm = "tiered:llvm", "the same, then by llvm what was optimised and runs on";
    }

    /// When functions are compiled.
    Compilation = "time of compilation", UnknownCompilation {
        /// All of them before any runs: the default.
        #[default]
        Eager = "eager", "every function before the program starts";
        /// Each when it is first called. All are validated before any runs.
        Lazy = "lazy", "each function when it is first called";
    }

    /// Which processors the machine code is for.
    Cpu = "processor", UnknownCpu {
        /// This one, with all that it has: the default.
        #[default]
        Native = "native", "what this processor has";
        /// Every one that the engine runs on: on x86-64 those of x86-64-v2, elsewhere the
        /// instruction set without extensions.
        Baseline = "baseline", "what every processor of this instruction set has (x86-64: v2)";
    }

    /// How much the code generator tries.
    Opt = "optimisation level", UnknownOpt {
        /// Optimise: the default.
        #[default]
        Speed = "speed", "optimise for fast code";
        /// Compile as fast as possible: no optimisation, single-pass register
        /// allocation. Code is several times slower.
        None = "none", "compile as fast as possible";
    }

    /// Which checks are left out because something makes them superfluous: each choice with
    /// what the former ones leave out.
    Elide = "choice of checks to leave out", UnknownElide {
        /// None.
        Off = "off", "every access has its check";
        /// Those of indices that are in range by how they are computed, or by an
        /// access on every way there.
        Dominated = "dominated", "none where an earlier access or the index's range suffices";
        /// Those of indices that loops move by steps, too: the default.
        #[default]
        Loops = "loops", "nor where a loop moves an index by steps that guard pages absorb";
    }
}

impl Codegen {
    /// Whether functions get better while they run.
    pub fn has_tiers(self) -> bool {
        matches!(self, Codegen::Tiered | Codegen::TieredLlvm)
    }

    /// Whether it needs clang.
    pub fn needs_clang(self) -> bool {
        matches!(self, Codegen::Llvm | Codegen::TieredLlvm)
    }
}
