//! What tables call their rows: all that tells the shown ones apart, and no more.
//!
//! ```text
//!  ENGINE [VERSION] [STRATEGY] [GENERATOR] [--SETTING VALUE]… [· BUILD]
//! ```
//!
//! A setting is said where something was named of it, a build where the same sandbox is
//! there in several, the strategy always or where an engine has several rows.
//!
//! What must stay true: two rows that differ have two names, whatever their parts are
//! called. Nobody else makes a name of a sandbox.

use std::collections::{BTreeMap, BTreeSet};

use crate::cell::Sandbox;
use crate::vocabulary::Variant;

/// The names of the rows that a table shows.
#[derive(Clone, Debug, Default)]
pub struct Names(BTreeMap<Row, Parts>);

/// A sandbox on a build; on none where the table says by other means what was built.
type Row = (Sandbox, Option<Variant>);

/// A name in two parts: tables set them apart.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    engine: String,
    detail: String,
    /// In one.
    name: String,
}

/// How much is said where nothing less would do too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Say {
    /// The engine alone where it has one row.
    Engine,
    /// The strategy always.
    Strategy,
    /// And the build of every row where rows differ in it.
    Build,
}

impl Names {
    /// Rows with their strategies.
    pub fn of<'a>(rows: impl IntoIterator<Item = (&'a Sandbox, Option<Variant>)>) -> Names {
        Names::saying(Say::Strategy, rows)
    }

    /// Rows by their engines alone, where an engine has one row.
    pub fn short<'a>(rows: impl IntoIterator<Item = (&'a Sandbox, Option<Variant>)>) -> Names {
        Names::saying(Say::Engine, rows)
    }

    /// Rows with their strategies, and their builds where not all have the same.
    pub fn with_builds<'a>(
        rows: impl IntoIterator<Item = (&'a Sandbox, Option<Variant>)>,
    ) -> Names {
        Names::saying(Say::Build, rows)
    }

    /// A sandbox by itself, whatever is measured on it.
    pub fn sandbox(sandbox: &Sandbox) -> String {
        Names::of([(sandbox, None)]).name(sandbox, None)
    }

    /// One row by itself.
    pub fn one(sandbox: &Sandbox, build: Variant) -> String {
        Names::of([(sandbox, Some(build))]).name(sandbox, Some(build))
    }

    fn saying<'a>(
        say: Say,
        rows: impl IntoIterator<Item = (&'a Sandbox, Option<Variant>)>,
    ) -> Names {
        let rows: BTreeSet<Row> = rows
            .into_iter()
            .map(|(sandbox, build)| (sandbox.clone(), build))
            .collect();
        let builds: BTreeSet<_> = rows.iter().filter_map(|(_, build)| wasm(*build)).collect();
        let named = rows.iter().map(|row| {
            let (sandbox, build) = row;
            let others = || rows.iter().filter(|other| *other != row);
            let has_twin = others().any(|(other, _)| other == sandbox);
            let has_sister = others().any(|(other, build)| {
                other.engine == sandbox.engine
                    && other != sandbox
                    && build.is_none_or(Variant::is_wasm)
            });
            let parts = Parts::of(
                sandbox,
                *build,
                say != Say::Engine || has_sister,
                has_twin || say == Say::Build && builds.len() > 1,
            );
            (row.clone(), parts)
        });
        let mut names = Names(named.collect());
        names.tell_apart();
        names
    }

    /// Gives rows whose parts only look alike their ids.
    fn tell_apart(&mut self) {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for parts in self.0.values() {
            *seen.entry(parts.name.clone()).or_default() += 1;
        }
        for ((sandbox, build), parts) in &mut self.0 {
            if seen[&parts.name] > 1 {
                let build = build.map(|build| format!(" {build}")).unwrap_or_default();
                let id = format!("({}{build})", sandbox.id());
                parts.detail = joined([&parts.detail, &id], " ");
                parts.name = joined([&parts.name, &id], " ");
            }
        }
    }

    /// The name of a row; all there is to say of one that is not there.
    pub fn name(&self, sandbox: &Sandbox, build: Option<Variant>) -> String {
        self.parts(sandbox, build).name
    }

    /// Its engine, and what else tells it apart, which may be nothing.
    pub fn engine_and_detail(&self, sandbox: &Sandbox, build: Option<Variant>) -> (String, String) {
        let Parts { engine, detail, .. } = self.parts(sandbox, build);
        (engine, detail)
    }

    fn parts(&self, sandbox: &Sandbox, build: Option<Variant>) -> Parts {
        let known = self.0.get(&(sandbox.clone(), build));
        let whole = || Parts::of(sandbox, build, true, true);
        known.cloned().unwrap_or_else(whole)
    }
}

impl Parts {
    fn of(
        sandbox: &Sandbox,
        build: Option<Variant>,
        says_strategy: bool,
        says_build: bool,
    ) -> Parts {
        let engine = match &sandbox.version {
            Some(version) => format!("{} {version}", sandbox.engine),
            None => sandbox.engine.clone(),
        };
        if let Some(native) = build.filter(|build| !build.is_wasm()) {
            return Parts {
                engine,
                detail: native.aside(true).to_owned(),
                name: native.name().to_owned(),
            };
        }
        let strategy = says_strategy.then(|| sandbox.strategy.clone());
        let words: Vec<String> = strategy
            .into_iter()
            .chain(sandbox.settings.said())
            .collect();
        let aside = build.map_or("", |build| build.aside(says_build));
        let detail = joined([&words.join(" "), aside], " · ");
        // Behind the engine alone a build stands apart, too.
        let between = if words.is_empty() { " · " } else { " " };
        Parts {
            name: joined([&engine, &detail], between),
            engine,
            detail,
        }
    }
}

/// A build of WebAssembly.
fn wasm(build: Option<Variant>) -> Option<Variant> {
    build.filter(|build| build.is_wasm())
}

fn joined<T: AsRef<str>>(parts: [T; 2], between: &str) -> String {
    let parts: Vec<&str> = parts
        .iter()
        .map(AsRef::as_ref)
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(between)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Setting;

    const BUILD: Option<Variant> = Some(Variant::Wasm);

    fn names(names: &Names, rows: &[(Sandbox, Option<Variant>)]) -> Vec<String> {
        rows.iter()
            .map(|(sandbox, build)| names.name(sandbox, *build))
            .collect()
    }

    fn of(rows: &[(Sandbox, Option<Variant>)]) -> Vec<String> {
        names(
            &Names::of(rows.iter().map(|(one, build)| (one, *build))),
            rows,
        )
    }

    fn short(rows: &[(Sandbox, Option<Variant>)]) -> Vec<String> {
        let all = Names::short(rows.iter().map(|(one, build)| (one, *build)));
        names(&all, rows)
    }

    #[test]
    fn no_two_rows_have_the_same_name_whatever_their_settings_are() {
        let mut rows = Vec::new();
        for engine in ["fathom", "node"] {
            for strategy in ["guard", "trap"] {
                let mut combined = vec![Sandbox::new(engine, strategy)];
                for setting in Setting::ALL {
                    let more: Vec<Sandbox> = combined
                        .iter()
                        .flat_map(|one| {
                            let choices = setting.choices().iter();
                            choices.map(|choice| one.clone().with(*setting, choice.name))
                        })
                        .filter(|other| !combined.contains(other))
                        .collect();
                    combined.extend(more);
                }
                for sandbox in combined {
                    rows.extend(
                        [Variant::Wasm, Variant::WasmSimd, Variant::WasmOpt]
                            .map(|build| (sandbox.clone(), Some(build))),
                    );
                }
            }
        }
        for all in [of(&rows), short(&rows)] {
            let different: BTreeSet<&String> = all.iter().collect();
            assert_eq!(different.len(), rows.len());
        }
    }

    #[test]
    fn a_name_says_what_tells_rows_apart_and_no_more() {
        let guard = Sandbox::new("fathom", "guard");
        let off = guard.clone().with(Setting::Spectre, "off");
        let llvm = off.clone().with(Setting::Codegen, "llvm");
        let node = Sandbox::new("node", "guard");
        let rows = [&guard, &off, &llvm, &node].map(|one| (one.clone(), BUILD));
        let expected = [
            "fathom guard",
            "fathom guard --spectre off",
            "fathom guard llvm --spectre off",
        ];
        assert_eq!(of(&rows)[..3], expected);
        assert_eq!(of(&rows)[3], "node guard");
        assert_eq!(short(&rows)[..3], expected);
        assert_eq!(short(&rows)[3], "node");
        assert_eq!(short(&rows[..1]), ["fathom"]);
        let mut old = node.clone();
        old.version = Some("22".to_owned());
        assert_eq!(
            of(&[(node, BUILD), (old, BUILD)]),
            ["node guard", "node 22 guard"]
        );
    }

    #[test]
    fn builds_are_said_where_they_differ() {
        let guard = Sandbox::new("fathom", "guard");
        let simd = Some(Variant::WasmSimd);
        let both = [(guard.clone(), BUILD), (guard.clone(), simd)];
        assert_eq!(of(&both), ["fathom guard · no SIMD", "fathom guard · SIMD"]);
        let two = [
            (guard.clone(), BUILD),
            (Sandbox::new("node", "guard"), simd),
        ];
        assert_eq!(of(&two), ["fathom guard", "node guard"]);
        let all = Names::with_builds(two.iter().map(|(one, build)| (one, *build)));
        assert_eq!(
            names(&all, &two),
            ["fathom guard · no SIMD", "node guard · SIMD"]
        );
        let native = Sandbox::new("native", "none");
        let tuned = Some(Variant::NativeTuned);
        assert_eq!(of(&[(native.clone(), tuned)]), ["native-tuned"]);
        let parts = Names::of([(&native, tuned)]).engine_and_detail(&native, tuned);
        assert_eq!(
            parts,
            ("native".to_owned(), "tuned for this CPU".to_owned())
        );
        let opt = Some(Variant::WasmOpt);
        assert_eq!(short(&[(guard, opt)]), ["fathom · wasm-opt -O4"]);
    }

    #[test]
    fn rows_that_only_look_alike_are_told_apart() {
        let one = Sandbox::new("node", "guard").with(Setting::Codegen, "liftoff");
        let other = Sandbox::new("node", "guard liftoff");
        let names = of(&[(one, BUILD), (other, BUILD)]);
        assert_ne!(names[0], names[1], "{names:?}");
    }
}
