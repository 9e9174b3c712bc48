//! A module with some functions empty: types, indices and everything else as they were.

use std::collections::BTreeMap;

use fathom_rewrite::Malformed;
use fathom_rewrite::closed::trap;
use fathom_rewrite::shape::{Shape, Space};
use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{CodeSection, Function, Module, RawSection};
use wasmparser::{Parser, Payload, ValType};

/// What is in a function instead of its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// A trap: nobody calls it.
    Trap,
    /// Zero, or null, of each result.
    Defaults,
}

/// The functions of the module's own.
pub fn own(shape: &Shape) -> Vec<u32> {
    let imported = shape.imports_of(Space::Func).count() as u32;
    (imported..shape.funcs.len() as u32).collect()
}

/// Whether each result of a function has a default.
pub fn has_defaults(shape: &Shape, func: u32) -> bool {
    let results = shape.func_type(func).map(|ty| ty.results());
    results.is_some_and(|all| all.iter().all(|ty| ty.is_defaultable()))
}

/// The module, with these functions so.
///
/// # Errors
/// What cannot be read.
pub fn with_empty(
    wasm: &[u8],
    shape: &Shape,
    bodies: &BTreeMap<u32, Body>,
) -> Result<Vec<u8>, Malformed> {
    let mut module = Module::new();
    let mut code = CodeSection::new();
    let mut next = own(shape).into_iter();
    for payload in Parser::new(0).parse_all(wasm) {
        let payload = payload?;
        if let Payload::CodeSectionEntry(body) = &payload {
            let func = next.next();
            match func.and_then(|func| Some((func, bodies.get(&func)?))) {
                None => code.raw(body.as_bytes()),
                Some((_, Body::Trap)) => code.function(&trap()),
                Some((func, Body::Defaults)) => code.function(&defaults(shape, func)?),
            };
            if next.len() == 0 {
                module.section(&code);
            }
        } else if let Some((id, range)) = payload.as_section() {
            // That of code is written behind its last body.
            if !matches!(payload, Payload::CodeSectionStart { .. }) {
                let data = &wasm[range.start as usize..range.end as usize];
                module.section(&RawSection { id, data });
            }
        }
    }
    Ok(module.finish())
}

fn defaults(shape: &Shape, func: u32) -> Result<Function, Malformed> {
    let mut body = Function::new([]);
    let f = &mut body.instructions();
    let results = shape.func_type(func).map(|ty| ty.results());
    for ty in results.unwrap_or_default() {
        match ty {
            ValType::I32 => f.i32_const(0),
            ValType::I64 => f.i64_const(0),
            ValType::F32 => f.f32_const(0.0.into()),
            ValType::F64 => f.f64_const(0.0.into()),
            ValType::V128 => f.v128_const(0),
            ValType::Ref(ty) => {
                let heap = RoundtripReencoder.heap_type(ty.heap_type());
                f.ref_null(heap.map_err(Malformed::from)?)
            }
        };
    }
    f.end();
    Ok(body)
}
