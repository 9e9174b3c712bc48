//! The module under test: one memory and a function for each way to touch it.
//! Indices are of the memory's index type, 32-bit or 64-bit.
//!
//! ```text
//!  OP@OFFSET          (index) -> bits, or (index, value)
//!  drop OP@OFFSET     (index): the loaded value is not used
//!  OP@OFFSET=INDEX    the same with a constant index: () -> bits, or (value)
//!  pair@A,B           (index, value): two stores with one index
//!  run                (start, count, value): a store in a loop
//!  fill copy init     the bulk instructions, where they are wanted (see
//!                     [`Instructions`]); `drop` drops the data segment
//!  grow size          memory.grow, memory.size
//!  pattern digest restore   the probe's own tools, inside the memory only
//! ```

use std::collections::BTreeSet;

use fathom_record::protocol::WireValue;
use wasm_encoder::{
    BlockType, CodeSection, DataCountSection, DataSection, ExportKind, ExportSection, Function,
    FunctionSection, ImportSection, Instruction, MemorySection, MemoryType, Module, TypeSection,
    ValType,
};

use super::model::{DIGEST_BASIS, DIGEST_PRIME, PATTERN_FACTOR, PATTERN_SHIFT};
use super::op::{self, Op, memarg};

/// Bytes of the passive data segment.
pub(super) const SEGMENT: [u8; 32] =
    *b"\x90\x91\x92\x93\x94\x95\x96\x97\x98\x99\x9a\x9b\x9c\x9d\x9e\x9f\
\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f";

/// The export under which a host finds the memory.
pub(super) const MEMORY: &str = "memory";

/// Constant offsets of every access.
const OFFSETS_32: [u64; 5] = [0, 1, 1 << 16, 1 << 31, (1 << 32) - 1];
const OFFSETS_64: [u64; 7] = [0, 1, 1 << 16, (1 << 32) - 1, 1 << 32, 1 << 63, u64::MAX];

/// Offsets of accesses with a constant index.
pub(super) const CONSTANT_OFFSETS: [u64; 2] = [0, 1 << 16];

/// Offsets of two stores with one index.
const PAIRS_32: [(u64, u64); 5] = [
    (0, 1 << 16),
    (1 << 16, 0),
    (0, 1 << 31),
    ((1 << 32) - 1, 0),
    (8, 0),
];
const PAIRS_64: [(u64, u64); 5] = [
    (0, 1 << 16),
    (1 << 16, 0),
    (0, 1 << 32),
    (u64::MAX, 0),
    (8, 0),
];

/// The index type of the memory under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Index {
    I32,
    I64,
}

impl Index {
    /// How many indices there are.
    pub fn space(self) -> i128 {
        match self {
            Index::I32 => 1 << 32,
            Index::I64 => 1 << 64,
        }
    }

    pub fn offsets(self) -> &'static [u64] {
        match self {
            Index::I32 => &OFFSETS_32,
            Index::I64 => &OFFSETS_64,
        }
    }

    pub fn pairs(self) -> &'static [(u64, u64)] {
        match self {
            Index::I32 => &PAIRS_32,
            Index::I64 => &PAIRS_64,
        }
    }

    /// An index or a count as it is passed.
    pub fn value(self, value: u64) -> WireValue {
        match self {
            // Below 2^32, or -1.
            Index::I32 => WireValue::I32(value as u32),
            Index::I64 => WireValue::I64(value),
        }
    }

    fn ty(self) -> ValType {
        match self {
            Index::I32 => I32,
            Index::I64 => I64,
        }
    }

    fn constant(self, value: u64) -> Instruction<'static> {
        match self {
            Index::I32 => Instruction::I32Const((value as u32).cast_signed()),
            Index::I64 => Instruction::I64Const(value.cast_signed()),
        }
    }

    fn add(self) -> Instruction<'static> {
        match self {
            Index::I32 => Instruction::I32Add,
            Index::I64 => Instruction::I64Add,
        }
    }

    fn is_zero(self) -> Instruction<'static> {
        match self {
            Index::I32 => Instruction::I32Eqz,
            Index::I64 => Instruction::I64Eqz,
        }
    }

    /// The low 32 bits of an index.
    fn low(self) -> Option<Instruction<'static>> {
        (self == Index::I64).then_some(Instruction::I32WrapI64)
    }
}

/// The export for an access.
pub(super) fn access_name(op: &Op, offset: u64) -> String {
    format!("{}@{offset}", op.name)
}

/// The export for a load whose value is dropped.
pub(super) fn dropped_name(op: &Op, offset: u64) -> String {
    format!("drop {}@{offset}", op.name)
}

/// The export for an access with a constant index.
pub(super) fn constant_name(op: &Op, offset: u64, index: u64) -> String {
    format!("{}@{offset}={index}", op.name)
}

/// The export for two stores.
pub(super) fn pair_name((first, second): (u64, u64)) -> String {
    format!("pair@{first},{second}")
}

/// Constant indices worth trying on memories of these lengths: at each end and
/// around it, and at the end of the index space.
pub(super) fn constant_indices(index: Index, op: &Op, offset: u64, lens: &[u64]) -> BTreeSet<u64> {
    let (width, offset) = (i128::from(op.width), i128::from(offset));
    let ends = lens.iter().map(|len| i128::from(*len) - offset - width);
    ends.chain([index.space() - width])
        .flat_map(|end| [end - 1, end, end + 1])
        .chain([0, index.space() - 1])
        .filter(|at| *at < index.space())
        .filter_map(|at| u64::try_from(at).ok())
        .collect()
}

const I32: ValType = ValType::I32;
const I64: ValType = ValType::I64;

/// Collects functions under their export names.
#[derive(Default)]
struct Functions {
    types: TypeSection,
    functions: FunctionSection,
    exports: ExportSection,
    code: CodeSection,
    count: u32,
}

impl Functions {
    fn add(
        &mut self,
        name: &str,
        params: &[ValType],
        results: &[ValType],
        locals: &[ValType],
        body: impl IntoIterator<Item = Instruction<'static>>,
    ) -> u32 {
        self.types
            .ty()
            .function(params.iter().copied(), results.iter().copied());
        self.functions.function(self.count);
        self.exports.export(name, ExportKind::Func, self.count);
        let mut function = Function::new_with_locals_types(locals.iter().copied());
        for instruction in body {
            function.instruction(&instruction);
        }
        function.instruction(&Instruction::End);
        self.code.function(&function);
        self.count += 1;
        self.count - 1
    }
}

/// What a module under test is made of, the least first. Who refuses a module
/// for its instructions is asked again with fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Instructions {
    /// WebAssembly 1.0 alone.
    Mvp,
    /// Also `memory.copy` and `memory.fill`, which need no data segment.
    CopyAndFill,
    /// All bulk instructions.
    Scalar,
    /// Vectors too.
    All,
}

impl Instructions {
    /// The next fewer, and what they lack.
    pub fn fewer(self) -> Option<(Instructions, &'static str)> {
        match self {
            Instructions::All => Some((Instructions::Scalar, "vector instructions")),
            Instructions::Scalar => Some((Instructions::CopyAndFill, "memory.init")),
            Instructions::CopyAndFill => Some((Instructions::Mvp, "memory.copy and memory.fill")),
            Instructions::Mvp => None,
        }
    }

    /// Whether there is a passive data segment, to copy from and to drop.
    pub fn have_segment(self) -> bool {
        self >= Instructions::Scalar
    }

    /// Whether there are `memory.copy` and `memory.fill`.
    pub fn have_copy(self) -> bool {
        self >= Instructions::CopyAndFill
    }
}

/// The memory of a module under test.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    /// The type of its indices.
    pub index: Index,
    /// Pages at first.
    pub min: u64,
    /// Pages at most.
    pub max: u64,
    /// Whether it is imported, which makes for other code in many engines. Its
    /// limits are its name, for hosts that cannot ask for them: "probe" "1-2".
    pub is_imported: bool,
    /// Whether atomic instructions are what is tried.
    pub is_atomic: bool,
    /// What else the module is made of.
    pub instructions: Instructions,
}

impl Memory {
    /// The accesses that are tried.
    pub fn ops(self) -> impl Iterator<Item = &'static Op> {
        let all = if self.is_atomic { op::ATOMIC } else { op::ALL };
        let has_vectors = self.instructions == Instructions::All;
        all.iter().filter(move |op| has_vectors || !op.is_vector())
    }
}

/// The binary of a module with this memory. `lens` are the lengths in bytes it
/// will be probed at.
pub(super) fn build(memory: Memory, lens: &[u64]) -> Vec<u8> {
    let index = memory.index;
    let mut functions = Functions::default();
    for op in memory.ops() {
        for offset in index.offsets() {
            add_access(&mut functions, index, op, *offset);
        }
        for offset in CONSTANT_OFFSETS {
            for at in constant_indices(index, op, offset, lens) {
                add_constant(&mut functions, index, op, offset, at);
            }
        }
    }
    if memory.is_atomic {
        for offset in index.offsets() {
            add_access(&mut functions, index, op::peek(), *offset);
        }
    }
    add_sequences(&mut functions, index);
    add_bulk(&mut functions, index, memory.instructions);
    add_tools(&mut functions, index);

    functions.exports.export(MEMORY, ExportKind::Memory, 0);
    let memory_type = MemoryType {
        minimum: memory.min,
        maximum: Some(memory.max),
        memory64: index == Index::I64,
        shared: false,
        page_size_log2: None,
    };
    let (mut imports, mut memories) = (ImportSection::new(), MemorySection::new());
    let mut module = Module::new();
    module.section(&functions.types);
    // No section is empty: not every engine reads one.
    if memory.is_imported {
        let limits = format!("{}-{}", memory.min, memory.max);
        imports.import("probe", &limits, memory_type);
        module.section(&imports).section(&functions.functions);
    } else {
        memories.memory(memory_type);
        module.section(&functions.functions).section(&memories);
    }
    module.section(&functions.exports);
    if memory.instructions.have_segment() {
        module.section(&DataCountSection { count: 1 });
    }
    module.section(&functions.code);
    if memory.instructions.have_segment() {
        module.section(DataSection::new().passive(SEGMENT));
    }
    module.finish()
}

fn add_access(functions: &mut Functions, index: Index, op: &Op, offset: u64) {
    let name = access_name(op, offset);
    let mut body = Vec::new();
    let results = op.result_types();
    if op.is_store() {
        op.emit(&mut body, Instruction::LocalGet(0), offset, 1, 0);
        functions.add(&name, &[index.ty(), I64], &results, &[], body);
        return;
    }
    op.emit(&mut body, Instruction::LocalGet(0), offset, 0, 1);
    functions.add(&name, &[index.ty()], &results, op.locals(), body.clone());
    body.extend(results.iter().map(|_| Instruction::Drop));
    let name = dropped_name(op, offset);
    functions.add(&name, &[index.ty()], &[], op.locals(), body);
}

fn add_constant(functions: &mut Functions, index: Index, op: &Op, offset: u64, at: u64) {
    let name = constant_name(op, offset, at);
    let mut body = Vec::new();
    op.emit(&mut body, index.constant(at), offset, 0, 0);
    if op.is_store() {
        functions.add(&name, &[I64], &op.result_types(), &[], body);
    } else {
        functions.add(&name, &[], &op.result_types(), op.locals(), body);
    }
}

fn add_sequences(functions: &mut Functions, index: Index) {
    use Instruction as I;
    for &pair in index.pairs() {
        let body = [pair.0, pair.1]
            .into_iter()
            .flat_map(|offset| [I::LocalGet(0), I::LocalGet(1), I::I64Store(memarg(offset))]);
        functions.add(&pair_name(pair), &[index.ty(), I64], &[], &[], body);
    }
    // Locals 0, 1, 2: address, bytes left, value.
    let store = [I::LocalGet(0), I::LocalGet(2), I::I64Store8(memarg(0))];
    let params = [index.ty(), index.ty(), I64];
    functions.add("run", &params, &[], &[], counted_loop(index, store));
}

/// A loop over local 0, upwards, while local 1 counts down to 0.
fn counted_loop(
    index: Index,
    body: impl IntoIterator<Item = Instruction<'static>>,
) -> Vec<Instruction<'static>> {
    use Instruction as I;
    let mut all = vec![
        I::Block(BlockType::Empty),
        I::Loop(BlockType::Empty),
        I::LocalGet(1),
        index.is_zero(),
        I::BrIf(1),
    ];
    all.extend(body);
    for (local, step) in [(0, 1), (1, u64::MAX)] {
        all.extend([
            I::LocalGet(local),
            index.constant(step),
            index.add(),
            I::LocalSet(local),
        ]);
    }
    all.extend([I::Br(0), I::End, I::End]);
    all
}

fn add_bulk(functions: &mut Functions, index: Index, instructions: Instructions) {
    use Instruction as I;
    let operands = || (0..3).map(I::LocalGet);
    let ty = index.ty();
    if instructions.have_copy() {
        let fill = operands().chain([I::MemoryFill(0)]);
        functions.add("fill", &[ty, I32, ty], &[], &[], fill);
        let copy = operands().chain([I::MemoryCopy {
            src_mem: 0,
            dst_mem: 0,
        }]);
        functions.add("copy", &[ty; 3], &[], &[], copy);
    }
    if instructions.have_segment() {
        let init = operands().chain([I::MemoryInit {
            mem: 0,
            data_index: 0,
        }]);
        functions.add("init", &[ty, I32, I32], &[], &[], init);
        functions.add("drop", &[], &[], &[], [I::DataDrop(0)]);
    }
    let grow = [I::LocalGet(0), I::MemoryGrow(0)];
    functions.add("grow", &[ty], &[ty], &[], grow);
    functions.add("size", &[], &[ty], &[], [I::MemorySize(0)]);
}

/// `pattern(start, count)` fills; `digest(start, count, ×3)` hashes three
/// ranges one after the other; `restore(…)` does the latter, then fills them.
fn add_tools(functions: &mut Functions, index: Index) {
    use Instruction as I;
    let ty = index.ty();
    let address = [I::LocalGet(0), I::LocalGet(0)];
    let fill = address.into_iter().chain(index.low()).chain([
        I::I32Const(PATTERN_FACTOR.cast_signed()),
        I::I32Mul,
        I::I32Const(PATTERN_SHIFT.cast_signed()),
        I::I32ShrU,
        I::I32Const(0x40),
        I::I32Or,
        I::I32Store8(memarg(0)),
    ]);
    let pattern = functions.add("pattern", &[ty; 2], &[], &[], counted_loop(index, fill));
    // Locals 0, 1, 2: address, bytes left, digest.
    let mix = [
        I::LocalGet(2),
        I::LocalGet(0),
        I::I64Load8U(memarg(0)),
        I::I64Xor,
        I::I64Const(DIGEST_PRIME.cast_signed()),
        I::I64Mul,
        I::LocalSet(2),
    ];
    let mut body = counted_loop(index, mix);
    body.push(I::LocalGet(2));
    let one = functions.add("digest one", &[ty, ty, I64], &[I64], &[], body);

    let basis = I::I64Const(DIGEST_BASIS.cast_signed());
    let first = [
        I::LocalGet(0),
        I::LocalGet(1),
        basis,
        I::Call(one),
        I::LocalSet(6),
    ];
    let more = [2, 4].into_iter().flat_map(|local| {
        [
            I::LocalGet(local),
            I::LocalGet(local + 1),
            I::LocalGet(6),
            I::Call(one),
            I::LocalSet(6),
        ]
    });
    let digest: Vec<_> = first.into_iter().chain(more).collect();
    let refill = [0, 2, 4]
        .into_iter()
        .flat_map(|local| [I::LocalGet(local), I::LocalGet(local + 1), I::Call(pattern)]);
    let answer = [I::LocalGet(6)];
    let restore: Vec<_> = digest
        .iter()
        .cloned()
        .chain(refill)
        .chain(answer.clone())
        .collect();
    let digest = digest.into_iter().chain(answer);
    functions.add("digest", &[ty; 6], &[I64], &[I64], digest);
    functions.add("restore", &[ty; 6], &[I64], &[I64], restore);
}
