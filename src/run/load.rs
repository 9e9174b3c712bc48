//! Reading a module from a file, in either format; what a file is that is no module.

use std::path::Path;

use anyhow::Context;

use fathom_bench::request::COMPONENT;
use fathom_sys::regular;

use crate::module::{self, Purpose};
use crate::one_line::clipped;

/// How a module begins.
const MAGIC: &[u8] = b"\0asm";

/// What is said of a component by what takes modules only.
const A_COMPONENT: &str =
    "a component, not a module: measure it by `fathom bench`, or build it for wasm32-wasip1";

/// How other files begin, what they are, and what helps.
const OTHERS: [(&[u8], &str); 11] = [
    (b"\x1f\x8b", "compressed by gzip: unpack it first (gunzip)"),
    (
        b"\x28\xb5\x2f\xfd",
        "compressed by zstd: unpack it first (unzstd)",
    ),
    (b"PK\x03\x04", "a ZIP archive: unpack it first (unzip)"),
    (b"BZh", "compressed by bzip2: unpack it first (bunzip2)"),
    (b"\xfd7zXZ\0", "compressed by xz: unpack it first (unxz)"),
    (
        b"\x7fELF",
        "a native program or library (ELF), not WebAssembly",
    ),
    (b"!<arch>\n", "a library of object files, not linked yet"),
    (b"BC\xc0\xde", "LLVM's intermediate code, not compiled yet"),
    (
        b"version https://git-lfs",
        "what Git LFS left in its place: fetch it (git lfs pull)",
    ),
    (b"#!", "a script, not WebAssembly"),
    (
        b"\xef\xbb\xbf",
        "text with a byte order mark, not WebAssembly",
    ),
];

/// A program, in the binary format, that any engine could run as far as its first sections
/// tell; messages call it `word`.
///
/// # Errors
/// As [`read`]; a module that imports what no program is given, or is none to be run.
pub fn program(path: &Path, word: &str) -> anyhow::Result<Vec<u8>> {
    checked(read_as(path, word)?, word)
}

/// The same, or a component that is a command.
///
/// # Errors
/// As [`program`]; a component that imports what commands are not given, or is none.
pub fn program_or_component(path: &Path, word: &str) -> anyhow::Result<Vec<u8>> {
    checked(binary(path, word)?, word)
}

fn checked(wasm: Vec<u8>, word: &str) -> anyhow::Result<Vec<u8>> {
    let verdict = match wasm.starts_with(COMPONENT) {
        true => module::check_component(&wasm),
        false => module::check(&wasm, Purpose::Measure),
    };
    match verdict {
        Ok(()) => Ok(wasm),
        Err(why) => anyhow::bail!("{word}: {why}"),
    }
}

/// The module in the binary format. What looks like text is translated.
pub fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    read_as(path, &path.display().to_string())
}

/// The same; messages call it `word`.
pub fn read_as(path: &Path, word: &str) -> anyhow::Result<Vec<u8>> {
    let wasm = binary(path, word)?;
    if wasm.starts_with(COMPONENT) {
        let why = module::check_component(&wasm).err();
        anyhow::bail!("{word}: {}", why.as_deref().unwrap_or(A_COMPONENT));
    }
    Ok(wasm)
}

/// A module or a component.
fn binary(path: &Path, word: &str) -> anyhow::Result<Vec<u8>> {
    let bytes = regular::read_input(path).with_context(|| word.to_owned())?;
    if let Some(what) = other(&bytes) {
        anyhow::bail!("{word}: {what}");
    }
    if bytes.starts_with(MAGIC) {
        return Ok(bytes);
    }
    match wat::parse_bytes(&bytes) {
        Ok(wasm) => Ok(wasm.into_owned()),
        Err(error) => anyhow::bail!("{word}: {}", first_line_with_place(&error)),
    }
}

/// What a file is that is no module in either format.
fn other(bytes: &[u8]) -> Option<String> {
    if let Some((_, what)) = OTHERS.iter().find(|(start, _)| bytes.starts_with(start)) {
        return Some((*what).to_owned());
    }
    if bytes.starts_with(MAGIC) || looks_like_text(bytes) {
        return None;
    }
    let text = bytes.trim_ascii_start();
    let first = &text[..text.len().min(256)];
    let is_html = first.starts_with(b"<") && first.is_ascii();
    let words = std::str::from_utf8(first).unwrap_or_default();
    let words = words.lines().next().unwrap_or_default();
    let is_words = !words.is_empty() && !words.contains(char::is_control);
    Some(if bytes.is_empty() {
        "an empty file".to_owned()
    } else if MAGIC.starts_with(bytes) {
        format!("cut off: only {} bytes are here", bytes.len())
    } else if is_html {
        "a page of HTML or XML, not WebAssembly: was the link to a page?".to_owned()
    } else if is_words {
        format!(
            "text, but no WebAssembly: it begins with '{}'",
            clipped(words)
        )
    } else {
        let start = &bytes[..bytes.len().min(4)];
        format!("not a WebAssembly file: it begins with {start:02x?} instead of [00, 61, 73, 6d]")
    })
}

/// Whether the first thing that is no blank starts the text format: `(` or a
/// comment.
fn looks_like_text(bytes: &[u8]) -> bool {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(first, Some(b'(' | b';'))
}

/// The parser draws a picture of the place; a line has room for its numbers.
fn first_line_with_place(error: &wat::Error) -> String {
    let text = error.to_string();
    let mut lines = text.lines();
    let message = lines.next().unwrap_or("malformed text").trim();
    let place = lines
        .find_map(|line| line.trim().strip_prefix("-->"))
        .and_then(|place| place.trim().rsplit_once(':'))
        .and_then(|(rest, column)| Some((rest.rsplit_once(':')?.1, column)));
    match place {
        Some((line, column)) => format!("line {line}, column {column}: {message}"),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(contents: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), contents).unwrap();
        file
    }

    #[test]
    fn both_formats_are_read() {
        let text = written(b" ;; a comment\n(module)");
        assert_eq!(read(text.path()).unwrap(), b"\0asm\x01\0\0\0");
        let binary = written(b"\0asm\x01\0\0\0");
        assert_eq!(read(binary.path()).unwrap(), b"\0asm\x01\0\0\0");
        let other = written(b"\x7fELF");
        let error = read(other.path()).unwrap_err().to_string();
        assert!(error.contains("a native program"), "{error}");
        let noise = written(b"\x01\x02\x03\x04\x05");
        let error = read(noise.path()).unwrap_err().to_string();
        assert!(error.contains("[01, 02, 03, 04]"), "{error}");
        let component = written(COMPONENT);
        let error = read(component.path()).unwrap_err().to_string();
        assert!(error.contains("no command"), "{error}");
        let command = r#"(component (instance $i) (export "wasi:cli/run@0.2.0" (instance $i)))"#;
        let error = read(written(command.as_bytes()).path()).unwrap_err();
        assert!(error.to_string().contains("fathom bench"), "{error}");
        let error = read(written(b"(component)").path()).unwrap_err();
        assert!(error.to_string().contains("a component"), "{error}");
        let empty = written(b"");
        assert!(read(empty.path()).is_err());
    }

    #[test]
    fn malformed_text_is_one_line_with_its_place() {
        let text = written(b"(module\n  (func (result i32) i32.nonsense))");
        let error = format!("{:#}", read(text.path()).unwrap_err());
        assert!(error.contains("line 2, column"), "{error}");
        assert_eq!(error.lines().count(), 1);
        let missing = read(Path::new("/no/such/file")).unwrap_err();
        assert!(format!("{missing:#}").contains("/no/such/file"));
    }
}
