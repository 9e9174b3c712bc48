//! What a user chooses about generated code.

use std::fmt;
use std::str::FromStr;

/// What makes machine code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Codegen {
    /// Cranelift: the default.
    #[default]
    Cranelift,
    /// LLVM, by way of clang, for what it takes; Cranelift for the rest.
    Llvm,
}

impl Codegen {
    /// Both.
    pub const ALL: [Codegen; 2] = [Codegen::Cranelift, Codegen::Llvm];

    /// The name by which users choose it.
    pub fn name(self) -> &'static str {
        match self {
            Codegen::Cranelift => "cranelift",
            Codegen::Llvm => "llvm",
        }
    }

    /// One line of help.
    pub fn help(self) -> &'static str {
        match self {
            Codegen::Cranelift => "compiles fast, needs nothing",
            Codegen::Llvm => "compiles slowly, needs clang 20 or zig 0.15 (see docs/CODEGEN.md)",
        }
    }
}

impl fmt::Display for Codegen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no code generator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown code generator '{0}' (one of: cranelift, llvm)")]
pub struct UnknownCodegen(String);

impl FromStr for Codegen {
    type Err = UnknownCodegen;

    fn from_str(name: &str) -> Result<Codegen, UnknownCodegen> {
        Codegen::ALL
            .into_iter()
            .find(|c| c.name() == name)
            .ok_or_else(|| UnknownCodegen(name.to_owned()))
    }
}

/// When functions are compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compilation {
    /// All of them before any runs: the default.
    #[default]
    Eager,
    /// Each when it is first called. All are validated before any runs.
    Lazy,
}

impl Compilation {
    /// Both.
    pub const ALL: [Compilation; 2] = [Compilation::Eager, Compilation::Lazy];

    /// The name by which users choose it.
    pub fn name(self) -> &'static str {
        match self {
            Compilation::Eager => "eager",
            Compilation::Lazy => "lazy",
        }
    }

    /// One line of help.
    pub fn help(self) -> &'static str {
        match self {
            Compilation::Eager => "every function before the program starts",
            Compilation::Lazy => "each function when it is first called",
        }
    }
}

impl fmt::Display for Compilation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is neither.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown time of compilation '{0}' (one of: eager, lazy)")]
pub struct UnknownCompilation(String);

impl FromStr for Compilation {
    type Err = UnknownCompilation;

    fn from_str(name: &str) -> Result<Compilation, UnknownCompilation> {
        Compilation::ALL
            .into_iter()
            .find(|c| c.name() == name)
            .ok_or_else(|| UnknownCompilation(name.to_owned()))
    }
}

/// Which processors the machine code is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cpu {
    /// This one, with all that it has: the default.
    #[default]
    Native,
    /// Every one that the engine runs on: on x86-64 those of x86-64-v2, elsewhere the
    /// instruction set without extensions.
    Baseline,
}

impl Cpu {
    /// Both.
    pub const ALL: [Cpu; 2] = [Cpu::Native, Cpu::Baseline];

    /// The name by which users choose it.
    pub fn name(self) -> &'static str {
        match self {
            Cpu::Native => "native",
            Cpu::Baseline => "baseline",
        }
    }

    /// One line of help.
    pub fn help(self) -> &'static str {
        match self {
            Cpu::Native => "what this processor has",
            Cpu::Baseline => "what every processor of this instruction set has (x86-64: v2)",
        }
    }
}

impl fmt::Display for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is neither.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown processor '{0}' (one of: native, baseline)")]
pub struct UnknownCpu(String);

impl FromStr for Cpu {
    type Err = UnknownCpu;

    fn from_str(name: &str) -> Result<Cpu, UnknownCpu> {
        Cpu::ALL
            .into_iter()
            .find(|c| c.name() == name)
            .ok_or_else(|| UnknownCpu(name.to_owned()))
    }
}

/// How much the code generator tries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Opt {
    /// Optimise: the default.
    #[default]
    Speed,
    /// Compile as fast as possible: no optimisation, single-pass register
    /// allocation. Code is several times slower.
    None,
}

impl Opt {
    /// Both.
    pub const ALL: [Opt; 2] = [Opt::Speed, Opt::None];

    /// The name by which users choose it.
    pub fn name(self) -> &'static str {
        match self {
            Opt::Speed => "speed",
            Opt::None => "none",
        }
    }
}

impl fmt::Display for Opt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no optimisation level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown optimisation level '{0}' (one of: speed, none)")]
pub struct UnknownOpt(String);

impl FromStr for Opt {
    type Err = UnknownOpt;

    fn from_str(name: &str) -> Result<Opt, UnknownOpt> {
        Opt::ALL
            .into_iter()
            .find(|o| o.name() == name)
            .ok_or_else(|| UnknownOpt(name.to_owned()))
    }
}

/// Which checks are left out because something makes them superfluous.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Elide {
    /// None.
    Off,
    /// Those of indices that are in range by how they are computed, or by an
    /// access on every way there.
    Dominated,
    /// Those of indices that loops move by steps, too: the default.
    #[default]
    Loops,
}

impl Elide {
    /// All, each with what the former ones leave out.
    pub const ALL: [Elide; 3] = [Elide::Off, Elide::Dominated, Elide::Loops];

    /// The name by which users choose it.
    pub fn name(self) -> &'static str {
        match self {
            Elide::Off => "off",
            Elide::Dominated => "dominated",
            Elide::Loops => "loops",
        }
    }

    /// One line of help.
    pub fn help(self) -> &'static str {
        match self {
            Elide::Off => "every access has its check",
            Elide::Dominated => "none where an earlier access or the index's range suffices",
            Elide::Loops => "nor where a loop moves an index by steps that guard pages absorb",
        }
    }
}

impl fmt::Display for Elide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is none of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown choice of checks to leave out '{0}' (one of: off, dominated, loops)")]
pub struct UnknownElide(String);

impl FromStr for Elide {
    type Err = UnknownElide;

    fn from_str(name: &str) -> Result<Elide, UnknownElide> {
        Elide::ALL
            .into_iter()
            .find(|e| e.name() == name)
            .ok_or_else(|| UnknownElide(name.to_owned()))
    }
}
