//! What "Performance of WebAssembly runtimes in 2023" states, as data, and the page
//! that sets our figures beside it.
//!
//! The seed prints its figures as pictures; of numbers its text holds two. So its
//! statements are set beside ours, each with the ratio that would show it.

use std::fmt::Write;

use fathom_record::Variant;
use fathom_stats::{Against, Figure, Row};

use super::{Library, Line, charts::To, value};
use crate::bounds::{failures, markdown};
use crate::chart::lying::{Bar, Kind, Lying};
use crate::figures;

/// The page's file and its pictures' folder.
const PAGE: &str = "libsodium-runtimes-2023.md";
const PICTURES: &str = "libsodium-2023";
/// Programs that the seed leaves out of its comparison with native code, which has
/// instructions for them.
const AES: &str = "aead_aegis";

/// An engine in a statement: its name, and a word of its code generator's.
type Who = (&'static str, &'static str);

/// One side of a statement.
#[derive(Clone, Copy)]
enum Other {
    Engine(Who),
    Median,
    Fastest,
}

/// Something that the seed says, and the ratio that would show it.
struct Statement {
    says: &'static str,
    of: Who,
    to: Other,
    /// A group; all programs for none.
    group: &'static str,
}

const STATEMENTS: [Statement; 12] = [
    Statement {
        says: "iwasm was consistently the fastest",
        of: ("wamr", "aot"),
        to: Other::Fastest,
        group: "",
    },
    Statement {
        says: "wasmer with LLVM is very close to iwasm",
        of: ("wasmer", "llvm"),
        to: Other::Engine(("wamr", "aot")),
        group: "",
    },
    Statement {
        says: "wasm2c is neck and neck with the fastest in every test (without any check)",
        of: ("wasm2c", ""),
        to: Other::Fastest,
        group: "",
    },
    Statement {
        says: "wasmer with Cranelift and wasmtime perform virtually the same",
        of: ("wasmer", "cranelift"),
        to: Other::Engine(("wasmtime", "cranelift")),
        group: "",
    },
    Statement {
        says: "Cranelift's results are close to LLVM's",
        of: ("wasmtime", "cranelift"),
        to: Other::Engine(("wamr", "aot")),
        group: "",
    },
    Statement {
        says: "V8 is about as fast as WasmEdge",
        of: ("node", ""),
        to: Other::Engine(("wasmedge", "")),
        group: "",
    },
    Statement {
        says: "JavaScriptCore is behind in authentication, behind single-pass compilers even",
        of: ("bun", ""),
        to: Other::Median,
        group: "auth",
    },
    Statement {
        says: "JavaScriptCore remains slower in hashing",
        of: ("bun", ""),
        to: Other::Median,
        group: "hash",
    },
    Statement {
        says: "single-pass compilers are a class of their own",
        of: ("wasmer", "singlepass"),
        to: Other::Median,
        group: "",
    },
    Statement {
        says: "wazero is the slowest in the metamorphic test, where the others are alike",
        of: ("wazero", "compiler"),
        to: Other::Median,
        group: "metamorphic",
    },
    Statement {
        says: "wazero is significantly slower than wasmer's single-pass compiler in Diffie-Hellman",
        of: ("wazero", "compiler"),
        to: Other::Engine(("wasmer", "singlepass")),
        group: "scalarmult",
    },
    Statement {
        says: "bun is slower than node in key generation, for want of a WASI of its own",
        of: ("bun", ""),
        to: Other::Engine(("node", "")),
        group: "keygen",
    },
];

impl Library<'_> {
    /// The page and its pictures.
    pub(super) fn seed_files(&self) -> Vec<(String, String)> {
        let mut files = Vec::new();
        let mut pictures = String::new();
        let by_program = self.by_program();
        let drawings = self.drawings(To::Median).into_iter();
        for (name, drawing) in drawings.chain(by_program) {
            let path = format!("{PICTURES}/{name}.svg");
            let _ = write!(pictures, "![{name}]({path})\n\n");
            files.push((path, drawing));
        }
        files.insert(0, (PAGE.to_owned(), self.seed_page(&pictures)));
        files
    }

    fn seed_page(&self, pictures: &str) -> String {
        let mut text = format!(
            "# Performance of WebAssembly runtimes, 2023 and now\n\nFrank Denis measured \
             libsodium's own programs on eight engines (\"Performance of WebAssembly runtimes in \
             2023\"). This is the same on this machine, by `fathom reproduce libsodium-2023`.\n\n{}\n",
            self.head()
        );
        let _ = write!(
            text,
            "\n## What the seed says, and what was measured here\n\n{}",
            markdown(&self.statements())
        );
        text.push_str(
            "\nThe seed's other figures are pictures without numbers. A ratio below 1 means that \
             the first engine is faster.\n",
        );
        for (title, table) in self.tables() {
            let _ = write!(text, "\n## {title}\n\n{}", markdown(&table));
        }
        let _ = write!(text, "\n## Pictures in the seed's form\n\n{pictures}");
        text.push_str(DIFFERENCES);
        text.push_str(&self.absent());
        text.push_str(&failures(self.campaign));
        text
    }

    fn statements(&self) -> Vec<Vec<String>> {
        let head = ["the seed", "its figure", "ours", "what is divided"];
        let mut table = vec![head.map(str::to_owned).to_vec()];
        let tuned = self.fastest_over_tuned();
        let (aes, others): (Vec<_>, Vec<_>) = tuned
            .into_iter()
            .partition(|(name, _)| name.starts_with(AES));
        let fastest = "the fastest engine of each program over native code for this machine";
        let median = |list: &[(String, f64)]| {
            let mut values: Vec<f64> = list.iter().map(|(_, value)| *value).collect();
            values.sort_by(f64::total_cmp);
            let middle = values.get(values.len() / 2).copied();
            middle.map_or(figures::NONE.to_owned(), figures::ratio_bare)
        };
        for (says, theirs, ours) in [
            (
                "slower than native code, median of the programs without AES",
                "2.32",
                median(&others),
            ),
            (
                "slower where native code has instructions for AES",
                "80",
                median(&aes),
            ),
        ] {
            let line = [says, theirs, &ours, fastest];
            table.push(line.map(str::to_owned).to_vec());
        }
        for statement in &STATEMENTS {
            table.push(self.statement(statement));
        }
        table
    }

    fn statement(&self, statement: &Statement) -> Vec<String> {
        let group = self
            .groups
            .iter()
            .position(|group| group.name == statement.group);
        let number = group.map_or(0, |group| group + 1);
        let of = self.line(statement.of);
        let to = match statement.to {
            Other::Engine(who) => self.line(who),
            Other::Fastest => self.lines.iter().find(|line| line.is_ranked),
            Other::Median => None,
        };
        let shown = match (of, statement.to, to) {
            (Some(of), Other::Median, _) => value(of.to_median.get(number)),
            (Some(of), _, Some(to)) => self.between(&of.row, &to.row, number),
            _ => None,
        };
        let named = |line: Option<&Line>, who: Who| {
            let absent = || match who {
                (engine, "") => format!("{engine} (not here)"),
                (engine, generator) => format!("{engine} {generator} (not here)"),
            };
            line.map_or_else(absent, |line| line.name.clone())
        };
        let divided = match statement.to {
            Other::Median => "the median".to_owned(),
            Other::Fastest => {
                to.map_or(String::new(), |line| format!("the fastest, {}", line.name))
            }
            Other::Engine(who) => named(to, who),
        };
        let what = match group {
            Some(_) => format!(
                "{} over {divided}, {}",
                named(of, statement.of),
                statement.group
            ),
            None => format!("{} over {divided}", named(of, statement.of)),
        };
        let ours = shown.map_or(figures::NONE.to_owned(), figures::ratio_bare);
        vec![
            statement.says.to_owned(),
            "a picture".to_owned(),
            ours,
            what,
        ]
    }

    fn line(&self, (engine, generator): Who) -> Option<&Line> {
        self.lines.iter().find(|line| {
            let sandbox = &line.row.sandbox;
            let backend = sandbox.backend.as_deref().unwrap_or_default();
            sandbox.engine == engine && backend.contains(generator) && line.is_ranked
        })
    }

    fn between(&self, row: &Row, to: &Row, number: usize) -> Option<f64> {
        let groups = match number.checked_sub(1) {
            Some(group) => &self.groups[group..=group],
            None => &self.groups[..],
        };
        let names = groups.iter().flat_map(|group| &group.workloads);
        let names: Vec<&str> = names.map(String::as_str).collect();
        value(Some(&self.summary.over(row, Against::Row(to), &names)))
    }

    /// Of each program the fastest engine's time over that of native code which has
    /// what the library knows of this machine.
    fn fastest_over_tuned(&self) -> Vec<(String, f64)> {
        let Some(tuned) = self.native(Variant::NativeTuned) else {
            return Vec::new();
        };
        let time = |row: &Row, workload: &str| {
            let cell = self.summary.cell_of(row, workload)?;
            Some(cell.estimate(Figure::Kernel)?.median)
        };
        let ranked = || self.lines.iter().filter(|line| line.is_ranked);
        let ratio = |workload: &String| {
            let times = ranked().filter_map(|line| time(&line.row, workload));
            let fastest = times.min_by(f64::total_cmp)?;
            Some((workload.clone(), fastest / time(tuned, workload)?))
        };
        let workloads = self.groups.iter().flat_map(|group| &group.workloads);
        workloads.filter_map(ratio).collect()
    }

    fn by_program(&self) -> Option<(String, String)> {
        let mut ratios = self.fastest_over_tuned();
        ratios.retain(|(name, _)| !name.starts_with(AES));
        ratios.sort_by(|one, other| one.1.total_cmp(&other.1));
        let bar = |(name, value): (String, f64)| Bar {
            name,
            value,
            ends: None,
            shown: figures::ratio_bare(value),
            kind: Kind::Other,
        };
        let drawing = Lying {
            title: "The fastest engine over native code for this machine, by program".to_owned(),
            axis: "times as long as native code, less is better".to_owned(),
            bars: ratios.into_iter().map(bar).collect(),
        };
        Some(("native".to_owned(), drawing.render()?))
    }
}

/// What is not as the seed had it, and why.
const DIFFERENCES: &str = "## What is not as the seed had it\n\n\
- **The library.** The seed's revision of December 2022 is in no registry; this is release 1.0.22 \
with later fixes. Programs that came since are in their groups: SHA-3, SHAKE and TurboSHAKE in \
`hash`, key encapsulation in `kx`, `ipcrypt` in `stream`. The seed does not list which program is in \
which group; by name they are these. It counts sixteen pictures: fifteen groups and the sum of all.\n\
- **The build.** zig 0.15.2 instead of a 0.11 development version, as `generic`, which has bulk memory \
as the seed's had; engines that know WebAssembly 1.0 only take a build for that. `wasm-opt -O4` was \
not run over the modules.\n\
- **Chance.** Random numbers come from a generator under a fixed key, so that every engine does the same \
work; the seed took its key from the system.\n\
- **Passes.** The seed ran 200 passes of each program 200 times and does not say what it shows of \
them. Here a program is passed through for about 50 ms, once at least, again in every round, \
interleaved with the other engines; a group's figure is the geometric mean over its programs.\n\
- **What takes part in the median.** The engines in the tables, which are not those of 2023: another \
engine among them moves every figure.\n";
