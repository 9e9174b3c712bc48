//! A library's own programs on every engine: the selection `libsodium`, and what
//! "Performance of WebAssembly runtimes in 2023" measured, which `fathom reproduce`
//! asks for.
//!
//! ```text
//!  libsodium       every engine, each of its code generators; our `auto`; native code,
//!                  portable and with what the library has for this machine
//!  libsodium-2023  the seed's engines, compiling as it had them; the same ours
//!  × the best build that an engine takes, of those that are asked for
//! ```
//!
//! What must stay true: what users of our engine get comes first, because the
//! control of the first row is the noise floor; what the seed had and is not to be
//! had here is absent with the reason.

use anyhow::ensure;
use fathom_bench::{
    choose::{Absent, NATIVE, OWN, Wanted},
    engines::{EngineSpec, Presence},
    house::House,
};
use fathom_record::{Compared, Opt, Variant};

use super::{
    Args,
    args::Selection,
    target::{Kind, Target, note, program, suite},
};

const SUITE: &str = "libsodium";
const AUTO: &str = "auto";
/// The seed's build has bulk memory and no vectors; older engines take the other.
const BUILDS: [Variant; 2] = [Variant::Wasm, Variant::WasmMvp];
/// A first impression: short programs of different groups.
const QUICK: [&str; 6] = [
    "aead_chacha20poly1305",
    "auth",
    "box_easy",
    "generichash",
    "scalarmult",
    "stream5",
];
/// The seed's engines, by the names they would have here, and which of their code
/// generators it ran: the first of these that there is, all for none.
const OF_SEED: [(&str, &[&[&str]]); 8] = [
    ("wamr", &[&["aot"]]),
    ("wasm2c", &[&["clang"]]),
    ("wasmer", &[&["llvm"], &["cranelift"], &["singlepass"]]),
    ("wasmedge", &[&["aot", "jit"]]),
    ("wasmtime", &[&["cranelift"]]),
    ("node", &[&["tiering", "dynamic"]]),
    ("bun", &[]),
    ("wazero", &[&["compiler"]]),
];

/// What a selection measures.
pub fn target(args: &Args, selection: Selection, house: &House) -> anyhow::Result<Target> {
    let suite = suite(house, SUITE)?;
    let default = if args.pace.quick { "small" } else { "medium" };
    let size = args.size.as_deref().map(str::to_lowercase);
    let size = size.unwrap_or_else(|| default.to_owned());
    let mut names = args.kernels.clone();
    if args.pace.quick && names.is_empty() {
        names = QUICK.map(str::to_owned).to_vec();
    }
    let (mut programs, mut notes) = (Vec::new(), Vec::new());
    for workload in suite.select(&names)? {
        let name = &workload.name;
        let has_answer = workload.answer_at(&size).is_some();
        ensure!(has_answer, "{name} has no answer for size {size}");
        programs.push(program(&suite, workload, &size));
        notes.push(note(&suite, workload, &size));
    }
    Ok(Target {
        kind: Kind::Library,
        title: format!("{}-{size}", selection.name()),
        programs,
        notes,
        module: None,
        written: Vec::new(),
        compared: Compared::Kernel,
        variants: BUILDS.to_vec(),
        threads: vec![1],
        opts: vec![Opt::Speed],
        strategies: vec![AUTO.to_owned()],
        iterations: None,
        has_native: true,
    })
}

/// The engines to measure: those that were named, or the seed's, or all there are
/// with each of their code generators.
pub fn wanted(args: &Args, outside: &[(EngineSpec, Presence)]) -> Vec<Wanted> {
    if !args.engines.is_empty() {
        return args.engines.clone();
    }
    let plain = |name: &str, backend: Option<&String>| Wanted {
        engine: name.to_owned(),
        strategy: None,
        backend: backend.cloned(),
    };
    let mut wanted = vec![plain(OWN, None)];
    for (spec, _) in outside {
        let backends = match args.selection {
            Some(Selection::Libsodium2023) => of_seed(spec),
            _ => Some(spec.backends.iter().collect()),
        };
        match backends {
            None => {}
            Some(backends) if backends.is_empty() => wanted.push(plain(&spec.name, None)),
            Some(backends) => {
                let each = backends.into_iter().map(|one| plain(&spec.name, Some(one)));
                wanted.extend(each);
            }
        }
    }
    wanted.extend([NATIVE, "native-tuned"].map(|name| plain(name, None)));
    wanted
}

/// The code generators of an engine that the seed ran; `None` for other engines.
fn of_seed(spec: &EngineSpec) -> Option<Vec<&String>> {
    let (_, generators) = OF_SEED.iter().find(|(name, _)| *name == spec.name)?;
    if generators.is_empty() {
        return Some(spec.backends.iter().take(1).collect());
    }
    let found = generators.iter().filter_map(|names| {
        let mut names = names.iter();
        names.find_map(|name| spec.backends.iter().find(|backend| backend == name))
    });
    let found: Vec<&String> = found.collect();
    // An engine that has none of them has no place in the seed's picture.
    (!found.is_empty()).then_some(found)
}

/// What the seed measured and is not to be had here.
pub fn not_to_be_had(args: &Args, outside: &[(EngineSpec, Presence)]) -> Vec<Absent> {
    if args.selection != Some(Selection::Libsodium2023) {
        return Vec::new();
    }
    let mut absent = Vec::new();
    for (name, generators) in OF_SEED {
        let spec = outside.iter().find(|(spec, _)| spec.name == name);
        let lacks = |names: &&[&str]| match spec {
            None => true,
            Some((spec, _)) => !names
                .iter()
                .any(|name| spec.backends.iter().any(|have| have == name)),
        };
        let why = match spec {
            None => "Fathom has no runner for it",
            Some(_) => "not built here: see engines/README.md",
        };
        let missing = generators.iter().copied().filter(|names| lacks(names));
        for names in missing {
            absent.push(Absent {
                engine: format!("{name} {}", names.join(" or ")),
                why: why.to_owned(),
                is_wanted: false,
            });
        }
        if generators.is_empty() && spec.is_none() {
            absent.push(Absent {
                engine: name.to_owned(),
                why: why.to_owned(),
                is_wanted: false,
            });
        }
    }
    absent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str, backends: &[&str]) -> (EngineSpec, Presence) {
        let backends = backends.iter().map(|name| (*name).to_owned()).collect();
        let spec = EngineSpec {
            name: name.to_owned(),
            display: name.to_owned(),
            command: vec![name.to_owned()],
            check: vec![name.to_owned()],
            strategies: vec!["guard".to_owned()],
            backends,
            variants: Vec::new(),
            needs: String::new(),
            absent: String::new(),
            note: String::new(),
        };
        let says = name.to_owned();
        (spec, Presence::Installed { says })
    }

    fn args(line: &str) -> Args {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        super::super::args::again(&words).unwrap()
    }

    fn words(args: &Args, outside: &[(EngineSpec, Presence)]) -> String {
        let wanted = wanted(args, outside);
        let words: Vec<String> = wanted.iter().map(engine_and_backend).collect();
        words.join(" ")
    }

    fn engine_and_backend(wanted: &Wanted) -> String {
        match &wanted.backend {
            Some(backend) => format!("{}/{backend}", wanted.engine),
            None => wanted.engine.clone(),
        }
    }

    #[test]
    fn the_suite_measures_every_code_generator() {
        let outside = [spec("wasmtime", &["cranelift", "winch"]), spec("old", &[])];
        assert_eq!(
            words(&args("suite libsodium"), &outside),
            "fathom wasmtime/cranelift wasmtime/winch old native native-tuned"
        );
        assert_eq!(
            words(&args("suite libsodium --engines native"), &outside),
            "native"
        );
    }

    #[test]
    fn the_seeds_engines_are_measured_as_it_had_them() {
        let args = args("reproduce libsodium-2023");
        let outside = [
            spec("wasmtime", &["cranelift", "winch"]),
            spec("wasmer", &["cranelift", "singlepass"]),
            spec("wasm3", &[]),
            spec("wamr", &["fast", "classic"]),
            spec("wasm2c", &["gcc", "clang"]),
        ];
        assert_eq!(
            words(&args, &outside),
            "fathom wasmtime/cranelift wasmer/cranelift wasmer/singlepass wasm2c/clang native \
             native-tuned"
        );
        let absent = not_to_be_had(&args, &outside);
        let names: Vec<&str> = absent.iter().map(|one| one.engine.as_str()).collect();
        assert_eq!(
            names,
            [
                "wamr aot",
                "wasmer llvm",
                "wasmedge aot or jit",
                "node tiering or dynamic",
                "bun",
                "wazero compiler"
            ]
        );
    }
}
