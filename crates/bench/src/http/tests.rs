//! Rates, and what oha says.

use super::*;

fn run(per_second: f64) -> LoadRun {
    let server = Server {
        build: Variant::Native,
        program: PathBuf::new(),
    };
    LoadRun {
        per_second,
        ..nothing(&server, 0, None)
    }
}

#[test]
fn another_server_is_the_first_in_each_round() {
    let turns = |round| turns(3, round).collect::<Vec<_>>();
    assert_eq!([0, 1, 5].map(turns), [[0, 1, 2], [1, 2, 0], [2, 0, 1]]);
    assert_eq!(super::turns(0, 1).count(), 0);
}

#[test]
fn rates_are_the_talks_where_every_server_takes_more() {
    assert_eq!(rates(&[run(100_000.0), run(95_000.0)]), RATES.map(Some));
    let parts = rates(&[run(100_000.0), run(20_050.0)]);
    assert_eq!(parts, [Some(10_000), Some(14_000), Some(18_000)]);
    let broken = LoadRun {
        trouble: Some("gone".to_owned()),
        ..run(0.0)
    };
    assert_eq!(
        rates(&[broken.clone(), run(10_000.0)]),
        rates(&[run(10_000.0)])
    );
    assert_eq!(rates(&[broken]), []);
}

#[test]
fn what_oha_counts_is_read() {
    let text = br#"{"summary":{"total":2.0,"slowest":0.25,"successRate":1.0},
        "latencyPercentiles":{"p50":0.001,"p99":0.002,"p99.9":0.125,"p99.99":null},
        "statusCodeDistribution":{"200":1000,"404":3},
        "errorDistribution":{"aborted due to deadline":7,"connection refused":2}}"#;
    let seen = oha::read(text).unwrap();
    assert_eq!((seen.requests, seen.failed), (1000, 5));
    assert_eq!(
        (seen.per_second, seen.p999_ns, seen.max_ns),
        (500.0, 125_000_000, 250_000_000)
    );
    assert!(oha::read(b"{}").is_err());
}

#[test]
fn a_server_is_asked_and_told_to_quit() {
    // One that answers twice and ends; the process stands for the server's.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answers = std::thread::spawn(move || {
        for stream in listener.incoming().take(2) {
            let mut stream = stream.unwrap();
            // A request may come in pieces.
            let mut text = Vec::new();
            while !text.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                text.extend(byte);
            }
            assert!(text.starts_with(b"GET /"));
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        }
    });
    let running = Family::start(Command::new("sleep").arg("0.2"), None).unwrap();
    ready(&running, address).unwrap();
    assert!(peak_bytes(running.id()).is_some_and(|bytes| bytes > 0));
    end(running, address).unwrap();
    answers.join().unwrap();
    let gone = Family::start(&mut Command::new("false"), None).unwrap();
    let error = ready(&gone, address).unwrap_err();
    assert!(error.to_string().contains("ended at once"), "{error}");
}
