//! Generated modules by LLVM and on wasmtime: a quarter of them as they come, a quarter with structures
//! and arrays, which are collected as often as can be, a quarter that holds references meanwhile, and
//! a quarter of single instructions and short chains on numbers at the edges. A module takes clang some hundredths of a second under one
//! strategy, so each has one: the exact ones that LLVM takes, in turn.

use std::process::ExitCode;

use fathom_fuzz::beside;
use fathom_fuzz::generate;
use fathom_fuzz::instructions::Program;
use fathom_fuzz::peer::Peer;
use fathom_fuzz::target::Target;

fn main() -> ExitCode {
    let ours = match beside::by_llvm() {
        Ok(ours) => ours,
        Err(error) => {
            eprintln!("llvm: {error} (FATHOM_CLANG=.tools/zig/ziglang/zig has one)");
            return ExitCode::FAILURE;
        }
    };
    let peer = Peer::new().expect("wasmtime works on this machine");
    let target = Target::new("llvm", "modules", 2_000).configurations(ours.len() + 1);
    target.run(|case| {
        let (round, turn) = (
            case.seed / ours.len() as u64,
            case.seed as usize % ours.len(),
        );
        match round % 4 {
            0 => beside::wasmtime(case, generate::from_seed, &peer, [&ours[turn]]),
            1 => beside::wasmtime(case, generate::with_objects, &peer, [&ours[turn]]),
            2 => beside::referring(case, &peer, [&ours[turn]]),
            _ => {
                let program = Program::from_seed(case.seed, false);
                beside::instructions(case, &program, &peer, [&ours[turn]])
            }
        }
    })
}
