//! What compiles a module's bodies: one compiler a thread, lent from body to body.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use cranelift_codegen::Context;
use cranelift_codegen::ir::Function;
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::FunctionBuilderContext;
use wasmparser::FuncValidatorAllocations;

use super::count::CheckSites;
use super::direct;
use super::function::{CompiledFunction, again, emit, emit_prepared, prepare};
use super::trampoline::{self, Trampoline, Ways};
use crate::bounds::Touch;
use crate::compile::translate::{FuncTranslator, InlinedCall, ModuleEnv};
use crate::facts::error::{Error, Refused, Result};
use crate::facts::module::Body;
use crate::facts::types::FuncType;

/// A body that was translated, and then taken by another generator or compiled.
pub(super) enum Translated<T> {
    /// Taken as this, with the calls in it that were replaced by what they call.
    Taken {
        taken: T,
        inlined: Vec<InlinedCall>,
        checks: CheckSites,
    },
    Compiled(Box<CompiledFunction>),
}

/// What one thread keeps between functions.
struct Compiler {
    context: Context,
    translator: FuncTranslator,
    trampolines: FunctionBuilderContext,
}

impl Default for Compiler {
    fn default() -> Compiler {
        Compiler {
            context: Context::new(),
            translator: FuncTranslator::default(),
            trampolines: FunctionBuilderContext::new(),
        }
    }
}

/// Compilers of one module that are not in use. There are never more than threads.
///
/// Once a body is refused, nothing is compiled any more: bodies behind it are passed over,
/// those in front of it are only validated, since the first by index is what is told.
pub(crate) struct Compilers {
    idle: Mutex<Vec<Box<Compiler>>>,
    /// The first function, by index, that is known to be refused.
    refused: AtomicU32,
}

impl Default for Compilers {
    fn default() -> Compilers {
        Compilers {
            idle: Mutex::default(),
            refused: AtomicU32::new(u32::MAX),
        }
    }
}

impl Compilers {
    /// Validates, translates and compiles one body.
    pub(super) fn compile(&self, env: &ModuleEnv<'_>, body: Body<'_>) -> Result<CompiledFunction> {
        let func = body.0.index;
        if self.is_refused() {
            return self.look_at(body);
        }
        if env.direct {
            return self.compile_directly(env, body);
        }
        let compiled = self.with(|compiler| {
            let Compiler {
                context,
                translator,
                ..
            } = compiler;
            translator.keep_touches(false);
            let prepared = prepare(context, translator, env, body)?;
            emit_prepared(context, prepared, func, translator.inlined())
        });
        compiled.inspect_err(|error| self.note(func, error))
    }

    /// Compiles a body in one pass, or by Cranelift where it is left to that.
    fn compile_directly(&self, env: &ModuleEnv<'_>, body: Body<'_>) -> Result<CompiledFunction> {
        let func = body.0.index;
        let compiled = direct::compile(env, again(&body));
        match compiled.inspect_err(|error| self.note(func, error))? {
            Ok(compiled) => Ok(compiled),
            Err(why) => {
                let env = ModuleEnv {
                    direct: false,
                    ..*env
                };
                let compiled = self.compile(&env, body)?;
                Ok(compiled.fallen_back(why, false))
            }
        }
    }

    /// Whether a body is refused, so that there will be no module.
    pub(super) fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed) != u32::MAX
    }

    fn note(&self, func: u32, error: &Error) {
        if error.offset().is_some() {
            self.refused.fetch_min(func, Ordering::Relaxed);
        }
    }

    /// Of a module with a body that is refused: whether this one is, too, if it is in front
    /// of it.
    fn look_at(&self, (to_validate, body): Body<'_>) -> Result<CompiledFunction> {
        let func = to_validate.index;
        if func < self.refused.load(Ordering::Relaxed) {
            let mut validator = to_validate.into_validator(FuncValidatorAllocations::default());
            let valid = validator.validate(&body).map_err(Refused::from);
            let valid = valid.map_err(Error::from);
            valid.inspect_err(|error| self.note(func, error))?;
        }
        Ok(CompiledFunction::empty(CheckSites::default()))
    }

    /// Validates and translates one body for `take`, and compiles it where that says why
    /// it does not take it.
    pub(super) fn translate<T>(
        &self,
        env: &ModuleEnv<'_>,
        body: Body<'_>,
        take: impl FnOnce(&Function, &[Touch]) -> Result<T, String>,
    ) -> Result<Translated<T>> {
        let func = body.0.index;
        if self.is_refused() {
            let nothing = self.look_at(body)?;
            return Ok(Translated::Compiled(Box::new(nothing)));
        }
        let translated = self.with(|compiler| {
            let Compiler {
                context,
                translator,
                ..
            } = compiler;
            translator.keep_touches(true);
            let prepared = prepare(context, translator, env, body)?;
            let inlined = translator.inlined();
            let taken = match prepared.over_budget {
                Some(_) => Err("beyond the budget for optimising".to_owned()),
                None => take(&context.func, translator.touches()),
            };
            let why = match taken {
                Ok(taken) => {
                    return Ok(Translated::Taken {
                        taken,
                        inlined: inlined.to_vec(),
                        checks: prepared.checks,
                    });
                }
                Err(why) => why,
            };
            let compiled = emit_prepared(context, prepared, func, inlined)?;
            Ok(Translated::Compiled(Box::new(CompiledFunction {
                fallback: Some((why, false)),
                ..compiled
            })))
        });
        translated.inspect_err(|error| self.note(func, error))
    }

    /// Builds and compiles one trampoline for functions of type `ty`.
    pub(super) fn compile_trampoline(
        &self,
        isa: &dyn TargetIsa,
        kind: Trampoline,
        ty: &FuncType,
        ways: Ways,
    ) -> Result<CompiledFunction> {
        self.with(|compiler| {
            let ir = &mut compiler.context.func;
            trampoline::build(kind, isa, ty, ways, ir, &mut compiler.trampolines);
            emit(&mut compiler.context, isa, 0, &[])
        })
    }

    /// Lends an idle compiler, or a new one. One whose work failed is dropped,
    /// for its buffers hold the parts of what failed.
    fn with<R>(&self, work: impl FnOnce(&mut Compiler) -> Result<R>) -> Result<R> {
        let idle = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        let mut compiler = idle.unwrap_or_default();
        let result = work(&mut compiler)?;
        compiler.context.clear();
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(compiler);
        }
        Ok(result)
    }
}
