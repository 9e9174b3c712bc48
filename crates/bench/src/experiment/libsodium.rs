//! What libsodium's own programs take on every engine, by group; and what "Performance of
//! WebAssembly runtimes in 2023" measured of them.
//!
//! ```text
//!  libsodium       every engine, each of its code generators; our `auto`; native code,
//!                  portable and with what the library has for this machine
//!  libsodium-2023  the 2023 study's engines, compiling as it had them; the same ours
//!  × the best build that an engine takes, of those that are asked for
//! ```
//!
//! What must stay true: what the 2023 study had and is not to be had here is absent with the
//! reason.

use std::time::Duration;

use fathom_record::{Experiment, Variant};

use super::{
    Command, Design, Environment, Measured,
    design::plain,
    measured::{answered, names, size, suite},
};
use crate::{
    choose::{Absent, Builds, NATIVE, OWN, Wanted},
    engines::EngineSpec,
    request::{RequestError, Strategies},
};

/// The 2023 study's build has bulk memory and no vectors; older engines take the other.
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
/// The 2023 study's engines, by the names they would have here, and which of their code
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

/// How a library's programs are measured; interpreters meet scrypt.
const LIBRARY: Design = Design {
    budget: Design::BUDGET_LONG,
    limit: Duration::from_secs(300),
    iterations: 1,
    builds: |builds| Builds::First(builds),
    ..Design::USUAL
};

/// How it is measured.
pub(super) static DESIGN: Design = Design {
    experiment: Experiment::Libsodium,
    command: Some(Command::Suite),
    help: "How fast libsodium's own programs run, by group",
    about: "`libsodium`: 92 of the library's own programs in fifteen groups, on every engine with \
            each of its code generators and as native code, compared with the median engine and \
            with native code. The page is written as library.html, .md and .csv. Needs `python3 \
            workloads/build.py --suite libsodium`; for modules after wasm-opt -O4 add \
            `--variant wasm-opt`.",
    measured: |env| measured(env, "libsodium"),
    wanted: |env| wanted(env, |spec| Some(spec.backends.iter().collect())),
    ..LIBRARY
};

/// How it is measured on the 2023 study's engines.
pub(super) static DESIGN_2023: Design = Design {
    experiment: Experiment::Libsodium2023,
    command: Some(Command::Reproduce),
    help: "Performance of WebAssembly runtimes in 2023: libsodium on each of them",
    about: "`libsodium-2023`: Denis: Performance of WebAssembly runtimes in 2023. libsodium's own \
            programs in the study's groups, on those of its engines that are installed, compared \
            with the median engine and with native code. Needs `python3 workloads/build.py --suite \
            libsodium`. The study optimised its modules with wasm-opt -O4: build them with \
            `--variant wasm-opt` and measure them with --variant wasm-opt,wasm-mvp.",
    measured: |env| measured(env, "libsodium-2023"),
    wanted: |env| wanted(env, of_seed),
    absent: |env| Ok(not_to_be_had(env)),
    ..LIBRARY
};

fn measured(env: &Environment<'_>, title: &str) -> Result<Measured, RequestError> {
    let request = env.request;
    let (size, names) = (size(request), names(request, &QUICK));
    let programs = answered(&suite(env.suites()?, "libsodium")?, &names, &size)?;
    Ok(Measured {
        variants: BUILDS.to_vec(),
        strategies: vec![Strategies::AUTO],
        ..Measured::new(format!("{title}-{size}"), programs)
    })
}

/// The engines to measure: those that were named, or all there are that have code
/// generators for it, with each of them.
fn wanted(
    env: &Environment<'_>,
    generators: impl Fn(&EngineSpec) -> Option<Vec<&String>>,
) -> Vec<Wanted> {
    if !env.request.engines.is_empty() {
        return env.request.engines.clone();
    }
    let mut wanted = vec![plain(OWN)];
    for (spec, _) in env.outside {
        match generators(spec) {
            None => {}
            Some(backends) if backends.is_empty() => wanted.push(plain(&spec.name)),
            Some(backends) => wanted.extend(backends.into_iter().map(|one| Wanted {
                backend: Some(one.clone()),
                ..plain(&spec.name)
            })),
        }
    }
    wanted.extend([NATIVE, "native-tuned"].map(plain));
    wanted
}

/// The code generators of an engine that the 2023 study ran; `None` for other engines.
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
    // An engine that has none of them has no place in the 2023 study's picture.
    (!found.is_empty()).then_some(found)
}

/// What the 2023 study measured and is not to be had here.
fn not_to_be_had(env: &Environment<'_>) -> Vec<Absent> {
    let mut absent = Vec::new();
    for (name, generators) in OF_SEED {
        let spec = env.outside.iter().find(|(spec, _)| spec.name == name);
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
                install: None,
            });
        }
        if generators.is_empty() && spec.is_none() {
            absent.push(Absent {
                engine: name.to_owned(),
                why: why.to_owned(),
                is_wanted: false,
                install: None,
            });
        }
    }
    absent
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::{engines::Presence, experiment::Subject, request::Request};

    fn spec(name: &str, backends: &[&str]) -> (EngineSpec, Presence) {
        let backends = backends.iter().map(|name| (*name).to_owned()).collect();
        let spec = EngineSpec {
            name: name.to_owned(),
            display: name.to_owned(),
            command: vec![name.to_owned()],
            check: vec![name.to_owned()],
            strategies: vec!["guard".to_owned()],
            backends,
            ..EngineSpec::default()
        };
        let says = name.to_owned();
        (spec, Presence::Installed { says })
    }

    fn request(command: Command, name: &str) -> Request {
        let subject = Subject::named(command, name).unwrap();
        Request::new(subject, PathBuf::from("/"))
    }

    fn environment<'a>(
        request: &'a Request,
        outside: &'a [(EngineSpec, Presence)],
    ) -> Environment<'a> {
        Environment {
            request,
            home: None,
            outside,
        }
    }

    fn words(request: &Request, outside: &[(EngineSpec, Presence)]) -> String {
        let wanted = (request.subject.design().wanted)(&environment(request, outside));
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
        let mut request = request(Command::Suite, "libsodium");
        assert_eq!(
            words(&request, &outside),
            "fathom wasmtime/cranelift wasmtime/winch old native native-tuned"
        );
        request.engines = vec![plain(NATIVE)];
        assert_eq!(words(&request, &outside), "native");
    }

    #[test]
    fn the_seeds_engines_are_measured_as_it_had_them() {
        let request = request(Command::Reproduce, "libsodium-2023");
        let outside = [
            spec("wasmtime", &["cranelift", "winch"]),
            spec("wasmer", &["cranelift", "singlepass"]),
            spec("wasm3", &[]),
            spec("wamr", &["fast", "classic"]),
            spec("wasm2c", &["gcc", "clang"]),
        ];
        assert_eq!(
            words(&request, &outside),
            "fathom wasmtime/cranelift wasmer/cranelift wasmer/singlepass wasm2c/clang native \
             native-tuned"
        );
        let absent = not_to_be_had(&environment(&request, &outside));
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
