//! Libraries: modules without a `_start`, or without a host.
//!
//! `run` calls their functions through the engine. What is measured is a program on every
//! engine, so a module is written again that calls them (`fathom_rewrite::program`).

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, bail};
use fathom_bench::request::Library;
use fathom_engine::{FuncType, Val, ValType};
use fathom_rewrite::program::{Call, Constant, Program, program as made_program};
use fathom_rewrite::shape::{Import, Shape, Space};

use crate::module::{self, Purpose};
use crate::run::{invoke, load};

/// How a library is measured.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Library")]
pub struct Options {
    /// Call this exported function with ARGS, instead of running a program; what it returns is
    /// the answer
    #[arg(long, value_name = "FUNCTION")]
    invoke: Option<String>,
    /// Call this exported function first, without arguments; part of what is measured. May be
    /// repeated
    #[arg(long, value_name = "FUNCTION", requires = "invoke")]
    setup: Vec<String>,
    /// What the module imports and nobody provides traps when it is called
    #[arg(long)]
    stub_imports: bool,
}

impl Options {
    /// What they ask for.
    pub fn of(self) -> Library {
        Library {
            stub_imports: self.stub_imports,
            setup: self.setup,
            invoke: self.invoke,
        }
    }
}

/// The module with functions that trap for what nobody provides; messages call it `word`.
///
/// # Errors
/// What cannot be read.
pub fn stubbed(wasm: &[u8], word: &str) -> anyhow::Result<Vec<u8>> {
    made_program(wasm, &Program::default(), &is_given).with_context(|| word.to_owned())
}

/// The program that is made of a library.
///
/// # Errors
/// A file that is no module, or has not what is called.
pub fn program(
    path: &Path,
    word: &str,
    library: &Library,
    args: &[String],
) -> anyhow::Result<Vec<u8>> {
    let wasm = load::read_as(path, word)?;
    let purpose = match library.stub_imports {
        true => Purpose::CallStubbed(library.invoke.as_deref()),
        false => Purpose::Call(library.invoke.as_deref()),
    };
    if let Err(why) = module::check(&wasm, purpose) {
        bail!("{word}: {why}");
    }
    let call = match &library.invoke {
        Some(name) => Some(call(&wasm, name, args).with_context(|| word.to_owned())?),
        None => None,
    };
    let setup = library.setup.clone();
    let made = made_program(&wasm, &Program { setup, call }, &|import| {
        !library.stub_imports || is_given(import)
    });
    made.with_context(|| word.to_owned())
}

/// Whether programs are given this.
fn is_given(import: &Import) -> bool {
    let is_func = import.space == Space::Func;
    let is_threads = (import.module.as_str(), import.name.as_str()) == module::THREADS;
    is_func && (is_threads || fathom_wasi::defines(&import.module, &import.name))
}

/// The call of an exported function with arguments that are words.
fn call(wasm: &[u8], name: &str, words: &[String]) -> anyhow::Result<Call> {
    let shape = Shape::of(wasm)?;
    let func = shape.exported(Space::Func, name);
    let Some(ty) = func.and_then(|func| shape.func_type(func)) else {
        bail!("it exports no function {name}");
    };
    let kinds = |all: &[wasmparser::ValType]| {
        let kinds: Option<Vec<ValType>> = all.iter().map(|ty| plain(*ty)).collect();
        kinds.with_context(|| {
            format!("{name} takes or returns references, for which there is no text")
        })
    };
    let ty = FuncType::new(kinds(ty.params())?, kinds(ty.results())?);
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    let args = invoke::parse(name, &ty, &words).map_err(anyhow::Error::msg)?;
    Ok(Call {
        name: name.to_owned(),
        args: args.iter().filter_map(constant).collect(),
    })
}

fn plain(ty: wasmparser::ValType) -> Option<ValType> {
    Some(match ty {
        wasmparser::ValType::I32 => ValType::I32,
        wasmparser::ValType::I64 => ValType::I64,
        wasmparser::ValType::F32 => ValType::F32,
        wasmparser::ValType::F64 => ValType::F64,
        wasmparser::ValType::V128 => ValType::V128,
        wasmparser::ValType::Ref(_) => return None,
    })
}

fn constant(value: &Val) -> Option<Constant> {
    Some(match value {
        Val::I32(value) => Constant::I32(*value),
        Val::I64(value) => Constant::I64(*value),
        Val::F32(bits) => Constant::F32(*bits),
        Val::F64(bits) => Constant::F64(*bits),
        Val::V128(bits) => Constant::V128(*bits),
        _ => return None,
    })
}
