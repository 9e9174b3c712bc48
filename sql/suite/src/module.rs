//! Modules as each strategy and code generator has them.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, anyhow, ensure};
use fathom_engine::{BoundsChoice, Codegen, Config, Engine};
use fathom_guest::{Options, Pool};

/// Those of the thesis, and what users get.
pub const STRATEGIES: [&str; 7] = [
    "auto",
    "none",
    "trap",
    "guard64",
    "shadow",
    "shadow-compressed",
    "pkeys",
];

/// What k-means may take of memory: 20 million points and as much again.
const MEMORY_BYTES: usize = 4 << 30;
/// Of a call, which for k-means is the whole work.
const DEADLINE: Duration = Duration::from_secs(600);

/// Where modules are, and how they are compiled.
pub struct Modules {
    folder: PathBuf,
    strategies: Vec<(String, BoundsChoice)>,
    codegens: Vec<Codegen>,
    spectre: bool,
}

/// A module under one strategy by one code generator.
pub struct Variant {
    /// What tables call it.
    pub name: String,
    /// Its instances.
    pub pool: Arc<Pool>,
}

impl Modules {
    /// Those of a folder.
    ///
    /// # Errors
    /// A strategy or a code generator that there is not.
    pub fn new(
        folder: PathBuf,
        bounds: &[String],
        codegens: &[String],
        spectre: bool,
    ) -> Result<Modules> {
        let strategy = |name: &String| {
            let choice = name.parse::<BoundsChoice>();
            Ok((name.clone(), choice.map_err(|error| anyhow!("{error}"))?))
        };
        let codegen = |name: &String| {
            let mut all = Codegen::ALL.into_iter();
            let found = all.find(|codegen| codegen.name() == name);
            found.with_context(|| format!("no code generator {name}"))
        };
        Ok(Modules {
            folder,
            strategies: bounds.iter().map(strategy).collect::<Result<_>>()?,
            codegens: codegens.iter().map(codegen).collect::<Result<_>>()?,
            spectre,
        })
    }

    /// One as users get it, with instances that are used again or not.
    ///
    /// # Errors
    /// It is not there, or does not compile.
    pub fn usual(&self, file: &str, reuse: bool) -> Result<Arc<Pool>> {
        self.pool(file, BoundsChoice::Auto, Codegen::default(), reuse)
    }

    /// Files of the folder that are modules, by name.
    ///
    /// # Errors
    /// There is none.
    pub fn files(&self) -> Result<Vec<String>> {
        let folder = || self.folder.display().to_string();
        let entries = std::fs::read_dir(&self.folder).with_context(folder)?;
        let names = entries.flatten().map(|entry| entry.file_name());
        let names = names.filter_map(|name| name.into_string().ok());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".wasm")).collect();
        names.sort_unstable();
        ensure!(
            !names.is_empty(),
            "{}: no modules: sql/operators/build.py makes them",
            folder()
        );
        Ok(names)
    }

    /// What makes code, as it was asked for.
    pub fn codegens(&self) -> &[Codegen] {
        &self.codegens
    }

    /// One by a code generator as users get it.
    ///
    /// # Errors
    /// As of [`Modules::usual`].
    pub fn by(&self, codegen: Codegen, file: &str) -> Result<Arc<Pool>> {
        self.pool(file, BoundsChoice::Auto, codegen, true)
    }

    /// One by each code generator as users get it.
    ///
    /// # Errors
    /// As of [`Modules::usual`].
    pub fn by_codegen(&self, file: &str) -> Result<Vec<Variant>> {
        let one = |codegen: &Codegen| {
            Ok(Variant {
                name: format!("auto, {codegen}"),
                pool: self.by(*codegen, file)?,
            })
        };
        self.codegens.iter().map(one).collect()
    }

    /// One by each code generator under each strategy; those that this machine does not have
    /// are named.
    ///
    /// # Errors
    /// As of [`Modules::usual`].
    pub fn by_strategy(&self, file: &str) -> Result<Vec<Variant>> {
        let mut all = Vec::new();
        for (name, choice) in &self.strategies {
            if let BoundsChoice::Named(bounds) = choice
                && let Some(missing) = bounds.missing()
            {
                println!("{name} is absent: {missing}\n");
                continue;
            }
            for codegen in &self.codegens {
                let pool = self.pool(file, *choice, *codegen, false)?;
                let name = format!("{name}, {codegen}");
                match left(&pool) {
                    Some(why) => println!("{name} is absent: {why}\n"),
                    None => all.push(Variant { name, pool }),
                }
            }
        }
        Ok(all)
    }

    fn pool(
        &self,
        file: &str,
        bounds: BoundsChoice,
        codegen: Codegen,
        reuse: bool,
    ) -> Result<Arc<Pool>> {
        let path = self.folder.join(file);
        let bytes = std::fs::read(&path)
            .with_context(|| format!("{}: sql/operators/build.py makes it", path.display()))?;
        let config = Config::new()
            .bounds(bounds)
            .bounds64(bounds)
            .codegen(codegen)
            .clang(clang())
            .spectre(self.spectre)
            .allow_unchecked(true);
        let engine = Engine::new(&config)?;
        let options = Options {
            memory_bytes: MEMORY_BYTES,
            deadline: DEADLINE,
            bounds,
            reuse,
            ..Options::default()
        };
        let pool = Pool::of_engine(engine, bytes, options);
        let pool = pool.map_err(|what| anyhow!("{file}: {what}"))?;
        Ok(Arc::new(pool))
    }
}

/// Why its code is that of another code generator than it was asked for.
fn left(pool: &Pool) -> Option<String> {
    let module = pool.module();
    let all = module.code_places().count();
    match &module.fallbacks()[..] {
        left @ [first, ..] if left.len() == all => {
            let codegen = module.engine().codegen();
            Some(format!(
                "{codegen} leaves all {all} functions: {}",
                first.why
            ))
        }
        _ => None,
    }
}

/// The compiler of this checkout, unless the environment names one.
fn clang() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/zig/ziglang/zig");
    let is_named = std::env::var_os("FATHOM_CLANG").is_some();
    (!is_named && own.is_file()).then_some(own)
}
