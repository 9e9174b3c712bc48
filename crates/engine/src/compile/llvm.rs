//! A second code generator: the same CLIF, by way of LLVM IR and clang.
//!
//! ```text
//!  bodies ──rayon──▶ function.rs   validate + translate, as for Cranelift
//!                        │
//!                        ├─ ir/         printed as LLVM IR ──▶ shards ──▶ clang.rs
//!                        │                                                   │
//!                        └─ what ir/ does not know ──▶ Cranelift             ▼
//!                                      ▲                object.rs   taken apart
//!                                      └── refused ───  verify.rs   every access known?
//!                                                       frame.rs    every byte of the stack?
//!                                                          │
//!                                                          ▼
//!                                                   CompiledFunction, to be linked
//! ```
//!
//! What must stay true:
//! - Functions of both generators call one another without knowing: one convention, one
//!   kind of frame, one prologue (`ir.rs`, `prologue.rs`), one table of traps.
//! - A function that cannot be generated, or whose machine code does not pass, is
//!   Cranelift's, with the reason kept; nothing is guessed.
//! - What is in a shard depends on the module alone, so its code does.

mod child;
mod clang;
mod frame;
#[cfg(test)]
mod goldens;
mod identity;
mod instructions;
mod ir;
mod lines;
mod object;
mod pace;
mod prologue;
mod switch;
mod verify;
mod weight;

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::{Function, SourceLoc};
use cranelift_codegen::isa::TargetIsa;
use rayon::prelude::*;

use super::artifact::TrapSite;
use super::compilers::{Compilers, Translated};
use super::count::CheckSites;
use super::function::{CompiledFunction, Located, again};
use crate::bounds::Touch;
use crate::compile::Opt;
use crate::compile::translate::{InlinedCall, ModuleEnv};
use crate::compile::versioning::{self, Apart};
use crate::facts::error::{ErrorKind, Result};
use crate::facts::module::Body;
use clang::Trouble;
pub(crate) use clang::{Clang, Versions};
use ir::{Around, Precision, Printed};
use object::Piece;
use pace::{Pace, Size};

/// Bytes of text from which on a shard is full: some seconds of clang's time.
const SHARD_BYTES: usize = 256 << 10;

/// Bytes of a frame at most: LLVM keeps more in one than Cranelift does, and what recurses as
/// deep as its stack is should get as far by either.
const FRAME_MAX: u64 = 4096;

/// The generator as it is configured.
#[derive(Clone, Debug)]
pub(crate) struct Llvm {
    pub clang: Clang,
    pub opt: Opt,
}

/// What is known of a function besides its text.
struct Pending<'a> {
    /// Its place among the bodies.
    index: usize,
    body: Body<'a>,
    printed: Printed,
    inlined: Vec<InlinedCall>,
    checks: CheckSites,
}

impl Pending<'_> {
    fn size(&self) -> Size {
        let range = self.body.1.range();
        Size {
            wasm: (range.end - range.start) as usize,
            text: self.printed.text.len(),
        }
    }
}

/// A function's way.
enum Stage<'a> {
    Printed(Box<Pending<'a>>),
    Done(usize, Box<Result<CompiledFunction>>),
}

/// Bodies that were compiled, each with its place among them, and whether clang was late
/// with any.
pub(super) type Compiled = (Vec<(usize, Result<CompiledFunction>)>, bool);

/// Compiles bodies, each with its place among them; of the shards, where functions are
/// wanted, only theirs.
pub(super) fn compile<'a>(
    llvm: &Llvm,
    env: &ModuleEnv<'_>,
    compilers: &Compilers,
    bodies: Vec<(usize, Body<'a>)>,
    wanted: Option<&[u32]>,
) -> Compiled {
    let stages: Vec<Stage<'a>> = bodies
        .into_par_iter()
        .with_max_len(1)
        .map(|(index, body)| print(env, compilers, index, body, Precision::Least))
        .collect();
    let mut done = Vec::new();
    let mut printed = Vec::new();
    for stage in stages {
        match stage {
            Stage::Done(index, result) => done.push((index, *result)),
            Stage::Printed(pending) => printed.push(*pending),
        }
    }
    if compilers.is_refused() {
        return (done, false);
    }
    printed.sort_unstable_by_key(|pending| pending.index);
    let mut shards: Vec<Vec<Pending<'a>>> = shards(printed);
    let is_wanted =
        |pending: &Pending<'_>| wanted.is_none_or(|wanted| wanted.contains(&pending.printed.func));
    shards.retain(|shard| shard.iter().any(is_wanted));
    let sizes = shards.iter().flatten().map(Pending::size);
    let pace = Pace::new(env.budget.factor(), sizes.sum());
    let compiled: Vec<Vec<(usize, Result<CompiledFunction>)>> = shards
        .into_par_iter()
        .with_max_len(1)
        .map(|shard| compile_shard(llvm, env, compilers, shard, &pace))
        .collect();
    done.extend(compiled.into_iter().flatten());
    (done, pace.was_late())
}

/// Translates a body and prints it, or has Cranelift compile it at once.
fn print<'a>(
    env: &ModuleEnv<'_>,
    compilers: &Compilers,
    index: usize,
    body: Body<'a>,
    precision: Precision,
) -> Stage<'a> {
    // What faults LLVM could neither leave out nor take from a loop.
    let env = &ModuleEnv {
        compares_null: true,
        ..*env
    };
    let first = again(&body);
    let around = Around {
        func: first.0.index,
        context_bytes: env.layout.size(),
        spectre: env.spectre,
        precision,
        has_avx: super::has(env.isa, "has_avx"),
        has_ssse3: super::has(env.isa, "has_ssse3"),
        has_fma: super::has(env.isa, "has_fma"),
    };
    let is_probed = env.plans.iter().any(|plan| plan.is_probed());
    let printed = compilers.translate(env, first, |func, touches| match is_probed {
        true => Err("accesses are probed in a shadow".to_owned()),
        false => print_proved(env, func, touches, around),
    });
    match printed {
        Ok(Translated::Taken {
            taken,
            inlined,
            checks,
        }) => Stage::Printed(Box::new(Pending {
            index,
            body,
            printed: taken,
            inlined,
            checks,
        })),
        Ok(Translated::Compiled(compiled)) => Stage::Done(index, Box::new(Ok(*compiled))),
        Err(error) => Stage::Done(index, Box::new(Err(error))),
    }
}

/// Prints a function, loops whose accesses can be proved in two versions.
fn print_proved(
    env: &ModuleEnv<'_>,
    func: &Function,
    touches: &[Touch],
    around: Around,
) -> Result<Printed, String> {
    if env.budget.factor().is_some()
        && let Some(why) = weight::is_beyond(func)
    {
        return Err(why);
    }
    let proved = versioning::run(func, env.isa, env.plans, touches)?;
    let printed = match &proved {
        Some((func, apart)) => ir::print(func, around, apart),
        None => ir::print(func, around, &Apart::new()),
    };
    let printed = printed.map_err(|unknown| unknown.0)?;
    if env.entered_at.is_some() && printed.callees.contains_key(&printed.func) {
        // It would call what begins at a loop.
        return Err("a loop of a function that calls itself".to_owned());
    }
    match env.budget.factor() {
        Some(_) if printed.text.len() > weight::TEXT_BYTES_MAX => {
            Err(format!("too long a text: {} bytes", printed.text.len()))
        }
        _ => Ok(printed),
    }
}

/// Functions in the order of their indices, so many at a time.
fn shards(printed: Vec<Pending<'_>>) -> Vec<Vec<Pending<'_>>> {
    let mut shards = Vec::new();
    let mut bytes = SHARD_BYTES;
    for pending in printed {
        if bytes >= SHARD_BYTES {
            shards.push(Vec::new());
            bytes = 0;
        }
        bytes += pending.printed.text.len();
        let last: Option<&mut Vec<_>> = shards.last_mut();
        last.expect("there is one").push(pending);
    }
    shards
}

/// Compiles a shard. What has lost a site is printed once more with more precision, which most does
/// not need.
fn compile_shard(
    llvm: &Llvm,
    env: &ModuleEnv<'_>,
    compilers: &Compilers,
    shard: Vec<Pending<'_>>,
    pace: &Pace,
) -> Vec<(usize, Result<CompiledFunction>)> {
    let mut done = Vec::new();
    let mut refused = attempt(llvm, env, shard, pace, &mut done);
    for precision in [Precision::HandedOn, Precision::Loaded] {
        let mut again = Vec::new();
        let lost = |refused: &mut Refused<'_>| matches!(refused.why, Why::Site(_));
        for Refused { pending, .. } in refused.extract_if(.., lost) {
            match print(env, compilers, pending.index, pending.body, precision) {
                Stage::Printed(pending) => again.push(*pending),
                Stage::Done(index, result) => done.push((index, *result)),
            }
        }
        if !again.is_empty() {
            refused.append(&mut attempt(llvm, env, again, pace, &mut done));
        }
    }
    for Refused { pending, why } in refused {
        let code = compilers.compile(env, pending.body);
        let code = code.map(|code| match why {
            Why::Frame(why) => code.fallen_back(why, false),
            Why::Site(why) | Why::Other(why) => code.fallen_back(why, true),
        });
        done.push((pending.index, code));
    }
    done
}

/// Why a function is not LLVM's though it was given to it.
enum Why {
    /// Its frame is too large.
    Frame(String),
    /// An access in its code has no site.
    Site(String),
    Other(String),
}

/// A function that is not LLVM's.
struct Refused<'a> {
    pending: Pending<'a>,
    why: Why,
}

/// Has clang compile functions; gives back those that it does not do with.
fn attempt<'a>(
    llvm: &Llvm,
    env: &ModuleEnv<'_>,
    shard: Vec<Pending<'a>>,
    pace: &Pace,
    done: &mut Vec<(usize, Result<CompiledFunction>)>,
) -> Vec<Refused<'a>> {
    let all: Vec<&Pending<'_>> = shard.iter().collect();
    let mut pieces = pieces(llvm, env.isa, &all, pace);
    let mut refused = Vec::new();
    for pending in shard {
        let piece = pieces.remove(&pending.printed.func);
        let piece = piece.unwrap_or_else(|| Err("not in the object".to_owned()));
        let compiled = piece.map_err(Why::Other);
        let compiled = compiled.and_then(|piece| finish(env.isa, piece, &pending));
        match compiled {
            Ok(compiled) => done.push((pending.index, Ok(compiled))),
            Err(why) => refused.push(Refused { pending, why }),
        }
    }
    refused
}

/// The machine code of functions, or why there is none. Where clang does not do with
/// several, each half is tried by itself, so that one keeps nothing from the others.
fn pieces(
    llvm: &Llvm,
    isa: &dyn TargetIsa,
    functions: &[&Pending<'_>],
    pace: &Pace,
) -> BTreeMap<u32, Result<Piece, String>> {
    let printed: Vec<&Printed> = functions.iter().map(|pending| &pending.printed).collect();
    let text = module(isa, &printed);
    let size = functions.iter().map(|pending| pending.size()).sum();
    let limit = pace.limit(size).map_err(Trouble::Host);
    let object = limit.and_then(|limit| llvm.clang.compile(&text, llvm.opt, limit.as_ref()));
    let why = match object.and_then(|bytes| object::read(&bytes).map_err(Trouble::Text)) {
        Ok(pieces) => return pieces,
        Err(Trouble::Text(_)) if functions.len() > 1 => {
            let (first, second) = functions.split_at(functions.len() / 2);
            let mut all = pieces(llvm, isa, first, pace);
            all.append(&mut pieces(llvm, isa, second, pace));
            return all;
        }
        Err(Trouble::Late(why)) => {
            pace.late();
            why
        }
        Err(Trouble::Text(why) | Trouble::Host(why)) => why,
    };
    let none = |printed: &Printed| (printed.func, Err(why.clone()));
    printed.into_iter().map(none).collect()
}

/// A function with what is known of its places.
fn finish(
    isa: &dyn TargetIsa,
    mut piece: Piece,
    pending: &Pending<'_>,
) -> Result<CompiledFunction, Why> {
    let Pending {
        printed, inlined, ..
    } = pending;
    let mut sites: BTreeMap<u32, (u8, SourceLoc)> = BTreeMap::new();
    for (at, site) in piece.accesses.iter().chain(&piece.traps) {
        let site = printed.sites.get(*site as usize);
        let site = site.ok_or_else(|| Why::Other("an unknown site".to_owned()))?;
        sites.insert(*at, (site.code, site.location));
    }
    let places: Vec<u32> = sites.keys().copied().collect();
    let code = &piece.code[..piece.code_bytes as usize];
    let checked = instructions::read(isa, code, |all| {
        let frame_bytes = frame::bytes(all, &piece).map_err(Why::Other)?;
        if frame_bytes > FRAME_MAX {
            let why = format!("too large a frame: {frame_bytes} bytes");
            return Err(Why::Frame(why));
        }
        let instructions = verify::verify(all, piece.has_table, &places).map_err(Why::Site)?;
        Ok((frame_bytes, instructions))
    });
    let (frame_bytes, instructions) = checked.map_err(Why::Other)??;
    if !prologue::set_frame(&mut piece.code, frame_bytes) {
        let why = "another prologue than was asked for".to_owned();
        return Err(Why::Other(why));
    }
    let overflow = cranelift_codegen::ir::TrapCode::STACK_OVERFLOW;
    sites.insert(
        prologue::TRAP_AT,
        (overflow.as_raw().get(), SourceLoc::default()),
    );
    let traps = sites.iter().map(|(at, (code, _))| TrapSite {
        offset: *at,
        code: *code,
    });
    let traps = traps.collect();
    let exact = sites.iter().map(|(at, (_, location))| Located {
        start: *at,
        end: instructions.end(*at),
        location: *location,
    });
    let located = located(&piece, printed, exact.collect());
    Ok(CompiledFunction {
        code_bytes: Some(piece.code_bytes),
        traps,
        calls: piece.sites().collect(),
        code: piece.code,
        ..CompiledFunction::empty(pending.checks).located(&located, inlined)
    })
}

/// Where instructions stem from: what is known exactly, and the table of lines between.
fn located(piece: &Piece, printed: &Printed, exact: Vec<Located>) -> Vec<Located> {
    let mut lines = piece.lines.clone();
    lines.sort_by_key(|(at, _)| *at);
    let ends = lines.iter().skip(1).map(|(at, _)| *at);
    let ends: Vec<u32> = ends.chain([piece.code_bytes]).collect();
    let mut all = Vec::new();
    let mut exact = exact.into_iter().peekable();
    for ((start, line), end) in lines.into_iter().zip(ends) {
        let location = line
            .checked_sub(1)
            .and_then(|line| printed.lines.get(line as usize));
        let location = location.copied().unwrap_or_default();
        let mut at = start;
        while let Some(next) = exact.next_if(|next| next.start < end) {
            if at < next.start {
                all.push(Located {
                    start: at,
                    end: next.start,
                    location,
                });
            }
            at = next.end;
            all.push(next);
        }
        if at < end {
            all.push(Located {
                start: at,
                end,
                location,
            });
        }
    }
    all.extend(exact);
    all
}

/// A module of these functions.
fn module(isa: &dyn TargetIsa, functions: &[&Printed]) -> String {
    let mut text = String::from(
        "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-\
         n8:16:32:64-S128\"\ntarget triple = \"x86_64-unknown-linux-gnu\"\n",
    );
    let callees = functions.iter().flat_map(|function| &function.callees);
    let callees: BTreeMap<u32, &String> = callees.map(|(func, text)| (*func, text)).collect();
    text.extend(callees.into_values().map(String::as_str));
    let starts: BTreeSet<u32> = functions
        .iter()
        .flat_map(|function| function.starts.iter().copied())
        .collect();
    text.extend(
        starts
            .iter()
            .map(|ty| format!("declare dso_local void @ws{ty}()\n")),
    );
    text.extend(functions.iter().map(|function| function.text.as_str()));
    let features = features(isa);
    text.push_str(&format!(
        "attributes #0 = {{ nounwind noinline noredzone null_pointer_is_valid \"frame-pointer\"=\"all\" \
         \"disable-tail-calls\"=\"true\" \"no-builtins\" \"target-cpu\"=\"x86-64\" \
         \"target-features\"=\"{features}\" }}\n\
         attributes #1 = {{ nounwind nomerge }}\n\
         attributes #2 = {{ nounwind nomerge noreturn cold }}\n\
         attributes #3 = {{ nounwind willreturn memory(none) }}\n\
         !0 = !{{}}\n\
         !1 = !{{!\"branch_weights\", i32 1, i32 1048576}}\n\
         !2 = distinct !DICompileUnit(language: DW_LANG_C99, file: !3, \
         emissionKind: LineTablesOnly)\n\
         !3 = !DIFile(filename: \"module\", directory: \"/\")\n\
         !4 = !{{i32 2, !\"Dwarf Version\", i32 4}}\n\
         !5 = !{{i32 2, !\"Debug Info Version\", i32 3}}\n\
         !6 = !{{!\"branch_weights\", i32 1048576, i32 1}}\n\
         !7 = !{{!\"objects\"}}\n\
         !8 = !{{!\"header\", !7}}\n\
         !9 = !{{!\"cells\", !7}}\n\
         !llvm.dbg.cu = !{{!2}}\n\
         !llvm.module.flags = !{{!4, !5}}\n"
    ));
    for function in functions {
        let (scope, func) = (ir::scope(function.func), function.func);
        text.push_str(&format!(
            "!{scope} = distinct !DISubprogram(name: \"{func}\", scope: !3, file: !3, line: 0, \
             unit: !2, spFlags: DISPFlagDefinition)\n"
        ));
    }
    text
}

/// What the processor has, as far as Cranelift would use it.
fn features(isa: &dyn TargetIsa) -> String {
    const NAMES: [(&str, &str); 11] = [
        ("has_sse3", "+sse3"),
        ("has_ssse3", "+ssse3"),
        ("has_sse41", "+sse4.1"),
        ("has_sse42", "+sse4.2"),
        ("has_popcnt", "+popcnt"),
        ("has_avx", "+avx"),
        ("has_avx2", "+avx2"),
        ("has_bmi1", "+bmi"),
        ("has_bmi2", "+bmi2"),
        ("has_lzcnt", "+lzcnt"),
        ("has_fma", "+fma"),
    ];
    let has = |(feature, _): &&(&str, &str)| super::has(isa, feature);
    let found: Vec<&str> = NAMES.iter().filter(has).map(|(_, name)| *name).collect();
    found.join(",")
}

/// Refuses hosts that no code is generated for.
///
/// # Errors
/// `Config`.
pub(crate) fn require_host() -> Result<()> {
    match cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        true => Ok(()),
        false => {
            let message = "code generator 'llvm' is for x86-64 and Linux".to_owned();
            Err(ErrorKind::Config(message).into())
        }
    }
}
