//! Times: the engine's own clock, read in front of each call and behind it.
//!
//! ```text
//!  wrapper   before ◄─clock   import   after ◄─clock   counter += after − before
//!                   └────────────────────┘ one reading is in it
//! ```
//!
//! The clock writes eight bytes into the guest's memory: the first eight, which are put back
//! at once. With threads, another one might look at them meanwhile, so shared memories are
//! not timed.
//!
//! What must stay true: between the two halves of a reading nothing of the guest or of the
//! engine runs but the clock.

use wasm_encoder::{BlockType, Function, InstructionSink, ValType};
use wasmparser::MemoryType;

use super::RewriteError;
use super::emit::Emit;

/// Readings in a row, to know what one takes; the least of so many such rows.
pub const READINGS: i32 = 64;
const ROWS: i32 = 16;
/// `CLOCK_MONOTONIC`, in nanoseconds.
const MONOTONIC: i32 = 1;
/// What a time takes in memory.
const BYTES: u64 = 8;

/// Refuses a memory in which nothing can be written and put back.
pub fn has_room(ty: MemoryType) -> Result<(), RewriteError> {
    let page = 1u64 << ty.page_size_log2.unwrap_or(16);
    match (ty.shared, ty.initial.saturating_mul(page) >= BYTES) {
        (true, _) => Err(RewriteError::Times("its memory is shared by threads")),
        (_, false) => Err(RewriteError::Times("its memory begins empty")),
        (false, true) => Ok(()),
    }
}

impl Emit<'_> {
    /// Reads the clock into a local; 0 where there is none.
    pub(super) fn read_clock(&self, f: &mut InstructionSink<'_>, to: u32, kept: u32) {
        self.zero(f);
        f.i64_load(self.arg(0, 0)).local_set(kept);
        f.i32_const(MONOTONIC).i64_const(1).i32_const(0);
        f.call(self.clock()).i32_eqz().i64_extend_i32_u();
        self.zero(f);
        f.i64_load(self.arg(0, 0)).i64_mul().local_set(to);
        self.zero(f);
        f.local_get(kept).i64_store(self.arg(0, 0));
    }

    /// What so many readings take: the least of some rows of them, at the end of the program
    /// and so with code that is as warm as its calls were.
    pub(super) fn readings_function(&self) -> Function {
        let (rows, left) = (0, 1);
        let (least, from, now, kept) = (2, 3, 4, 5);
        let mut function = Function::new([(2, ValType::I32), (4, ValType::I64)]);
        let f = &mut function.instructions();
        f.i64_const(i64::MAX).local_set(least);
        f.i32_const(ROWS).local_set(rows);
        f.loop_(BlockType::Empty);
        self.read_clock(f, from, kept);
        f.i32_const(READINGS).local_set(left);
        f.loop_(BlockType::Empty);
        self.read_clock(f, now, kept);
        f.local_get(left).i32_const(1).i32_sub().local_tee(left);
        f.br_if(0).end();
        f.local_get(now).local_get(from).i64_sub().local_tee(now);
        f.local_get(least).local_get(now).local_get(least);
        f.i64_lt_s().select().local_set(least);
        f.local_get(rows).i32_const(1).i32_sub().local_tee(rows);
        f.br_if(0).end();
        f.local_get(least).end();
        function
    }
}
