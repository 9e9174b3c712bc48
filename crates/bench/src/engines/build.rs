//! A build of the user's own: `NAME=WHAT` among engines.
//!
//! ```text
//!  NAME=PATH            a program that is an engine's, known by its file's name
//!  NAME=ENGINE@PATH     the same, whatever its file is called
//!  NAME='WORDS {} …'    a command that runs the program for which {} stands
//! ```
//!
//! Which engines have a program that can be another is said in their description
//! (`program`): the path of it in `command` and `check`, where the user's own comes instead.
//! All else is as for the engine: its runner, its strategies, the probe.

use std::{
    env,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use super::EngineSpec;

/// Stands for the module in a command.
pub(crate) const MODULE: &str = "{}";

/// The only strategy of a command: whatever it does.
const AS_IT_IS: &str = "as-it-is";

impl EngineSpec {
    /// A build of the user's own under this name, and `what` with its program's whole path.
    ///
    /// # Errors
    /// One line: there is no such program, or nobody knows how it is run.
    pub fn build(
        name: &str,
        what: &str,
        described: &[EngineSpec],
    ) -> Result<(Self, String), String> {
        if what.split_whitespace().any(|word| word.contains(MODULE)) {
            return command(name, what);
        }
        let engine_of = |name: &str| described.iter().find(|spec| spec.name == name);
        let (spec, path) = match what.split_once('@') {
            Some((engine, path)) if engine_of(engine).is_some() => (engine_of(engine), path),
            _ => (by_file(what, described), what),
        };
        let replaced = spec.and_then(|spec| Some((spec, spec.program.as_ref()?)));
        let path = program(Path::new(path))?;
        let Some((spec, program)) = replaced else {
            let known = described.iter().filter(|spec| spec.program.is_some());
            let known: Vec<_> = known.map(|spec| spec.name.as_str()).collect();
            return Err(format!(
                "nobody knows how {} is run: NAME=ENGINE@PATH for a program that is {}, or a command with {MODULE} for the module",
                path.display(),
                known.join(", ")
            ));
        };
        let shown = path.display().to_string();
        let with_own = |words: &[String]| {
            words
                .iter()
                .map(|word| word.replace(program, &shown))
                .collect()
        };
        let own = Self {
            name: name.to_owned(),
            display: format!("{} ({name})", spec.display),
            command: with_own(&spec.command),
            check: with_own(&spec.check),
            program: None,
            versions: None,
            build: Some(shown.clone()),
            ..spec.clone()
        };
        Ok((own, format!("{}@{shown}", spec.name)))
    }
}

/// The engine whose program a file is by its name: the longest that it begins with.
fn by_file<'a>(path: &str, described: &'a [EngineSpec]) -> Option<&'a EngineSpec> {
    let file = Path::new(path).file_name()?.to_str()?;
    let known = described.iter().filter(|spec| spec.program.is_some());
    known
        .filter(|spec| file.starts_with(&spec.name))
        .max_by_key(|spec| spec.name.len())
}

/// The whole path of a program that can be started.
fn program(path: &Path) -> Result<PathBuf, String> {
    let fail = |why: String| format!("{}: {why}", path.display());
    let data = path.metadata().map_err(|error| fail(error.to_string()))?;
    if !data.is_file() || data.permissions().mode() & 0o111 == 0 {
        return Err(fail("it is no program that can be started".to_owned()));
    }
    path.canonicalize().map_err(|error| fail(error.to_string()))
}

/// A command that runs a program of WASI.
fn command(name: &str, what: &str) -> Result<(EngineSpec, String), String> {
    if what.contains(['"', '\'']) {
        return Err(format!(
            "{name}: quotes are not read, a space ends a word: put the command into a script"
        ));
    }
    let mut words: Vec<String> = what.split_whitespace().map(str::to_owned).collect();
    let first = words[0].clone();
    let path = match first.contains('/') {
        true => PathBuf::from(&first),
        false => {
            on_path(&first).ok_or_else(|| format!("{first}: there is no such program on PATH"))?
        }
    };
    words[0] = program(&path)?.display().to_string();
    let own = env::current_exe().map_err(|error| format!("this program's file: {error}"))?;
    let served = |more: &[&str]| -> Vec<String> {
        let begin = [&*own.to_string_lossy(), "runner", "command"].map(str::to_owned);
        let more = more.iter().map(|word| (*word).to_owned());
        let words = words.iter().cloned();
        begin
            .into_iter()
            .chain(more)
            .chain(["--".to_owned()])
            .chain(words)
            .collect()
    };
    let spec = EngineSpec {
        name: name.to_owned(),
        display: name.to_owned(),
        command: served(&[]),
        check: served(&["--check"]),
        strategies: vec![AS_IT_IS.to_owned()],
        build: Some(words.join(" ")),
        ..EngineSpec::default()
    };
    Ok((spec, words.join(" ")))
}

fn on_path(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}
