//! What decides the code that the engine makes of a module: options that every
//! command which compiles one has.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fathom_engine::{
    Bounds, BoundsChoice, Codegen, Compilation, CompileBudget, Config, Cpu, Elide, Features, Opt,
};

use super::codegen;
use crate::invocation::Invocation;

/// How a module is compiled, on every command that compiles one.
#[derive(clap::Args)]
pub struct Code {
    /// How memory accesses are checked; some strategies have other forms, such as
    /// guard64:shift (see docs/STRATEGIES.md)
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = bounds_parser())]
    pub bounds: BoundsChoice,

    /// Which redundant checks are left out
    #[arg(long, value_name = "CHOICE", default_value = "loops", value_parser = elide_parser())]
    elide: Elide,

    /// Whether small functions are inlined
    #[arg(long, value_name = "WHETHER", default_value = "on", action = clap::ArgAction::Set, value_parser = on_or_off())]
    inline: bool,

    /// Whether checked accesses are also guarded against speculation (Spectre)
    #[arg(long, value_name = "WHETHER", default_value = "on", action = clap::ArgAction::Set, value_parser = on_or_off())]
    spectre: bool,

    /// How far a 64-bit memory without a declared maximum can grow, such as 512M or 1T; this
    /// much address space is reserved for it [default: what --max-memory has, 64G at most]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    memory64_limit: Option<u64>,

    /// What makes machine code [default: cranelift; of `run`: tiered, where functions are
    /// compiled lazily]
    #[arg(long, value_name = "NAME", value_parser = codegen::parser())]
    codegen: Option<Codegen>,

    /// Which processors machine code is for
    #[arg(long, value_name = "WHICH", default_value = "native", value_parser = cpu_parser())]
    cpu: Cpu,

    /// How hard the code generator optimises
    #[arg(long, value_name = "LEVEL", default_value = "speed", value_parser = opt_parser())]
    opt: Opt,

    /// How much work compiling may take, as a multiple of the default. Functions beyond it
    /// are not optimised, modules beyond it are refused; 'off' sets no bound
    #[arg(long, value_name = "FACTOR", default_value_t)]
    compile_budget: CompileBudget,

    /// Turn features of WebAssembly off: -NAME,... (--features=-threads,-simd), or allow only
    /// some: none,NAME,...; 3.0 is WebAssembly 3.0 and nothing beyond
    #[arg(
        long,
        value_name = "LIST",
        allow_hyphen_values = true,
        default_value_t = Features::all()
    )]
    pub features: Features,
}

impl Code {
    /// The configuration that they ask for.
    ///
    /// # Errors
    /// No folder to look for a compiler in.
    pub fn config(&self, invocation: &Invocation) -> anyhow::Result<Config> {
        let codegen = self.codegen.unwrap_or_default();
        let config = Config::new()
            .codegen(codegen)
            .clang(codegen::clang(codegen, invocation)?)
            .cpu(self.cpu)
            .bounds(self.bounds)
            .elide(self.elide)
            .inline(self.inline)
            .spectre(self.spectre)
            .opt(self.opt)
            .compile_budget(self.compile_budget)
            .features(self.features);
        Ok(match self.memory64_limit {
            Some(bytes) => config.memory64_growth_limit(bytes),
            None => config,
        })
    }
}

impl Code {
    /// The same as words of a command line.
    pub fn words(&self) -> Vec<String> {
        let whether = |is_on: bool| if is_on { "on" } else { "off" }.to_owned();
        let limit = self.memory64_limit.map(|bytes| bytes.to_string());
        let options = [
            ("bounds", Some(self.bounds.to_string())),
            ("elide", Some(self.elide.to_string())),
            ("inline", Some(whether(self.inline))),
            ("spectre", Some(whether(self.spectre))),
            ("memory64-limit", limit),
            ("codegen", self.codegen.map(|codegen| codegen.to_string())),
            ("cpu", Some(self.cpu.to_string())),
            ("opt", Some(self.opt.to_string())),
            ("compile-budget", Some(self.compile_budget.to_string())),
            ("features", Some(self.features.to_string())),
        ];
        let given = options
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        given
            .map(|(name, value)| format!("--{name}={value}"))
            .collect()
    }

    /// Whether tiers were asked for by name.
    pub fn names_tiers(&self) -> bool {
        self.codegen.is_some_and(Codegen::has_tiers)
    }

    /// Of a program that runs once: what the code generator is, unless it was said. Code that
    /// starts at once and gets better is none that `--opt none` asks for.
    ///
    /// # Errors
    /// Tiers, and that all functions be compiled first.
    pub fn codegen_of_run(&self, compilation: Compilation) -> anyhow::Result<Codegen> {
        let default = match (compilation, self.opt) {
            (Compilation::Lazy, Opt::Speed) => Codegen::Tiered,
            _ => Codegen::default(),
        };
        let codegen = self.codegen.unwrap_or(default);
        let contradicts = codegen.has_tiers() && compilation == Compilation::Eager;
        anyhow::ensure!(
            !contradicts,
            "--codegen {codegen} compiles functions when they are called: it cannot be had with \
             --compilation eager, --count or --perf-map"
        );
        Ok(codegen)
    }
}

fn bounds_parser() -> impl TypedValueParser<Value = BoundsChoice> {
    let auto = PossibleValue::new("auto").help("the cheapest exact one for each memory");
    let named = Bounds::FORMS.into_iter().map(|bounds| {
        let value = PossibleValue::new(bounds.name()).help(bounds.help());
        value.hide(!Bounds::ALL.contains(&bounds))
    });
    PossibleValuesParser::new(std::iter::once(auto).chain(named))
        .try_map(|name| name.parse::<BoundsChoice>())
}

fn cpu_parser() -> impl TypedValueParser<Value = Cpu> {
    let choices = Cpu::ALL.map(|cpu| PossibleValue::new(cpu.name()).help(cpu.help()));
    PossibleValuesParser::new(choices).try_map(|name| name.parse::<Cpu>())
}

fn opt_parser() -> impl TypedValueParser<Value = Opt> {
    PossibleValuesParser::new(Opt::ALL.map(Opt::name)).try_map(|name| name.parse::<Opt>())
}

/// A size: a number of bytes, or one with K, M, G or T behind it.
pub fn bytes(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.chars().last() {
        Some('K' | 'k') => (&text[..text.len() - 1], 10),
        Some('M' | 'm') => (&text[..text.len() - 1], 20),
        Some('G' | 'g') => (&text[..text.len() - 1], 30),
        Some('T' | 't') => (&text[..text.len() - 1], 40),
        _ => (text, 0),
    };
    let number: Option<u64> = digits.parse().ok();
    let bytes = number.and_then(|number| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| "a size is a number of bytes, such as 65536, 512M or 1T".to_owned())
}

fn on_or_off() -> impl TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["on", "off"]).map(|choice| choice == "on")
}

fn elide_parser() -> impl TypedValueParser<Value = Elide> {
    let choices = Elide::ALL.map(|elide| PossibleValue::new(elide.name()).help(elide.help()));
    PossibleValuesParser::new(choices).try_map(|name| name.parse::<Elide>())
}
