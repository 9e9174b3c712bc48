//! What translation knows of the module around a body, and the loads from the
//! instance's context that bodies share.
//!
//! What must stay true: two accesses that can touch the same byte are in the
//! same alias region, as Cranelift forwards what was stored, and leaves stores
//! out, past whatever is in another one. The regions are:
//!
//! | region | why it is one, and apart |
//! |---|---|
//! | context and cells | lengths and bases of tables and memories: two imports may share them |
//! | elements | of all tables, whose imports may be one another |
//! | imported globals | may be one another |
//! | each of the first inline globals, all others | cells of the instance's own |
//! | imported memories | may be one another |
//! | each other memory | the instance's own |
//! | fields and elements of objects | a reference may be to any of them |
//! | headers of objects | written before anybody else has a reference to the object |
//!
//! What is imported was there before the instance, so it is nothing of its own.
//! What is its own can be another name's only in other instances, whose code runs
//! in calls: those are barriers for every region. Of what is inlined all is of
//! the same instance.

use std::collections::HashMap;
use std::sync::atomic::AtomicI32;

use cranelift_codegen::ir::{
    AbiParam, AliasRegion, AliasRegionData, ArgumentPurpose, Block, Endianness, ExtFuncData,
    ExternalName, FuncRef, Function, GlobalValueData, Inst, InstBuilder, MemFlagsData, SigRef,
    Signature, Type, UserExternalName, Value, types,
};
use cranelift_codegen::isa::{CallConv, TargetIsa};
use cranelift_frontend::FunctionBuilder;
use wasmparser::BlockType;

use super::Translator;
use super::inline::Inlinable;
use crate::bounds::{MemoryPlan, Site, Touch};
use crate::compile::argument_passing::Passing;
use crate::compile::count::increment;
use crate::compile::{Elide, ModuleBudget};
use crate::facts::libcall::Libcall;
use crate::facts::module::ModuleInfo;
use crate::facts::types::ValType;
use crate::facts::vmctx::{self, Counter, VmLayout, offsets};

/// Namespace of Wasm functions in external names; the index is the function's.
pub(crate) const NAMESPACE_WASM: u32 = 0;

/// Namespace of the starts of continuations; the index is their type's.
pub(crate) const NAMESPACE_START: u32 = 1;

/// Inline globals with an alias region of their own. A bound, because the flags
/// of a function's accesses are a small table.
const GLOBAL_REGIONS: u32 = 64;

/// The module a body belongs to.
#[derive(Clone, Copy)]
pub(crate) struct ModuleEnv<'a> {
    /// What the module declares.
    pub info: &'a ModuleInfo,
    /// Layout of its contexts.
    pub layout: &'a VmLayout,
    /// The plan of each memory, imported ones first.
    pub plans: &'a [MemoryPlan],
    /// The target.
    pub isa: &'a dyn TargetIsa,
    /// Which checks are left out.
    pub elide: Elide,
    /// Whether what checks let through is guarded against speculation.
    pub spectre: bool,
    /// How arguments get to functions.
    pub passing: Passing,
    /// Whether the code counts what it does.
    pub count: bool,
    /// Whether the code consumes fuel.
    pub fuel: bool,
    /// What is translated in the place of calls.
    pub inlinable: Inlinable<'a>,
    /// What compiling it may take.
    pub budget: &'a ModuleBudget,
    /// The target without optimisation, for bodies beyond the budget.
    pub plain_isa: &'a dyn TargetIsa,
    /// The forms of both for bodies with large tables ([`Target::unplaced`]).
    pub unplaced: [&'a dyn TargetIsa; 2],
    /// Whether this is for one of those.
    pub plain: bool,
    /// Whether code is made in one pass, where it can be.
    pub direct: bool,
    /// What that counts down, by position of the function, until it is to be optimised.
    pub countdowns: Option<&'a [AtomicI32]>,
    /// The loop that the code begins at, in the frame of code that was made in one pass.
    pub entered_at: Option<u32>,
    /// Whether that is left in turn, at heads of loops, for code of the last tier.
    pub is_left: bool,
    /// Whether null is compared with before an object is accessed, so that no access faults.
    pub compares_null: bool,
}

impl<'a> ModuleEnv<'a> {
    /// For a body beyond the budget: with nothing that takes more work than the
    /// code is long.
    pub(crate) fn plain(&self) -> ModuleEnv<'a> {
        ModuleEnv {
            isa: self.plain_isa,
            unplaced: [self.unplaced[1]; 2],
            elide: Elide::Off,
            inlinable: Inlinable::NONE,
            plain: true,
            ..*self
        }
    }
}

/// The Cranelift type of a value across calls, in locals and in memory.
pub(crate) fn clif_type(ty: ValType) -> Type {
    match ty {
        ValType::I32 => types::I32,
        ValType::I64 | ValType::Ref(_) => types::I64,
        ValType::F32 => types::F32,
        ValType::F64 => types::F64,
        ValType::V128 => types::I8X16,
    }
}

/// The same of a type as it stands in the binary.
pub(super) fn parsed_clif_type(ty: wasmparser::ValType) -> Type {
    use wasmparser::ValType as Parsed;
    match ty {
        Parsed::I32 => types::I32,
        Parsed::I64 | Parsed::Ref(_) => types::I64,
        Parsed::F32 => types::F32,
        Parsed::F64 => types::F64,
        Parsed::V128 => types::I8X16,
    }
}

/// The same where the function is given the runtime and no context.
pub(crate) fn set_stack_limit_of_runtime(func: &mut Function) {
    let flags = func
        .dfg
        .mem_flags
        .insert(MemFlagsData::trusted())
        .expect("the table of flags is empty");
    let runtime = func.create_global_value(GlobalValueData::VMContext);
    let limit = func.create_global_value(GlobalValueData::Load {
        base: runtime,
        offset: offsets::RUNTIME_STACK_LIMIT.into(),
        global_type: types::I64,
        flags,
    });
    func.stack_limit = Some(limit);
}

/// The signature of a start of continuations: it is given the runtime. It never returns, so
/// it is of the convention under which it need not preserve registers.
pub(crate) fn start_signature() -> Signature {
    let mut signature = Signature::new(CallConv::Winch);
    signature
        .params
        .push(AbiParam::special(types::I64, ArgumentPurpose::VMContext));
    signature
}

/// Maps of [`FuncEnv`], reused from body to body.
#[derive(Default)]
pub(super) struct EnvBuffers {
    functions: HashMap<u32, FuncRef>,
    signatures: HashMap<u32, SigRef>,
    /// By number of the runtime function.
    libcalls: Vec<Option<SigRef>>,
    sites: Vec<Site>,
    /// All accesses, where somebody asks for them.
    touches: Vec<Touch>,
    pub(super) keeps_touches: bool,
    /// The ends of the increments that count accesses.
    pub(super) counted: Vec<Inst>,
}

impl EnvBuffers {
    pub(super) fn sites(&self) -> &[Site] {
        &self.sites
    }

    pub(super) fn touches(&self) -> &[Touch] {
        &self.touches
    }
}

/// The addresses of a memory, valid in one block.
#[derive(Clone, Copy)]
struct LoadedMemory {
    block: Block,
    memory: u32,
    base: Value,
    def: Value,
}

/// The regions of what is in the collected heap.
const OBJECTS: u32 = u32::MAX - 1;
const HEADERS: u32 = u32::MAX - 2;

/// Whether a function accesses objects of the collected heap.
pub(crate) fn accesses_objects(func: &Function) -> bool {
    let regions = &func.dfg.alias_regions;
    regions.contains(OBJECTS) || regions.contains(HEADERS)
}

/// Parts of objects, which no access overlaps two of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectPart {
    Header,
    /// Fields and elements.
    Cells,
}

/// What an instruction accesses of an object, if it does.
pub(crate) fn part_of_object(func: &Function, inst: Inst) -> Option<ObjectPart> {
    let dfg = &func.dfg;
    let region = dfg.insts[inst].alias_region(dfg)?;
    match dfg.alias_regions[region].user_id {
        HEADERS => Some(ObjectPart::Header),
        OBJECTS => Some(ObjectPart::Cells),
        _ => None,
    }
}

/// Alias regions; see the head of this file.
#[derive(Clone, Copy)]
enum Region {
    Cells,
    Tables,
    Fuel,
    ImportedGlobals,
    InlineGlobal(u32),
    ImportedMemories,
    OwnMemory(u32),
    Objects,
    Headers,
}

/// What the translation of one body knows of its module.
pub(super) struct FuncEnv<'a> {
    /// The module.
    pub module: &'a ModuleEnv<'a>,
    /// The instance's context.
    pub vmctx: Value,
    buffers: &'a mut EnvBuffers,
    last_memory: Option<LoadedMemory>,
}

impl<'a> FuncEnv<'a> {
    /// For a body whose entry block is current in `b`.
    pub(super) fn new(
        module: &'a ModuleEnv<'a>,
        buffers: &'a mut EnvBuffers,
        b: &mut FunctionBuilder<'_>,
    ) -> FuncEnv<'a> {
        buffers.functions.clear();
        buffers.signatures.clear();
        buffers.libcalls.clear();
        buffers.libcalls.resize(Libcall::ALL.len(), None);
        buffers.sites.clear();
        buffers.touches.clear();
        buffers.counted.clear();
        let entry = b.current_block().expect("the entry block is current");
        let vmctx = b.block_params(entry)[0];
        set_stack_limit(b.func);
        FuncEnv {
            module,
            vmctx,
            buffers,
            last_memory: None,
        }
    }
}

/// Makes the prologue compare the stack pointer with the runtime's limit.
///
/// That comparison is the only one, so it must count every byte that the function writes. Cranelift
/// 0.135.8 (`machinst/abi.rs` `gen_prologue`, `isa/x64/abi.rs` `gen_clobber_save`) compares behind
/// `push rbp; mov rbp, rsp` with the limit and the sum of: what tail calls need more for their
/// arguments than the function was given; registers that are saved; slots and spills; arguments of
/// calls; and 16, for the return address and rbp of whom it calls, if anything is called, by a tail
/// call too. The first and the next three are the two subtractions that follow, to the byte.
/// A body has no other way to move rsp than calls, and behind one whose callee takes its
/// arguments off, the subtraction that puts it back. No frame is realigned: slots are aligned to 16
/// bytes at most, as the stack is. A function without a frame that calls nobody compares nothing,
/// and writes the 16 bytes that its caller counted. From 32 KiB on it compares with the limit
/// alone first, so that the sum cannot wrap. There is no red zone, and no probe
/// (`enable_probestack` of `compile/target.rs`).
pub(crate) fn set_stack_limit(func: &mut Function) {
    let flags = func
        .dfg
        .mem_flags
        .insert(MemFlagsData::trusted().with_readonly().with_can_move())
        .expect("the table of flags is empty");
    let load = |base, offset: i32| GlobalValueData::Load {
        base,
        offset: offset.into(),
        global_type: types::I64,
        flags,
    };
    let vmctx = func.create_global_value(GlobalValueData::VMContext);
    let runtime = func.create_global_value(load(vmctx, vmctx::VMCTX_RUNTIME));
    let limit = func.create_global_value(load(runtime, offsets::RUNTIME_STACK_LIMIT));
    func.stack_limit = Some(limit);
}

/// The results of a block type.
#[derive(Clone, Copy)]
pub(super) enum ResultTypes<'a> {
    /// At most one.
    One(Option<Type>),
    /// Those of a function type.
    Many(&'a [ValType]),
}

impl<'a> ResultTypes<'a> {
    /// How many there are.
    pub(super) fn len(self) -> usize {
        match self {
            ResultTypes::One(one) => usize::from(one.is_some()),
            ResultTypes::Many(many) => many.len(),
        }
    }

    /// The types.
    pub(super) fn iter(self) -> impl Iterator<Item = Type> + use<'a> {
        let (one, many) = match self {
            ResultTypes::One(one) => (one, &[][..]),
            ResultTypes::Many(many) => (None, many),
        };
        one.into_iter().chain(many.iter().map(|ty| clif_type(*ty)))
    }
}

impl<'a> Translator<'a> {
    /// Counts one more, where the code is to count.
    pub(super) fn count(&mut self, counter: Counter) -> Option<Inst> {
        let vmctx = self.env.vmctx;
        let count = self.env.module.count;
        count.then(|| increment!(self.b, vmctx, counter))
    }

    /// Counts an access as each of these, and remembers where.
    pub(super) fn count_access(&mut self, counters: &[Counter]) {
        let mut last = None;
        for counter in counters {
            last = self.count(*counter);
        }
        self.env.buffers.counted.extend(last);
    }

    /// Parameters and results of a block type.
    pub(super) fn block_types(&self, ty: BlockType) -> (&'a [ValType], ResultTypes<'a>) {
        match ty {
            BlockType::Empty => (&[], ResultTypes::One(None)),
            BlockType::Type(ty) => (&[], ResultTypes::One(Some(parsed_clif_type(ty)))),
            BlockType::FuncType(index) => {
                let ty = &self.env.module.info.types[index as usize];
                (ty.params(), ResultTypes::Many(ty.results()))
            }
        }
    }

    /// The alias region for accesses of one kind.
    fn region(&mut self, region: Region) -> Option<AliasRegion> {
        let (user_id, description) = match region {
            Region::Cells => (0, "context and cells"),
            Region::Tables => (1, "table elements"),
            Region::ImportedGlobals => (2, "imported globals"),
            Region::InlineGlobal(index) => (3 + index.min(GLOBAL_REGIONS), "global"),
            Region::ImportedMemories => (4 + GLOBAL_REGIONS, "imported memories"),
            Region::Fuel => (u32::MAX, "fuel"),
            Region::Objects => (OBJECTS, "objects"),
            Region::Headers => (HEADERS, "headers of objects"),
            Region::OwnMemory(index) => (5 + GLOBAL_REGIONS + index, "memory"),
        };
        let data = AliasRegionData {
            user_id,
            description: description.into(),
        };
        Some(self.b.func.dfg.alias_regions.insert(data))
    }

    /// Flags for cells that change: lengths, table bases.
    pub(super) fn cell_flags(&mut self) -> MemFlagsData {
        let region = self.region(Region::Cells);
        MemFlagsData::trusted().with_alias_region(region)
    }

    /// Flags for what never changes after instantiation.
    pub(super) fn constant_flags(&mut self) -> MemFlagsData {
        self.cell_flags().with_readonly().with_can_move()
    }

    /// Flags for what is left of the fuel.
    pub(super) fn fuel_flags(&mut self) -> MemFlagsData {
        let region = self.region(Region::Fuel);
        MemFlagsData::trusted().with_alias_region(region)
    }

    /// Flags for an access to an object that is there.
    pub(super) fn object_flags(&mut self) -> MemFlagsData {
        let region = self.region(Region::Objects);
        let flags = MemFlagsData::new().with_endianness(Endianness::Little);
        flags.with_trap_code(None).with_alias_region(region)
    }

    /// Flags for an access to the header of an object that is there.
    pub(super) fn header_flags(&mut self) -> MemFlagsData {
        let region = self.region(Region::Headers);
        MemFlagsData::trusted().with_alias_region(region)
    }

    /// Flags for what never changes once there is a reference to something that it is of:
    /// the type of a function, the row of a type.
    pub(super) fn constant_row_flags(&mut self) -> MemFlagsData {
        self.cell_flags().with_readonly()
    }

    /// Flags for elements of tables.
    pub(super) fn table_flags(&mut self) -> MemFlagsData {
        let region = self.region(Region::Tables);
        MemFlagsData::trusted().with_alias_region(region)
    }

    /// Flags for a global's cell.
    pub(super) fn global_flags(&mut self, inline: Option<u32>) -> MemFlagsData {
        let region = match inline {
            Some(index) => self.region(Region::InlineGlobal(index)),
            None => self.region(Region::ImportedGlobals),
        };
        MemFlagsData::trusted().with_alias_region(region)
    }

    /// Flags for accesses to a memory, before its plan has its say.
    pub(super) fn heap_flags(&mut self, memory: u32) -> MemFlagsData {
        let own = memory.checked_sub(self.env.module.info.imported_memories);
        let region = match own {
            Some(own) => self.region(Region::OwnMemory(own)),
            None => self.region(Region::ImportedMemories),
        };
        MemFlagsData::new()
            .with_endianness(Endianness::Little)
            .with_alias_region(region)
    }

    /// An address that a check let through, and null where `refused` holds: for what a
    /// processor does with it before it knows that the check traps.
    pub(super) fn guarded(&mut self, refused: Value, address: Value) -> Value {
        if !self.env.module.spectre {
            return address;
        }
        let null = self.b.ins().iconst(types::I64, 0);
        self.b.ins().select_spectre_guard(refused, null, address)
    }

    /// Loads something of the context that never changes.
    pub(super) fn context_constant(&mut self, ty: Type, offset: i32) -> Value {
        let flags = self.constant_flags();
        self.b.ins().load(ty, flags, self.env.vmctx, offset)
    }

    /// Keeps an access for the elision of checks.
    pub(super) fn note_site(&mut self, site: Site) {
        self.env.buffers.sites.push(site);
    }

    /// Whether accesses are kept for proofs about loops.
    pub(super) fn keeps_touches(&self) -> bool {
        self.env.buffers.keeps_touches
    }

    /// Keeps an access for those.
    pub(super) fn note_touch(&mut self, touch: Touch) {
        self.env.buffers.touches.push(touch);
    }

    /// First byte of a memory and address of its `VmMemory`.
    pub(super) fn memory_addresses(&mut self, memory: u32) -> (Value, Value) {
        let block = self.b.current_block().expect("a block is current");
        if let Some(last) = self.env.last_memory
            && last.block == block
            && last.memory == memory
        {
            return (last.base, last.def);
        }
        let layout = self.env.module.layout;
        let base = self.context_constant(types::I64, layout.memory_base(memory));
        let def = self.context_constant(types::I64, layout.memory_def(memory));
        self.env.last_memory = Some(LoadedMemory {
            block,
            memory,
            base,
            def,
        });
        (base, def)
    }

    /// The signature of the module's type `index`, imported into the function.
    pub(super) fn signature(&mut self, index: u32) -> SigRef {
        if let Some(signature) = self.env.buffers.signatures.get(&index) {
            return *signature;
        }
        let ty = &self.env.module.info.types[index as usize];
        let signature = self
            .b
            .import_signature(self.env.module.passing.signature(ty));
        self.env.buffers.signatures.insert(index, signature);
        signature
    }

    /// A function of the module, imported into the function for direct calls.
    pub(super) fn local_function(&mut self, index: u32) -> FuncRef {
        if let Some(function) = self.env.buffers.functions.get(&index) {
            return *function;
        }
        let signature = self.signature(self.env.module.info.funcs[index as usize]);
        let name = UserExternalName::new(NAMESPACE_WASM, index);
        let name = ExternalName::user(self.b.func.declare_imported_user_function(name));
        let data = ExtFuncData {
            name,
            signature,
            colocated: true,
            patchable: false,
        };
        let function = self.b.import_function(data);
        self.env.buffers.functions.insert(index, function);
        function
    }

    /// Calls a runtime function with the context and `args`; its result, if it
    /// has one.
    pub(super) fn libcall(&mut self, libcall: Libcall, args: &[Value]) -> Option<Value> {
        let signature = match self.env.buffers.libcalls[libcall as usize] {
            Some(signature) => signature,
            None => {
                let call_conv = self.env.module.isa.default_call_conv();
                let signature = self.b.import_signature(libcall.signature(call_conv));
                self.env.buffers.libcalls[libcall as usize] = Some(signature);
                signature
            }
        };
        let table = self.context_constant(types::I64, vmctx::VMCTX_LIBCALLS);
        let flags = self.constant_flags();
        let callee = self
            .b
            .ins()
            .load(types::I64, flags, table, libcall.table_offset());
        let mut all = std::mem::take(&mut self.state.call_args);
        all.clear();
        all.push(self.env.vmctx);
        all.extend_from_slice(args);
        let dfg = &self.b.func.dfg;
        let wanted = dfg.signatures[signature]
            .params
            .iter()
            .map(|p| p.value_type);
        debug_assert!(
            wanted.eq(all.iter().map(|arg| dfg.value_type(*arg))),
            "{libcall:?} takes other arguments"
        );
        let call = self.b.ins().call_indirect(signature, callee, &all);
        self.state.call_args = all;
        self.b.inst_results(call).first().copied()
    }
}
