//! Requests and events: the documented lines, round trips, bad input.

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::vocabulary::Opt;

#[test]
fn a_request_of_the_documented_shape_is_read() {
    let line = br#"{"protocol":1,"mode":"measure","module":"/abs/x.wasm","args":["a"],"env":[["K","V"]],
        "dirs":[["/host","/guest"]],"stdin":null,"strategy":"guard","opt":"speed","backend":null,"threads":1,
        "cpus":[0],"warmup":1,"iterations":3,"scratch":"/dev/shm/fathom","seed":7,"cache":null,"unsafe_no_bounds":false}"#;
    let request = Request::parse(line).unwrap();
    let Job::Measure(measure) = &request.job else {
        panic!("{request:?}")
    };
    assert_eq!(
        measure.dirs,
        [(PathBuf::from("/host"), "/guest".to_owned())]
    );
    assert_eq!(
        (measure.seed, measure.iterations, measure.settings.opt()),
        (7, 3, Opt::Speed)
    );
    assert_eq!(
        Request::parse(request.to_line().as_bytes()).unwrap(),
        request
    );
}

#[test]
fn a_probe_needs_no_more_than_module_strategy_and_calls() {
    let line = br#"{"protocol":1,"mode":"probe","module":"/x","strategy":"trap","calls":[{"export":"f","args":["i32:65532"]}]}"#;
    let request = Request::parse(line).unwrap();
    let Job::Probe(probe) = request.job else {
        panic!("not a probe")
    };
    assert_eq!(probe.module, Path::new("/x"));
    assert_eq!(probe.calls[0].args, ["i32:65532"]);
}

#[test]
fn another_version_is_refused_by_its_number_whatever_it_holds() {
    let error = Request::parse(br#"{"protocol":2,"mode":"dance"}"#).unwrap_err();
    assert_eq!(
        error.to_string(),
        "protocol version 2 is not spoken here (version 1 is)"
    );
}

#[test]
fn events_of_the_documented_shape_are_read() {
    let lines = [
        r#"{"event":"hello","engine":"wasmtime","version":"48.0.8","backend":"cranelift","tier":"optimising","checks":"guard pages","evidence":"told"}"#,
        r#"{"event":"phase","phase":"load","wall_ns":1,"cpu_ns":1}"#,
        r#"{"event":"iteration","thread":0,"index":0,"counted":false,"phases":{"instantiate":{"wall_ns":1,"cpu_ns":1},"run":{"wall_ns":18446744073709551615},"teardown":{"wall_ns":0}},"exit":0,"stdout":"/path"}"#,
        r#"{"event":"call","index":0,"result":["i32:5"]}"#,
        r#"{"event":"call","index":1,"trap":"out of bounds memory access"}"#,
        r#"{"event":"process","metrics":{"faults_minor":1,"rss_peak_bytes":1}}"#,
        r#"{"event":"error","kind":"trap","message":"one line"}"#,
        r#"{"event":"done"}"#,
    ];
    for line in lines {
        let event = Event::parse(line.as_bytes()).unwrap();
        assert_eq!(event.to_line().trim_end(), line);
    }
}

#[test]
fn what_a_runner_leaves_out_is_unknown() {
    let Event::Hello(hello) = Event::parse(br#"{"event":"hello","engine":"x"}"#).unwrap() else {
        panic!()
    };
    assert_eq!(
        (hello.checks, hello.tier.as_str(), hello.evidence.as_str()),
        (Checks::Unknown, "unknown", "unknown")
    );
}

#[test]
fn both_readings_of_an_integer_are_understood() {
    assert_eq!("i32:-1".parse(), Ok(WireValue::I32(u32::MAX)));
    assert_eq!("i32:4294967295".parse(), Ok(WireValue::I32(u32::MAX)));
    assert_eq!(
        "i64:0xffffffffffffffff".parse(),
        Ok(WireValue::I64(u64::MAX))
    );
    for bad in [
        "",
        "i32",
        "i32:",
        "i32:4294967296",
        "i32:-2147483649",
        "f32:1.5",
        "f32:0x",
        "v128:7",
        "f32:0x+1",
        "x:1",
    ] {
        assert!(bad.parse::<WireValue>().is_err(), "{bad}");
    }
}

fn any_value() -> impl Strategy<Value = WireValue> {
    prop_oneof![
        any::<u32>().prop_map(WireValue::I32),
        any::<u64>().prop_map(WireValue::I64),
        any::<u32>().prop_map(WireValue::F32),
        any::<u64>().prop_map(WireValue::F64),
        any::<u128>().prop_map(WireValue::V128),
    ]
}

proptest! {
    #[test]
    fn values_survive_their_text(value in any_value()) {
        prop_assert_eq!(value.to_string().parse(), Ok(value));
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in "\\PC{0,40}") {
        let _ = Request::parse(&bytes);
        let _ = Event::parse(&bytes);
        let _ = text.parse::<WireValue>();
    }
}
