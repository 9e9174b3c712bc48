//! Code that a process has written down while it made it, with its bytes: a file in the format
//! of perf's jitdump (tools/perf/Documentation/jitdump-specification.txt), as V8 and wasmtime
//! write it into the folder that they run in.
//!
//! ```text
//!  header   magic, version, bytes of the header, machine, 0, process, time, flags
//!  record   kind, bytes of the record, time, …
//!    load   process, thread, address ×2, bytes of code, number, name, 0, code
//! ```
//!
//! What must stay true: any bytes are read; a record that is cut off ends the file.

use std::fs;
use std::io;
use std::path::Path;

use fathom_sys::regular;

/// `JiTD`, in the order of bytes of who wrote it.
const MAGIC: u32 = 0x4A69_5444;
const HEADER_BYTES: usize = 40;
const RECORD_BYTES: usize = 16;
/// The kind of a record that has code.
const LOAD: u32 = 0;
/// Of such a record in front of the name.
const LOAD_BYTES: usize = 40;

/// A piece of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// What its maker calls it.
    pub name: String,
    /// Where it was.
    pub address: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    number(bytes, at).map(u32::from_le_bytes)
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    number(bytes, at).map(u64::from_le_bytes)
}

/// The code in a file, in the order in which it was made.
///
/// # Errors
/// One line: it is no such file.
pub fn parse(file: &[u8]) -> Result<Vec<Code>, String> {
    if word(file, 0) != Some(MAGIC) {
        return Err("not a file of jitdump for this machine".to_owned());
    }
    let header = word(file, 8).map_or(0, |bytes| bytes as usize);
    let mut rest = file.get(header.max(HEADER_BYTES)..).unwrap_or_default();
    let mut all = Vec::new();
    while let Some(bytes) = word(rest, 4).map(|bytes| bytes as usize) {
        let Some(record) = rest.get(..bytes.max(RECORD_BYTES)) else {
            break;
        };
        if word(record, 0) == Some(LOAD) {
            all.extend(load(&record[RECORD_BYTES..]));
        }
        rest = &rest[record.len()..];
    }
    Ok(all)
}

fn load(record: &[u8]) -> Option<Code> {
    let address = long(record, 16)?;
    let bytes = usize::try_from(long(record, 24)?).ok()?;
    let rest = record.get(LOAD_BYTES..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    let code = rest[end + 1..].get(..bytes)?;
    Some(Code {
        name: String::from_utf8_lossy(&rest[..end]).into_owned(),
        address,
        bytes: code.to_vec(),
    })
}

/// What processes have written into a folder that they ran in.
///
/// # Errors
/// What is there cannot be read, or is something else.
pub fn read(folder: &Path) -> io::Result<Vec<Code>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let text = name.to_string_lossy();
        if text.starts_with("jit-") && text.ends_with(".dump") {
            let file = regular::read(&folder.join(&name))?;
            all.extend(parse(&file).map_err(io::Error::other)?);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(records: &[(u32, &[u8])]) -> Vec<u8> {
        let mut file = [MAGIC, 1, 40, 62, 0, 7].map(u32::to_le_bytes).concat();
        file.extend([0; 16]);
        for (kind, body) in records {
            let bytes = (RECORD_BYTES + body.len()) as u32;
            file.extend([*kind, bytes, 0, 0].map(u32::to_le_bytes).concat());
            file.extend(*body);
        }
        file
    }

    fn loaded(name: &str, address: u64, code: &[u8]) -> Vec<u8> {
        let mut body = [7u32, 8].map(u32::to_le_bytes).concat();
        let numbers = [address, address, code.len() as u64, 1];
        body.extend(numbers.map(u64::to_le_bytes).concat());
        body.extend(name.as_bytes());
        body.push(0);
        body.extend(code);
        body
    }

    #[test]
    fn code_is_read_in_its_order_and_other_records_passed_over() {
        let (first, again) = (
            loaded("f", 0x1000, &[0xc3]),
            loaded("f", 0x2000, &[0x90, 0xc3]),
        );
        let file = file(&[(LOAD, &first), (2, &[1, 2, 3]), (LOAD, &again), (3, &[])]);
        let read = parse(&file).unwrap();
        let seen: Vec<_> = read
            .iter()
            .map(|code| (code.name.as_str(), code.address, code.bytes.len()))
            .collect();
        assert_eq!(seen, [("f", 0x1000, 1), ("f", 0x2000, 2)]);
    }

    #[test]
    fn a_file_that_is_cut_off_has_what_is_whole() {
        let body = loaded("f", 0x1000, &[0xc3; 9]);
        let whole = file(&[(LOAD, &body), (LOAD, &body)]);
        let one = file(&[(LOAD, &body)]);
        for bytes in HEADER_BYTES..whole.len() {
            let read = parse(&whole[..bytes]).unwrap();
            assert_eq!(read.len(), usize::from(bytes >= one.len()), "{bytes}");
        }
    }

    #[test]
    fn what_is_something_else_is_refused() {
        let mut other = file(&[]);
        other[..4].reverse();
        for bytes in [&b""[..], b"JiT", &other, b"\x7fELF"] {
            assert!(parse(bytes).is_err());
        }
    }
}
