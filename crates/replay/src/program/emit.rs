//! The functions of a replay.
//!
//! ```text
//!  imports     fd_write proc_exit
//!  functions   … the module's … | digits word mix check differ host _start token
//!              | a stub for each function of the host's in tables | a thunk for each call
//!  globals     … the module's … | word byte hash border, other where hashes do not hold
//! ```

mod border;
mod host;

use fathom_rewrite::closed::{Additions, Signature};
use fathom_rewrite::layout::Layout;
use fathom_rewrite::output::{self, Part, Printer, WASI};
use fathom_rewrite::shape::{Shape, Space};
use wasm_encoder::{
    BlockType, ConstExpr, ExportKind, Function, GlobalType, InstructionSink, MemoryType, RefType,
    TableType, ValType,
};
use wasmparser::FuncType;

use super::Compared;
use super::script::{Action, Script};
use crate::record::Record;
use crate::record::check::{Checked, type_of};
use crate::record::event::Reference;

/// What the hash is multiplied with.
const FACTOR: u32 = 0x9e37_79b1;
/// The memory that words are read through.
const MEMORY: u32 = 0;
/// Bytes of a word.
const WORD: i32 = 8;

/// Types, from the first that is ours.
#[derive(Clone, Copy)]
enum Type {
    FdWrite,
    /// Also of `mix` and of `proc_exit`.
    Number,
    Digits,
    Word,
    Nothing,
}

/// Functions, from the first that is ours.
#[derive(Clone, Copy)]
enum Own {
    Digits,
    Word,
    Mix,
    Check,
    Differ,
    Host,
    Start,
    Token,
    /// From here on, stubs and thunks.
    Others,
}

/// Globals, from the first that is ours.
#[derive(Clone, Copy)]
enum Cell {
    /// Where the next word is.
    Word,
    /// Where the next bytes of the host are.
    Byte,
    Hash,
    /// Times that the guest came back to its host.
    Border,
    /// What is compared where it is not the hash of here.
    Other,
}

/// Writes the functions.
pub struct Emit<'a> {
    shape: &'a Shape,
    layout: &'a Layout,
    record: &'a Record,
    checked: &'a Checked,
    script: &'a Script,
    printer: Printer,
    /// Whether code that was written takes references from the table of them.
    takes_references: std::cell::Cell<bool>,
}

impl<'a> Emit<'a> {
    pub fn new(
        shape: &'a Shape,
        layout: &'a Layout,
        record: &'a Record,
        checked: &'a Checked,
        script: &'a Script,
    ) -> Emit<'a> {
        Emit {
            shape,
            layout,
            record,
            checked,
            script,
            takes_references: std::cell::Cell::new(false),
            printer: Printer {
                memory: layout.moved(Space::Memory, MEMORY),
                is_wide: shape.memories.first().is_some_and(|ty| ty.memory64),
                fd_write: layout.added_import(0),
                digits: layout.new_func(Own::Digits as u32),
            },
        }
    }

    /// Where a function is, of the module or of its host.
    pub fn function(&self, func: u32) -> u32 {
        match func.checked_sub(self.shape.funcs.len() as u32) {
            None => self.layout.moved(Space::Func, func),
            Some(host) => self.own(Own::Others) + host,
        }
    }

    /// A function that stands for what is the host's.
    pub fn token(&self) -> u32 {
        self.own(Own::Token)
    }

    fn own(&self, own: Own) -> u32 {
        self.layout.new_func(own as u32)
    }

    fn cell(&self, cell: Cell) -> u32 {
        self.layout.new_global(cell as u32)
    }

    fn ty(&self, ty: Type) -> u32 {
        self.layout.new_type(ty as u32)
    }

    /// The last cell that there is.
    fn cells(&self) -> Cell {
        match self.compares_others() {
            true => Cell::Other,
            false => Cell::Border,
        }
    }

    /// Whether hashes of the record do not hold.
    fn compares_others(&self) -> bool {
        self.script.compared != Compared::Recorded
    }

    /// The segment of words; the one behind it is of bytes.
    fn segment(&self) -> u32 {
        self.script.front.len() as u32 + self.shape.data
    }

    fn hosts(&self) -> &[u32] {
        &self.record.header.given.functions
    }

    fn func_type(&self, func: u32) -> &FuncType {
        let ty = type_of(self.shape, &self.record.header.given, func);
        ty.expect("the record was checked")
    }

    /// All that is new.
    pub fn additions(&self) -> Additions {
        let imports = self.shape.imports_of(Space::Func);
        let counter = GlobalType {
            val_type: ValType::I32,
            mutable: true,
            shared: false,
        };
        let nothing: Signature = (Vec::new(), Vec::new());
        let front = self.script.front.iter();
        Additions {
            types: vec![
                output::fd_write_type(),
                output::proc_exit_type(),
                output::digits_type(),
                (Vec::new(), vec![ValType::I64]),
                nothing,
            ],
            imports: vec![
                (WASI, "fd_write", self.ty(Type::FdWrite)),
                (WASI, "proc_exit", self.ty(Type::Number)),
            ],
            bodies: imports.map(|import| self.stub(import.index)).collect(),
            memory: self.shape.memories.is_empty().then_some(MemoryType {
                minimum: 1,
                maximum: Some(1),
                memory64: false,
                shared: false,
                page_size_log2: None,
            }),
            globals: vec![(counter, ConstExpr::i32_const(0)); self.cells() as usize + 1],
            functions: self.functions(),
            tags: match self.checked.unwinds {
                true => vec![self.ty(Type::Nothing)],
                false => Vec::new(),
            },
            // Behind all code, which says whether it takes any.
            references: self.references(),
            front: front
                .map(|(memory, start, bytes)| {
                    let memory = self.layout.moved(Space::Memory, *memory);
                    (memory, self.address(memory, *start), bytes.clone())
                })
                .collect(),
            passive: vec![
                self.script
                    .words
                    .iter()
                    .flat_map(|word| word.to_le_bytes())
                    .collect(),
                self.script.bytes.clone(),
            ],
            exports: vec![
                ("memory".to_owned(), ExportKind::Memory, self.printer.memory),
                ("_start".to_owned(), ExportKind::Func, self.own(Own::Start)),
            ],
            names: self.names(),
            hides: |name| ["_start", "_initialize", "memory"].contains(&name),
            turns_externs: true,
            ..Additions::default()
        }
    }

    /// The table of what the host gave, where code takes any: also that of a function which the
    /// record does not call.
    fn references(&self) -> Option<(TableType, Vec<u32>)> {
        let funcs = self
            .script
            .references
            .iter()
            .map(|reference| match reference {
                Reference::Func(func) => self.function(*func),
                Reference::Host | Reference::Null => self.token(),
            });
        let size = 1 + self.script.references.len() as u64;
        let ty = TableType {
            element_type: RefType::FUNCREF,
            minimum: size,
            maximum: Some(size),
            table64: false,
            shared: false,
        };
        let is_taken = self.takes_references.get();
        is_taken.then(|| (ty, funcs.collect()))
    }

    fn names(&self) -> std::collections::BTreeMap<u32, String> {
        let own = ["digits", "word", "mix", "check", "differ", "host", "start"];
        let own = own.into_iter().zip(self.layout.new_func(0)..);
        let own = own.map(|(name, at)| (at, format!("replay.{name}")));
        let stubs = self.shape.imports_of(Space::Func).map(|import| {
            let at = self.layout.moved(Space::Func, import.index);
            (at, format!("{}.{} (replayed)", import.module, import.name))
        });
        own.chain(stubs).collect()
    }

    fn functions(&self) -> Vec<(u32, Function)> {
        let mut all = vec![
            (self.ty(Type::Digits), self.printer.digits()),
            (self.ty(Type::Word), self.word()),
            (self.ty(Type::Number), self.mix()),
            (self.ty(Type::Nothing), self.check()),
            (self.ty(Type::Nothing), self.differ()),
            (self.ty(Type::Nothing), self.host()),
            (self.ty(Type::Nothing), self.start()),
            (self.ty(Type::Nothing), fathom_rewrite::closed::trap()),
        ];
        let first = self.shape.funcs.len() as u32;
        for (func, ty) in (first..).zip(self.hosts()) {
            all.push((*ty, self.stub(func)));
        }
        for (func, throws) in self.thunks() {
            let body = match throws {
                true => self.catching(func),
                false => self.thunk(func),
            };
            all.push((self.ty(Type::Nothing), body));
        }
        all
    }

    /// The calls that there are, in the order of their actions.
    fn thunks(&self) -> impl Iterator<Item = (u32, bool)> {
        let calls = self.script.actions.keys();
        calls.filter_map(|action| match action {
            Action::Call { func, throws } => Some((*func, *throws)),
            _ => None,
        })
    }

    /// An address of a memory as a constant.
    fn address(&self, memory: u32, address: u64) -> ConstExpr {
        match self.is_wide(memory) {
            true => ConstExpr::i64_const(address.cast_signed()),
            false => ConstExpr::i32_const((address as u32).cast_signed()),
        }
    }

    fn is_wide(&self, memory: u32) -> bool {
        let ty = self.shape.memories.get(memory as usize);
        ty.is_some_and(|ty| ty.memory64)
    }

    /// The next word: what is in its way in memory is put back.
    fn word(&self) -> Function {
        let mut body = Function::new([(1, ValType::I64)]);
        let f = &mut body.instructions();
        let (at, arg) = (self.cell(Cell::Word), self.printer.arg(0));
        self.printer.constant(f, 0);
        f.i64_load(arg).local_set(0);
        self.printer.constant(f, 0);
        f.global_get(at).i32_const(WORD);
        f.memory_init(self.printer.memory, self.segment());
        f.global_get(at).i32_const(WORD).i32_add().global_set(at);
        self.printer.constant(f, 0);
        f.i64_load(arg);
        self.printer.constant(f, 0);
        f.local_get(0).i64_store(arg);
        f.end();
        body
    }

    /// Takes a number into the hash.
    fn mix(&self) -> Function {
        let mut body = Function::new([]);
        let f = &mut body.instructions();
        let hash = self.cell(Cell::Hash);
        f.global_get(hash).local_get(0).i32_xor();
        f.i32_const(FACTOR.cast_signed()).i32_mul().local_tee(0);
        f.local_get(0).i32_const(15).i32_shr_u().i32_xor();
        f.global_set(hash).end();
        body
    }

    /// Compares the hash with the one that was recorded here, or what else is compared.
    fn check(&self) -> Function {
        let mut body = Function::new([]);
        let f = &mut body.instructions();
        let border = self.cell(Cell::Border);
        f.global_get(border)
            .i32_const(1)
            .i32_add()
            .global_set(border);
        f.call(self.own(Own::Word)).i32_wrap_i64();
        let compared = match self.compares_others() {
            true => Cell::Other,
            false => Cell::Hash,
        };
        f.global_get(self.cell(compared)).i32_ne();
        f.if_(BlockType::Empty).call(self.own(Own::Differ)).end();
        f.end();
        body
    }

    /// Says where the guest passed something else, and ends.
    fn differ(&self) -> Function {
        let mut body = Function::new([(2, ValType::I32)]);
        let f = &mut body.instructions();
        let border = |f: &mut InstructionSink<'_>| {
            f.global_get(self.cell(Cell::Border)).i64_extend_i32_u();
        };
        let of = format!(
            " of {} is not as recorded: the module passed something else\n",
            self.script.borders + 1
        );
        let parts = [
            Part::Text("fathom replay: return to the host "),
            Part::Number(10, &border),
            Part::Text(&of),
        ];
        self.printer.write(f, 2, [0, 1], &parts);
        f.i32_const(1).call(self.layout.added_import(1));
        f.unreachable().end();
        body
    }

    fn start(&self) -> Function {
        let mut body = Function::new([]);
        body.instructions().call(self.own(Own::Host)).end();
        body
    }
}
