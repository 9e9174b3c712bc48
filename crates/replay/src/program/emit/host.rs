//! What the host did: the function that reads words and does what they say, until the guest
//! is to run again.

use fathom_rewrite::output::{Part, Printer};
use fathom_rewrite::shape::Space;
use wasm_encoder::{BlockType, Function, InstructionSink, ValType};

use super::super::script::Action;
use super::super::{Compared, answer_head};
use super::{Cell, Emit, Own};

impl Emit<'_> {
    /// What the host did, up to where it goes back to the guest.
    pub(super) fn host(&self) -> Function {
        let (word, at, end) = (0, 1, 2);
        let mut body = Function::new([(3, ValType::I64), (2, ValType::I32)]);
        let f = &mut body.instructions();
        let mut actions: Vec<(&Action, u32)> =
            self.script.actions.iter().map(|(a, n)| (a, *n)).collect();
        actions.sort_by_key(|(_, number)| *number);
        let count = actions.len() as u32;
        f.loop_(BlockType::Empty);
        // Each action's block is in those of the actions behind it; the last is for none.
        for _ in 0..=count {
            f.block(BlockType::Empty);
        }
        f.call(self.own(Own::Word)).local_tee(word).i32_wrap_i64();
        f.br_table(0..count, count);
        let mut thunks = self.thunks();
        let first_thunk = self.own(Own::Others) + self.hosts().len() as u32;
        let thunks: Vec<(u32, bool)> = thunks.by_ref().collect();
        for (action, number) in actions {
            f.end();
            match action {
                Action::Call { func, throws } => {
                    let place = thunks.iter().position(|one| *one == (*func, *throws));
                    f.call(first_thunk + place.unwrap_or_default() as u32);
                }
                other => self.act(f, other, [word, at, end]),
            }
            f.br(count - number);
        }
        f.end().unreachable().end().end();
        body
    }

    /// Pushes what stands in a word beside its action.
    fn more(&self, f: &mut InstructionSink<'_>, word: u32) {
        f.local_get(word).i64_const(32).i64_shr_u();
    }

    /// Turns an `i64` into an address of a memory.
    fn as_address(&self, f: &mut InstructionSink<'_>, memory: u32) {
        if !self.is_wide(memory) {
            f.i32_wrap_i64();
        }
    }

    /// One action that is no call.
    fn act(&self, f: &mut InstructionSink<'_>, action: &Action, locals: [u32; 3]) {
        let [word, at, end] = locals;
        let differ = self.own(Own::Differ);
        match action {
            Action::Return => {
                f.return_();
            }
            Action::Throw => {
                f.throw(self.layout.new_tag(0));
            }
            Action::Write(memory) => {
                let byte = self.cell(Cell::Byte);
                f.call(self.own(Own::Word));
                self.as_address(f, *memory);
                f.global_get(byte);
                self.more(f, word);
                f.i32_wrap_i64();
                let memory = self.layout.moved(Space::Memory, *memory);
                f.memory_init(memory, self.segment() + 1);
                f.global_get(byte);
                self.more(f, word);
                f.i32_wrap_i64().i32_add().global_set(byte);
            }
            Action::GrowMemory(memory) => {
                self.more(f, word);
                self.as_address(f, *memory);
                f.memory_grow(self.layout.moved(Space::Memory, *memory));
                match self.is_wide(*memory) {
                    true => f.i64_const(-1).i64_eq(),
                    false => f.i32_const(-1).i32_eq(),
                };
                f.if_(BlockType::Empty).call(differ).end();
            }
            Action::SetElement(table) => {
                self.more(f, word);
                self.as_index(f, *table);
                self.reference(f);
                f.table_set(self.layout.moved(Space::Table, *table));
            }
            Action::GrowTable(table) => {
                self.reference(f);
                self.more(f, word);
                self.as_index(f, *table);
                f.table_grow(self.layout.moved(Space::Table, *table));
                match self.shape.tables[*table as usize].table64 {
                    true => f.i64_const(-1).i64_eq(),
                    false => f.i32_const(-1).i32_eq(),
                };
                f.if_(BlockType::Empty).call(differ).end();
            }
            Action::SetGlobal(global) => {
                self.value(f, self.shape.globals[*global as usize].content_type);
                f.global_set(self.layout.moved(Space::Global, *global));
            }
            Action::Mix(memory) => self.mix_memory(f, *memory, [word, at, end]),
            Action::End { is_inside } => self.end(f, *is_inside),
            Action::Call { .. } => {}
        }
    }

    fn as_index(&self, f: &mut InstructionSink<'_>, table: u32) {
        if !self.shape.tables[table as usize].table64 {
            f.i32_wrap_i64();
        }
    }

    /// Pushes the reference whose place is the next word.
    fn reference(&self, f: &mut InstructionSink<'_>) {
        f.call(self.own(Own::Word)).i32_wrap_i64();
        f.table_get(self.layout.new_table(0));
        self.takes_references.set(true);
    }

    /// Pushes the next word as a value.
    pub(super) fn value(&self, f: &mut InstructionSink<'_>, ty: wasmparser::ValType) {
        if ty.is_reference_type() {
            return self.reference(f);
        }
        f.call(self.own(Own::Word));
        match ty {
            wasmparser::ValType::I32 => f.i32_wrap_i64(),
            wasmparser::ValType::F32 => f.i32_wrap_i64().f32_reinterpret_i32(),
            wasmparser::ValType::F64 => f.f64_reinterpret_i64(),
            _ => f,
        };
    }

    /// Takes a part of a memory into the hash; where something was left out, what there is of it.
    fn mix_memory(&self, f: &mut InstructionSink<'_>, memory: u32, locals: [u32; 3]) {
        let [word, at, end] = locals;
        f.call(self.own(Own::Word)).local_tee(at);
        self.more(f, word);
        f.i64_add().local_set(end);
        let may_be_smaller = self.compares_others();
        if may_be_smaller {
            f.block(BlockType::Empty);
            f.local_get(end);
            self.memory_bytes(f, memory);
            f.local_get(end);
            self.memory_bytes(f, memory);
            f.i64_lt_u().select().local_tee(end);
            f.local_get(at).i64_le_u().br_if(0);
        }
        f.loop_(BlockType::Empty);
        f.local_get(at);
        self.as_address(f, memory);
        let moved = self.layout.moved(Space::Memory, memory);
        f.i32_load(
            Printer {
                memory: moved,
                ..self.printer
            }
            .arg(0),
        );
        f.call(self.own(Own::Mix));
        f.local_get(at).i64_const(4).i64_add().local_tee(at);
        f.local_get(end).i64_lt_u().br_if(0);
        f.end();
        if may_be_smaller {
            f.end();
        }
    }

    /// Pushes how large a memory is.
    fn memory_bytes(&self, f: &mut InstructionSink<'_>, memory: u32) {
        f.memory_size(self.layout.moved(Space::Memory, memory));
        if !self.is_wide(memory) {
            f.i64_extend_i32_u();
        }
        f.i64_const(16).i64_shl();
    }

    /// The last comparison, and the answer.
    fn end(&self, f: &mut InstructionSink<'_>, is_inside: bool) {
        // Locals behind those of the loop over a memory.
        let own = [3, 4];
        let hash = |f: &mut InstructionSink<'_>| {
            f.global_get(self.cell(Cell::Hash)).i64_extend_i32_u();
        };
        match self.script.compared {
            Compared::Recorded => f.call(self.own(Own::Check)),
            Compared::Order => f,
            Compared::Answer(_) => {
                f.global_get(self.cell(Cell::Hash));
                f.global_set(self.cell(Cell::Other));
                f.call(self.own(Own::Check))
            }
        };
        let head = answer_head(self.script);
        let parts = [Part::Text(&head), Part::Number(16, &hash), Part::Text("\n")];
        self.printer.write(f, 1, own, &parts);
        match is_inside {
            true => f
                .i32_const(0)
                .call(self.layout.added_import(1))
                .unreachable(),
            false => f.return_(),
        };
    }
}
