//! What of the suite is to be run: arguments.

use std::str::FromStr;

use fathom_engine::{Bounds, Codegen, Compilation, Elide, Opt};

use crate::Mode;
use crate::groups::{GROUPS, Group};
use crate::script::Script;

/// Scripts about what is guarded against speculation.
const GUARDED: [&str; 10] = [
    "elision",
    "address",
    "memory_trap",
    "memory64",
    "straddle",
    "atomic-ends",
    "call_indirect",
    "table_",
    "br_table",
    "exceptions",
];

/// What is to be run.
pub struct Choice {
    pub bounds: Vec<Bounds>,
    pub opts: Vec<Opt>,
    pub elides: Vec<Elide>,
    pub spectres: Vec<bool>,
    pub codegens: Vec<Codegen>,
    pub compilations: Vec<Compilation>,
    pub groups: Vec<&'static Group>,
    words: Vec<String>,
    /// Whether `elides` was.
    elides_chosen: bool,
    /// Whether `spectres` was.
    spectres_chosen: bool,
    /// Whether `codegens` was.
    codegens_chosen: bool,
    /// Whether `compilations` was.
    compilations_chosen: bool,
    /// Whether anything was chosen at all.
    chosen: bool,
}

impl Choice {
    /// From `FATHOM_SPEC` and the command line.
    pub fn read() -> Result<Choice, String> {
        let held = std::env::var("FATHOM_SPEC").unwrap_or_default();
        let held = held.split_whitespace().map(str::to_owned);
        Choice::parse(held.chain(std::env::args().skip(1)))
    }

    fn parse(args: impl Iterator<Item = String>) -> Result<Choice, String> {
        let mut choice = Choice {
            bounds: here().collect(),
            opts: Opt::ALL.to_vec(),
            elides: Elide::ALL.to_vec(),
            spectres: vec![true, false],
            codegens: by_default(),
            compilations: Compilation::ALL.to_vec(),
            groups: GROUPS.iter().filter(|group| group.supported).collect(),
            words: Vec::new(),
            elides_chosen: false,
            spectres_chosen: false,
            codegens_chosen: false,
            compilations_chosen: false,
            chosen: false,
        };
        let mut args = args.peekable();
        while let Some(arg) = args.next() {
            let (flag, held) = match arg.split_once('=') {
                Some((flag, value)) => (flag, Some(value.to_owned())),
                None => (arg.as_str(), None),
            };
            let mut value = || {
                let value = held.clone().or_else(|| args.next());
                value.ok_or_else(|| format!("{flag} needs a value"))
            };
            match flag {
                "--bounds" => choice.bounds = names(&value()?)?,
                "--opt" => choice.opts = names(&value()?)?,
                "--elide" => {
                    choice.elides = names(&value()?)?;
                    choice.elides_chosen = true;
                }
                "--spectre" => {
                    let is_on = |name: &str| name == "on";
                    choice.spectres = value()?.split(',').map(is_on).collect();
                    choice.spectres_chosen = true;
                }
                "--codegen" => {
                    choice.codegens = names(&value()?)?;
                    choice.codegens_chosen = true;
                }
                "--compilation" => {
                    choice.compilations = names(&value()?)?;
                    choice.compilations_chosen = true;
                }
                "--group" => choice.groups = groups(&value()?)?,
                // Flags of the usual harness mean nothing here.
                _ if flag.starts_with('-') => continue,
                _ => choice.words.push(arg),
            }
            choice.chosen = true;
        }
        Ok(choice)
    }

    /// Whether nothing was left out.
    pub fn is_whole(&self) -> bool {
        !self.chosen
    }

    /// The modes, one after the other. What is compiled lazily is what is compiled eagerly, so
    /// that is done once for each strategy; so is what is made in one pass, where neither a level
    /// nor checks that are left out change anything.
    pub fn modes(&self) -> Vec<Mode> {
        let mut modes = Vec::new();
        for &codegen in &self.codegens {
            for &opt in &self.opts {
                for &bounds in &self.bounds {
                    for &elide in &self.elides {
                        for &spectre in &self.spectres {
                            modes.extend(self.compilations.iter().map(|&compilation| Mode {
                                bounds,
                                opt,
                                elide,
                                spectre,
                                codegen,
                                compilation,
                            }));
                        }
                    }
                }
            }
        }
        let is_one = |mode: &Mode| {
            let is_usual = mode.opt == Opt::Speed && mode.elide == Elide::default() && mode.spectre;
            match (mode.codegen, mode.compilation) {
                (Codegen::Direct, Compilation::Eager) => {
                    self.codegens_chosen || mode.opt == Opt::Speed && mode.elide == Elide::default()
                }
                (Codegen::Tiered | Codegen::TieredLlvm, Compilation::Eager) => false,
                (_, Compilation::Eager) => true,
                (Codegen::Cranelift, Compilation::Lazy) => is_usual,
                // No strategy has a say in when better code goes on.
                (Codegen::Tiered | Codegen::TieredLlvm, Compilation::Lazy) => {
                    is_usual && (self.codegens_chosen || mode.bounds == Bounds::Guard)
                }
                (_, Compilation::Lazy) => false,
            }
        };
        modes.retain(|mode| self.compilations_chosen || is_one(mode));
        modes
    }

    /// Whether a script is to be run in a mode: those that leave out fewer checks
    /// than the default are for the scripts about it, those without guards for the
    /// scripts about what is guarded.
    pub fn wants(&self, mode: Mode, script: &Script) -> bool {
        let is_about = |word: &str| script.name.contains(word);
        let is_usual = mode.elide == Elide::default();
        if !self.elides_chosen && !is_usual && !is_about("elision") {
            return false;
        }
        let is_wanted = mode.spectre || (is_usual && GUARDED.iter().any(|word| is_about(word)));
        if !self.spectres_chosen && !is_wanted {
            return false;
        }
        let name = format!("{} {}", mode.name(), script.name);
        self.words.iter().all(|word| name.contains(word))
    }
}

/// The generators that need nothing that may not be there.
fn by_default() -> Vec<Codegen> {
    match cfg!(target_arch = "x86_64") {
        true => vec![Codegen::default(), Codegen::Direct, Codegen::Tiered],
        false => vec![Codegen::default()],
    }
}

/// The strategies that the host has what they need for; those that were left
/// out are named.
fn here() -> impl Iterator<Item = Bounds> {
    Bounds::all_for(false).filter(|bounds| {
        let missing = bounds.missing();
        if let Some(missing) = &missing {
            println!("SKIPPED {bounds}: {missing}");
        }
        missing.is_none()
    })
}

/// Names separated by commas.
fn names<T: FromStr<Err: ToString>>(list: &str) -> Result<Vec<T>, String> {
    let parse = |name: &str| name.parse().map_err(|e: T::Err| e.to_string());
    list.split(',').map(parse).collect()
}

fn groups(list: &str) -> Result<Vec<&'static Group>, String> {
    if list == "all" {
        return Ok(GROUPS.iter().collect());
    }
    let named = |name: &str| {
        let found = GROUPS.iter().find(|group| group.name == name);
        found.ok_or_else(|| {
            let known: Vec<&str> = GROUPS.iter().map(|group| group.name).collect();
            format!("unknown group '{name}' (one of: all, {})", known.join(", "))
        })
    };
    list.split(',').map(named).collect()
}
