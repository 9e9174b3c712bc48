//! Any bytes for the reader of campaign files: records or an error, and what it
//! says is valid can be read again.
#![no_main]

use fathom_record::campaign;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(read) = campaign::parse(bytes) {
        let valid = read.valid_bytes as usize;
        campaign::parse(&bytes[..valid]).expect("the valid part of a campaign is a campaign");
    }
});
