//! Lines of sources: what a compiler writes of them, and what is told.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// zig, which compiles C and is LLVM's clang too; nothing without it.
fn zig() -> Option<PathBuf> {
    let zig = Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools/zig/ziglang/zig");
    if !zig.is_file() {
        eprintln!("SKIPPED: no .tools/zig: make setup");
        return None;
    }
    Some(zig)
}

/// A folder with sources and what zig makes of them.
struct Compiled {
    folder: tempfile::TempDir,
    zig: PathBuf,
}

impl Compiled {
    fn new() -> Option<Compiled> {
        let zig = zig()?;
        let folder = tempfile::tempdir().unwrap();
        let source = include_str!("source_lines/through.c");
        fs::write(folder.path().join("through.c"), source).unwrap();
        let source = include_str!("source_lines/busy.c");
        fs::write(folder.path().join("busy.c"), source).unwrap();
        Some(Compiled { folder, zig })
    }

    /// A module `name` of `through.c`, with these further flags.
    fn module(&self, name: &str, flags: &[&str]) {
        self.module_of("through.c", name, flags);
    }

    fn module_of(&self, source: &str, name: &str, flags: &[&str]) {
        let cache = Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools/zig-cache");
        let mut command = Command::new(&self.zig);
        command.current_dir(self.folder.path());
        command.env("ZIG_GLOBAL_CACHE_DIR", cache);
        command.env("ZIG_LOCAL_CACHE_DIR", self.folder.path().join("cache"));
        command.args([
            "cc",
            "-O2",
            "-nostdlib",
            "-Wl,--no-entry",
            source,
            "-o",
            name,
        ]);
        let output = command.args(flags).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// What is said, and how it ends.
    fn fathom(&self, words: &[&str]) -> (String, Option<i32>) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        command.current_dir(self.folder.path());
        let output = command.env("FATHOM_CLANG", &self.zig).args(words).output();
        let output = output.unwrap();
        let said = [output.stdout, output.stderr].concat();
        (String::from_utf8(said).unwrap(), output.status.code())
    }

    /// What a trap tells under a code generator.
    fn trap(&self, module: &str, codegen: &str) -> String {
        let words = ["run", "--codegen", codegen, "--invoke", "run", module, "6"];
        let (said, status) = self.fathom(&words);
        assert_eq!(status, Some(134), "{said}");
        said
    }
}

/// Without offsets, which are the compiler's.
fn without_offsets(text: &str) -> String {
    let words = text.split(' ').map(|word| match word.strip_prefix("0x") {
        Some(rest) => format!(
            "AT{}",
            rest.trim_start_matches(|c: char| c.is_ascii_hexdigit())
        ),
        None => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

const TOLD: &str = "    0: divide (inlined): through.c:3:14
       middle (function 0) in NAME at AT: through.c:7:12
    1: outer (function 1) in NAME at AT: through.c:11:12
    2: run (function 2) in NAME at AT: through.c:15:12
";

#[test]
fn a_trap_names_the_lines_of_all_frames_under_every_generator() {
    let Some(compiled) = Compiled::new() else {
        return;
    };
    for (name, target, version) in [
        ("narrow.wasm", "wasm32-freestanding", "-gdwarf-4"),
        ("newer.wasm", "wasm32-freestanding", "-gdwarf-5"),
        ("wide.wasm", "wasm64-freestanding", "-gdwarf-4"),
    ] {
        compiled.module(name, &["-target", target, version]);
        for codegen in ["cranelift", "llvm", "direct"] {
            let said = without_offsets(&compiled.trap(name, codegen));
            let (head, frames) = said.split_once('\n').unwrap();
            let place = format!("integer divide by zero in middle (function 0) in {name} at AT");
            assert_eq!(head, format!("fathom: {name}: trap: {place}"), "{codegen}");
            assert_eq!(frames, TOLD.replace("NAME", name), "{codegen}");
        }
    }
}

/// With DWARF nothing else changes, and without it nothing does.
#[test]
fn without_dwarf_all_is_as_it_was() {
    let Some(compiled) = Compiled::new() else {
        return;
    };
    let target = ["-target", "wasm32-freestanding"];
    compiled.module("app.wasm", &[&target[..], &["-g"]].concat());
    let with = compiled.trap("app.wasm", "cranelift");
    compiled.module("app.wasm", &[&target[..], &["-g0"]].concat());
    let without = compiled.trap("app.wasm", "cranelift");
    let stripped = with.lines().filter(|line| !line.contains("(inlined)"));
    let stripped: Vec<String> = stripped
        .map(|line| line.split(": through.c:").next().unwrap().to_owned())
        .map(|line| line.replacen("       middle", "    0: middle", 1))
        .collect();
    assert_eq!(stripped, without.lines().collect::<Vec<_>>());
    let (said, _) = compiled.fathom(&["objdump", "--func", "middle", "app.wasm"]);
    assert!(!said.contains("through.c"), "{said}");
}

#[test]
fn a_listing_has_the_lines_of_its_operators() {
    let Some(compiled) = Compiled::new() else {
        return;
    };
    compiled.module("app.wasm", &["-target", "wasm32-freestanding", "-g"]);
    for codegen in ["cranelift", "llvm", "direct"] {
        let words = [
            "objdump",
            "--codegen",
            codegen,
            "--func",
            "middle",
            "app.wasm",
        ];
        let (said, _) = compiled.fathom(&words);
        let at = said.find("; through.c:3:14, inlined at through.c:7:12\n");
        let divided = said[at.expect(&said)..].lines().nth(1).unwrap();
        assert!(divided.ends_with("  i32.div_s"), "{said}");
    }
    let words = ["objdump", "--json", "--func", "middle", "app.wasm"];
    let (said, _) = compiled.fathom(&words);
    assert!(said.contains(r#""source": "through.c:3:14""#), "{said}");
}

/// What is hot is one line, which stands in front of the listing.
#[test]
fn the_line_that_takes_the_time_is_named() {
    let Some(compiled) = Compiled::new() else {
        return;
    };
    let flags = ["-target", "wasm32-freestanding", "-g"];
    compiled.module_of("busy.c", "busy.wasm", &flags);
    let (said, status) = compiled.fathom(&["objdump", "busy.wasm", "--func", "work", "--hot"]);
    if said.contains("no samples: ") {
        eprintln!("SKIPPED: {said}");
        return;
    }
    assert_eq!(status, Some(0), "{said}");
    let mut lines = said.lines();
    assert!(
        lines.any(|line| line == "lines with most of them:"),
        "{said}"
    );
    let first = lines.next().unwrap();
    assert!(first.ends_with(" % busy.c:5"), "{said}");
    let share: f64 = first.split('%').next().unwrap().trim().parse().unwrap();
    assert!(share > 50.0, "{said}");
}

/// Each sample is in one row, and most are of the line that takes the time; of whose code
/// nothing is known has a line that says so.
#[test]
fn time_by_line_is_found_under_every_generator() {
    let Some(compiled) = Compiled::new() else {
        return;
    };
    let flags = ["-target", "wasm32-freestanding", "-g"];
    compiled.module_of("busy.c", "busy.wasm", &flags);
    let engines: &[&str] = match cfg!(target_arch = "x86_64") {
        true => &["fathom", "fathom:direct", "fathom:llvm"],
        false => &["fathom", "fathom:llvm"],
    };
    let others = ",fathom:tiered,wasmtime";
    let list = engines.join(",") + others;
    let words = ["profile", "busy.wasm", "--by", "line", "--json"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.current_dir(compiled.folder.path());
    command.env("FATHOM_CLANG", &compiled.zig).args(words);
    let output = command.args(["--engines", &list]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    if said.contains("no samples: ") {
        eprintln!("SKIPPED: {said}");
        return;
    }
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.matches(": no lines: ").count(), 2, "{said}");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = answer["rows"].as_array().unwrap();
    for (at, engine) in engines.iter().enumerate() {
        assert_eq!(answer["engines"][at]["name"], *engine, "{said}");
        let sum = |kinds: &[&str], name: Option<&str>| -> u64 {
            let rows = rows.iter().filter(|row| {
                let is_it = name.is_none_or(|name| row["name"] == name);
                is_it && kinds.contains(&row["kind"].as_str().unwrap())
            });
            rows.map(|row| row["parts"][at]["samples"].as_u64().unwrap())
                .sum()
        };
        let of_functions = ["line", "no_line", "no_wasm", "ambiguous"];
        let functions = sum(&["functions"], None);
        assert_eq!(sum(&of_functions, None), functions, "{engine}: {answer}");
        let rest = sum(&["engine", "unnamed", "kernel"], None);
        let all = sum(&["all"], None);
        assert_eq!(functions + rest, all, "{engine}: {answer}");
        assert_eq!(answer["engines"][at]["samples"], all);
        let line = sum(&["line"], Some("busy.c:5"));
        assert!(2 * line > functions, "{engine}: {line} of {functions}");
    }
}

/// A file's name is shown, and obeyed by nobody; what is damaged is a line.
#[test]
fn names_are_escaped_and_damage_is_a_line() {
    let Some(compiled) = Compiled::new() else {
        return;
    };
    compiled.module("app.wasm", &["-target", "wasm32-freestanding", "-gdwarf-4"]);
    let path = compiled.folder.path().join("app.wasm");
    let wasm = fs::read(&path).unwrap();
    let changed = |from: &[u8], to: &[u8]| {
        let mut wasm = wasm.clone();
        let all = wasm.windows(from.len()).enumerate();
        let at: Vec<usize> = all
            .filter(|(_, bytes)| *bytes == from)
            .map(|(at, _)| at)
            .collect();
        assert!(!at.is_empty());
        for at in at {
            wasm[at..at + to.len()].copy_from_slice(to);
        }
        fs::write(&path, wasm).unwrap();
        compiled.trap("app.wasm", "cranelift")
    };
    let said = changed(b"through.c", b"\x1b[2Jgh.c\n");
    assert!(said.contains(": \\u{1b}[2Jgh.c\\n:11:12\n"), "{said}");
    // A version that nobody has: no unit can be read.
    let at = wasm
        .windows(12)
        .position(|bytes| bytes == b"\x0b.debug_info")
        .unwrap()
        + 12;
    let header = &wasm[at..at + 6];
    let said = changed(header, &[header[0], header[1], header[2], header[3], 77, 0]);
    let trouble = "fathom: app.wasm: not every source line is known: its DWARF is damaged: ";
    assert_eq!(said.matches(trouble).count(), 1, "{said}");
    assert!(!said.contains("through.c"), "{said}");
}
