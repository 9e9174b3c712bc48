//! Our engine's code generators where they are measured: what rows call them, where the
//! compiler of one is, and why one is not to be had.

use std::{env, ffi::OsString, io, path::PathBuf};

use fathom_engine::{Codegen, Config, Engine, Module};
use fathom_record::Setting;

use crate::{
    choose::{OWN, Wanted},
    driver::ProcessDriver,
    home::Home,
    settings::{self, Choices, MissingValue},
};

/// The variable that names the compiler, which the engine reads itself.
const VARIABLE: &str = "FATHOM_CLANG";

/// What tells our runner where the compiler is.
pub const OPTION: &str = "--clang";

/// The compiler that the home has for its workloads, unless the environment names one.
pub fn clang(home: Option<&Home>) -> Option<PathBuf> {
    let is_named = env::var_os(VARIABLE).is_some();
    let zig = home.filter(|_| !is_named)?.tools().join("zig/ziglang/zig");
    zig.is_file().then_some(zig)
}

/// Why a generator is not to be had, and what to do about it, in one line.
pub fn why_missing(codegen: Codegen, home: Option<&Home>) -> Option<String> {
    let config = Config::new().codegen(codegen).clang(clang(home));
    let error = match Engine::new(&config) {
        Ok(engine) => return settings::other_generator(&engine, codegen.name()),
        Err(error) => error,
    };
    let remedy = match home {
        _ if !codegen.needs_clang() => "",
        Some(home) if !home.is_of_user() => "; `make setup` installs one",
        _ => "; `pip install ziglang==0.15.2` brings one",
    };
    Some(format!("{error}{remedy}"))
}

/// Of the generators that are asked for, in a list or by words, those that are not to be
/// had.
pub fn missing(choices: &Choices, wanted: &[Wanted], home: Option<&Home>) -> Vec<MissingValue> {
    let is_asked_for = |codegen: &Codegen| {
        let is_named = |word: &Wanted| word.backend.as_deref() == Some(codegen.name());
        let mut own = wanted.iter().filter(|word| word.engine == OWN);
        let mut named = choices.of(Setting::Codegen).iter();
        named.any(|name| name == codegen.name()) || own.any(is_named)
    };
    let others = Codegen::ALL
        .into_iter()
        .filter(|&codegen| codegen != Codegen::default());
    let others = others.filter(is_asked_for);
    let missing = |codegen: Codegen| {
        Some(MissingValue {
            setting: Setting::Codegen,
            value: codegen.name().to_owned(),
            why: why_missing(codegen, home)?,
        })
    };
    others.filter_map(missing).collect()
}

/// How many functions of a module are whose, where another generator than the usual one was
/// asked for.
///
/// # Errors
/// None is its: what would be measured is the usual one.
pub fn shares(module: &Module) -> Result<Option<String>, String> {
    let codegen = module.engine().codegen();
    if codegen == Codegen::default() {
        return Ok(None);
    }
    let all = module.code_places().count();
    match &module.fallbacks()[..] {
        // None has been called yet.
        _ if all == 0 => Ok(None),
        [] => Ok(Some(format!("all {all} functions by {codegen}"))),
        kept @ [first, ..] if kept.len() == all => Err(format!(
            "no function of the module is compiled by {codegen}: {}",
            first.why
        )),
        kept => {
            let others = Codegen::default();
            let by_it = all - kept.len();
            let mut said =
                format!("{by_it} of {all} functions by {codegen}, the others by {others}");
            if let Some(failures) = failures(module) {
                said.push_str(&format!("; {failures}"));
            }
            Ok(Some(said))
        }
    }
}

/// That a generator failed on functions which it was given, on how many and why on the first: the
/// code that runs is not what was asked for. What it is known not to take is not meant.
pub fn failures(module: &Module) -> Option<String> {
    let mut fallbacks = module.fallbacks();
    fallbacks.retain(|one| one.is_refused);
    let first = fallbacks.first()?;
    let (func, why) = (first.func, &first.why);
    let codegen = module.engine().codegen();
    Some(match fallbacks.len() {
        1 => format!("{codegen} failed on function {func}: {why}"),
        count => format!("{codegen} failed on {count} functions, first on {func}: {why}"),
    })
}

/// The runner of our engine.
///
/// # Errors
/// Where this program is cannot be told.
pub fn own_driver(home: Option<&Home>) -> io::Result<ProcessDriver> {
    Ok(driver_by(env::current_exe()?, home))
}

/// The runners of our engine and of native code: this program, or another that has both.
///
/// # Errors
/// Where this program is cannot be told.
pub(crate) fn own_drivers(
    home: Option<&Home>,
    runner: Option<PathBuf>,
) -> io::Result<Vec<ProcessDriver>> {
    let program = runner.map_or_else(env::current_exe, Ok)?;
    let native = ProcessDriver::new(program.clone(), ["runner", "native"]);
    Ok(vec![driver_by(program, home), native])
}

fn driver_by(program: PathBuf, home: Option<&Home>) -> ProcessDriver {
    let mut words: Vec<OsString> = ["runner", OWN].map(OsString::from).to_vec();
    if let Some(clang) = clang(home) {
        words.extend([OPTION.into(), clang.into()]);
    }
    ProcessDriver::new(program, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_in_one_pass_needs_a_processor_and_nothing_else() {
        let lack = why_missing(Codegen::Direct, None);
        match cfg!(target_arch = "x86_64") {
            true => assert_eq!(lack, None),
            false => {
                let why = "code generator 'direct' is for x86-64";
                assert_eq!(lack.as_deref(), Some(why));
            }
        }
    }

    #[test]
    fn who_made_how_many_functions_is_evidence() {
        let shares_of = |codegen, wat: &str| {
            let engine = Engine::new(&Config::new().codegen(codegen)).unwrap();
            shares(&Module::new(&engine, wat::parse_str(wat).unwrap()).unwrap())
        };
        // What is left to Cranelift.
        let many = format!("(func (result {}) unreachable)", "i64 ".repeat(9));
        let both = format!("(module (func) {many})");
        let alone = format!("(module {many})");
        assert_eq!(shares_of(Codegen::Cranelift, &both), Ok(None));
        if cfg!(target_arch = "x86_64") {
            let said = shares_of(Codegen::Direct, &both).unwrap().unwrap();
            assert_eq!(said, "1 of 2 functions by direct, the others by cranelift");
            let whole = shares_of(Codegen::Direct, "(module (func))").unwrap();
            assert_eq!(whole.as_deref(), Some("all 1 functions by direct"));
            let none = shares_of(Codegen::Direct, &alone).unwrap_err();
            assert!(none.contains("no function of the module"), "{none}");
        }
    }
}
