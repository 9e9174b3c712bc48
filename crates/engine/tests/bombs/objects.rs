//! Shapes of structures and arrays.

use crate::encode::*;
use crate::shapes::{WIDEST, fill};

/// The code, and a second type.
fn with_type(code: &[u8], ty: &[u8]) -> Vec<u8> {
    let mut module = Module::of((0, 0), 0, code);
    module.types.push(ty.to_vec());
    module.encode()
}

/// Arrays of vectors, each made of a value.
pub fn filled_vectors(bytes: usize) -> Vec<u8> {
    let value = [&number(7)[..], &[0xfd, 0x0f]].concat();
    let array = [&value[..], &number(0), &[0xfb, 0x06, 1, DROP]].concat();
    with_type(&fill(bytes, &array), &[0x5e, 0x7b, 1])
}

/// Whether a reference is of a type that may have subtypes: three blocks each.
pub fn type_tests(bytes: usize) -> Vec<u8> {
    let test = [0xd0, 0x6e, 0xfb, 0x14, 1, DROP];
    with_type(&fill(bytes, &test), &[0x50, 0, 0x5f, 0])
}

/// Functions that call each other in a circle and give a thousand values, in the place of a call.
pub fn nested_calls(bytes: usize) -> Vec<u8> {
    const CIRCLE: usize = 16;
    let source = |at| (0, body(0, &call((at + 1) % CIRCLE)));
    let sink = (1, body(0, &[]));
    let caller = (2, body(0, &fill(bytes, &[call(0), call(CIRCLE)].concat())));
    let funcs = (0..CIRCLE).map(source).chain([sink, caller]).collect();
    let mut module = Module::new(&[(0, WIDEST), (WIDEST, 0), (0, 0)], funcs);
    module.types.push(vec![0x5f, 0]);
    module.encode()
}
