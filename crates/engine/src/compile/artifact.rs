//! What compiling a module yields, ready to be mapped or kept on disk.

use serde::{Deserialize, Serialize};

use super::budget::OverBudget;
use crate::compile::count::CheckSites;

/// A function that is left to Cranelift, though another code generator was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fallback {
    /// Its index.
    pub func: u32,
    /// Why, in a few words.
    pub why: String,
    /// Whether the other generator was given it, and what came back was refused.
    pub is_refused: bool,
}

/// A function's or trampoline's code, in bytes from the start of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CodeRange {
    /// First byte.
    pub offset: u32,
    /// Length in bytes.
    pub len: u32,
}

impl CodeRange {
    /// Whether `offset` is in the range.
    pub(crate) fn contains(&self, offset: u32) -> bool {
        offset.wrapping_sub(self.offset) < self.len
    }
}

/// An instruction that may trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TrapSite {
    /// Of the instruction, in bytes from the start of the text.
    pub offset: u32,
    /// Cranelift's code of the trap, raw.
    pub code: u8,
}

/// A call inside a `try_table`, and where an exception that comes out of it goes
/// on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HandlerSite {
    /// The call's return address, in bytes from the start of the text.
    pub return_offset: u32,
    /// The handler, in bytes from the start of the text.
    pub handler: u32,
    /// Bytes from the stack pointer in the handler up to the frame pointer.
    pub frame_bytes: u32,
}

/// From this offset on, up to the next position, code stems from `module_offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    /// In bytes from the start of the text.
    pub offset: u32,
    /// Of the Wasm instruction, in bytes from the start of the module;
    /// [`Position::NONE`] where there is none.
    pub module_offset: u32,
}

impl Position {
    /// Code that stems from no Wasm instruction: prologues, padding.
    pub(crate) const NONE: u32 = u32::MAX;
}

/// Code of a function that was translated in the place of a call of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InlinedCode {
    /// Where it is.
    pub range: CodeRange,
    /// The function's index.
    pub func: u32,
    /// The call it stands for, in bytes from the start of the module.
    pub call: u32,
}

/// A compiled module, or a set of trampolines (then without functions).
///
/// Tables are sorted by offset. There are no relocations: the text is position
/// independent. There is no unwind table either: all code keeps the frame
/// pointer, whose chain suffices to walk a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Artifact {
    /// Machine code, to be mapped at an address aligned to [`Artifact::ALIGN`].
    #[serde(with = "bytes")]
    pub text: Vec<u8>,
    /// Code of each defined function.
    pub functions: Vec<CodeRange>,
    /// What the first call of a function runs, where functions are compiled then.
    pub first_call: Option<CodeRange>,
    /// Entry trampoline of each type of the module, where something of that
    /// type can be called by the host.
    pub entries: Vec<Option<CodeRange>>,
    /// Exit trampoline of each type of the module, where something of that
    /// type is imported.
    pub exits: Vec<Option<CodeRange>>,
    /// Start of continuations of each type of the module, where there are some.
    pub starts: Vec<Option<CodeRange>>,
    /// Instructions that may trap.
    pub traps: Vec<TrapSite>,
    /// Calls whose exceptions are caught.
    pub handlers: Vec<HandlerSite>,
    /// Where code stems from.
    pub positions: Vec<Position>,
    /// Code that stems from another function than the one it is in: of each range, all functions
    /// that it was inlined from, innermost first.
    pub inlined: Vec<InlinedCode>,
    /// Checks in the code, where it counts.
    pub checks: CheckSites,
    /// Functions that are not optimised, for it would take too much: by index.
    pub over_budget: Vec<OverBudget>,
    /// Functions that are Cranelift's where another generator was asked for: by index.
    pub fallbacks: Vec<Fallback>,
    /// Whether some are because LLVM took too long, which depends on more than the module.
    #[serde(skip)]
    pub is_hurried: bool,
}

impl Artifact {
    /// Alignment the text assumes, in bytes: a line of the cache.
    pub(crate) const ALIGN: usize = 64;

    /// The raw trap code at `offset` of the text, if an instruction there may
    /// trap.
    pub(crate) fn trap_at(&self, offset: u32) -> Option<u8> {
        let site = self
            .traps
            .binary_search_by_key(&offset, |site| site.offset)
            .ok()?;
        Some(self.traps[site].code)
    }

    /// The handler of the call that returns to `offset` of the text.
    pub(crate) fn handler_at(&self, offset: u32) -> Option<HandlerSite> {
        let site = self
            .handlers
            .binary_search_by_key(&offset, |site| site.return_offset)
            .ok()?;
        Some(self.handlers[site])
    }

    /// The module offset that the code at `offset` of the text stems from.
    pub(crate) fn position_at(&self, offset: u32) -> Option<u32> {
        let after = self.positions.partition_point(|p| p.offset <= offset);
        let position = self.positions.get(after.checked_sub(1)?)?;
        (position.module_offset != Position::NONE).then_some(position.module_offset)
    }

    /// What the code at `offset` of the text was inlined from, innermost first.
    pub(crate) fn inlined_at(&self, offset: u32) -> &[InlinedCode] {
        let after = self.inlined.partition_point(|i| i.range.offset <= offset);
        let reached = &self.inlined[..after];
        match reached.last() {
            Some(last) if last.range.contains(offset) => {
                let start = last.range.offset;
                &reached[reached.partition_point(|i| i.range.offset < start)..]
            }
            _ => &[],
        }
    }
}

/// Byte strings in one piece instead of number by number.
mod bytes {
    use std::fmt;

    use serde::de::{Deserializer, Error, Visitor};
    use serde::ser::Serializer;

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Vec<u8>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }

            fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
                Ok(bytes)
            }
        }
        from.deserialize_byte_buf(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::CompileWork;

    fn sample() -> Artifact {
        Artifact {
            text: vec![0xc3; 16],
            functions: vec![CodeRange { offset: 0, len: 16 }],
            first_call: None,
            entries: vec![None],
            starts: vec![None],
            exits: vec![Some(CodeRange { offset: 8, len: 8 })],
            traps: vec![
                TrapSite { offset: 4, code: 7 },
                TrapSite { offset: 9, code: 8 },
            ],
            handlers: vec![HandlerSite {
                return_offset: 6,
                handler: 12,
                frame_bytes: 32,
            }],
            positions: vec![
                Position {
                    offset: 2,
                    module_offset: 40,
                },
                Position {
                    offset: 6,
                    module_offset: Position::NONE,
                },
                Position {
                    offset: 8,
                    module_offset: 44,
                },
            ],
            inlined: [(2, 5, 30), (6, 9, 70), (6, 5, 30)]
                .map(|(offset, func, call)| InlinedCode {
                    range: CodeRange { offset, len: 4 },
                    func,
                    call,
                })
                .to_vec(),
            checks: CheckSites {
                emitted: 3,
                left_out: 1,
            },
            over_budget: vec![OverBudget {
                func: 3,
                bytes: 70,
                work: CompileWork::Steps,
                count: 5000,
                allowed: 2500,
            }],
            is_hurried: false,
            fallbacks: vec![Fallback {
                func: 4,
                why: "vectors".to_owned(),
                is_refused: false,
            }],
        }
    }

    #[test]
    fn traps_are_found_by_the_exact_offset() {
        assert_eq!(sample().trap_at(4), Some(7));
        assert_eq!(sample().trap_at(5), None);
    }

    #[test]
    fn positions_hold_up_to_the_next() {
        let found = [0, 2, 5, 6, 7, 8, 15].map(|offset| sample().position_at(offset));
        assert_eq!(
            found,
            [None, Some(40), Some(40), None, None, Some(44), Some(44)]
        );
    }

    #[test]
    fn inlined_code_has_an_end() {
        let funcs = |offset| {
            let artifact = sample();
            let found = artifact.inlined_at(offset).iter().map(|i| i.func);
            found.collect::<Vec<_>>()
        };
        let found = [1, 2, 5, 6, 9, 10].map(funcs);
        assert_eq!(
            found,
            [vec![], vec![5], vec![5], vec![9, 5], vec![9, 5], vec![]]
        );
    }

    #[test]
    fn it_survives_being_stored() {
        let stored = postcard::to_stdvec(&sample()).expect("it serialises");
        let loaded: Artifact = postcard::from_bytes(&stored).expect("it loads");
        assert_eq!(loaded, sample());
    }
}
