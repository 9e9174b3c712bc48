//! What a program of ours writes at its end: text that is known when it is made, with
//! numbers that are not, through WASI.
//!
//! The text is made in the first bytes of the module's memory: nothing of the guest runs
//! afterwards.

use wasm_encoder::{BlockType, InstructionSink, MemArg, MemArgTarget, ValType};

use crate::closed::Signature;

/// The module that WASI's functions are imported from.
pub const WASI: &str = "wasi_snapshot_preview1";

/// Bytes of the memory that a text may take, with what writing it needs.
pub const BYTES_MAX: usize = 32 << 10;

/// Where the text begins; in front of it is where it is, its length and what was written.
const TEXT: u32 = 16;

/// The type of `fd_write`.
pub fn fd_write_type() -> Signature {
    (vec![ValType::I32; 4], vec![ValType::I32])
}

/// The type of `proc_exit`.
pub fn proc_exit_type() -> Signature {
    (vec![ValType::I32], Vec::new())
}

/// The type of the function that `digits` is the body of.
pub fn digits_type() -> Signature {
    (
        vec![ValType::I32, ValType::I64, ValType::I64],
        vec![ValType::I32],
    )
}

/// A memory that is written to.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    /// Its index.
    pub memory: u32,
    /// Whether its addresses have 64 bits.
    pub is_wide: bool,
    /// The imported `fd_write`.
    pub fd_write: u32,
    /// The function of `digits`.
    pub digits: u32,
}

/// A part of a text.
pub enum Part<'a> {
    /// These characters.
    Text(&'a str),
    /// A number that this leaves on the stack as an `i64`, in this base.
    Number(i64, &'a dyn Fn(&mut InstructionSink<'_>)),
}

impl Printer {
    /// An access to the memory.
    pub fn arg(&self, offset: u64) -> MemArg {
        MemArg {
            offset,
            align: 0,
            target: MemArgTarget::Memory(self.memory),
            ordering: None,
        }
    }

    /// Pushes a local as an address.
    fn address(&self, f: &mut InstructionSink<'_>, local: u32) {
        f.local_get(local);
        if self.is_wide {
            f.i64_extend_i32_u();
        }
    }

    /// Pushes a constant as an address.
    pub fn constant(&self, f: &mut InstructionSink<'_>, address: u32) {
        match self.is_wide {
            true => f.i64_const(i64::from(address)),
            false => f.i32_const(address.cast_signed()),
        };
    }

    /// Writes a text to a descriptor, using two locals of type `i32`. The memory has a page.
    pub fn write(
        &self,
        f: &mut InstructionSink<'_>,
        descriptor: i32,
        locals: [u32; 2],
        parts: &[Part<'_>],
    ) {
        let [at, left] = locals;
        f.i32_const(TEXT.cast_signed()).local_set(at);
        for part in parts {
            match part {
                Part::Text(text) => self.text(f, at, text),
                Part::Number(base, push) => {
                    f.local_get(at);
                    push(f);
                    f.i64_const(*base).call(self.digits).local_set(at);
                }
            }
        }
        self.constant(f, 0);
        f.i32_const(TEXT.cast_signed()).i32_store(self.arg(0));
        self.constant(f, 4);
        f.local_get(at).i32_const(TEXT.cast_signed()).i32_sub();
        f.i32_store(self.arg(0));
        // Until all of it is written, or nothing can be.
        f.block(BlockType::Empty).loop_(BlockType::Empty);
        f.i32_const(descriptor)
            .i32_const(0)
            .i32_const(1)
            .i32_const(8);
        f.call(self.fd_write).br_if(1);
        for (place, is_added) in [(0, true), (4, false)] {
            self.constant(f, place);
            self.constant(f, place);
            f.i32_load(self.arg(0));
            self.constant(f, 8);
            f.i32_load(self.arg(0));
            match is_added {
                true => f.i32_add(),
                false => f.i32_sub(),
            };
            f.i32_store(self.arg(0));
        }
        self.constant(f, 4);
        f.i32_load(self.arg(0)).local_tee(left).i32_eqz().br_if(1);
        self.constant(f, 8);
        f.i32_load(self.arg(0)).br_if(0);
        f.end().end();
    }

    /// Writes characters at a local, which moves behind them; up to seven bytes more are
    /// overwritten.
    fn text(&self, f: &mut InstructionSink<'_>, at: u32, text: &str) {
        for (index, chunk) in text.as_bytes().chunks(8).enumerate() {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            self.address(f, at);
            f.i64_const(i64::from_le_bytes(bytes));
            f.i64_store(self.arg(8 * index as u64));
        }
        f.local_get(at).i32_const(text.len() as i32).i32_add();
        f.local_set(at);
    }

    /// The body of a function that writes the digits of its second argument, in the base of
    /// its third, at its first, and returns what is behind them.
    pub fn digits(&self) -> wasm_encoder::Function {
        let (at, value, base, rest, end, digit) = (0, 1, 2, 3, 4, 5);
        let mut body = wasm_encoder::Function::new([(1, ValType::I64), (2, ValType::I32)]);
        let f = &mut body.instructions();
        f.local_get(value)
            .local_set(rest)
            .local_get(at)
            .local_set(end);
        f.loop_(BlockType::Empty);
        f.local_get(end).i32_const(1).i32_add().local_set(end);
        f.local_get(rest).local_get(base).i64_div_u();
        f.local_tee(rest).i64_eqz().i32_eqz().br_if(0);
        f.end();
        f.local_get(end).local_set(digit);
        f.loop_(BlockType::Empty);
        f.local_get(digit).i32_const(1).i32_sub().local_set(digit);
        self.address(f, digit);
        // '0' to '9', then 'a' to 'f'.
        f.local_get(value)
            .local_get(base)
            .i64_rem_u()
            .local_tee(rest);
        f.i64_const(i64::from(b'a' - 10)).i64_const(i64::from(b'0'));
        f.local_get(rest).i64_const(9).i64_gt_u().select().i64_add();
        f.i64_store8(self.arg(0));
        f.local_get(value)
            .local_get(base)
            .i64_div_u()
            .local_set(value);
        f.local_get(digit).local_get(at).i32_gt_u().br_if(0);
        f.end();
        f.local_get(end).end();
        body
    }
}
