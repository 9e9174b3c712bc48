//! Golden tests: `tests/llvm/NAME.wat` → `tests/llvm/NAME.ll`, the LLVM IR of each
//! function, or why it is left to Cranelift. No compiler is needed for them.
//!
//! The first line of the input may name strategies, `;; bounds: guard trap`.
//! `FATHOM_BLESS=1` rewrites what is expected.

use std::fmt::Write as _;

use super::ir::{Around, Precision};
use crate::bounds::{Bounds, GrowthLimits, MemoryPlan};
use crate::compile::argument_passing::Passing;
use crate::compile::compilers::{Compilers, Translated};
use crate::compile::translate::goldens::{data, expect, inputs};
use crate::compile::translate::{Inlinable, ModuleEnv};
use crate::compile::{CompileBudget, Elide, ModuleBudget, Target};
use crate::facts::features::Features;
use crate::facts::module::decode;
use crate::facts::vmctx::VmLayout;

fn render(wat: &str, bounds: Bounds) -> String {
    let wasm = wat::parse_str(wat).expect("the input is well-formed");
    let (info, bodies) = decode(&wasm, Features::all()).expect("the input validates");
    let layout = VmLayout::new(&info);
    let plan = |ty| MemoryPlan::new(bounds, ty, GrowthLimits::default()).expect("it fits");
    let plans: Vec<MemoryPlan> = info.memories.iter().map(plan).collect();
    let target = Target::fixed();
    let env = ModuleEnv {
        inlinable: Inlinable::NONE,
        info: &info,
        layout: &layout,
        plans: &plans,
        isa: target.isa(),
        elide: Elide::Off,
        spectre: true,
        passing: Passing::Area,
        count: false,
        fuel: false,
        budget: &ModuleBudget::new(CompileBudget::OFF, 0),
        plain_isa: target.isa(),
        unplaced: [target.unplaced(); 2],
        plain: false,
        direct: false,
        countdowns: None,
        entered_at: None,
        is_left: false,
        compares_null: true,
    };
    let compilers = Compilers::default();
    let mut text = String::new();
    for body in bodies {
        let around = Around {
            func: body.0.index,
            context_bytes: layout.size(),
            precision: Precision::Least,
            spectre: true,
            has_avx: true,
            has_ssse3: true,
            has_fma: true,
        };
        let printed = compilers
            .translate(&env, body, |func, touches| {
                super::print_proved(&env, func, touches, around)
            })
            .expect("it validates");
        writeln!(text, "; {bounds}: function {}", around.func).expect("a string takes all");
        match printed {
            Translated::Taken { taken, .. } => text.push_str(&taken.text),
            Translated::Compiled(code) => {
                let (why, _) = code.fallback.expect("there is a reason");
                writeln!(text, "; Cranelift's: {why}").expect("a string takes all");
            }
        }
        text.push('\n');
    }
    text
}

#[test]
#[cfg_attr(
    not(target_arch = "x86_64"),
    ignore = "SKIPPED: the goldens are those of x86-64"
)]
fn ir_goldens() {
    let found = inputs(&data("llvm")).into_iter().map(|path| {
        let wat = std::fs::read_to_string(&path).expect("the input can be read");
        let first = wat.lines().next().unwrap_or_default();
        let names = first.strip_prefix(";; bounds:").unwrap_or("guard");
        let found: String = names
            .split_whitespace()
            .map(|name| render(&wat, name.parse().expect("a strategy's name")))
            .collect();
        (path.with_extension("ll"), found)
    });
    expect(found);
}
