//! `fathom doctor`: what this machine can and cannot do, and what to do about
//! it.
//!
//! A [`Finding`] is one line: whether, what was seen, and a remedy where one
//! is needed. Everything is found by trying; what is missing is said, and
//! nothing here is needed by the commands themselves: each reports its own
//! absence again where it meets it.

mod host;
mod tools;

use std::io::IsTerminal;
use std::process::ExitCode;

use fathom_report::json::FORMAT;
use serde::Serialize;

use crate::invocation::Invocation;
use crate::report::print;

/// What `doctor` takes.
#[derive(clap::Args)]
pub struct Args {
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// Whether something is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// Yes.
    Yes,
    /// Yes, but figures or features suffer.
    Partly,
    /// No.
    No,
}

impl State {
    fn sign(self) -> char {
        match self {
            State::Yes => '✓',
            State::Partly => '!',
            State::No => '✗',
        }
    }

    fn colour(self) -> &'static str {
        match self {
            State::Yes => "\x1b[32m",
            State::Partly => "\x1b[33m",
            State::No => "\x1b[31m",
        }
    }
}

/// One line of the answer.
#[derive(Clone, Debug, Serialize)]
struct Finding {
    area: &'static str,
    name: String,
    state: State,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Finding {
    fn yes(area: &'static str, name: &str, detail: impl Into<String>) -> Finding {
        Finding {
            area,
            name: name.to_owned(),
            state: State::Yes,
            detail: detail.into(),
            remedy: None,
        }
    }

    fn partly(area: &'static str, name: &str, detail: impl Into<String>, remedy: &str) -> Finding {
        Finding {
            state: State::Partly,
            remedy: Some(remedy.to_owned()),
            ..Finding::yes(area, name, detail)
        }
    }

    fn no(area: &'static str, name: &str, detail: impl Into<String>, remedy: &str) -> Finding {
        Finding {
            state: State::No,
            ..Finding::partly(area, name, detail, remedy)
        }
    }

    /// From something tried: a value means yes, a reason means no.
    fn tried(
        area: &'static str,
        name: &str,
        outcome: Result<String, String>,
        remedy: &str,
    ) -> Finding {
        match outcome {
            Ok(detail) => Finding::yes(area, name, detail),
            Err(why) => Finding::no(area, name, why, remedy),
        }
    }
}

/// Look at the machine and print. What is missing is no failure of the
/// doctor's: the status is 0.
///
/// # Errors
/// Where the output cannot be written.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let mut findings = host::findings();
    findings.extend(tools::findings(invocation.home()?));
    let text = if args.json {
        let mut text = serde_json::to_string_pretty(&Answer {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION"),
            findings: &findings,
        })?;
        text.push('\n');
        text
    } else {
        render(&findings, std::io::stdout().is_terminal())
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Answer<'a> {
    format: u32,
    version: &'static str,
    findings: &'a [Finding],
}

fn render(findings: &[Finding], colours: bool) -> String {
    let width = findings
        .iter()
        .map(|f| f.name.chars().count())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    let mut area = "";
    for finding in findings {
        if finding.area != area {
            area = finding.area;
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(area);
            text.push('\n');
        }
        let sign = finding.state.sign();
        let sign = match colours {
            true => format!("{}{sign}\x1b[0m", finding.state.colour()),
            false => sign.to_string(),
        };
        text.push_str(&format!(
            "  {sign} {:width$}  {}\n",
            finding.name, finding.detail
        ));
        if let Some(remedy) = &finding.remedy {
            text.push_str(&format!("    {:width$}  → {remedy}\n", ""));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_a_line_and_its_remedy_another() {
        let findings = [
            Finding::yes("machine", "cores", "2"),
            Finding::no("machine", "counters", "none", "use a machine that has some"),
        ];
        assert_eq!(
            render(&findings, false),
            "machine\n  ✓ cores     2\n  ✗ counters  none\n              → use a machine that has some\n"
        );
    }

    #[test]
    fn everything_missing_comes_with_a_remedy() {
        for finding in host::findings().into_iter().chain(tools::findings(None)) {
            assert!(!finding.detail.contains('\n'), "{finding:?}");
            assert_eq!(
                finding.remedy.is_none(),
                finding.state == State::Yes,
                "{finding:?}"
            );
        }
    }
}
