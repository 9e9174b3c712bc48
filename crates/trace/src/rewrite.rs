//! A module that counts its own WASI calls.
//!
//! ```text
//!  guest ──call──► wrapper ──call──► import          one wrapper for each WASI import
//!                     └ +1 to the class of the result, + bytes
//!  _start ─ returns ─┐
//!  proc_exit ────────┴► hand_out: one line through fd_write, then the real end
//! ```
//!
//! Where the counters are:
//!
//! ```text
//!  memory of one thread   globals                 counters: 64-bit globals of the module's own
//!  shared memory          | as declared | page |  a page that is grown in front of all else:
//!                                                 counters, updated atomically; then the text
//! ```
//!
//! The line is written into a page that is grown at the end or, where the memory cannot
//! grow, over its first bytes: nothing of the guest runs afterwards.
//!
//! What must stay true: the guest cannot tell. It meets the same results, the same
//! memory and the same sizes of it: `memory.size` of a shared memory does not show the
//! page until the guest has grown the memory itself, and then addresses are what
//! `memory.grow` says. A guest that traps hands nothing out.

mod clock;
mod emit;
mod scan;

use fathom_rewrite::Malformed;
use fathom_rewrite::sections::Sections;
use wasm_encoder::reencode::{self, Reencode, utils};
use wasm_encoder::{
    ConstExpr, EntityType, ExportSection, GlobalType, Instruction, NameMap, NameSection, ValType,
};
use wasmparser::{Operator, Parser};

use emit::{Emit, Store};
use scan::Scan;

/// Why a module cannot be made to count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RewriteError {
    /// It is no module of this version.
    #[error("malformed: {0}")]
    Malformed(String),
    /// A component.
    #[error("it is a component: only modules (wasm32-wasip1) can be made to count")]
    Component,
    /// Nothing tells when it ends.
    #[error("it exports no function _start: counts are printed when that returns")]
    NoStart,
    /// WASI has nothing to work on.
    #[error("it exports no memory named \"memory\", which WASI calls need")]
    NoMemory,
    /// An import that is no function of a plain type.
    #[error("its import {0} has no function type")]
    Import(String),
    /// A shared memory without room for the counters.
    #[error("its shared memory has {0}, so there is no room for counters")]
    SharedMemory(&'static str),
    /// The clock has no place to write to.
    #[error("its calls can be counted, not timed: {0}")]
    Times(&'static str),
}

impl From<Malformed> for RewriteError {
    fn from(malformed: Malformed) -> RewriteError {
        match malformed {
            Malformed::Module(why) => RewriteError::Malformed(why),
            Malformed::Component => RewriteError::Component,
        }
    }
}

impl From<wasmparser::Error> for RewriteError {
    fn from(error: wasmparser::Error) -> RewriteError {
        Malformed::from(error).into()
    }
}

impl From<reencode::Error> for RewriteError {
    fn from(error: reencode::Error) -> RewriteError {
        Malformed::from(error).into()
    }
}

/// Where the line goes; where that cannot be written, to the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Descriptor 1.
    Stdout,
    /// Descriptor 2.
    Stderr,
}

/// What of its calls a module looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// How often, with which results, how many bytes.
    Counts,
    /// The same, and how long all calls of a function took together.
    Times,
}

/// Makes of a module one that counts its WASI calls and writes them to `stream` at its
/// end, for [`Counts::split`](crate::counts::Counts::split).
///
/// # Errors
/// [`RewriteError`] where there is nothing to write to or no end to write at.
pub fn counting(wasm: &[u8], stream: Stream, seen: Seen) -> Result<Vec<u8>, RewriteError> {
    let scan = scan::scan(wasm)?;
    let emit = Emit::new(&scan, stream, seen)?;
    let mut writer = Writer {
        scan: &scan,
        emit: &emit,
        is_naming: false,
    };
    writer.module(wasm)
}

/// Writes a module again.
struct Writer<'a> {
    scan: &'a Scan,
    emit: &'a Emit<'a>,
    /// Names stay with the imports themselves.
    is_naming: bool,
}

impl Writer<'_> {
    fn module(&mut self, wasm: &[u8]) -> Result<Vec<u8>, RewriteError> {
        let mut all = Sections::default();
        for payload in Parser::new(0).parse_all(wasm) {
            all.take(self, payload?)?;
        }
        self.add_own(&mut all);
        Ok(all.assemble())
    }

    /// Types, functions, globals and the import that are ours.
    fn add_own(&self, all: &mut Sections<'_>) {
        let emit = self.emit;
        for (params, results) in emit::TYPES {
            (all.types.ty()).function(params.iter().copied(), results.iter().copied());
        }
        for (name, ty) in emit.imports() {
            let ty = EntityType::Function(ty);
            all.imports.import(self.scan.wasi, name, ty);
        }
        if let Store::Globals { .. } = emit.store {
            let ty = GlobalType {
                val_type: ValType::I64,
                mutable: true,
                shared: false,
            };
            for _ in 0..emit.counters() {
                all.globals.global(ty, &ConstExpr::i64_const(0));
            }
        }
        for (type_index, function) in emit.functions() {
            all.functions.function(type_index);
            all.code.function(&function);
        }
        let own = matches!(emit.store, Store::Shared { .. }).then(|| emit.prepare());
        all.initial = own.or(self.scan.initial.map(|func| emit.moved(func)));
    }
}

impl fathom_rewrite::sections::Writer for Writer<'_> {
    fn naming(&mut self, is_naming: bool) {
        self.is_naming = is_naming;
    }
}

impl Reencode for Writer<'_> {
    type Error = std::convert::Infallible;

    fn function_index(&mut self, func: u32) -> Result<u32, reencode::Error> {
        Ok(match self.is_naming && func < self.scan.func_imports {
            true => func,
            false => self.emit.moved(func),
        })
    }

    fn memory_type(
        &mut self,
        ty: wasmparser::MemoryType,
    ) -> Result<wasm_encoder::MemoryType, reencode::Error> {
        let mut ty = utils::memory_type(self, ty);
        // Room for a page of ours. Of several memories all get it: it is never used.
        ty.maximum = ty
            .maximum
            .map(|max| (max + 1).min(emit::PAGES_MAX.max(max)));
        Ok(ty)
    }

    fn parse_custom_name_subsection(
        &mut self,
        names: &mut NameSection,
        section: wasmparser::Name<'_>,
    ) -> Result<(), reencode::Error> {
        let wasmparser::Name::Function(all) = section else {
            return utils::parse_custom_name_subsection(self, names, section);
        };
        let mut kept = NameMap::new();
        for one in all {
            let one = one?;
            // wasm3 looks for what is exported among names, too, and would find the guest's.
            if one.name != "_start" {
                kept.append(self.function_index(one.index)?, one.name);
            }
        }
        names.functions(&kept);
        Ok(())
    }

    fn parse_export(
        &mut self,
        exports: &mut ExportSection,
        export: wasmparser::Export<'_>,
    ) -> Result<(), reencode::Error> {
        if export.name == "_start" {
            exports.export("_start", wasm_encoder::ExportKind::Func, self.emit.start());
            return Ok(());
        }
        utils::parse_export(self, exports, export)
    }

    fn instruction<'a>(&mut self, op: Operator<'a>) -> Result<Instruction<'a>, reencode::Error> {
        match (op, &self.emit.store) {
            (Operator::MemorySize { mem }, Store::Shared { .. }) if mem == self.emit.memory => {
                Ok(Instruction::Call(self.emit.size()))
            }
            (op, _) => utils::instruction(self, op),
        }
    }
}

#[cfg(test)]
mod tests;
