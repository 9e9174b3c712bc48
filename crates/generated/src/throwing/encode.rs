//! A program as a module.

use std::borrow::Cow;

use wasm_encoder::{
    BlockType, Catch as Caught, CodeSection, ConstExpr, ElementSection, Elements, EntityType,
    ExportKind, ExportSection, Function, FunctionSection, GlobalSection, GlobalType, ImportSection,
    Instruction, MemArg, MemArgTarget, MemorySection, MemoryType, Module, RefType, TableType,
    TagKind, TagSection, TagType, TypeSection, ValType,
};

use super::program::{CHECKSUM, GLOBALS, Host, Instr, Program, Sig, Ty};

/// Locals that variants of a function's recursion have, so that frames are of different sizes.
pub const DEEP: usize = 3;
/// Imported: the budget, and the first element that the table has of an instance.
const BUDGET: u32 = 0;
const FIRST: u32 = 1;
const IMPORTED_GLOBALS: u32 = 2;

fn val(ty: Ty) -> ValType {
    match ty {
        Ty::I32 => ValType::I32,
        Ty::I64 => ValType::I64,
        Ty::F32 => ValType::F32,
        Ty::F64 => ValType::F64,
        Ty::V128 => ValType::V128,
        Ty::Exn => ValType::Ref(RefType::EXNREF),
    }
}

fn vals(types: &[Ty]) -> Vec<ValType> {
    types.iter().map(|ty| val(*ty)).collect()
}

/// Its parts as they are made.
struct Encoder<'p> {
    program: &'p Program,
    sigs: Vec<Sig>,
    /// The index of each tag: those that are shared come first.
    tags: Vec<u32>,
}

/// Its binary.
pub fn encode(program: &Program) -> Vec<u8> {
    let shared = program.shared().count();
    let mut encoder = Encoder {
        program,
        sigs: Vec::new(),
        tags: (0..program.tags.len())
            .map(|tag| match Program::is_shared(tag) {
                true => (tag / 2) as u32,
                false => (shared + tag / 2) as u32,
            })
            .collect(),
    };
    let code = encoder.code();
    let functions = encoder.functions();
    let imports = encoder.imports();
    let tags = encoder.tags();
    let globals = globals();
    let mut memories = MemorySection::new();
    memories.memory(MemoryType {
        minimum: 1,
        maximum: Some(1),
        memory64: false,
        shared: false,
        page_size_log2: None,
    });
    let own = (0..program.funcs.len() as u32).map(|at| Host::ALL.len() as u32 + at);
    let own: Vec<u32> = own.collect();
    let mut elements = ElementSection::new();
    elements.active(
        Some(0),
        &ConstExpr::global_get(FIRST),
        Elements::Functions(own.into()),
    );
    let exports = encoder.exports();
    let mut types = TypeSection::new();
    for sig in &encoder.sigs {
        types.ty().function(vals(&sig.params), vals(&sig.results));
    }
    let mut module = Module::new();
    module.section(&types).section(&imports).section(&functions);
    module.section(&memories).section(&tags).section(&globals);
    module.section(&exports).section(&elements).section(&code);
    module.finish()
}

fn zero(ty: Ty) -> ConstExpr {
    match ty {
        Ty::I32 => ConstExpr::i32_const(0),
        Ty::I64 => ConstExpr::i64_const(0),
        Ty::F32 => ConstExpr::f32_const(0.0.into()),
        Ty::F64 => ConstExpr::f64_const(0.0.into()),
        Ty::V128 => ConstExpr::v128_const(0),
        Ty::Exn => ConstExpr::ref_null(RefType::EXNREF.heap_type),
    }
}

fn globals() -> GlobalSection {
    let mut section = GlobalSection::new();
    for ty in GLOBALS {
        let global = GlobalType {
            val_type: val(ty),
            mutable: true,
            shared: false,
        };
        section.global(global, &zero(ty));
    }
    section
}

impl Encoder<'_> {
    fn type_of(&mut self, sig: &Sig) -> u32 {
        let found = self.sigs.iter().position(|one| one == sig);
        let at = found.unwrap_or_else(|| {
            self.sigs.push(sig.clone());
            self.sigs.len() - 1
        });
        at as u32
    }

    fn tag_type(&mut self, tag: usize) -> TagType {
        let sig = Sig {
            params: self.program.tags[tag].clone(),
            results: Vec::new(),
        };
        TagType {
            kind: TagKind::Exception,
            func_type_idx: self.type_of(&sig),
        }
    }

    fn imports(&mut self) -> ImportSection {
        let mut section = ImportSection::new();
        for host in Host::ALL {
            let ty = self.type_of(&host.sig());
            section.import("host", host.name(), EntityType::Function(ty));
        }
        let table = TableType {
            element_type: RefType::FUNCREF,
            table64: false,
            minimum: 2 * self.program.funcs.len() as u64,
            maximum: None,
            shared: false,
        };
        section.import("host", "table", EntityType::Table(table));
        for (name, val_type, mutable) in [
            ("budget", ValType::I64, true),
            ("first", ValType::I32, false),
        ] {
            let global = GlobalType {
                val_type,
                mutable,
                shared: false,
            };
            section.import("host", name, EntityType::Global(global));
        }
        for tag in self.program.shared() {
            let ty = self.tag_type(tag);
            section.import("host", &format!("t{tag}"), EntityType::Tag(ty));
        }
        section
    }

    fn tags(&mut self) -> TagSection {
        let mut section = TagSection::new();
        for tag in (0..self.program.tags.len()).filter(|tag| !Program::is_shared(*tag)) {
            section.tag(self.tag_type(tag));
        }
        section
    }

    /// With the depth of recursion in front.
    fn deep(sig: &Sig) -> Sig {
        let mut params = vec![Ty::I32];
        params.extend(&sig.params);
        Sig {
            params,
            results: sig.results.clone(),
        }
    }

    fn functions(&mut self) -> FunctionSection {
        let mut section = FunctionSection::new();
        for func in &self.program.funcs {
            section.function(self.type_of(&func.sig));
        }
        for func in &self.program.funcs {
            for _ in 0..DEEP {
                section.function(self.type_of(&Self::deep(&func.sig)));
            }
        }
        section
    }

    fn exports(&self) -> ExportSection {
        let mut section = ExportSection::new();
        let (first, count) = (Host::ALL.len(), self.program.funcs.len());
        for at in 0..count {
            let index = (first + at) as u32;
            section.export(&format!("f{at}"), ExportKind::Func, index);
            for more in 0..DEEP {
                let index = (first + count + DEEP * at + more) as u32;
                section.export(&format!("d{at}-{more}"), ExportKind::Func, index);
            }
        }
        for (at, index) in self.tags.iter().enumerate() {
            section.export(&format!("t{at}"), ExportKind::Tag, *index);
        }
        for at in 0..GLOBALS.len() as u32 {
            let name = format!("g{at}");
            section.export(&name, ExportKind::Global, IMPORTED_GLOBALS + at);
        }
        section.export("memory", ExportKind::Memory, 0);
        section
    }

    fn code(&mut self) -> CodeSection {
        let mut section = CodeSection::new();
        for func in &self.program.funcs {
            let locals = &func.locals[func.sig.params.len()..];
            let mut to = Function::new_with_locals_types(vals(locals));
            self.all(&mut to, &func.body);
            to.instruction(&Instruction::End);
            section.function(&to);
        }
        for at in 0..self.program.funcs.len() {
            for more in 0..DEEP {
                section.function(&self.recursion(at, more));
            }
        }
        section
    }

    /// Calls itself so often, and then a function.
    fn recursion(&mut self, at: usize, more: usize) -> Function {
        let sig = self.program.funcs[at].sig.clone();
        let first = Host::ALL.len();
        let own = first + self.program.funcs.len() + DEEP * at + more;
        let mut to = Function::new_with_locals_types(vec![ValType::V128; more]);
        let ty = self.type_of(&Sig {
            params: Vec::new(),
            results: sig.results,
        });
        to.instruction(&Instruction::LocalGet(0));
        to.instruction(&Instruction::If(BlockType::FunctionType(ty)));
        to.instruction(&Instruction::LocalGet(0));
        to.instruction(&Instruction::I32Const(1));
        to.instruction(&Instruction::I32Sub);
        let arguments = (0..sig.params.len() as u32).map(|at| Instruction::LocalGet(at + 1));
        let arguments: Vec<Instruction<'_>> = arguments.collect();
        for one in &arguments {
            to.instruction(one);
        }
        to.instruction(&Instruction::Call(own as u32));
        to.instruction(&Instruction::Else);
        for one in &arguments {
            to.instruction(one);
        }
        to.instruction(&Instruction::Call((first + at) as u32));
        to.instruction(&Instruction::End);
        to.instruction(&Instruction::End);
        to
    }

    /// The short form of a block's type, where there is one.
    fn block_type(&mut self, sig: &Sig) -> BlockType {
        match (&sig.params[..], &sig.results[..]) {
            ([], []) => BlockType::Empty,
            ([], [one]) => BlockType::Result(val(*one)),
            _ => BlockType::FunctionType(self.type_of(sig)),
        }
    }

    fn all(&mut self, to: &mut Function, body: &[Instr]) {
        for one in body {
            self.instr(to, one);
        }
    }

    fn instr(&mut self, to: &mut Function, instr: &Instr) {
        use Instruction as I;
        let plain = match instr {
            Instr::Const(ty, bits) => constant(*ty, *bits),
            Instr::Op(op) => op.instruction(),
            Instr::Select(_) => I::Select,
            Instr::IsNull => I::RefIsNull,
            Instr::Drop => I::Drop,
            Instr::Get(local) => I::LocalGet(*local),
            Instr::Set(local) => I::LocalSet(*local),
            Instr::Tee(local) => I::LocalTee(*local),
            Instr::GlobalGet(global) => I::GlobalGet(IMPORTED_GLOBALS + *global as u32),
            Instr::GlobalSet(global) => I::GlobalSet(IMPORTED_GLOBALS + *global as u32),
            Instr::Load(ty, offset) => load(*ty, *offset),
            Instr::Store(ty, offset) => store(*ty, *offset),
            Instr::Br(depth) => I::Br(*depth),
            Instr::BrIf(depth) => I::BrIf(*depth),
            Instr::BrTable(all, last) => I::BrTable(Cow::Borrowed(all), *last),
            Instr::Return => I::Return,
            Instr::Throw(tag) => I::Throw(self.tags[*tag]),
            Instr::ThrowRef => I::ThrowRef,
            Instr::Rethrow(depth) => I::Rethrow(*depth),
            Instr::Unreachable => I::Unreachable,
            Instr::Call(func) => I::Call((Host::ALL.len() + func) as u32),
            Instr::CallIndirect(func) => I::CallIndirect {
                type_index: self.type_of(&self.program.funcs[*func].sig),
                table_index: 0,
            },
            Instr::Host(host) => {
                let at = Host::ALL.iter().position(|one| one == host);
                I::Call(at.expect("it is one of them") as u32)
            }
            Instr::Mix | Instr::Spend => return bookkeeping(to, instr),
            _ => return self.block(to, instr),
        };
        to.instruction(&plain);
    }

    fn block(&mut self, to: &mut Function, instr: &Instr) {
        use Instruction as I;
        match instr {
            Instr::Block(sig, body) => {
                to.instruction(&I::Block(self.block_type(sig)));
                self.all(to, body);
            }
            Instr::Loop(sig, body) => {
                to.instruction(&I::Loop(self.block_type(sig)));
                self.all(to, body);
            }
            Instr::If(sig, then, otherwise) => {
                to.instruction(&I::If(self.block_type(sig)));
                self.all(to, then);
                if !otherwise.is_empty() {
                    to.instruction(&I::Else);
                    self.all(to, otherwise);
                }
            }
            Instr::TryTable(sig, catches, body) => {
                let caught = catches.iter().map(|one| {
                    let label = one.label;
                    match (one.tag.map(|tag| self.tags[tag]), one.by_reference) {
                        (Some(tag), false) => Caught::One { tag, label },
                        (Some(tag), true) => Caught::OneRef { tag, label },
                        (None, false) => Caught::All { label },
                        (None, true) => Caught::AllRef { label },
                    }
                });
                let caught: Vec<Caught> = caught.collect();
                to.instruction(&I::TryTable(self.block_type(sig), caught.into()));
                self.all(to, body);
            }
            Instr::Try(sig, body, clauses) => {
                to.instruction(&I::Try(self.block_type(sig)));
                self.all(to, body);
                for clause in clauses {
                    to.instruction(&match clause.tag {
                        Some(tag) => I::Catch(self.tags[tag]),
                        None => I::CatchAll,
                    });
                    self.all(to, &clause.body);
                }
            }
            Instr::Delegate(sig, body, depth) => {
                to.instruction(&I::Try(self.block_type(sig)));
                self.all(to, body);
                to.instruction(&I::Delegate(*depth));
                return;
            }
            other => unreachable!("{other:?} is no block"),
        }
        to.instruction(&I::End);
    }
}

fn constant(ty: Ty, bits: u128) -> Instruction<'static> {
    match ty {
        Ty::I32 => Instruction::I32Const(bits as u32 as i32),
        Ty::I64 => Instruction::I64Const(bits as u64 as i64),
        Ty::F32 => Instruction::F32Const(wasm_encoder::Ieee32::new(bits as u32)),
        Ty::F64 => Instruction::F64Const(wasm_encoder::Ieee64::new(bits as u64)),
        Ty::V128 => Instruction::V128Const(bits.cast_signed()),
        Ty::Exn => Instruction::RefNull(RefType::EXNREF.heap_type),
    }
}

fn place(offset: u32) -> MemArg {
    MemArg {
        offset: offset.into(),
        align: 0,
        target: MemArgTarget::Memory(0),
        ordering: None,
    }
}

fn load(ty: Ty, offset: u32) -> Instruction<'static> {
    let place = place(offset);
    match ty {
        Ty::I32 => Instruction::I32Load(place),
        Ty::I64 => Instruction::I64Load(place),
        Ty::F32 => Instruction::F32Load(place),
        Ty::F64 => Instruction::F64Load(place),
        Ty::V128 => Instruction::V128Load(place),
        Ty::Exn => unreachable!("memory has no references"),
    }
}

fn store(ty: Ty, offset: u32) -> Instruction<'static> {
    let place = place(offset);
    match ty {
        Ty::I32 => Instruction::I32Store(place),
        Ty::I64 => Instruction::I64Store(place),
        Ty::F32 => Instruction::F32Store(place),
        Ty::F64 => Instruction::F64Store(place),
        Ty::V128 => Instruction::V128Store(place),
        Ty::Exn => unreachable!("memory has no references"),
    }
}

/// What a program does beside its own.
fn bookkeeping(to: &mut Function, instr: &Instr) {
    use Instruction as I;
    let sum = IMPORTED_GLOBALS + CHECKSUM as u32;
    let all: &[I<'_>] = match instr {
        Instr::Mix => &[
            I::GlobalGet(sum),
            I::I64Const(31),
            I::I64Mul,
            I::I64Add,
            I::GlobalSet(sum),
        ],
        _ => &[
            I::GlobalGet(BUDGET),
            I::I64Const(1),
            I::I64Sub,
            I::GlobalSet(BUDGET),
            I::GlobalGet(BUDGET),
            I::I64Const(0),
            I::I64LtS,
            I::If(BlockType::Empty),
            I::Unreachable,
            I::End,
        ],
    };
    for one in all {
        to.instruction(one);
    }
}
