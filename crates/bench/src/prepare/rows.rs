//! The rows of a campaign: what was asked for, and what an engine takes.
//!
//! What must stay true: nothing is left out without a word. What has no row is absent, with the
//! reason, and with what would help where something would.

use fathom_engine::Codegen;
use fathom_record::Variant;

use crate::{
    choose::{self, Absent, Builds, Menu, NATIVE_DRIVER, OWN, Row, Wanted},
    engines,
    experiment::{Design, Environment, Measured},
    generator,
    instructions::Counter,
    request::{Request, RequestError, ensure},
};

/// Why an engine has no row for a component.
const NO_COMPONENTS: &str = "no components";

/// The lines of the table, and what cannot be one.
pub(super) fn rows(
    env: &Environment<'_>,
    measured: &Measured,
    counter: Option<&Counter>,
) -> Result<(Vec<Row>, Vec<Absent>), RequestError> {
    let (request, design) = (env.request, env.request.subject.design());
    let (own_strategies, lacking) = (design.strategies)(request, measured)?;
    let wanted = (design.wanted)(env);
    let own_further = match wanted.is_empty() && request.settings.settings().next().is_none() {
        true => further(design, measured, &own_strategies),
        false => Vec::new(),
    };
    let words = [&wanted[..], &own_further].concat();
    let missing_values = generator::missing(&measured.settings, &words, env.home);
    let menu = Menu {
        own_strategies: &own_strategies,
        own_settings: &measured.settings,
        missing_values: &missing_values,
        own_further: &own_further,
        natives: &measured.natives,
        outside: env.outside,
    };
    let (mut rows, mut absent) = choose::rows(&wanted, &menu).map_err(RequestError::Refused)?;
    if request.engines.is_empty() {
        // The experiment's own list is a wish, not a demand.
        absent
            .iter_mut()
            .for_each(|absent| absent.is_wanted = false);
    }
    if measured.variants == [Variant::WasmComponent] {
        // Installing it would not help.
        for (spec, _) in env.outside.iter().filter(|(spec, _)| !spec.components) {
            let named = absent.iter_mut().filter(|one| one.engine == spec.id());
            named.for_each(|one| (one.why, one.install) = (NO_COMPONENTS.to_owned(), None));
        }
    }
    let is_of_all = |word: &Wanted| word.engine == OWN && word.strategy.is_none();
    if wanted.is_empty() || wanted.iter().any(is_of_all) {
        absent.extend(lacking);
    }
    absent.extend((design.absent)(env)?);
    let builds = (design.builds)(&measured.variants);
    absent.extend(without_a_build(&mut rows, &builds, &measured.variants));
    if counter.is_some_and(Counter::is_software) {
        absent.extend(without_counts(&mut rows, env));
    }
    rows = (design.rows)(rows, request);
    ensure(!rows.is_empty(), || {
        absent.sort_by_key(|one| one.install.is_none());
        let why = absent
            .iter()
            .map(|one| format!("{}: {}", one.engine, one.why));
        format!("nothing to measure: {}", why.collect::<Vec<_>>().join("; "))
    })?;
    has_something_to_detect(request, &rows)?;
    Ok((rows, absent))
}

/// What was said, and changes nothing.
pub(super) fn without_effect(request: &Request) -> Option<String> {
    let takes_strategies = |word: &Wanted| word.engine == OWN && word.strategy.is_none();
    let (engines, strategies) = (&request.engines, &request.strategies);
    let is_said = !strategies.is_empty() && !engines.is_empty();
    (is_said && !engines.iter().any(takes_strategies)).then(|| {
        "fathom: --bounds changes nothing here: it is for `fathom` without a strategy, which \
         --engines does not name"
            .to_owned()
    })
}

/// Refuses to look for differences where there can be none.
fn has_something_to_detect(request: &Request, rows: &[Row]) -> Result<(), RequestError> {
    let design = request.subject.design();
    let detects = request.duration.detect.is_some();
    ensure(!detects || design.controls.compares(), || {
        format!("--detect: `{}` compares nothing", design.name())
    })?;
    ensure(!detects || rows.len() > 1, || {
        "--detect: there is one row alone, and nothing that it could differ from".to_owned()
    })
}

/// Our first row by other generators.
fn further(design: &Design, measured: &Measured, strategies: &[String]) -> Vec<Wanted> {
    let Some(first) = strategies.first() else {
        return Vec::new();
    };
    let by = |codegen: &Codegen| Wanted {
        strategy: Some(first.clone()),
        backend: Some(codegen.name().to_owned()),
        ..Wanted::own()
    };
    (design.generators)(measured).iter().map(by).collect()
}

/// Takes the rows away whose engine cannot be counted in software.
fn without_counts(rows: &mut Vec<Row>, env: &Environment<'_>) -> Vec<Absent> {
    let why = |row: &Row| {
        let outside = row.driver.checked_sub(NATIVE_DRIVER + 1)?;
        env.outside.get(outside)?.0.uncounted.clone()
    };
    let mut absent: Vec<Absent> = Vec::new();
    rows.retain(|row| {
        let Some(why) = why(row) else { return true };
        let one = Absent {
            engine: engines::of(&row.sandbox),
            why: format!("its instructions cannot be counted: {why}"),
            is_wanted: !env.request.engines.is_empty(),
            install: None,
        };
        if !absent.contains(&one) {
            absent.push(one);
        }
        false
    });
    absent
}

/// Takes the rows away whose engine takes no build of what is measured.
fn without_a_build(rows: &mut Vec<Row>, builds: &Builds<'_>, all: &[Variant]) -> Vec<Absent> {
    let (taking, others): (Vec<Row>, Vec<Row>) =
        rows.drain(..).partition(|row| !builds.of(row).is_empty());
    *rows = taking;
    let named = |list: &[Variant]| list.iter().map(Variant::to_string).collect::<Vec<_>>();
    let why = |row: Row| Absent {
        engine: engines::of(&row.sandbox),
        why: match all {
            [Variant::WasmComponent] => NO_COMPONENTS.to_owned(),
            _ => format!(
                "it takes {} and this is built as {}",
                named(&row.takes).join(", "),
                named(all).join(", ")
            ),
        },
        is_wanted: false,
        install: None,
    };
    let mut absent: Vec<Absent> = Vec::new();
    for one in others.into_iter().map(why) {
        // An engine has a row for each of its strategies.
        if !absent.contains(&one) {
            absent.push(one);
        }
    }
    absent
}
