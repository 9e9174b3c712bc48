//! The line by which a workload tells its answer and its kernel's time.
//!
//! `fathom: answer=<hex> kernel_ns=<n>`, the last line of its standard output
//! that begins with `fathom:`.

/// What a workload said of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The answer in lower-case hexadecimal digits, as printed.
    pub answer: String,
    /// Nanoseconds of the kernel by the workload's own clock.
    pub kernel_ns: u64,
}

const PREFIX: &str = "fathom:";

impl Answer {
    /// Finds the answer in a workload's standard output. `None` if its last
    /// `fathom:` line is missing or malformed, or an answer is not hexadecimal.
    pub fn find(stdout: &[u8]) -> Option<Answer> {
        let line = stdout
            .rsplit(|byte| *byte == b'\n')
            .find(|line| line.starts_with(PREFIX.as_bytes()))?;
        Answer::parse(std::str::from_utf8(line).ok()?)
    }

    /// Reads one line.
    pub fn parse(line: &str) -> Option<Answer> {
        let mut answer = None;
        let mut kernel_ns = None;
        for field in line.trim().strip_prefix(PREFIX)?.split_whitespace() {
            match field.split_once('=')? {
                ("answer", value) => answer = Some(value.to_ascii_lowercase()),
                ("kernel_ns", value) => kernel_ns = Some(value.parse().ok()?),
                // A later workload may say more; what it adds is not ours to judge.
                _ => {}
            }
        }
        let answer: String = answer?;
        let is_hex = !answer.is_empty() && answer.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then_some(Answer {
            answer,
            kernel_ns: kernel_ns?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts() {
        let found = Answer::find(
            b"fathom: answer=00 kernel_ns=1\nnoise\nfathom: answer=dEAd kernel_ns=42\n",
        );
        assert_eq!(
            found,
            Some(Answer {
                answer: "dead".to_owned(),
                kernel_ns: 42
            })
        );
    }

    #[test]
    fn malformed_lines_have_no_answer() {
        for line in [
            "",
            "fathom:",
            "fathom: answer=xyz kernel_ns=1",
            "fathom: answer=ab",
            "fathom: answer= kernel_ns=1",
            "fathom: answer=ab kernel_ns=-1",
            "answer=ab kernel_ns=1",
            "fathom: answer=ab kernel_ns",
        ] {
            assert_eq!(Answer::find(line.as_bytes()), None, "{line}");
        }
    }
}
