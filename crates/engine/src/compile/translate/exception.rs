//! Exceptions (core specification §4.4.9).
//!
//! ```text
//!  try_table $h            calls name the landing block:  try_call f, ok, landing(exn)
//!    call f                                                      │
//!    throw t   ───────── in the same function: jump ──────────►  ▼
//!  end                     landing(exn): compares the tag with those of the
//!                          clauses, loads the values, branches; else raises on
//! ```
//!
//! Nothing is executed, and nothing kept in memory, for a `try_table` whose
//! body does not throw: where to go is in the artifact's table of handlers,
//! which the runtime reads when an exception is raised. A tag is told by the
//! address of its [`crate::facts::vmctx::VmTag`], an exception by that of its
//! [`crate::facts::vmctx::VmException`]; it is only kept where a clause takes a
//! reference to it.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, Inst, InstBuilder, MemFlagsData, Value, types};
use wasmparser::{BlockType, Catch, Operator, TryTable};

use super::Translator;
use super::env::clif_type;
use super::state::{FrameKind, Handler};
use crate::facts::libcall::Libcall;
use crate::facts::trap;
use crate::facts::types::ValType;
use crate::facts::vmctx::offsets;

/// Bytes of a value in an exception.
const VALUE_BYTES: i32 = 16;

impl Translator<'_> {
    /// Translates an instruction on exceptions; `false` when it is not one.
    pub(super) fn exception(&mut self, op: &Operator<'_>) -> bool {
        match op {
            Operator::TryTable { try_table } => self.open_try(try_table),
            Operator::Throw { tag_index } => self.throw(*tag_index),
            Operator::ThrowRef => {
                let exception = self.pop();
                self.b.ins().trapz(exception, trap::NULL_REFERENCE);
                self.raise(exception);
                self.state.reachable = false;
            }
            _ => return false,
        }
        true
    }

    fn open_try(&mut self, table: &TryTable) {
        // What the end of the body will load for its clauses, before it is begun.
        let info = self.env.module.info;
        let values = |catch: &Catch| match *catch {
            Catch::One { tag, .. } | Catch::OneRef { tag, .. } => {
                info.types[info.tags[tag as usize] as usize].params().len()
            }
            Catch::All { .. } | Catch::AllRef { .. } => 0,
        };
        let values = table.catches.iter().map(values).sum();
        self.state.work.handed_on(values);
        self.open_handler(FrameKind::Try, table.ty, table.catches.clone());
    }

    pub(super) fn open_handler(&mut self, kind: FrameKind, ty: BlockType, catches: Vec<Catch>) {
        let (params, results) = self.block_types(ty);
        let end = self.b.create_block();
        self.append_params(end, results);
        let landing = self.b.create_block();
        self.b.set_cold_block(landing);
        self.b.append_block_param(landing, types::I64);
        self.state.handlers.push(Handler {
            landing,
            used: false,
            catches,
        });
        self.state
            .push_frame(kind, end, params.len(), results.len());
    }

    /// The block that takes over exceptions raised here. There is a handler.
    pub(super) fn innermost_handler(&mut self) -> Block {
        self.landing(self.state.handlers.len() - 1)
    }

    /// The block of a handler, which something is to come to.
    fn landing(&mut self, handler: usize) -> Block {
        let handler = &mut self.state.handlers[handler];
        handler.used = true;
        handler.landing
    }

    /// At the end of a `try_table`, outside of it already: what happens to the
    /// exceptions of its body. The current block is filled.
    pub(super) fn close_try(&mut self) {
        let handler = self.state.handlers.pop().expect("a handler is open");
        if !handler.used {
            self.b.seal_block(handler.landing);
            return;
        }
        self.b.switch_to_block(handler.landing);
        self.b.seal_block(handler.landing);
        let exception = self.b.block_params(handler.landing)[0];
        let thrown = self.landed(exception);
        for catch in &handler.catches {
            match *catch {
                Catch::One { tag, label } => {
                    self.catch_one(exception, thrown, tag, label, false);
                }
                Catch::OneRef { tag, label } => {
                    self.catch_one(exception, thrown, tag, label, true);
                }
                Catch::All { label } => return self.caught(exception, None, label, false),
                Catch::AllRef { label } => return self.caught(exception, None, label, true),
            }
        }
        self.raise(exception);
    }

    /// Where a handler begins: the tag of its exception.
    pub(super) fn landed(&mut self, exception: Value) -> Value {
        self.fuel_read();
        let flags = MemFlagsData::trusted();
        self.b
            .ins()
            .load(types::I64, flags, exception, offsets::EXCEPTION_TAG)
    }

    /// Branches to the clause's label where the exception has its tag.
    fn catch_one(&mut self, exception: Value, thrown: Value, tag: u32, label: u32, by_ref: bool) {
        let (caught, next) = (self.b.create_block(), self.b.create_block());
        let other = self.unless_tagged(thrown, tag, caught, next);
        self.b.switch_to_block(caught);
        self.b.seal_block(caught);
        // Values of another tag may be anything, such as numbers taken for references.
        let guarded = self.guarded(other, exception);
        self.caught(guarded, Some(tag), label, by_ref);
        self.b.switch_to_block(next);
        self.b.seal_block(next);
    }

    /// Branches by whether an exception has a tag: whether it has another one.
    pub(super) fn unless_tagged(
        &mut self,
        thrown: Value,
        tag: u32,
        caught: Block,
        next: Block,
    ) -> Value {
        let wanted = self.context_constant(types::I64, self.env.module.layout.tag(tag));
        let other = self.b.ins().icmp(IntCC::NotEqual, thrown, wanted);
        self.b.ins().brif(other, next, &[], caught, &[]);
        other
    }

    /// Branches to a clause's label with the values of `tag` and, where the
    /// clause takes one, the reference.
    fn caught(&mut self, exception: Value, tag: Option<u32>, label: u32, by_ref: bool) {
        let values = tag.map_or(Vec::new(), |tag| self.values_of(exception, tag));
        let mut args: Vec<BlockArg> = values.into_iter().map(BlockArg::Value).collect();
        if by_ref {
            self.mark_referenced(exception);
            args.push(BlockArg::Value(exception));
        }
        let (block, arity) = self.state.branch_to(label);
        debug_assert_eq!(arity, args.len());
        self.b.ins().jump(block, &args);
    }

    /// The values of an exception with this tag.
    pub(super) fn values_of(&mut self, exception: Value, tag: u32) -> Vec<Value> {
        let info = self.env.module.info;
        let types = info.types[info.tags[tag as usize] as usize].params();
        let flags = MemFlagsData::trusted();
        let value = |(i, ty): (usize, &ValType)| {
            let offset = offsets::EXCEPTION_VALUES + VALUE_BYTES * i as i32;
            self.b.ins().load(clif_type(*ty), flags, exception, offset)
        };
        types.iter().enumerate().map(value).collect()
    }

    /// Has an exception kept while a reference to it is found: the store that does.
    pub(super) fn mark_referenced(&mut self, exception: Value) -> Inst {
        let yes = self.b.ins().iconst(types::I32, 1);
        let flags = MemFlagsData::trusted();
        self.b
            .ins()
            .store(flags, yes, exception, offsets::EXCEPTION_REFERENCED)
    }

    fn throw(&mut self, tag: u32) {
        let exception = self.new_exception(tag);
        self.raise(exception);
        self.state.reachable = false;
    }

    /// An exception with the popped values.
    pub(super) fn new_exception(&mut self, tag: u32) -> Value {
        let info = self.env.module.info;
        let count = info.types[info.tags[tag as usize] as usize].params().len();
        let index = self.b.ins().iconst(types::I32, i64::from(tag));
        let exception = self.libcall(Libcall::ExceptionNew, &[index]);
        let exception = exception.expect("it returns an address");
        self.b.ins().trapz(exception, trap::PENDING);
        let flags = MemFlagsData::trusted();
        for i in (0..count).rev() {
            let value = self.pop();
            let offset = offsets::EXCEPTION_VALUES + VALUE_BYTES * i as i32;
            self.b.ins().store(flags, value, exception, offset);
        }
        exception
    }

    /// Ends the block by raising an exception.
    pub(super) fn raise(&mut self, exception: Value) {
        self.raise_to(self.state.handlers.len(), exception);
    }

    /// The same, past all handlers but the outermost `handlers`.
    pub(super) fn raise_to(&mut self, handlers: usize, exception: Value) {
        let Some(innermost) = handlers.checked_sub(1) else {
            self.libcall(Libcall::Throw, &[exception]);
            // It does not return.
            self.b.ins().trap(trap::UNREACHABLE);
            return;
        };
        let landing = self.landing(innermost);
        self.b.ins().jump(landing, &[BlockArg::Value(exception)]);
    }
}
