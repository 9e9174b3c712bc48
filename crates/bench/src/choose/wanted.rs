//! The words of `--engines`, and which engines they name: those of the home, releases of
//! them, builds of the user's own.

use std::{fmt, str::FromStr};

use fathom_engine::Codegen;
use serde::{Deserialize, Serialize};

use super::{OWN, native_variant};
use crate::{
    engines::{self, EngineError, EngineSpec},
    home::Home,
};

/// One word of `--engines`: `NAME[@VERSION][:STRATEGY[:BACKEND]]`, or with `=WHAT` behind the
/// name a build of the user's own. Our own engine has
/// strategies with a colon in their name, and what stands last is a backend where one is
/// called so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// `fathom`, `native`, `native-tuned`, `native-gcc`, or an outside engine.
    pub engine: String,
    /// The release of it; the pinned one if absent. The first numbers mean the newest
    /// installed one that begins so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What it is, where it is a build of the user's own: a program, or a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// Its default if absent.
    pub strategy: Option<String>,
    /// Its default if absent.
    pub backend: Option<String>,
}

impl Wanted {
    /// Our engine, as it is by default.
    pub fn own() -> Wanted {
        Wanted {
            engine: OWN.to_owned(),
            version: None,
            build: None,
            strategy: None,
            backend: None,
        }
    }

    /// A build of the user's own.
    fn of_build(name: &str, build: &str) -> Result<Self, String> {
        let word: Self = name.parse()?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if build.trim().is_empty() || word.version.is_some() || !word.engine.chars().all(is_plain) {
            let form = "NAME=PATH, NAME=ENGINE@PATH or NAME='COMMAND {}'";
            return Err(format!(
                "a build of your own is {form}, with a NAME of letters and digits"
            ));
        }
        let build = Some(build.to_owned());
        Ok(Self { build, ..word })
    }

    /// The engine and its release in a word.
    pub fn name(&self) -> String {
        engines::named(&self.engine, self.version.as_deref())
    }

    /// Whether this is the engine that is meant, in the release that is.
    pub fn is(&self, spec: &EngineSpec) -> bool {
        spec.name == self.engine && spec.version == self.version
    }
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((name, build)) = text.split_once('=') {
            return Self::of_build(name, build);
        }
        let (engine, rest) = match text.split_once(':') {
            Some((engine, rest)) => (engine, Some(rest)),
            None => (text, None),
        };
        let (strategy, backend) = match rest.and_then(|rest| rest.split_once(':')) {
            Some((strategy, backend)) if engine != OWN => (Some(strategy), Some(backend)),
            _ if engine == OWN => own_parts(rest),
            _ => (rest, None),
        };
        let (engine, version) = match engine.split_once('@') {
            Some((engine, version)) => (engine, Some(version)),
            None => (engine, None),
        };
        let is_well_formed = [Some(engine), version, strategy, backend]
            .iter()
            .all(|word| *word != Some(""))
            && backend.is_none_or(|backend| !backend.contains(':'));
        let is_release = |version: &str| {
            version.starts_with(|c: char| c.is_ascii_digit())
                && version
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b".+-".contains(&byte))
        };
        if let Some(version) = version.filter(|version| is_well_formed && !is_release(version)) {
            return Err(format!(
                "{version:?} is no version: it is like 48.0.0, or 48 for the newest of these"
            ));
        }
        let engine = engine.to_owned();
        let [version, strategy, backend] =
            [version, strategy, backend].map(|word| word.map(str::to_owned));
        if is_well_formed {
            Ok(Self {
                engine,
                version,
                build: None,
                strategy,
                backend,
            })
        } else {
            Err("an engine is NAME, NAME:STRATEGY or NAME:STRATEGY:BACKEND, and NAME may be NAME@VERSION".into())
        }
    }
}

/// What stands behind our engine's name: a strategy, a code generator, or both.
fn own_parts(rest: Option<&str>) -> (Option<&str>, Option<&str>) {
    let is_generator = |word: &str| word.parse::<Codegen>().is_ok();
    match rest.and_then(|rest| rest.rsplit_once(':')) {
        Some((strategy, word)) if is_generator(word) => (Some(strategy), Some(word)),
        None if rest.is_some_and(is_generator) => (None, rest),
        _ => (rest, None),
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())?;
        for part in [&self.strategy, &self.backend].into_iter().flatten() {
            write!(f, ":{part}")?;
        }
        match &self.build {
            Some(build) => write!(f, "={build}"),
            None => Ok(()),
        }
    }
}

/// The engines of the home, the releases that words name of them, and builds of the user's own; complaints about
/// descriptions that cannot be read beside them. The words name releases in full then, as
/// far as they are installed.
///
/// # Errors
/// One line about the first word that names a release of what has none.
pub fn described(
    home: Option<&Home>,
    words: &mut [Wanted],
) -> Result<(Vec<EngineSpec>, Vec<EngineError>), String> {
    let (described, errors) = home.map(engines::all).unwrap_or_default();
    let mut named: Vec<EngineSpec> = Vec::new();
    for word in words {
        let Some(spec) = word.resolved(home, &described)? else {
            continue;
        };
        let mut same = named.iter().filter(|other| other.id() == spec.id());
        if same.any(|other| *other != spec) {
            return Err(format!("{}: two builds under one name", spec.id()));
        }
        if !named.contains(&spec) {
            named.push(spec);
        }
    }
    Ok(([described, named].concat(), errors))
}

impl Wanted {
    /// The engine of a word that names more than one of the home: a release of it, or a build
    /// of the user's own. The word says it in full then.
    fn resolved(
        &mut self,
        home: Option<&Home>,
        described: &[EngineSpec],
    ) -> Result<Option<EngineSpec>, String> {
        let name = self.name();
        let fail = |why: String| format!("{name}: {why}");
        let is_ours = self.engine == OWN || native_variant(&self.engine).is_some();
        let known = described.iter().find(|spec| spec.name == self.engine);
        if let Some(what) = &self.build {
            if is_ours || known.is_some() {
                let why = "that is an engine's name; call your build otherwise";
                return Err(fail(why.to_owned()));
            }
            let (spec, what) = EngineSpec::build(&name, what, described).map_err(fail)?;
            self.build = Some(what);
            return Ok(Some(spec));
        }
        let (Some(asked), Some(home)) = (&self.version, home) else {
            return Ok(None);
        };
        if is_ours {
            return Err(fail("it has no releases to choose from".to_owned()));
        }
        // Of what is not known there is more to say where all that is known is at hand.
        let Some(spec) = known else { return Ok(None) };
        let release = spec.release(asked, home).map_err(fail)?;
        self.version.clone_from(&release.version);
        Ok(Some(release))
    }
}
