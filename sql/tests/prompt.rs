//! The prompt on a terminal, which script(1) of Debian's bsdutils makes.

use std::{
    io::{Read, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

const PATIENCE: Duration = Duration::from_secs(60);

/// A program at a terminal.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    shown: Receiver<Vec<u8>>,
    /// What was shown behind what was waited for last.
    rest: String,
}

impl Terminal {
    /// None without script(1).
    fn new(state: &Path) -> Option<Terminal> {
        let started = Command::new("script")
            .args(["-qec", env!("CARGO_BIN_EXE_fathom-sql"), "/dev/null"])
            .env("TERM", "xterm")
            .env("XDG_STATE_HOME", state)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = started else {
            eprintln!("SKIPPED: no script(1)");
            return None;
        };
        let mut output = child.stdout.take().unwrap();
        let (sender, shown) = channel();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Some(Terminal {
            keys: child.stdin.take().unwrap(),
            child,
            shown,
            rest: String::new(),
        })
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits until this is shown.
    fn expect(&mut self, text: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.rest.find(text) {
                self.rest.drain(..at + text.len());
                return;
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.shown.recv_timeout(left) {
                Ok(bytes) => self.rest.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("no `{text}` in `{}`", self.rest),
            }
        }
    }

    /// Waits for a prompt, and writes a line there.
    fn line(&mut self, prompt: &str, keys: &str) {
        self.expect(prompt);
        // The prompt is shown before the terminal is read from key by key.
        thread::sleep(Duration::from_millis(100));
        self.press(keys);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It has ended, unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn lines_are_written_completed_kept_and_abandoned() {
    let state = tempfile::tempdir().unwrap();
    let Some(mut terminal) = Terminal::new(state.path()) else {
        return;
    };
    terminal.line("sql> ", "SELECT 20 + 22 AS a;\r");
    terminal.expect("| 42 |");
    // A statement goes on until it ends in a semicolon.
    terminal.line("sql> ", "SELECT 3 *\r");
    terminal.line("...> ", "14 + 1 AS b;\r");
    terminal.expect("| 43 |");
    // One in a string ends none, and a line may have several.
    terminal.line("sql> ", "SELECT 'a;\r");
    terminal.line("...> ", "DROP TABLE t;\r");
    terminal.line("...> ", "' AS s, 40 + 7 AS e; SELECT 48 AS f; -- all\r");
    terminal.expect("| 47 |");
    terminal.expect("| 48 |");
    // What is abandoned is not part of the next.
    terminal.line("sql> ", "SELECT nonsense\r");
    terminal.line("...> ", "and more\x03");
    terminal.line("sql> ", "SELECT 44 AS c;\r");
    terminal.expect("| 44 |");
    // One that fails says so in a line, and the next works.
    terminal.line("sql> ", "SELECT * FROM nowhere;\r");
    terminal.expect("fathom-sql: there is no table or file `nowhere`");
    terminal.line("sql> ", "CREATE TABLE unmistakable AS SELECT 45 AS x;\r");
    terminal.line("sql> ", "SELECT x FROM unmis\t;\r");
    terminal.expect("| 45 |");
    // Upwards is the last statement.
    terminal.line("sql> ", "\x1b[A\r");
    terminal.expect("| 45 |");
    // A query that takes long is left.
    terminal.line(
        "sql> ",
        "SELECT count(*) FROM generate_series(1, 1000000000000) t(v) WHERE v % 2 = 3;\r",
    );
    // Keys are read one by one no more: the query runs, or is about to.
    terminal.expect("\x1b[?2004l");
    thread::sleep(Duration::from_millis(500));
    terminal.press("\x03");
    terminal.expect("fathom-sql: interrupted");
    terminal.line("sql> ", "SELECT 46 AS d;\r");
    terminal.expect("| 46 |");
    terminal.line("sql> ", "\x04");
    let ended = terminal.child.wait().unwrap();
    assert!(!ended.success(), "two statements failed");
    let history = std::fs::read_to_string(state.path().join("fathom/sql-history")).unwrap();
    assert!(history.contains("SELECT 20 + 22 AS a;"), "{history}");
    assert!(history.contains("SELECT x FROM unmistakable;"), "{history}");
    assert!(!history.contains("nonsense"), "{history}");
    // Another one knows what the first has run.
    let mut next = Terminal::new(state.path()).unwrap();
    next.line("sql> ", "\x1b[A\r");
    next.expect("| 46 |");
    next.line("sql> ", "\x04");
    assert!(next.child.wait().unwrap().success());
}
