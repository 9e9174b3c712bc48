//! Which code generator, and where its compiler is.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fathom_bench::generator;
use fathom_engine::{Codegen, Module};

use crate::invocation::Invocation;

/// Reasons that are named; what has others is counted.
const REASONS: usize = 5;

pub fn parser() -> impl TypedValueParser<Value = Codegen> {
    let choices =
        Codegen::ALL.map(|codegen| PossibleValue::new(codegen.name()).help(codegen.help()));
    PossibleValuesParser::new(choices).try_map(|name| name.parse::<Codegen>())
}

/// The compiler that `make setup` installs, where one is needed and the environment names
/// none.
pub fn clang(codegen: Codegen, invocation: &Invocation) -> anyhow::Result<Option<PathBuf>> {
    match codegen {
        Codegen::Cranelift | Codegen::Direct | Codegen::Tiered => Ok(None),
        Codegen::Llvm => Ok(generator::clang(invocation.home()?.as_ref())),
    }
}

/// How many functions are LLVM's, and why the others are not; nothing where it was not
/// asked for.
pub fn shares(module: &Module) -> Option<String> {
    if module.engine().codegen() == Codegen::Cranelift {
        return None;
    }
    let all = module.code_places().count();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for fallback in module.fallbacks() {
        // Behind a colon is what is only this function's.
        let why = fallback.why.split(": ").next().unwrap_or_default();
        *reasons.entry(why).or_default() += 1;
    }
    let mut reasons: Vec<(&str, usize)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let rest = reasons.len().saturating_sub(REASONS);
    let mut said: Vec<String> = reasons
        .iter()
        .take(REASONS)
        .map(|(why, count)| format!("{count} for {why}"))
        .collect();
    if rest > 0 {
        said.push(format!("and {rest} more reasons"));
    }
    let because = match said.is_empty() {
        true => String::new(),
        false => format!(": {}", said.join(", ")),
    };
    let others = module.fallbacks().len();
    Some(format!(
        "fathom: {} of {all} functions are LLVM's, {others} Cranelift's{because}",
        all - others
    ))
}
