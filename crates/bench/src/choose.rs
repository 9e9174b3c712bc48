//! From what the user wants to rows, and from rows to tasks.
//!
//! A [`Row`] is a sandbox or a kind of native code: one line of the table. The
//! tasks are rows × programs × threads, and controls of some rows on each program,
//! measured like any other: the difference between the two is the campaign's noise.

mod wanted;

use std::path::PathBuf;

use fathom_engine::Codegen;
use fathom_record::{Cell, Sandbox, Setting, Variant, protocol::Load};

use crate::{
    check::Expected,
    engines::{EngineSpec, Presence},
    mistyped::did_you_mean,
    own::OwnStrategy,
    plan::{Folder, Task},
    settings::{self, Choices, MissingValue},
};

pub use wanted::{Wanted, described};

/// Our engine's name in cells.
pub const OWN: &str = "fathom";
/// Native code's name in cells.
pub const NATIVE: &str = "native";
/// Native builds of most suites.
pub const NATIVES: [Variant; 2] = [Variant::Native, Variant::NativeTuned];
/// Position of our engine's driver.
pub const OWN_DRIVER: usize = 0;
/// Position of the driver for native code; outside engines follow.
pub const NATIVE_DRIVER: usize = 1;

/// What there is to choose from.
#[derive(Debug)]
pub struct Menu<'a> {
    /// Our strategies to measure, by name.
    pub own_strategies: &'a [String],
    /// The settings with which our engine is measured.
    pub own_settings: &'a Choices,
    /// What of these is not to be had, and why.
    pub missing_values: &'a [MissingValue],
    /// Further rows of ours where nothing is named.
    pub own_further: &'a [Wanted],
    /// Native builds that are measured where nothing is named. A suite has some, and then
    /// others may be named; a module has none.
    pub natives: &'a [Variant],
    /// The outside engines; the driver of the first is at position 2.
    pub outside: &'a [(EngineSpec, Presence)],
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The engine in its configuration.
    pub sandbox: Sandbox,
    /// For native code, which; the module's own variant otherwise.
    pub native: Option<Variant>,
    /// Position of its driver.
    pub driver: usize,
    /// Builds that its engine takes; none named: all there are.
    pub takes: Vec<Variant>,
    /// Whether its engine takes components.
    pub takes_components: bool,
}

/// Which builds of a program rows are measured on.
#[derive(Clone, Copy, Debug)]
pub enum Builds<'a> {
    /// Each of these that a row takes; all modules where it takes none: there is no
    /// other, and what its engine makes of a module it says best itself.
    Each(&'a [Variant]),
    /// The first of these that a row takes: what is best for it.
    First(&'a [Variant]),
}

impl Builds<'_> {
    /// Those of a row; none where its engine takes none of them.
    pub fn of(&self, row: &Row) -> Vec<Variant> {
        if let Some(native) = row.native {
            return vec![native];
        }
        let (Builds::Each(builds) | Builds::First(builds)) = self;
        let is_offered = |build: &Variant| *build != Variant::WasmComponent || row.takes_components;
        let is_taken = |build: &Variant| row.takes.is_empty() || row.takes.contains(build);
        let offered = builds.iter().copied().filter(is_offered);
        let mut taken = offered.clone().filter(is_taken);
        match self {
            Builds::Each(_) => {
                let taken: Vec<Variant> = taken.collect();
                match taken.is_empty() {
                    true => offered.collect(),
                    false => taken,
                }
            }
            Builds::First(_) => taken.next().into_iter().collect(),
        }
    }
}

/// How an engine's description says that our installer gets it.
const INSTALL: &str = "fathom engines install ";

/// Something wanted that cannot be measured here, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// The engine.
    pub engine: String,
    /// Why, and how to get it; one line.
    pub why: String,
    /// Whether the user asked for it by name.
    pub is_wanted: bool,
    /// What `fathom engines install` calls it, where that gets it.
    pub install: Option<String>,
}

/// The rows for these words, or for everything there is if there are none.
///
/// # Errors
/// One line about the first word which means nothing.
pub fn rows(wanted: &[Wanted], menu: &Menu<'_>) -> Result<(Vec<Row>, Vec<Absent>), String> {
    let everything: Vec<Wanted>;
    let is_wanted = !wanted.is_empty();
    let wanted = if is_wanted {
        wanted
    } else {
        everything = menu.everything();
        &everything
    };
    let (mut rows, mut absent) = (Vec::new(), Vec::new());
    for word in wanted {
        match word.engine.as_str() {
            OWN => own_rows(word, menu, is_wanted, &mut rows, &mut absent)?,
            name => match native_variant(name) {
                Some(variant) if !menu.natives.is_empty() => rows.push(native_row(word, variant)?),
                Some(_) => absent.push(Absent {
                    engine: word.name(),
                    why: "there is no native build of a module".into(),
                    is_wanted,
                    install: None,
                }),
                None => match outside_row(word, menu)? {
                    Ok(row) => rows.push(row),
                    Err((why, install)) => absent.push(Absent {
                        engine: word.name(),
                        why,
                        is_wanted,
                        install,
                    }),
                },
            },
        }
    }
    let mut seen = Vec::new();
    for row in &rows {
        if seen.contains(&row) {
            return Err(format!("{} is there twice", row.sandbox.id()));
        }
        seen.push(row);
    }
    two_names(&rows, menu)?;
    Ok((rows, absent))
}

/// Refuses two rows that would be one build under two names: they would be compared, and
/// nothing was.
fn two_names(rows: &[Row], menu: &Menu<'_>) -> Result<(), String> {
    let build = |row: &Row| {
        let outside = row.driver.checked_sub(NATIVE_DRIVER + 1)?;
        menu.outside.get(outside).map(|(spec, _)| &spec.command)
    };
    for (position, row) in rows.iter().enumerate() {
        let is_same = |other: &&Row| {
            let (one, other) = (&row.sandbox, &other.sandbox);
            (&one.strategy, &one.settings) == (&other.strategy, &other.settings)
        };
        let mut earlier = rows[..position].iter().filter(is_same);
        if let Some(other) =
            earlier.find(|other| build(row).is_some_and(|b| Some(b) == build(other)))
        {
            return Err(format!(
                "{} and {} are one build under two names",
                other.sandbox.id(),
                row.sandbox.id()
            ));
        }
    }
    Ok(())
}

impl Menu<'_> {
    fn everything(&self) -> Vec<Wanted> {
        let outside = self.outside.iter().map(|(spec, _)| spec);
        let pinned = outside.filter(|spec| spec.version.is_none() && spec.build.is_none());
        let outside = pinned.map(|spec| spec.name.as_str());
        let native = self.natives.iter().map(|variant| variant.name());
        let others = outside.chain(native).map(|name| Wanted {
            engine: name.to_owned(),
            ..Wanted::own()
        });
        let own = std::iter::once(Wanted::own());
        own.chain(self.own_further.iter().cloned())
            .chain(others)
            .collect()
    }
}

fn own_rows(
    word: &Wanted,
    menu: &Menu<'_>,
    is_wanted: bool,
    rows: &mut Vec<Row>,
    absent: &mut Vec<Absent>,
) -> Result<(), String> {
    let one;
    let strategies = match &word.strategy {
        Some(name) => {
            let known: Result<OwnStrategy, _> = name.parse();
            known.map_err(|error| format!("{word}: {error}"))?;
            one = [name.clone()];
            &one[..]
        }
        None => menu.own_strategies,
    };
    let named;
    let choices = match &word.backend {
        Some(name) => {
            let known = name.parse::<Codegen>();
            known.map_err(|error| format!("{word}: {error}"))?;
            named = menu.own_settings.clone().with(Setting::Codegen, &[name]);
            &named
        }
        None => menu.own_settings,
    };
    let plain = strategies
        .iter()
        .map(|strategy| own_row(strategy))
        .collect();
    let (own, lacking) = settings::rows(plain, choices, menu.missing_values);
    rows.extend(own);
    for lacking in lacking {
        let lacking = Absent {
            is_wanted,
            ..lacking
        };
        if !absent.contains(&lacking) {
            absent.push(lacking);
        }
    }
    Ok(())
}

fn own_row(strategy: &str) -> Row {
    Row {
        sandbox: Sandbox::new(OWN, strategy),
        native: None,
        driver: OWN_DRIVER,
        takes: Vec::new(),
        takes_components: false,
    }
}

/// The builds for the host, by their names as engines. GCC's is measured where
/// it is asked for.
fn native_variant(name: &str) -> Option<Variant> {
    let variant: Variant = name.parse().ok()?;
    (!variant.is_wasm()).then_some(variant)
}

fn native_row(word: &Wanted, variant: Variant) -> Result<Row, String> {
    if word.strategy.is_some() {
        return Err(format!("{word}: native code has no strategy"));
    }
    Ok(Row {
        sandbox: Sandbox::new(NATIVE, "none"),
        native: Some(variant),
        driver: NATIVE_DRIVER,
        takes: Vec::new(),
        takes_components: false,
    })
}

/// Why an engine is not to be had, and what its installer calls it.
type NotHere = (String, Option<String>);

/// The inner error is why an engine which is known is not to be had.
fn outside_row(word: &Wanted, menu: &Menu<'_>) -> Result<Result<Row, NotHere>, String> {
    let found = menu.outside.iter().position(|(spec, _)| word.is(spec));
    let Some(position) = found else {
        let known: Vec<_> = menu.everything().iter().map(ToString::to_string).collect();
        return Err(format!(
            "no engine `{}`; there are: {}{}",
            word.engine,
            known.join(" "),
            did_you_mean(&word.engine, known.iter().map(String::as_str))
        ));
    };
    let (spec, presence) = &menu.outside[position];
    let offered = |kind: &str, name: &Option<String>, list: &[String]| match name {
        Some(name) if !list.contains(name) => Err(format!(
            "{word}: {} has no {kind} `{name}`; it has: {}",
            spec.name,
            list.join(" ")
        )),
        Some(name) => Ok(Some(name.clone())),
        None => Ok(list.first().cloned()),
    };
    let strategy = offered("strategy", &word.strategy, &spec.strategies)?.unwrap_or_default();
    let backend = offered("backend", &word.backend, &spec.backends)?;
    if let Presence::Absent { why } = presence {
        let install = spec.absent.strip_prefix(INSTALL).map(str::to_owned);
        let why = spec.not_here(why);
        return Ok(Err((why, install)));
    }
    let sandbox = Sandbox {
        version: spec.version.clone(),
        ..Sandbox::new(&spec.name, &strategy)
    };
    Ok(Ok(Row {
        sandbox: match &backend {
            Some(backend) => sandbox.with(Setting::Codegen, backend),
            None => sandbox,
        },
        native: None,
        driver: NATIVE_DRIVER + 1 + position,
        takes: spec.variants.clone(),
        takes_components: spec.components,
    }))
}

/// A program at one size, however it was built.
pub struct Program<'a> {
    /// Its suite; `module` for a user's own.
    pub suite: String,
    /// Its name.
    pub name: String,
    /// The size; empty where there is none.
    pub size: String,
    /// Its arguments after its own name.
    pub args: Vec<String>,
    /// Where it is, by variant.
    pub artifact: Box<dyn Fn(Variant) -> PathBuf + 'a>,
    /// What it must print.
    pub expected: Expected,
    /// Its working folder, where it has one.
    pub folder: Option<Folder>,
    /// Whether its compilation is to be found in a cache.
    pub is_cached: bool,
    /// Bytes of the stack of a continuation; the engine's own if absent.
    pub stack_bytes: Option<u64>,
    /// The load that it is put under, where it is a server.
    pub load: Option<Load>,
}

/// Which rows are measured a second time under another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controls {
    /// The first of all.
    First,
    /// The first of all, and of native code: the two that everything is compared with.
    FirstAndNative,
}

impl Controls {
    /// Whether the row at a position has a control.
    fn has(self, rows: &[Row], position: usize) -> bool {
        let is_native = |row: &Row| row.native.is_some();
        let first_native = rows.iter().position(is_native);
        match self {
            Controls::First => position == 0,
            Controls::FirstAndNative => position == 0 || first_native == Some(position),
        }
    }

    /// Whether rows are compared with each other by them.
    pub fn compares(self) -> bool {
        self == Controls::FirstAndNative
    }
}

/// The tasks of rows on programs, with their controls.
pub fn tasks(
    rows: &[Row],
    programs: &[Program<'_>],
    builds: &Builds<'_>,
    threads: &[u32],
    controls: Controls,
) -> Vec<Task> {
    let mut tasks = Vec::new();
    for program in programs {
        for &count in threads {
            for (position, row) in rows.iter().enumerate() {
                for variant in builds.of(row) {
                    let task = task(row, program, variant, count);
                    let control = task.cell.control();
                    tasks.push(task.clone());
                    if controls.has(rows, position) {
                        tasks.push(Task {
                            cell: control,
                            ..task
                        });
                    }
                }
            }
        }
    }
    tasks
}

fn task(row: &Row, program: &Program<'_>, variant: Variant, threads: u32) -> Task {
    Task {
        cell: Cell {
            sandbox: row.sandbox.clone(),
            suite: program.suite.clone(),
            workload: program.name.clone(),
            variant,
            size: program.size.clone(),
            threads,
            control_of: None,
        },
        driver: row.driver,
        artifact: (program.artifact)(variant),
        args: program.args.clone(),
        expected: program.expected.clone(),
        folder: program.folder.clone(),
        is_cached: program.is_cached,
        stack_bytes: program.stack_bytes,
        load: program.load.clone(),
    }
}

#[cfg(test)]
mod tests;
