//! `bpf/listing.txt` is `bpf/trace.bpf.c`, compiled by the pinned zig.
//!
//! `FATHOM_BLESS=1 cargo test --workspace --test listing` writes it anew. Where zig is not
//! installed (`make setup`) the comparison is skipped, and says so.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Sections that hold no program.
const NO_PROGRAMS: [&str; 4] = [".text", "maps", "license", ".eh_frame"];

fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The compiled file; none where there is no compiler.
fn compiled(source: &Path, folder: &Path) -> Option<Vec<u8>> {
    let zig = here().join("../../.tools/zig/ziglang/zig");
    if !zig.is_file() {
        return None;
    }
    let object = folder.join("trace.o");
    let output = Command::new(zig)
        .args(["cc", "-target", "bpfel-freestanding", "-mcpu=v3", "-O2"])
        .args(["-Wall", "-Werror", "-fno-asynchronous-unwind-tables", "-c"])
        .arg(source)
        .arg("-o")
        .arg(&object)
        .output()
        .expect("zig starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(std::fs::read(object).expect("an object"))
}

/// An object file of 64 bits, little-endian.
struct Elf<'a> {
    bytes: &'a [u8],
    sections: Vec<Section>,
}

struct Section {
    name: String,
    kind: u32,
    at: usize,
    len: usize,
    link: usize,
    info: usize,
}

impl<'a> Elf<'a> {
    fn number(&self, at: usize, len: usize) -> u64 {
        let bytes = &self.bytes[at..at + len];
        bytes
            .iter()
            .rev()
            .fold(0, |all, byte| all << 8 | u64::from(*byte))
    }

    fn text(&self, at: usize) -> String {
        let rest = &self.bytes[at..];
        let end = rest.iter().position(|byte| *byte == 0).expect("an end");
        String::from_utf8_lossy(&rest[..end]).into_owned()
    }

    fn read(bytes: &'a [u8]) -> Elf<'a> {
        let mut elf = Elf {
            bytes,
            sections: Vec::new(),
        };
        let headers = elf.number(0x28, 8) as usize;
        let count = elf.number(0x3c, 2) as usize;
        let names = headers + 64 * elf.number(0x3e, 2) as usize;
        let names = elf.number(names + 24, 8) as usize;
        for header in (0..count).map(|index| headers + 64 * index) {
            let field = |at, len| elf.number(header + at, len) as usize;
            let section = Section {
                name: elf.text(names + field(0, 4)),
                kind: field(4, 4) as u32,
                at: field(24, 8),
                len: field(32, 8),
                link: field(40, 4),
                info: field(44, 4),
            };
            elf.sections.push(section);
        }
        elf
    }

    fn section(&self, name: &str) -> (usize, &Section) {
        let mut all = self.sections.iter().enumerate();
        all.find(|(_, s)| s.name == name).expect(name)
    }

    /// Name and value of the symbols of a section, in the order of their values.
    fn symbols(&self, section: usize) -> Vec<(String, u64)> {
        let (_, table) = self.section(".symtab");
        let names = self.sections[table.link].at;
        let entries = (table.at..table.at + table.len).step_by(24);
        let of = entries.filter(|at| self.number(at + 6, 2) as usize == section);
        let mut all: Vec<(String, u64)> = of
            .map(|at| {
                let name = self.text(names + self.number(at, 4) as usize);
                (name, self.number(at + 8, 8))
            })
            .collect();
        all.sort_by_key(|(_, value)| *value);
        all
    }

    /// Where in a section which symbol's address is loaded.
    fn loads(&self, section: usize) -> Vec<(u64, String)> {
        const REL: u32 = 9;
        let (_, table) = self.section(".symtab");
        let names = self.sections[table.link].at;
        let mut all = Vec::new();
        let lists = self.sections.iter();
        for list in lists.filter(|s| s.kind == REL && s.info == section) {
            for at in (list.at..list.at + list.len).step_by(16) {
                let symbol = table.at + 24 * self.number(at + 12, 4) as usize;
                let name = self.text(names + self.number(symbol, 4) as usize);
                all.push((self.number(at, 8), name));
            }
        }
        all
    }
}

fn listing(object: &[u8]) -> String {
    let elf = Elf::read(object);
    let mut text = String::from(
        "# trace.bpf.c, compiled by zig 0.15.2; FATHOM_BLESS=1 cargo test --workspace --test listing\n\
         # writes it anew. src/kernel/listing.rs says what the lines are.\n",
    );
    let (index, maps) = elf.section("maps");
    for (name, value) in elf.symbols(index) {
        let _ = write!(text, "map {name}");
        for field in 0..4 {
            let number = elf.number(maps.at + value as usize + 4 * field, 4);
            let _ = write!(text, " {number}");
        }
        text.push('\n');
    }
    for (index, section) in elf.sections.iter().enumerate() {
        const PROGBITS: u32 = 1;
        if section.kind != PROGBITS || NO_PROGRAMS.contains(&section.name.as_str()) {
            continue;
        }
        let _ = write!(text, "program {}", section.name);
        let loads = elf.loads(index);
        for (word, at) in (0..section.len as u64).step_by(8).enumerate() {
            text.push(if word % 5 == 0 { '\n' } else { ' ' });
            let _ = write!(text, "{:016x}", elf.number(section.at + at as usize, 8));
            if let Some((_, map)) = loads.iter().find(|(of, _)| *of == at) {
                let _ = write!(text, "@{map}");
            }
        }
        text.push('\n');
    }
    text
}

#[test]
fn the_listing_is_what_its_source_compiles_to() {
    let folder = tempfile::tempdir().unwrap();
    let source = here().join("bpf/trace.bpf.c");
    let Some(object) = compiled(&source, folder.path()) else {
        return eprintln!("SKIPPED: no zig here (make setup): bpf/listing.txt is not compared");
    };
    let made = listing(&object);
    let path = here().join("bpf/listing.txt");
    if std::env::var_os("FATHOM_BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(
        kept == made,
        "bpf/listing.txt is not what bpf/trace.bpf.c compiles to: FATHOM_BLESS=1 writes it anew"
    );
}
