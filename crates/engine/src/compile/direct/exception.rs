//! Exceptions (core specification §4.4.9), and those of the older form (exception-handling
//! proposal, `legacy/Exceptions.md`).
//!
//! ```text
//!  call f            where f returns to has a row in the table of handlers: its landing
//!  throw t           jumps to the landing, or has the runtime find one
//!
//!  landing:  rax: the exception; rsp, rbp: of this frame; all other registers: anything
//!            context ◄─ frame; memory's base ◄─ context; locals ◄─ frame
//!            tag = that of a clause? ──▶ its values to the slots of its label, which it goes to
//!            no clause's: on to the landing around, or the runtime raises it again
//! ```
//!
//! A landing of a `try_table` is out of the way, behind the function. That of a `try` is in front
//! of its first clause, and has the exception as an operand that validation knows nothing of, below
//! all of the clause.
//!
//! What must stay true: whatever may come to a landing leaves all locals in the frame.

use cranelift_codegen::ir::SourceLoc;
use wasmparser::{Catch, Operator};

use super::code::{Condition, Label, emit};
use super::control::FrameKind;
use super::registers::{CONTEXT, RAX, RBP, Rm, SCRATCH, SCRATCH_XMM, at};
use super::table::Argument;
use super::values::{Kind, Place, Value, kinds};
use super::{Generator, Refusal};
use crate::facts::libcall::Libcall;
use crate::facts::trap;
use crate::facts::vmctx::offsets;

/// Bytes of a value in an exception.
const VALUE_BYTES: i32 = 16;

/// What takes the exceptions of an open `try_table` or `try`.
pub(super) struct Handler {
    landing: Label,
    /// Of a `try_table`: depths of labels count from outside of it.
    clauses: Vec<Catch>,
    /// Whether anything comes there.
    is_used: bool,
}

/// A clause that exceptions are compared with: of the innermost one whose tag is not theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clause {
    /// Where it goes on if the tag is another; nowhere from `catch_all`.
    others: Option<Label>,
    /// The instruction that marks its exception, as long as nothing raises that again.
    mark: Option<u32>,
}

/// A landing behind the function.
pub(super) struct Pad {
    landing: Label,
    clauses: Vec<Caught>,
    /// Where others go; nowhere behind a clause for all.
    others: Option<Others>,
    location: SourceLoc,
}

/// Where a clause of a `try_table` goes.
struct Caught {
    tag: Option<u32>,
    by_reference: bool,
    label: Label,
    /// The slot of its first value.
    height: u32,
}

/// Where exceptions go that nothing here takes.
#[derive(Clone, Copy)]
enum Others {
    Landing(Label),
    Runtime,
}

/// Whether a body seems to catch exceptions, by its bytes: the instruction and the type of its
/// block. Those of a constant or an index may be the same, and there are other types.
pub(super) fn seems_to_catch(body: &[u8]) -> bool {
    const TRY: u8 = 0x06;
    const TRY_TABLE: u8 = 0x1f;
    const EMPTY: u8 = 0x40;
    const NUMBERS: std::ops::RangeInclusive<u8> = 0x7c..=0x7f;
    let mut pairs = body.windows(2);
    pairs.any(|pair| {
        matches!(pair[0], TRY | TRY_TABLE) && (pair[1] == EMPTY || NUMBERS.contains(&pair[1]))
    })
}

impl Generator<'_> {
    /// Translates an instruction on exceptions; `false` when it is none.
    pub(super) fn exception(&mut self, op: &Operator<'_>) -> Result<bool, Refusal> {
        match op {
            Operator::TryTable { try_table } => {
                self.open(FrameKind::Try, try_table.ty)?;
                self.open_handler(try_table.catches.clone())?;
            }
            Operator::Try { blockty } => {
                self.open(FrameKind::LegacyTry, *blockty)?;
                self.open_handler(Vec::new())?;
            }
            Operator::Throw { tag_index } => self.throw(*tag_index)?,
            Operator::ThrowRef => {
                self.settle();
                let exception = self.pop();
                self.load_gpr(RAX, exception);
                emit!(self.code, testq_mr(Rm::Gpr(RAX), RAX));
                self.code.trap_if(Condition::Equal, trap::NULL_REFERENCE);
                self.raise();
            }
            Operator::Rethrow { relative_depth } => self.rethrow(*relative_depth),
            Operator::Catch { .. } | Operator::CatchAll | Operator::Delegate { .. } => {
                self.clause(op)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What ends the body of a `try`, which something may come to that does not get through it.
    pub(super) fn clause(&mut self, op: &Operator<'_>) -> Result<(), Refusal> {
        match *op {
            Operator::Catch { tag_index } => self.switch_to_clause(Some(tag_index)),
            Operator::CatchAll => self.switch_to_clause(None),
            Operator::Delegate { relative_depth } => {
                self.delegate(relative_depth);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn open_handler(&mut self, clauses: Vec<Catch>) -> Result<(), Refusal> {
        if !self.how.has_handlers {
            return Err(Refusal::Handlers);
        }
        let landing = self.code.label();
        self.handlers.push(Handler {
            landing,
            clauses,
            is_used: false,
        });
        Ok(())
    }

    /// A call that was just encoded may raise an exception; locals are in the frame.
    pub(super) fn note_call(&mut self) {
        if let Some(innermost) = self.handlers.last_mut() {
            innermost.is_used = true;
            let landing = innermost.landing;
            self.caught_calls.push((self.code.offset(), landing));
        }
    }

    /// Has all in the frame that a landing loads.
    pub(super) fn store_for_landing(&mut self) {
        match self.handlers.is_empty() {
            true => self.store_lent(),
            false => self.store_all(),
        }
    }

    /// Where an exception goes that is raised where so many handlers are open.
    fn around(&mut self, handlers: usize) -> Others {
        match handlers.checked_sub(1) {
            Some(innermost) => {
                let handler = &mut self.handlers[innermost];
                handler.is_used = true;
                Others::Landing(handler.landing)
            }
            None => Others::Runtime,
        }
    }

    /// Raises the exception in rax; locals are in the frame.
    fn raise_to(&mut self, others: Others) {
        match others {
            Others::Landing(landing) => self.code.jump(landing),
            Others::Runtime => {
                let exception = Value {
                    kind: Kind::I64,
                    place: Place::Gpr(RAX),
                };
                self.libcall(Libcall::Throw, &[Argument::Value(exception)]);
                // It does not return.
                self.code.trap(trap::UNREACHABLE);
            }
        }
    }

    /// Raises the exception in rax where nothing goes on.
    fn raise(&mut self) {
        if !self.handlers.is_empty() {
            self.store_all();
        }
        let others = self.around(self.handlers.len());
        self.raise_to(others);
        self.is_reachable = false;
    }

    fn throw(&mut self, tag: u32) -> Result<(), Refusal> {
        let types = self.tag_kinds(tag)?;
        self.settle();
        self.libcall(Libcall::ExceptionNew, &[Argument::Constant(tag.into())]);
        emit!(self.code, testq_mr(Rm::Gpr(RAX), RAX));
        self.code.trap_if(Condition::Equal, trap::PENDING);
        for nth in (0..types.len()).rev() {
            let value = self.pop();
            let offset = offsets::EXCEPTION_VALUES + VALUE_BYTES * nth as i32;
            self.store_value(value, at(RAX, offset));
        }
        self.raise();
        Ok(())
    }

    /// The kinds of a tag's values.
    fn tag_kinds(&mut self, tag: u32) -> Result<Vec<Kind>, Refusal> {
        let info = self.env.info;
        let types = info.types[info.tags[tag as usize] as usize].params();
        self.see_types(types.len())?;
        Ok(kinds(types))
    }

    /// Where a landing begins: registers are again what they are everywhere.
    fn land(&mut self) {
        let context = self.context_place();
        emit!(self.code, movq_rm(CONTEXT, Rm::Mem(at(RBP, context))));
        self.load_first_memory();
        self.load_all();
    }

    /// Compares the tag of the exception in rax, and goes on where it is this one. Values of
    /// another tag may be anything, such as numbers taken for references.
    fn compare_tag(&mut self, tag: u32, others: Label) {
        let thrown = at(RAX, offsets::EXCEPTION_TAG);
        emit!(self.code, movq_rm(SCRATCH, Rm::Mem(thrown)));
        let wanted = at(CONTEXT, self.env.layout.tag(tag));
        emit!(self.code, cmpq_rm(SCRATCH, Rm::Mem(wanted)));
        self.code.jump_if(Condition::NotEqual, others);
        self.guard(Condition::NotEqual, RAX);
    }

    /// Moves the values of the exception in rax to slots.
    fn load_values(&mut self, types: &[Kind], height: u32) {
        for (nth, kind) in (0..).zip(types) {
            let from = at(RAX, offsets::EXCEPTION_VALUES + VALUE_BYTES * nth as i32);
            let to = self.slot(height + nth);
            if *kind == Kind::V128 {
                self.load_xmm_from(SCRATCH_XMM, *kind, from);
                self.store_xmm(SCRATCH_XMM, *kind, to);
                continue;
            }
            match kind.is_wide() {
                true => emit!(self.code, movq_rm(SCRATCH, Rm::Mem(from))),
                false => emit!(self.code, movl_rm(SCRATCH, Rm::Mem(from))),
            }
            self.store_gpr(SCRATCH, kind.is_wide(), to);
        }
    }

    /// Has the exception in rax kept while a reference to it is found: where that is done.
    fn mark_referenced(&mut self) -> u32 {
        let place = self.code.offset();
        let field = at(RAX, offsets::EXCEPTION_REFERENCED);
        emit!(self.code, movl_mi(Rm::Mem(field), 1));
        debug_assert_eq!(self.code.offset() - place, 7, "as many as are removed");
        place
    }

    /// At the end of a `try_table`, outside of it already.
    pub(super) fn close_try(&mut self) {
        let handler = self.handlers.pop().expect("a handler is open");
        if !handler.is_used {
            return;
        }
        let clauses: Vec<Caught> = handler.clauses.iter().map(|it| self.caught(it)).collect();
        let others = match clauses.iter().all(|clause| clause.tag.is_some()) {
            true => Some(self.around(self.handlers.len())),
            false => None,
        };
        self.pads.push(Pad {
            landing: handler.landing,
            clauses,
            others,
            location: self.code.location(),
        });
    }

    /// Where a clause goes.
    fn caught(&mut self, clause: &Catch) -> Caught {
        let (tag, depth, by_reference) = match *clause {
            Catch::One { tag, label } => (Some(tag), label, false),
            Catch::OneRef { tag, label } => (Some(tag), label, true),
            Catch::All { label } => (None, label, false),
            Catch::AllRef { label } => (None, label, true),
        };
        Caught {
            tag,
            by_reference,
            label: self.branched(depth),
            height: self.target(depth).height,
        }
    }

    /// Appends the landings.
    pub(super) fn place_pads(&mut self) -> Result<(), Refusal> {
        for pad in std::mem::take(&mut self.pads) {
            self.code.locate(pad.location);
            self.code.bind(pad.landing);
            self.land();
            for clause in &pad.clauses {
                self.place_clause(clause)?;
            }
            if let Some(others) = pad.others {
                self.raise_to(others);
            }
        }
        Ok(())
    }

    fn place_clause(&mut self, clause: &Caught) -> Result<(), Refusal> {
        let next = self.code.label();
        let mut height = clause.height;
        if let Some(tag) = clause.tag {
            self.compare_tag(tag, next);
            let types = self.tag_kinds(tag)?;
            self.load_values(&types, height);
            height += types.len() as u32;
        }
        if clause.by_reference {
            self.mark_referenced();
            let slot = self.slot(height);
            self.store_gpr(RAX, true, slot);
        }
        self.code.jump(clause.label);
        self.code.bind(next);
        self.keep_within()
    }

    /// At `catch`, or `catch_all` where there is no tag: what is in front of it leads to the end.
    fn switch_to_clause(&mut self, tag: Option<u32>) -> Result<(), Refusal> {
        let frame = self.innermost();
        let (kind, height) = (frame.kind, frame.height);
        let is_entered = match kind {
            FrameKind::LegacyTry => {
                self.jump_to_end();
                self.land_here(height)
            }
            FrameKind::Clause(clause) => {
                self.jump_to_end();
                clause.is_some_and(|clause| self.go_on_with_others(clause, height))
            }
            _ => return Ok(()),
        };
        self.truncate(height);
        self.is_reachable = is_entered;
        let clause = match is_entered {
            true => Some(self.open_clause(tag)?),
            false => None,
        };
        self.innermost().kind = FrameKind::Clause(clause);
        Ok(())
    }

    /// The landing of a `try`, if anything comes there: with the exception in rax and in its slot.
    fn land_here(&mut self, height: u32) -> bool {
        let handler = self.handlers.pop().expect("a handler is open");
        if handler.is_used {
            self.code.bind(handler.landing);
            self.land();
            let slot = self.slot(height);
            self.store_gpr(RAX, true, slot);
        }
        handler.is_used
    }

    /// Behind a clause: goes on where the exception is not its own, if there may be such.
    fn go_on_with_others(&mut self, clause: Clause, height: u32) -> bool {
        if let Some(place) = clause.mark {
            self.code.remove_seven(place);
        }
        let Some(others) = clause.others else {
            return false;
        };
        self.code.bind(others);
        let slot = self.slot(height);
        emit!(self.code, movq_rm(RAX, Rm::Mem(slot)));
        true
    }

    /// Goes on in a clause with the values of its tag, above the exception, which is in rax.
    fn open_clause(&mut self, tag: Option<u32>) -> Result<Clause, Refusal> {
        self.push_settled(Kind::I64);
        let mut others = None;
        if let Some(tag) = tag {
            let types = self.tag_kinds(tag)?;
            let next = self.code.label();
            self.compare_tag(tag, next);
            self.load_values(&types, self.height());
            for kind in types {
                self.push_settled(kind);
            }
            others = Some(next);
        }
        self.settled = self.values.len();
        let mark = Some(self.mark_referenced());
        Ok(Clause { others, mark })
    }

    /// At the `end` behind clauses, outside of them already: what none of them takes is raised on.
    pub(super) fn close_clauses(&mut self, clause: Option<Clause>, height: u32) {
        let goes_on = clause.is_some_and(|clause| self.go_on_with_others(clause, height));
        if goes_on {
            self.raise();
        }
    }

    /// At the end of a body without clauses, or one that hands over to the handlers of a label.
    pub(super) fn close_without_clauses(&mut self, handlers: usize) {
        let handler = self.handlers.pop().expect("a handler is open");
        if handler.is_used {
            let others = self.around(handlers);
            self.pads.push(Pad {
                landing: handler.landing,
                clauses: Vec::new(),
                others: Some(others),
                location: self.code.location(),
            });
        }
    }

    /// Ends a `try`, whose exceptions are as if they were raised where the label is. Its own
    /// label does not count.
    fn delegate(&mut self, depth: u32) {
        if self.innermost().kind == FrameKind::LegacyTry {
            let target = self.target(depth + 1);
            let is_open = matches!(target.kind, FrameKind::Try | FrameKind::LegacyTry);
            let handlers = target.handlers + usize::from(is_open);
            self.close_without_clauses(handlers);
            self.innermost().kind = FrameKind::Block;
        }
        self.close();
    }

    /// Raises again what the clause so many levels out has caught.
    fn rethrow(&mut self, depth: u32) {
        let at = self.frames.len() - 1 - depth as usize;
        let frame = &mut self.frames[at];
        if let FrameKind::Clause(Some(clause)) = &mut frame.kind {
            // The mark stays.
            clause.mark = None;
        }
        let slot = self.slot(self.frames[at].height);
        emit!(self.code, movq_rm(RAX, Rm::Mem(slot)));
        self.raise();
    }
}
