//! What of WebAssembly an engine does not know, where it refuses a module.
//!
//! Engines say it in many ways ("malformed Wasm binary", "invalid byte: 0x5f"), and releases
//! differ, so that no list would stay true. So an engine is asked: of each feature that the
//! module uses it gets a module of a few bytes that uses nothing else. What it refuses of
//! these it lacks, and that is no fault of the module. A row is asked of a feature once in a
//! campaign.

use std::{collections::BTreeMap, path::Path, sync::atomic::AtomicBool, time::Duration};

use fathom_engine::{Feature, Features};
use fathom_record::{
    FailureKind, SandboxId,
    protocol::{Job, Measure, Request},
};

use crate::{
    driver::{DriveError, Driver},
    plan::{Laps, Plan, Task},
};

/// Whether an engine has refused a module, which it will do again.
pub fn is_refusal(kind: FailureKind) -> bool {
    use FailureKind as Kind;
    matches!(
        kind,
        Kind::Invalid | Kind::Unsupported | Kind::Lacking | Kind::Link
    )
}

/// What rows were asked, and whether they know it.
#[derive(Debug, Default)]
pub struct Known(BTreeMap<(SandboxId, &'static str), bool>);

/// The refusal of a module, by what the engine lacks, where it lacks something that the module
/// uses.
pub fn or_lacks(
    plan: &Plan,
    task: &Task,
    driver: &mut dyn Driver,
    limit: Duration,
    stop: &AtomicBool,
    asked: &mut Known,
    refusal: DriveError,
) -> DriveError {
    let is_refused = matches!(&refusal, DriveError::Failed { kind, .. } if is_refusal(*kind));
    let Some(module) = is_refused
        .then(|| std::fs::read(&task.artifact).ok())
        .flatten()
    else {
        return refusal;
    };
    // Where counting is what fails, it fails with whatever module.
    if plan.config.compared.is_count() {
        return refusal;
    }
    let mut lacks = Vec::new();
    for feature in used(&module) {
        let question = (task.cell.sandbox.id(), feature.name());
        let known = match asked.0.get(&question) {
            Some(known) => *known,
            None => match knows(plan, task, driver, feature, limit, stop) {
                Ok(known) => known,
                Err(DriveError::Stopped) => return DriveError::Stopped,
                Err(DriveError::Failed { .. }) => return refusal,
            },
        };
        asked.0.insert(question, known);
        if !known {
            lacks.push(feature.name());
        }
    }
    match lacks.is_empty() {
        true => refusal,
        false => DriveError::failed(FailureKind::Lacking, format!("no {}", lacks.join(", "))),
    }
}

/// The features without which a module does not validate; none of one that we do not know
/// ourselves.
fn used(module: &[u8]) -> Vec<Feature> {
    let validates = |features: Features| features.validate(module);
    if !validates(Features::all()) {
        return Vec::new();
    }
    let all = Feature::ALL.into_iter();
    all.filter(|feature| !validates(Features::all().without_only(*feature)))
        .collect()
}

/// Whether an engine takes a module that uses nothing but a feature.
fn knows(
    plan: &Plan,
    task: &Task,
    driver: &mut dyn Driver,
    feature: Feature,
    limit: Duration,
    stop: &AtomicBool,
) -> Result<bool, DriveError> {
    let scratch = super::scratch()?;
    let io = |error: std::io::Error| DriveError::failed(FailureKind::Io, error.to_string());
    let module = scratch.path().join("feature.wasm");
    std::fs::write(&module, smallest(feature)).map_err(io)?;
    let laps = Laps {
        warmup: 0,
        counted: 1,
    };
    let out = scratch.path().join("out");
    std::fs::create_dir(&out).map_err(io)?;
    let request = plan.request(task, 0, laps, &out).map_err(io)?;
    match driver.ask(&with_module(request, &module), limit, stop) {
        Ok(_) => Ok(true),
        Err(DriveError::Failed { kind, .. }) if is_refusal(kind) => Ok(false),
        Err(error) => Err(error),
    }
}

/// A request for another program that needs nothing.
fn with_module(request: Request, module: &Path) -> Request {
    let Job::Measure(asked) = request.job else {
        return request;
    };
    Request::from(Measure {
        module: module.to_owned(),
        args: Vec::new(),
        env: Vec::new(),
        dirs: Vec::new(),
        stdin: None,
        threads: 1,
        cache: None,
        cycle: false,
        load: None,
        ..asked
    })
}

/// A program of WASI that uses one feature and ends.
fn smallest(feature: Feature) -> Vec<u8> {
    let body = match feature {
        Feature::MultiValue => "(func (result i32 i32) i32.const 1 i32.const 2)",
        Feature::BulkMemory => "(func (memory.fill (i32.const 0) (i32.const 0) (i32.const 0)))",
        Feature::ReferenceTypes => "(table 1 externref)",
        Feature::Simd => "(func (result v128) (i32x4.splat (i32.const 1)))",
        Feature::RelaxedSimd => {
            "(func (param v128) (result v128)
               (i8x16.relaxed_swizzle (local.get 0) (local.get 0)))"
        }
        Feature::ExtendedConst => "(global i32 (i32.add (i32.const 1) (i32.const 2)))",
        Feature::TailCall => "(func $f (return_call $f))",
        Feature::MultiMemory => "(memory 1)",
        Feature::Memory64 => "(memory i64 1)",
        Feature::FunctionReferences => {
            "(type $f (func)) (func (param (ref $f)) (call_ref $f (local.get 0)))"
        }
        // In the program's own function: a generator that leaves such functions to another has
        // none to compile then.
        Feature::Gc => {
            "(type $s (struct (field i32)))
             (func (export \"_start\") (drop (struct.new_default $s)))"
        }
        Feature::Exceptions => {
            "(tag $t)
             (func (export \"_start\") (block $b (try_table (catch $t $b) (throw $t))))"
        }
        Feature::Threads => "(memory 1 1 shared)",
        Feature::WideArithmetic => "(func (i64.mul_wide_u (i64.const 1) (i64.const 2)) drop drop)",
        Feature::StackSwitching => {
            "(type $f (func)) (type $c (cont $f)) (func (param (ref $c)) (resume $c (local.get 0)))"
        }
        Feature::LegacyExceptions => return LEGACY_EXCEPTIONS.to_vec(),
    };
    // Runners look for a memory; one alone where a second would be another feature.
    let memory = match body.starts_with("(memory") && feature != Feature::MultiMemory {
        true => body.replacen("(memory", "(memory (export \"memory\")", 1),
        false => format!("(memory (export \"memory\") 1) {body}"),
    };
    let start = match memory.contains("_start") {
        true => "",
        false => "(func (export \"_start\"))",
    };
    let text = format!("(module {memory} {start})");
    wat::parse_str(text).expect("a module of this table is well-formed")
}

/// `(try (do) (catch_all))` in a function of its own; the text format has it no more.
const LEGACY_EXCEPTIONS: &[u8] = b"\0asm\x01\0\0\0\
    \x01\x04\x01\x60\0\0\
    \x03\x03\x02\0\0\
    \x05\x03\x01\0\x01\
    \x07\x13\x02\x06memory\x02\0\x06_start\0\x01\
    \x0a\x0b\x02\x06\0\x06\x40\x19\x0b\x0b\x02\0\x0b";

#[cfg(test)]
mod tests {
    use super::*;

    /// It uses what it is of, and nothing else but what that is made of.
    #[test]
    fn each_module_uses_its_feature() {
        for feature in Feature::ALL {
            let module = smallest(feature);
            assert!(Features::all().validate(&module), "{feature} validates");
            assert!(used(&module).contains(&feature), "{feature} is used");
            let needed = Feature::ALL.into_iter().filter(|other| *other != feature);
            let others: Vec<Feature> = needed
                .filter(|other| used(&module).contains(other))
                .collect();
            let is_part = |other: &Feature| !Features::all().without(*other).contains(feature);
            assert!(others.iter().all(is_part), "{feature} uses {others:?}");
        }
    }

    #[test]
    fn what_is_no_module_uses_nothing() {
        assert!(used(b"\x7fELF").is_empty());
        assert!(used(b"").is_empty());
    }
}
