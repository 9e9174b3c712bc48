//! Reading a module from a file, in either format.

use std::path::Path;

use anyhow::Context;

/// How a component begins: the same magic, another layer (component model, Binary.md).
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// The module in the binary format. What looks like text is translated.
pub fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    if bytes.starts_with(COMPONENT) {
        anyhow::bail!(
            "{}: this is a component, not a module: build it for wasm32-wasip1",
            path.display()
        );
    }
    if bytes.starts_with(b"\0asm") {
        return Ok(bytes);
    }
    if !looks_like_text(&bytes) {
        let start = &bytes[..bytes.len().min(4)];
        anyhow::bail!(
            "{}: not a WebAssembly file: it begins with {start:02x?} instead of [00, 61, 73, 6d]",
            path.display()
        );
    }
    match wat::parse_bytes(&bytes) {
        Ok(wasm) => Ok(wasm.into_owned()),
        Err(error) => anyhow::bail!("{}: {}", path.display(), first_line_with_place(&error)),
    }
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
        assert!(error.contains("[7f, 45, 4c, 46]"), "{error}");
        let component = written(COMPONENT);
        let error = read(component.path()).unwrap_err().to_string();
        assert!(error.contains("build it for wasm32-wasip1"), "{error}");
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
