//! The machine code of a function beside the Wasm it stems from, with what the
//! strategy added to it marked.
//!
//! ```text
//!  body ─ operators.rs ─► WasmLine (offset, name)
//!    └─ FuncTranslator ─ elide ─► CLIF ─ Cranelift ─► code ─ capstone ─► CodeLine
//!                                              └ source locations: offset, check?
//! ```
//!
//! What is made in one pass (`direct/`) has no CLIF, and the same source locations.
//!
//! What must stay true: a listing is made by the same translation and the same
//! code generator as what runs, LLVM's of the same shard. Only the place differs:
//! a listed function starts at 0 and its calls are not linked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use cranelift_codegen::Context;
use cranelift_codegen::ir::Function;
use cranelift_codegen::isa::TargetIsa;
use rayon::prelude::*;

use super::artifact::TrapSite;
use super::compilers::Compilers;
use super::direct;
use super::function::{self, CompiledFunction, Located, prepare};
use super::llvm::{self, Llvm};
use super::operators::{self, WasmLine};
use crate::bounds::offset_and_check;
use crate::compile::translate::{FuncTranslator, InlinedCall, ModuleEnv, resolve};
use crate::facts::error::{ErrorKind, Result};
use crate::facts::module::Body;
use crate::facts::trap::TrapCode;

/// A function, listed.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The function's index in the module.
    pub func: u32,
    /// Its name: of the name section, or of an export.
    pub name: Option<String>,
    /// The instructions of the function, in order.
    pub wasm: Vec<WasmLine>,
    /// Those of functions that were translated in the place of their calls, by
    /// offset; with the function's index.
    pub inlined: Vec<(u32, WasmLine)>,
    /// What translation and the elision of checks made of it, before the code
    /// generator optimises; `!` marks what the strategy added. Nothing where the code is made
    /// in one pass.
    pub clif: String,
    /// Its machine code, in order.
    pub code: Vec<CodeLine>,
    /// Why the code is Cranelift's, where another generator was asked for.
    pub fallback: Option<String>,
}

/// A machine instruction, or data between instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLine {
    /// In bytes from the start of the function.
    pub offset: u32,
    /// The bytes of the instruction.
    pub bytes: Vec<u8>,
    /// As an assembler writes it.
    pub text: String,
    /// Of the Wasm instruction it stems from, in bytes from the start of the
    /// module.
    pub wasm_offset: Option<u32>,
    /// Whether the strategy added it.
    pub is_check: bool,
    /// The trap that it may raise.
    pub trap: Option<TrapCode>,
    /// The function of the module that it calls.
    pub callee: Option<u32>,
    /// Whether it is data: a constant or a table of jumps.
    pub is_data: bool,
}

/// What a function's code comes to. The code generator forgets the origin of
/// what it rewrites: what it says of checks is the least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeCost {
    /// Bytes, data included.
    pub bytes: usize,
    /// Instructions.
    pub instructions: usize,
    /// Bytes that the strategy added.
    pub check_bytes: usize,
    /// Instructions that the strategy added.
    pub check_instructions: usize,
}

impl Listing {
    /// What its code comes to.
    pub fn cost(&self) -> CodeCost {
        let mut cost = CodeCost::default();
        for line in &self.code {
            cost.bytes += line.bytes.len();
            cost.instructions += usize::from(!line.is_data);
            if line.is_check {
                cost.check_bytes += line.bytes.len();
                cost.check_instructions += 1;
            }
        }
        cost
    }
}

/// The machine code: each line of Wasm where its code begins, `!` in front of
/// what the strategy added.
impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &|_| String::new(), &|_| None)
    }
}

/// A listing with something in front of each line, and lines above those of Wasm.
struct Beside<'a, F, P>(&'a Listing, F, P);

impl<F, P> fmt::Display for Beside<'_, F, P>
where
    F: Fn(Option<&CodeLine>) -> String,
    P: Fn(u32) -> Option<String>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f, &self.1, &self.2)
    }
}

impl Listing {
    /// The machine code with something in front of each line: of an instruction, or, of
    /// nothing, of another line; and with the place in the sources of what begins there, of
    /// each instruction of Wasm whose place is told by its offset.
    pub fn beside(
        &self,
        front: impl Fn(Option<&CodeLine>) -> String,
        place: impl Fn(u32) -> Option<String>,
    ) -> impl fmt::Display {
        Beside(self, front, place)
    }

    fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        front: &dyn Fn(Option<&CodeLine>) -> String,
        place: &dyn Fn(u32) -> Option<String>,
    ) -> fmt::Result {
        let mut last = None;
        let mut last_place = None;
        for line in &self.code {
            if line.wasm_offset != last {
                last = line.wasm_offset;
                let begins = last.and_then(place);
                if let Some(begins) = begins.filter(|begins| last_place.as_ref() != Some(begins)) {
                    writeln!(f, "{}{begins}", front(None))?;
                    last_place = Some(begins);
                }
                f.write_str(&front(None))?;
                match last {
                    Some(offset) => self.write_wasm(f, offset)?,
                    None if line.is_data => writeln!(f, "          data")?,
                    None => writeln!(f, "          no instruction of its own")?,
                }
            }
            let mark = if line.is_check { '!' } else { ' ' };
            f.write_str(&front(Some(line)))?;
            write!(f, " {mark}  {:5x}  {}", line.offset, line.text)?;
            if let Some(callee) = line.callee {
                write!(f, "  ; function {callee}")?;
            }
            if let Some(trap) = line.trap {
                write!(f, "  ; may trap: {trap}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }

    /// The line of the instruction at an offset.
    fn write_wasm(&self, f: &mut fmt::Formatter<'_>, offset: u32) -> fmt::Result {
        write!(f, "{offset:#08x}  ")?;
        let inlined = &self.inlined;
        if let Ok(line) = self.wasm.binary_search_by_key(&offset, |line| line.offset) {
            writeln!(f, "{}", self.wasm[line].text)
        } else if let Ok(line) = inlined.binary_search_by_key(&offset, |(_, line)| line.offset) {
            let (func, line) = &inlined[line];
            writeln!(f, "{}  ; inlined from function {func}", line.text)
        } else {
            writeln!(f)
        }
    }
}

/// Lists the functions `wanted`, or every defined function.
///
/// # Errors
/// As compiling a module; `Config` where the target cannot be disassembled.
pub(crate) fn listings<T: Send>(
    env: &ModuleEnv<'_>,
    bodies: Vec<Body<'_>>,
    wanted: Option<&[u32]>,
    llvm: Option<&Llvm>,
    each: impl Fn(Listing) -> T + Sync + Send,
) -> Result<Vec<T>> {
    let others = match llvm {
        Some(llvm) => by_llvm(llvm, env, &bodies, wanted)?,
        None => BTreeMap::new(),
    };
    bodies
        .into_par_iter()
        .filter(|(body, _)| wanted.is_none_or(|wanted| wanted.contains(&body.index)))
        .map(|body| match others.get(&body.0.index) {
            _ if env.direct => list_directly(env, body),
            other => list(env, body, other),
        })
        .map(|listing| listing.map(&each))
        .collect()
}

/// What the other generator makes of the functions, by their indices.
fn by_llvm(
    llvm: &Llvm,
    env: &ModuleEnv<'_>,
    bodies: &[Body<'_>],
    wanted: Option<&[u32]>,
) -> Result<BTreeMap<u32, CompiledFunction>> {
    let again = bodies.iter().map(function::again).enumerate().collect();
    let (compiled, _) = llvm::compile(llvm, env, &Compilers::default(), again, wanted);
    let func = |index: usize| bodies[index].0.index;
    let each = compiled.into_iter();
    each.map(|(index, function)| Ok((func(index), function?)))
        .collect()
}

/// Lists one function as it is made in one pass, or by Cranelift where it is left to that.
fn list_directly(env: &ModuleEnv<'_>, body: Body<'_>) -> Result<Listing> {
    match direct::compile(env, function::again(&body))? {
        Ok(compiled) => Ok(Listing {
            func: body.0.index,
            name: env.info.func_name(body.0.index).map(str::to_owned),
            wasm: operators::read(&body.1)?,
            inlined: Vec::new(),
            clif: String::new(),
            code: Disassembly::new(&compiled, Vec::new(), &[]).lines(env.isa)?,
            fallback: None,
        }),
        Err(why) => Ok(Listing {
            fallback: Some(why),
            ..list(env, body, None)?
        }),
    }
}

/// Lists one function, by what the other generator made of it where there is that.
fn list(
    env: &ModuleEnv<'_>,
    (to_validate, body): Body<'_>,
    other: Option<&CompiledFunction>,
) -> Result<Listing> {
    let func = to_validate.index;
    let failed = |message: String| ErrorKind::Compile { func, message };
    let mut context = Context::new();
    let mut translator = FuncTranslator::default();
    let read = operators::read(&body)?;
    let prepared = prepare(&mut context, &mut translator, env, (to_validate, body))?;
    let isa = prepared.isa;
    cranelift_codegen::verify_function(&context.func, isa)
        .map_err(|error| failed(error.to_string()))?;
    let calls = translator.inlined();
    let clif = clif(&context.func, calls);
    let own;
    let (code, blocks) = match other.filter(|other| other.fallback.is_none()) {
        Some(other) => (other, Vec::new()),
        None => {
            let compiled = function::emit(&mut context, isa, func, calls)?;
            let emitted = context.compiled_code().expect("it has just been compiled");
            own = CompiledFunction {
                located: function::located(emitted),
                ..compiled
            };
            (&own, emitted.bb_starts.clone())
        }
    };
    Ok(Listing {
        func,
        name: env.info.func_name(func).map(str::to_owned),
        wasm: read,
        inlined: inlined_lines(env, calls)?,
        clif,
        code: Disassembly::new(code, blocks, calls).lines(isa)?,
        fallback: other.and_then(|other| other.fallback.as_ref().map(|(why, _)| why.clone())),
    })
}

/// The instructions of the functions that calls were replaced by.
fn inlined_lines(env: &ModuleEnv<'_>, calls: &[InlinedCall]) -> Result<Vec<(u32, WasmLine)>> {
    let funcs: BTreeSet<u32> = calls.iter().map(|call| call.func).collect();
    let mut lines = Vec::new();
    for func in funcs {
        if let Some(body) = env.inlinable.body(func) {
            let read = operators::read(&body)?;
            lines.extend(read.into_iter().map(|line| (func, line)));
        }
    }
    // Bodies are in the order of their functions.
    debug_assert!(lines.is_sorted_by_key(|(_, line)| line.offset));
    Ok(lines)
}

/// Cranelift's text, with a mark instead of the bit in a source location.
fn clif(func: &Function, calls: &[InlinedCall]) -> String {
    let mut text = String::new();
    for line in func.display().to_string().lines() {
        let located = line.strip_prefix('@').and_then(|rest| {
            let (bits, instruction) = rest.split_once(' ')?;
            let bits = u32::from_str_radix(bits, 16).ok()?;
            Some((bits, instruction.trim_start()))
        });
        match located {
            Some((bits, instruction)) => {
                let location = cranelift_codegen::ir::SourceLoc::new(bits);
                let (offset, is_check) = offset_and_check(location).unwrap_or_default();
                let (offset, _) = resolve(calls, offset);
                let mark = if is_check { '!' } else { ' ' };
                text.push_str(&format!("@{offset:04x} {mark} {instruction}\n"));
            }
            None => {
                let is_head = line.trim_start().starts_with("block");
                text.push_str(if is_head { line.trim_start() } else { line });
                text.push('\n');
            }
        }
    }
    text
}

/// Machine code and what is known of its places.
struct Disassembly<'a> {
    compiled: &'a CompiledFunction,
    /// Calls that were replaced by what they call.
    inlined: &'a [InlinedCall],
    /// Callees by the place of their address.
    callees: BTreeMap<u32, u32>,
    /// Offsets at which an instruction begins for certain: of blocks, of
    /// source locations, of traps.
    starts: BTreeSet<u32>,
}

impl<'a> Disassembly<'a> {
    fn new(
        compiled: &'a CompiledFunction,
        blocks: Vec<u32>,
        inlined: &'a [InlinedCall],
    ) -> Disassembly<'a> {
        let locations = compiled.located.iter().map(|located| located.start);
        let traps = compiled.traps.iter().map(|trap| trap.offset);
        let callees = compiled.calls.iter().map(|call| (call.offset, call.callee));
        Disassembly {
            compiled,
            inlined,
            callees: callees.collect(),
            starts: locations.chain(traps).chain(blocks).collect(),
        }
    }

    /// Constants and jump tables stand among the code: behind an instruction
    /// that never goes on to the next, up to where code is known to begin. The other
    /// generator's stand behind the code.
    fn lines(&self, isa: &dyn TargetIsa) -> Result<Vec<CodeLine>> {
        let capstone = isa.to_capstone().map_err(|error| {
            ErrorKind::Config(format!("no disassembler for {}: {error}", isa.name()))
        })?;
        let data = &self.compiled.code;
        let mut lines = Vec::new();
        let mut offset = 0;
        let mut may_be_data = false;
        while offset < data.len() as u32 {
            let is_data = match self.compiled.code_bytes {
                None => may_be_data && !self.starts.contains(&offset),
                Some(bytes) => offset >= bytes,
            };
            if is_data {
                let next = self.starts.range(offset..).next();
                let end = next.copied().unwrap_or(data.len() as u32);
                self.push_data(&mut lines, offset, end);
                offset = end;
                may_be_data = false;
                continue;
            }
            let rest = &data[offset as usize..];
            let decoded = capstone.disasm_count(rest, u64::from(offset), 1);
            let Some(instruction) = decoded.as_ref().ok().and_then(|list| list.iter().next())
            else {
                // Nothing the disassembler knows: shown as it is.
                let end = offset + rest.len().min(4) as u32;
                self.push_data(&mut lines, offset, end);
                offset = end;
                continue;
            };
            let mnemonic = instruction.mnemonic().unwrap_or_default();
            let operands = instruction.op_str().unwrap_or_default();
            let text = format!("{mnemonic} {operands}");
            let end = offset + instruction.bytes().len() as u32;
            lines.push(self.line(offset, end, text.trim_end().to_owned()));
            may_be_data = never_goes_on(mnemonic) && !is_come_back_to(&lines, end);
            offset = end;
        }
        Ok(lines)
    }

    fn line(&self, offset: u32, end: u32, text: String) -> CodeLine {
        let locations: &[Located] = &self.compiled.located;
        let behind = locations.partition_point(|location| location.start <= offset);
        let located = locations[..behind]
            .last()
            .filter(|location| offset < location.end)
            .and_then(|location| offset_and_check(location.location));
        let traps: &[TrapSite] = &self.compiled.traps;
        let trap = traps.get(traps.partition_point(|trap| trap.offset < offset));
        let trap = trap.filter(|trap| trap.offset < end);
        CodeLine {
            offset,
            bytes: self.compiled.code[offset as usize..end as usize].to_vec(),
            text,
            wasm_offset: located.map(|(offset, _)| resolve(self.inlined, offset).0),
            is_check: located.is_some_and(|(_, is_check)| is_check),
            trap: trap.and_then(|trap| TrapCode::from_raw(trap.code)),
            callee: self
                .callees
                .range(offset..end)
                .next()
                .map(|(_, func)| *func),
            is_data: false,
        }
    }

    /// Data in words, or in what is left of one.
    fn push_data(&self, lines: &mut Vec<CodeLine>, from: u32, to: u32) {
        let bytes = &self.compiled.code[from as usize..to as usize];
        for (i, word) in bytes.chunks(8).enumerate() {
            let digits: Vec<String> = word.iter().map(|byte| format!("{byte:02x}")).collect();
            lines.push(CodeLine {
                offset: from + 8 * i as u32,
                bytes: word.to_vec(),
                text: format!(".byte {}", digits.join(" ")),
                wasm_offset: None,
                is_check: false,
                trap: None,
                callee: None,
                is_data: true,
            });
        }
    }
}

/// Whether the code goes on behind a jump once the stack is come back to: where that is has just
/// been written down. A table of jumps, whose address is behind the jump as well, is read instead.
fn is_come_back_to(lines: &[CodeLine], end: u32) -> bool {
    let [.., address, store, _] = lines else {
        return false;
    };
    let Some((distance, register)) = address
        .text
        .strip_prefix("leaq ")
        .and_then(|operands| operands.split_once("(%rip), "))
    else {
        return false;
    };
    let distance = distance.parse().ok();
    let is_behind = distance.and_then(|distance: u32| store.offset.checked_add(distance));
    let stored = format!("movq {register}, ");
    is_behind == Some(end) && store.text.starts_with(&stored) && store.text.ends_with(')')
}

/// Jumps, returns and traps, by the names the disassembler has for those of
/// each instruction set.
fn never_goes_on(mnemonic: &str) -> bool {
    const EXACT: [&str; 13] = [
        "b", "br", "ret", "udf", "brk", "j", "jr", "unimp", "ebreak", "c.j", "c.jr", "c.unimp",
        "c.ebreak",
    ];
    let x86 = ["jmp", "ret", "ud2"];
    EXACT.contains(&mnemonic) || x86.iter().any(|start| mnemonic.starts_with(start))
}
