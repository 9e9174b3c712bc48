//! The settings of our engine where rows are planned and the engine is made: nobody else
//! here asks which setting it is.
//!
//! ```text
//!  Choices ─▶ rows: each by the setting's rule ─▶ Settings of a Sandbox ─▶ Config
//! ```
//!
//! What must stay true: a row that would be a second one of the same is not made, and a
//! value that changes nothing in any row is said to do so.

use std::collections::BTreeMap;

use fathom_engine::{Bounds, BoundsChoice, Compilation, Config, Engine, Module};
use fathom_record::{Sandbox, Setting, Settings, setting::Rule};
use serde::{Deserialize, Serialize};

use crate::{
    choose::{Absent, OWN, Row},
    own::OwnStrategy,
};

/// The values that were named of each setting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choices {
    named: BTreeMap<Setting, Vec<String>>,
    is_exact: bool,
}

impl Choices {
    /// With these values of a setting, and no others.
    #[must_use]
    pub fn with<T: ToString>(mut self, setting: Setting, values: &[T]) -> Choices {
        let values = values.iter().map(T::to_string);
        self.named.insert(setting, values.collect());
        self
    }

    /// With what another names, where it names something.
    pub fn override_by(&mut self, other: &Choices) {
        self.named.extend(other.named.clone());
        self.is_exact |= other.is_exact;
    }

    /// The same for rows that are there once each: they are measured with the values and
    /// not without. None if several are named of one.
    ///
    /// # Errors
    /// The setting of which several are named.
    pub fn exact(self) -> Result<Choices, Setting> {
        match self.named.iter().find(|(_, values)| values.len() > 1) {
            Some((setting, _)) => Err(*setting),
            None => Ok(Choices {
                is_exact: true,
                ..self
            }),
        }
    }

    /// The values that are named of a setting.
    pub fn of(&self, setting: Setting) -> &[String] {
        self.named.get(&setting).map_or(&[], Vec::as_slice)
    }

    /// The settings of which values are named.
    pub fn settings(&self) -> impl Iterator<Item = Setting> {
        self.named.keys().copied()
    }

    fn rule(&self, setting: Setting) -> Rule {
        match self.is_exact {
            true => Rule::Multiply,
            false => setting.rule(),
        }
    }
}

/// A value of a setting that is not to be had here, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingValue {
    /// The setting.
    pub setting: Setting,
    /// Its value.
    pub value: String,
    /// Why, and what to do about it; one line.
    pub why: String,
}

/// Settings with a value that somebody named: what is so anyway is not recorded.
pub fn set(settings: Settings, setting: Setting, value: &str) -> Settings {
    match value == setting.default() {
        true => settings.without(setting),
        false => settings.with(setting, value),
    }
}

/// Rows of our engine by what was named of its settings, and what of that cannot be
/// measured.
pub fn rows(
    rows: Vec<Row>,
    choices: &Choices,
    missing: &[MissingValue],
) -> (Vec<Row>, Vec<Absent>) {
    let mut absent = Vec::new();
    let all = Setting::ALL.iter().copied();
    let rows = all.fold(rows, |rows, setting| {
        let is_here = |value: &&String| {
            let is_it = |one: &&MissingValue| one.setting == setting && one.value == **value;
            let one = missing.iter().find(is_it);
            absent.extend(one.map(|one| absent_value(setting, value, one.why.clone())));
            one.is_none()
        };
        let named = choices.of(setting);
        let values: Vec<&String> = named.iter().filter(is_here).collect();
        match choices.rule(setting) {
            _ if named.is_empty() => rows,
            Rule::Multiply => multiplied(&rows, setting, &values),
            Rule::Beside => {
                let (rows, idle) = beside(rows, setting, &values);
                absent.extend(idle);
                rows
            }
        }
    });
    (rows, absent)
}

/// Each row with each value.
fn multiplied(rows: &[Row], setting: Setting, values: &[&String]) -> Vec<Row> {
    let each = values.iter().flat_map(|value| {
        let with = |row: &Row| with(row, setting, value);
        rows.iter().map(with)
    });
    each.collect()
}

/// Each row, and behind it the same with each value that changes something.
fn beside(rows: Vec<Row>, setting: Setting, values: &[&String]) -> (Vec<Row>, Vec<Absent>) {
    let mut all = Vec::new();
    let mut used = Vec::new();
    let mut others: Vec<&String> = Vec::new();
    for value in values {
        if *value != setting.default() && !others.contains(value) {
            others.push(value);
        }
    }
    for row in rows {
        let changed = others
            .iter()
            .map(|value| (*value, with(&row, setting, value)));
        let changed: Vec<_> = changed
            .filter(|(_, row)| has_effect(&row.sandbox))
            .collect();
        used.extend(changed.iter().map(|(value, _)| *value));
        all.push(row);
        all.extend(changed.into_iter().map(|(_, row)| row));
    }
    let idle = others.into_iter().filter(|value| !used.contains(value));
    let why = "it changes nothing under the strategies that are measured";
    let idle = idle.map(|value| absent_value(setting, value, why.to_owned()));
    (all, idle.collect())
}

fn with(row: &Row, setting: Setting, value: &str) -> Row {
    let mut row = row.clone();
    row.sandbox.settings = set(row.sandbox.settings, setting, value);
    row
}

fn absent_value(setting: Setting, value: &str, why: String) -> Absent {
    let said = Settings::new().with(setting, value).said().join(" ");
    Absent {
        engine: format!("{OWN} {said}"),
        why,
        is_wanted: false,
        install: None,
    }
}

/// Whether what was named of a sandbox of ours makes other code than without, of memories
/// of some width.
fn has_effect(sandbox: &Sandbox) -> bool {
    [false, true]
        .iter()
        .any(|&memory64| has_effect_on(sandbox, memory64))
}

/// Whether it does, of memories of this width.
pub fn has_effect_on(sandbox: &Sandbox, memory64: bool) -> bool {
    let own: Option<OwnStrategy> = sandbox.strategy.parse().ok();
    if sandbox.settings.get(Setting::Compilation).is_some() && !is_lazy(sandbox, own.as_ref()) {
        return false;
    }
    match (sandbox.settings.get(Setting::Elide), own) {
        (None, _) => true,
        (Some(_), Some(own)) => match own.choice {
            BoundsChoice::Named(bounds) => leaves_checks_out(bounds, memory64),
            BoundsChoice::Auto => false,
        },
        (Some(_), None) => false,
    }
}

/// Whether functions are compiled lazily where that is asked for, and only there.
fn is_lazy(sandbox: &Sandbox, own: Option<&OwnStrategy>) -> bool {
    let Ok(codegen) = sandbox.settings.value(Setting::Codegen).parse() else {
        return false;
    };
    let is_followed = |compilation| {
        let config = Config::new()
            .codegen(codegen)
            .compilation(compilation)
            .bounds(own.map_or(BoundsChoice::Auto, |own| own.choice))
            .allow_unchecked(true);
        Engine::new(&config).is_ok_and(|engine| engine.compilation() == compilation)
    };
    Compilation::ALL.into_iter().all(is_followed)
}

/// Whether a strategy leaves the check of an access out that comes a second time:
/// asked of the engine, with memories of either width.
fn leaves_checks_out(bounds: Bounds, memory64: bool) -> bool {
    let index = if memory64 { "i64" } else { "i32" };
    let twice = format!(
        "(module (memory {index} 1) (func (param {index})
           (i32.store (local.get 0) (i32.load (local.get 0)))))"
    );
    let config = Config::new()
        .bounds(BoundsChoice::Named(bounds))
        .allow_unchecked(true)
        .count(true);
    let compile = || {
        let engine = Engine::new(&config).ok()?;
        Module::new(&engine, &wat::parse_str(&twice).ok()?).ok()
    };
    bounds.supports(memory64) && compile().is_some_and(|module| module.check_sites().left_out > 0)
}

/// The engine's configuration with these settings.
///
/// # Errors
/// A value that the engine does not have; one line.
pub fn config(config: Config, settings: &Settings) -> Result<Config, String> {
    let mut all = Setting::ALL.iter().copied();
    all.try_fold(config, |config, setting| {
        let value = settings.value(setting);
        configured(config, setting, value)
    })
}

fn configured(config: Config, setting: Setting, value: &str) -> Result<Config, String> {
    Ok(match setting {
        Setting::Opt => config.opt(value.parse().map_err(said)?),
        Setting::Codegen => config.codegen(value.parse().map_err(said)?),
        Setting::Compilation => config.compilation(value.parse().map_err(said)?),
        Setting::Elide => config.elide(value.parse().map_err(said)?),
        Setting::Spectre => config.spectre(value == "on"),
    })
}

/// Whether an engine's code is by the generator that was asked for: tiers are none where nothing
/// can be compiled lazily.
///
/// # Errors
/// Why it is another's, in one line.
pub fn in_force(engine: &Engine, settings: &Settings) -> Result<(), String> {
    let codegen = settings.value(Setting::Codegen);
    other_generator(engine, codegen).map_or(Ok(()), Err)
}

/// Why an engine's code generator is not the one of this name, in one line.
pub fn other_generator(engine: &Engine, codegen: &str) -> Option<String> {
    (engine.codegen().name() != codegen).then(|| {
        let why = engine.not_lazy().unwrap_or("it is not supported here");
        format!("code generator '{codegen}' compiles lazily: {why}")
    })
}

fn said(error: impl ToString) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::OWN_DRIVER;

    fn row(strategy: &str) -> Row {
        Row {
            sandbox: Sandbox::new(OWN, strategy),
            native: None,
            driver: OWN_DRIVER,
            takes: Vec::new(),
            takes_components: false,
        }
    }

    #[test]
    fn tiers_that_are_not_in_force_are_none() {
        let tiered = Settings::new().with(Setting::Codegen, "tiered");
        let asked = config(Config::new(), &tiered).unwrap();
        let folder = std::env::temp_dir();
        let cached = Engine::new(&asked.clone().cache_dir(Some(folder))).unwrap();
        let why = in_force(&cached, &tiered).unwrap_err();
        assert!(
            why.starts_with("code generator 'tiered' compiles lazily: "),
            "{why}"
        );
        let engine = Engine::new(&asked).unwrap();
        let is_there = engine.compilation() == Compilation::Lazy;
        assert_eq!(in_force(&engine, &tiered).is_ok(), is_there);
    }

    fn ids(rows: &[Row]) -> Vec<String> {
        let ids = rows.iter().map(|row| row.sandbox.id().to_string());
        ids.collect()
    }

    #[test]
    fn every_value_of_every_setting_is_one_of_the_engine() {
        for setting in Setting::ALL {
            for choice in setting.choices() {
                let settings = Settings::new().with(*setting, choice.name);
                config(Config::new(), &settings).unwrap();
            }
        }
        let unknown = Settings::new().with(Setting::Codegen, "liftoff");
        assert!(config(Config::new(), &unknown).is_err());
        let generators: Vec<_> = Setting::Codegen.choices().iter().collect();
        let all = fathom_engine::Codegen::ALL.map(|one| (one.name(), one.help()));
        assert_eq!(generators.len(), all.len());
        for (choice, (name, help)) in generators.iter().zip(all) {
            assert_eq!((choice.name, choice.help), (name, help));
        }
    }

    #[test]
    fn each_setting_has_its_rule() {
        let choices = Choices::default()
            .with(Setting::Opt, &["speed", "none"])
            .with(Setting::Spectre, &["on", "off", "off"]);
        let (all, absent) = rows(vec![row("guard")], &choices, &[]);
        let expected = [
            "fathom/guard/speed",
            "fathom/guard/speed~spectre-off",
            "fathom/guard/none",
            "fathom/guard/none~spectre-off",
        ];
        assert_eq!(
            (ids(&all), absent.len()),
            (expected.map(str::to_owned).to_vec(), 0)
        );
        let one = Choices::default().with(Setting::Spectre, &["off"]);
        let (all, _) = rows(vec![row("guard")], &one.exact().unwrap(), &[]);
        assert_eq!(ids(&all), ["fathom/guard/speed~spectre-off"]);
        assert_eq!(choices.exact(), Err(Setting::Opt));
    }

    #[test]
    fn no_two_rows_are_the_same_whatever_is_named() {
        let every = Setting::ALL
            .iter()
            .fold(Choices::default(), |all, setting| {
                let names: Vec<_> = setting.choices().iter().map(|one| one.name).collect();
                all.with(*setting, &names)
            });
        let (all, _) = rows(vec![row("guard"), row("trap")], &every, &[]);
        let mut ids = ids(&all);
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }

    #[test]
    fn what_changes_nothing_is_said_and_not_measured() {
        let choices = Choices::default().with(Setting::Elide, &["off"]);
        let some = vec![row("auto"), row("trap"), row("guard")];
        let (all, absent) = rows(some, &choices, &[]);
        let expected = ["auto/speed", "trap/speed", "trap/speed~off", "guard/speed"];
        assert_eq!(ids(&all), expected.map(|id| format!("{OWN}/{id}")));
        assert!(absent.is_empty());
        let (all, absent) = rows(vec![row("guard")], &choices, &[]);
        assert_eq!(all.len(), 1);
        assert_eq!(absent[0].engine, "fathom --elide off");
    }

    #[test]
    fn rows_with_fewer_checks_left_out_are_of_strategies_that_can() {
        for (strategy, narrow, wide) in [
            (Bounds::Trap, true, true),
            (Bounds::GUARD64, false, true),
            (Bounds::Guard, false, false),
            (Bounds::None, false, false),
        ] {
            assert_eq!(leaves_checks_out(strategy, false), narrow, "{strategy}");
            assert_eq!(leaves_checks_out(strategy, true), wide, "{strategy}");
        }
    }
}
