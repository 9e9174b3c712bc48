//! One body or trampoline: translated, compiled, and taken out of Cranelift's
//! buffers.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{ExternalName, Function, SourceLoc};
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::{
    CompiledCode, Context, FinalizedMachExceptionHandler, FinalizedRelocTarget,
};
use wasmparser::FuncToValidate;

use super::artifact::{CodeRange, HandlerSite, InlinedCode, Position, TrapSite};
use super::budget::{self, CompileWork, Excess, ModuleBudget, Most, OverBudget};
use super::dead;
use super::placement::{self, Loop};
use super::rewriting::{self, Turn};
use crate::bounds::offset_and_check;
use crate::compile::count::{self, CheckSites};
use crate::compile::elide;
use crate::compile::translate::{
    FuncTranslator, InlinedCall, ModuleEnv, NAMESPACE_START, TranslateError, chain, resolve,
};
use crate::facts::error::{Error, ErrorKind, Refused, Result};
use crate::facts::module::Body;

/// A call to another function of the module, to be given its distance.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallSite {
    /// Of the field to be patched, from the start of the function.
    pub offset: u32,
    /// How the field is encoded.
    pub kind: Reloc,
    /// Function index of the callee; of a start, the index of its type.
    pub callee: u32,
    /// Whether it is a start of continuations, whose address is taken.
    pub is_start: bool,
    /// Added to the callee's address.
    pub addend: i64,
}

/// Compiled code with offsets from its own start.
#[derive(Debug)]
pub(super) struct CompiledFunction {
    pub code: Vec<u8>,
    pub traps: Vec<TrapSite>,
    pub handlers: Vec<HandlerSite>,
    pub positions: Vec<Position>,
    pub inlined: Vec<InlinedCode>,
    pub calls: Vec<CallSite>,
    pub loops: Vec<Loop>,
    /// Where the code counts: its checks.
    pub checks: CheckSites,
    /// Why it is not optimised, where it would take too much.
    pub over_budget: Option<OverBudget>,
    /// Why it is Cranelift's, where another generator was asked for, and whether what that
    /// made of it was refused.
    pub fallback: Option<(String, bool)>,
    /// Where the code stems from in the translation; known of the other generators'.
    pub located: Vec<Located>,
    /// Bytes of it that are instructions, if all others stand behind them.
    pub code_bytes: Option<u32>,
}

impl CompiledFunction {
    /// Without code.
    pub(super) fn empty(checks: CheckSites) -> CompiledFunction {
        CompiledFunction {
            code: Vec::new(),
            traps: Vec::new(),
            handlers: Vec::new(),
            positions: Vec::new(),
            inlined: Vec::new(),
            calls: Vec::new(),
            loops: Vec::new(),
            checks,
            over_budget: None,
            fallback: None,
            located: Vec::new(),
            code_bytes: None,
        }
    }

    /// Cranelift's, for what the other generator made of it was refused, or is too large.
    pub(super) fn fallen_back(self, why: String, is_refused: bool) -> CompiledFunction {
        CompiledFunction {
            fallback: Some((why, is_refused)),
            ..self
        }
    }

    /// With where its code stems from.
    pub(super) fn located(self, located: &[Located], inlined: &[InlinedCall]) -> CompiledFunction {
        CompiledFunction {
            positions: positions(located, inlined),
            inlined: inlined_code(located, inlined),
            located: located.to_vec(),
            ..self
        }
    }
}

/// Where code stems from, in bytes from the start of its function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Located {
    /// First byte.
    pub start: u32,
    /// Behind the last byte.
    pub end: u32,
    /// Where from.
    pub location: SourceLoc,
}

/// A body that is translated, and how it is to be compiled.
pub(super) struct Prepared<'a> {
    pub isa: &'a dyn TargetIsa,
    pub checks: CheckSites,
    pub over_budget: Option<OverBudget>,
    budget: &'a ModuleBudget,
    /// Bodies beyond the budget are compiled one at a time, so that those of many
    /// modules take the memory of one.
    _alone: Option<MutexGuard<'static, ()>>,
    /// Long ones take the memory of the longest.
    _turn: Option<Turn>,
}

static ALONE: Mutex<()> = Mutex::new(());

/// Translates a body, and leaves checks out of it; plainly where it would take
/// too much to optimise it.
pub(super) fn prepare<'a>(
    context: &mut Context,
    translator: &mut FuncTranslator,
    env: &ModuleEnv<'a>,
    body: Body<'_>,
) -> Result<Prepared<'a>> {
    let func = body.0.index;
    let range = body.1.range();
    let bytes = range.end - range.start;
    env.budget.check().map_err(ErrorKind::Budget)?;
    let allowed = env.budget.optimised(bytes);
    let failed = |message| ErrorKind::Compile { func, message };
    let excess = match translate(context, translator, env, again(&body), allowed) {
        Ok(steps) => {
            env.budget.spend(steps).map_err(ErrorKind::Budget)?;
            let checked = count::checked(&context.func, translator.counted());
            elide::run(context, env.isa, env.plans, translator.sites(), env.elide)
                .map_err(failed)?;
            let checks = count::count_checks(&mut context.func, &checked);
            if translator.has_products() {
                dead::remove(&mut context.func);
            }
            match rewritten(&context.func, env, allowed.insts).map_err(failed)? {
                Ok(turn) => {
                    return Ok(Prepared {
                        isa: translator.isa(env),
                        checks,
                        over_budget: None,
                        budget: env.budget,
                        _alone: None,
                        _turn: turn,
                    });
                }
                Err(excess) => excess,
            }
        }
        Err(TranslateError::OverBudget(excess)) => excess,
        Err(error) => return Err(refused(error)),
    };
    // What was given up took its time.
    let given_up = translator.steps(&context.func);
    env.budget.spend(given_up).map_err(ErrorKind::Budget)?;
    plainly(context, translator, env, body, excess)
}

/// Translates a body without optimisation, for with it there is an excess.
fn plainly<'a>(
    context: &mut Context,
    translator: &mut FuncTranslator,
    env: &ModuleEnv<'a>,
    body: Body<'_>,
    excess: Excess,
) -> Result<Prepared<'a>> {
    let func = body.0.index;
    let range = body.1.range();
    let bytes = range.end - range.start;
    // Their buffers hold parts of the first attempt, which may be large.
    *translator = FuncTranslator::default();
    *context = Context::new();
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let env = env.plain();
    let most = env.budget.compiled(bytes);
    match translate(context, translator, &env, body, most) {
        Ok(steps) => env.budget.spend(steps).map_err(ErrorKind::Budget)?,
        Err(TranslateError::OverBudget(excess)) => {
            return Err(ErrorKind::Budget(budget::refusal(func, bytes, excess)).into());
        }
        Err(error) => return Err(refused(error)),
    }
    let checked = count::checked(&context.func, translator.counted());
    Ok(Prepared {
        isa: translator.isa(&env),
        checks: count::count_checks(&mut context.func, &checked),
        over_budget: Some(OverBudget {
            func,
            bytes: bytes as u32,
            work: excess.work,
            count: excess.count,
            allowed: excess.allowed,
        }),
        budget: env.budget,
        _alone: Some(alone),
        _turn: None,
    })
}

/// What rewriting would make of a body that is too much, or the right to go on.
fn rewritten(
    func: &Function,
    env: &ModuleEnv<'_>,
    most: u64,
) -> Result<Result<Option<Turn>, Excess>, String> {
    let Some(rewritten) = rewriting::tried(func, env.isa, most)? else {
        return Ok(Ok(None));
    };
    Ok(match rewritten.insts > most {
        true => Err(Excess {
            work: CompileWork::Instructions,
            count: rewritten.insts,
            allowed: most,
        }),
        false => Ok(Some(Turn::wait(rewritten.insts, most))),
    })
}

/// The same body for another attempt.
pub(super) fn again<'a>((to_validate, body): &Body<'a>) -> Body<'a> {
    let again = FuncToValidate {
        resources: to_validate.resources.clone(),
        ..*to_validate
    };
    (again, body.clone())
}

/// Translates a body where it comes to no more than `most`: how many steps it takes
/// to go on with it.
fn translate(
    context: &mut Context,
    translator: &mut FuncTranslator,
    env: &ModuleEnv<'_>,
    (to_validate, body): Body<'_>,
    most: Most,
) -> Result<u64, TranslateError> {
    translator.translate(env, to_validate, &body, &mut context.func, most)?;
    let steps = match env.plain {
        true => translator.steps(&context.func),
        false => budget::steps(&context.func) + translator.weight(),
    };
    match steps > most.steps {
        true => Err(TranslateError::OverBudget(Excess {
            work: CompileWork::Steps,
            count: steps,
            allowed: most.steps,
        })),
        false => Ok(steps),
    }
}

pub(super) fn refused(error: TranslateError) -> Error {
    match error {
        TranslateError::Invalid(error) => Refused::from(error).into(),
        TranslateError::OverBudget(_) => ErrorKind::Budget(error.to_string()).into(),
        TranslateError::Unsupported { operator, offset } => {
            let message = operator;
            ErrorKind::Unsupported { message, offset }.into()
        }
    }
}

/// Compiles a body that is prepared.
pub(super) fn emit_prepared(
    context: &mut Context,
    prepared: Prepared<'_>,
    func: u32,
    inlined: &[InlinedCall],
) -> Result<CompiledFunction> {
    let before = rewriting::size(&context.func);
    let compiled = emit(context, prepared.isa, func, inlined)?;
    let made = rewriting::size(&context.func).saturating_sub(before);
    prepared.budget.spend(made).map_err(ErrorKind::Budget)?;
    Ok(CompiledFunction {
        checks: prepared.checks,
        over_budget: prepared.over_budget,
        ..compiled
    })
}

/// Compiles the context's function and copies out what is kept.
pub(super) fn emit(
    context: &mut Context,
    isa: &dyn TargetIsa,
    func: u32,
    inlined: &[InlinedCall],
) -> Result<CompiledFunction> {
    let outcome = match context.compile(isa, &mut ControlPlane::default()) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.inner.to_string()),
    };
    if let Err(message) = outcome {
        return Err(ErrorKind::Compile { func, message }.into());
    }
    let compiled = context.compiled_code().expect("it has just been compiled");
    let calls = call_sites(&context.func, compiled)
        .map_err(|message| Error::from(ErrorKind::Compile { func, message }))?;
    let traps = compiled
        .buffer
        .traps()
        .iter()
        .map(|trap| TrapSite {
            offset: trap.offset,
            code: trap.code.as_raw().get(),
        })
        .collect();
    let located = located(compiled);
    Ok(CompiledFunction {
        code: compiled.buffer.data().to_vec(),
        traps,
        handlers: handlers(compiled),
        positions: positions(&located, inlined),
        inlined: inlined_code(&located, inlined),
        calls,
        loops: placement::loops(compiled),
        ..CompiledFunction::empty(CheckSites::default())
    })
}

/// Calls whose exceptions are caught. The translation gives each one handler
/// for all exceptions.
fn handlers(compiled: &CompiledCode) -> Vec<HandlerSite> {
    let sites = compiled.buffer.call_sites().filter_map(|site| {
        let handler = site.exception_handlers.iter().find_map(|h| match h {
            FinalizedMachExceptionHandler::Default(offset) => Some(*offset),
            _ => None,
        })?;
        Some(HandlerSite {
            return_offset: site.ret_addr,
            handler,
            frame_bytes: site.frame_offset?,
        })
    });
    sites.collect()
}

/// What Cranelift says of where its code stems from.
pub(super) fn located(compiled: &CompiledCode) -> Vec<Located> {
    let ranges = compiled.buffer.get_srclocs_sorted().iter();
    let located = ranges.map(|range| Located {
        start: range.start,
        end: range.end,
        location: range.loc,
    });
    located.collect()
}

/// Where code stems from: one entry at each change.
fn positions(located: &[Located], inlined: &[InlinedCall]) -> Vec<Position> {
    let mut positions: Vec<Position> = Vec::new();
    let mut push = |offset: u32, module_offset: u32| {
        if let Some(last) = positions.last_mut() {
            if last.module_offset == module_offset {
                return;
            }
            if last.offset == offset {
                last.module_offset = module_offset;
                return;
            }
        }
        positions.push(Position {
            offset,
            module_offset,
        });
    };
    for range in located {
        let offset = offset_and_check(range.location);
        let offset = offset.map_or(Position::NONE, |(offset, _)| resolve(inlined, offset).0);
        push(range.start, offset);
        push(range.end, Position::NONE);
    }
    positions
}

/// Where code stands for a call, adjoining ranges of one call as one; for each range an entry a
/// call, innermost first.
fn inlined_code(located: &[Located], calls: &[InlinedCall]) -> Vec<InlinedCode> {
    if calls.is_empty() {
        return Vec::new();
    }
    let mut ranges: Vec<(usize, CodeRange)> = Vec::new();
    for location in located {
        let call =
            offset_and_check(location.location).and_then(|(offset, _)| resolve(calls, offset).1);
        let Some(call) = call else { continue };
        let len = location.end - location.start;
        match ranges.last_mut() {
            Some((last, range)) if *last == call && range.offset + range.len == location.start => {
                range.len += len;
            }
            _ => ranges.push((
                call,
                CodeRange {
                    offset: location.start,
                    len,
                },
            )),
        }
    }
    let around = |(innermost, range): (usize, CodeRange)| {
        chain(calls, innermost).map(move |call| InlinedCode {
            range,
            func: call.func,
            call: call.call,
        })
    };
    ranges.into_iter().flat_map(around).collect()
}

/// Calls to other functions of the module. There is nothing else that code may
/// refer to.
fn call_sites(func: &Function, compiled: &CompiledCode) -> Result<Vec<CallSite>, String> {
    let names = func.params.user_named_funcs();
    compiled
        .buffer
        .relocs()
        .iter()
        .map(|reloc| match &reloc.target {
            FinalizedRelocTarget::ExternalName(ExternalName::User(name)) => Ok(CallSite {
                offset: reloc.offset,
                kind: reloc.kind,
                callee: names[*name].index,
                is_start: names[*name].namespace == NAMESPACE_START,
                addend: reloc.addend,
            }),
            other => Err(format!("code refers to {other:?}")),
        })
        .collect()
}
