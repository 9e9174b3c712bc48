//! Golden tests: `tests/clif/NAME.wat` → `tests/clif/NAME.clif`, and the same
//! for machine code in `tests/disas`.
//!
//! The first line of the input may choose the strategies:
//! `;; bounds: guard trap`. `FATHOM_BLESS=1` rewrites what is expected.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::Function;

use super::{FuncTranslator, ModuleEnv};
use crate::bounds::{Bounds, MemoryPlan};
use crate::compile::Target;
use crate::config::Opt;
use crate::features::Features;
use crate::module::decode;
use crate::vmctx::VmLayout;

/// What is written down of a function.
#[derive(Clone, Copy)]
enum Stage {
    /// What translation makes, before any optimisation.
    Clif,
    /// The machine code.
    Disas,
}

fn render(wat: &str, bounds: Bounds, stage: Stage) -> String {
    let wasm = wat::parse_str(wat).expect("the input is well-formed");
    render_binary(&wasm, bounds, stage, None)
}

fn render_binary(wasm: &[u8], bounds: Bounds, stage: Stage, only: Option<u32>) -> String {
    let (info, bodies) = decode(wasm, Features::all()).expect("the input validates");
    let layout = VmLayout::new(&info);
    let plans: Vec<MemoryPlan> = info
        .memories
        .iter()
        .map(|ty| MemoryPlan::new(bounds, ty).expect("the strategy fits"))
        .collect();
    let target = match stage {
        Stage::Disas if only.is_none() => Target::fixed(),
        _ => Target::host(Opt::Speed).expect("the host is supported"),
    };
    let env = ModuleEnv {
        info: &info,
        layout: &layout,
        plans: &plans,
        isa: target.isa(),
    };
    let mut translator = FuncTranslator::default();
    let mut text = String::new();
    for (to_validate, body) in bodies {
        let index = to_validate.index;
        if only.is_some_and(|only| only != index) {
            continue;
        }
        let mut func = Function::new();
        translator
            .translate(&env, to_validate, &body, &mut func)
            .expect("it translates");
        writeln!(text, ";; {bounds}: function {index}").expect("a string takes all");
        match stage {
            Stage::Clif => text.push_str(&func.display().to_string()),
            Stage::Disas => text.push_str(&machine_code(func, &target)),
        }
        text.push('\n');
    }
    text
}

fn machine_code(func: Function, target: &Target) -> String {
    let mut context = Context::for_function(func);
    context.set_disasm(true);
    let compiled = context
        .compile(target.isa(), &mut ControlPlane::default())
        .unwrap_or_else(|e| panic!("it does not compile: {:?}", e.inner));
    compiled.vcode.clone().expect("it was asked for")
}

fn inputs(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder of goldens is there");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "wat"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no goldens in {}", folder.display());
    paths
}

fn strategies(wat: &str) -> Vec<Bounds> {
    let first = wat.lines().next().unwrap_or_default();
    match first.strip_prefix(";; bounds:") {
        Some(names) => names
            .split_whitespace()
            .map(|name| name.parse().expect("a strategy's name"))
            .collect(),
        None => vec![Bounds::Guard],
    }
}

fn check(folder: &str, stage: Stage) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let bless = std::env::var_os("FATHOM_BLESS").is_some_and(|v| v == "1");
    let mut stale = Vec::new();
    for path in inputs(&folder) {
        let wat = std::fs::read_to_string(&path).expect("the input can be read");
        let found: String = strategies(&wat)
            .into_iter()
            .map(|b| render(&wat, b, stage))
            .collect();
        let golden = path.with_extension(match stage {
            Stage::Clif => "clif",
            Stage::Disas => "disas",
        });
        if bless {
            std::fs::write(&golden, &found).expect("the golden can be written");
        } else if std::fs::read_to_string(&golden).unwrap_or_default() != found {
            stale.push(format!("--- {}\n{found}", golden.display()));
        }
    }
    assert!(
        stale.is_empty(),
        "these differ from what is expected (FATHOM_BLESS=1 accepts them):\n{}",
        stale.join("\n")
    );
}

#[test]
fn clif_goldens() {
    check("clif", Stage::Clif);
}

/// The code of one instruction set, with features that do not depend on the
/// machine.
#[test]
#[cfg(target_arch = "x86_64")]
fn machine_code_goldens() {
    check("disas", Stage::Disas);
}

/// Prints the code of function `FATHOM_FUNC` of the module `FATHOM_MODULE`
/// under `FATHOM_BOUNDS`.
#[test]
#[ignore = "a tool: prints what is asked for"]
fn show() {
    let var = |name: &str| std::env::var(name).unwrap_or_default();
    let wasm = std::fs::read(var("FATHOM_MODULE")).expect("FATHOM_MODULE can be read");
    let bounds = var("FATHOM_BOUNDS").parse().unwrap_or(Bounds::Guard);
    let only = var("FATHOM_FUNC").parse().ok();
    for stage in [Stage::Clif, Stage::Disas] {
        println!("{}", render_binary(&wasm, bounds, stage, only));
    }
}
