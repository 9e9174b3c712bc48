//! From options to what is asked for: every command that measures. A campaign goes on by
//! what its header has of that; one of before there was such a thing, by its command line.
//!
//! What must stay true: an option becomes its type here and nowhere else; relative paths
//! are of the folder in which the command was given, which need not be this process's.

use std::{ffi::OsString, fs, path::Path};

use anyhow::{Context, bail};
use clap::Parser;
use fathom_bench::{
    experiment::Subject,
    plan::{Dir, Input},
    request::{Length, Library, OwnModule, Request},
    shard::{Part, Shard},
};
use fathom_record::Header;
use fathom_stats::interval::ROUNDS_MIN;
use fathom_sys::regular;

use super::args::{Args, Given, Pace};
use crate::library;
use crate::run::load;

/// What is measured where nothing is named.
const DEFAULT: &str = "polybench";

/// The options of a command that measures.
pub trait IntoRequest: clap::Args {
    /// What is asked for, in this folder.
    ///
    /// # Errors
    /// The first option that means nothing.
    fn into_request(self, folder: &Path) -> anyhow::Result<Request>;
}

impl IntoRequest for Args {
    fn into_request(self, folder: &Path) -> anyhow::Result<Request> {
        let word = self.target.as_deref().unwrap_or(DEFAULT);
        let path = folder.join(word);
        let library = self.library.of();
        let subject = match path.extension().is_some() || path.is_file() {
            true => Subject::module(module(word, &path, &self.args, library)?),
            false if library.is_none() => Subject::word(word),
            false => bail!("{}: `{word}` is no module", library.words()[0]),
        };
        Ok(Request {
            args: self.args,
            size: self.size,
            workloads: self.workloads,
            variants: self.variant,
            engines: self.engines,
            strategies: self.bounds,
            settings: self.settings.choices(),
            threads: self.threads,
            shard: self.shard,
            anchors: self.anchors,
            input: input(&self.given, folder)?,
            any_output: self.given.any_output,
            exits_allowed: self.given.allow_exit,
            metric: self.metric,
            duration: length(&self.pace),
            seed: self.results.seed,
            skips_probe: self.results.no_probe,
            probes_again: self.results.probe_again,
            out: self.results.out.map(|out| folder.join(out)),
            ..Request::new(subject, folder.to_owned())
        })
    }
}

/// For reading a campaign's own command line again, of any command that measures.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Again<A: clap::Args> {
    #[command(flatten)]
    args: A,
}

/// What a campaign asked for, given in this folder, and the shard that it was: no scheduler
/// need say that again.
///
/// # Errors
/// What this version does not understand, or a shard that there is none of; a file that is
/// no longer there.
pub fn of_campaign(header: &Header, folder: &Path) -> anyhow::Result<Request> {
    let shard = header.config.shard.as_ref();
    let part = shard.map(Part::of).transpose()?;
    let request = match &header.request {
        Some(request) => there(Request::of_record(request, folder.to_owned())?)?,
        None => again(&header.command, folder)?,
    };
    Ok(Request {
        shard: part.map(Shard::Part),
        anchors: shard.map(|note| note.anchors.len() as u32),
        ..request
    })
}

/// What is recorded, with its module read and its files found.
fn there(mut request: Request) -> anyhow::Result<Request> {
    if let Some(own) = request.subject.own_module_mut() {
        let (path, library) = (own.path.clone(), own.library.clone());
        *own = module(&path.display().to_string(), &path, &own.args, library)?;
    }
    if let Some(native) = request.subject.native() {
        crate::waterfall::program(native, &request.folder)?;
    }
    request.input = found(request.input)?;
    Ok(request)
}

/// What the command line of a campaign without a request asked for, given in this folder.
///
/// # Errors
/// One that this version does not understand.
fn again(command: &[String], folder: &Path) -> anyhow::Result<Request> {
    // The first word is the command's name.
    let (name, words) = command.split_first().context("it has no command line")?;
    match name.as_str() {
        "suite" => read::<crate::suite::Args>(words, folder),
        "reproduce" => read::<crate::reproduce::Args>(words, folder),
        "waterfall" => read::<crate::waterfall::Args>(words, folder),
        _ => read::<Args>(words, folder),
    }
}

fn read<A: IntoRequest>(words: &[String], folder: &Path) -> anyhow::Result<Request> {
    match Again::<A>::try_parse_from(words) {
        Ok(again) => again.args.into_request(folder),
        Err(error) => bail!("its command line is no longer understood: {error}"),
    }
}

/// How long to measure.
pub fn length(pace: &Pace) -> Length {
    Length {
        rounds: pace.rounds,
        iterations: pace.iterations,
        warmup: pace.warmup,
        budget: pace.budget,
        limit: pace.time_limit,
        wait_idle: pace.wait_idle,
        is_quick: pace.quick,
        width: pace.width,
        detect: pace.detect,
        rounds_wanted: ROUNDS_MIN as u32,
    }
}

/// A program of the user's own, named by a word.
pub fn module(
    word: &str,
    path: &Path,
    args: &[String],
    library: Library,
) -> anyhow::Result<OwnModule> {
    // Measured, it is read again and again.
    if path.exists() {
        regular::open(path).with_context(|| path.display().to_string())?;
    }
    let place = match path.exists() {
        true => path,
        // As the user wrote it.
        false => Path::new(word),
    };
    let wasm = match library.is_none() {
        true => load::program_or_component(place, word),
        false => library::program(place, word, &library, args),
    };
    let wasm = wasm.context("no module to measure")?;
    let is_made = !library.is_none() || fs::metadata(path)?.len() != wasm.len() as u64;
    Ok(OwnModule {
        path: std::path::absolute(path)?,
        wasm,
        is_made,
        args: args.to_vec(),
        library,
    })
}

/// What programs are given.
pub fn input(given: &Given, folder: &Path) -> anyhow::Result<Input> {
    let mut env = Vec::new();
    for pair in &given.env {
        let (key, value) = pair
            .split_once('=')
            .with_context(|| format!("--env {pair}: not NAME=VALUE"))?;
        env.push((key.to_owned(), value.to_owned()));
    }
    let mut dirs = Vec::new();
    for dir in &given.dirs {
        let given = crate::run::Dir::from(OsString::from(dir));
        dirs.push(Dir {
            host: folder.join(given.host()),
            guest: given.guest()?.to_owned(),
            is_read_only: given.is_read_only(),
        });
    }
    let stdin = given.stdin.as_ref().map(|path| folder.join(path));
    found(Input { env, dirs, stdin })
}

/// The same, of which all is there, by the paths that links lead to.
fn found(mut input: Input) -> anyhow::Result<Input> {
    for Dir { host, .. } in &mut input.dirs {
        let at = fs::canonicalize(&host);
        *host = at.with_context(|| format!("--dir {}", host.display()))?;
    }
    if let Some(stdin) = &mut input.stdin {
        let said = || format!("--stdin {}", stdin.display());
        let at = fs::canonicalize(&stdin).with_context(said)?;
        if !at.starts_with("/dev") {
            // Each run is given it from its beginning.
            regular::open(&at).with_context(said)?;
        }
        *stdin = at;
    }
    Ok(input)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fathom_bench::settings::Choices;
    use fathom_record::Setting;

    use super::*;

    /// By the words, and through the header, which must come to the same.
    fn again_in_root(line: &str) -> anyhow::Result<Request> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let request = again(&words, Path::new("/"))?;
        let through = Request::of_record(&request.recorded()?, "/".into())?;
        assert_eq!(format!("{through:?}"), format!("{request:?}"));
        Ok(request)
    }

    fn name(request: &Request) -> &str {
        request.subject.design().name()
    }

    #[test]
    fn a_campaigns_command_line_is_understood_again() {
        let line = "bench polybench --size mini --engines fathom:guard,native -- -x";
        let request = again_in_root(line).unwrap();
        assert_eq!(
            (name(&request), request.size.as_deref()),
            ("suite", Some("mini"))
        );
        assert_eq!(request.engines.len(), 2);
        assert_eq!(request.args, ["-x"]);
        assert_eq!(name(&again_in_root("bench growth").unwrap()), "growth");
        let request = again_in_root("suite bounds --rounds 3 --workloads gemm,graph").unwrap();
        assert_eq!(name(&request), "bounds");
        assert_eq!(request.workloads, ["gemm", "graph"]);
        assert_eq!(request.duration.rounds, Some(3));
        assert_eq!(request.settings, Choices::default());
        let request = again_in_root("suite bounds --elide off --codegen llvm").unwrap();
        assert_eq!(request.settings.of(Setting::Codegen), ["llvm"]);
        let request = again_in_root("suite scaling --threads 1,8 --quick").unwrap();
        assert_eq!(
            (name(&request), &request.threads[..]),
            ("scaling", &[1, 8][..])
        );
        let request = again_in_root("reproduce leaps-and-bounds --budget 1h").unwrap();
        assert_eq!(name(&request), "leaps-and-bounds");
        assert_eq!(request.duration.budget, Some(Duration::from_secs(3600)));
        let request = again_in_root("reproduce leaps-and-bounds --spec copy").unwrap();
        assert_eq!(name(&request), "leaps-and-bounds-spec");
        assert!(again_in_root("reproduce libsodium-2023 --spec copy").is_err());
        let request =
            again_in_root("waterfall polybench:gemm --size mini --engine fathom:trap").unwrap();
        assert_eq!((name(&request), request.engines.len()), ("waterfall", 1));
        assert!(again_in_root("waterfall nonsense").is_err());
        assert!(again_in_root("suite nonsense").is_err());
        assert!(again_in_root("suite leaps-and-bounds").is_err());
        assert!(again(&[], Path::new("/")).is_err());
    }

    #[test]
    fn a_variable_without_a_value_is_refused() {
        let of = |pair: &str| {
            let given = Given {
                env: vec![pair.to_owned()],
                ..Given::default()
            };
            input(&given, Path::new("/")).map(|input| input.env)
        };
        let pair = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        assert_eq!(of("A=b=c").unwrap(), pair("A", "b=c"));
        assert_eq!(of("A=").unwrap(), pair("A", ""));
        let error = format!("{:#}", of("FOO").unwrap_err());
        assert_eq!(error, "--env FOO: not NAME=VALUE");
    }

    #[test]
    fn relative_paths_are_of_the_folder_of_the_command() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        fs::create_dir(at.join("data")).unwrap();
        fs::write(at.join("app.wat"), "(module (func (export \"_start\")))").unwrap();
        let line = "bench app.wat --dir data::. --stdin app.wat --out results";
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let request = again(&words, &at).unwrap();
        assert_eq!(name(&request), "module");
        assert_eq!(request.out, Some(at.join("results")));
        let given = |is_read_only| Dir {
            host: at.join("data"),
            guest: ".".to_owned(),
            is_read_only,
        };
        assert_eq!(request.input.dirs, [given(false)]);
        let words = ["bench", "app.wat", "--dir", "data::.:ro"].map(str::to_owned);
        assert_eq!(again(&words, &at).unwrap().input.dirs, [given(true)]);
        assert_eq!(request.input.stdin, Some(at.join("app.wat")));
        // Through the header: the module is read again, and what is gone is said.
        let through = Request::of_record(&request.recorded().unwrap(), at.clone()).unwrap();
        let through = there(through).unwrap();
        let request = Request {
            out: None,
            ..request
        };
        assert_eq!(format!("{through:?}"), format!("{request:?}"));
        for (file, said) in [("data", "--dir "), ("app.wat", "app.wat: No such file")] {
            let (path, aside) = (at.join(file), at.join("aside"));
            fs::rename(&path, &aside).unwrap();
            let error = format!("{:#}", there(through.clone()).unwrap_err());
            assert!(error.contains(said), "{error}");
            fs::rename(&aside, &path).unwrap();
        }
        let words = ["waterfall", "app.wat", "--native", "/bin/true"].map(str::to_owned);
        let mut apart = again(&words, &at).unwrap().recorded().unwrap();
        apart["subject"]["of"]["apart"]["module"]["native"] = "/nowhere/true".into();
        let apart = Request::of_record(&apart, at).unwrap();
        let error = format!("{:#}", there(apart).unwrap_err());
        assert!(error.starts_with("--native /nowhere/true: No"), "{error}");
    }
}
