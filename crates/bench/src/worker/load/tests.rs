//! A server of threads under a generator of shell, and what oha says.

use std::{os::unix::fs::PermissionsExt, path::PathBuf, sync::Mutex};

use fathom_sys::usage::thread_cpu_ns;

use super::*;

/// What oha prints of a load without a failure.
const OUTPUT: &str = r#"{"summary":{"total":2.0,"slowest":0.25,"successRate":1.0},
    "latencyPercentiles":{"p50":0.001,"p90":0.0015,"p99":0.002,"p99.9":0.125,"p99.99":null},
    "statusCodeDistribution":{"200":1000},"errorDistribution":{"aborted due to deadline":7}}"#;

#[test]
fn what_oha_counts_is_read() {
    let seen = oha::read(OUTPUT.as_bytes()).unwrap();
    assert_eq!((seen.answers, seen.per_second), (1000, 500.0));
    assert_eq!((seen.p50_ns, seen.p90_ns), (1_000_000, 1_500_000));
    assert_eq!((seen.p999_ns, seen.max_ns), (125_000_000, 250_000_000));
    assert_eq!(seen.verdict(), NO_FAILURE);
    assert!(oha::read(b"{}").is_err());
}

#[test]
fn requests_that_fail_are_told_of() {
    let failing = OUTPUT
        .replace(r#""200":1000"#, r#""200":1000,"404":3"#)
        .replace("deadline\":7", "deadline\":7,\"connection refused\":2");
    let seen = oha::read(failing.as_bytes()).unwrap();
    assert_eq!(seen.answers, 1000);
    assert_eq!(
        seen.verdict(),
        "5 of 1005 requests failed: 2 × connection refused, 3 × status 404"
    );
    // A server that answers nothing answers nothing wrong.
    let silent = OUTPUT.replace(r#""200":1000"#, "");
    let seen = oha::read(silent.as_bytes()).unwrap();
    assert_ne!(seen.verdict(), NO_FAILURE);
}

/// A server that ends at `/quit`, or after so many answers, and works for each answer.
struct Server {
    listener: TcpListener,
    answers_max: usize,
    work_ns: u64,
}

impl Program for Server {
    type World = ();
    type Instance = ();
    type Error = Refusal;

    fn enter(&self, _: Streams) -> Result<(), Refusal> {
        Ok(())
    }

    fn instantiate(&self, (): ()) -> Result<(), Refusal> {
        Ok(())
    }

    fn run(&self, (): &mut ()) -> Result<RunEnd, Refusal> {
        self.listener.set_nonblocking(false).unwrap();
        for stream in self.listener.incoming().take(self.answers_max) {
            let mut stream = stream.unwrap();
            // A request may come in pieces.
            let mut text = Vec::new();
            while !text.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                text.extend(byte);
            }
            let start = thread_cpu_ns();
            while thread_cpu_ns() - start < self.work_ns {}
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
            if text.starts_with(b"GET /quit ") {
                break;
            }
        }
        Ok(RunEnd {
            exit: 0,
            cpu_ns: None,
        })
    }

    fn teardown(&self, (): ()) {}
}

/// A server driven by a script once: what came of it, what was printed, and what was told.
fn driven(script: &str, answers_max: usize) -> (Result<RunEnd, Refusal>, String, Vec<Event>) {
    driven_working(script, answers_max, 0)
}

/// The same by a server that works for so long for each answer.
fn driven_working(
    script: &str,
    answers_max: usize,
    work_ns: u64,
) -> (Result<RunEnd, Refusal>, String, Vec<Event>) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let text = format!(
        "#!/bin/sh\necho \"$@\" > {}/words\n{script}\n",
        folder.path().display()
    );
    fs::write(at("oha"), text).unwrap();
    fs::set_permissions(at("oha"), fs::Permissions::from_mode(0o755)).unwrap();
    let load = load(at("oha"));
    let listener = listener().unwrap();
    let address = address(&listener).unwrap();
    let told = Mutex::new(Vec::new());
    let tell = |event: &Event| {
        told.lock().unwrap().push(event.clone());
        Ok(())
    };
    let server = Server {
        listener,
        answers_max,
        work_ns,
    };
    let clock = |(): &()| Ok(CpuClock::of_this_thread());
    let program = Driven::new(server, &load, address, folder.path(), clock, &tell);
    let streams = Streams {
        stdin: None,
        stdout: File::create(at("stdout")).unwrap(),
        stderr: File::create(at("stderr")).unwrap(),
    };
    let mut instance = program
        .instantiate(program.enter(streams).unwrap())
        .unwrap();
    let end = program.run(&mut instance);
    program.teardown(instance);
    let words = fs::read_to_string(at("words")).unwrap_or_default();
    assert!(
        words.is_empty() || words.ends_with(&format!(" http://{address}/\n")),
        "{words}"
    );
    assert!(words.is_empty() || words.contains("-c 10 -z 1s -q 500 --latency-correction"));
    let printed = fs::read_to_string(at("stdout")).unwrap();
    (end, printed, told.into_inner().unwrap())
}

fn load(generator: PathBuf) -> Load {
    Load {
        generator,
        connections: 10,
        rate: Some(500),
        seconds: 1,
        cpus: Vec::new(),
    }
}

#[test]
fn a_server_is_driven_told_to_quit_and_judged() {
    let (end, printed, told) = driven(&format!("cat <<'END'\n{OUTPUT}\nEND"), usize::MAX);
    assert_eq!(end.unwrap().exit, 0);
    assert_eq!(printed, format!("{NO_FAILURE}\n"));
    let [Event::Process { metrics }] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert_eq!(metrics[&Metric::AnswersPerS], 500);
    assert_eq!(metrics[&Metric::LatencyP99Ns], 2_000_000);
}

#[test]
fn processor_time_is_the_servers_while_it_is_driven_for_each_answer() {
    // Four requests by a generator that works itself: what is in front of the load and behind
    // it, an answer each, is not counted, and nor is the generator.
    let script = format!(
        "python3 - \"$@\" <<'PY'\nimport socket, sys, time\n\
         host, port = sys.argv[-1][7:-1].split(':')\n\
         for _ in range(4):\n\
         \x20   s = socket.create_connection((host, int(port)))\n\
         \x20   s.sendall(b'GET / HTTP/1.1\\r\\n\\r\\n')\n\
         \x20   while s.recv(100): pass\n\
         end = time.process_time() + 0.2\n\
         while time.process_time() < end: pass\nPY\ncat <<'END'\n{}\nEND",
        OUTPUT.replace(r#""200":1000"#, r#""200":4"#)
    );
    let (end, _, told) = driven_working(&script, usize::MAX, 50_000_000);
    assert_eq!(end.unwrap().exit, 0);
    let [Event::Process { metrics }] = told.as_slice() else {
        panic!("{told:?}");
    };
    let used = metrics[&Metric::AnswerUserNs] + metrics[&Metric::AnswerSystemNs];
    assert!((50_000_000..70_000_000).contains(&used), "{metrics:?}");
}

#[test]
fn a_generator_that_fails_leaves_no_server_behind() {
    for (script, why) in [
        ("echo 'bad flag' >&2; exit 2", "bad flag"),
        ("echo nonsense", "what oha says cannot be read"),
    ] {
        // The server's thread is this one: it has ended, or this would wait for ever.
        let (end, printed, told) = driven(script, usize::MAX);
        let error = end.unwrap_err();
        assert!(error.message.contains(why), "{error}");
        assert_eq!((printed, told), (String::new(), Vec::new()));
    }
}

#[test]
fn a_server_that_ends_early_ends_the_generator() {
    let start = Instant::now();
    // One answer: that it is there.
    let (end, _, told) = driven("exec sleep 300", 1);
    let error = end.unwrap_err();
    assert!(
        error.message.contains("ended before it was told to"),
        "{error}"
    );
    assert_eq!((error.kind, told), (FailureKind::Exit, Vec::new()));
    assert!(start.elapsed() < Duration::from_secs(10));
}
