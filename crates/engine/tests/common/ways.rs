//! The ways to compile: who makes the code, and when. Taken by tests inside the crate and beside it
//! and by fuzz targets; each has the engine's types in scope.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::fmt;
use std::path::{Path, PathBuf};

use super::{Codegen, Compilation, Config};

/// A way to compile.
#[derive(Clone, Debug)]
pub struct Way {
    pub codegen: Codegen,
    pub compilation: Compilation,
    /// For LLVM.
    clang: Option<PathBuf>,
}

impl Way {
    /// Those that need nothing that may not be there, Cranelift's before anything runs first. In
    /// tiers there is a change at every place where there can be one.
    pub fn all() -> Vec<Way> {
        use Compilation::{Eager, Lazy};
        let all = match cfg!(target_arch = "x86_64") {
            true => &[
                (Codegen::Cranelift, Eager),
                (Codegen::Cranelift, Lazy),
                (Codegen::Direct, Eager),
                (Codegen::Direct, Lazy),
                (Codegen::Tiered, Lazy),
            ][..],
            false => &[(Codegen::Cranelift, Eager)],
        };
        let way = |&(codegen, compilation)| Way {
            codegen,
            compilation,
            clang: None,
        };
        all.iter().map(way).collect()
    }

    /// The same, and LLVM, before anything runs and as the last of the tiers.
    pub fn all_and_llvm() -> Vec<Way> {
        let last = Way::last_tier();
        let first = last.iter().map(|last| Way::llvm(last.clang.clone()));
        Way::all()
            .into_iter()
            .chain(first)
            .chain(last.clone())
            .collect()
    }

    /// LLVM as the last of the tiers where `make setup` has brought clang; where not, that is said.
    pub fn last_tier() -> Option<Way> {
        match zig() {
            Some(zig) if cfg!(target_arch = "x86_64") => Some(Way {
                codegen: Codegen::TieredLlvm,
                compilation: Compilation::Lazy,
                clang: Some(zig),
            }),
            _ => {
                eprintln!("SKIPPED: no .tools/zig: make setup");
                None
            }
        }
    }

    /// LLVM, by this clang or the one that is found.
    pub fn llvm(clang: Option<PathBuf>) -> Way {
        Way {
            codegen: Codegen::Llvm,
            compilation: Compilation::Eager,
            clang,
        }
    }

    /// The one that the variable `FATHOM_TEST_CODEGEN` names, else Cranelift's: `make test-llvm` runs
    /// some tests once more so.
    pub fn asked_for() -> Way {
        match std::env::var("FATHOM_TEST_CODEGEN") {
            Ok(name) if name == "llvm" => Way::llvm(zig()),
            Ok(name) if name == "tiered:llvm" => Way::last_tier().expect("there is clang"),
            Ok(name) => panic!("no tests by '{name}'"),
            Err(_) => Way::all().swap_remove(0),
        }
    }

    /// Whether all is compiled before anything runs.
    pub fn is_eager(&self) -> bool {
        self.compilation == Compilation::Eager
    }

    /// A configuration that compiles so.
    pub fn of(&self, config: Config) -> Config {
        let config = config.codegen(self.codegen).compilation(self.compilation);
        config.clang(self.clang.clone()).tier_up(0)
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "--codegen {} --compilation {}",
            self.codegen, self.compilation
        )
    }
}

/// The compiler in the checkout, from wherever the crate is that takes this.
pub fn zig() -> Option<PathBuf> {
    let from = Path::new(env!("CARGO_MANIFEST_DIR"));
    let all = from
        .ancestors()
        .map(|folder| folder.join(".tools/zig/ziglang/zig"));
    all.take(3).find(|zig| zig.is_file())
}
