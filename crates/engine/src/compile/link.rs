//! Functions and trampolines put into one text image.
//!
//! Without a seed, functions stand in the order of their indices, which keeps
//! neighbours in the source together. A seed shuffles them and puts lines of
//! padding between: a difference that survives a change of the seed is not one
//! of placement.

use std::num::TryFromIntError;

use cranelift_codegen::binemit::Reloc;

use super::artifact::{Artifact, CodeRange, Fallback, HandlerSite, Position};
use super::function::{CallSite, CompiledFunction};
use super::placement;
use super::target::Target;
use super::trampoline::Trampoline;
use crate::facts::error::{ErrorKind, Result};

/// Lines of padding in front of a function under a seed: 0 to this, exclusive.
const PADDING_LINES: u64 = 8;

/// What is linked.
pub(super) struct Linking {
    /// Index of the first of `functions`.
    pub imported_funcs: u32,
    /// Number of types that trampolines refer to.
    pub types: usize,
    /// Defined functions, in order.
    pub functions: Vec<CompiledFunction>,
    /// Trampolines with their types.
    pub trampolines: Vec<(Trampoline, u32, CompiledFunction)>,
    /// Varies order and padding.
    pub layout_seed: Option<u64>,
}

/// Lays out, patches calls and merges the tables.
pub(super) fn link(target: &Target, linking: Linking) -> Result<Artifact> {
    let Linking {
        imported_funcs,
        types,
        functions,
        trampolines,
        layout_seed,
    } = linking;
    let mut image = Image::new(target, layout_seed);
    image.artifact.functions = vec![CodeRange { offset: 0, len: 0 }; functions.len()];
    image.artifact.entries = vec![None; types];
    image.artifact.exits = vec![None; types];
    image.artifact.starts = vec![None; types];
    let over_budget = functions.iter().filter_map(|function| function.over_budget);
    image.artifact.over_budget = over_budget.collect();
    image.artifact.fallbacks = fallbacks(&functions, imported_funcs);
    for index in image.order(functions.len()) {
        image.artifact.checks += functions[index].checks;
        let range = image.append(&functions[index])?;
        image.artifact.functions[index] = range;
    }
    for (kind, ty, code) in &trampolines {
        let range = image.append(code)?;
        let table = match kind {
            Trampoline::Entry => &mut image.artifact.entries,
            Trampoline::Exit => &mut image.artifact.exits,
            Trampoline::Start => &mut image.artifact.starts,
        };
        table[*ty as usize] = Some(range);
    }
    let mut artifact = image.artifact;
    for (caller, function) in functions.iter().enumerate() {
        for call in &function.calls {
            let from = artifact.functions[caller].offset;
            let to = match call.is_start {
                true => {
                    let start = artifact.starts[call.callee as usize];
                    start
                        .expect("compiled for every type of continuations")
                        .offset
                }
                false => {
                    let callee = (call.callee - imported_funcs) as usize;
                    artifact.functions[callee].offset
                }
            };
            let at = from + call.offset;
            patch(&mut artifact.text, at, call, to.into()).map_err(|message| {
                let func = caller as u32 + imported_funcs;
                ErrorKind::Compile { func, message }
            })?;
        }
    }
    Ok(artifact)
}

/// One function by itself, whose calls are linked when it is known where it will be.
pub(crate) struct Detached {
    /// Its text and tables.
    pub artifact: Artifact,
    /// Its calls, in bytes from the start of the text.
    pub calls: Calls,
}

/// Calls that are yet to be given their distance.
pub(crate) struct Calls(Vec<CallSite>);

/// What a function of a module calls.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Callee {
    /// A function of the module, by its index.
    Func(u32),
    /// The start of continuations of a type, by its index.
    Start(u32),
}

impl CallSite {
    fn callee(&self) -> Callee {
        match self.is_start {
            true => Callee::Start(self.callee),
            false => Callee::Func(self.callee),
        }
    }
}

/// The function `func`, laid out.
pub(super) fn detach(
    target: &Target,
    func: u32,
    function: CompiledFunction,
    layout_seed: Option<u64>,
) -> Result<Detached> {
    let seed = layout_seed.map(|seed| seed.wrapping_add(func.into()));
    let mut image = Image::new(target, seed);
    let range = image.append(&function)?;
    let mut artifact = image.artifact;
    artifact.functions = vec![range];
    artifact.checks = function.checks;
    artifact.over_budget.extend(function.over_budget);
    artifact.fallbacks.extend(fallback(func, &function));
    let mut calls = function.calls;
    for call in &mut calls {
        call.offset += range.offset;
    }
    let calls = Calls(calls);
    Ok(Detached { artifact, calls })
}

impl Calls {
    /// What is called, in the order of the calls.
    pub(crate) fn callees(&self) -> impl Iterator<Item = Callee> {
        self.0.iter().map(CallSite::callee)
    }

    /// Writes the distances into `text`, which is at the address `base`.
    ///
    /// # Errors
    /// A callee that is further away than the instruction reaches; one line.
    pub(crate) fn link(
        &self,
        text: &mut [u8],
        base: usize,
        address_of: impl Fn(Callee) -> usize,
    ) -> Result<(), String> {
        self.0.iter().try_for_each(|call| {
            let to = address_of(call.callee()).wrapping_sub(base).cast_signed();
            patch(text, call.offset, call, to as i64)
        })
    }
}

/// Functions that are Cranelift's for a reason.
fn fallbacks(functions: &[CompiledFunction], first: u32) -> Vec<Fallback> {
    let all = (first..).zip(functions);
    all.filter_map(|(func, function)| fallback(func, function))
        .collect()
}

fn fallback(func: u32, function: &CompiledFunction) -> Option<Fallback> {
    let (why, is_refused) = function.fallback.clone()?;
    Some(Fallback {
        func,
        why,
        is_refused,
    })
}

/// The text as it grows.
struct Image {
    artifact: Artifact,
    random: Option<SplitMix>,
    align: usize,
}

impl Image {
    fn new(target: &Target, layout_seed: Option<u64>) -> Image {
        let align = target.isa().function_alignment().preferred as usize;
        Image {
            artifact: Artifact::default(),
            random: layout_seed.map(SplitMix),
            align: align.max(Artifact::ALIGN),
        }
    }

    /// The order in which functions are appended.
    fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        if let Some(random) = &mut self.random {
            for i in (1..count).rev() {
                order.swap(i, random.below(i as u64 + 1) as usize);
            }
        }
        order
    }

    /// Appends code in the next line that suits it, with its tables.
    fn append(&mut self, function: &CompiledFunction) -> Result<CodeRange> {
        let artifact = &mut self.artifact;
        let padding = self
            .random
            .as_mut()
            .map_or(0, |random| random.below(PADDING_LINES));
        let start = artifact.text.len().next_multiple_of(self.align);
        let place = placement::offset_in_line(&function.loops);
        let start = start + padding as usize * self.align + place as usize;
        let (Ok(offset), Ok(len)) = (u32::try_from(start), u32::try_from(function.code.len()))
        else {
            let message = "the module's code is larger than 4 GiB".to_owned();
            return Err(ErrorKind::Compile { func: 0, message }.into());
        };
        artifact.text.resize(start, 0);
        artifact.text.extend_from_slice(&function.code);
        artifact.traps.extend(function.traps.iter().map(|site| {
            let mut site = *site;
            site.offset += offset;
            site
        }));
        artifact
            .handlers
            .extend(function.handlers.iter().map(|site| HandlerSite {
                return_offset: site.return_offset + offset,
                handler: site.handler + offset,
                ..*site
            }));
        artifact
            .inlined
            .extend(function.inlined.iter().map(|inlined| {
                let mut inlined = *inlined;
                inlined.range.offset += offset;
                inlined
            }));
        // What stands before this function's first position is not the last
        // function's.
        artifact.positions.push(Position {
            offset,
            module_offset: Position::NONE,
        });
        artifact
            .positions
            .extend(function.positions.iter().map(|position| {
                let mut position = *position;
                position.offset += offset;
                position
            }));
        Ok(CodeRange { offset, len })
    }
}

/// Writes the distance to the callee, in bytes from the start of the text, into the call at
/// `at`.
fn patch(text: &mut [u8], at: u32, call: &CallSite, callee: i64) -> Result<(), String> {
    let distance = callee + call.addend - i64::from(at);
    let field = &mut text[at as usize..];
    match call.kind {
        Reloc::X86CallPCRel4 | Reloc::X86PCRel4 => {
            i32::try_from(distance).map(|near| write_word(field, near.cast_unsigned()))
        }
        Reloc::Arm64Call => arm64_call(distance).map(|bits| set_bits(field, 0x03ff_ffff, bits)),
        Reloc::RiscvCallPlt => riscv_call(distance).map(|(high, low)| {
            set_bits(field, 0xffff_f000, high);
            set_bits(&mut field[4..], 0xfff0_0000, low);
        }),
        other => return Err(format!("calls of kind {other} cannot be linked")),
    }
    .map_err(|_| format!("a call spans {distance} bytes, more than the instruction can"))
}

/// `bl` and `b`: words in 26 bits, ±128 MiB.
fn arm64_call(distance: i64) -> Result<u32, TryFromIntError> {
    let top = i32::try_from(distance << 4)?;
    Ok((top >> 6).cast_unsigned() & 0x03ff_ffff)
}

/// `auipc` and `jalr`: the upper 20 bits of the distance rounded to the nearest
/// multiple of 4 KiB, and the 12 bits, signed, that are left.
fn riscv_call(distance: i64) -> Result<(u32, u32), TryFromIntError> {
    let nearest = i32::try_from(distance + 0x800)?;
    Ok((
        nearest.cast_unsigned() & 0xffff_f000,
        (distance as u32) << 20,
    ))
}

/// Replaces the bits of `mask` in the first word.
fn set_bits(field: &mut [u8], mask: u32, bits: u32) {
    let word = u32::from_le_bytes([field[0], field[1], field[2], field[3]]);
    write_word(field, word & !mask | bits);
}

fn write_word(field: &mut [u8], word: u32) {
    field[..4].copy_from_slice(&word.to_le_bytes());
}

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
/// Generators, 2014).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; its bias is below 2^-32 for the small bounds here.
    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::count::CheckSites;
    use crate::compile::{Cpu, Opt};

    fn function(code: &[u8], calls: Vec<CallSite>) -> CompiledFunction {
        CompiledFunction {
            code: code.to_vec(),
            traps: Vec::new(),
            handlers: Vec::new(),
            positions: Vec::new(),
            inlined: Vec::new(),
            calls,
            loops: Vec::new(),
            checks: CheckSites::default(),
            over_budget: None,
            fallback: None,
            located: Vec::new(),
            code_bytes: None,
        }
    }

    fn linked(layout_seed: Option<u64>) -> Artifact {
        let target = Target::host(Opt::Speed, Cpu::Native).expect("the host is supported");
        let call = CallSite {
            is_start: false,
            offset: 1,
            kind: Reloc::X86CallPCRel4,
            callee: 3,
            addend: -4,
        };
        let functions = vec![
            function(&[0xe8, 0, 0, 0, 0, 0xc3], vec![call]),
            function(&[0xc3], vec![]),
            function(&[0x90; 70], vec![]),
        ];
        let linking = Linking {
            imported_funcs: 1,
            types: 0,
            functions,
            trampolines: Vec::new(),
            layout_seed,
        };
        link(&target, linking).expect("it links")
    }

    #[test]
    fn functions_are_aligned_and_calls_reach_their_callee() {
        for seed in [None, Some(1), Some(2), Some(99)] {
            let artifact = linked(seed);
            for range in &artifact.functions {
                assert_eq!(range.offset as usize % Artifact::ALIGN, 0);
            }
            let from = artifact.functions[0].offset as usize;
            let field = artifact.text[from + 1..][..4]
                .try_into()
                .expect("four bytes");
            let reached = (from + 5) as i64 + i64::from(i32::from_le_bytes(field));
            assert_eq!(reached, i64::from(artifact.functions[2].offset));
        }
    }

    #[test]
    fn calls_of_other_instruction_sets_reach_as_far_as_they_can() {
        assert_eq!(arm64_call(8), Ok(2));
        assert_eq!(arm64_call(-8), Ok(0x03ff_fffe));
        let reach = 128 << 20;
        assert!(arm64_call(reach - 4).is_ok() && arm64_call(-reach).is_ok());
        assert!(arm64_call(reach).is_err() && arm64_call(-reach - 4).is_err());
        for distance in [0, 8, -8, 0x7fe, 0x800, -0x802, 0x1234_5678, 0x7fff_f7fe] {
            let (high, low) = riscv_call(distance).expect("it is in reach");
            let reached = i64::from(high.cast_signed()) + i64::from(low.cast_signed() >> 20);
            assert_eq!(reached, distance);
        }
        assert!(riscv_call(0x7fff_f800).is_err());
    }

    #[test]
    fn a_seed_changes_the_layout_reproducibly() {
        assert_eq!(linked(Some(7)), linked(Some(7)));
        assert_ne!(linked(Some(7)).functions, linked(None).functions);
        assert!((1..20).any(|seed| linked(Some(seed)).functions != linked(Some(0)).functions));
    }
}
