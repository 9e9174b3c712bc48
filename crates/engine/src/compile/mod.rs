//! From function bodies to one text image.
//!
//! ```text
//!  bodies ──rayon──▶ function.rs  validate + translate + compile, one context
//!                        │        a thread, reused from body to body
//!                        │      budget.rs  what takes too long: plainly, or not
//!                        │      dead.rs    what products leave behind
//!                        │  versioning/    loops whose accesses cannot fault
//!  types ───rayon──▶ trampoline.rs  in from the host, out to the host
//!                        │      llvm/      another code generator, for those who ask
//!                        │      direct/    and one that makes code in one pass
//!                        ▼
//!                    link.rs      order, calls between functions
//!                        │        placement.rs  alignment, for the loops' sake
//!                        ▼
//!                    Artifact     text and tables, ready to be mapped or cached
//! ```
//!
//! What must stay true:
//! - The text is position independent and refers to nothing outside itself: the
//!   runtime's functions are reached through the context, and hosts whose
//!   instruction set would need helper functions are refused by [`Target`].
//! - Frame pointers are kept in every function, so a stack is walked without
//!   any unwind table: the return address is above the saved frame pointer.
//! - The artifact depends only on the module's bytes, the configuration and the
//!   layout seed, never on which thread compiled what. Where a clock decided what is whose,
//!   it says so, and the cache does not keep it.

pub(crate) mod argument_passing;
mod artifact;
mod budget;
mod choices;
mod compilers;
mod count;
mod dead;
mod direct;
pub(crate) mod elide;
mod function;
mod link;
mod listing;
mod llvm;
mod operators;
mod placement;
mod rewriting;
mod target;
mod threads;
mod trampoline;
pub(crate) mod translate;
mod versioning;

pub use artifact::Fallback;
pub(crate) use artifact::{Artifact, CodeRange, Position, TrapSite};
pub(crate) use budget::ModuleBudget;
pub use budget::{CompileBudget, CompileWork, OverBudget, UnknownCompileBudget};
pub use choices::{Codegen, Compilation, Cpu, Elide, Opt};
pub(crate) use compilers::Compilers;
pub use count::CheckSites;
pub(crate) use link::{Callee, Detached};
pub(crate) use listing::listings;
pub use listing::{CodeCost, CodeLine, Listing};
pub(crate) use llvm::{Clang, Llvm, Versions, require_host};
pub use operators::WasmLine;
pub(crate) use target::{HAS_STACK_SWITCH, Target, has, has_vectors, require_one_pass};
pub(crate) use threads::{by_one_thread, by_threads};
pub(crate) use trampoline::Ways;

use cranelift_codegen::isa::TargetIsa;
use rayon::prelude::*;

use crate::compile::translate::ModuleEnv;
use crate::facts::error::Result;
use crate::facts::module::Body;
use crate::facts::types::FuncType;
use function::CompiledFunction;
use link::Linking;
use trampoline::Trampoline;

/// Compiles a module.
///
/// `layout_seed` varies the order and the distance of functions. With `llvm`, functions
/// are its, as far as it takes them.
///
/// # Errors
/// [`crate::facts::error::ErrorKind::Invalid`] and `Unsupported` for the first body, by
/// index, that is refused; `Compile` where the code generator
/// gives up; `Budget` where it would take more than it may.
pub(crate) fn compile_module(
    target: &Target,
    env: &ModuleEnv<'_>,
    bodies: Vec<Body<'_>>,
    layout_seed: Option<u64>,
    llvm: Option<&Llvm>,
) -> Result<Artifact> {
    let compilers = Compilers::default();
    let mut work: Vec<(usize, Body<'_>)> = bodies.into_iter().enumerate().collect();
    // Long bodies first, so that no thread is left with one at the end.
    work.sort_by_key(|(_, (_, body))| std::cmp::Reverse(body.range().end - body.range().start));
    let (mut compiled, is_hurried): llvm::Compiled = match llvm {
        Some(llvm) => llvm::compile(llvm, env, &compilers, work, None),
        None => {
            let each = work.into_par_iter().with_max_len(1);
            let each = each.map(|(index, body)| (index, compilers.compile(env, body)));
            (each.collect(), false)
        }
    };
    compiled.sort_unstable_by_key(|(index, _)| *index);
    let functions = compiled
        .into_iter()
        .map(|(_, result)| result)
        .collect::<Result<Vec<_>>>()?;

    Ok(Artifact {
        is_hurried,
        ..link_module(target, env, &compilers, functions, layout_seed)?
    })
}

/// The trampolines of a module whose functions are compiled one by one
/// ([`compile_function`]).
///
/// # Errors
/// `Compile` where the code generator gives up.
pub(crate) fn compile_module_trampolines(
    target: &Target,
    env: &ModuleEnv<'_>,
    compilers: &Compilers,
) -> Result<Artifact> {
    link_module(target, env, compilers, Vec::new(), None)
}

/// Compiles one function of a module.
///
/// # Errors
/// As [`compile_module`], for this body.
pub(crate) fn compile_function(
    target: &Target,
    env: &ModuleEnv<'_>,
    compilers: &Compilers,
    body: Body<'_>,
    layout_seed: Option<u64>,
) -> Result<Detached> {
    let func = body.0.index;
    link::detach(target, func, compilers.compile(env, body)?, layout_seed)
}

/// Compiles functions of a module, each with its position, by LLVM: those that it takes.
pub(crate) fn compile_by_llvm(
    target: &Target,
    env: &ModuleEnv<'_>,
    llvm: &Llvm,
    bodies: Vec<(usize, Body<'_>)>,
    layout_seed: Option<u64>,
) -> Vec<(usize, Detached)> {
    let (compiled, _) = llvm::compile(llvm, env, &Compilers::default(), bodies, None);
    let detached = compiled.into_iter().filter_map(|(position, compiled)| {
        let compiled = compiled.ok().filter(|one| one.fallback.is_none())?;
        let func = env.info.imported_funcs + position as u32;
        let detached = link::detach(target, func, compiled, layout_seed).ok()?;
        Some((position, detached))
    });
    detached.collect()
}

/// Compiles what else a module needs, and links it.
fn link_module(
    target: &Target,
    env: &ModuleEnv<'_>,
    compilers: &Compilers,
    functions: Vec<CompiledFunction>,
    layout_seed: Option<u64>,
) -> Result<Artifact> {
    let info = env.info;
    let needed = trampoline::needed(info);
    let trampolines = compile_trampolines(
        [env.isa, env.plain_isa],
        compilers,
        &info.types,
        &needed,
        Ways {
            passing: env.passing,
            count: env.count,
        },
    )?;
    let linking = Linking {
        imported_funcs: info.imported_funcs,
        types: info.types.len(),
        functions,
        trampolines,
        layout_seed,
    };
    link::link(target, linking)
}

/// Compiles both trampolines of each of `types`, for host functions that
/// belong to no module; `count` their calls.
///
/// # Errors
/// `Compile` where the code generator gives up.
pub(crate) fn compile_host_trampolines(
    [target, plain]: [&Target; 2],
    types: &[FuncType],
    ways: Ways,
) -> Result<Artifact> {
    let needed: Vec<(Trampoline, u32)> = (0..types.len() as u32)
        .flat_map(|ty| [(Trampoline::Entry, ty), (Trampoline::Exit, ty)])
        .collect();
    let trampolines = compile_trampolines(
        [target.isa(), plain.isa()],
        &Compilers::default(),
        types,
        &needed,
        ways,
    )?;
    link::link(
        target,
        Linking {
            imported_funcs: 0,
            types: types.len(),
            functions: Vec::new(),
            trampolines,
            layout_seed: None,
        },
    )
}

/// Values of a type from which on its trampolines are compiled plainly: what the
/// register allocator takes grows faster than their number.
const WIDE: usize = 100;

fn compile_trampolines(
    [isa, plain]: [&dyn TargetIsa; 2],
    compilers: &Compilers,
    types: &[FuncType],
    needed: &[(Trampoline, u32)],
    ways: Ways,
) -> Result<Vec<(Trampoline, u32, CompiledFunction)>> {
    needed
        .par_iter()
        .map(|&(kind, ty)| {
            let signature = &types[ty as usize];
            let isa = match signature.params().len() + signature.results().len() < WIDE {
                true => isa,
                false => plain,
            };
            let code = compilers.compile_trampoline(isa, kind, signature, ways)?;
            Ok((kind, ty, code))
        })
        .collect()
}
