//! The module under test: one memory and a function for each way to touch it.
//!
//! ```text
//!  OP@OFFSET          (index) -> bits, or (index, value)
//!  drop OP@OFFSET     (index): the loaded value is not used
//!  OP@OFFSET=INDEX    the same with a constant index: () -> bits, or (value)
//!  pair@A,B           (index, value): two stores with one index
//!  run                (start, count, value): a store in a loop
//!  fill copy init     the bulk instructions; `drop` drops the data segment
//!  grow size          memory.grow, memory.size
//!  pattern digest restore   the probe's own tools, inside the memory only
//! ```

use std::collections::BTreeSet;

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
pub(super) const OFFSETS: [u64; 5] = [0, 1, 1 << 16, 1 << 31, (1 << 32) - 1];

/// Offsets of accesses with a constant index.
pub(super) const CONSTANT_OFFSETS: [u64; 2] = [0, 1 << 16];

/// Offsets of two stores with one index.
pub(super) const PAIRS: [(u64, u64); 5] = [
    (0, 1 << 16),
    (1 << 16, 0),
    (0, 1 << 31),
    ((1 << 32) - 1, 0),
    (8, 0),
];

/// The export for an access.
pub(super) fn access_name(op: &Op, offset: u64) -> String {
    format!("{}@{offset}", op.name)
}

/// The export for a load whose value is dropped.
pub(super) fn dropped_name(op: &Op, offset: u64) -> String {
    format!("drop {}@{offset}", op.name)
}

/// The export for an access with a constant index.
pub(super) fn constant_name(op: &Op, offset: u64, index: u32) -> String {
    format!("{}@{offset}={index}", op.name)
}

/// The export for two stores.
pub(super) fn pair_name((first, second): (u64, u64)) -> String {
    format!("pair@{first},{second}")
}

/// Constant indices worth trying on memories of these lengths: at each end and
/// around it, and at the end of the index space.
pub(super) fn constant_indices(op: &Op, offset: u64, lens: &[u64]) -> BTreeSet<u32> {
    let (width, offset) = (i128::from(op.width), i128::from(offset));
    let ends = lens.iter().map(|len| i128::from(*len) - offset - width);
    ends.chain([(1 << 32) - width])
        .flat_map(|end| [end - 1, end, end + 1])
        .chain([0, (1 << 32) - 1])
        .filter_map(|index| u32::try_from(index).ok())
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

/// The memory of a module under test.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    /// Pages at first.
    pub min: u64,
    /// Pages at most.
    pub max: u64,
    /// Whether it is imported, which makes for other code in many engines. Its
    /// limits are its name, for hosts that cannot ask for them: "probe" "1-2".
    pub is_imported: bool,
}

/// The binary of a module with this memory. `lens` are the lengths in bytes it
/// will be probed at.
pub(super) fn build(memory: Memory, lens: &[u64]) -> Vec<u8> {
    let mut functions = Functions::default();
    for op in op::ALL {
        for offset in OFFSETS {
            add_access(&mut functions, op, offset);
        }
        for offset in CONSTANT_OFFSETS {
            for index in constant_indices(op, offset, lens) {
                add_constant(&mut functions, op, offset, index);
            }
        }
    }
    add_sequences(&mut functions);
    add_bulk(&mut functions);
    add_tools(&mut functions);

    functions.exports.export(MEMORY, ExportKind::Memory, 0);
    let memory_type = MemoryType {
        minimum: memory.min,
        maximum: Some(memory.max),
        memory64: false,
        shared: false,
        page_size_log2: None,
    };
    let (mut imports, mut memories) = (ImportSection::new(), MemorySection::new());
    if memory.is_imported {
        let limits = format!("{}-{}", memory.min, memory.max);
        imports.import("probe", &limits, memory_type);
    } else {
        memories.memory(memory_type);
    }
    let mut data = DataSection::new();
    data.passive(SEGMENT);
    let mut module = Module::new();
    module
        .section(&functions.types)
        .section(&imports)
        .section(&functions.functions)
        .section(&memories)
        .section(&functions.exports)
        .section(&DataCountSection { count: 1 })
        .section(&functions.code)
        .section(&data);
    module.finish()
}

fn add_access(functions: &mut Functions, op: &Op, offset: u64) {
    let name = access_name(op, offset);
    let mut body = Vec::new();
    if op.is_store() {
        op.emit(&mut body, Instruction::LocalGet(0), offset, 1, 0);
        functions.add(&name, &[I32, I64], &[], &[], body);
        return;
    }
    op.emit(&mut body, Instruction::LocalGet(0), offset, 0, 1);
    let results = op.result_types();
    functions.add(&name, &[I32], &results, &[ValType::V128], body.clone());
    body.extend(results.iter().map(|_| Instruction::Drop));
    let name = dropped_name(op, offset);
    functions.add(&name, &[I32], &[], &[ValType::V128], body);
}

fn add_constant(functions: &mut Functions, op: &Op, offset: u64, index: u32) {
    let name = constant_name(op, offset, index);
    let push = Instruction::I32Const(index.cast_signed());
    let mut body = Vec::new();
    op.emit(&mut body, push, offset, 0, 0);
    if op.is_store() {
        functions.add(&name, &[I64], &[], &[], body);
    } else {
        functions.add(&name, &[], &op.result_types(), &[ValType::V128], body);
    }
}

fn add_sequences(functions: &mut Functions) {
    use Instruction as I;
    for pair in PAIRS {
        let body = [pair.0, pair.1]
            .into_iter()
            .flat_map(|offset| [I::LocalGet(0), I::LocalGet(1), I::I64Store(memarg(offset))]);
        functions.add(&pair_name(pair), &[I32, I64], &[], &[], body);
    }
    // Locals 0, 1, 2: address, bytes left, value.
    let store = [I::LocalGet(0), I::LocalGet(2), I::I64Store8(memarg(0))];
    functions.add("run", &[I32, I32, I64], &[], &[], counted_loop(store));
}

/// A loop over local 0, upwards, while local 1 counts down to 0.
fn counted_loop(body: impl IntoIterator<Item = Instruction<'static>>) -> Vec<Instruction<'static>> {
    use Instruction as I;
    let mut all = vec![
        I::Block(BlockType::Empty),
        I::Loop(BlockType::Empty),
        I::LocalGet(1),
        I::I32Eqz,
        I::BrIf(1),
    ];
    all.extend(body);
    for (local, step) in [(0, 1), (1, -1)] {
        all.extend([
            I::LocalGet(local),
            I::I32Const(step),
            I::I32Add,
            I::LocalSet(local),
        ]);
    }
    all.extend([I::Br(0), I::End, I::End]);
    all
}

fn add_bulk(functions: &mut Functions) {
    use Instruction as I;
    let operands = || (0..3).map(I::LocalGet);
    let three = [I32; 3];
    let fill = operands().chain([I::MemoryFill(0)]);
    functions.add("fill", &three, &[], &[], fill);
    let copy = operands().chain([I::MemoryCopy {
        src_mem: 0,
        dst_mem: 0,
    }]);
    functions.add("copy", &three, &[], &[], copy);
    let init = operands().chain([I::MemoryInit {
        mem: 0,
        data_index: 0,
    }]);
    functions.add("init", &three, &[], &[], init);
    functions.add("drop", &[], &[], &[], [I::DataDrop(0)]);
    let grow = [I::LocalGet(0), I::MemoryGrow(0)];
    functions.add("grow", &[I32], &[I32], &[], grow);
    functions.add("size", &[], &[I32], &[], [I::MemorySize(0)]);
}

/// `pattern(start, count)` fills; `digest(start, count, ×3)` hashes three
/// ranges one after the other; `restore(…)` does the latter, then fills them.
fn add_tools(functions: &mut Functions) {
    use Instruction as I;
    let fill = [
        I::LocalGet(0),
        I::LocalGet(0),
        I::I32Const(PATTERN_FACTOR.cast_signed()),
        I::I32Mul,
        I::I32Const(PATTERN_SHIFT.cast_signed()),
        I::I32ShrU,
        I::I32Const(0x40),
        I::I32Or,
        I::I32Store8(memarg(0)),
    ];
    let pattern = functions.add("pattern", &[I32; 2], &[], &[], counted_loop(fill));
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
    let mut body = counted_loop(mix);
    body.push(I::LocalGet(2));
    let one = functions.add("digest one", &[I32, I32, I64], &[I64], &[], body);

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
    functions.add("digest", &[I32; 6], &[I64], &[I64], digest);
    functions.add("restore", &[I32; 6], &[I64], &[I64], restore);
}
