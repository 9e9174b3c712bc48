//! Exceptions of the older form: `try`, `catch`, `catch_all`, `delegate`, `rethrow`
//! (exception-handling proposal, `legacy/Exceptions.md`).
//!
//! ```text
//!  try               calls and throws name the landing block, as in a `try_table`
//!    call f
//!  catch t           landing(exn): has it tag t? ──no──► others ─┐
//!    rethrow 0       │ yes: the values of t are the operands     │
//!  catch_all         │                    ◄──────────────────────┘
//!    …               ▼ exn is still there: raises it to the handlers outside
//!  end
//! ```
//!
//! Where a `try_table` ends all its clauses are known, and are branches. Here they are
//! code, and come after the body: each follows the comparison of the one before it,
//! outside of the handler. A `delegate` hands what is raised on to the handlers that
//! are open where its label is.
//!
//! What must stay true: an exception that a `rethrow` may raise again is referenced
//! while its clause runs, and it is a value that lives until then, so that a collection
//! finds it. Where a clause turns out to have no such `rethrow` the mark is taken out
//! again, and the memory of the exception is the next one's.

use cranelift_codegen::ir::Block;
use wasmparser::{BlockType, Operator};

use super::Translator;
use super::state::{Caught, Frame, FrameKind};

impl Translator<'_> {
    /// Translates an instruction on exceptions of the older form; `false` when it is
    /// not one.
    pub(super) fn legacy_exception(&mut self, op: &Operator<'_>) -> bool {
        match *op {
            Operator::Try { blockty } => self.open_legacy_try(blockty),
            Operator::Catch { tag_index } => self.switch_to_clause(Some(tag_index)),
            Operator::CatchAll => self.switch_to_clause(None),
            Operator::Delegate { relative_depth } => self.delegate(relative_depth),
            Operator::Rethrow { relative_depth } => self.rethrow(relative_depth),
            _ => return false,
        }
        true
    }

    fn open_legacy_try(&mut self, ty: BlockType) {
        self.open_handler(FrameKind::LegacyTry, ty, Vec::new());
    }

    /// At `catch`, or `catch_all` where there is no tag: what is in front of it leads
    /// to the end.
    pub(super) fn switch_to_clause(&mut self, tag: Option<u32>) {
        let mut frame = *self.innermost();
        let compared = match frame.kind {
            FrameKind::Dead => return,
            FrameKind::LegacyTry => {
                self.jump_to_end(&mut frame);
                frame.handlers -= 1;
                self.land(&frame)
            }
            FrameKind::Clause(caught) => {
                self.jump_to_end(&mut frame);
                caught.and_then(|caught| self.go_on_with_others(caught))
            }
            kind => unreachable!("validated: no clause of {kind:?}"),
        };
        self.state.stack.truncate(frame.height);
        self.state.reachable = compared.is_some();
        frame.kind = FrameKind::Clause(compared.map(|caught| self.open_clause(caught, tag)));
        *self.innermost() = frame;
    }

    /// Goes on where the exceptions of a body come to, if any do.
    fn land(&mut self, frame: &Frame) -> Option<Caught> {
        let landing = self.close_handler()?;
        self.state.clauses += 1;
        self.state.dominators = frame.dominators;
        self.go_on_in(landing);
        let exception = self.b.block_params(landing)[0];
        Some(Caught {
            exception,
            tag: self.landed(exception),
            others: None,
            dominators: self.state.dominators,
            mark: None,
        })
    }

    /// Ends a body: the block that its exceptions come to, if any do.
    fn close_handler(&mut self) -> Option<Block> {
        let handler = self.state.handlers.pop().expect("a handler is open");
        if !handler.used {
            self.b.seal_block(handler.landing);
        }
        handler.used.then_some(handler.landing)
    }

    /// Behind a clause: goes on where it was not entered, if there may be a further one.
    fn go_on_with_others(&mut self, caught: Caught) -> Option<Caught> {
        if let Some(mark) = caught.mark {
            self.b.func.layout.remove_inst(mark);
        }
        let others = caught.others?;
        self.state.dominators = caught.dominators;
        self.go_on_in(others);
        Some(Caught {
            dominators: self.state.dominators,
            ..caught
        })
    }

    /// Goes on in a clause, with the values of its tag.
    fn open_clause(&mut self, compared: Caught, tag: Option<u32>) -> Caught {
        let Caught { exception, .. } = compared;
        let Some(tag) = tag else {
            let mark = Some(self.mark_referenced(exception));
            return Caught {
                others: None,
                mark,
                ..compared
            };
        };
        let (clause, others) = (self.b.create_block(), self.b.create_block());
        let other = self.unless_tagged(compared.tag, tag, clause, others);
        self.go_on_in(clause);
        // Values of another tag may be anything, such as numbers taken for references.
        let guarded = self.guarded(other, exception);
        let values = self.values_of(guarded, tag);
        self.state.stack.extend(values);
        let mark = Some(self.mark_referenced(exception));
        Caught {
            others: Some(others),
            mark,
            ..compared
        }
    }

    /// At the `end` behind clauses: an exception that none of them takes is raised on.
    pub(super) fn close_clauses(&mut self, caught: Option<Caught>) {
        let Some(caught) = caught else {
            return;
        };
        self.state.clauses -= 1;
        if let Some(caught) = self.go_on_with_others(caught) {
            self.raise(caught.exception);
        }
    }

    /// Ends a body without clauses: its exceptions go to the outermost `handlers`.
    pub(super) fn hand_over(&mut self, handlers: usize) {
        if let Some(landing) = self.close_handler() {
            self.b.switch_to_block(landing);
            self.b.seal_block(landing);
            let exception = self.b.block_params(landing)[0];
            self.raise_to(handlers, exception);
        }
    }

    /// Ends a `try`, whose exceptions are as if they were raised where the label is. Its
    /// own label does not count.
    pub(super) fn delegate(&mut self, depth: u32) {
        let mut frame = *self.innermost();
        let handlers = self.state.frame(depth + 1).handlers;
        self.state.frames.pop();
        if frame.kind == FrameKind::Dead {
            return;
        }
        self.jump_to_end(&mut frame);
        self.hand_over(handlers);
        self.enter_end(&frame);
    }

    /// Raises what the clause `depth` levels out has caught.
    fn rethrow(&mut self, depth: u32) {
        let clause = self.state.frames.len() - 1 - depth as usize;
        let FrameKind::Clause(Some(caught)) = &mut self.state.frames[clause].kind else {
            unreachable!("validated: the label is a clause's, which is reached");
        };
        // The mark stays.
        caught.mark = None;
        let exception = caught.exception;
        self.raise(exception);
        self.state.reachable = false;
    }
}
