//! Packs what an installed program carries: the descriptions and installers of engines,
//! the sources of suites, and the crates that runners are built from. The form is that of
//! `crates/bench/src/home/kit.rs`.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What is packed, from the project's folder.
const PACKED: [&str; 6] = [
    "engines",
    "workloads",
    "crates/record",
    "crates/runner",
    "crates/sys",
    "rust-toolchain.toml",
];
/// Folders and files in it that are made, or that only tests of the project read.
const NOT_PACKED: [&str; 6] = [
    "build",
    "target",
    "node_modules",
    "__pycache__",
    "tests",
    "results",
];

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("of cargo"));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("of cargo"));
    let mut files = Vec::new();
    for packed in PACKED {
        collect(&root.join(packed), &mut files);
    }
    files.sort();
    let mut kit = Vec::new();
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        let contents = fs::read(file).expect("a file of the project");
        let mode = fs::metadata(file).expect("a file").permissions().mode();
        let inner = file.strip_prefix(&root).expect("in the project");
        pack(&mut kit, inner, mode & 0o100 != 0, &contents);
    }
    let manifest = root.join("Cargo.toml");
    println!("cargo::rerun-if-changed={}", manifest.display());
    println!("cargo::rerun-if-changed=build.rs");
    let manifest = fs::read_to_string(manifest).expect("the manifest");
    pack(
        &mut kit,
        Path::new("Cargo.toml"),
        false,
        workspace(&manifest).as_bytes(),
    );
    fs::write(out.join("kit"), kit).expect("a file in OUT_DIR");
}

/// The workspace's part of the manifest, for the crates that are packed.
fn workspace(manifest: &str) -> String {
    let end = manifest.find("\n[package]\n").expect("a package");
    let lines = manifest[..end].lines().map(|line| match line {
        line if line.starts_with("members = ") => "members = [\"crates/*\"]",
        line => line,
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    let name = path.file_name().unwrap_or_default();
    if NOT_PACKED.iter().any(|not| name == *not) {
        return;
    }
    if !path.is_dir() {
        files.push(path.to_owned());
        return;
    }
    for entry in fs::read_dir(path)
        .expect("a folder of the project")
        .flatten()
    {
        collect(&entry.path(), files);
    }
}

fn pack(kit: &mut Vec<u8>, path: &Path, is_executable: bool, contents: &[u8]) {
    let mode: &[u8] = if is_executable { b"\0x" } else { b"\0-" };
    kit.extend_from_slice(path.to_str().expect("a name in UTF-8").as_bytes());
    kit.extend_from_slice(mode);
    kit.extend_from_slice(&(contents.len() as u64).to_le_bytes());
    kit.write_all(contents).expect("memory");
}
