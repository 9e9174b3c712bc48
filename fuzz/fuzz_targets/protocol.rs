//! Any line for both sides of the runner protocol; what parses is written as a
//! line that parses to the same.
#![no_main]

use fathom_record::protocol::{Event, Request};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(request) = Request::parse(bytes) {
        let again = Request::parse(request.to_line().as_bytes()).expect("our own request");
        assert_eq!(again.to_line(), request.to_line());
    }
    if let Ok(event) = Event::parse(bytes) {
        let again = Event::parse(event.to_line().as_bytes()).expect("our own event");
        assert_eq!(again.to_line(), event.to_line());
    }
});
