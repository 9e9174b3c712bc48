//! Valid modules of WebAssembly 3.0, out of bytes or seeds.

use arbitrary::Unstructured;
use wasm_smith::{Config, Module};
use wasmparser::{Operator, Parser, Payload, TypeRef};

/// Instructions (roughly) that a call may run for, before it traps as
/// `unreachable`.
const FUEL: u32 = 20_000;
/// One of so many modules has structures and arrays.
const OBJECTS_IN: u8 = 4;
/// Bytes of entropy that a module is made from.
const ENTROPY_BYTES: usize = 4096;

/// A deterministic stream: SplitMix64 (Steele, Lea and Flood, 2014).
pub struct Stream(u64);

/// A number below a bound, which is not 0: what a generator is driven by.
pub type Below<'a> = &'a mut dyn FnMut(usize) -> usize;

impl Stream {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Stream {
        Stream(seed)
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next_u64() % bound as u64) as usize
    }

    /// Random bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let words = std::iter::repeat_with(|| self.next_u64().to_le_bytes());
        words.flatten().take(len).collect()
    }
}

/// What the engine supports, with everything exported, floats that agree
/// (canonical NaNs), and limits that a test machine has room for. With objects and typed
/// function references, which wasm-smith makes together, nothing is imported: the host has
/// no values of such types.
fn config(objects: bool, threads: bool, relaxed_simd: bool) -> Config {
    Config {
        export_everything: true,
        canonicalize_nans: true,
        max_memory32_bytes: 16 << 16,
        memory_max_size_required: true,
        max_table_elements: 1000,
        table_max_size_required: true,
        max_memory64_bytes: 16 << 16,
        max_memories: 3,
        max_tags: 4,
        max_tables: 4,
        min_funcs: 1,
        max_funcs: 12,
        max_instructions: 160,
        max_imports: if objects { 0 } else { 6 },
        max_type_size: 200,
        bulk_memory_enabled: true,
        multi_value_enabled: true,
        reference_types_enabled: true,
        simd_enabled: true,
        saturating_float_to_int_enabled: true,
        sign_extension_ops_enabled: true,
        exceptions_enabled: true,
        gc_enabled: objects,
        compact_imports_enabled: false,
        memory64_enabled: true,
        relaxed_simd_enabled: relaxed_simd,
        tail_call_enabled: true,
        threads_enabled: threads,
        wide_arithmetic_enabled: true,
        extended_const_enabled: true,
        ..Config::default()
    }
}

/// The module that bytes stand for; nothing where they stand for none. With atomic
/// instructions and shared memories, run by one thread: an outcome that depends on
/// a race cannot be compared. One that could wait for another thread is made anew
/// without them, and one with a relaxed minimum or maximum without relaxed instructions.
pub fn from_bytes(bytes: &[u8]) -> Option<Vec<u8>> {
    // Not one of them: wasm-smith would make the same of it each time.
    let sum = bytes
        .iter()
        .fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    from(bytes, sum % OBJECTS_IN == 0)
}

fn from(bytes: &[u8], objects: bool) -> Option<Vec<u8>> {
    let make = |threads, relaxed_simd| {
        let mut unstructured = Unstructured::new(bytes);
        let mut module =
            Module::new(config(objects, threads, relaxed_simd), &mut unstructured).ok()?;
        module.ensure_termination(FUEL).ok()?;
        let wasm = module.to_bytes();
        let has = Has::of(&wasm);
        Some((wasm, has))
    };
    let (mut threads, mut relaxed_simd) = (true, true);
    // Each turn takes something away, and nothing is left to take away after two.
    for _ in 0..3 {
        match make(threads, relaxed_simd) {
            Some((_, has)) if has.waits && has.shared => threads = false,
            Some((_, has)) if has.relaxed_extremes => relaxed_simd = false,
            Some((wasm, _)) => return Some(wasm),
            // A threadless module may be made of bytes that make no other.
            None if threads => threads = false,
            None => return None,
        }
    }
    None
}

/// Of what a module has, what keeps two engines from agreeing.
#[derive(Clone, Copy, Default)]
struct Has {
    /// Waits on a memory. On a shared one without a partner that is for ever; modules
    /// that wait on others trap.
    waits: bool,
    shared: bool,
    /// A relaxed minimum or maximum: the operand that the processor's instruction gives
    /// where one is NaN or both are zeros depends on their order, which an engine may
    /// choose anew at each place. The target `instructions` allows each of the results.
    relaxed_extremes: bool,
}

impl Has {
    fn of(wasm: &[u8]) -> Has {
        let mut has = Has::default();
        for payload in Parser::new(0).parse_all(wasm) {
            match payload.expect("wasm-smith's modules are well-formed") {
                Payload::MemorySection(memories) => {
                    has.shared |= memories.into_iter().flatten().any(|memory| memory.shared);
                }
                Payload::ImportSection(imports) => {
                    let mut types = imports.into_imports().flatten().map(|import| import.ty);
                    has.shared |=
                        types.any(|ty| matches!(ty, TypeRef::Memory(memory) if memory.shared));
                }
                Payload::CodeSectionEntry(body) => {
                    let operators = body.get_operators_reader().expect("well-formed");
                    for op in operators.into_iter().flatten() {
                        has.operator(&op);
                    }
                }
                _ => {}
            }
        }
        has
    }

    fn operator(&mut self, op: &Operator<'_>) {
        use Operator::*;
        self.waits |= matches!(op, MemoryAtomicWait32 { .. } | MemoryAtomicWait64 { .. });
        self.relaxed_extremes |= matches!(
            op,
            F32x4RelaxedMin | F32x4RelaxedMax | F64x2RelaxedMin | F64x2RelaxedMax
        );
    }
}

/// The module of a seed that has structures and arrays.
pub fn with_objects(seed: u64) -> Option<Vec<u8>> {
    from(&Stream::new(seed).bytes(ENTROPY_BYTES), true)
}

/// The module of a seed that JavaScript can run and look into: without imports, vectors and
/// exceptions. Every second one has structures and arrays.
pub fn for_javascript(seed: u64) -> Option<Vec<u8>> {
    let config = Config {
        max_imports: 0,
        simd_enabled: false,
        exceptions_enabled: false,
        wide_arithmetic_enabled: false,
        ..config(seed.is_multiple_of(2), false, false)
    };
    let bytes = Stream::new(seed).bytes(ENTROPY_BYTES);
    let mut module = Module::new(config, &mut Unstructured::new(&bytes)).ok()?;
    module.ensure_termination(FUEL).ok()?;
    Some(module.to_bytes())
}

/// The module of a seed.
pub fn from_seed(seed: u64) -> Option<Vec<u8>> {
    from_bytes(&Stream::new(seed).bytes(ENTROPY_BYTES))
}
