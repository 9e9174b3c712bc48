//! Machine code as it grows: bytes, labels, traps, and where the code stems from.
//!
//! Instructions are encoded by `cranelift-assembler-x64`, which Cranelift and Winch use. What
//! is here is the sink that it writes to, and the conditions of x86-64, of which it has a
//! type for each instruction.

use cranelift_assembler_x64 as asm;
use cranelift_codegen::ir::{SourceLoc, TrapCode};

use super::registers::{Gpr, Rm};
use crate::compile::artifact::TrapSite;
use crate::compile::function::Located;

/// Encodes an instruction that has registers.
macro_rules! emit {
    ($code:expr, $inst:ident($($arg:expr),* $(,)?)) => {
        cranelift_assembler_x64::inst::$inst::<$crate::compile::direct::registers::Regs>::new(
            $($arg),*
        )
        .encode(&mut $code)
    };
}
pub(super) use emit;

/// A place in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label(u32);

/// Of a label that is not placed yet.
const NOWHERE: u32 = u32::MAX;

/// A distance of 32 bits that is written when labels are known.
struct Distance {
    /// Where the field is.
    at: u32,
    label: Label,
    /// From where it counts: behind the field, or the start of a table.
    from: u32,
}

/// A trap out of the way.
struct Stub {
    label: Label,
    code: TrapCode,
    location: SourceLoc,
}

/// Declares conditions, each with its jump, and with what sets and moves where it holds.
macro_rules! conditions {
    ($($Condition:ident: $jump:ident $set:ident $move:ident;)*) => {
        /// A condition of x86-64.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Condition {
            $($Condition,)*
        }

        impl Code {
            pub fn jump_if(&mut self, condition: Condition, label: Label) {
                match condition {
                    $(Condition::$Condition => asm::inst::$jump::new(0).encode(self),)*
                }
                self.jumps_to(label);
            }

            /// Sets a register to 1 where a condition holds, else to 0.
            pub fn set_if(&mut self, condition: Condition, to: Gpr) {
                let rm = Rm::Gpr(to);
                match condition {
                    $(Condition::$Condition => emit!(*self, $set(rm)),)*
                }
                emit!(*self, movzbl_rm(to, rm));
            }

            /// Moves 64 bits where a condition holds.
            pub fn move_if(&mut self, condition: Condition, to: Gpr, from: Rm) {
                match condition {
                    $(Condition::$Condition => emit!(*self, $move(to, from)),)*
                }
            }
        }
    };
}

conditions! {
    Equal: je_d32 sete_m cmoveq_rm;
    NotEqual: jne_d32 setne_m cmovneq_rm;
    Less: jl_d32 setl_m cmovlq_rm;
    GreaterOrEqual: jge_d32 setge_m cmovgeq_rm;
    LessOrEqual: jle_d32 setle_m cmovleq_rm;
    Greater: jg_d32 setg_m cmovgq_rm;
    Below: jb_d32 setb_m cmovbq_rm;
    AboveOrEqual: jae_d32 setae_m cmovaeq_rm;
    BelowOrEqual: jbe_d32 setbe_m cmovbeq_rm;
    Above: ja_d32 seta_m cmovaq_rm;
    Parity: jp_d32 setp_m cmovpq_rm;
    Sign: js_d32 sets_m cmovsq_rm;
}

impl Condition {
    /// The one that holds where this one does not. Not of parity and sign, which nobody asks.
    pub fn opposite(self) -> Condition {
        use Condition as C;
        match self {
            C::Equal => C::NotEqual,
            C::NotEqual => C::Equal,
            C::Less => C::GreaterOrEqual,
            C::GreaterOrEqual => C::Less,
            C::LessOrEqual => C::Greater,
            C::Greater => C::LessOrEqual,
            C::Below => C::AboveOrEqual,
            C::AboveOrEqual => C::Below,
            C::BelowOrEqual => C::Above,
            C::Above => C::BelowOrEqual,
            C::Parity | C::Sign => unreachable!("nobody asks for the opposite of {self:?}"),
        }
    }

    /// The one of the operands the other way round.
    pub fn swapped(self) -> Condition {
        use Condition as C;
        match self {
            C::Less => C::Greater,
            C::Greater => C::Less,
            C::LessOrEqual => C::GreaterOrEqual,
            C::GreaterOrEqual => C::LessOrEqual,
            C::Below => C::Above,
            C::Above => C::Below,
            C::BelowOrEqual => C::AboveOrEqual,
            C::AboveOrEqual => C::BelowOrEqual,
            other => other,
        }
    }
}

/// Code that is being made.
#[derive(Default)]
pub(super) struct Code {
    pub bytes: Vec<u8>,
    pub traps: Vec<TrapSite>,
    pub located: Vec<Located>,
    labels: Vec<u32>,
    distances: Vec<Distance>,
    stubs: Vec<Stub>,
    /// Where the code stems from that is appended now, and where it began.
    location: SourceLoc,
    began: u32,
}

impl asm::CodeSink for Code {
    fn put1(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    fn put2(&mut self, word: u16) {
        self.bytes.extend_from_slice(&word.to_le_bytes());
    }

    fn put4(&mut self, word: u32) {
        self.bytes.extend_from_slice(&word.to_le_bytes());
    }

    fn put8(&mut self, word: u64) {
        self.bytes.extend_from_slice(&word.to_le_bytes());
    }

    fn add_trap(&mut self, code: asm::TrapCode) {
        let offset = self.offset();
        let code = code.0.get();
        self.traps.push(TrapSite { offset, code });
    }

    fn use_target(&mut self, target: asm::DeferredTarget) {
        let asm::DeferredTarget::Label(asm::Label(label)) = target else {
            unreachable!("only labels are used");
        };
        self.distance(Label(label), self.offset(), self.offset() + 4);
    }

    fn known_offset(&self, offset: asm::KnownOffset) -> i32 {
        unreachable!("no offset is left to be known: {offset}")
    }
}

impl Code {
    /// Bytes so far.
    pub fn offset(&self) -> u32 {
        self.bytes.len() as u32
    }

    /// From here on code stems from there.
    pub fn locate(&mut self, location: SourceLoc) -> SourceLoc {
        let before = self.location;
        let end = self.offset();
        if end > self.began && !before.is_default() {
            self.located.push(Located {
                start: self.began,
                end,
                location: before,
            });
        }
        self.began = end;
        self.location = location;
        before
    }

    /// Where the code stems from that is appended now.
    pub fn location(&self) -> SourceLoc {
        self.location
    }

    pub fn label(&mut self) -> Label {
        self.labels.push(NOWHERE);
        Label(self.labels.len() as u32 - 1)
    }

    /// The label is here.
    pub fn bind(&mut self, label: Label) {
        debug_assert_eq!(
            self.labels[label.0 as usize], NOWHERE,
            "a label is placed once"
        );
        self.labels[label.0 as usize] = self.offset();
    }

    /// Where a label is, which was placed.
    pub fn place(&self, label: Label) -> u32 {
        let place = self.labels[label.0 as usize];
        debug_assert_ne!(place, NOWHERE, "every label is placed");
        place
    }

    fn distance(&mut self, label: Label, at: u32, from: u32) {
        self.distances.push(Distance { at, label, from });
    }

    /// A field of four bytes with the distance of a label from the start of a table.
    pub fn entry(&mut self, label: Label, table: u32) {
        self.distance(label, self.offset(), table);
        self.bytes.extend_from_slice(&[0; 4]);
    }

    /// The jump or call that was just encoded goes there.
    fn jumps_to(&mut self, label: Label) {
        let end = self.offset();
        self.distance(label, end - 4, end);
    }

    pub fn jump(&mut self, label: Label) {
        asm::inst::jmp_d32::new(0).encode(self);
        self.jumps_to(label);
    }

    /// A trap.
    pub fn trap(&mut self, code: TrapCode) {
        asm::inst::ud2_zo::new(asm::TrapCode(code.as_raw())).encode(self);
    }

    /// A trap where a condition holds; out of the way.
    pub fn trap_if(&mut self, condition: Condition, code: TrapCode) {
        let label = self.label();
        self.jump_if(condition, label);
        self.stubs.push(Stub {
            label,
            code,
            location: self.location,
        });
    }

    /// Appends the traps out of the way.
    pub fn place_stubs(&mut self) {
        for stub in std::mem::take(&mut self.stubs) {
            self.locate(stub.location);
            self.bind(stub.label);
            self.trap(stub.code);
        }
        self.locate(SourceLoc::default());
    }

    /// Writes all distances.
    pub fn resolve(&mut self) {
        for Distance { at, label, from } in std::mem::take(&mut self.distances) {
            let place = self.place(label);
            self.patch(at, place.wrapping_sub(from));
        }
    }

    /// Has nothing done by an instruction of seven bytes.
    pub fn remove_seven(&mut self, at: u32) {
        let mut nothing = Vec::new();
        asm::inst::nop_7b::new().encode(&mut nothing);
        self.bytes[at as usize..][..nothing.len()].copy_from_slice(&nothing);
    }

    /// Writes a word.
    pub fn patch(&mut self, at: u32, word: u32) {
        self.bytes[at as usize..][..4].copy_from_slice(&word.to_le_bytes());
    }
}

/// The operand that stands for the address of a label.
pub(super) fn place_of(label: Label) -> asm::Amode<Gpr> {
    asm::Amode::RipRelative {
        target: asm::DeferredTarget::Label(asm::Label(label.0)),
    }
}
