//! From what a child left behind to a conversation or a failure.

use fathom_record::{FailureKind, Phase, protocol::Event};
use fathom_sys::usage::Ended;

use super::{Conversation, DriveError, child::Remains, family::End, one_line};

/// Reads the events a child wrote, in the light of how it ended.
pub(super) fn understand(remains: &Remains, limit_text: &str) -> Result<Conversation, DriveError> {
    let (conversation, finish) = replay(&remains.events);
    match (&remains.end, finish) {
        (End::Cancelled, _) => Err(DriveError::Stopped),
        // An engine's own words are worth more than the status it left with.
        (_, Finish::Error { kind, message }) => Err(DriveError::failed(kind, message)),
        (End::TimedOut, _) => Err(DriveError::failed(
            FailureKind::Timeout,
            format!(
                "did not end within {limit_text}{}: `--time-limit` gives it longer",
                reached(&conversation)
            ),
        )),
        (End::Flooded, _) => Err(DriveError::failed(
            FailureKind::Protocol,
            "wrote more events than any runner should and was ended",
        )),
        (End::Own(_), Finish::Garbled { line, why }) => Err(DriveError::failed(
            FailureKind::Protocol,
            format!("event {line} is not understood: {why}"),
        )),
        (End::Own(Ended::Exited(0)), Finish::Done) => Ok(conversation),
        (End::Own(Ended::Signalled(signal)), _) => Err(DriveError::failed(
            FailureKind::Crash,
            format!(
                "crashed with {}{}{}",
                signal_name(*signal),
                reached(&conversation),
                last_words(remains)
            ),
        )),
        (End::Own(Ended::Exited(status)), Finish::Done) => Err(DriveError::failed(
            FailureKind::Protocol,
            format!(
                "said it was done, but ended with status {status}{}",
                last_words(remains)
            ),
        )),
        (End::Own(Ended::Exited(status)), Finish::Nothing) => Err(DriveError::failed(
            if *status == 0 {
                FailureKind::Protocol
            } else {
                FailureKind::Crash
            },
            format!(
                "ended with status {status} without a result{}",
                last_words(remains)
            ),
        )),
    }
}

/// How a stream of events ends.
enum Finish {
    Done,
    Error { kind: FailureKind, message: String },
    Garbled { line: usize, why: String },
    Nothing,
}

fn replay(events: &[u8]) -> (Conversation, Finish) {
    let mut conversation = Conversation::default();
    let lines = events.split_inclusive(|&byte| byte == b'\n');
    for (number, line) in lines.enumerate() {
        // Part of a line is what a killed or crashed child leaves.
        if !line.ends_with(b"\n") {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        match Event::parse(line) {
            Ok(Event::Done) => return (conversation, Finish::Done),
            Ok(Event::Error { kind, message }) => {
                return (conversation, Finish::Error { kind, message });
            }
            Ok(event) => take(&mut conversation, event),
            Err(error) => {
                let why = one_line(&error.to_string());
                return (
                    conversation,
                    Finish::Garbled {
                        line: number + 1,
                        why,
                    },
                );
            }
        }
    }
    (conversation, Finish::Nothing)
}

fn take(conversation: &mut Conversation, event: Event) {
    match event {
        Event::Hello(hello) => conversation.hello = Some(hello),
        Event::Phase { phase, span } => {
            conversation.phases.insert(phase, span);
        }
        Event::Iteration(iteration) => conversation.iterations.push(iteration),
        Event::Call { index, outcome } => {
            conversation.calls.insert(index, outcome);
        }
        Event::Process { metrics } => conversation.metrics.extend(metrics),
        // These end the stream, in `replay`.
        Event::Error { .. } | Event::Done => {}
    }
}

/// How far it got, for someone who wonders where it hangs.
fn reached(conversation: &Conversation) -> String {
    let last = conversation.iterations.last();
    match (last, conversation.phases.keys().last(), &conversation.hello) {
        (Some(last), _, _) => format!(" (after iteration {})", last.index),
        (None, Some(Phase::Load), _) => " (while the module was compiled)".into(),
        (None, Some(_), _) => " (in the first iteration)".into(),
        (None, None, Some(_)) => " (before the module was loaded)".into(),
        (None, None, None) => " (before it said hello)".into(),
    }
}

/// The last line it printed, on stderr by preference, but for those that are set in: the frames
/// of a backtrace stand below what went wrong.
fn last_words(remains: &Remains) -> String {
    [&remains.stderr_tail, &remains.stdout_tail]
        .into_iter()
        .find_map(|tail| {
            let text = String::from_utf8_lossy(tail);
            let mut lines = text.lines().rev().filter(|line| !line.trim().is_empty());
            let last = lines.clone().next()?;
            let line = lines.find(|line| !line.starts_with(char::is_whitespace));
            let line = line.unwrap_or(last);
            Some(format!(": {}", one_line(line)))
        })
        .unwrap_or_default()
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        4 => "illegal instruction",
        6 => "abort",
        7 => "bus error",
        8 => "arithmetic exception",
        9 => "kill (out of memory?)",
        11 => "segmentation fault",
        15 => "termination",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal}, {name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_sys::usage::Usage;

    fn failure(events: &str, end: End) -> (FailureKind, String) {
        failure_saying(events, end, "first\nlast words\n")
    }

    fn failure_saying(events: &str, end: End, stderr: &str) -> (FailureKind, String) {
        let remains = Remains {
            end,
            events: events.as_bytes().to_vec(),
            stdout_tail: Vec::new(),
            stderr_tail: stderr.as_bytes().to_vec(),
            usage: Usage::default(),
        };
        match understand(&remains, "2 s") {
            Err(DriveError::Failed { kind, message }) => (kind, message),
            other => panic!("{other:?}"),
        }
    }

    const HELLO: &str = "{\"event\":\"hello\",\"engine\":\"x\"}\n";
    const LOADED: &str = "{\"event\":\"phase\",\"phase\":\"load\",\"wall_ns\":1,\"cpu_ns\":1}\n";

    #[test]
    fn an_engines_own_words_come_first() {
        let said = "{\"event\":\"error\",\"kind\":\"link\",\"message\":\"no\\nimport\"}\n";
        for end in [
            End::Own(Ended::Exited(1)),
            End::TimedOut,
            End::Own(Ended::Signalled(6)),
        ] {
            assert_eq!(failure(said, end), (FailureKind::Link, "no import".into()));
        }
    }

    #[test]
    fn a_hang_says_how_far_it_got() {
        let (kind, message) = failure(&format!("{HELLO}{LOADED}"), End::TimedOut);
        assert_eq!(kind, FailureKind::Timeout);
        assert_eq!(
            message,
            "did not end within 2 s (while the module was compiled): `--time-limit` gives it longer"
        );
        let compiled = LOADED.replace("load", "compile");
        let (_, message) = failure(&format!("{HELLO}{LOADED}{compiled}"), End::TimedOut);
        assert!(message.contains("(in the first iteration)"), "{message}");
        for (events, place) in [
            (HELLO, "(before the module was loaded)"),
            ("", "(before it said hello)"),
        ] {
            let (_, message) = failure(events, End::TimedOut);
            assert!(message.contains(place), "{message}");
        }
    }

    #[test]
    fn a_crash_names_its_signal_and_last_words() {
        let (kind, message) = failure(HELLO, End::Own(Ended::Signalled(11)));
        assert_eq!(kind, FailureKind::Crash);
        assert!(message.contains("segmentation fault") && message.ends_with(": last words"));
        let (kind, message) = failure(HELLO, End::Own(Ended::Exited(3)));
        assert_eq!(kind, FailureKind::Crash);
        assert_eq!(message, "ended with status 3 without a result: last words");
        // A backtrace stands below what went wrong.
        let said = "first\nx: trap: y\n    0: f\n    1: g\n\n";
        let (_, message) = failure_saying(HELLO, End::Own(Ended::Exited(134)), said);
        assert!(message.ends_with(": x: trap: y"), "{message}");
        let (_, message) = failure_saying(HELLO, End::Own(Ended::Exited(3)), "  all\n  set in\n");
        assert!(message.ends_with(": set in"), "{message}");
    }

    #[test]
    fn garbage_and_silence_are_failures_of_the_protocol() {
        let ended = End::Own(Ended::Exited(0));
        let (kind, message) = failure(&format!("{HELLO}hello?\n"), ended);
        assert_eq!(kind, FailureKind::Protocol);
        assert!(
            message.starts_with("event 2 is not understood: "),
            "{message}"
        );
        assert_eq!(
            failure("{\"event\":\"song\"}\n", ended).0,
            FailureKind::Protocol
        );
        assert_eq!(failure(HELLO, ended).0, FailureKind::Protocol);
        assert_eq!(
            failure("{\"event\":\"done\"}\n", End::Own(Ended::Exited(9))).0,
            FailureKind::Protocol
        );
        assert_eq!(failure(HELLO, End::Flooded).0, FailureKind::Protocol);
    }

    #[test]
    fn messages_are_one_line_of_bounded_length() {
        assert_eq!(one_line(" a\n\tb\u{1b}[0m "), "a b�[0m");
        assert_eq!(one_line(&"é".repeat(1000)).chars().count(), 401);
    }
}
