//! Is what a program printed right? No time counts before that is answered.
//!
//! A suite's workload ends its output with `fathom: answer=<hex>
//! kernel_ns=<n>`, and the answer must be the expected one. Any other program
//! must print what the first engine's run printed, byte for byte; a `fathom:`
//! line at the end is then compared without its time.
//!
//! What must stay true: an output is where a runner says it is, so it may be anything;
//! nothing waits for it, and what is no regular file is no output.

use std::{
    fs::{self, File},
    io::{self, BufReader, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use fathom_record::Answer;
use fathom_sys::regular;

use crate::tolerance::{Tolerance, clip};

/// The last line is looked for in this much of a file's end.
const TAIL_BYTES: u64 = 4096;

/// A printed output: where it is and how it ends.
struct Output {
    file: File,
    /// Bytes before a final `fathom:` line; all bytes if there is none.
    body_bytes: u64,
    answer: Option<Answer>,
}

impl Output {
    fn open(path: &Path) -> io::Result<Self> {
        let mut file = regular::open(path)?;
        let length = file.metadata()?.len();
        let start = length.saturating_sub(TAIL_BYTES);
        file.seek(SeekFrom::Start(start))?;
        let mut tail = Vec::new();
        (&file).take(TAIL_BYTES).read_to_end(&mut tail)?;
        file.rewind()?;
        let last = last_line_start(&tail);
        let answer = Answer::parse(&String::from_utf8_lossy(&tail[last..]));
        let body_bytes = if answer.is_some() {
            start + last as u64
        } else {
            length
        };
        Ok(Self {
            file,
            body_bytes,
            answer,
        })
    }
}

/// Where the last line which is not empty begins.
fn last_line_start(bytes: &[u8]) -> usize {
    let end = bytes
        .iter()
        .rposition(|byte| !byte.is_ascii_whitespace())
        .map_or(0, |last| last + 1);
    bytes[..end]
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |newline| newline + 1)
}

/// What an output is held against.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// The `fathom:` line must carry this answer.
    Answer(String),
    /// The output must be that of this file; where there is none yet, the
    /// output becomes it.
    SameAs(PathBuf),
    /// The output must be this text, but for blank space at its end.
    Text(String),
    /// The output must be near to this text.
    Near(Tolerance),
    /// Nothing: what it prints is not the same from run to run.
    Anything,
}

/// Checks one output file; the kernel's time where the program states one.
///
/// # Errors
/// One line which says what is wrong, fit for a failure record.
pub fn check_output(path: &Path, expected: &Expected) -> Result<Option<u64>, String> {
    let unreadable = |error: io::Error| format!("its output cannot be read: {error}");
    let output = Output::open(path).map_err(unreadable)?;
    match expected {
        Expected::Answer(right) => match &output.answer {
            None => Err("printed no `fathom: answer=…` line".into()),
            Some(said) if said.answer == *right => Ok(Some(said.kernel_ns)),
            Some(said) => Err(format!("answer {} instead of {right}", clip(&said.answer))),
        },
        Expected::SameAs(reference) => {
            if !reference.exists() {
                keep_as_reference(path, reference)
                    .map_err(|error| format!("cannot keep its output: {error}"))?;
            } else {
                let first = Output::open(reference).map_err(unreadable)?;
                same(first, &output).map_err(unreadable)??;
            }
            Ok(output.answer.map(|said| said.kernel_ns))
        }
        Expected::Text(right) => {
            same_text(path, right)?;
            Ok(output.answer.map(|said| said.kernel_ns))
        }
        Expected::Near(near) => {
            near.check(path)?;
            Ok(output.answer.map(|said| said.kernel_ns))
        }
        Expected::Anything => Ok(output.answer.map(|said| said.kernel_ns)),
    }
}

fn same_text(path: &Path, right: &str) -> Result<(), String> {
    // One byte more than right can be told from right.
    let bytes_max = right.len() as u64 + TAIL_BYTES;
    let mut printed = Vec::new();
    regular::open(path)
        .and_then(|file| file.take(bytes_max).read_to_end(&mut printed))
        .map_err(|error| format!("its output cannot be read: {error}"))?;
    let printed = String::from_utf8_lossy(&printed);
    let (mut lines, mut expected) = (printed.trim_end().lines(), right.trim_end().lines());
    for number in 1.. {
        match (lines.next(), expected.next()) {
            (None, None) => break,
            (said, right) if said == right => {}
            (said, right) => {
                let quote = |line: Option<&str>| {
                    line.map_or("nothing".into(), |l| format!("`{}`", clip(l)))
                };
                return Err(format!(
                    "line {number} is {} instead of {}",
                    quote(said),
                    quote(right)
                ));
            }
        }
    }
    Ok(())
}

/// Copies under another name first: half a reference would fail every cell.
fn keep_as_reference(path: &Path, reference: &Path) -> io::Result<()> {
    let partial = reference.with_extension("partial");
    fs::copy(path, &partial)?;
    fs::rename(partial, reference)
}

fn same(first: Output, other: &Output) -> io::Result<Result<(), String>> {
    let answer = |output: &Output| output.answer.as_ref().map(|said| said.answer.clone());
    let body = |output: &Output| -> io::Result<_> {
        Ok(BufReader::new(output.file.try_clone()?).take(output.body_bytes))
    };
    if let Some(at) = first_difference(body(&first)?, body(other)?)? {
        return Ok(Err(format!(
            "its output differs from the first engine's at byte {at} (lengths {} and {})",
            other.body_bytes, first.body_bytes
        )));
    }
    if answer(&first) != answer(other) {
        return Ok(Err(
            "its `fathom:` answer differs from the first engine's".into()
        ));
    }
    Ok(Ok(()))
}

/// Offset of the first byte in which two streams differ; the shorter one's
/// length if it is the other's beginning.
fn first_difference(mut a: impl Read, mut b: impl Read) -> io::Result<Option<u64>> {
    const BLOCK: u64 = 64 << 10;
    let (mut left, mut right, mut offset) = (Vec::new(), Vec::new(), 0);
    loop {
        left.clear();
        right.clear();
        a.by_ref().take(BLOCK).read_to_end(&mut left)?;
        b.by_ref().take(BLOCK).read_to_end(&mut right)?;
        if left != right {
            let common = left.iter().zip(&right).take_while(|(x, y)| x == y).count();
            return Ok(Some(offset + common as u64));
        }
        if left.is_empty() {
            return Ok(None);
        }
        offset += left.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(printed: &str, expected: &Expected) -> Result<Option<u64>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stdout");
        fs::write(&path, printed).unwrap();
        check_output(&path, expected)
    }

    #[test]
    fn the_answer_is_on_the_last_line_that_is_not_empty() {
        let right = Expected::Answer("0fa1".to_owned());
        let line = "fathom: answer=0fa1 kernel_ns=12";
        assert_eq!(check(line, &right), Ok(Some(12)));
        assert_eq!(check(&format!("noise\n{line}\n\n"), &right), Ok(Some(12)));
        let long = format!("{}\n{line}\n", "x".repeat(100_000));
        assert_eq!(check(&long, &right), Ok(Some(12)));
    }

    #[test]
    fn a_wrong_or_missing_answer_is_one_short_line() {
        let right = Expected::Answer("0fa1".to_owned());
        for printed in [
            "",
            "\n\n",
            "fathom: answer=0fa1",
            "fathom: answer=0fa1 kernel_ns=minus",
            "fathom: answer=0fa1 kernel_ns=1\nafter",
            "fathom: answer=beef kernel_ns=1",
            &format!("fathom: answer={} kernel_ns=1", "f".repeat(2000)),
        ] {
            let why = check(printed, &right).unwrap_err();
            assert!(why.len() < 200 && !why.contains('\n'), "{why}");
        }
    }

    #[test]
    fn other_programs_must_print_what_the_first_printed() {
        let folder = tempfile::tempdir().unwrap();
        let same = Expected::SameAs(folder.path().join("reference"));
        assert_eq!(check("hello\nworld\n", &same), Ok(None));
        assert_eq!(check("hello\nworld\n", &same), Ok(None));
        let why = check("hello\nWorld\n", &same).unwrap_err();
        assert!(why.contains("at byte 6"), "{why}");
        assert!(
            check("hello\nworld\nmore", &same)
                .unwrap_err()
                .contains("at byte 12")
        );
        assert!(check("", &same).unwrap_err().contains("at byte 0"));
    }

    #[test]
    fn times_may_differ_but_answers_may_not() {
        let folder = tempfile::tempdir().unwrap();
        let same = Expected::SameAs(folder.path().join("reference"));
        assert_eq!(
            check("x\nfathom: answer=1 kernel_ns=5\n", &same),
            Ok(Some(5))
        );
        assert_eq!(
            check("x\nfathom: answer=1 kernel_ns=77\n", &same),
            Ok(Some(77))
        );
        assert!(check("x\nfathom: answer=2 kernel_ns=5\n", &same).is_err());
        assert!(check("y\nfathom: answer=1 kernel_ns=5\n", &same).is_err());
    }

    #[test]
    fn a_text_is_compared_line_by_line() {
        let right = Expected::Text("one\ntwo\n".to_owned());
        assert_eq!(check("one\ntwo", &right), Ok(None));
        for (printed, why) in [
            ("one\n2\n", "line 2 is `2` instead of `two`"),
            ("one\n", "line 2 is nothing instead of `two`"),
            ("one\ntwo\nthree\n", "line 3 is `three` instead of nothing"),
        ] {
            assert_eq!(check(printed, &right).unwrap_err(), why);
        }
    }

    #[test]
    fn a_missing_file_is_a_failure_in_words() {
        let why = check_output(Path::new("/no/such"), &Expected::Answer("0".into()));
        assert!(why.unwrap_err().starts_with("its output cannot be read"));
    }
}
