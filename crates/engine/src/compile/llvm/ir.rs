//! LLVM IR, printed from a function's CLIF, instruction by instruction.
//!
//! ```text
//!  CLIF block  ──► a block of LLVM's, split where a check branches to its trap
//!  its params  ──► phis, with a block of its own for each edge that has arguments
//!  %vN         ──► the CLIF value N;  %tN, a temporary
//!  wfN, wcN    ──► function N as it is defined here, as it is called
//!  wsN         ──► where continuations of type N start
//! ```
//!
//! What must stay true:
//! - **The convention is Cranelift's `tail`**: C's as long as all is in registers, but for
//!   the order of results (`call.rs`). What would be on the stack is left to Cranelift.
//! - **Everything that can trap is volatile or a branch of its own**, in order: a volatile
//!   access with `!pcsections`, whose place in the machine code comes back in the section
//!   `ft`, or an undefined instruction that writes its own place down (`control.rs`).
//! - **Every store is volatile**, but those to slots of the frame: none moves past an
//!   access that faults, and none is left out for a later one.
//! - **Nothing is undefined** that CLIF defines: amounts of shifts are masked, divisions
//!   and conversions guarded, no `nsw`, no `inbounds`, no `mustprogress`, no fast maths.
//! - What cannot fault goes through the segment register `ss` (address space 258), which
//!   changes nothing: so an instruction without that prefix, whose address is not the
//!   frame's, must have a place in the table of traps (`verify.rs`).
//! - A function is called by another name than it is defined by, so that LLVM concludes
//!   nothing from one body about another.

mod atomic;
mod call;
mod control;
mod convert;
mod float;
mod integer;
mod known;
mod memory;
mod packed;
mod roots;
mod vector;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use cranelift_codegen::ir::{
    ArgumentPurpose, Block, Function, Inst, InstructionData, Opcode, SourceLoc, TrapCode, Type,
    Value, ValueDef, types,
};

use crate::compile::translate::accesses_objects;
use crate::compile::versioning::Apart;
use known::Known;
use roots::Roots;

/// Why a function is left to Cranelift: what it has that is not printed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unknown(pub String);

pub(super) type Printing<T = ()> = Result<T, Unknown>;

/// An error.
fn unknown<T>(what: impl Into<String>) -> Printing<T> {
    Err(Unknown(what.into()))
}

/// What LLVM is not to know that it was loaded by an access that may fault, so that the access
/// keeps its site. Each costs more of what LLVM could make of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Precision {
    /// Operands of arithmetic.
    Least,
    /// What a block hands on, too.
    HandedOn,
    /// Everything: it makes of the access nothing but a move.
    Loaded,
}

/// What the function is part of.
#[derive(Clone, Copy)]
pub(super) struct Around {
    /// The function's index.
    pub func: u32,
    /// Bytes of the context, all of them readable.
    pub context_bytes: usize,
    /// Whether branches that are predicted wrong are guarded against.
    pub spectre: bool,
    /// How far it is kept from LLVM what was loaded.
    pub precision: Precision,
    /// Whether instructions on floats have a destination of their own, so that a load in one is
    /// never taken out again.
    pub has_avx: bool,
    /// Whether there are instructions of these sets.
    pub has_ssse3: bool,
    pub has_fma: bool,
}

/// Something that may trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// Cranelift's code of the trap, raw.
    pub code: u8,
    /// Where it stems from.
    pub location: SourceLoc,
}

/// A function as text.
#[derive(Debug)]
pub(super) struct Printed {
    /// Its index.
    pub func: u32,
    /// Its definition.
    pub text: String,
    /// Where its lines stem from, the first of which is line 1.
    pub lines: Vec<SourceLoc>,
    /// What may trap, by the number that the object names it by.
    pub sites: Vec<Site>,
    /// Declarations of the functions that it calls.
    pub callees: BTreeMap<u32, String>,
    /// The types whose continuations it starts.
    pub starts: BTreeSet<u32>,
}

/// Scope of a function's lines: the number of its metadata.
pub(super) fn scope(func: u32) -> u32 {
    func + 16
}

/// One block, whose phis are known when all blocks are.
struct BlockText {
    block: Block,
    text: String,
}

/// A function that is being printed.
struct Printer<'a> {
    func: &'a Function,
    around: Around,
    /// The current block's instructions.
    text: String,
    blocks: Vec<BlockText>,
    /// The blocks that edges have for their arguments.
    edges: String,
    /// For each block: from where, with which arguments.
    incoming: BTreeMap<Block, Vec<(String, Vec<String>)>>,
    numbers: u32,
    lines: Vec<SourceLoc>,
    line: u32,
    sites: Vec<Site>,
    callees: BTreeMap<u32, String>,
    starts: BTreeSet<u32>,
    /// Floats of which LLVM cannot know what they are; see `float.rs`.
    settled: BTreeSet<Value>,
    known: Known,
    roots: Roots,
    /// Whether it accesses objects.
    has_objects: bool,
    apart: &'a Apart,
}

/// Prints a function, of which it is known that these accesses are apart.
pub(super) fn print(func: &Function, around: Around, apart: &Apart) -> Printing<Printed> {
    let mut printer = Printer {
        func,
        around,
        text: String::new(),
        blocks: Vec::new(),
        edges: String::new(),
        incoming: BTreeMap::new(),
        numbers: 0,
        lines: Vec::new(),
        line: 0,
        sites: Vec::new(),
        callees: BTreeMap::new(),
        starts: BTreeSet::new(),
        settled: BTreeSet::new(),
        known: Known::of(func),
        roots: Roots::default(),
        has_objects: accesses_objects(func),
        apart,
    };
    let blocks = printer.reachable();
    printer.roots = Roots::of(func, &blocks)?;
    let head = printer.head()?;
    for block in blocks {
        for inst in func.layout.block_insts(block) {
            printer.locate(func.srcloc(inst));
            printer.instruction(inst)?;
        }
        let text = std::mem::take(&mut printer.text);
        printer.blocks.push(BlockText { block, text });
    }
    let text = printer.assemble(&head)?;
    Ok(Printed {
        func: around.func,
        text,
        lines: printer.lines,
        sites: printer.sites,
        callees: printer.callees,
        starts: printer.starts,
    })
}

impl Printer<'_> {
    /// The blocks that can be reached, in their order.
    fn reachable(&self) -> Vec<Block> {
        let mut seen: BTreeSet<Block> = BTreeSet::new();
        let mut work: Vec<Block> = self.func.layout.entry_block().into_iter().collect();
        while let Some(block) = work.pop() {
            let Some(last) = self
                .func
                .layout
                .last_inst(block)
                .filter(|_| seen.insert(block))
            else {
                continue;
            };
            let dfg = &self.func.dfg;
            let to = dfg.insts[last].branch_destination(&dfg.jump_tables, &dfg.exception_tables);
            work.extend(to.iter().map(|call| call.block(&dfg.value_lists)));
        }
        let all = self.func.layout.blocks();
        all.filter(|block| seen.contains(block)).collect()
    }

    /// Its first line, and the block in front of the first of CLIF's.
    fn head(&mut self) -> Printing<String> {
        let entry = self.func.layout.entry_block();
        let entry = entry.ok_or_else(|| Unknown("no blocks".into()))?;
        let signature = &self.func.signature;
        let result = self.result_type(signature)?;
        self.in_registers(signature)?;
        let params = self.func.dfg.block_params(entry);
        let mut list = Vec::new();
        for (value, param) in params.iter().zip(&signature.params) {
            self.settled.insert(*value);
            let ty = name_of(param.value_type)?;
            let number = value.as_u32();
            list.push(match param.purpose {
                ArgumentPurpose::VMContext => {
                    let bytes = self.around.context_bytes;
                    let readable = format!("noundef align 8 dereferenceable({bytes})");
                    format!("ptr addrspace(258) {readable} %context")
                }
                ArgumentPurpose::Normal => format!("{ty} %v{number}"),
                _ => return unknown("a hidden parameter"),
            });
        }
        let func = self.around.func;
        let check = super::prologue::text();
        let (scope, list) = (scope(func), list.join(", "));
        let mut head = format!(
            "define dso_local {result} @wf{func}({list}) #0 prologue {check} \
             !dbg !{scope} {{\nentry:\n"
        );
        if let (Some(value), Some(ArgumentPurpose::VMContext)) = (
            params.first(),
            signature.params.first().map(|param| param.purpose),
        ) {
            let number = value.as_u32();
            writeln!(
                head,
                "  %v{number} = ptrtoint ptr addrspace(258) %context to i64"
            )
            .expect("a string takes all");
        }
        for (slot, data) in &self.func.sized_stack_slots {
            let align = 1_u32 << data.align_shift.max(4);
            let (number, bytes) = (slot.as_u32(), data.size.max(1));
            writeln!(head, "  %s{number} = alloca [{bytes} x i8], align {align}")
                .expect("a string takes all");
        }
        head.push_str(&self.roots.allocated());
        writeln!(head, "  br label %{}", label(entry)).expect("a string takes all");
        Ok(head)
    }

    /// The whole definition.
    fn assemble(&mut self, head: &str) -> Printing<String> {
        let entry = self.func.layout.entry_block();
        let mut text = head.to_owned();
        for BlockText { block, text: body } in &self.blocks {
            writeln!(text, "{}:", label(*block)).expect("a string takes all");
            let incoming = self.incoming.get(block).map_or(&[][..], Vec::as_slice);
            if entry == Some(*block) {
                if !incoming.is_empty() {
                    return unknown("a loop that begins with the function");
                }
            } else {
                for (i, param) in self.func.dfg.block_params(*block).iter().enumerate() {
                    let ty = name_of(self.func.dfg.value_type(*param))?;
                    let from: Vec<String> = incoming
                        .iter()
                        .map(|(from, args)| format!("[ {}, %{from} ]", args[i]))
                        .collect();
                    let number = param.as_u32();
                    writeln!(text, "  %v{number} = phi {ty} {}", from.join(", "))
                        .expect("a string takes all");
                }
            }
            text.push_str(body);
        }
        text.push_str(&self.edges);
        text.push_str("}\n");
        Ok(text)
    }

    fn instruction(&mut self, inst: Inst) -> Printing {
        self.store_roots(inst);
        let known = self.integer(inst)?
            || self.memory(inst)?
            || self.control(inst)?
            || self.any_call(inst)?
            || self.float(inst)?
            || self.conversion(inst)?
            || self.vector(inst)?
            || self.packed(inst)?;
        match known {
            true => Ok(()),
            false => unknown(self.opcode(inst).to_string()),
        }
    }

    /// What is printed from here on stems from `location`.
    fn locate(&mut self, location: SourceLoc) {
        if self.lines.last() != Some(&location) {
            self.lines.push(location);
        }
        self.line = self.lines.len() as u32;
    }

    fn opcode(&self, inst: Inst) -> Opcode {
        self.func.dfg.insts[inst].opcode()
    }

    /// An instruction's operands, aliases resolved.
    fn args(&self, inst: Inst) -> Vec<Value> {
        let dfg = &self.func.dfg;
        let args = dfg.inst_args(inst).iter();
        args.map(|value| dfg.resolve_aliases(*value)).collect()
    }

    /// The type of an instruction's first result.
    fn result_ty(&self, inst: Inst) -> Type {
        self.ty(self.func.dfg.first_result(inst))
    }

    fn ty(&self, value: Value) -> Type {
        self.func.dfg.value_type(value)
    }

    /// LLVM's name of a value's type.
    fn name(&self, value: Value) -> Printing<&'static str> {
        name_of(self.ty(value))
    }

    /// The instruction that makes a value.
    fn maker(&self, value: Value) -> Option<Inst> {
        match self
            .func
            .dfg
            .value_def(self.func.dfg.resolve_aliases(value))
        {
            ValueDef::Result(inst, _) => Some(inst),
            _ => None,
        }
    }

    /// The number that an integer is, where it is a constant.
    fn constant(&self, value: Value) -> Option<i64> {
        match self.func.dfg.insts[self.maker(value)?] {
            InstructionData::UnaryImm {
                opcode: Opcode::Iconst,
                imm,
            } => {
                let spare = 64 - self.ty(value).bits().min(64);
                Some(imm.bits() << spare >> spare)
            }
            _ => None,
        }
    }

    /// A value as an operand: its name, or the number that it is.
    fn op(&self, value: Value) -> String {
        let value = self.func.dfg.resolve_aliases(value);
        match self.constant(value) {
            Some(number) => number.to_string(),
            None => format!("%v{}", value.as_u32()),
        }
    }

    /// A number that no other name has.
    fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    /// Where the current instruction stems from.
    fn dbg(&self) -> String {
        let scope = scope(self.around.func);
        format!("!dbg !DILocation(line: {}, scope: !{scope})", self.line)
    }

    /// A line that makes nothing.
    fn line(&mut self, text: &str) {
        let dbg = self.dbg();
        writeln!(self.text, "  {text}, {dbg}").expect("a string takes all");
    }

    /// A line that makes a temporary.
    fn temp(&mut self, text: &str) -> String {
        let name = format!("%t{}", self.number());
        self.line(&format!("{name} = {text}"));
        name
    }

    /// A line that makes a value.
    fn set(&mut self, value: Value, text: &str) {
        self.line(&format!("%v{} = {text}", value.as_u32()));
    }

    /// A line that makes an instruction's only result.
    fn result(&mut self, inst: Inst, text: &str) -> Printing<bool> {
        self.set(self.func.dfg.first_result(inst), text);
        Ok(true)
    }

    /// Something that may trap here, as the object names it.
    fn site(&mut self, code: TrapCode) -> usize {
        self.sites.push(Site {
            code: code.as_raw().get(),
            location: self.lines.last().copied().unwrap_or_default(),
        });
        self.sites.len() - 1
    }
}

fn label(block: Block) -> String {
    format!("b{}", block.as_u32())
}

/// LLVM's name of a type.
fn name_of(ty: Type) -> Printing<&'static str> {
    Ok(match ty {
        types::I8 => "i8",
        types::I16 => "i16",
        types::I32 => "i32",
        types::I64 => "i64",
        types::I128 => "i128",
        types::F32 => "float",
        types::F64 => "double",
        types::I8X16 => "<16 x i8>",
        types::I16X8 => "<8 x i16>",
        types::I32X4 => "<4 x i32>",
        types::I64X2 => "<2 x i64>",
        types::F32X4 => "<4 x float>",
        types::F64X2 => "<2 x double>",
        other => return unknown(format!("values of {other}")),
    })
}

/// As intrinsics name it.
fn suffix(ty: Type) -> Printing<&'static str> {
    Ok(match ty {
        types::I8 => "i8",
        types::I16 => "i16",
        types::I32 => "i32",
        types::I64 => "i64",
        types::I128 => "i128",
        types::F32 => "f32",
        types::F64 => "f64",
        types::I8X16 => "v16i8",
        types::I16X8 => "v8i16",
        types::I32X4 => "v4i32",
        types::I64X2 => "v2i64",
        types::F32X4 => "v4f32",
        types::F64X2 => "v2f64",
        other => return unknown(format!("values of {other}")),
    })
}
