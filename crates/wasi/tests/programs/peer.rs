//! Other engines, asked through their runners in `engines/` (one line of JSON
//! in, lines of JSON out of the descriptor named by `FATHOM_EVENTS_FD`).

use super::Place;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longest time a program may take there.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Peer {
    pub name: &'static str,
    /// The command that starts its runner, relative to the project's root.
    command: &'static [&'static str],
    /// What must be there for it.
    needs: &'static str,
}

pub const ALL: [Peer; 2] = [
    Peer {
        name: "wasmtime",
        command: &[".tools/engines/wasmtime/runner"],
        needs: ".tools/engines/wasmtime/runner",
    },
    Peer {
        name: "node",
        command: &["node", "engines/node/runner.mjs"],
        needs: "engines/node/runner.mjs",
    },
];

impl Peer {
    /// What the program prints there, and how it ended; the error says why it
    /// could not be run.
    pub fn run(
        &self,
        root: &Path,
        wasm: &Path,
        place: &Place,
        args: &[&str],
        env: &[(&str, &str)],
    ) -> Result<String, String> {
        if !root.join(self.needs).exists() {
            return Err(format!(
                "no {}: fathom engines install {}",
                self.needs, self.name
            ));
        }
        let request = json!({
            "protocol": 1, "mode": "measure", "module": wasm, "args": args, "env": env,
            "dirs": [[place.root(), "/"]], "stdin": place.stdin, "strategy": "guard",
            "opt": "speed", "backend": null, "threads": 1, "cpus": [0], "warmup": 0,
            "iterations": 1, "scratch": place.temp.path(), "seed": 7, "cache": null,
            "unsafe_no_bounds": false,
        });
        let events = self.ask(root, place, &request)?;
        let find = |kind: &str| events.iter().find(|event| event["event"] == kind);
        if let Some(done) = find("iteration") {
            let path = done["stdout"].as_str().unwrap_or_default();
            let text = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
            let text = String::from_utf8_lossy(&text).into_owned();
            return Ok(format!("{text}\nexit {}\n", done["exit"]));
        }
        match find("error") {
            Some(error) => Ok(format!("\nerror: {}\n", error["message"])),
            None => Err("its runner said nothing".to_owned()),
        }
    }

    fn ask(&self, root: &Path, place: &Place, request: &Value) -> Result<Vec<Value>, String> {
        // A file takes the place of a pipe: it has no reader to keep alive,
        // and the shell opens it as the descriptor that the runner is told.
        let events = place.temp.path().join("events");
        let script = format!("exec 3>'{}'; exec \"$@\"", events.display());
        let mut child = Command::new("sh")
            .args(["-c", &script, "sh"])
            .args(self.command)
            .current_dir(root)
            .env("FATHOM_EVENTS_FD", "3")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", self.name))?;
        let mut stdin = child.stdin.take().expect("a piped stream");
        // A runner that is gone already is found out below.
        let _ = writeln!(stdin, "{request}");
        drop(stdin);
        let start = Instant::now();
        while child
            .try_wait()
            .map_err(|error| error.to_string())?
            .is_none()
        {
            if start.elapsed() > PATIENCE {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("no end after {} s", PATIENCE.as_secs()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let text = std::fs::read_to_string(&events).map_err(|error| error.to_string())?;
        Ok(text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect())
    }
}
