//! Prologues, bodies and epilogues, byte by byte.

use super::super::instructions;
use super::super::object::{Call, Piece};
use super::*;
use crate::compile::Target;

const CHAIN: &[u8] = &[0x55, 0x48, 0x89, 0xe5];
const PUSH_R15: &[u8] = &[0x41, 0x57];
const PUSH_RBX: &[u8] = &[0x53];
const PUSH_RAX: &[u8] = &[0x50];
const AND_32: &[u8] = &[0x48, 0x83, 0xe4, 0xe0];
const AND_64: &[u8] = &[0x48, 0x83, 0xe4, 0xc0];
const SUB_64: &[u8] = &[0x48, 0x83, 0xec, 0x40];
const ADD_64: &[u8] = &[0x48, 0x83, 0xc4, 0x40];
const ADD_8: &[u8] = &[0x48, 0x83, 0xc4, 0x08];
const LEA_RBP_16: &[u8] = &[0x48, 0x8d, 0x65, 0xf0];
const LEA_RBP_64: &[u8] = &[0x48, 0x8d, 0x65, 0xc0];
const MOV_RSP_RBP: &[u8] = &[0x48, 0x89, 0xec];
const POP_RBX: &[u8] = &[0x5b];
const POP_R15: &[u8] = &[0x41, 0x5f];
const POP_RBP: &[u8] = &[0x5d];
const RET: &[u8] = &[0xc3];
const NOP: &[u8] = &[0x90];
const CALL_RAX: &[u8] = &[0xff, 0xd0];
const VZEROUPPER: &[u8] = &[0xc5, 0xf8, 0x77];

/// What is seen of code that follows our prologue.
fn seen_of(parts: &[&[u8]], piece: &Piece) -> Result<u64, String> {
    let target = Target::fixed();
    let mut code = vec![0x90; prologue::BYTES];
    code.extend(parts.concat());
    instructions::read(target.isa(), &code, |all| bytes(all, piece)).unwrap()
}

fn seen(parts: &[&[u8]]) -> Result<u64, String> {
    seen_of(parts, &Piece::default())
}

/// Refused, for this reason.
fn refused(parts: &[&[u8]], why: &str) {
    let seen = seen(parts);
    assert!(
        seen.as_ref().is_err_and(|said| said.starts_with(why)),
        "{parts:x?}: {seen:?} instead of {why}"
    );
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "SKIPPED: code of x86-64")]
fn frames_are_measured_to_the_byte() {
    let leave = [POP_RBP, RET].concat();
    // F is what lies below the saved frame pointer.
    assert_eq!(seen(&[CHAIN, NOP, &leave]), Ok(0));
    assert_eq!(seen(&[CHAIN, CALL_RAX, &leave]), Ok(16));
    assert_eq!(seen(&[CHAIN, SUB_64, NOP, ADD_64, &leave]), Ok(64));
    assert_eq!(
        seen(&[
            CHAIN, PUSH_R15, PUSH_RBX, SUB_64, CALL_RAX, ADD_64, POP_RBX, POP_R15, &leave
        ]),
        Ok(16 + 64 + 16)
    );
    // A register that is pushed for room only.
    assert_eq!(
        seen(&[
            CHAIN, PUSH_RBX, PUSH_RAX, CALL_RAX, ADD_8, POP_RBX, VZEROUPPER, &leave
        ]),
        Ok(16 + 16)
    );
    // Aligning takes 32 - 8 bytes, 64 - 8 bytes at most.
    let realigned = |and| {
        seen(&[
            CHAIN, PUSH_R15, PUSH_RBX, and, SUB_64, CALL_RAX, LEA_RBP_16, POP_RBX, POP_R15, &leave,
        ])
    };
    assert_eq!(realigned(AND_32), Ok(16 + 24 + 64 + 16));
    assert_eq!(realigned(AND_64), Ok(16 + 56 + 64 + 16));
    assert_eq!(
        seen(&[CHAIN, AND_32, SUB_64, NOP, MOV_RSP_RBP, &leave]),
        Ok(24 + 64)
    );
    // sub rsp, 0x12340; the same as add rsp, -128; lea rsp, [rsp - 64].
    let sub: &[u8] = &[0x48, 0x81, 0xec, 0x40, 0x23, 0x01, 0];
    assert_eq!(seen(&[CHAIN, sub, &[0x0f, 0x0b]]), Ok(0x12340));
    assert_eq!(seen(&[CHAIN, &[0x48, 0x83, 0xc4, 0x80], NOP]), Ok(128));
    assert_eq!(seen(&[CHAIN, &[0x48, 0x8d, 0x64, 0x24, 0xc0], NOP]), Ok(64));
    // Without calls, any number; with them, as whom it calls expects it.
    let sub_60: &[u8] = &[0x48, 0x83, 0xec, 0x3c];
    let add_60: &[u8] = &[0x48, 0x83, 0xc4, 0x3c];
    assert_eq!(seen(&[CHAIN, sub_60, NOP, add_60, &leave]), Ok(60));
    let not_aligned = "a call of a stack that is not aligned";
    refused(&[CHAIN, sub_60, CALL_RAX], not_aligned);
    refused(&[CHAIN, PUSH_RBX, CALL_RAX], not_aligned);
    refused(&[CHAIN, PUSH_RBX, AND_32, sub_60, CALL_RAX], not_aligned);
    // Two ways out, with a body behind the first.
    let way = [ADD_64, POP_RBP, RET].concat();
    assert_eq!(
        seen(&[CHAIN, SUB_64, &[0x74, 6], &way, NOP, CALL_RAX, &way]),
        Ok(64 + 16)
    );
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "SKIPPED: code of x86-64")]
fn what_moves_the_stack_otherwise_is_refused() {
    let leave = [POP_RBP, RET].concat();
    let unknown = "an unknown way to move the stack";
    let in_body: [&[u8]; 13] = [
        PUSH_RAX,
        &[0x68, 1, 0, 0, 0],       // push 1
        &[0x9c],                   // pushfq
        SUB_64,                    // once more
        &[0x48, 0x29, 0xc4],       // sub rsp, rax
        &[0x48, 0x89, 0xc4],       // mov rsp, rax
        &[0x48, 0x94],             // xchg rsp, rax
        &[0x48, 0x0f, 0x44, 0xe0], // cmove rsp, rax
        &[0xc9],                   // leave
        &[0xc8, 16, 0, 0],         // enter 16, 0
        &[0x48, 0x89, 0xc5],       // mov rbp, rax
        &[0x83, 0xe4, 0xe0],       // and esp, -32
        AND_32,
    ];
    for moved in in_body {
        refused(&[CHAIN, SUB_64, NOP, moved, ADD_64, &leave], unknown);
    }
    refused(&[NOP, CHAIN, &leave], "a frame that is not chained first");
    refused(&[&[0x55], NOP, &leave], "a frame that is not chained first");
    // Neither aligned to a power of two, nor down.
    refused(&[CHAIN, &[0x48, 0x83, 0xe4, 0xe8], NOP], unknown);
    refused(&[CHAIN, &[0x48, 0x83, 0xe4, 0x20], NOP], unknown);
    refused(&[CHAIN, SUB_64, RET], "a return with a frame");
    refused(
        &[CHAIN, SUB_64, &[0x0f, 0x05]],
        "an instruction that leaves",
    );
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "SKIPPED: code of x86-64")]
fn an_epilogue_undoes_the_prologue() {
    let leave = [POP_RBP, RET].concat();
    let unknown = "an unknown way to move the stack";
    let begin = [CHAIN, PUSH_R15, PUSH_RBX, SUB_64, NOP].concat();
    let begin = begin.as_slice();
    assert_eq!(seen(&[begin, ADD_64, POP_RBX, POP_R15, &leave]), Ok(80));
    assert_eq!(seen(&[begin, LEA_RBP_16, POP_RBX, POP_R15, &leave]), Ok(80));
    // In another order, of too much, of too little, below where it is.
    refused(&[begin, ADD_64, POP_R15, POP_RBX, &leave], unknown);
    refused(&[begin, ADD_64, ADD_64, &leave], unknown);
    refused(&[begin, ADD_64, POP_RBX, &leave], unknown);
    refused(&[begin, LEA_RBP_16, LEA_RBP_64, &leave], unknown);
    refused(
        &[begin, ADD_64, POP_RBX, POP_R15, RET],
        "an epilogue that ends otherwise",
    );
    refused(
        &[begin, ADD_64, CALL_RAX],
        "an epilogue that ends otherwise",
    );
    refused(
        &[begin, ADD_64, &[0xeb, 0]],
        "an epilogue that ends otherwise",
    );
    refused(
        &[begin, ADD_64, POP_RBX, POP_R15, POP_RBP, &[0xc2, 8, 0]],
        "an epilogue that ends otherwise",
    );
    refused(&[begin, ADD_64, POP_RBX], "an epilogue without end");
    // mov [rsp], rax
    refused(
        &[begin, ADD_64, &[0x48, 0x89, 0x04, 0x24]],
        "a use of the stack that is left",
    );
    // Where it was realigned, only rbp knows the way back.
    let begin = [CHAIN, PUSH_R15, PUSH_RBX, AND_32, SUB_64, NOP].concat();
    refused(&[&begin, ADD_64, POP_RBX, POP_R15, &leave], unknown);
    refused(&[&begin, LEA_RBP_64, POP_RBX, POP_R15, &leave], unknown);
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "SKIPPED: code of x86-64")]
fn nothing_is_written_outside_of_the_frame() {
    let outside = "an address outside of the frame";
    let leave = [LEA_RBP_16, POP_RBX, POP_R15, POP_RBP, RET].concat();
    let plain = [CHAIN, PUSH_R15, PUSH_RBX, SUB_64].concat();
    let aligned = [CHAIN, PUSH_R15, PUSH_RBX, AND_32, SUB_64].concat();
    let mov_rsp = |at: i8| vec![0x48, 0x89, 0x44, 0x24, at.cast_unsigned()];
    let mov_rbp = |at: i8| vec![0x48, 0x89, 0x45, at.cast_unsigned()];
    for at in [0, 8, 0x38, 0x40, 0x48] {
        assert_eq!(seen(&[&plain, &mov_rsp(at), &leave]), Ok(80), "{at}");
    }
    for at in [-8, -16, -80] {
        assert_eq!(seen(&[&plain, &mov_rbp(at), &leave]), Ok(80), "{at}");
    }
    // The red zone, the saved frame pointer, the return address, what is above it.
    for at in [-1, -8, -128, 0x50, 0x58, 0x60] {
        refused(&[&plain, &mov_rsp(at), &leave], outside);
    }
    for at in [-81, -88, 0, 8, 16] {
        refused(&[&plain, &mov_rbp(at), &leave], outside);
    }
    for at in [0, 0x38] {
        assert_eq!(seen(&[&aligned, &mov_rsp(at), &leave]), Ok(104), "{at}");
    }
    for at in [-8, 0x40] {
        refused(&[&aligned, &mov_rsp(at), &leave], outside);
    }
    refused(&[&aligned, &mov_rbp(-24), &leave], outside);
    // mov [rsp + rcx], rax; mov [rax + rbp], rcx; mov [esp], eax; lea rax, [rsp - 8]
    refused(&[&plain, &[0x48, 0x89, 0x04, 0x0c]], outside);
    refused(&[&plain, &[0x48, 0x89, 0x0c, 0x28]], outside);
    refused(&[&plain, &[0x67, 0x89, 0x04, 0x24]], outside);
    refused(&[&plain, &[0x48, 0x8d, 0x44, 0x24, 0xf8]], outside);
    // mov rax, rsp is the address of the lowest slot; mov rax, rbp is no slot's.
    assert_eq!(seen(&[&plain, &[0x48, 0x89, 0xe0], &leave]), Ok(80));
    refused(
        &[&plain, &[0x48, 0x89, 0xe8]],
        "an unknown use of the stack pointer",
    );
    refused(
        &[&plain, &[0x48, 0x39, 0xe0]],
        "an unknown use of the stack pointer",
    );
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "SKIPPED: code of x86-64")]
fn jumps_and_calls_go_where_they_may() {
    let at = prologue::BYTES as u32;
    let way = [ADD_64, POP_RBP, RET].concat();
    let begin = [CHAIN, SUB_64].concat();
    // Behind `begin`, from 2 bytes on: 8 of the prologue, then 2, a nop, the epilogue.
    let jump = |distance: i8| {
        let jump: &[u8] = &[0xeb, distance.cast_unsigned()];
        seen(&[&begin, jump, NOP, &way])
    };
    assert_eq!((jump(-2), jump(0), jump(1)), (Ok(64), Ok(64), Ok(64)));
    for distance in [-10, -3, -1, 2, 5, 6, 7, 100] {
        let said = jump(distance).unwrap_err();
        assert!(
            said.starts_with("a jump into the middle"),
            "{distance}: {said}"
        );
    }
    // jmp rax, by a table or not; jmp [rax].
    let by_table = |targets: &[u32]| Piece {
        has_table: true,
        targets: targets.to_vec(),
        ..Piece::default()
    };
    let by_rax: &[u8] = &[0xff, 0xe0];
    let by_memory: &[u8] = &[0xff, 0x20];
    refused(&[&begin, by_rax, &way], "a jump to where nobody knows");
    let piece = by_table(&[at + 8, at + 10]);
    assert_eq!(seen_of(&[&begin, by_rax, &way], &piece), Ok(64));
    assert!(seen_of(&[&begin, by_memory, &way], &piece).is_err());
    for target in [0, at, at + 4, at + 9, at + 14, at + 15, at + 16] {
        let said = seen_of(&[&begin, by_rax, &way], &by_table(&[target])).unwrap_err();
        assert!(said.starts_with("a table into the middle"), "{said}");
    }
    // A call is linked to a function, from its start.
    let call: &[u8] = &[0xe8, 0, 0, 0, 0];
    let linked = |offset, addend| Piece {
        calls: vec![Call {
            offset,
            callee: 1,
            addend,
        }],
        ..Piece::default()
    };
    refused(&[&begin, call, &way], "a call of nobody");
    assert_eq!(seen_of(&[&begin, call, &way], &linked(at + 9, -4)), Ok(80));
    assert!(seen_of(&[&begin, call, &way], &linked(at + 9, 16)).is_err());
    assert!(seen_of(&[&begin, call, &way], &linked(at + 8, -4)).is_err());
    // jmp to another function
    let tail: &[u8] = &[0xe9, 0, 0, 0, 0];
    let said = seen_of(&[&begin, tail, &way], &linked(at + 9, -4)).unwrap_err();
    assert_eq!(said, "a jump to another function");
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "SKIPPED: code of x86-64")]
fn the_address_of_a_start_is_only_taken() {
    let at = prologue::BYTES as u32;
    let way = [ADD_64, POP_RBP, RET].concat();
    let begin = [CHAIN, SUB_64].concat();
    let linked = |offset, addend| Piece {
        starts: vec![Call {
            offset,
            callee: 1,
            addend,
        }],
        ..Piece::default()
    };
    let seen = |code: &[u8], piece: &Piece| seen_of(&[&begin, code, &way], piece);
    // lea rax, [rip]; mov rax, [rip]; call
    let address: &[u8] = &[0x48, 0x8d, 0x05, 0, 0, 0, 0];
    let load: &[u8] = &[0x48, 0x8b, 0x05, 0, 0, 0, 0];
    let call: &[u8] = &[0xe8, 0, 0, 0, 0];
    assert_eq!(seen(address, &linked(at + 11, -4)), Ok(64));
    for (code, offset, addend) in [
        (load, at + 11, -4),
        (address, at + 10, -4),
        (address, at + 11, 0),
        (NOP, at + 11, -4),
    ] {
        let said = seen(code, &linked(offset, addend)).unwrap_err();
        assert_eq!(said, "another use of a start than its address");
    }
    assert!(seen(call, &linked(at + 9, -4)).is_err());
}
