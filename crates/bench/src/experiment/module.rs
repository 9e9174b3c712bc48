//! How long a program of the user's own runs.
//!
//! What is compared and whether outputs are is not known before it was looked at once.

use std::path::PathBuf;

use fathom_engine::{Bounds, Codegen, Features, Module};
use fathom_record::{Compared, Experiment, Variant, campaign::ModuleNote};

use super::{Design, Environment, Measured, suite};
use crate::{
    check::Expected,
    choose::{Absent, NATIVES, Program},
    request::{OwnModule, Request, RequestError, Strategies, ensure},
};

/// Where a module that is not what its file holds is kept in the results folder.
const MADE: &str = "module.wasm";

/// LLVM takes ten times as long as Cranelift: of more bytes than this it is measured where
/// it is asked for.
const LLVM_BYTES_MAX: u64 = 256 << 10;

/// Bytes of a module that clang compiles in a second, on two processors
/// (`docs/LIMITS.md`, "Clang").
const LLVM_BYTES_A_SECOND: usize = 66_000;

/// How it is measured.
pub(super) static DESIGN: Design = Design {
    experiment: Experiment::Module,
    measured,
    // What `fathom run` takes, and what gives the best code.
    generators: |measured| match &measured.module {
        Some(module) if module.bytes > LLVM_BYTES_MAX => &[Codegen::Tiered],
        _ => &[Codegen::Tiered, Codegen::Llvm],
    },
    absent: |env| Ok(left_out(env.request)),
    ..suite::TIMED
};

fn measured(env: &Environment<'_>) -> Result<Measured, RequestError> {
    let request = env.request;
    let Some(module) = request.subject.own_module() else {
        return Err(RequestError::refused("no module to measure"));
    };
    ensure(request.workloads.is_empty(), || {
        "--workloads is for suites; a module is run as it is".to_owned()
    })?;
    ensure(request.size.is_none(), || {
        "--size is for suites; a module is run as it is".to_owned()
    })?;
    Ok(of_module(module, None))
}

/// A program of the user's own, and its native build where there is one.
pub(super) fn of_module(module: &OwnModule, native: Option<PathBuf>) -> Measured {
    let name = module.path.file_name().unwrap_or_default();
    // Relative to the results folder, like the reference.
    let artifact = match module.is_made {
        true => PathBuf::from(MADE),
        false => module.path.clone(),
    };
    let natives: &[Variant] = native.as_ref().map_or(&[], |_| &NATIVES);
    let program = Program {
        suite: "module".to_owned(),
        name: name.to_string_lossy().into_owned(),
        size: String::new(),
        // What is called is given them already.
        args: match &module.library.invoke {
            Some(_) => Vec::new(),
            None => module.args.clone(),
        },
        artifact: Box::new(move |variant: Variant| match (&native, variant.is_wasm()) {
            (Some(native), false) => native.clone(),
            _ => artifact.clone(),
        }),
        expected: Expected::SameAs(PathBuf::from("output.stdout")),
        folder: None,
        is_cached: false,
        stack_bytes: None,
        load: None,
    };
    let title = module.path.file_stem().unwrap_or_default();
    let title = title.to_string_lossy().into_owned();
    let made = module.is_made.then(|| module.wasm.clone());
    let words = module.library.words();
    Measured {
        module: Some(ModuleNote {
            path: module.path.clone(),
            bytes: module.wasm.len() as u64,
            digest: digest(&module.wasm),
            args: words.into_iter().chain(module.args.clone()).collect(),
        }),
        written: made
            .map(|wasm| (MADE.to_owned(), wasm))
            .into_iter()
            .collect(),
        compared: Compared::Run,
        variants: vec![match module.is_component() {
            true => Variant::WasmComponent,
            false => Variant::Wasm,
        }],
        strategies: strategies_for(&module.wasm),
        natives: natives.to_vec(),
        ..Measured::new(title, (vec![program], Vec::new()))
    }
}

/// LLVM, where a module is too long for it and nobody has said what is to be measured.
fn left_out(request: &Request) -> Vec<Absent> {
    let is_named = !request.engines.is_empty() || request.settings.settings().next().is_some();
    let bytes = request.subject.own_module().map(|module| module.wasm.len());
    match bytes {
        Some(bytes) if bytes as u64 > LLVM_BYTES_MAX && !is_named => vec![Absent {
            engine: "fathom llvm".to_owned(),
            why: format!(
                "clang takes about {} s for {} kB: --codegen cranelift,tiered,llvm measures it, too",
                bytes / LLVM_BYTES_A_SECOND + 1,
                bytes / 1000
            ),
            is_wanted: false,
            install: None,
        }],
        _ => Vec::new(),
    }
}

/// The strategies that guard a module's memories; all, where it is refused anyway.
fn strategies_for(wasm: &[u8]) -> Vec<Strategies> {
    let memories =
        Module::declarations(wasm, Features::all()).map_or(Vec::new(), |info| info.memories);
    if memories.iter().all(|ty| !ty.memory64) {
        return vec![Strategies::All];
    }
    let all: Vec<Bounds> = Bounds::ALL
        .into_iter()
        .filter(|bounds| !bounds.is_diagnostic())
        .filter(|bounds| memories.iter().all(|ty| bounds.supports(ty.memory64)))
        .collect();
    // The one that `auto` takes first: our engine's control is its first row's. With
    // memories of both index types there is no name for it but `auto`.
    let first = match all.contains(&Bounds::GUARD64) {
        true => Strategies::one(Bounds::GUARD64),
        false => Strategies::AUTO,
    };
    let others = all.into_iter().filter(|bounds| *bounds != Bounds::GUARD64);
    std::iter::once(first)
        .chain(others.map(Strategies::one))
        .collect()
}

/// FNV-1a over the bytes: tells modules apart, no more is asked of it.
fn digest(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}
