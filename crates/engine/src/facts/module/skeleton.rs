//! What is kept of a module's binary: everything but the code, and of the custom
//! sections only the names.
//!
//! ```text
//!  binary    | head | types … | code section | data | names | other custom |
//!  skeleton  | head | types … | empty bodies | data | names |
//! ```
//!
//! It declares what the binary declares: [`super::decode`] reads the same in it, but for
//! where things are. The skeleton of a skeleton is itself.

/// Bytes in front of the first section.
const HEAD_BYTES: usize = 8;
/// Numbers of sections (core specification §5.5.2).
const CUSTOM: u8 = 0;
const CODE: u8 = 10;
const DATA: u8 = 11;
/// A body without locals that does nothing: its size, no locals, `end`.
const EMPTY_BODY: [u8; 3] = [2, 0, 0x0b];

/// What is kept of a binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Skeleton {
    /// The sections.
    pub bytes: Box<[u8]>,
    /// How much further to the front the data section is than in the binary.
    pub data_shift: usize,
}

impl Skeleton {
    /// All of a binary, bodies too.
    pub fn whole(wasm: &[u8]) -> Skeleton {
        Skeleton {
            bytes: wasm.into(),
            data_shift: 0,
        }
    }

    /// Of a valid binary.
    pub fn of(wasm: &[u8]) -> Skeleton {
        let mut kept = wasm[..HEAD_BYTES].to_vec();
        let (mut at, mut data_shift) = (HEAD_BYTES, 0);
        while at < wasm.len() {
            let (size, start) = leb(wasm, at + 1);
            let section = at..start + size;
            match wasm[at] {
                CODE => {
                    let (bodies, _) = leb(wasm, start);
                    let mut section = Vec::new();
                    push_leb(&mut section, bodies);
                    section.extend(std::iter::repeat_n(EMPTY_BODY, bodies).flatten());
                    kept.push(CODE);
                    push_leb(&mut kept, section.len());
                    kept.extend(section);
                }
                CUSTOM if !is_name(&wasm[start..section.end]) => {}
                id => {
                    if id == DATA {
                        data_shift = at - kept.len();
                    }
                    kept.extend(&wasm[section.clone()]);
                }
            }
            at = section.end;
        }
        let bytes = kept.into();
        Skeleton { bytes, data_shift }
    }
}

/// Whether a custom section holds the names.
fn is_name(section: &[u8]) -> bool {
    let (len, start) = leb(section, 0);
    section.get(start..start + len) == Some(b"name")
}

/// An unsigned number at a place, and the place behind it.
fn leb(bytes: &[u8], mut at: usize) -> (usize, usize) {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[at];
        value |= usize::from(byte & 0x7f) << shift;
        (at, shift) = (at + 1, shift + 7);
        if byte & 0x80 == 0 {
            return (value, at);
        }
    }
}

fn push_leb(to: &mut Vec<u8>, mut value: usize) {
    while value > 0x7f {
        to.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::features::Features;
    use crate::facts::module::decode;

    const TEXT: &str = r#"(module $named
        (import "a" "b" (func $imported (param i32)))
        (memory (export "m") 1) (table (export "t") 2 funcref)
        (global (export "g") (mut i64) (i64.const 7))
        (elem (i32.const 0) $f $imported)
        (func $f (export "f") (param i32) (result i32) (local i64 i64)
          (i32.add (local.get 0) (i32.const 1)))
        (func $second (call $imported (i32.const 300)))
        (start $second)
        (@custom "other" (before data) "thrown away")
        (data (i32.const 5) "hello") (data "passive"))"#;

    #[test]
    fn it_declares_the_same_and_is_its_own_skeleton() {
        let wasm = wat::parse_str(TEXT).unwrap();
        let kept = Skeleton::of(&wasm);
        assert!(kept.bytes.len() < wasm.len());
        let again = Skeleton::of(&kept.bytes);
        assert_eq!((&again.bytes, again.data_shift), (&kept.bytes, 0));
        let (mut info, bodies) = decode(&wasm, Features::all()).unwrap();
        let (mut of_kept, empty) = decode(&kept.bytes, Features::all()).unwrap();
        assert_eq!(bodies.len(), empty.len());
        for (whole, part) in info.data.iter().zip(&of_kept.data) {
            let shifted = part.bytes.start + kept.data_shift;
            assert_eq!(whole.bytes.start, shifted);
            assert_eq!(wasm[whole.bytes.clone()], kept.bytes[part.bytes.clone()]);
        }
        for info in [&mut info, &mut of_kept] {
            info.data.clear();
            info.bodies.clear();
        }
        // Maps have no order of their own.
        let names = |info: &crate::facts::module::ModuleInfo| {
            let mut names: Vec<_> = info.func_names.clone().into_iter().collect();
            names.sort();
            names
        };
        assert_eq!(names(&info), names(&of_kept));
        assert_eq!(info.name, of_kept.name);
        info.func_names.clear();
        of_kept.func_names.clear();
        assert_eq!(format!("{info:?}"), format!("{of_kept:?}"));
    }
}
