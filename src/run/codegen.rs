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
    match codegen.needs_clang() {
        true => Ok(generator::clang(invocation.home()?.as_ref())),
        false => Ok(None),
    }
}

/// How many of the functions that are compiled are by which generator, and why not all by the
/// one that was asked for; nothing where that is the usual one.
pub fn shares(module: &Module) -> Option<String> {
    let codegen = module.engine().codegen();
    if codegen == Codegen::default() {
        return None;
    }
    let all = module.code_places().count();
    let fallbacks = module.fallbacks();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for fallback in &fallbacks {
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
    let others = fallbacks.len();
    let first = match codegen {
        tiers if tiers.has_tiers() => Codegen::Direct,
        codegen => codegen,
    };
    Some(format!(
        "fathom: {} of {all} functions by {first}, {others} by {}{because}",
        all - others,
        Codegen::default()
    ))
}
