//! WASI functions of outside engines, seen by the kernel: counts against what a program is
//! known to do, and maps that do not fit.

use std::collections::BTreeMap;

use fathom_trace::symbols::Functions;

use super::*;

/// The functions that an engine's map names.
fn mapped(engine: &str) -> Option<Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("engines")
        .join(engine);
    let files = std::fs::read_dir(folder).unwrap().flatten();
    let mut maps = files.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("symbols") && name.ends_with(".toml")
    });
    let map = std::fs::read_to_string(maps.next()?).unwrap();
    let map: toml::Table = toml::from_str(&map).unwrap();
    Some(
        map["functions"]
            .as_table()
            .unwrap()
            .keys()
            .cloned()
            .collect(),
    )
}

/// Whether the kernel has probes of functions; else why not.
fn is_probed(output: &Output) -> bool {
    let said = String::from_utf8_lossy(&output.stderr);
    let lacks = ["not permitted to load", "probes of functions"];
    match lacks.iter().any(|why| said.contains(why)) {
        true => {
            eprintln!("SKIPPED: {said}");
            false
        }
        false => true,
    }
}

#[test]
fn functions_of_engines_are_counted_exactly_by_their_symbols() {
    let files = Files::new();
    let module = files.module(PROGRAM);
    let module = module.to_str().unwrap();
    for engine in engines() {
        let Some(mapped) = mapped(&engine) else {
            continue;
        };
        let words = ["--engines", &engine, "--by", "symbols,kernel", module];
        let (output, answer) = files.trace(&words);
        if !is_probed(&output) {
            return;
        }
        assert_eq!(output.status.code(), Some(0), "{engine}: {output:?}");
        assert_eq!(output.stdout, "fathom\n".repeat(300).as_bytes(), "{engine}");
        assert_eq!(answer["wasi"]["how"], "symbols", "{engine}");
        let functions = answer["wasi"]["functions"].as_object().unwrap();
        let counts: BTreeMap<&str, u64> = functions
            .iter()
            .map(|(name, function)| (name.as_str(), function["unseen"].as_u64().unwrap()))
            .collect();
        for (name, calls, ..) in KNOWN {
            if mapped.iter().any(|function| function == name) {
                assert_eq!(counts.get(name), Some(&calls), "{engine} {name}: {answer}");
            }
        }
        let known = |name: &&str| KNOWN.iter().any(|(other, ..)| other == name);
        assert!(counts.keys().all(known), "{engine}: {counts:?}");
        assert!(counts.len() >= 4, "{engine}: {counts:?}");
        assert!(kernel(&answer).is_some());
    }
}

#[test]
fn a_map_that_does_not_fit_is_refused_before_anything_runs() {
    let files = Files::new();
    let program = env!("CARGO_BIN_EXE_fathom");
    let write = |name: &str, file: &str, symbol: &str| {
        let text = format!(
            "version = \"ours\"\nfile = \"{file}\"\nends = \"return\"\n[functions]\nf = [\"{symbol}\"]\n"
        );
        let path = files.path(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let cases = [
        (
            write("none", program, "no_such_function"),
            "has no function `no_such_function`",
        ),
        (write("gone", "/no/such/file", "x"), "/no/such/file"),
        (write("text", "/etc/passwd", "x"), "not an ELF file"),
        ("/no/such/map".to_owned(), "/no/such/map"),
    ];
    for (map, expected) in cases {
        let output = fathom(&["trace", "--symbols", &map, "--", "echo", "ran"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains(expected) && said.lines().count() == 1,
            "{said}"
        );
        assert!(output.stdout.is_empty());
    }
    // One that fits: any command, any function.
    let all = Functions::read(Path::new(program)).unwrap();
    let (symbol, _) = all
        .single()
        .find(|(name, _)| name.contains("trace_probed"))
        .unwrap();
    let map = write("own", program, symbol);
    let words = ["--symbols", &map, "--", program, "trace", "--calls", "700"];
    let (output, answer) = files.trace(&words);
    if !is_probed(&output) {
        return;
    }
    let function = &answer["wasi"]["functions"]["f"];
    assert_eq!(function["unseen"], 700, "{answer}");
    assert_eq!(function["times"]["count"], 700, "{answer}");
}

/// A leaf that keeps a value below the stack pointer across a `nop` of five bytes, which has
/// a symbol of its own; how often it came back wrong.
const RED_ZONE: &str = r#"
#include <stdio.h>
long leaf(long);
__asm__(".text\n.globl leaf\n.type leaf, @function\nleaf: mov %rdi, -8(%rsp)\n"
        ".type middle, @function\n.size middle, 5\nmiddle: .byte 0x0f, 0x1f, 0x44, 0, 0\n"
        "mov -8(%rsp), %rax\nret\n.size leaf, . - leaf\n"
        ".section .note.GNU-stack,\"\",@progbits\n.text\n");
int main(void) {
    long wrong = 0;
    for (long n = 0; n < 20000; n++) wrong += leaf(n) != n;
    printf("%ld wrong\n", wrong);
}
"#;

#[cfg(target_arch = "x86_64")]
#[test]
fn what_is_probed_computes_what_it_did_and_a_place_inside_is_refused() {
    let files = Files::new();
    let (source, program) = (files.path("leaf.c"), files.path("leaf"));
    std::fs::write(&source, RED_ZONE).unwrap();
    let built = Command::new("cc")
        .arg("-o")
        .arg(&program)
        .arg(&source)
        .status()
        .unwrap();
    assert!(built.success());
    let trace = |symbol: &str| {
        let text = format!(
            "version = \"ours\"\nfile = {program:?}\nends = \"return\"\n[functions]\nf = [\"{symbol}\"]\n"
        );
        let map = files.path("map");
        std::fs::write(&map, text).unwrap();
        let (map, program) = (map.display().to_string(), program.display().to_string());
        files.trace(&["--symbols", &map, "--", &program])
    };
    let (output, answer) = trace("leaf");
    if !is_probed(&output) {
        return;
    }
    assert_eq!(output.stdout, b"0 wrong\n", "{output:?}");
    assert_eq!(
        answer["wasi"]["functions"]["f"]["unseen"], 20_000,
        "{answer}"
    );
    let (output, _) = trace("middle");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("in the middle of another function"), "{said}");
    assert!(output.stdout.is_empty(), "{output:?}");
}
